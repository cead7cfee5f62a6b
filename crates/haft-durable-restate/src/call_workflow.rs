use crate::step::{self, STOP_SIGNAL, Stepped};
use crate::suspending::FarWait;
use crate::updates::Updates;
use crate::wire::{Ended, Heard, Listening, MOST_NEWS, News, RoundEnd, Settled, Telling, Verdict};
use haft_core::Digest;
use haft_durable::{CallCourse, CallRequest, Next, Performer, Pool, RoundDecision, Waiting};
use restate_sdk::prelude::{
    ContextClient as _, ContextPromises as _, ContextReadState as _, ContextSideEffects as _,
    ContextSignals as _, ContextTimers as _, ContextWriteState as _, HandlerError, HandlerResult, Json,
    RunFuture as _, SharedWorkflowContext, TerminalError, WorkflowContext,
};
use std::sync::Arc;
use std::time::Duration;

/// Under which name a workflow says what it waits for.
const WAITING: &str = "waiting";

/// Is the name of the promise that is kept once somebody listens to a call.
const LISTENED: &str = "listened";

/// How long whoever listens is left without an answer at most: less than proxies usually wait.
const SILENCE: Duration = Duration::from_secs(30);

/// Makes the calls of a pool, each as a workflow under its key.
pub(crate) struct CallWorkflow {
    pool: Pool,
    performer: Performer,
    updates: Option<Updates>,
}

impl CallWorkflow {
    pub(crate) fn new(pool: Pool, performer: Performer, updates: Option<Updates>) -> Self {
        Self { pool, performer, updates }
    }

    /// Waits until a person has decided, the time is over, or the call is told to stop; whatever comes first counts for
    /// whoever decides as well.
    async fn settle(
        ctx: &WorkflowContext<'_>,
        round: u32,
        within: Option<Duration>,
    ) -> Result<Settled, HandlerError> {
        let name = decision_of(round);
        let _far = FarWait::begin();
        let first = if let Some(within) = within {
            restate_sdk::select! {
                settled = ctx.promise::<Json<Settled>>(&name) => Some(settled?.0),
                _ = ctx.signal::<()>(STOP_SIGNAL) => None,
                _ = ctx.sleep(within) => {
                    ctx.resolve_promise(&name, Json(Settled::Expired));
                    Some(ctx.promise::<Json<Settled>>(&name).await?.0)
                },
                on_cancel => None
            }
        } else {
            restate_sdk::select! {
                settled = ctx.promise::<Json<Settled>>(&name) => Some(settled?.0),
                _ = ctx.signal::<()>(STOP_SIGNAL) => None,
                on_cancel => None
            }
        };
        if let Some(settled) = first {
            return Ok(settled);
        }
        ctx.resolve_promise(&name, Json(Settled::Stopped));
        let settled = ctx.promise::<Json<Settled>>(&name).await?.0;
        Ok(settled)
    }

    /// Performs the round that is next, and tells meanwhile what the call tells of itself.
    async fn perform(
        &self,
        ctx: &WorkflowContext<'_>,
        course: Arc<CallCourse>,
    ) -> Result<Stepped, HandlerError> {
        let updates = self.updates.as_ref().map(|updates| updates.of(&self.pool, &course));
        step::perform(ctx, &self.performer, course, updates).await
    }

    fn tell(&self, ctx: &WorkflowContext<'_>, request: Digest, course: &CallCourse) {
        let end = RoundEnd { request, pending: course.pending(&self.pool) };
        ctx.resolve_promise(&outcome_of(course.round_key().round()), Json(end));
    }
}

#[restate_sdk::workflow(name = "haft", client_visibility = "pub(crate)")]
impl CallWorkflow {
    /// Makes a call: gives its reply, however long that takes.
    #[restate_sdk::handler]
    pub(crate) async fn run(
        &self,
        ctx: WorkflowContext<'_>,
        request: Json<CallRequest>,
    ) -> HandlerResult<Json<Ended>> {
        let request = request.into_inner();
        if request.key().to_string() != ctx.key() {
            let error = format!("the call has the key `{}`, not that of this workflow", request.key());
            return Err(TerminalError::new_with_code(400, error).into());
        }
        let digest = request.digest();
        let mut course = Arc::new(CallCourse::new(request));
        loop {
            match course.next() {
                Next::Perform => {
                    let stepped = self.perform(&ctx, Arc::clone(&course)).await?;
                    let Stepped { outcome, is_told } = stepped;
                    let course = Arc::make_mut(&mut course);
                    course.performed(outcome);
                    if is_told {
                        course.stopped();
                    }
                }
                Next::Decide { within } => {
                    let round = course.round_key().round();
                    ctx.set(WAITING, Json(course.waiting()));
                    self.tell(&ctx, digest, &course);
                    let settled = Self::settle(&ctx, round, within).await?;
                    ctx.clear(WAITING);
                    let course = Arc::make_mut(&mut course);
                    match settled {
                        Settled::Decided { decision } => course.answer(decision.approval),
                        Settled::Expired => course.expired(),
                        Settled::Stopped => course.stopped(),
                    }
                }
                Next::Ended(reply) => {
                    let reply = reply.clone();
                    self.tell(&ctx, digest, &course);
                    return Ok(Json(Ended { request: digest, reply }));
                }
                _ => {
                    return Err(
                        TerminalError::new("this worker does not know what is next for the call").into()
                    );
                }
            }
        }
    }

    /// Waits for what becomes of a round, or of a later one that the call is in by now.
    #[restate_sdk::handler]
    pub(crate) async fn outcome(
        &self,
        ctx: SharedWorkflowContext<'_>,
        round: Json<u32>,
    ) -> HandlerResult<Json<RoundEnd>> {
        let mut round = round.into_inner();
        let _far = FarWait::begin();
        loop {
            let outcome = outcome_of(round);
            let end = ctx.promise::<Json<RoundEnd>>(&outcome).await?;
            // Whoever asks for a call again is not to be shown what was decided before.
            let Some(next) = after(&ctx, round, &end.0).await? else { return Ok(end) };
            round = next;
        }
    }

    /// Tells whether a round that came to wait was not decided yet.
    #[restate_sdk::handler]
    pub(crate) async fn waits(
        &self,
        ctx: SharedWorkflowContext<'_>,
        round: Json<u32>,
    ) -> HandlerResult<Json<bool>> {
        let decision = decision_of(round.into_inner());
        Ok(Json(ctx.peek_promise::<Json<Settled>>(&decision).await?.is_none()))
    }

    /// Decides about the round that waits, unless that was decided before.
    #[restate_sdk::handler]
    pub(crate) async fn decide(
        &self,
        ctx: SharedWorkflowContext<'_>,
        decision: Json<RoundDecision>,
    ) -> HandlerResult<Json<Verdict>> {
        let decision = decision.into_inner();
        let name = decision_of(decision.round.round());
        let waiting = ctx.get::<Json<Option<Waiting>>>(WAITING).await?.and_then(Json::into_inner);
        // What arrives twice is answered like the first time, also when the call has gone on with it.
        if let Some(settled) = ctx.peek_promise::<Json<Settled>>(&name).await? {
            return Ok(Json(settled.into_inner().verdict(&decision)));
        }
        // The time goes on, so what was found is taken down.
        let checked = {
            let decision = decision.clone();
            move || async move {
                let checked = decision.check(waiting.as_ref());
                Ok::<_, HandlerError>(Json(checked.err()))
            }
        };
        if let Some(why) = ctx.run(checked).name("check").await?.into_inner() {
            return Ok(Json(Verdict::Refused { why }));
        }
        ctx.resolve_promise(&name, Json(Settled::Decided { decision: decision.clone() }));
        // Of several who found it undecided, the one whose decision is kept has decided.
        let settled = ctx.promise::<Json<Settled>>(&name).await?;
        Ok(Json(settled.into_inner().verdict(&decision)))
    }

    /// Takes news of the running call: gives the number of the next, if anybody listens.
    #[restate_sdk::handler]
    pub(crate) async fn hear(
        &self,
        ctx: SharedWorkflowContext<'_>,
        telling: Json<Telling>,
    ) -> HandlerResult<Json<Option<u32>>> {
        let Telling { round, number, news } = telling.into_inner();
        if !news.is_small() {
            return Err(TerminalError::new_with_code(413, "it is larger than news may be").into());
        }
        if ctx.peek_promise::<()>(LISTENED).await?.is_none() {
            return Ok(Json(None));
        }
        // Whoever sends it, there is none but of the round that runs, so that what is kept is bounded by the rounds of the call.
        let has_begun = match round.checked_sub(1) {
            Some(before) => ctx.peek_promise::<Json<Settled>>(&decision_of(before)).await?.is_some(),
            None => true,
        };
        if !has_begun || ctx.peek_promise::<Json<RoundEnd>>(&outcome_of(round)).await?.is_some() {
            return Ok(Json(None));
        }
        // A worker that goes on with a round where another has died does not know how much was told.
        for number in number..MOST_NEWS {
            let name = news_of(round, number);
            if ctx.peek_promise::<Json<News>>(&name).await?.is_none() {
                ctx.resolve_promise(&name, Json(news));
                return Ok(Json(Some(number + 1)));
            }
        }
        Ok(Json(None))
    }

    /// Waits for news of the running call for a while, and gives the newest.
    #[restate_sdk::handler]
    pub(crate) async fn listen(
        &self,
        ctx: SharedWorkflowContext<'_>,
        listening: Json<Listening>,
    ) -> HandlerResult<Json<Heard>> {
        let Listening { mut round, mut number } = listening.into_inner();
        if ctx.peek_promise::<()>(LISTENED).await?.is_none() {
            ctx.resolve_promise(LISTENED, ());
        }
        let mut news = loop {
            let (name, outcome) = (news_of(round, number), outcome_of(round));
            let _far = FarWait::begin();
            let end = restate_sdk::select! {
                news = ctx.promise::<Json<News>>(&name) => break news?.0,
                end = ctx.promise::<Json<RoundEnd>>(&outcome) => end?.0,
                _ = ctx.sleep(SILENCE) => return Ok(Json(Heard::Nothing { next: Listening { round, number } })),
            };
            // Whoever asks for a call again does not know that it was decided and goes on.
            match after(&ctx, round, &end).await? {
                Some(next) => (round, number) = (next, 0),
                None => return Ok(Json(Heard::Over)),
            }
        };
        // Each says what came before again, as far as it still counts.
        for later in number.saturating_add(1)..MOST_NEWS {
            let Some(Json(newer)) = ctx.peek_promise::<Json<News>>(&news_of(round, later)).await? else {
                break;
            };
            (number, news) = (later, newer);
        }
        let next = Listening { round, number: number.saturating_add(1) };
        Ok(Json(Heard::News { news, next }))
    }

    /// Tells the call to stop, wherever it runs or waits.
    #[restate_sdk::handler]
    #[expect(clippy::unused_async, reason = "every handler is asynchronous")]
    pub(crate) async fn stop(
        &self,
        ctx: SharedWorkflowContext<'_>,
        invocation: Json<String>,
    ) -> HandlerResult<()> {
        ctx.invocation_handle(invocation.into_inner()).signal(STOP_SIGNAL).resolve(());
        Ok(())
    }
}

/// Gives the round that is after one which ended so, if it waited and was decided.
async fn after(
    ctx: &SharedWorkflowContext<'_>,
    round: u32,
    end: &RoundEnd,
) -> Result<Option<u32>, TerminalError> {
    let decision = decision_of(round);
    let is_decided = end.pending.is_some() && ctx.peek_promise::<Json<Settled>>(&decision).await?.is_some();
    Ok(round.checked_add(1).filter(|_| is_decided))
}

/// Names the promise of what becomes of a round.
fn outcome_of(round: u32) -> String {
    format!("outcome/{round}")
}

/// Names the promise of what a running call tells of itself.
fn news_of(round: u32, number: u32) -> String {
    format!("news/{round}/{number}")
}

/// Names the promise of what a round that waits goes on with.
fn decision_of(round: u32) -> String {
    format!("decision/{round}")
}
