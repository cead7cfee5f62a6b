use crate::policy_setup::is_there;
use anyhow::Result;
use haft::core::RunId;
use haft::store::SqliteChanges;
use haft::workdir::{
    ChangeJournal, ChangeJournalError, ChangeLimits, ChangeSet, ChangeSetId, ChangeStep, ChangedRun,
    ContentDigest, RecoveryLock, SetEnd, SetStart,
};
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// For how long changes are kept.
const KEPT_FOR: Duration = Duration::from_hours(30 * 24);

/// Is the journal of changes in the user's state, which is made when something is changed first.
#[derive(Debug)]
pub(super) struct KeptChanges {
    path: PathBuf,
    limits: ChangeLimits,
    store: OnceLock<SqliteChanges>,
}

impl KeptChanges {
    pub(super) fn at(path: PathBuf, limits: ChangeLimits) -> Self {
        Self { path, limits, store: OnceLock::new() }
    }

    /// Opens the file, and makes it if there is none.
    fn store(&self) -> Result<&SqliteChanges, ChangeJournalError> {
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        if let Some(directory) = self.path.parent() {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
            made.map_err(|error| ChangeJournalError::new("keep anything", error))?;
        }
        let opened = SqliteChanges::options().limits(self.limits).open(&self.path);
        let store = opened.map_err(|error| ChangeJournalError::new("keep anything", error))?;
        let store = self.store.get_or_init(|| store);
        // What is too old is in nobody's way if it cannot be removed now.
        let _ = store.prune(KEPT_FOR);
        Ok(store)
    }

    /// Opens the file if there is one.
    fn existing(&self) -> Result<Option<&SqliteChanges>, ChangeJournalError> {
        if self.store.get().is_none() && !is_there(&self.path) {
            return Ok(None);
        }
        self.store().map(Some)
    }

    fn found<T: Default>(
        &self,
        read: impl FnOnce(&SqliteChanges) -> Result<T, ChangeJournalError>,
    ) -> Result<T, ChangeJournalError> {
        self.existing()?.map_or_else(|| Ok(T::default()), read)
    }
}

impl ChangeJournal for KeptChanges {
    fn limits(&self) -> ChangeLimits {
        self.limits
    }

    fn begin(&self, start: &SetStart<'_>) -> Result<ChangeSetId, ChangeJournalError> {
        self.store()?.begin(start)
    }

    fn record(
        &self,
        set: ChangeSetId,
        step: &ChangeStep,
        contents: &[(ContentDigest, &[&[u8]])],
    ) -> Result<(), ChangeJournalError> {
        self.store()?.record(set, step, contents)
    }

    fn retract(&self, set: ChangeSetId) -> Result<(), ChangeJournalError> {
        self.store()?.retract(set)
    }

    fn end(&self, set: ChangeSetId, end: SetEnd) -> Result<Vec<String>, ChangeJournalError> {
        self.store()?.end(set, end)
    }

    fn unfinished(&self, root: &Path) -> Result<Vec<ChangeSet>, ChangeJournalError> {
        self.found(|store| store.unfinished(root))
    }

    fn lock_recovery(&self) -> Result<RecoveryLock, ChangeJournalError> {
        self.store()?.lock_recovery()
    }

    fn sets(&self, run: &RunId) -> Result<Vec<ChangeSet>, ChangeJournalError> {
        self.found(|store| store.sets(run))
    }

    fn runs(&self, most: usize) -> Result<Vec<ChangedRun>, ChangeJournalError> {
        self.found(|store| store.runs(most))
    }

    fn keeps(&self, digest: ContentDigest) -> Result<bool, ChangeJournalError> {
        self.found(|store| store.keeps(digest))
    }

    fn content(&self, digest: ContentDigest) -> Result<Option<Vec<u8>>, ChangeJournalError> {
        self.found(|store| store.content(digest))
    }
}
