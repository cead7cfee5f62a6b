use super::texts::Texts;
use haft::policy::PolicySource;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Reads each file once, so that what was looked at is what counts.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// By the path that a file was asked for, with the one path that it has.
    files: Mutex<BTreeMap<PathBuf, (PathBuf, String)>>,
    /// What was read before, be it by other names.
    texts: Texts,
    /// What stands for a directory at the start of a path, with that directory; the first that fits counts.
    aliases: Vec<(PathBuf, PathBuf)>,
}

impl Snapshot {
    /// Reads files in which words stand for directories.
    pub(super) fn with_aliases(aliases: Vec<(PathBuf, PathBuf)>, texts: &Texts) -> Self {
        Self { aliases, texts: texts.clone(), ..Self::default() }
    }

    /// Holds one text that is no file.
    pub(super) fn of(name: &Path, text: &str) -> Self {
        let file = (name.to_owned(), text.to_owned());
        Self { files: Mutex::new(BTreeMap::from([(name.to_owned(), file)])), ..Self::default() }
    }

    fn real(&self, path: &Path) -> PathBuf {
        let below = |(written, real): &(PathBuf, PathBuf)| Some(real.join(path.strip_prefix(written).ok()?));
        self.aliases.iter().find_map(below).unwrap_or_else(|| path.to_owned())
    }

    /// The files that were read, each with its one path, in the order of these.
    pub(super) fn files(&self) -> impl Iterator<Item = (PathBuf, String)> {
        self.known().values().cloned().collect::<BTreeMap<_, _>>().into_iter()
    }

    /// The digest of all files that were read, with their paths.
    pub(super) fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for (path, text) in self.files() {
            for bytes in [path.as_os_str().as_encoded_bytes(), text.as_bytes()] {
                hash.update((bytes.len() as u64).to_le_bytes());
                hash.update(bytes);
            }
        }
        hex(&hash.finalize())
    }

    /// Nothing panics half-way through a change.
    fn known(&self) -> MutexGuard<'_, BTreeMap<PathBuf, (PathBuf, String)>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PolicySource for &Snapshot {
    fn read(&self, path: &Path) -> io::Result<String> {
        if let Some((_, text)) = self.known().get(path) {
            return Ok(text.clone());
        }
        let file = self.texts.read(&self.real(path))?;
        let text = file.1.clone();
        self.known().insert(path.to_owned(), file);
        Ok(text)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        match self.known().get(path) {
            Some((canonical, _)) => Ok(canonical.clone()),
            None => self.texts.canonical(&self.real(path)),
        }
    }
}

/// Writes bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
