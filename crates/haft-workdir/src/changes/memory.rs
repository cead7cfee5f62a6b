use super::digest::ContentDigest;
use super::journal::{
    ChangeJournal, ChangeJournalError, ChangeLimits, ChangedRun, RecoveryLock, SetEnd, SetStart,
};
use super::record::{ChangeSet, ChangeSetId, ChangeStep, PathState, SetState};
use haft_core::RunId;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Keeps what is changed in memory, for as long as the process lives.
///
/// So nothing is ever found unfinished. For a host that undoes what a run did before it ends, and for tests.
///
/// ```
/// use haft_workdir::{ChangeJournal as _, ChangeOrigin, Expected, MemoryChanges, NewFile, Workdir};
/// use std::sync::Arc;
///
/// # let directory = tempfile::tempdir()?;
/// # std::fs::write(directory.path().join("a.txt"), "one")?;
/// let journal = Arc::new(MemoryChanges::default());
/// let workdir = Workdir::open(directory.path())?.journalled(Arc::clone(&journal) as _);
/// let origin = ChangeOrigin::new("run-1".parse()?, "c1".parse()?);
/// let mut set = workdir.change(origin.clone());
/// set.write(&workdir.resolve("a.txt")?, &NewFile::new(&[b"two"]), Expected::Holds(b"one"))?;
/// set.finish()?;
///
/// // What was there is kept, to be put back.
/// let one = haft_workdir::ContentDigest::of_parts(&[b"one"]);
/// assert_eq!(journal.content(one)?.as_deref(), Some(&b"one"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct MemoryChanges {
    limits: ChangeLimits,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    sets: BTreeMap<u64, (ChangeSet, Vec<ChangeSetId>)>,
    last: u64,
    contents: HashMap<ContentDigest, Vec<u8>>,
}

impl MemoryChanges {
    /// Begins with nothing, and keeps as much.
    pub fn new(limits: ChangeLimits) -> Self {
        Self { limits, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing panics half-way through a change.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MemoryChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryChanges").field("sets", &self.kept().sets.len()).finish_non_exhaustive()
    }
}

impl ChangeJournal for MemoryChanges {
    fn limits(&self) -> ChangeLimits {
        self.limits
    }

    fn begin(&self, start: &SetStart<'_>) -> Result<ChangeSetId, ChangeJournalError> {
        let mut kept = self.kept();
        kept.last += 1;
        let id = ChangeSetId::new(kept.last);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let at_ms = u64::try_from(now).unwrap_or(u64::MAX);
        let mut set = ChangeSet::new(id, start.origin.clone(), start.root.to_owned(), at_ms, SetState::Open);
        set.other_roots = start.other_roots.to_vec();
        kept.sets.insert(id.get(), (set, start.undoes.to_vec()));
        Ok(id)
    }

    fn record(
        &self,
        set: ChangeSetId,
        step: &ChangeStep,
        contents: &[(ContentDigest, &[&[u8]])],
    ) -> Result<(), ChangeJournalError> {
        let mut kept = self.kept();
        let Some((set, _)) = kept.sets.get_mut(&set.get()) else {
            return Err(ChangeJournalError::new("record a change", "the change set is not known"));
        };
        set.steps.push(step.clone());
        for (digest, parts) in contents {
            kept.contents.entry(*digest).or_insert_with(|| parts.concat());
        }
        Ok(())
    }

    fn retract(&self, set: ChangeSetId) -> Result<(), ChangeJournalError> {
        if let Some((set, _)) = self.kept().sets.get_mut(&set.get()) {
            set.steps.pop();
        }
        Ok(())
    }

    fn end(&self, id: ChangeSetId, end: SetEnd) -> Result<Vec<String>, ChangeJournalError> {
        let mut kept = self.kept();
        let Some((set, undoes)) = kept.sets.get_mut(&id.get()) else { return Ok(Vec::new()) };
        set.state = match end {
            SetEnd::Done => SetState::Done,
            SetEnd::RolledBack => SetState::RolledBack,
            SetEnd::Torn => SetState::Torn,
        };
        if end != SetEnd::Done {
            kept.sweep(self.limits);
            return Ok(Vec::new());
        }
        let undoes = undoes.clone();
        for (set, _) in kept.sets.values_mut() {
            if undoes.contains(&set.id) {
                set.undone_by = Some(id);
            } else if set.undone_by.is_some_and(|by| undoes.contains(&by)) {
                set.undone_by = None;
            }
        }
        kept.sweep(self.limits);
        kept.make_room(self.limits, id);
        Ok(kept.not_kept(id))
    }

    fn unfinished(&self, _root: &Path) -> Result<Vec<ChangeSet>, ChangeJournalError> {
        Ok(Vec::new())
    }

    fn lock_recovery(&self) -> Result<RecoveryLock, ChangeJournalError> {
        Ok(RecoveryLock::new(()))
    }

    fn sets(&self, run: &RunId) -> Result<Vec<ChangeSet>, ChangeJournalError> {
        let kept = self.kept();
        let mut runs = BTreeSet::from([run.clone()]);
        loop {
            let parent_is_of =
                |set: &ChangeSet| set.origin.parent_run.as_ref().is_some_and(|run| runs.contains(run));
            let below: Vec<RunId> = kept
                .sets
                .values()
                .filter(|(set, _)| parent_is_of(set) && !runs.contains(&set.origin.run))
                .map(|(set, _)| set.origin.run.clone())
                .collect();
            if below.is_empty() {
                break;
            }
            runs.extend(below);
        }
        let ended = kept.sets.values().filter(|(set, _)| set.state != SetState::Open);
        Ok(ended.filter(|(set, _)| runs.contains(&set.origin.run)).map(|(set, _)| set.clone()).collect())
    }

    fn runs(&self, most: usize) -> Result<Vec<ChangedRun>, ChangeJournalError> {
        let kept = self.kept();
        let mut runs: Vec<ChangedRun> = Vec::new();
        for (set, _) in kept.sets.values().rev().filter(|(set, _)| set.state == SetState::Done) {
            let place = runs.iter().position(|run| run.run == set.origin.run).unwrap_or_else(|| {
                runs.push(ChangedRun::new(set.origin.run.clone(), set.root.clone(), set.at_ms));
                runs.len() - 1
            });
            let count =
                if set.undone_by.is_some() { &mut runs[place].undone } else { &mut runs[place].in_force };
            *count += 1;
        }
        runs.truncate(most);
        Ok(runs)
    }

    fn keeps(&self, digest: ContentDigest) -> Result<bool, ChangeJournalError> {
        Ok(self.kept().contents.contains_key(&digest))
    }

    fn content(&self, digest: ContentDigest) -> Result<Option<Vec<u8>>, ChangeJournalError> {
        Ok(self.kept().contents.get(&digest).cloned())
    }
}

impl Kept {
    /// Forgets contents that no set needs any more, and those that are too large, unless a set is open.
    fn sweep(&mut self, limits: ChangeLimits) {
        if self.sets.values().any(|(set, _)| set.state == SetState::Open) {
            return;
        }
        self.sets.retain(|_, (set, _)| set.state != SetState::RolledBack);
        let mut used = BTreeSet::new();
        for (set, _) in self.sets.values() {
            for step in &set.steps {
                if let ChangeStep::Set { before, after, .. } = step {
                    used.extend([before.digest(), after.digest()].into_iter().flatten());
                }
            }
        }
        self.contents
            .retain(|digest, bytes| used.contains(digest) && bytes.len() as u64 <= limits.file_bytes);
    }

    fn is_over(&self, limits: ChangeLimits) -> bool {
        let bytes: usize = self.contents.values().map(Vec::len).sum();
        bytes as u64 > limits.total_bytes || self.contents.len() as u64 > limits.contents
    }

    /// Forgets the oldest sets of other runs, and at last what this one would need.
    fn make_room(&mut self, limits: ChangeLimits, id: ChangeSetId) {
        let Some(run) = self.sets.get(&id.get()).map(|(set, _)| set.origin.run.clone()) else { return };
        while self.is_over(limits) {
            let others = |(_, (set, _)): &(&u64, &(ChangeSet, _))| {
                set.origin.run != run && set.state != SetState::Open
            };
            match self.sets.iter().find(others).map(|(id, _)| *id) {
                Some(oldest) => {
                    self.sets.remove(&oldest);
                    self.sweep(limits);
                }
                None => break,
            }
        }
        if self.is_over(limits)
            && let Some((set, _)) = self.sets.get(&id.get())
        {
            let mine: Vec<ContentDigest> = set
                .steps
                .iter()
                .filter_map(|step| match step {
                    ChangeStep::Set { before, after, .. } => Some([before.digest(), after.digest()]),
                    ChangeStep::Move { .. } => None,
                })
                .flatten()
                .flatten()
                .collect();
            let is_needed = |digest: &ContentDigest| {
                self.sets.iter().filter(|(other, _)| **other != id.get()).any(|(_, (set, _))| {
                    set.steps.iter().any(|step| match step {
                        ChangeStep::Set { before, .. } => before.digest() == Some(*digest),
                        ChangeStep::Move { .. } => false,
                    })
                })
            };
            let dropped: Vec<ContentDigest> = mine.into_iter().filter(|digest| !is_needed(digest)).collect();
            for digest in dropped {
                self.contents.remove(&digest);
            }
        }
    }

    /// Lists what of a set cannot be undone.
    fn not_kept(&self, id: ChangeSetId) -> Vec<String> {
        let Some((set, _)) = self.sets.get(&id.get()) else { return Vec::new() };
        let steps = set.steps.iter().filter_map(|step| match step {
            ChangeStep::Set { path, before: before @ PathState::File { .. }, .. } => Some((path, before)),
            _ => None,
        });
        steps
            .filter(|(_, before)| before.digest().is_none_or(|digest| !self.contents.contains_key(&digest)))
            .map(|(path, _)| path.clone())
            .collect()
    }
}
