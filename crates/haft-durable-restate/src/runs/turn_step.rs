//! A turn of the model as one journaled step.

use super::DurableAgent;
use super::run_request::RunRequest;
use super::run_wire::{RunNext, Turned};
use crate::step::{CANCELLED, stoppable};
use haft_agent::{Effect, RunEnd, RunEvent, RunState};
use haft_tools_core::now_ms;
use restate_sdk::context::WorkflowContext;
use restate_sdk::errors::{HandlerError, TerminalError};
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Holds a run as far as the journal tells of it.
///
/// What was journaled is put together only when something is done: a workflow that is taken up again comes to where it waits
/// without reading the transcript.
pub(super) struct Kept {
    agent: Arc<DurableAgent>,
    request: RunRequest,
    state: Mutex<KeptState>,
}

#[derive(Default)]
struct KeptState {
    /// The state, where something was done here.
    live: Option<RunState>,
    /// The state after the step that runs, until that is in the journal.
    after: Option<RunState>,
    /// What the journal has, where nothing was done here yet.
    head: Option<Value>,
    log: Vec<Value>,
}

impl Kept {
    pub(super) fn new(agent: Arc<DurableAgent>, request: RunRequest) -> Self {
        Self { agent, request, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, KeptState> {
        // Nothing that is called under the lock panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the state as it stands.
    fn state(&self) -> Result<RunState, HandlerError> {
        let mut kept = self.lock();
        if let Some(live) = &kept.live {
            return Ok(live.clone());
        }
        let live = if let Some(head) = kept.head.take() {
            // Another worker may know the version that this one does not.
            RunState::restore(head, std::mem::take(&mut kept.log))?
        } else {
            let state = self.agent.agent().new_state();
            let most = state.account().budget.stricter(self.request.most());
            state.budget(most)
        };
        kept.live = Some(live.clone());
        Ok(live)
    }

    /// Takes over what is in the journal by now.
    fn journaled(&self, turned: &Turned) {
        let mut kept = self.lock();
        if let Some(after) = kept.after.take() {
            kept.live = Some(after);
        } else {
            kept.head = Some(turned.head.clone());
            kept.log.extend(turned.log.iter().cloned());
        }
    }

    /// Has the model take its turn.
    async fn turned(&self, events: Vec<RunEvent>, stop: &CancellationToken) -> Result<Turned, HandlerError> {
        let before = self.state()?;
        let (scope, entries) = (self.request.scope(), before.log_from(0).count());
        let agent = self.agent.agent();
        let after = match agent.take_turn(&scope, before.clone(), events, stop).await {
            Ok(after) => after,
            Err(error) => {
                tracing::error!(run = %scope.run(), %error, "a run cannot go on");
                // What was journaled does not fit any more, which no other try would change.
                return Err(TerminalError::new(error.to_string()).into());
            }
        };
        let log: Result<Vec<Value>, _> = after.log_from(entries).map(serde_json::to_value).collect();
        let turned = Turned { head: serde_json::to_value(after.head())?, log: log?, next: self.next(&after) };
        self.lock().after = Some(after);
        Ok(turned)
    }

    fn next(&self, state: &RunState) -> RunNext {
        let end = |end: RunEnd| RunNext::End { end, text: state.last_text(), spent: *state.spent() };
        match state.outstanding().pop() {
            Some(Effect::CallModel) => RunNext::Turn,
            Some(Effect::ExecuteBatch { calls }) => RunNext::Act {
                calls: self.agent.plan(&self.request.scope().with_turn(state.turns()), calls),
                account: *state.account(),
                turn: state.turns(),
                at_ms: now_ms(),
            },
            _ => match state.end() {
                Some(ended) => end(ended.clone()),
                None => end(RunEnd::Failed {
                    reason: "the run stands still, and nobody can have it go on".to_owned(),
                }),
            },
        }
    }
}

/// Has the model take its turn after what has happened, and gives whether the run was told to stop meanwhile.
///
/// A run that was told before ends instead.
pub(super) async fn take_turn(
    ctx: &WorkflowContext<'_>,
    kept: &Arc<Kept>,
    number: u32,
    events: Vec<RunEvent>,
    is_told: bool,
) -> Result<(Option<Turned>, bool), HandlerError> {
    let stop = CancellationToken::new();
    if is_told {
        stop.cancel();
    }
    let work = {
        let (kept, stop) = (Arc::clone(kept), stop.clone());
        move || async move { kept.turned(events, &stop).await }
    };
    let (turned, is_told_now) = stoppable(ctx, format!("turn {number}"), stop, work).await;
    match turned {
        Ok(turned) => {
            kept.journaled(&turned);
            Ok((Some(turned), is_told || is_told_now))
        }
        // The engine's own cancellation came before, so what came of the turn is not seen here.
        Err(error) if error.code() == CANCELLED => {
            kept.lock().after = None;
            Ok((None, true))
        }
        Err(error) => Err(error.into()),
    }
}
