use super::DurableAgent;
use super::batch::{Batch, Made};
use super::run_request::RunRequest;
use super::run_wire::{RunEnded, RunNext, Stands, Turned};
use super::turn_step::{Kept, take_turn};
use crate::step::STOP_SIGNAL;
use crate::suspending::FarWait;
use crate::wire::WAITS;
use haft_agent::RunEvent;
use haft_core::Digest;
use haft_durable::CallCourse;
use haft_tools_core::PendingCall;
use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::{
    ContextClient as _, ContextPromises as _, ContextReadState as _, ContextWriteState as _, HandlerError,
    HandlerResult, Json, SharedWorkflowContext, TerminalError, WorkflowContext,
};
use serde_json::Value;
use std::sync::Arc;

/// Under which names a workflow keeps its state for those who look at it.
const HEAD: &str = "head";
const LOG: &str = "log/";

/// Names the promise that the run was told to stop.
const STOPS: &str = "stops";

/// Drives the runs of an agent, each as a workflow under the run's name.
pub(crate) struct RunWorkflow {
    agent: Arc<DurableAgent>,
}

impl RunWorkflow {
    pub(crate) fn new(agent: DurableAgent) -> Self {
        Self { agent: Arc::new(agent) }
    }

    /// Has turns taken and calls made until the run ends; all that decides what is next comes from the journal.
    async fn drive(&self, ctx: &WorkflowContext<'_>, request: RunRequest) -> Result<RunEnded, HandlerError> {
        let kept = Arc::new(Kept::new(Arc::clone(&self.agent), request.clone()));
        let mut standing = Standing { request: request.digest(), number: 0 };
        let mut events = vec![RunEvent::Prompted { text: request.prompt().to_owned() }];
        let (mut is_told, mut turns) = (false, 0);
        loop {
            let (turned, told) = take_turn(ctx, &kept, turns, events.clone(), is_told).await?;
            is_told |= told;
            turns += 1;
            // Nothing of that turn is known, and it is told to stop now.
            let Some(Turned { head, log, next }) = turned else { continue };
            ctx.set(HEAD, Json(head));
            ctx.set(&format!("{LOG}{turns:08}"), Json(log));
            events = match next {
                RunNext::Turn => Vec::new(),
                // A run that was told to stop answers its calls itself.
                RunNext::Act { .. } if is_told => Vec::new(),
                RunNext::Act { calls, account, turn, at_ms } => {
                    let batch = Batch::new(ctx, &request, &mut standing, calls, account, turn, at_ms);
                    let Made { events, is_told: told } = batch.made().await?;
                    is_told |= told;
                    events
                }
                RunNext::End { end, text, spent } => {
                    standing.ended(ctx);
                    return Ok(RunEnded { request: request.digest(), end, text, spent });
                }
            };
        }
    }
}

/// Tells those who look at a run when it waits and when it goes on.
pub(super) struct Standing {
    request: Digest,
    number: u32,
}

impl Standing {
    /// Says that the run waits for these calls to be decided.
    pub(super) fn waits(&self, ctx: &WorkflowContext<'_>, waiting: Vec<PendingCall>) {
        self.tell(ctx, waiting, false);
    }

    /// Says that it does not any more, or waits for others.
    pub(super) fn goes_on(&mut self, ctx: &WorkflowContext<'_>) {
        ctx.resolve_promise(&gone_on_from(self.number), Json(()));
        self.number += 1;
    }

    fn ended(&self, ctx: &WorkflowContext<'_>) {
        self.tell(ctx, Vec::new(), true);
    }

    fn tell(&self, ctx: &WorkflowContext<'_>, waiting: Vec<PendingCall>, has_ended: bool) {
        let stands = Stands { request: self.request, number: self.number, waiting, has_ended };
        ctx.resolve_promise(&standing_of(self.number), Json(stands));
    }
}

#[restate_sdk::workflow(name = "haft-run", client_visibility = "pub(crate)")]
impl RunWorkflow {
    /// Drives a run: gives what it came to, however long that takes.
    #[restate_sdk::handler]
    pub(crate) async fn run(
        &self,
        ctx: WorkflowContext<'_>,
        request: Json<RunRequest>,
    ) -> HandlerResult<Json<RunEnded>> {
        let request = request.into_inner();
        if request.run().as_str() != ctx.key() {
            let error = format!("the run is `{}`, not that of this workflow", request.run());
            return Err(TerminalError::new_with_code(400, error).into());
        }
        Ok(Json(self.drive(&ctx, request).await?))
    }

    /// Waits until the run waits for a person, for this time or a later one, or has ended.
    #[restate_sdk::handler]
    pub(crate) async fn standing(
        &self,
        ctx: SharedWorkflowContext<'_>,
        number: Json<u32>,
    ) -> HandlerResult<Json<Stands>> {
        let mut number = number.into_inner();
        let _far = FarWait::begin();
        loop {
            let mut stands = ctx.promise::<Json<Stands>>(&standing_of(number)).await?.into_inner();
            if stands.has_ended {
                return Ok(Json(stands));
            }
            let has_gone_on = ctx.peek_promise::<Json<()>>(&gone_on_from(number)).await?.is_some();
            if !has_gone_on && ctx.peek_promise::<Json<()>>(STOPS).await?.is_none() {
                stands.waiting = undecided(&ctx, stands.waiting).await?;
                if !stands.waiting.is_empty() {
                    return Ok(Json(stands));
                }
            }
            // What was decided is about to have it go on.
            ctx.promise::<Json<()>>(&gone_on_from(number)).await?;
            number += 1;
        }
    }

    /// Gives the head and the log of the run as they were after the last turn; nothing if it has taken none.
    #[restate_sdk::handler]
    pub(crate) async fn state(
        &self,
        ctx: SharedWorkflowContext<'_>,
        _nothing: Json<()>,
    ) -> HandlerResult<Json<Option<(Value, Vec<Value>)>>> {
        let Some(head) = ctx.get::<Json<Value>>(HEAD).await? else { return Ok(Json(None)) };
        let mut turns: Vec<String> = ctx.get_keys().await?;
        turns.retain(|key| key.starts_with(LOG));
        turns.sort();
        let mut log = Vec::new();
        for turn in turns {
            if let Some(entries) = ctx.get::<Json<Vec<Value>>>(&turn).await? {
                log.extend(entries.into_inner());
            }
        }
        Ok(Json(Some((head.into_inner(), log))))
    }

    /// Tells the run to stop, wherever it is.
    #[restate_sdk::handler]
    #[expect(clippy::unused_async, reason = "every handler is asynchronous")]
    pub(crate) async fn stop(
        &self,
        ctx: SharedWorkflowContext<'_>,
        invocation: Json<String>,
    ) -> HandlerResult<Json<()>> {
        // Whoever asks from now on is to be told what comes of it.
        ctx.resolve_promise(STOPS, Json(()));
        ctx.invocation_handle(invocation.into_inner()).signal(STOP_SIGNAL).resolve(());
        Ok(Json(()))
    }
}

/// Leaves out the calls that somebody has decided about.
async fn undecided(
    ctx: &SharedWorkflowContext<'_>,
    calls: Vec<PendingCall>,
) -> Result<Vec<PendingCall>, TerminalError> {
    let mut asked = Vec::with_capacity(calls.len());
    for call in calls {
        // One that has another name is decided about elsewhere.
        let Some((pool, round)) = CallCourse::parse_id(&call.id) else { continue };
        let target = RequestTarget::workflow(pool.as_str(), round.call().to_string(), WAITS);
        asked.push((call, ctx.request::<_, Json<bool>>(target, Json(round.round())).call()));
    }
    let mut undecided = Vec::with_capacity(asked.len());
    for (call, waits) in asked {
        if waits.await?.into_inner() {
            undecided.push(call);
        }
    }
    Ok(undecided)
}

/// Names the promise of what the run waits for, the so-manieth time.
fn standing_of(number: u32) -> String {
    format!("standing/{number}")
}

/// Names the promise that it does not wait for that any more.
fn gone_on_from(number: u32) -> String {
    format!("gone-on/{number}")
}
