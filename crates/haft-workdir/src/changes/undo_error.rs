use super::journal::ChangeJournalError;
use crate::error::Error;
use crate::shown::Shown;
use std::fmt;

/// Says why something cannot be undone; nothing has changed then.
///
/// ```
/// use haft_workdir::{UndoError, UndoPlan, Workdir};
///
/// # let directory = tempfile::tempdir()?;
/// # let workdir = Workdir::open(directory.path())?;
/// let error = UndoPlan::new(&workdir, &[]).unwrap_err();
/// assert!(matches!(error, UndoError::NoJournal));
/// assert_eq!(error.to_string(), "there is no journal of changes; nothing can be undone");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// The working directory keeps no journal.
    #[error("there is no journal of changes; nothing can be undone")]
    NoJournal,
    /// Files are not as they were left, or what was in them is not kept.
    #[error("nothing was undone: {}", listed(.0))]
    Conflicts(Vec<Conflict>),
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] ChangeJournalError),
    /// The file system refused; what had been undone by then was taken back, but for the paths that are named.
    #[error("nothing was undone{}", but_for(.left))]
    Failed {
        /// What refused.
        source: Error,
        /// The paths that could not be put back.
        left: Vec<String>,
    },
}

/// Is a place at which something stands in the way of undoing.
///
/// ```
/// use haft_workdir::{ChangeJournal as _, ChangeOrigin, Expected, MemoryChanges, NewFile, UndoError, UndoPlan, Workdir};
/// # use std::sync::Arc;
///
/// # let directory = tempfile::tempdir()?;
/// # let journal = Arc::new(MemoryChanges::default());
/// # let workdir = Workdir::open(directory.path())?.journalled(Arc::clone(&journal) as _);
/// # let origin = ChangeOrigin::new("run-1".parse()?, "c1".parse()?);
/// # let mut set = workdir.change(origin.clone());
/// set.write(&workdir.resolve("a.txt")?, &NewFile::new(&[b"one"]), Expected::Absent)?;
/// # set.finish()?;
/// std::fs::write(directory.path().join("a.txt"), "mine")?;
///
/// let Err(UndoError::Conflicts(conflicts)) = UndoPlan::new(&workdir, &journal.sets(&origin.run)?) else {
///     panic!("what somebody wrote since is not overwritten");
/// };
/// assert_eq!(conflicts[0].path, "a.txt");
/// assert_eq!(conflicts[0].to_string(), "`a.txt` has changed since");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The place.
    pub path: String,
    /// What stands in the way.
    pub kind: ConflictKind,
}

/// Says what stands in the way of undoing a change.
///
/// What a host advises a person by:
///
/// ```
/// use haft_workdir::ConflictKind;
///
/// fn advice(kind: ConflictKind) -> &'static str {
///     match kind {
///         ConflictKind::Changed | ConflictKind::Moved => "put it back yourself, or undo what came later first",
///         ConflictKind::NotKept => "take it from a backup",
///         ConflictKind::OutOfReach => "bring the directory back and try again",
///         _ => "look at the file",
///     }
/// }
/// assert_eq!(advice(ConflictKind::NotKept), "take it from a backup");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConflictKind {
    /// It is not as it was left.
    Changed,
    /// What was moved is not where it was moved to, or something is where it was.
    Moved,
    /// What was there is not kept: it was too large, or the journal had to make room.
    NotKept,
    /// It is in another root, and that is gone or another directory by now.
    OutOfReach,
}

impl Conflict {
    pub(super) fn new(path: impl Into<String>, kind: ConflictKind) -> Self {
        Self { path: path.into(), kind }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.kind {
            ConflictKind::Changed => "has changed since",
            ConflictKind::Moved => "was moved since, or something is where it was",
            ConflictKind::NotKept => {
                "had a content that is not kept, because it was too large or room was needed"
            }
            ConflictKind::OutOfReach => {
                "is in a directory that is gone, or that another has taken the place of"
            }
        };
        write!(f, "`{}` {why}", Shown::new(&self.path))
    }
}

fn listed(conflicts: &[Conflict]) -> String {
    conflicts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn but_for(left: &[String]) -> String {
    if left.is_empty() {
        return String::new();
    }
    let left: Vec<String> = left.iter().map(|path| format!("`{}`", Shown::new(path))).collect();
    format!(", but these could not be put back: {}", left.join(", "))
}
