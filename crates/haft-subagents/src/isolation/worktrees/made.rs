//! Repositories that are made here: with settings and attributes of their own, and no program in them.

use super::super::workplaces::WorkplaceError;
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The most bytes of a file that is taken over from another repository.
const MOST_TAKEN: u64 = 1024 * 1024;

/// What keeps git from changing what is in a file when it reads or writes it, whatever a tree's own attributes say: those
/// of the repository go before all others (gitattributes(5)).
const ATTRIBUTES: &str =
    "* -text -eol -crlf -filter -ident -working-tree-encoding -merge !diff -export-subst -export-ignore\n";

/// Says what a repository is made with.
#[derive(Debug, Clone, Default)]
pub(super) struct Made<'a> {
    /// How its objects are named: `sha1` or `sha256`.
    pub(super) format: &'a str,
    /// Where objects are read that it does not have itself.
    pub(super) borrowed: Vec<PathBuf>,
    /// Files that are left out, as in `info/exclude`.
    pub(super) exclude: Vec<u8>,
    /// Commits whose parents are not there.
    pub(super) shallow: Vec<u8>,
    /// The commit that it begins with.
    pub(super) head: Option<&'a str>,
    /// Whether git takes files as they are, whatever their attributes.
    pub(super) is_verbatim: bool,
    /// From how many bytes on a file is no text.
    pub(super) text_bytes: Option<u64>,
}

impl Made<'_> {
    /// Makes the repository, without starting git.
    pub(super) fn make(&self, git_dir: &Path) -> Result<(), WorkplaceError> {
        let directories = ["info", "objects/info", "objects/pack", "refs/heads", "refs/tags"];
        for directory in directories {
            let path = git_dir.join(directory);
            fs::create_dir_all(&path).map_err(|source| failed("make", &path, source))?;
        }
        let mut config =
            String::from("[core]\n\tbare = false\n\tfilemode = true\n\tlogallrefupdates = true\n");
        let is_sha256 = self.format == "sha256";
        config +=
            if is_sha256 { "\trepositoryformatversion = 1\n" } else { "\trepositoryformatversion = 0\n" };
        if let Some(bytes) = self.text_bytes {
            // Writing to a string cannot fail.
            let _ = writeln!(config, "\tbigFileThreshold = {bytes}\n\tlooseCompression = 1");
        }
        if is_sha256 {
            config += "[extensions]\n\tobjectFormat = sha256\n";
        }
        config += "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";
        let head = match self.head {
            Some(commit) => format!("{commit}\n"),
            None => "ref: refs/heads/main\n".to_owned(),
        };
        write(&git_dir.join("config"), config.as_bytes())?;
        write(&git_dir.join("HEAD"), head.as_bytes())?;
        write(&git_dir.join("info/exclude"), &self.exclude)?;
        if self.is_verbatim {
            write(&git_dir.join("info/attributes"), ATTRIBUTES.as_bytes())?;
        }
        if !self.shallow.is_empty() {
            write(&git_dir.join("shallow"), &self.shallow)?;
        }
        let mut alternates = Vec::new();
        for objects in &self.borrowed {
            alternates.extend(alternate(objects)?);
            alternates.push(b'\n');
        }
        if alternates.is_empty() {
            Ok(())
        } else {
            write(&git_dir.join("objects/info/alternates"), &alternates)
        }
    }
}

/// Writes a path as a line of `alternates`: bare where it can be, else quoted as in C.
fn alternate(path: &Path) -> Result<Vec<u8>, WorkplaceError> {
    use std::os::unix::ffi::OsStrExt as _;
    let bytes = path.as_os_str().as_bytes();
    let is_plain = bytes.first().is_some_and(|first| *first == b'/') && !bytes.contains(&b'\n');
    if is_plain {
        return Ok(bytes.to_vec());
    }
    let source = std::io::Error::from(std::io::ErrorKind::InvalidFilename);
    Err(failed("borrow objects from", path, source))
}

/// Reads a file that another repository may have; nothing where there is none that can be read.
pub(super) fn taken(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A pipe would be waited for.
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MOST_TAKEN);
    if is_file
        && let Ok(file) = fs::File::open(path)
        && file.take(MOST_TAKEN).read_to_end(&mut bytes).is_err()
    {
        bytes.clear();
    }
    bytes
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), WorkplaceError> {
    fs::write(path, bytes).map_err(|source| failed("write", path, source))
}

pub(super) fn failed(action: &'static str, path: &Path, source: std::io::Error) -> WorkplaceError {
    WorkplaceError::Io { action, path: path.to_owned(), source }
}
