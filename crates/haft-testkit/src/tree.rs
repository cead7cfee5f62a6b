use crate::tree_text;
use haft_workdir::Workdir;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};
use tempfile::TempDir;

/// Builds a file tree in a temporary directory, which is removed when the tree is dropped.
///
/// Paths are relative to the directory and stay inside it; the directories above an entry are made. What is there
/// already is replaced. Every method panics when the file system refuses.
///
/// ```
/// use haft_testkit::Tree;
///
/// let tree = Tree::new().file("src/main.rs", "fn main() {}\n").link("main.rs", "src/main.rs");
/// assert_eq!(tree.read("main.rs"), "fn main() {}\n");
/// assert_eq!(tree.list(), ["main.rs -> src/main.rs", "src/", "src/main.rs"]);
/// ```
#[derive(Debug)]
pub struct Tree {
    directory: TempDir,
}

impl Tree {
    /// Makes an empty tree.
    ///
    /// # Panics
    ///
    /// When there is no place for temporary directories.
    pub fn new() -> Self {
        Self { directory: TempDir::new().expect("a temporary directory can be made") }
    }

    /// Makes a tree of a text: a line `-- PATH --` before the lines of each file.
    ///
    /// `-- PATH/ --` is an empty directory and `-- PATH -> TARGET --` a symbolic link, neither of which has lines. What stands before the
    /// first of these lines is a comment. A file whose last line has no end is made by [`Tree::file`].
    ///
    /// ```
    /// use haft_testkit::Tree;
    ///
    /// let tree = Tree::from_text(
    ///     "\
    /// A crate with a link out of it.
    /// -- src/main.rs --
    /// fn main() {}
    /// -- empty/ --
    /// -- out -> /etc --
    /// ",
    /// );
    /// assert_eq!(tree.list(), ["empty/", "out -> /etc", "src/", "src/main.rs"]);
    /// assert_eq!(tree.read("src/main.rs"), "fn main() {}\n");
    /// ```
    ///
    /// # Panics
    ///
    /// When a path leaves the tree or is there twice, or a directory or link has lines.
    #[track_caller]
    pub fn from_text(text: &str) -> Self {
        let mut tree = Self::new();
        for entry in tree_text::entries(text) {
            let place = tree.place(entry.path.trim_end_matches('/'));
            assert!(
                place.symlink_metadata().is_err() || entry.path.ends_with('/'),
                "`{}` is there twice",
                entry.path
            );
            assert!(
                entry.takes_lines() || entry.lines.is_empty(),
                "`{}` is not a file and has lines",
                entry.path
            );
            tree = match entry.target {
                Some(target) => tree.link(entry.path, target),
                None if entry.path.ends_with('/') => tree.directory(entry.path.trim_end_matches('/')),
                None => tree.file(entry.path, &entry.lines),
            };
        }
        tree
    }

    /// Adds a file with this text.
    pub fn file(self, path: &str, text: &str) -> Self {
        self.bytes(path, text.as_bytes())
    }

    /// Adds a file with these bytes.
    pub fn bytes(self, path: &str, bytes: &[u8]) -> Self {
        done("write", path, fs::write(self.vacant(path), bytes));
        self
    }

    /// Adds a file with this text that anyone may execute (mode 755).
    pub fn executable(self, path: &str, text: &str) -> Self {
        self.file(path, text).made_executable(path)
    }

    /// Lets anyone execute a file that is there.
    pub(crate) fn made_executable(self, path: &str) -> Self {
        done("mark", path, fs::set_permissions(self.place(path), Permissions::from_mode(0o755)));
        self
    }

    /// Adds a directory.
    pub fn directory(self, path: &str) -> Self {
        done("create", path, fs::create_dir_all(self.place(path)));
        self
    }

    /// Adds a symbolic link; its target is taken as it is and need not exist.
    pub fn link(self, path: &str, target: impl AsRef<Path>) -> Self {
        done("link", path, symlink(target, self.vacant(path)));
        self
    }

    /// Adds a named pipe, which blocks whoever opens it.
    pub fn pipe(self, path: &str) -> Self {
        let made = mknodat(CWD, self.vacant(path), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0);
        done("create", path, made.map_err(io::Error::from));
        self
    }

    /// The host path of the directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Opens the directory as the root that tools work in.
    ///
    /// # Panics
    ///
    /// When it cannot be opened.
    pub fn workdir(&self) -> Workdir {
        Workdir::open(self.path()).expect("a tree can be opened as a working directory")
    }

    /// Reads a file as text.
    ///
    /// # Panics
    ///
    /// When it cannot be read or is not UTF-8.
    pub fn read(&self, path: &str) -> String {
        done("read", path, fs::read_to_string(self.place(path)))
    }

    /// Reads a file.
    ///
    /// # Panics
    ///
    /// When it cannot be read.
    pub fn read_bytes(&self, path: &str) -> Vec<u8> {
        done("read", path, fs::read(self.place(path)))
    }

    /// Lists every entry, sorted by path: `file`, `directory/`, `link -> target`, `other|` for anything else.
    ///
    /// # Panics
    ///
    /// When a directory cannot be listed.
    pub fn list(&self) -> Vec<String> {
        let mut entries = Vec::new();
        self.collect("", &mut entries);
        entries
    }

    fn collect(&self, directory: &str, entries: &mut Vec<String>) {
        let listing = done("list", directory, fs::read_dir(self.path().join(directory)));
        let mut listing = done("list", directory, listing.collect::<io::Result<Vec<_>>>());
        listing.sort_by_key(fs::DirEntry::file_name);
        for entry in listing {
            let path = format!("{directory}{}", entry.file_name().to_string_lossy());
            let kind = done("look up", &path, entry.file_type());
            if kind.is_dir() {
                let path = format!("{path}/");
                entries.push(path.clone());
                self.collect(&path, entries);
            } else if kind.is_symlink() {
                let target = done("follow", &path, fs::read_link(entry.path()));
                entries.push(format!("{path} -> {}", target.display()));
            } else {
                entries.push(if kind.is_file() { path } else { format!("{path}|") });
            }
        }
    }

    /// Returns where an entry is on the host.
    fn place(&self, path: &str) -> PathBuf {
        assert!(is_inside(path), "a path of a test tree is relative and has no `..`: `{path}` is not");
        self.path().join(path)
    }

    /// Returns where an entry is to be put, in a directory that exists, with nothing there.
    fn vacant(&self, path: &str) -> PathBuf {
        let place = self.place(path);
        if let Some(parent) = place.parent() {
            done("create the directory of", path, fs::create_dir_all(parent));
        }
        match fs::remove_file(&place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => done("replace", path, Err(error)),
            _ => place,
        }
    }
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

/// Tells whether a path names something below where it starts.
pub(crate) fn is_inside(path: &str) -> bool {
    let mut components = Path::new(path).components().peekable();
    components.peek().is_some() && components.all(|component| matches!(component, Component::Normal(_)))
}

/// Takes the result of an operation that a test cannot do without.
#[track_caller]
fn done<T>(action: &str, path: &str, result: io::Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("cannot {action} `{path}` of a test tree: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Tree, is_inside};

    #[test]
    fn builds_what_it_lists_and_is_gone_when_dropped() {
        let tree = Tree::new()
            .executable("run.sh", "#!/bin/sh\n")
            .directory("empty/deep")
            .bytes("data", &[0, 255])
            .pipe("pipe")
            .file("data", "replaced")
            .link("out", "/etc");
        assert_eq!(tree.list(), ["data", "empty/", "empty/deep/", "out -> /etc", "pipe|", "run.sh"]);
        assert_eq!((tree.read("data").as_str(), tree.read_bytes("run.sh").len()), ("replaced", 10));
        let path = tree.path().to_owned();
        drop(tree);
        assert!(!path.exists());
    }

    #[test]
    fn a_text_is_a_tree_and_what_is_none_is_refused() {
        let tree = Tree::from_text("a comment\n-- a --\none\n\n-- b/c --\n-- l -> a --\n-- d/ --\n");
        assert_eq!(tree.list(), ["a", "b/", "b/c", "d/", "l -> a"]);
        assert_eq!((tree.read("a").as_str(), tree.read("b/c").as_str()), ("one\n\n", ""));
        for text in ["-- a --\n-- a --\n", "-- ../a --\n", "-- d/ --\nlines\n", "-- l -> a --\nlines\n"] {
            assert!(std::panic::catch_unwind(|| Tree::from_text(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn keeps_paths_inside() {
        let paths = ["a", "a/b", "./a", "", ".", "..", "a/../b", "/a"];
        let inside: Vec<&str> = paths.into_iter().filter(|path| is_inside(path)).collect();
        assert_eq!(inside, ["a", "a/b"]);
    }
}
