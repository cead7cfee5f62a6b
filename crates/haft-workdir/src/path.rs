use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// The longest name of one file, in bytes (`NAME_MAX` of Linux and the BSDs).
pub(crate) const NAME_MAX: usize = 255;

/// A path inside a [`Workdir`](crate::Workdir), with nothing left to resolve.
///
/// It is relative to the root, separated by `/`, and has no `.`, no `..` and no empty segment, so equal places compare
/// equal and a prefix is a containing directory. It cannot be written down: it comes from
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
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct WorkdirPath {
    /// Empty for the root.
    text: Arc<str>,
}

impl WorkdirPath {
    /// Returns the path of the root itself.
    pub fn root() -> Self {
        Self { text: Arc::from("") }
    }

    /// Wraps text that is already in the form this type promises.
    pub(crate) fn from_resolved(text: &str) -> Self {
        debug_assert!(text.is_empty() || text.split('/').all(is_plain_name), "not resolved: {text:?}");
        Self { text: Arc::from(text) }
    }

    /// Returns the path relative to the root, `.` for the root itself.
    pub fn as_str(&self) -> &str {
        if self.text.is_empty() { "." } else { &self.text }
    }

    /// Returns the path relative to the root, empty for the root itself.
    pub(crate) fn relative(&self) -> &str {
        &self.text
    }

    /// Tells whether this is the root itself.
    pub fn is_root(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the last segment, nothing for the root.
    pub fn file_name(&self) -> Option<&str> {
        self.text.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// Returns the containing directory, nothing for the root.
    pub fn parent(&self) -> Option<WorkdirPath> {
        if self.is_root() {
            return None;
        }
        let parent = self.text.rsplit_once('/').map_or("", |(parent, _)| parent);
        Some(Self { text: Arc::from(parent) })
    }

    /// Yields the names from the root down, none for the root itself.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.text.split('/').filter(|segment| !segment.is_empty())
    }

    /// Tells whether this path is `base` or lies somewhere below it.
    pub fn starts_with(&self, base: &WorkdirPath) -> bool {
        self.relative_to(base).is_some()
    }

    /// Returns the part of this path below `base`, empty when both are the same.
    ///
    /// Nothing when this path does not lie below `base`.
    pub fn relative_to(&self, base: &WorkdirPath) -> Option<&str> {
        if base.is_root() {
            return Some(&self.text);
        }
        let rest = self.text.strip_prefix(&*base.text)?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
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
        if self.is_root() {
            return Self::from_resolved(name);
        }
        Self::from_resolved(&format!("{}/{name}", self.text))
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

impl Ord for WorkdirPath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.segments().cmp(other.segments())
    }
}

impl PartialOrd for WorkdirPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
