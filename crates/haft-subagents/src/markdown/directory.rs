use super::{AgentFile, AgentFileError, FileNote, MOST_BYTES, NoteKind};
use haft_core::{ToolName, Visible};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most files of one directory, and the most levels of directories in it.
const MOST_FILES: usize = 500;
const MOST_LEVELS: usize = 6;

/// Says where files of agents are.
///
/// ```
/// use haft_subagents::{AgentDirectory, AgentFiles};
///
/// # let home = tempfile::tempdir()?;
/// let own = AgentDirectory::new("yours", home.path().join(".config/haft/agents")).following_links();
/// assert!(AgentFiles::load([own]).agents.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AgentDirectory {
    label: Arc<str>,
    path: PathBuf,
    links: bool,
}

/// Holds the agents of some directories, those that could not be read, and what was noted.
///
/// ```
/// use haft_subagents::{AgentDirectory, AgentFiles};
///
/// # fn main() -> std::io::Result<()> {
/// # let place = tempfile::tempdir()?;
/// # std::fs::write(place.path().join("b.md"), "---\nname: reader\ndescription: Finds things.\n---\nYou look for code.\n")?;
/// # std::fs::write(place.path().join("a.md"), "no front matter")?;
/// let loaded = AgentFiles::load([AgentDirectory::new("project", place.path())]);
/// assert_eq!(loaded.agents[0].source.as_ref(), "project/b.md");
/// assert!(loaded.errors[0].to_string().starts_with("`project/a.md` has no front matter"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct AgentFiles {
    /// The agents, in the order of their names.
    pub agents: Vec<AgentFile>,
    /// Why other files hold no agent, in the order of the files.
    pub errors: Vec<AgentFileError>,
    /// What concerns the files together; what concerns one alone is in that [`AgentFile`].
    pub notes: Vec<FileNote>,
}

impl AgentDirectory {
    /// Names a directory, and what its files are called by for people: `label/file.md`.
    ///
    /// One that does not exist holds no agents.
    pub fn new(label: impl Into<Arc<str>>, path: impl Into<PathBuf>) -> Self {
        Self { label: label.into(), path: path.into(), links: false }
    }

    /// Reads symbolic links in it, too, which may lead anywhere: for a directory that nobody else writes to.
    pub fn following_links(mut self) -> Self {
        self.links = true;
        self
    }
}

impl AgentFiles {
    /// Reads all files `*.md` of directories and of those in them, the directory that counts most first.
    ///
    /// An agent of an earlier directory counts in place of one of the same name in a later one, and that is noted. Two of the
    /// same name in one directory are an error, and neither counts. A file that is no agent stands in no other's way. At most
    /// 500 files of a directory and 6 levels are read; hidden files and directories are passed by. This reads files, so that it
    /// belongs on a thread that may block.
    pub fn load(directories: impl IntoIterator<Item = AgentDirectory>) -> Self {
        let mut loaded = Self::default();
        let mut known: BTreeMap<ToolName, AgentFile> = BTreeMap::new();
        for directory in directories {
            for (name, file) in loaded.read(&directory) {
                match known.get(&name) {
                    None => {
                        known.insert(name, file);
                    }
                    Some(first) => {
                        let text =
                            format!("the agent `{name}` of `{}` counts in place of this one", first.source);
                        let kind = NoteKind::Shadowed;
                        let note =
                            FileNote { file: file.source, line: 1, key: "name".to_owned(), kind, text };
                        loaded.notes.push(note);
                    }
                }
            }
        }
        loaded.agents = known.into_values().collect();
        loaded
    }

    fn read(&mut self, directory: &AgentDirectory) -> BTreeMap<ToolName, AgentFile> {
        let mut found: BTreeMap<ToolName, AgentFile> = BTreeMap::new();
        let mut twice = Vec::new();
        for place in self.list(directory) {
            let file = match read(directory, &place) {
                Ok(file) => file,
                Err(error) => {
                    self.errors.push(error);
                    continue;
                }
            };
            let name = file.spec.name.clone();
            match found.get(&name) {
                None => {
                    found.insert(name, file);
                }
                Some(first) => {
                    self.errors.push(AgentFileError::Twice {
                        name: name.to_string(),
                        first: first.source.to_string(),
                        second: file.source.to_string(),
                    });
                    twice.push(name);
                }
            }
        }
        for name in twice {
            found.remove(&name);
        }
        found
    }

    /// Lists the files of a directory by their paths in it, in their order.
    fn list(&mut self, directory: &AgentDirectory) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut left = vec![(PathBuf::new(), 1)];
        while let Some((below, level)) = left.pop() {
            let entries = match fs::read_dir(directory.path.join(&below)) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound && below.as_os_str().is_empty() => {
                    continue;
                }
                Err(source) => {
                    self.errors.push(AgentFileError::Read { file: directory.called(&below), source });
                    continue;
                }
            };
            for entry in entries.flatten() {
                let name = entry.file_name();
                if name.as_encoded_bytes().starts_with(b".") {
                    continue;
                }
                let place = below.join(&name);
                let is_directory = match entry.file_type() {
                    Ok(kind) if kind.is_symlink() && directory.links => directory.path.join(&place).is_dir(),
                    Ok(kind) => kind.is_dir(),
                    Err(_) => false,
                };
                let is_agent =
                    place.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
                if is_directory && level < MOST_LEVELS {
                    left.push((place, level + 1));
                } else if is_directory || (is_agent && files.len() >= MOST_FILES) {
                    let (directory, most) = (directory.called(&below), MOST_FILES);
                    self.errors.push(AgentFileError::TooMany { directory, most });
                    if !is_directory {
                        files.sort();
                        return files;
                    }
                } else if is_agent {
                    files.push(place);
                }
            }
        }
        files.sort();
        files
    }
}

impl AgentDirectory {
    /// What a file of it is called for people.
    fn called(&self, place: &Path) -> String {
        let path = Path::new(&*self.label).join(place);
        Visible::line(&path.to_string_lossy()).to_string()
    }
}

fn read(directory: &AgentDirectory, place: &Path) -> Result<AgentFile, AgentFileError> {
    let (path, called) = (directory.path.join(place), directory.called(place));
    let failed = |source| AgentFileError::Read { file: called.clone(), source };
    let not = |what| AgentFileError::NotAFile { file: called.clone(), what };
    let kind = fs::symlink_metadata(&path).map_err(failed)?.file_type();
    if kind.is_symlink() && !directory.links {
        return Err(not("a symbolic link, which may lead anywhere"));
    }
    if !fs::metadata(&path).map_err(failed)?.is_file() {
        return Err(not("not a regular file"));
    }
    let mut bytes = Vec::new();
    let most = MOST_BYTES as u64 + 1;
    File::open(&path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() > MOST_BYTES {
        return Err(AgentFileError::TooLarge { file: called, most: MOST_BYTES });
    }
    let text = String::from_utf8(bytes).map_err(|_| not("not text in UTF-8"))?;
    AgentFile::parse(&text, &called)
}
