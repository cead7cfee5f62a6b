use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The longest name of one file, in bytes (`NAME_MAX` of Linux and the BSDs).
pub(crate) const NAME_MAX: usize = 255;

/// A path inside a [`Workdir`](crate::Workdir), with nothing left to resolve.
///
/// It is relative to the main root, or the absolute host path of a place in another root; separated by `/`, without `.`,
/// `..` and empty segments, so equal places compare equal and a prefix is a containing directory. It cannot be written down: it comes from
/// [`Workdir::resolve`](crate::Workdir::resolve), from a directory listing or walk, or from another `WorkdirPath`.
///
/// Having one says where something is, not that it exists. A path made by `resolve` passed through no symbolic link
/// when it was resolved; one from a listing names the entry itself, which may be a link. Operations follow no link in
/// either, so a path whose meaning changed since is refused and never leads elsewhere.
///
/// The order is that of the segments, which is the order of a walk: a directory comes right before its contents.
///
/// Cloning is cheap (a reference count).
///
/// ```
/// let directory = tempfile::tempdir()?;
/// let workdir = haft_workdir::Workdir::open(directory.path())?;
/// let path = workdir.resolve("./src//net/mod.rs")?;
/// assert_eq!(path.as_str(), "src/net/mod.rs");
/// assert_eq!(path.file_name(), Some("mod.rs"));
/// assert_eq!(path.parent().unwrap().as_str(), "src/net");
/// assert_eq!(workdir.resolve("")?.as_str(), ".");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct WorkdirPath {
    /// Empty for the main root; absolute in other roots.
    text: Arc<str>,
    /// How many bytes of it name the root, with the `/` behind; follows from the text and the roots.
    base: usize,
}

impl WorkdirPath {
    /// Returns the path of the main root itself.
    pub fn root() -> Self {
        Self { text: Arc::from(""), base: 0 }
    }

    /// Returns the path of another root, which is an absolute host path without links.
    pub(crate) fn of_root(text: &str) -> Self {
        let base = if text.ends_with('/') { text.len() } else { text.len() + 1 };
        Self { text: Arc::from(text), base }
    }

    /// Wraps text of the main root that is already in the form this type promises.
    pub(crate) fn from_resolved(text: &str) -> Self {
        debug_assert!(text.is_empty() || text.split('/').all(is_plain_name), "not resolved: {text:?}");
        Self { text: Arc::from(text), base: 0 }
    }

    /// Returns a path of the same root, whose text is in the form this type promises.
    pub(crate) fn with_text(&self, text: &str) -> Self {
        Self { text: Arc::from(text), base: self.base }
    }

    /// Returns the place below this one that `below` leads to, which is in the form this type promises.
    pub(crate) fn below(&self, below: &str) -> Self {
        match (&*self.text, below) {
            ("", _) => Self::from_resolved(below),
            (_, "") => self.clone(),
            (text, below) if text.ends_with('/') => self.with_text(&[text, below].concat()),
            (text, below) => self.with_text(&[text, "/", below].concat()),
        }
    }

    /// Returns the path relative to the main root, `.` for that root itself; in another root the absolute path.
    pub fn as_str(&self) -> &str {
        if self.text.is_empty() { "." } else { &self.text }
    }

    /// Tells whether this is in a root other than the main one, so that [`as_str`](Self::as_str) is an absolute path.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let other = tempfile::tempdir()?;
    /// use haft_workdir::{RootAccess, Workdir};
    ///
    /// let workdir = Workdir::open(directory.path())?.with_root(other.path(), RootAccess::ReadOnly)?;
    /// let path = workdir.resolve(&format!("{}/notes.txt", other.path().display()))?;
    /// assert!(path.is_absolute() && path.file_name() == Some("notes.txt"));
    /// assert!(!workdir.resolve("notes.txt")?.is_absolute());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_absolute(&self) -> bool {
        self.text.starts_with('/')
    }

    /// Returns the path relative to its root, empty for the root itself.
    pub(crate) fn relative(&self) -> &str {
        self.text.get(self.base..).unwrap_or_default()
    }

    /// Returns how many bytes of a path below this one name it, with the `/` behind.
    pub(crate) fn prefix_length(&self) -> usize {
        if self.is_root() { self.base } else { self.text.len() + 1 }
    }

    /// Returns what every path below this one starts with.
    pub(crate) fn prefix(&self) -> String {
        let slash = if self.text.is_empty() || self.text.ends_with('/') { "" } else { "/" };
        format!("{}{slash}", self.text)
    }

    /// Tells whether this is a root itself.
    pub fn is_root(&self) -> bool {
        self.relative().is_empty()
    }

    /// Returns the root that this path is in.
    pub fn own_root(&self) -> WorkdirPath {
        let end = if self.base > 1 { self.base - 1 } else { self.base };
        self.with_text(self.text.get(..end).unwrap_or(&self.text))
    }

    /// Returns the last segment, nothing for a root.
    pub fn file_name(&self) -> Option<&str> {
        self.relative().rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// Returns the containing directory, nothing for a root.
    pub fn parent(&self) -> Option<WorkdirPath> {
        if self.is_root() {
            return None;
        }
        match self.relative().rsplit_once('/') {
            Some((above, _)) => Some(self.with_text(&self.text[..self.base + above.len()])),
            None => Some(self.own_root()),
        }
    }

    /// Yields the names from the root down, none for a root itself.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.relative().split('/').filter(|segment| !segment.is_empty())
    }

    /// Yields the names of the whole text.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.text.split('/').filter(|name| !name.is_empty())
    }

    /// Tells whether this path is `base` or lies somewhere below it.
    pub fn starts_with(&self, base: &WorkdirPath) -> bool {
        self.relative_to(base).is_some()
    }

    /// Returns the part of this path below `base`, empty when both are the same.
    ///
    /// Nothing when this path does not lie below `base`.
    pub fn relative_to(&self, base: &WorkdirPath) -> Option<&str> {
        if base.text.is_empty() {
            return Some(&*self.text).filter(|_| !self.is_absolute());
        }
        let rest = self.text.strip_prefix(&*base.text)?;
        if rest.is_empty() || base.text.ends_with('/') { Some(rest) } else { rest.strip_prefix('/') }
    }

    /// Returns the path of the entry `name` of this directory.
    ///
    /// Nothing when `name` is not one plain name: empty, `.`, `..`, longer than 255 bytes, or with a `/` or a NUL byte
    /// in it. The entry need not exist, and when it is a symbolic link operations on it are refused; text that a model
    /// wrote goes through [`Workdir::resolve`](crate::Workdir::resolve) instead.
    pub fn join_file_name(&self, name: &str) -> Option<WorkdirPath> {
        is_plain_name(name).then(|| self.child(name))
    }

    /// Appends a name that is known to be plain.
    pub(crate) fn child(&self, name: &str) -> WorkdirPath {
        debug_assert!(is_plain_name(name), "not resolved: {name:?}");
        self.below(name)
    }
}

/// Tells whether `name` can be the name of one directory entry.
pub(crate) fn is_plain_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && name.len() <= NAME_MAX && !name.contains(['/', '\0'])
}

impl fmt::Display for WorkdirPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for WorkdirPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkdirPath({:?})", self.as_str())
    }
}

impl AsRef<str> for WorkdirPath {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for WorkdirPath {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for WorkdirPath {}

impl Hash for WorkdirPath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl Ord for WorkdirPath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.is_absolute().cmp(&other.is_absolute()).then_with(|| self.names().cmp(other.names()))
    }
}

impl PartialOrd for WorkdirPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
