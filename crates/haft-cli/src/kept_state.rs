use crate::config::UserConfig;
use crate::exit::{self, UsageError};
use crate::policy_setup::is_there;
use crate::shared_store::{self, Database};
use anyhow::{Context as _, Result};
use async_trait::async_trait;
use haft::core::{Digest, RunId};
use haft::store::{
    ChildRuns, DatabaseError, Entry, EntryStore, PendingEntry, RecordStore, RunStore, SqliteStore, Upkeep,
};
use haft::subagents::ChildStore;
use haft::tools_core::{
    Answered, Approval, Claim, Grant, GrantPlace, GrantStore, JournalRecord, JournalSink, PendingCall,
    PendingId, PendingStore, StoreError,
};
use std::error::Error;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// For how long what is of no use any more is kept.
const KEPT_FOR: Duration = Duration::from_hours(30 * 24);

/// How often it is looked whether something is of no use any more.
const TIDIED_EVERY: Duration = Duration::from_hours(24);

/// Keeps all that haft remembers.
pub(crate) trait KeptStore:
    GrantStore
    + PendingStore
    + JournalSink
    + RunStore
    + EntryStore
    + RecordStore
    + ChildRuns
    + ChildStore
    + Upkeep
{
}

impl<S> KeptStore for S where
    S: GrantStore
        + PendingStore
        + JournalSink
        + RunStore
        + EntryStore
        + RecordStore
        + ChildRuns
        + ChildStore
        + Upkeep
{
}

/// Holds what haft remembers from one command to the next: grants, calls that wait for a person, and runs.
///
/// It is a database that other machines use, too, if the user's `haft.toml` names one, and otherwise one file, which is opened
/// when it is needed first and made when there is something to keep.
pub(crate) struct KeptState {
    path: Option<PathBuf>,
    store: OnceLock<Arc<dyn KeptStore>>,
    /// Whether it was said what stands in the way of keeping something.
    is_said: AtomicBool,
}

impl KeptState {
    /// As [`KeptState::of`], for a command that needs nothing else of what is configured.
    pub(crate) async fn find() -> Result<Arc<Self>> {
        Self::of(&UserConfig::read()?).await
    }

    /// Connects to the database that the user's `haft.toml` names, or finds the file where the environment says that it is.
    ///
    /// # Errors
    ///
    /// When the database cannot be used, and when no file is named that can be.
    pub(crate) async fn of(user: &UserConfig) -> Result<Arc<Self>> {
        let path = user.directories.state_file()?.map(Path::to_owned);
        let store = match Database::of_user(user.file.as_ref())? {
            Some(database) => shared_store::connect(&database).await?.into(),
            None => OnceLock::new(),
        };
        Ok(Arc::new(Self { path, store, is_said: AtomicBool::new(false) }))
    }

    /// Keeps everything in this file.
    #[cfg(test)]
    pub(crate) fn at(path: PathBuf) -> Arc<Self> {
        Arc::new(Self { path: Some(path), store: OnceLock::new(), is_said: AtomicBool::new(false) })
    }

    /// Opens the file, and makes it if there is none, unless there is a database.
    pub(crate) fn store(&self) -> Result<&dyn KeptStore> {
        if let Some(store) = self.store.get() {
            return Ok(&**store);
        }
        let path = self.path.as_ref().with_context(|| {
            let message = "there is no place to remember anything in; set HAFT_STATE to the absolute path of a file, or HOME";
            UsageError(message.to_owned())
        })?;
        let cannot = || {
            let shown = path.display();
            UsageError(format!("cannot remember anything in `{shown}`; set HAFT_STATE to a file that can be"))
        };
        if let Some(directory) = path.parent() {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
            made.with_context(cannot)?;
        }
        let store = SqliteStore::open(path).with_context(cannot)?;
        Ok(&**self.store.get_or_init(|| Arc::new(store)))
    }

    /// Opens the file if there is one; a database is always there.
    pub(crate) fn existing(&self) -> Result<Option<&dyn KeptStore>> {
        if self.store.get().is_none() && !self.path.as_deref().is_some_and(is_there) {
            return Ok(None);
        }
        self.store().map(Some)
    }

    /// Removes once a day what has been of no use for a month; what stands in the way of that stands in nobody else's.
    pub(crate) async fn tidy(&self) {
        if let Some(store) = self.store.get()
            && let Err(error) = store.prune_if_due(KEPT_FOR, TIDIED_EVERY).await
        {
            exit::note(&error);
        }
    }

    /// Lists the grants, also those that cannot be read.
    pub(crate) async fn grants(&self) -> Result<Vec<Entry<Grant>>> {
        match self.existing()? {
            Some(store) => Ok(store.grant_entries().await?),
            None => Ok(Vec::new()),
        }
    }

    /// Lists the calls that wait, also those that cannot be read.
    pub(crate) async fn calls(&self) -> Result<Vec<PendingEntry>> {
        match self.existing()? {
            Some(store) => Ok(store.pending_entries().await?),
            None => Ok(Vec::new()),
        }
    }

    /// Says on standard error, once, why something cannot be kept or read: a model is told no more than that.
    fn said<T, E: Error + 'static>(&self, result: Result<T, E>) -> Result<T, E> {
        if let Err(error) = &result {
            self.say(error);
        }
        result
    }

    /// Says on standard error what stands in the way of keeping something, unless that was said before.
    pub(crate) fn say(&self, error: &(dyn Error + 'static)) {
        if !self.is_said.swap(true, Ordering::Relaxed) {
            exit::note(error);
        }
    }

    fn needed(&self, attempted: &'static str) -> Result<&dyn KeptStore, StoreError> {
        self.store().map_err(|error| StoreError::new(attempted, error))
    }

    fn found(&self, attempted: &'static str) -> Result<Option<&dyn KeptStore>, StoreError> {
        self.existing().map_err(|error| StoreError::new(attempted, error))
    }
}

/// Says why an entry cannot be read, for where it is said that it cannot.
pub(crate) fn why(error: &DatabaseError) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

#[async_trait]
impl GrantStore for KeptState {
    async fn add(&self, grant: &Grant) -> Result<(), StoreError> {
        self.said(async { self.needed("keep the grant")?.add(grant).await }.await)
    }

    async fn holding(
        &self,
        agent: Option<&str>,
        places: &[GrantPlace],
    ) -> Result<Vec<Arc<Grant>>, StoreError> {
        let held = async {
            match self.found("read the grants")? {
                Some(store) => store.holding(agent, places).await,
                None => Ok(Vec::new()),
            }
        };
        self.said(held.await)
    }

    async fn list_grants(&self) -> Result<Vec<Arc<Grant>>, StoreError> {
        match self.found("read the grants")? {
            Some(store) => store.list_grants().await,
            None => Ok(Vec::new()),
        }
    }

    async fn revoke(&self, id: &str) -> Result<bool, StoreError> {
        match self.found("revoke the grant")? {
            Some(store) => store.revoke(id).await,
            None => Ok(false),
        }
    }
}

/// Records where there is a file or a database; what went before the first that had to be kept is nobody's to look up.
impl JournalSink for KeptState {
    fn write(&self, record: &JournalRecord) -> io::Result<()> {
        self.said(match self.existing() {
            Ok(Some(store)) => store.write(record),
            Ok(None) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        })
    }
}

#[async_trait]
impl PendingStore for KeptState {
    async fn put(&self, pending: &PendingCall) -> Result<(), StoreError> {
        self.said(async { PendingStore::put(self.needed("keep the pending call")?, pending).await }.await)
    }

    async fn claim(&self, pending: &PendingCall) -> Result<Claim, StoreError> {
        self.needed("claim the pending call")?.claim(pending).await
    }

    async fn waiting(&self) -> Result<Vec<PendingCall>, StoreError> {
        match self.found("read the pending calls")? {
            Some(store) => store.waiting().await,
            None => Ok(Vec::new()),
        }
    }

    async fn waits(&self, id: &PendingId) -> Result<bool, StoreError> {
        match self.found("read the pending call")? {
            Some(store) => store.waits(id).await,
            None => Ok(false),
        }
    }

    async fn waiting_of(&self, run: &RunId) -> Result<Vec<PendingCall>, StoreError> {
        match self.found("read the pending calls")? {
            Some(store) => store.waiting_of(run).await,
            None => Ok(Vec::new()),
        }
    }

    async fn answer(&self, id: &PendingId, approval: &Approval) -> Result<bool, StoreError> {
        match self.found("keep the answer")? {
            Some(store) => store.answer(id, approval).await,
            None => Ok(false),
        }
    }

    async fn answer_first(
        &self,
        id: &PendingId,
        digest: &Digest,
        approval: &Approval,
    ) -> Result<Answered, StoreError> {
        match self.found("keep the answer")? {
            Some(store) => store.answer_first(id, digest, approval).await,
            None => Ok(Answered::Gone),
        }
    }

    async fn answer_to(&self, id: &PendingId) -> Result<Option<Approval>, StoreError> {
        match self.found("read the answer")? {
            Some(store) => store.answer_to(id).await,
            None => Ok(None),
        }
    }

    async fn waiting_as(&self, digest: &Digest) -> Result<Option<(PendingId, Option<Approval>)>, StoreError> {
        match self.found("read the pending calls")? {
            Some(store) => store.waiting_as(digest).await,
            None => Ok(None),
        }
    }
}
