use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use crate::error::Error;
use crate::handle::{NotAFile, open_child_file};
use crate::ignore_rules::{IgnoreRules, Verdict};
use crate::listing::RawEntry;
use crate::metadata::{EntryKind, Metadata};
use crate::path::WorkdirPath;
use crate::unread_rules::UnreadRules;
use crate::walk::{Skipped, WalkOptions};
use crate::workdir::Workdir;

/// A directory of a walk that its caller takes step by step, in any order and on any thread.
///
/// It keeps every promise of a [`Walk`](crate::Walk) about what is yielded and what is followed: a directory is listed from
/// the root's handle without following a link, with the ignore rules of all that is above it. What it leaves to the
/// caller is which directory comes next.
///
/// ```
/// use haft_workdir::{EntryKind, WalkOptions, Workdir};
///
/// let directory = tempfile::tempdir()?;
/// std::fs::create_dir(directory.path().join("src"))?;
/// std::fs::write(directory.path().join("src/main.rs"), "fn main() {}")?;
/// std::fs::write(directory.path().join("build.log"), "")?;
/// std::fs::write(directory.path().join(".gitignore"), "*.log")?;
///
/// let workdir = Workdir::open(directory.path())?;
/// let mut found = Vec::new();
/// let mut next = vec![workdir.walk_directory(&workdir.resolve(".")?, WalkOptions::default())];
/// while let Some(directory) = next.pop() {
///     let listing = directory.list()?;
///     for entry in listing.included() {
///         next.extend(listing.enter(entry));
///         if entry.kind() == EntryKind::File {
///             let (_file, metadata) = listing.open_file(entry)?;
///             found.push((listing.path_of(entry).to_string(), metadata.size()));
///         }
///     }
/// }
/// assert_eq!(found, [("src/main.rs".to_owned(), 12)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct WalkDirectory {
    workdir: Workdir,
    options: WalkOptions,
    path: WorkdirPath,
    /// The rules of the directories above it, and once it is listed its own.
    rules: IgnoreRules,
    unread: UnreadRules,
}

/// What is in a directory of a walk.
///
/// It keeps the directory open, so that its files are opened without looking up the way to them again: drop it when it is
/// no longer needed, since a process can only have so many directories open.
///
/// ```
/// use haft_workdir::{WalkOptions, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// # std::fs::write(directory.path().join("a.txt"), "one")?;
/// # std::fs::write(directory.path().join("secret.key"), "k")?;
/// let mut listing = workdir.walk_directory(&workdir.resolve(".")?, WalkOptions::default()).list()?;
/// // What a rule keeps from the model is counted and not yielded.
/// listing.hold_back(|path, _| path.as_str().ends_with(".key"));
/// let found: Vec<&str> = listing.included().map(|entry| entry.name()).collect();
/// assert_eq!(found, ["a.txt"]);
/// assert_eq!(listing.skipped().held_back, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WalkListing {
    pub(crate) directory: WalkDirectory,
    pub(crate) entries: Vec<ListedEntry>,
    pub(crate) not_unicode: u64,
    held_back: u64,
    handle: OwnedFd,
}

/// One entry of a [`WalkListing`].
///
/// ```
/// use haft_workdir::{EntryKind, WalkOptions, Workdir};
/// use std::io::Read as _;
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// # std::fs::write(directory.path().join("a.txt"), "one")?;
/// let listing = workdir.walk_directory(&workdir.resolve(".")?, WalkOptions::default()).list()?;
/// let entry = &listing.entries()[0];
/// assert_eq!((entry.name(), entry.kind()), ("a.txt", EntryKind::File));
///
/// let mut text = String::new();
/// listing.open_file(entry)?.0.read_to_string(&mut text)?;
/// assert_eq!(text, "one");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ListedEntry {
    /// The names of all entries of the directory, of which this has the one at `place`.
    names: Arc<str>,
    place: Range<usize>,
    pub(crate) kind: EntryKind,
    pub(crate) passed_over: Option<PassedOver>,
}

/// Why a walk passes over an entry.
///
/// ```
/// use haft_workdir::{PassedOver, WalkOptions, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// # std::fs::write(directory.path().join(".ignore"), "*.log")?;
/// # for name in ["build.log", "main.rs"] { std::fs::write(directory.path().join(name), "")?; }
/// let listing = workdir.walk_directory(&workdir.resolve(".")?, WalkOptions::default()).list()?;
/// let found: Vec<_> = listing.entries().iter().map(|entry| (entry.name(), entry.passed_over())).collect();
/// assert_eq!(
///     found,
///     [(".ignore", Some(PassedOver::Hidden)), ("build.log", Some(PassedOver::Ignored)), ("main.rs", None)],
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PassedOver {
    /// Its name starts with `.`, and no ignore rule keeps it.
    Hidden,
    /// Ignore rules leave it out.
    Ignored,
}

impl Workdir {
    /// Makes the first step of a walk that its caller takes on from there.
    ///
    /// It reads the ignore files above the directory, unless ignored entries are included. Whether there is a directory at
    /// `start` is found out when it is [listed](WalkDirectory::list). The depth of the options is left to the caller.
    pub fn walk_directory(&self, start: &WorkdirPath, options: WalkOptions) -> WalkDirectory {
        self.walk_directory_without(start, options, UnreadRules::default())
    }

    /// Makes the first step of a walk as [`Workdir::walk_directory`] does, which leaves some ignore files unread.
    pub fn walk_directory_without(
        &self,
        start: &WorkdirPath,
        options: WalkOptions,
        unread: UnreadRules,
    ) -> WalkDirectory {
        let rules =
            if options.ignored { IgnoreRules::default() } else { IgnoreRules::above(self, start, &unread) };
        WalkDirectory { workdir: self.clone(), options, path: start.clone(), rules, unread }
    }
}

impl WalkDirectory {
    /// Returns where the directory is.
    pub fn path(&self) -> &WorkdirPath {
        &self.path
    }

    /// Lists the directory, sorted by the bytes of the names.
    ///
    /// The whole listing is held in memory.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::NotADirectory`]; [`Error::Changed`] when the path is or passes through a symbolic
    /// link; [`Error::Io`].
    pub fn list(mut self) -> Result<WalkListing, Error> {
        let (raw, handle) = self.workdir.list_open(&self.path)?;
        if !self.options.ignored {
            let place = (&self.path, &self.unread);
            self.rules = self.rules.below_listed(&self.workdir, place, &raw, handle.as_fd());
        }
        let (names, raw, not_unicode) = raw.into_unicode();
        let names: Arc<str> = names.into();
        let has_rules = !self.rules.are_none();
        let mut path = if has_rules { self.path.prefix() } else { String::new() };
        let above = path.len();
        let mut entries = Vec::with_capacity(raw.len());
        for RawEntry { name: place, kind } in raw {
            let name = &names[place.clone()];
            if name == ".git" {
                continue;
            }
            let verdict = if has_rules {
                path.truncate(above);
                path.push_str(name);
                self.rules.verdict(&path, kind)
            } else {
                Verdict::Unmentioned
            };
            let passed_over = self.passes_over(verdict, name);
            entries.push(ListedEntry { names: Arc::clone(&names), place, kind, passed_over });
        }
        Ok(WalkListing { directory: self, entries, not_unicode, held_back: 0, handle })
    }

    fn passes_over(&self, verdict: Verdict, name: &str) -> Option<PassedOver> {
        match verdict {
            Verdict::Ignored => Some(PassedOver::Ignored),
            Verdict::Unmentioned if name.starts_with('.') && !self.options.hidden => Some(PassedOver::Hidden),
            Verdict::Kept | Verdict::Unmentioned => None,
        }
    }

    /// Returns where an entry of the listing of this directory is.
    pub(crate) fn path_of(&self, entry: &ListedEntry) -> WorkdirPath {
        self.path.child(entry.name())
    }

    /// Goes on in an entry of the listing of this directory.
    pub(crate) fn enter(&self, entry: &ListedEntry) -> Option<Self> {
        if entry.kind != EntryKind::Directory || entry.passed_over.is_some() {
            return None;
        }
        let path = self.path_of(entry);
        if self.workdir.roots.is_main(&path) {
            return None;
        }
        let Self { workdir, options, rules, unread, .. } = self;
        let (workdir, rules, unread) = (workdir.clone(), rules.clone(), unread.clone());
        Some(Self { workdir, options: *options, path, rules, unread })
    }
}

impl WalkListing {
    /// Returns where the listed directory is.
    pub fn path(&self) -> &WorkdirPath {
        &self.directory.path
    }

    /// Returns the entries, also those that the walk passes over, but not `.git` and not names that are not UTF-8.
    pub fn entries(&self) -> &[ListedEntry] {
        &self.entries
    }

    /// Takes out the entries that must not be shown, as if they were not there; they are counted as such.
    ///
    /// The walk goes into none of them.
    pub fn hold_back(&mut self, mut is_held_back: impl FnMut(&WorkdirPath, EntryKind) -> bool) {
        let Self { directory, entries, held_back, .. } = self;
        let all = entries.len();
        entries.retain(|entry| !is_held_back(&directory.path_of(entry), entry.kind));
        *held_back += (all - entries.len()) as u64;
    }

    /// Yields the entries that the walk does not pass over.
    pub fn included(&self) -> impl Iterator<Item = &ListedEntry> {
        self.entries.iter().filter(|entry| entry.passed_over.is_none())
    }

    /// Counts what the walk passes over in this directory; none of it is unreadable.
    pub fn skipped(&self) -> Skipped {
        let Self { not_unicode, held_back, .. } = *self;
        let mut skipped = Skipped { not_unicode, held_back, ..Skipped::default() };
        self.entries.iter().filter_map(|entry| entry.passed_over).for_each(|reason| skipped.count(reason));
        skipped
    }

    /// Returns where an entry of this listing is. Of a symbolic link it is the link itself, which operations refuse.
    pub fn path_of(&self, entry: &ListedEntry) -> WorkdirPath {
        self.directory.path_of(entry)
    }

    /// Goes on in an entry of this listing: nothing unless it is a directory that the walk goes into.
    pub fn enter(&self, entry: &ListedEntry) -> Option<WalkDirectory> {
        self.directory.enter(entry)
    }

    /// Opens a regular file of this listing for reading, with what it is found to be once it is open.
    ///
    /// What was no regular file when the directory was listed is refused without being opened. Whatever took the place of the
    /// file since is not followed if it is a link, is not waited for, and is refused.
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::open_file`].
    pub fn open_file(&self, entry: &ListedEntry) -> Result<(File, Metadata), Error> {
        let not_a_file = |kind| Error::not_a_file(&self.path_of(entry), kind);
        if entry.kind != EntryKind::File {
            return Err(not_a_file(entry.kind));
        }
        match open_child_file(self.handle.as_fd(), entry.name()) {
            Ok((file, stat)) => Ok((file, Metadata::of(&stat))),
            Err(NotAFile::Unopened(errno)) => Err(Error::of("open", &self.path_of(entry), errno)),
            Err(NotAFile::Other(kind)) => Err(not_a_file(kind)),
        }
    }
}

impl ListedEntry {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.names[self.place.clone()]
    }

    /// Returns what the entry is. Links are not followed.
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// Tells why the walk passes over the entry, nothing where it does not.
    pub fn passed_over(&self) -> Option<PassedOver> {
        self.passed_over
    }
}

impl PartialEq for ListedEntry {
    fn eq(&self, other: &Self) -> bool {
        (self.name(), self.kind, self.passed_over) == (other.name(), other.kind, other.passed_over)
    }
}

impl Eq for ListedEntry {}

impl fmt::Debug for ListedEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListedEntry")
            .field("name", &self.name())
            .field("kind", &self.kind)
            .field("passed_over", &self.passed_over)
            .finish_non_exhaustive()
    }
}
