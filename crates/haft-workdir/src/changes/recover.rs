use super::digest::ContentDigest;
use super::journal::{ChangeJournalError, SetEnd};
use super::look::state_at;
use super::put::put;
use super::reach::reaching;
use super::record::{ChangeOrigin, ChangeStep, PathState, place_of};
use crate::error::Error;
use crate::leftovers::sweep;
use crate::path::WorkdirPath;
use crate::workdir::Workdir;
use crate::write::Existing;
use std::mem;
use std::os::fd::AsFd as _;

/// Is a change set that a killed process had left unfinished, and that was taken back.
///
/// ```
/// use haft_workdir::Workdir;
/// # use haft_workdir::*;
/// # use std::{path::Path, sync::Arc};
/// # type Answer<T> = Result<T, ChangeJournalError>;
/// # /// Knows of one set that a killed process left: it had made `a.txt`.
/// # #[derive(Debug)]
/// # struct LeftBehind;
/// # impl ChangeJournal for LeftBehind {
/// #   fn unfinished(&self, root: &Path) -> Answer<Vec<ChangeSet>> {
/// #       let failed = |error| ChangeJournalError::new("name a call", error);
/// #       let run = "run-1".parse().map_err(|_| failed("run"))?;
/// #       let origin = ChangeOrigin::new(run, "c1".parse().map_err(|_| failed("call"))?);
/// #       let digest = Some(ContentDigest::of_parts(&[b"half"]));
/// #       let after = PathState::File { digest, bytes: 4, mode: None, attributes: None };
/// #       let mut set = ChangeSet::new(ChangeSetId::new(1), origin, root.to_owned(), 0, SetState::Open);
/// #       set.steps.push(ChangeStep::Set { path: "a.txt".to_owned(), before: PathState::Absent, after });
/// #       Ok(vec![set])
/// #   }
/// #   fn limits(&self) -> ChangeLimits { ChangeLimits::default() }
/// #   fn begin(&self, _: &SetStart<'_>) -> Answer<ChangeSetId> { Ok(ChangeSetId::new(2)) }
/// #   fn record(&self, _: ChangeSetId, _: &ChangeStep, _: &[(ContentDigest, &[&[u8]])]) -> Answer<()> { Ok(()) }
/// #   fn retract(&self, _: ChangeSetId) -> Answer<()> { Ok(()) }
/// #   fn end(&self, _: ChangeSetId, _: SetEnd) -> Answer<Vec<String>> { Ok(Vec::new()) }
/// #   fn lock_recovery(&self) -> Answer<RecoveryLock> { Ok(RecoveryLock::new(())) }
/// #   fn sets(&self, _: &haft_core::RunId) -> Answer<Vec<ChangeSet>> { Ok(Vec::new()) }
/// #   fn runs(&self, _: usize) -> Answer<Vec<ChangedRun>> { Ok(Vec::new()) }
/// #   fn keeps(&self, _: ContentDigest) -> Answer<bool> { Ok(false) }
/// #   fn content(&self, _: ContentDigest) -> Answer<Option<Vec<u8>>> { Ok(None) }
/// # }
/// # let directory = tempfile::tempdir()?;
/// # let journal = Arc::new(LeftBehind);
///
/// // A process was killed when it had made `a.txt` and not yet the rest.
/// std::fs::write(directory.path().join("a.txt"), "half")?;
/// let workdir = Workdir::open(directory.path())?.journalled(journal);
/// let recovered = workdir.recover()?;
/// assert_eq!(recovered[0].origin.call.as_str(), "c1");
/// assert_eq!(recovered[0].paths, ["a.txt"]);
/// assert!(recovered[0].left.is_empty());
/// assert!(!directory.path().join("a.txt").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// The call that had begun it.
    pub origin: ChangeOrigin,
    /// The paths that it had to do with.
    pub paths: Vec<String>,
    /// Those of them that could not be put back, because something else has changed them since, or because the root they are
    /// in is gone.
    pub left: Vec<String>,
}

impl Workdir {
    /// Takes back the change sets in this tree that processes have left unfinished which were killed.
    ///
    /// That includes what they did in other roots, whether this value has those or not. Does nothing without a journal. Whoever opens a change set does the same first, so a host need call this only to have
    /// it done before anything is read.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn recover(&self) -> Result<Vec<Recovered>, ChangeJournalError> {
        let Some(journal) = self.journal() else { return Ok(Vec::new()) };
        if journal.unfinished(self.root_path())?.is_empty() {
            return Ok(Vec::new());
        }
        let _lock = journal.lock_recovery()?;
        let mut recovered = Vec::new();
        // Whoever had the lock may have done it.
        for set in journal.unfinished(self.root_path())?.into_iter().rev() {
            let mut left = Vec::new();
            let workdir = reaching(self, &set.other_roots);
            // What was written in place has to be ended before it can be told how far it got.
            set.steps.iter().for_each(|step| end_writes(&workdir, changed_path(step)));
            for step in set.steps.iter().rev() {
                let kept = |digest: Option<ContentDigest>| journal.content(digest?).ok()?;
                if let Err(path) = revert(&workdir, step, kept) {
                    left.push(path);
                }
            }
            journal.end(set.id, if left.is_empty() { SetEnd::RolledBack } else { SetEnd::Torn })?;
            let mut paths: Vec<String> = set.steps.iter().map(|step| changed_path(step).to_owned()).collect();
            paths.sort_unstable();
            paths.dedup();
            if !paths.is_empty() {
                recovered.push(Recovered { origin: set.origin, paths, left });
            }
        }
        recovered.reverse();
        Ok(recovered)
    }
}

/// Ends what a killed process was writing in the directory of a place.
fn end_writes(workdir: &Workdir, path: &str) {
    if let Some(place) = place_of(workdir, path)
        && let Ok(parent) = workdir.parent(&place, "write")
    {
        sweep(parent.as_fd());
    }
}

fn changed_path(step: &ChangeStep) -> &str {
    match step {
        ChangeStep::Set { path, .. } | ChangeStep::Move { from: path, .. } => path,
    }
}

/// Takes a step back if it was made; gives the path if something else stands there than was before or after it.
pub(super) fn revert(
    workdir: &Workdir,
    step: &ChangeStep,
    content: impl FnOnce(Option<ContentDigest>) -> Option<Vec<u8>>,
) -> Result<(), String> {
    let (ChangeStep::Set { path, .. } | ChangeStep::Move { from: path, .. }) = step;
    let reverted = match step {
        ChangeStep::Set { path, before, after } => reset(workdir, path, before, after, content),
        ChangeStep::Move { from, to, what } => move_back(workdir, from, to, what),
    };
    match reverted {
        Ok(true) => Ok(()),
        Ok(false) | Err(_) => Err(path.clone()),
    }
}

fn reset(
    workdir: &Workdir,
    path: &str,
    before: &PathState,
    after: &PathState,
    content: impl FnOnce(Option<ContentDigest>) -> Option<Vec<u8>>,
) -> Result<bool, Error> {
    let Some(place) = place_of(workdir, path) else { return Ok(false) };
    let now = state_at(workdir, &place, u64::MAX)?;
    if after.has_content_of(&now) {
        // A directory that somebody has put something into stays.
        put(workdir, &place, &now, before, content)?;
        return Ok(true);
    }
    // A directory that is to go may be gone with what it was made in.
    Ok(before.has_content_of(&now))
}

/// Takes a step back that this process has made; what it moved goes back with whatever others have written to it since.
pub(super) fn revert_own(
    workdir: &Workdir,
    step: &ChangeStep,
    content: impl FnOnce(Option<ContentDigest>) -> Option<Vec<u8>>,
) -> Result<(), String> {
    if let ChangeStep::Move { from, to, what } = step
        && let Some(place) = place_of(workdir, to)
        && let Ok(now) = state_at(workdir, &place, 0)
        && mem::discriminant(&now) == mem::discriminant(what)
    {
        let moved = ChangeStep::Move { from: from.clone(), to: to.clone(), what: now };
        return revert(workdir, &moved, content);
    }
    revert(workdir, step, content)
}

fn move_back(workdir: &Workdir, from: &str, to: &str, what: &PathState) -> Result<bool, Error> {
    let (Some(from), Some(to)): (Option<WorkdirPath>, Option<WorkdirPath>) =
        (place_of(workdir, from), place_of(workdir, to))
    else {
        return Ok(false);
    };
    let (at_from, at_to) = (state_at(workdir, &from, u64::MAX)?, state_at(workdir, &to, u64::MAX)?);
    if at_from.is_there() {
        return Ok(what.has_content_of(&at_from));
    }
    if !what.has_content_of(&at_to) {
        return Ok(false);
    }
    workdir.rename(&to, &from, Existing::Refuse)?;
    Ok(true)
}
