use super::digest::ContentDigest;
use super::file_attributes::FileAttributes;
use crate::path::WorkdirPath;
use crate::workdir::Workdir;
use haft_core::{CallId, RunId};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Says which call changes something.
///
/// ```
/// use haft_workdir::ChangeOrigin;
///
/// let origin = ChangeOrigin::new("run-1".parse()?, "c1".parse()?).tool("write_file").turn(2);
/// assert_eq!(origin.turn, Some(2));
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangeOrigin {
    /// The run that the call belongs to.
    pub run: RunId,
    /// The run that started that run, if one did.
    pub parent_run: Option<RunId>,
    /// The call.
    pub call: CallId,
    /// The turn of the run in which the call was made, from 1, where it is known.
    pub turn: Option<u32>,
    /// The name of the tool, or of what else changes something.
    pub tool: String,
}

impl ChangeOrigin {
    /// Names a call of a run.
    pub fn new(run: RunId, call: CallId) -> Self {
        Self { run, parent_run: None, call, turn: None, tool: String::new() }
    }

    /// Names the tool that is called.
    pub fn tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = tool.into();
        self
    }

    /// Says in which turn of the run the call was made, from 1.
    pub fn turn(mut self, turn: impl Into<Option<u32>>) -> Self {
        self.turn = turn.into();
        self
    }

    /// Names the run that started the run.
    pub fn parent_run(mut self, run: impl Into<Option<RunId>>) -> Self {
        self.parent_run = run.into();
        self
    }
}

/// Says what is at a path, as far as it can be put back.
///
/// ```
/// use haft_workdir::{ContentDigest, PathState};
///
/// let digest = Some(ContentDigest::of_parts(&[b"one"]));
/// let recorded = PathState::File { digest, bytes: 3, mode: None, attributes: None };
/// let now = PathState::File { digest, bytes: 3, mode: Some(0o644), attributes: None };
/// assert!(recorded.is_still(&now), "permissions that were not recorded do not count");
/// assert!(!recorded.is_still(&PathState::Absent));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum PathState {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// What is in it; `None` where it was too large to be looked at.
        digest: Option<ContentDigest>,
        /// Its size in bytes.
        bytes: u64,
        /// Its permissions; `None` where they are up to the process that makes it.
        mode: Option<u32>,
        /// What else it has, where it was removed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attributes: Option<Box<FileAttributes>>,
    },
    /// A directory; what is in it has states of its own.
    Directory {
        /// Its permissions; `None` where they are up to the process that makes it.
        mode: Option<u32>,
    },
    /// A symbolic link itself.
    Link {
        /// Where it leads, as it is written.
        target: String,
    },
    /// Something that cannot be put back, such as a named pipe.
    Other,
}

impl PathState {
    /// Tells whether something is there.
    pub fn is_there(&self) -> bool {
        *self != Self::Absent
    }

    /// Gives the digest of a file, where it is known.
    pub fn digest(&self) -> Option<ContentDigest> {
        match self {
            Self::File { digest, .. } => *digest,
            _ => None,
        }
    }

    /// Tells whether what is there now is what was recorded.
    ///
    /// Permissions count where both are known, and of files alone.
    pub fn is_still(&self, now: &Self) -> bool {
        match (self, now) {
            (Self::File { mode: recorded, .. }, Self::File { mode, .. }) => {
                self.has_content_of(now) && (recorded.is_none() || mode.is_none() || recorded == mode)
            }
            (Self::Directory { .. }, Self::Directory { .. }) => true,
            _ => self == now,
        }
    }

    /// Tells the same without regard to permissions.
    pub(crate) fn has_content_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { digest: Some(recorded), .. }, Self::File { digest: Some(digest), .. }) => {
                recorded == digest
            }
            (Self::File { bytes: recorded, .. }, Self::File { bytes, .. }) => recorded == bytes,
            _ => self.is_still(other),
        }
    }
}

/// Is one change of the tree: what was at a path and what is there once it is made, or a move.
///
/// ```
/// use haft_workdir::{ChangeJournal as _, ChangeOrigin, ChangeStep, MemoryChanges, Workdir};
/// # use std::sync::Arc;
///
/// # let directory = tempfile::tempdir()?;
/// # std::fs::write(directory.path().join("a.txt"), "one")?;
/// # let journal = Arc::new(MemoryChanges::default());
/// # let workdir = Workdir::open(directory.path())?.journalled(Arc::clone(&journal) as _);
/// # let origin = ChangeOrigin::new("run-1".parse()?, "c1".parse()?);
/// let mut set = workdir.change(origin.clone());
/// set.rename(&workdir.resolve("a.txt")?, &workdir.resolve("b.txt")?)?;
/// set.finish()?;
///
/// let lines = journal.sets(&origin.run)?.into_iter().flat_map(|set| set.steps).map(|step| match step {
///     ChangeStep::Set { path, .. } => format!("changed {path}"),
///     ChangeStep::Move { from, to, .. } => format!("moved {from} to {to}"),
///     _ => "something else".to_owned(),
/// });
/// assert_eq!(lines.collect::<Vec<_>>(), ["moved a.txt to b.txt"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeStep {
    /// Something is made, replaced or removed.
    Set {
        /// The place, as [`WorkdirPath::as_str`] writes it.
        path: String,
        /// What was there.
        before: PathState,
        /// What is there then.
        after: PathState,
    },
    /// Something is moved to where nothing was.
    Move {
        /// Where it was.
        from: String,
        /// Where it is then.
        to: String,
        /// What it is.
        what: PathState,
    },
}

/// Numbers the change sets of a journal, in the order in which they were begun.
///
/// A journal gives them in rising order, so that the later of two sets is the greater:
///
/// ```
/// use haft_workdir::{ChangeJournal as _, ChangeOrigin, MemoryChanges, SetStart};
///
/// let journal = MemoryChanges::default();
/// # let origin = ChangeOrigin::new("run-1".parse()?, "c1".parse()?);
/// # let start = SetStart { origin: &origin, root: "/project".as_ref(), other_roots: &[], undoes: &[] };
/// let (first, second) = (journal.begin(&start)?, journal.begin(&start)?);
/// assert!(first < second);
/// assert_eq!((first.get(), second.get()), (1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ChangeSetId(u64);

impl ChangeSetId {
    /// Takes the number that a journal gives.
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// Says how far a change set has got.
///
/// ```
/// use haft_workdir::{ChangeJournal as _, ChangeOrigin, Expected, MemoryChanges, NewFile, SetState, Workdir};
/// # use std::sync::Arc;
///
/// # let directory = tempfile::tempdir()?;
/// # let journal = Arc::new(MemoryChanges::default());
/// # let workdir = Workdir::open(directory.path())?.journalled(Arc::clone(&journal) as _);
/// # let origin = ChangeOrigin::new("run-1".parse()?, "c1".parse()?);
/// for is_wanted in [true, false] {
///     let mut set = workdir.change(origin.clone());
///     set.write(&workdir.resolve("a.txt")?, &NewFile::new(&[b"one"]), Expected::Whatever)?;
///     if is_wanted {
///         set.finish()?;
///     } else {
///         set.roll_back();
///     }
/// }
/// let states: Vec<SetState> = journal.sets(&origin.run)?.iter().map(|set| set.state).collect();
/// // What was rolled back has changed nothing; this journal does not keep it.
/// assert_eq!(states, [SetState::Done]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SetState {
    /// It is being made, or its process was killed while it was.
    Open,
    /// All of it was made.
    Done,
    /// None of it is left.
    RolledBack,
    /// It was to be rolled back, and something stood in the way.
    Torn,
}

/// Is what one call changed in one go, all or none of it.
///
/// ```
/// use haft_workdir::{ChangeJournal as _, ChangeOrigin, Expected, MemoryChanges, NewFile, UndoPlan, Workdir};
/// # use std::sync::Arc;
///
/// # let directory = tempfile::tempdir()?;
/// # let journal = Arc::new(MemoryChanges::default());
/// # let workdir = Workdir::open(directory.path())?.journalled(Arc::clone(&journal) as _);
/// # let origin = ChangeOrigin::new("run-1".parse()?, "c1".parse()?);
/// # let mut set = workdir.change(origin.clone());
/// # set.write(&workdir.resolve("a.txt")?, &NewFile::new(&[b"one"]), Expected::Absent)?;
/// # set.finish()?;
/// let sets = journal.sets(&origin.run)?;
/// assert_eq!((sets[0].origin.call.as_str(), sets[0].steps.len()), ("c1", 1));
/// assert!(sets[0].is_in_force());
///
/// UndoPlan::new(&workdir, &sets)?.apply(&workdir, ChangeOrigin::new("undo".parse()?, "u1".parse()?))?;
/// let undone = &journal.sets(&origin.run)?[0];
/// assert!(!undone.is_in_force());
/// assert!(undone.undone_by.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChangeSet {
    /// Its number.
    pub id: ChangeSetId,
    /// Which call made it.
    #[serde(flatten)]
    pub origin: ChangeOrigin,
    /// The host path of the root it was made in.
    pub root: PathBuf,
    /// The host paths of the other roots that there were, in which it may have changed something, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_roots: Vec<PathBuf>,
    /// When it was begun, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// How far it has got.
    pub state: SetState,
    /// The set that undid it, if one did.
    pub undone_by: Option<ChangeSetId>,
    /// The changes, in the order in which they were made.
    pub steps: Vec<ChangeStep>,
}

impl ChangeSet {
    /// Puts together what a journal has kept; there were no other roots, and nothing has undone it.
    pub fn new(id: ChangeSetId, origin: ChangeOrigin, root: PathBuf, at_ms: u64, state: SetState) -> Self {
        Self { id, origin, root, other_roots: Vec::new(), at_ms, state, undone_by: None, steps: Vec::new() }
    }

    /// Tells whether its changes were made and not undone.
    pub fn is_in_force(&self) -> bool {
        self.state == SetState::Done && self.undone_by.is_none()
    }
}

/// Reads a path that was recorded; `None` where it is none of this tree.
pub(crate) fn place_of(workdir: &Workdir, text: &str) -> Option<WorkdirPath> {
    if text == "." {
        return Some(WorkdirPath::root());
    }
    let (root, below) = if text.starts_with('/') {
        let (root, below) = workdir.roots.find(Path::new(text))?;
        (root.path.clone(), below.to_str()?)
    } else {
        (WorkdirPath::root(), text)
    };
    if below.is_empty() {
        return Some(root);
    }
    below.split('/').try_fold(root, |place, name| place.join_file_name(name))
}
