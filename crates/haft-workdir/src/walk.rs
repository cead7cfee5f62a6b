use std::ops::AddAssign;
use std::vec;

use crate::error::Error;
use crate::metadata::{EntryKind, Metadata};
use crate::path::WorkdirPath;
use crate::shown::Shown;
use crate::unread_rules::UnreadRules;
use crate::walk_directory::{ListedEntry, PassedOver, WalkDirectory, WalkListing};
use crate::workdir::Workdir;

/// What a [`Walk`] includes.
///
/// By default it leaves out hidden and ignored entries and goes to any depth.
///
/// ```
/// let options = haft_workdir::WalkOptions::default().hidden(true).most_depth(Some(2));
/// # let _ = options;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkOptions {
    pub(crate) hidden: bool,
    pub(crate) ignored: bool,
    most_depth: Option<usize>,
}

impl WalkOptions {
    /// Sets whether entries whose name starts with `.` are included. `.git` never is.
    pub fn hidden(self, hidden: bool) -> Self {
        Self { hidden, ..self }
    }

    /// Sets whether entries that `.gitignore`, `.ignore` or `.git/info/exclude` leave out are included.
    pub fn ignored(self, ignored: bool) -> Self {
        Self { ignored, ..self }
    }

    /// Sets how deep the walk goes: 1 is the entries of the start itself, and nothing is any depth.
    pub fn most_depth(self, most_depth: Option<usize>) -> Self {
        Self { most_depth, ..self }
    }
}

/// One entry met by a [`Walk`].
///
/// ```
/// use haft_workdir::{EntryKind, WalkOptions, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// # std::fs::create_dir(directory.path().join("src"))?;
/// # std::fs::write(directory.path().join("src/main.rs"), "fn main() {}")?;
/// let mut bytes = 0;
/// for entry in workdir.walk(&workdir.resolve(".")?, WalkOptions::default())? {
///     let entry = entry?;
///     if entry.kind() == EntryKind::File {
///         bytes += entry.size()?;
///     }
/// }
/// assert_eq!(bytes, 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct WalkEntry {
    workdir: Workdir,
    path: WorkdirPath,
    kind: EntryKind,
}

impl WalkEntry {
    /// Returns where the entry is. Of a symbolic link it is the link itself, which operations refuse.
    pub fn path(&self) -> &WorkdirPath {
        &self.path
    }

    /// Returns where the entry is, without a copy.
    pub fn into_path(self) -> WorkdirPath {
        self.path
    }

    /// Returns what the entry is. Links are not followed.
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// Looks the entry up and returns its size in bytes.
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::metadata`]: the entry may have changed since the walk met it.
    pub fn size(&self) -> Result<u64, Error> {
        Ok(self.metadata()?.size())
    }

    /// Looks the entry up and returns its metadata.
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::metadata`]: the entry may have changed since the walk met it.
    pub fn metadata(&self) -> Result<Metadata, Error> {
        self.workdir.metadata(&self.path)
    }
}

/// A directory that a [`Walk`] could not list.
///
/// A walk goes on after one, so what is found is still of use:
///
/// ```
/// use haft_workdir::{WalkEntry, WalkError, Walk};
///
/// fn listed(walk: Walk) -> (Vec<WalkEntry>, Vec<String>) {
///     let (mut found, mut failed) = (Vec::new(), Vec::new());
///     for entry in walk {
///         match entry {
///             Ok(entry) => found.push(entry),
///             Err(error) => failed.push(WalkError::model_text(&error)),
///         }
///     }
///     (found, failed)
/// }
/// # use haft_workdir::{WalkOptions, Workdir};
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// # std::fs::write(directory.path().join("a.txt"), "")?;
///
/// let (found, failed) = listed(workdir.walk(&workdir.resolve(".")?, WalkOptions::default())?);
/// assert_eq!((found.len(), failed.len()), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[error("cannot walk into `{}`", Shown::new(path.as_str()))]
pub struct WalkError {
    path: WorkdirPath,
    source: Box<Error>,
}

impl WalkError {
    /// Returns the directory.
    pub fn path(&self) -> &WorkdirPath {
        &self.path
    }

    /// Returns the text for the model: what is wrong and what to do next, without host paths.
    pub fn model_text(&self) -> String {
        self.source.model_text()
    }
}

/// How many entries a [`Walk`] has passed over so far, by reason.
///
/// What lies below an entry that is passed over is not looked at and not counted.
///
/// ```
/// use haft_workdir::{Skipped, WalkOptions, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// # std::fs::write(directory.path().join(".ignore"), "*.log")?;
/// # std::fs::write(directory.path().join("build.log"), "")?;
/// let mut walk = workdir.walk(&workdir.resolve(".")?, WalkOptions::default())?;
/// assert_eq!(walk.by_ref().count(), 0);
/// // Why a search finds nothing: a hidden entry (`.ignore`), and an ignored one (`build.log`).
/// let mut skipped = Skipped::default();
/// skipped += walk.skipped();
/// assert_eq!((skipped.hidden, skipped.ignored, skipped.unreadable), (1, 1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Hidden entries, without `.git`.
    pub hidden: u64,
    /// Entries left out by ignore rules.
    pub ignored: u64,
    /// Directories that could not be listed; each was also yielded as a [`WalkError`].
    pub unreadable: u64,
    /// Entries whose name is not UTF-8, which nothing here can name.
    pub not_unicode: u64,
    /// Entries that the caller held back ([`Walk::hold_back`], [`WalkListing::hold_back`]).
    pub held_back: u64,
}

impl AddAssign for Skipped {
    fn add_assign(&mut self, other: Self) {
        self.hidden += other.hidden;
        self.ignored += other.ignored;
        self.unreadable += other.unreadable;
        self.not_unicode += other.not_unicode;
        self.held_back += other.held_back;
    }
}

impl Skipped {
    /// Counts one entry more.
    pub(crate) fn count(&mut self, reason: PassedOver) {
        match reason {
            PassedOver::Hidden => self.hidden += 1,
            PassedOver::Ignored => self.ignored += 1,
        }
    }
}

/// A walk over a directory and everything below it.
///
/// Made by [`Workdir::walk`]. It yields the entries below the start, not the start itself, in the order of their paths:
/// a directory comes right before its contents. A start that is a file is yielded as the only entry.
///
/// - Symbolic links are yielded and never followed, whatever is swapped meanwhile: each directory is opened from the
///   root's handle, without following a link, and the ignore files too.
/// - `.git` is left out always, unless the walk starts in it.
/// - A hidden entry that an ignore rule keeps (`!.github`) is yielded.
/// - Ignore files count from the root down, also above the start; those above the root and the user's own are not
///   read. They count whether or not there is a repository. The start itself is walked even if it is ignored.
/// - A directory that cannot be listed is an error, and the walk goes on after it; one that is gone when its turn comes
///   is not.
/// - It works only when asked for the next entry: to cancel it, stop asking. Memory holds one directory listing for
///   each level, and no handle stays open between two entries.
/// - Where the main root lies in another, a walk of that yields it as a directory and does not enter it.
/// - When the root is renamed during the walk, the walk goes on in the directory that was opened.
///
/// To walk on several threads, or in another order, take the steps one by one with a [`WalkDirectory`].
///
/// ```
/// use haft_workdir::{WalkOptions, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// # for name in ["docs", "docs/old"] { std::fs::create_dir(directory.path().join(name))?; }
/// # std::fs::write(directory.path().join("docs/start.md"), "")?;
/// let start = workdir.resolve("docs")?;
/// let mut found = Vec::new();
/// for entry in workdir.walk(&start, WalkOptions::default())? {
///     found.push(entry?.path().to_string());
/// }
/// assert_eq!(found, ["docs/old", "docs/start.md"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Walk {
    workdir: Workdir,
    options: WalkOptions,
    levels: Vec<Level>,
    /// A directory that was yielded last and is to be listed next.
    descend_into: Option<WalkDirectory>,
    /// The start, when it is a file.
    file: Option<WalkEntry>,
    skipped: Skipped,
}

/// A directory being walked.
#[derive(Debug)]
struct Level {
    directory: WalkDirectory,
    entries: vec::IntoIter<ListedEntry>,
}

impl Workdir {
    /// Walks over a directory and everything below it.
    ///
    /// ```
    /// use haft_workdir::{WalkError, WalkOptions, Workdir};
    ///
    /// let directory = tempfile::tempdir()?;
    /// std::fs::create_dir(directory.path().join("src"))?;
    /// std::fs::write(directory.path().join("src/main.rs"), "fn main() {}")?;
    /// std::fs::write(directory.path().join("build.log"), "")?;
    /// std::fs::write(directory.path().join(".gitignore"), "*.log")?;
    ///
    /// let workdir = Workdir::open(directory.path())?;
    /// let mut walk = workdir.walk(&workdir.resolve(".")?, WalkOptions::default())?;
    /// let found = walk.by_ref().map(|entry| Ok(entry?.into_path())).collect::<Result<Vec<_>, WalkError>>()?;
    /// assert_eq!(found, [workdir.resolve("src")?, workdir.resolve("src/main.rs")?]);
    /// assert_eq!((walk.skipped().hidden, walk.skipped().ignored), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When `start` cannot be listed: [`Error::NotFound`]; [`Error::Changed`]; [`Error::NotADirectory`] when it passes
    /// through a file; [`Error::NotRegular`] when it is neither a directory nor a regular file; [`Error::Io`].
    pub fn walk(&self, start: &WorkdirPath, options: WalkOptions) -> Result<Walk, Error> {
        self.walk_without(start, options, UnreadRules::default())
    }

    /// Walks as [`Workdir::walk`] does, and leaves some ignore files unread.
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::walk`].
    pub fn walk_without(
        &self,
        start: &WorkdirPath,
        options: WalkOptions,
        unread: UnreadRules,
    ) -> Result<Walk, Error> {
        let mut walk = Walk {
            workdir: self.clone(),
            options,
            levels: Vec::new(),
            descend_into: None,
            file: None,
            skipped: Skipped::default(),
        };
        match self.kind(start)? {
            EntryKind::File => walk.file = Some(walk.entry(start.clone(), EntryKind::File)),
            EntryKind::Directory => {
                walk.enter(self.walk_directory_without(start, options, unread))?;
                if options.most_depth == Some(0) {
                    walk.levels.clear();
                }
            }
            kind => return Err(Error::not_a_file(start, kind)),
        }
        Ok(walk)
    }
}

impl Walk {
    /// Returns how many entries were passed over so far.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Holds back the entry that was yielded last, which must not be shown: the walk does not go into it, and counts it.
    pub fn hold_back(&mut self) {
        self.descend_into = None;
        self.skipped.held_back += 1;
    }

    fn entry(&self, path: WorkdirPath, kind: EntryKind) -> WalkEntry {
        WalkEntry { workdir: self.workdir.clone(), path, kind }
    }

    fn enter(&mut self, directory: WalkDirectory) -> Result<(), Error> {
        let WalkListing { directory, entries, not_unicode, .. } = directory.list()?;
        self.skipped.not_unicode += not_unicode;
        self.levels.push(Level { directory, entries: entries.into_iter() });
        Ok(())
    }

    /// Enters the directory yielded last. One that is gone has no entries.
    fn descend(&mut self, directory: WalkDirectory) -> Result<(), WalkError> {
        let path = directory.path().clone();
        match self.enter(directory) {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => {
                self.skipped.unreadable += 1;
                Err(WalkError { path, source: Box::new(error) })
            }
        }
    }
}

impl Iterator for Walk {
    type Item = Result<WalkEntry, WalkError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(file) = self.file.take() {
            return Some(Ok(file));
        }
        if let Some(directory) = self.descend_into.take()
            && let Err(error) = self.descend(directory)
        {
            return Some(Err(error));
        }
        loop {
            let depth = self.levels.len();
            let level = self.levels.last_mut()?;
            let Some(entry) = level.entries.next() else {
                self.levels.pop();
                continue;
            };
            match entry.passed_over {
                Some(reason) => {
                    self.skipped.count(reason);
                    continue;
                }
                None if self.options.most_depth.is_none_or(|most| depth < most) => {
                    self.descend_into = level.directory.enter(&entry);
                }
                None => {}
            }
            let path = level.directory.path_of(&entry);
            return Some(Ok(self.entry(path, entry.kind)));
        }
    }
}

impl std::iter::FusedIterator for Walk {}
