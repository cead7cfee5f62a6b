use super::digest::ContentDigest;
use super::record::{ChangeOrigin, ChangeSet, ChangeSetId, ChangeStep};
use haft_core::RunId;
use serde::Serialize;
use std::any::Any;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

/// Keeps what is changed in trees, with what was there before.
///
/// A set is begun, each of its steps is recorded before it is made, and it is ended. What was recorded has to outlive the
/// process: [`ChangeJournal::record`] returns when it does. All methods block.
///
/// Contents are kept once each, by their digest, whoever changed the files. What a journal keeps is bounded
/// ([`ChangeLimits`]): for room it forgets the oldest runs first, and what is too large is not kept. Such a change is
/// recorded all the same, and cannot be undone.
///
/// A journal that also writes down which call changes what, for an auditor:
///
/// ```
/// use haft_workdir::{ChangeJournal, ChangeJournalError, ChangeSetId, ChangeStep, ContentDigest, MemoryChanges};
/// # use haft_workdir::{ChangeLimits, ChangeOrigin, ChangeSet, ChangedRun, Expected, NewFile, RecoveryLock, SetEnd, SetStart, Workdir};
/// # use std::sync::{Arc, Mutex};
/// # type Answer<T> = Result<T, ChangeJournalError>;
///
/// #[derive(Debug, Default)]
/// struct Audited {
///     journal: MemoryChanges,
///     seen: Mutex<Vec<String>>,
/// }
///
/// impl ChangeJournal for Audited {
///     fn record(
///         &self, set: ChangeSetId, step: &ChangeStep, contents: &[(ContentDigest, &[&[u8]])],
///     ) -> Result<(), ChangeJournalError> {
///         if let ChangeStep::Set { path, .. } = step {
///             self.seen.lock().map_err(|_| ChangeJournalError::new("audit a change", "poisoned"))?.push(path.clone());
///         }
///         self.journal.record(set, step, contents)
///     }
///     // The other methods only hand on.
/// #   fn limits(&self) -> ChangeLimits { self.journal.limits() }
/// #   fn begin(&self, start: &SetStart<'_>) -> Answer<ChangeSetId> { self.journal.begin(start) }
/// #   fn retract(&self, set: ChangeSetId) -> Answer<()> { self.journal.retract(set) }
/// #   fn end(&self, set: ChangeSetId, end: SetEnd) -> Answer<Vec<String>> { self.journal.end(set, end) }
/// #   fn unfinished(&self, root: &std::path::Path) -> Answer<Vec<ChangeSet>> { self.journal.unfinished(root) }
/// #   fn lock_recovery(&self) -> Answer<RecoveryLock> { self.journal.lock_recovery() }
/// #   fn sets(&self, run: &haft_core::RunId) -> Answer<Vec<ChangeSet>> { self.journal.sets(run) }
/// #   fn runs(&self, most: usize) -> Answer<Vec<ChangedRun>> { self.journal.runs(most) }
/// #   fn keeps(&self, digest: ContentDigest) -> Answer<bool> { self.journal.keeps(digest) }
/// #   fn content(&self, digest: ContentDigest) -> Answer<Option<Vec<u8>>> { self.journal.content(digest) }
/// }
///
/// # let directory = tempfile::tempdir()?;
/// let journal = Arc::new(Audited::default());
/// let workdir = Workdir::open(directory.path())?.journalled(Arc::clone(&journal) as _);
/// # let mut set = workdir.change(ChangeOrigin::new("run-1".parse()?, "c1".parse()?));
/// set.write(&workdir.resolve("a.txt")?, &NewFile::new(&[b"one"]), Expected::Absent)?;
/// # set.finish()?;
/// assert_eq!(*journal.seen.lock().unwrap(), ["a.txt"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ChangeJournal: Send + Sync + fmt::Debug + 'static {
    /// Says how much is kept.
    fn limits(&self) -> ChangeLimits;

    /// Begins a set that the calling process is at work on until it ends it.
    fn begin(&self, start: &SetStart<'_>) -> Result<ChangeSetId, ChangeJournalError>;

    /// Records a step that is about to be made, with contents that are to be kept, each in parts.
    ///
    /// Whatever the limits are, the contents are kept until the set has ended.
    fn record(
        &self,
        set: ChangeSetId,
        step: &ChangeStep,
        contents: &[(ContentDigest, &[&[u8]])],
    ) -> Result<(), ChangeJournalError>;

    /// Forgets the step of a set that was recorded last, since it was not made.
    fn retract(&self, set: ChangeSetId) -> Result<(), ChangeJournalError>;

    /// Ends a set, and keeps to the limits; gives the paths of its steps that cannot be undone.
    ///
    /// A set that was done marks those undone that it was begun to undo, and those no longer undone which they undid.
    fn end(&self, set: ChangeSetId, end: SetEnd) -> Result<Vec<String>, ChangeJournalError>;

    /// Lists the open sets in a root that no living process is at work on, the oldest first.
    fn unfinished(&self, root: &Path) -> Result<Vec<ChangeSet>, ChangeJournalError>;

    /// Waits until nobody else takes back what is unfinished, and keeps others from it.
    fn lock_recovery(&self) -> Result<RecoveryLock, ChangeJournalError>;

    /// Lists the sets of a run and of those below it that are done or were torn, the oldest first: one that was rolled back has
    /// changed nothing. None if nothing is known of the run.
    fn sets(&self, run: &RunId) -> Result<Vec<ChangeSet>, ChangeJournalError>;

    /// Lists the runs that changed something, the latest first.
    fn runs(&self, most: usize) -> Result<Vec<ChangedRun>, ChangeJournalError>;

    /// Tells whether a content is kept.
    fn keeps(&self, digest: ContentDigest) -> Result<bool, ChangeJournalError>;

    /// Reads a content, if it is kept.
    fn content(&self, digest: ContentDigest) -> Result<Option<Vec<u8>>, ChangeJournalError>;
}

/// Is what is known of a set when it is begun.
///
/// ```
/// use haft_workdir::{ChangeJournal as _, ChangeOrigin, ChangeStep, MemoryChanges, PathState, SetEnd, SetStart};
/// use std::path::Path;
///
/// let journal = MemoryChanges::default();
/// let origin = ChangeOrigin::new("run-1".parse()?, "c1".parse()?);
/// let start = SetStart { origin: &origin, root: Path::new("/project"), other_roots: &[], undoes: &[] };
/// let set = journal.begin(&start)?;
/// let (before, after) = (PathState::Absent, PathState::Directory { mode: None });
/// journal.record(set, &ChangeStep::Set { path: "docs".to_owned(), before, after }, &[])?;
/// journal.end(set, SetEnd::Done)?;
/// assert_eq!(journal.sets(&origin.run)?[0].root, Path::new("/project"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SetStart<'a> {
    /// The call that makes it.
    pub origin: &'a ChangeOrigin,
    /// The host path of the root it is made in.
    pub root: &'a Path,
    /// The host paths of the other roots that there are, in which it may change something, too.
    pub other_roots: &'a [PathBuf],
    /// The sets that it undoes.
    pub undoes: &'a [ChangeSetId],
}

/// Says how a set has ended.
///
/// Only a set that was done can be undone later:
///
/// ```
/// use haft_workdir::{ChangeJournal as _, ChangeOrigin, ChangeStep, MemoryChanges, PathState, SetEnd, SetStart};
///
/// # let journal = MemoryChanges::default();
/// # let origin = ChangeOrigin::new("run-1".parse()?, "c1".parse()?);
/// for end in [SetEnd::Done, SetEnd::Torn] {
/// #   let root = std::path::Path::new("/project");
/// #   let start = SetStart { origin: &origin, root, other_roots: &[], undoes: &[] };
///     let set = journal.begin(&start)?;
/// #   let (before, after) = (PathState::Absent, PathState::Directory { mode: None });
/// #   let step = ChangeStep::Set { path: "docs".to_owned(), before, after };
///     journal.record(set, &step, &[])?;
///     journal.end(set, end)?;
/// }
/// let in_force: Vec<bool> = journal.sets(&origin.run)?.iter().map(|set| set.is_in_force()).collect();
/// assert_eq!(in_force, [true, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetEnd {
    /// All of it was made.
    Done,
    /// None of it is left.
    RolledBack,
    /// It was to be rolled back, and something stood in the way.
    Torn,
}

/// Bounds what a journal keeps.
///
/// ```
/// use haft_workdir::ChangeLimits;
///
/// let limits = ChangeLimits { total_bytes: 100 << 20, ..ChangeLimits::default() };
/// assert_eq!(limits.file_bytes, 64 << 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeLimits {
    /// The most bytes a file may have whose content is kept for undoing; 64 MiB by default, the most that the tools edit.
    pub file_bytes: u64,
    /// The most bytes that contents have together; 1 GiB by default.
    pub total_bytes: u64,
    /// The most contents that are kept; 50,000 by default.
    pub contents: u64,
    /// The most bytes of a new content that is kept to be shown; 1 MiB by default.
    pub shown_bytes: u64,
}

impl Default for ChangeLimits {
    fn default() -> Self {
        Self { file_bytes: 64 << 20, total_bytes: 1 << 30, contents: 50_000, shown_bytes: 1 << 20 }
    }
}

/// Is a run that changed something.
///
/// ```
/// use haft_workdir::{ChangeJournal as _, ChangeOrigin, Expected, MemoryChanges, NewFile, Workdir};
/// # use std::sync::Arc;
///
/// # let directory = tempfile::tempdir()?;
/// # let journal = Arc::new(MemoryChanges::default());
/// # let workdir = Workdir::open(directory.path())?.journalled(Arc::clone(&journal) as _);
/// for name in ["a.txt", "b.txt"] {
///     let mut set = workdir.change(ChangeOrigin::new("run-1".parse()?, name.parse()?));
///     set.write(&workdir.resolve(name)?, &NewFile::new(&[b"one"]), Expected::Absent)?;
///     set.finish()?;
/// }
/// let latest = &journal.runs(1)?[0];
/// assert_eq!((latest.run.as_str(), latest.in_force, latest.undone), ("run-1", 2, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChangedRun {
    /// The run.
    pub run: RunId,
    /// The host path of the root in which it changed something last.
    pub root: PathBuf,
    /// When it last changed something, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// How many change sets it has that are in force.
    pub in_force: u64,
    /// How many it has that were undone.
    pub undone: u64,
}

impl ChangedRun {
    /// Begins to count the sets of a run.
    pub fn new(run: RunId, root: PathBuf, at_ms: u64) -> Self {
        Self { run, root, at_ms, in_force: 0, undone: 0 }
    }
}

/// Is the right to take back what is unfinished; it is given back when this is dropped.
///
/// ```
/// use haft_workdir::RecoveryLock;
/// use std::sync::Arc;
///
/// // What a journal hands in is whatever has to be dropped, such as a locked file.
/// let turn = Arc::new(());
/// let lock = RecoveryLock::new(Arc::clone(&turn));
/// assert_eq!(Arc::strong_count(&turn), 2);
/// drop(lock);
/// assert_eq!(Arc::strong_count(&turn), 1);
/// ```
#[must_use = "the lock is given back at once"]
pub struct RecoveryLock(
    #[expect(dead_code, reason = "it is kept for what happens when it is dropped")] Box<dyn Any + Send>,
);

impl RecoveryLock {
    /// Makes a lock that is given back by dropping this value.
    pub fn new(held: impl Any + Send) -> Self {
        Self(Box::new(held))
    }
}

impl fmt::Debug for RecoveryLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecoveryLock").finish_non_exhaustive()
    }
}

/// Says why a journal failed.
///
/// ```
/// use haft_workdir::ChangeJournalError;
/// use std::error::Error as _;
///
/// let error = ChangeJournalError::new("record a change", "the disk is full");
/// assert_eq!(error.to_string(), "cannot record a change in the journal of changes");
/// assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("the disk is full"));
/// ```
#[derive(Debug, thiserror::Error)]
#[error("cannot {attempted} in the journal of changes")]
pub struct ChangeJournalError {
    attempted: &'static str,
    source: Box<dyn Error + Send + Sync>,
}

impl ChangeJournalError {
    /// Says what was attempted, as a verb with its object, and why it failed.
    pub fn new(attempted: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { attempted, source: source.into() }
    }
}
