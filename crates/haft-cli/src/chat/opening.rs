use super::conversation::Conversation;
use crate::agent::{self, Header};
use crate::bench;
use crate::exit::UsageError;
use crate::keeper::Keeper;
use crate::kept_state::KeptState;
use crate::opened_workdir::OpenedWorkdir;
use crate::set_up::SetUp;
use crate::task::{Task, What};
use anyhow::Result;
use haft::agent::RunState;
use haft::store::{RunLease, StoredRun};
use haft::tools_core::Redactor;
use haft::{CallScope, Workdir};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Holds what a chat is begun with, or gone on with.
pub(crate) struct Opening {
    task: Task,
    headers: Vec<Header>,
    workdir: Workdir,
    /// The directory with what was configured for it when the command began, for the first chat.
    opened: Option<OpenedWorkdir>,
    /// The directory as it was given, for names that people know.
    given: Option<PathBuf>,
    state: Arc<KeptState>,
    /// The run that it goes on with, where it is one.
    stands: Option<Stands>,
    goes_on: bool,
}

/// Is a run as it was kept, with the right to go on with it.
pub(crate) struct Stands {
    pub(crate) stored: StoredRun,
    pub(crate) lease: RunLease,
    pub(crate) state: RunState,
}

impl Opening {
    pub(crate) fn new(
        task: Task,
        headers: Vec<Header>,
        opened: OpenedWorkdir,
        given: Option<PathBuf>,
        state: Arc<KeptState>,
        stands: Option<Stands>,
    ) -> Self {
        let (goes_on, workdir) = (stands.is_some(), opened.workdir.clone());
        Self { task, headers, workdir, opened: Some(opened), given, state, stands, goes_on }
    }

    pub(super) fn task(&self) -> &Task {
        &self.task
    }

    /// Whether it goes on with a run.
    pub(super) fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Gathers the tools and the model, and begins the chat.
    pub(super) async fn begin(&mut self) -> Result<Conversation> {
        let What::Agent(settings) = &self.task.work else {
            return Err(UsageError(
                "only runs of `haft agent` can be talked to; go on with this one by `haft resume`".to_owned(),
            )
            .into());
        };
        let (scope, keeper, stands) = if let Some(Stands { stored, lease, state }) = self.stands.take() {
            let scope = CallScope::new(stored.run.clone());
            (scope, Keeper::of(Arc::clone(&self.state), stored, &self.task, lease), state)
        } else {
            let scope = bench::scope()?;
            let keeper = Keeper::new(Arc::clone(&self.state), scope.run().clone(), &self.task)?;
            (scope, keeper, RunState::new())
        };
        let opened = match self.opened.take() {
            Some(opened) => opened,
            // Files may have been changed since the last chat began, and perhaps by it: a new one goes by what they say now.
            None => OpenedWorkdir::alone(self.workdir.clone())?,
        };
        let with = SetUp {
            task: &self.task,
            opened,
            given: self.given.as_deref(),
            keeper: Arc::clone(&keeper),
            scope,
            redactor: Redactor::new(),
            // What is done is stopped message by message.
            token: CancellationToken::new(),
        };
        let (run, bench) = agent::set_up_again(with, settings, &self.headers, stands).await?;
        run.go_on_below().await?;
        Ok(Conversation::new(self.task.clone(), keeper, bench, run))
    }

    /// Has the next chat begin as another one stands: in its mode.
    pub(super) fn as_in(&mut self, task: &Task) {
        self.task = task.clone();
    }
}
