use super::below::Due;
use super::run_wire::{STANDING, Stands};
use crate::executor::{refused, taken};
use crate::wire::{Ended, OUTCOME, RUN, RoundEnd};
use haft_core::{Digest, ReplyStatus, ToolCall};
use haft_durable::{CallCourse, CallKey, CallRequest, Pool};
use haft_tools_core::{CallOutcome, PendingCall};
use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::{
    CallFuture, ContextClient as _, HandlerError, Json, TerminalError, WorkflowContext,
};
use serde_json::{Value, json};

/// Is one invocation that the workflow of a run waits for: a call, or a run below.
pub(super) struct Leg<F> {
    pub(super) work: Work,
    pub(super) run: F,
    /// Gives what it waits for, once it waits, if that was asked.
    pub(super) stands: Option<F>,
    /// What it waits for.
    pub(super) waiting: Vec<PendingCall>,
    /// The round, or the how-manieth wait, that is asked about next.
    number: u32,
}

/// Says what is done.
pub(super) enum Work {
    Call { place: usize, pool: Pool, key: CallKey, request: Digest },
    Run { place: usize, number: usize, pool: Pool, key: String },
}

/// Has an invocation begin; all of them are of one type, since they are waited for together.
pub(super) fn invoke<'ctx>(
    ctx: &WorkflowContext<'ctx>,
    target: RequestTarget,
    body: Value,
) -> impl CallFuture<Response = Json<Value>> + Send + use<'ctx> {
    ctx.request::<Json<Value>, Json<Value>>(target, Json(body)).call()
}

impl<F> Leg<F> {
    /// Makes a call.
    pub(super) fn of_call(
        place: usize,
        pool: Pool,
        request: &CallRequest,
        invoke: impl Fn(RequestTarget, Value) -> F,
    ) -> Self {
        let key = request.key().clone();
        let run = invoke(RequestTarget::workflow(pool.as_str(), key.to_string(), RUN), json!(request));
        Self::new(Work::Call { place, pool, key, request: request.digest() }, run)
    }

    /// Begins a run below.
    pub(super) fn of_run(place: usize, due: Due, invoke: impl Fn(RequestTarget, Value) -> F) -> Self {
        let Due { number, pool, request } = due;
        let key = request.run().to_string();
        let run = invoke(RequestTarget::workflow(pool.as_str(), key.as_str(), RUN), json!(request));
        Self::new(Work::Run { place, number, pool, key }, run)
    }

    fn new(work: Work, run: F) -> Self {
        Self { work, run, stands: None, waiting: Vec::new(), number: 0 }
    }

    /// Asks what it waits for, as soon as it waits.
    pub(super) fn asked(&self, invoke: impl Fn(RequestTarget, Value) -> F) -> F {
        let (pool, key, handler) = match &self.work {
            Work::Call { pool, key, .. } => (pool, key.to_string(), OUTCOME),
            Work::Run { pool, key, .. } => (pool, key.clone(), STANDING),
        };
        invoke(RequestTarget::workflow(pool.as_str(), key, handler), json!(self.number))
    }

    /// Takes note of what was seen of it, and asks what it waits for after that if it waits.
    pub(super) fn seen(
        &mut self,
        seen: Result<Value, TerminalError>,
        invoke: impl Fn(RequestTarget, Value) -> F,
    ) -> Result<(), HandlerError> {
        match seen {
            Ok(stands) => self.stood(stands)?,
            // The engine's own cancellation ends the asking before the work, so this says nothing of the run. Whoever asks
            // again asks from the beginning.
            Err(error) => {
                tracing::debug!(%error, "what a run waits for could not be seen");
                self.waiting.clear();
                self.number = 0;
            }
        }
        if !self.waiting.is_empty() {
            self.stands = Some(self.asked(invoke));
        }
        Ok(())
    }

    /// Takes note of what it waits for; nothing if it has ended, which it is about to say.
    fn stood(&mut self, stands: Value) -> Result<(), HandlerError> {
        self.waiting = match &self.work {
            Work::Call { .. } => {
                let RoundEnd { pending, .. } = serde_json::from_value(stands)?;
                if let Some((_, round)) =
                    pending.as_ref().and_then(|pending| CallCourse::parse_id(&pending.id))
                {
                    self.number = round.round().saturating_add(1);
                }
                pending.into_iter().collect()
            }
            Work::Run { .. } => {
                let Stands { number, waiting, .. } = serde_json::from_value(stands)?;
                self.number = number.saturating_add(1);
                waiting
            }
        };
        Ok(())
    }
}

/// Reads what a call came to.
pub(super) fn outcome(landed: Result<Value, TerminalError>, request: Digest, call: &ToolCall) -> CallOutcome {
    match landed.map(serde_json::from_value::<Ended>) {
        Ok(Ok(ended)) if ended.request != request => taken(call),
        Ok(Ok(ended)) => CallOutcome::Replied(ended.reply),
        Ok(Err(error)) => {
            tracing::error!(call = %call.id, %error, "the reply of a call cannot be read");
            CallOutcome::lost(call)
        }
        Err(error) => {
            tracing::error!(call = %call.id, %error, "a call was given up");
            CallOutcome::lost(call)
        }
    }
}

/// Answers a call of a run that stops.
pub(super) fn not_begun(call: &ToolCall) -> CallOutcome {
    let text = "the call was cancelled before it was started; nothing was done";
    refused(call, ReplyStatus::Cancelled, text)
}
