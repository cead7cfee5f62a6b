use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Stat, fstat, statat, unlinkat};
use rustix::io::Errno;

use crate::changes::ChangeJournal;
use crate::error::Error;
use crate::handle::{DirectoryHandle, Lookup, NotAFile, open_child_file};
use crate::holds::reads_as;
use crate::metadata::{EntryKind, Metadata};
use crate::path::WorkdirPath;
use crate::resolve;
use crate::resolve_error::ResolveError;
use crate::roots::{Root, RootAccess, Roots};
use crate::write::flush;

/// A directory tree that operations cannot leave.
///
/// There may be [more roots](Workdir::with_root) than the one that was opened. Each is opened once, as a handle. Every operation starts from that handle and takes a [`WorkdirPath`], so it
/// acts on the tree that was opened even after the root was renamed or another directory took its place.
///
/// All operations block; asynchronous callers run them on a blocking thread. Cloning is cheap and clones share the
/// handle.
///
/// ```
/// use haft_workdir::Workdir;
///
/// # let parent = tempfile::tempdir()?;
/// # let project = parent.path().join("project");
/// # std::fs::create_dir(&project)?;
/// # std::fs::write(project.join("a.txt"), "one")?;
/// let workdir = Workdir::open(&project)?;
/// let path = workdir.resolve("./a.txt")?;
///
/// // Another directory takes its place on the host; the tree is still the one that was opened.
/// std::fs::rename(&project, parent.path().join("moved"))?;
/// std::fs::create_dir(&project)?;
/// assert_eq!(workdir.read(&path, 1024)?, b"one");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Workdir {
    pub(crate) roots: Arc<Roots>,
    pub(crate) journal: Option<Arc<dyn ChangeJournal>>,
}

impl Workdir {
    /// Opens a host directory as a root.
    ///
    /// Symbolic links in `path` are followed: the host decides where the root is.
    ///
    /// # Errors
    ///
    /// [`Error::RootMissing`], [`Error::RootNotADirectory`], [`Error::RootMoved`] when something else is put in its place
    /// meanwhile, and [`Error::RootUnopened`] for anything else.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path.as_ref(), Lookup::Kernel)
    }

    /// Opens a host directory as a root and looks paths up component by component.
    ///
    /// It is otherwise the same as [`Workdir::open`], which does so by itself where the kernel lacks `openat2` or
    /// refuses it. Use it under a system call filter that kills the process instead.
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::open`].
    pub fn open_by_components(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path.as_ref(), Lookup::Components)
    }

    fn open_with(path: &Path, lookup: Lookup) -> Result<Self, Error> {
        Ok(Self { roots: Arc::new(Roots::of(Root::open(path, lookup)?)), journal: None })
    }

    /// Adds another host directory as a root, or says what may be done in a part of the tree.
    ///
    /// A path is in another root if it is absolute and below that root's host path; there it keeps its absolute form, also in
    /// what a model reads. So a path of one root is never one of another, and a rule about `src` says nothing of
    /// `/data/src`. Where roots lie in one another the innermost counts:
    ///
    /// - A directory in the tree, or in another root, becomes no tree of its own: its paths stay what they were, and from it
    ///   on down `access` holds. So a part of the working directory can be made read-only, and of another root writable.
    /// - If the working directory lies in the added one, its own files keep their relative paths, however they are reached.
    ///   A [walk](Workdir::walk) of the added directory does not enter it.
    ///
    /// What lies in a root for reading cannot be written, created, renamed or removed by operations of this type; other
    /// programs are not kept from it. To add roots, do it before paths are resolved.
    ///
    /// ```
    /// use haft_workdir::{Error, Existing, RootAccess, Workdir};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let reference = tempfile::tempdir()?;
    /// # let reference = reference.path();
    /// # std::fs::write(reference.join("notes.txt"), "x")?;
    /// let workdir = Workdir::open(directory.path())?.with_root(reference, RootAccess::ReadOnly)?;
    /// let notes = workdir.resolve(&format!("{}/notes.txt", reference.display()))?;
    /// assert_eq!(workdir.read(&notes, 1024)?, b"x");
    /// assert!(matches!(workdir.write_atomic(&notes, b"y", Existing::Replace), Err(Error::ReadOnly { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::open`], also when the path is not UTF-8.
    pub fn with_root(self, path: impl AsRef<Path>, access: RootAccess) -> Result<Self, Error> {
        let root = Root::open(path.as_ref(), self.roots.main().handle.lookup())?;
        let roots = Arc::new(Roots::clone(&self.roots).with(root, access)?);
        Ok(Self { roots, ..self })
    }

    /// Returns the same directory without the roots that were added outside of it.
    pub fn without_other_roots(self) -> Self {
        Self { roots: Arc::new(self.roots.without_others()), ..self }
    }

    /// Returns the host paths of the roots that were added outside of it, without symbolic links, with what may be done there.
    ///
    /// They are for the host alone.
    pub fn other_roots(&self) -> Vec<(&Path, RootAccess)> {
        self.roots.others().collect()
    }

    /// Returns the host path of the main root, without symbolic links, as it was when it was opened.
    ///
    /// It is for the host alone and is never shown to a model. As the working directory of a child process use
    /// [`Workdir::host_directory`], which notices when the root has moved.
    pub fn root_path(&self) -> &Path {
        &self.roots.main().canonical
    }

    /// Lists the host directories from which on down something may be done, the main root first.
    ///
    /// Of directories that lie in one another the innermost counts. They are for the host alone, such as for confining a
    /// child process.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let other = tempfile::tempdir()?;
    /// use haft_workdir::{RootAccess, Workdir};
    ///
    /// let workdir = Workdir::open(directory.path())?.with_root(other.path(), RootAccess::ReadOnly)?;
    /// let expected = [(directory.path().canonicalize()?, RootAccess::ReadWrite), (other.path().canonicalize()?, RootAccess::ReadOnly)];
    /// assert_eq!(workdir.host_roots(), expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn host_roots(&self) -> Vec<(PathBuf, RootAccess)> {
        self.roots.host_directories()
    }

    /// Resolves a model-given path inside the working directory.
    ///
    /// Accepted are relative paths, an empty path or `.` for the root, `..` that stays inside, and absolute paths below
    /// the host path of a root (as given to [`Workdir::open`] or [`Workdir::with_root`], or without links). Symbolic links
    /// are followed as long as they stay inside; the target of an absolute link is read like an absolute path, and so may
    /// lead into another root. The result passes through no link.
    ///
    /// What does not exist yet resolves too, if the rest of the path has no `..`, so that files can be created in new
    /// directories.
    ///
    /// A path is also refused if it leaves the root and comes back, or if its own `..` would leave the root when links
    /// are not followed. No `~` or `$VAR` is expanded, a backslash is an ordinary character, and a final `/` asks for a
    /// directory if anything exists there. Names that differ only in letter case are different paths, also on a file
    /// system that takes them for one.
    ///
    /// A path that exists and passes through no link costs one system call on Linux, other paths about two for each
    /// component.
    ///
    /// ```
    /// let directory = tempfile::tempdir()?;
    /// let workdir = haft_workdir::Workdir::open(directory.path())?;
    /// assert_eq!(workdir.resolve("src/../src/new.rs").unwrap_err().to_string(),
    ///     "path `src/../src/new.rs` uses `..` below `src`, which does not exist");
    /// assert_eq!(workdir.resolve("src/new.rs")?.as_str(), "src/new.rs");
    /// assert_eq!(workdir.resolve("../etc/passwd").unwrap_err().model_text(),
    ///     "the path `../etc/passwd` is outside the working directory; use a path inside it, such as `src/main.rs`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// One variant of [`ResolveError`] for each reason.
    pub fn resolve(&self, path: &str) -> Result<WorkdirPath, ResolveError> {
        resolve::resolve(&self.roots, path)
    }

    /// Tells what may be done at a path, going by the roots it lies in.
    pub fn access(&self, path: &WorkdirPath) -> RootAccess {
        self.roots.access(path)
    }

    /// Returns what is at a path.
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::metadata`].
    pub fn kind(&self, path: &WorkdirPath) -> Result<EntryKind, Error> {
        Ok(self.metadata(path)?.kind())
    }

    /// Returns what is at a path, its size and when it changed.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Changed`] when it is or passes through a symbolic link; [`Error::NotADirectory`]
    /// when it passes through a file; [`Error::Io`].
    pub fn metadata(&self, path: &WorkdirPath) -> Result<Metadata, Error> {
        let failed = |errno| Error::of("look up", path, errno);
        let stat = match path.file_name() {
            None => fstat(self.directory(path).map_err(failed)?).map_err(failed)?,
            Some(name) => {
                let parent = self.parent(path, "look up")?;
                statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?
            }
        };
        match EntryKind::of(&stat) {
            EntryKind::Symlink => Err(Error::Changed { path: path.clone() }),
            _ => Ok(Metadata::of(&stat)),
        }
    }

    /// Opens a regular file for reading.
    ///
    /// It never blocks: a named pipe or a device is refused without being opened.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::IsADirectory`]; [`Error::NotRegular`]; [`Error::Changed`] when the path is or passes
    /// through a symbolic link; [`Error::NotADirectory`] when it passes through a file; [`Error::Io`].
    pub fn open_file(&self, path: &WorkdirPath) -> Result<File, Error> {
        self.open_regular(path).map(|(file, _)| file)
    }

    /// Opens a regular file as [`Self::open_file`] does, with what it is found to be once it is open.
    ///
    /// # Errors
    ///
    /// Those of [`Self::open_file`].
    pub fn open_file_with_metadata(&self, path: &WorkdirPath) -> Result<(File, Metadata), Error> {
        self.open_regular(path).map(|(file, stat)| (file, Metadata::of(&stat)))
    }

    /// Opens a regular file as [`Self::open_file`] does, with what it was found to be once it was open.
    pub(crate) fn open_regular(&self, path: &WorkdirPath) -> Result<(File, Stat), Error> {
        let failed = |errno| Error::of("open", path, errno);
        let Some(name) = path.file_name() else {
            return Err(Error::IsADirectory { path: path.clone() });
        };
        let parent = self.parent(path, "open")?;
        // Looked at first, because opening a device or a pipe can have effects; and again once it is open, because
        // something else may have taken the name in between. Not blocking is for that case, and for kernel files.
        let kind = EntryKind::of(&statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?);
        if kind != EntryKind::File {
            return Err(Error::not_a_file(path, kind));
        }
        open_child_file(parent.as_fd(), name).map_err(|error| match error {
            NotAFile::Unopened(errno) => failed(errno),
            NotAFile::Other(kind) => Error::not_a_file(path, kind),
        })
    }

    /// Reads a whole file of at most `limit` bytes.
    ///
    /// Memory is bounded by `limit` whatever size the file claims or however it grows meanwhile. For a part of a larger
    /// file use [`Workdir::open_file`].
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::open_file`], and [`Error::TooLarge`].
    pub fn read(&self, path: &WorkdirPath, limit: u64) -> Result<Vec<u8>, Error> {
        let failed = |source| Error::Io { action: "read", path: path.clone(), source };
        let too_large = || Error::TooLarge { path: path.clone(), limit };
        let file = self.open_file(path)?;
        if file.metadata().map_err(failed)?.len() > limit {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        // One byte more than the limit tells a file that ends there from one that goes on.
        let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        if u64::try_from(read).is_ok_and(|read| read > limit) {
            return Err(too_large());
        }
        Ok(bytes)
    }

    /// Tells whether a file holds exactly these bytes.
    ///
    /// Memory does not grow with the file, of which no more is read than is the same.
    ///
    /// ```
    /// # use haft_workdir::Workdir;
    /// # let directory = tempfile::tempdir()?;
    /// let workdir = Workdir::open(directory.path())?;
    /// std::fs::write(directory.path().join("notes.md"), "one\n")?;
    /// let notes = workdir.resolve("notes.md")?;
    /// assert!(workdir.holds(&notes, b"one\n")? && !workdir.holds(&notes, b"one")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::open_file`], and [`Error::Io`] where it cannot be read.
    pub fn holds(&self, path: &WorkdirPath, bytes: &[u8]) -> Result<bool, Error> {
        reads_as(&mut self.open_file(path)?, bytes).map_err(|source| Error::Io {
            action: "read",
            path: path.clone(),
            source,
        })
    }

    /// Removes a file, or whatever else is there that is not a directory.
    ///
    /// A symbolic link that took the place of the file, or that comes from a listing, is itself removed.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::IsADirectory`]; [`Error::Changed`]; [`Error::NotADirectory`]; [`Error::ReadOnly`];
    /// [`Error::Io`]; [`Error::Unflushed`] once it is gone and may be back after a crash.
    pub fn remove_file(&self, path: &WorkdirPath) -> Result<(), Error> {
        let failed = |errno| Error::of("remove", path, errno);
        let Some(name) = path.file_name() else {
            return Err(Error::IsADirectory { path: path.clone() });
        };
        self.roots.check_movable(path, "remove")?;
        let parent = self.parent(path, "remove")?;
        unlinkat(&parent, name, AtFlags::empty()).map_err(|errno| {
            // For a directory systems other than Linux say that it is not permitted.
            match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if EntryKind::of(&stat) == EntryKind::Directory => failed(Errno::ISDIR),
                _ => failed(errno),
            }
        })?;
        flush(&parent, path)
    }

    /// Returns the host path of a directory, after checking that it still leads there.
    ///
    /// It is meant for the working directory of a child process, and is never shown to a model. The check guards
    /// against a root that was renamed or replaced; between it and the use of the path the host can still change.
    ///
    /// # Errors
    ///
    /// [`Error::RootMoved`] when the host path no longer leads to this directory; otherwise those of
    /// [`Workdir::read_dir`].
    pub fn host_directory(&self, path: &WorkdirPath) -> Result<PathBuf, Error> {
        let failed = |errno| Error::of("open", path, errno);
        let handle = self.directory(path).map_err(failed)?;
        let ours = handle.as_fd().try_clone_to_owned().and_then(|handle| File::from(handle).metadata());
        let ours = ours.map_err(|source| Error::Io { action: "open", path: path.clone(), source })?;
        let root = &self.roots.root_of(path).canonical;
        let host = root.join(path.relative());
        match host.metadata() {
            Ok(theirs) if (theirs.dev(), theirs.ino()) == (ours.dev(), ours.ino()) => Ok(host),
            _ => Err(Error::RootMoved { path: root.clone() }),
        }
    }

    /// Opens a directory as a place from which entries are looked up, with the errors of [`RootHandle::directory`](crate::handle::RootHandle::directory).
    pub(crate) fn directory(&self, path: &WorkdirPath) -> Result<DirectoryHandle<'_>, Errno> {
        let (handle, below) = self.roots.locate(path);
        handle.directory(below)
    }

    /// Opens the directory that holds the entry `path`, which is not the root, to do `action` on the entry.
    pub(crate) fn parent(
        &self,
        path: &WorkdirPath,
        action: &'static str,
    ) -> Result<DirectoryHandle<'_>, Error> {
        let parent = path.parent().unwrap_or_else(|| path.own_root());
        self.directory(&parent).map_err(|errno| match errno {
            Errno::NOTDIR => Error::NotADirectory { path: parent },
            other => Error::of(action, path, other),
        })
    }
}

impl fmt::Debug for Workdir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workdir")
            .field("root", &self.roots.main().canonical)
            .field("lookup", &self.roots.main().handle.lookup())
            .finish_non_exhaustive()
    }
}
