use super::layered::Layered;
use super::{Front, Said, Stop};
use crate::admission::{Room, Turn};
use crate::executor::asking::{self, Waits};
use crate::executor::decide::{Authorized, Decided, decide};
use crate::executor::frame::{Frame, LeftCall};
use crate::executor::live::{Listing, Queued};
use crate::executor::prepare::prepare;
use crate::executor::record::Record;
use crate::executor::resolve::resolve;
use crate::executor::run::{Failure, cancelled_before_start};
use crate::executor::shape::{Shaper, Unshaped, is_untrusted, redact_and_cut};
use crate::executor::validate::validate;
use crate::executor::{CallOutcome, HeldCall, Refusal};
use crate::permission::ModeSet;
use crate::registry::Entry;
use crate::{Accesses, DecidedBy, LayerAnswer, PendingCall, Prepared};
use haft_core::{CallId, Digest, Repair, ReplyStatus, ToolOutput, Truncation};
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tracing::Span;

/// Holds a call on its way, and what is known of it.
pub(super) struct Rest<'a> {
    pub(super) frame: &'a Arc<Frame>,
    pub(super) record: Record<'a>,
    pub(super) repairs: Vec<Repair>,
    pub(super) turn: Turn<'a>,
    /// What running the call would touch, as far as it is known; kept where there are layers to be shown it.
    pub(super) touches: Accesses,
    /// Its place among the calls of its batch that have not begun.
    pub(super) queued: Option<Queued<'a>>,
    /// The modes that it was last decided in.
    pub(super) modes: ModeSet,
    /// How often a person had to make themselves known for it.
    pub(super) made_known: u32,
    /// What a person last approved.
    pub(super) approved: Option<Box<Digest>>,
    /// The call as it waited for calls below it, until it runs again: what its tool keeps for it has to be given up.
    pub(super) waited: Option<Box<PendingCall>>,
    /// The tool, once it is found.
    pub(super) entry: Option<&'a Entry>,
    /// Its place in the registry.
    pub(super) place: usize,
}

/// Why a call is not run.
pub(super) enum Halt {
    Answered(Box<LayerAnswer>),
    Refused(Refusal),
    Waits(Waits),
    /// These calls before it are left to wait.
    Held {
        behind: Vec<CallId>,
        accesses: Accesses,
    },
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl<'a> Rest<'a> {
    pub(super) fn new(frame: &'a Arc<Frame>, record: Record<'a>, turn: Turn<'a>) -> Self {
        Self {
            frame,
            record,
            repairs: Vec::new(),
            turn,
            touches: Accesses::none(),
            queued: None,
            modes: ModeSet::default(),
            made_known: 0,
            approved: None,
            waited: None,
            entry: None,
            place: 0,
        }
    }

    /// Lists the call as one that can be cancelled with this token.
    pub(super) fn list(&mut self, token: CancellationToken) -> Listing {
        let queued = self.queued.take();
        self.frame.shared.admission.live.list(self.frame, &self.record.call.id, token, queued)
    }

    /// Tells whether the call was cancelled before it began.
    pub(super) fn is_cancelled(&self) -> bool {
        self.frame.control.is_cancelled() || self.queued.as_ref().is_some_and(Queued::is_cancelled)
    }

    /// Goes through what is left of a call that may have to wait.
    ///
    /// What is only needed by some calls, or by those that run, is on the heap, so that the many that wait stay small.
    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice")]
    pub(super) fn finish(
        mut self,
        ahead: Box<Result<Front<'a>, Stop>>,
        mut layered: Option<Box<Layered>>,
    ) -> impl Future<Output = CallOutcome> + Send {
        async move {
            let token = self.frame.control.token();
            let listing =
                self.list(token.map_or_else(CancellationToken::new, CancellationToken::child_token));
            let mut ahead = ahead;
            let halt = loop {
                let (entry, authorized) = match self.authorize(ahead, &mut layered, &listing.token).await {
                    Ok(authorized) => authorized,
                    Err(halt) => break halt,
                };
                let room = match self.room(entry, &authorized, &listing.token).await {
                    Ok(room) => room,
                    Err(refusal) => break Halt::Refused(refusal),
                };
                let ran = Box::pin(self.run(entry, authorized, room, &mut layered, &listing.token)).await;
                let failure = match ran {
                    Ok(outcome) => return outcome,
                    Err(failure) => failure,
                };
                match Box::pin(self.interrupted(entry, *failure, layered.as_deref(), &listing.token)).await {
                    Ok(front) => ahead = Box::new(Ok(front)),
                    Err(halt) => break halt,
                }
            };
            Box::pin(self.stop(halt, layered, &listing.token)).await
        }
    }

    /// Answers a call that is not run, or leaves it to wait.
    pub(super) async fn stop(
        &mut self,
        halt: Halt,
        layered: Option<Box<Layered>>,
        token: &CancellationToken,
    ) -> CallOutcome {
        let answer = match halt {
            Halt::Answered(answer) => *answer,
            Halt::Refused(refusal) => refusal.into(),
            Halt::Waits(waits) => match self.leave(&waits).await {
                Ok(()) => return CallOutcome::Pending(waits.pending),
                Err(refusal) => {
                    // One that was asked about again has what it waited for before.
                    if waits.pending.has_begun() {
                        self.waited = Some(waits.pending);
                    }
                    refusal.into()
                }
            },
            Halt::Held { behind, accesses } if self.frame.may_wait => {
                let (call, repairs) = (self.record.call.clone(), std::mem::take(&mut self.repairs));
                let held_as = Some(call.name.clone());
                self.frame.leave(LeftCall { id: call.id.clone(), touches: accesses, held_as });
                self.record.wait();
                return CallOutcome::Held(Box::new(HeldCall { call, repairs, behind }));
            }
            Halt::Held { .. } => cannot_wait(false).into(),
        };
        self.give_up(token).await;
        let answer = self.seen_out(answer, layered, token).await;
        self.conclude(answer, &Span::none()).await
    }

    /// Leaves a call to wait for a person.
    async fn leave(&mut self, Waits { pending, is_kept }: &Waits) -> Result<(), Refusal> {
        if !self.frame.may_wait {
            return Err(cannot_wait(pending.has_begun()));
        }
        if !is_kept && let Err(error) = self.frame.shared.pending.put(pending).await {
            let error = &error as &dyn std::error::Error;
            tracing::error!(call = %pending.call.id, error, "a call cannot be kept, so it does not wait");
            return Err(unkept(pending.has_begun()));
        }
        self.waited = None;
        if self.turn.is_ordered() {
            let (id, touches) = (pending.call.id.clone(), pending.accesses.clone());
            self.frame.leave(LeftCall { id, touches, held_as: None });
        }
        self.record.wait();
        Ok(())
    }

    /// Runs a call that has room, and answers it, unless a person has to make themselves known first.
    async fn run(
        &mut self,
        entry: &Entry,
        authorized: Authorized,
        room: Room,
        layered: &mut Option<Box<Layered>>,
        token: &CancellationToken,
    ) -> Result<CallOutcome, Box<Failure>> {
        let mut span = Span::none();
        let (answer, abandoned) = match self.perform(entry, authorized, room, token, &mut span).await {
            Ok(output) => (output.into(), None),
            Err(failure) if failure.interruption.is_some() => return Err(Box::new(failure)),
            Err(failure) => (failure.refusal.into(), failure.abandoned),
        };
        self.give_up(token).await;
        let answer = self.seen_out(answer, layered.take(), token).await;
        let outcome = self.conclude(answer, &span).await;
        super::perform::watch(self.frame, &outcome, abandoned, &mut self.turn);
        Ok(outcome)
    }

    /// Shows what a call is answered with to layers, if there are any that saw it.
    async fn seen_out(
        &self,
        answer: LayerAnswer,
        layered: Option<Box<Layered>>,
        token: &CancellationToken,
    ) -> LayerAnswer {
        match layered {
            Some(layered) => Box::pin(self.after_layers(answer, *layered, token)).await,
            None => answer,
        }
    }

    /// Gets a call to where it may run: in its turn, permitted, and seen by all layers.
    async fn authorize(
        &mut self,
        ahead: Box<Result<Front<'a>, Stop>>,
        layered: &mut Option<Box<Layered>>,
        token: &CancellationToken,
    ) -> Result<(&'a Entry, Authorized), Halt> {
        let mut front = match *ahead {
            Ok(front) => front,
            Err(Stop::Unprepared(refusal, said)) => {
                let waited = self.turn.waits();
                if waited {
                    self.wait_for_turn(token).await?;
                }
                self.in_reach(None)?;
                if !waited {
                    return Err(refusal.into());
                }
                self.look_ahead(said).map_err(Refusal::from)?
            }
            Err(Stop::Refused(refusal)) => return Err(refusal.into()),
        };
        loop {
            self.in_reach(Some(front.decided.accesses()))?;
            if self.turn.waits() && matches!(front.decided, Decided::Asked(_)) {
                // A person is shown what will run, which the calls before this one may still change.
                self.wait_for_turn(token).await?;
                let Front { entry, decided, said } = front;
                let prepared = prepare(entry, &self.record.call, &self.frame.scope)?;
                if prepared.accesses() != decided.accesses() {
                    self.turn.enter(prepared.accesses());
                }
                front = self.decide(entry, prepared, said)?;
                continue;
            }
            let (entry, mut authorized) = match front {
                Front { entry, decided: Decided::Allowed(authorized), said: Said::Nothing } => {
                    (entry, authorized)
                }
                front => Box::pin(self.permit(front, layered.as_deref(), token)).await?,
            };
            if self.turn.waits() {
                // The calls before this one may change what it names, so it is prepared again, and what it was so far is
                // not kept.
                let terms = authorized.terms();
                drop(authorized);
                self.wait_for_turn(token).await?;
                let prepared = prepare(entry, &self.record.call, &self.frame.scope)?;
                authorized = match terms.renew(prepared) {
                    Ok(authorized) => authorized,
                    Err(prepared) => {
                        self.turn.enter(prepared.accesses());
                        front = self.decide(entry, prepared, Said::Nothing)?;
                        continue;
                    }
                };
                self.in_reach(Some(authorized.accesses()))?;
            }
            if self.frame.layers().is_empty() {
                return Ok((entry, authorized));
            }
            self.shows(authorized.accesses());
            let Some(input) =
                Box::pin(self.before_layers(entry, layered.get_or_insert_default(), token)).await?
            else {
                return Ok((entry, authorized));
            };
            self.repairs.push(super::layered::replaced(&self.record.call.input, &input));
            front = self.take_input(input, Said::Nothing)?;
            if let Some(layered) = layered {
                layered.took(&self.record.call.input);
            }
        }
    }

    /// Takes another input, and goes through the first stages again.
    pub(super) fn take_input(&mut self, input: Value, said: Said) -> Result<Front<'a>, Refusal> {
        // Layers are shown what the call was refused for.
        let shown = if self.frame.layers().is_empty() { Value::Null } else { input.clone() };
        self.record.call.input = input;
        match self.look_ahead(said) {
            Ok(front) => {
                self.turn.enter(front.decided.accesses());
                Ok(front)
            }
            Err(stop) => {
                self.record.call.input = shown;
                Err(stop.into())
            }
        }
    }

    /// Keeps what the call would touch, to show it to layers.
    fn shows(&mut self, accesses: &Accesses) {
        if !self.frame.layers().is_empty() {
            self.touches.clone_from(accesses);
        }
    }

    pub(super) fn decide(
        &mut self,
        entry: &'a Entry,
        prepared: Prepared,
        said: Said,
    ) -> Result<Front<'a>, Refusal> {
        self.shows(prepared.accesses());
        // One who changes the mode meanwhile changes what is decided next: all that is said of this decision is of these.
        self.modes = self.frame.modes();
        let Self { frame, record, modes, .. } = self;
        let (call, scope, modes) = (&record.call, &frame.scope, *modes);
        let accesses = prepared.accesses();
        record.journal.prepared(accesses, || asking::digest(entry, call, &prepared, scope));
        record.journal.decided(|| DecidedBy::verdicts(&frame.explain(modes, &entry.spec, accesses)));
        let tell = |decision, reason: &dyn Fn() -> String| record.decided(decision, reason);
        let decided = decide(frame, modes, entry, prepared, tell)?;
        Ok(Front { entry, decided, said })
    }

    /// Goes through the stages that need no waiting: resolve, validate, prepare and decide.
    pub(super) fn look_ahead(&mut self, said: Said) -> Result<Front<'a>, Stop> {
        let frame: &'a Frame = self.frame;
        let limits = &frame.shared.limits;
        if self.is_cancelled() {
            return Err(Stop::Refused(cancelled_before_start()));
        }
        if frame.nesting > limits.nesting {
            return Err(Stop::Refused(too_deep(limits.nesting)));
        }
        let (place, entry) = resolve(frame.registry(), &self.record.call).map_err(Stop::Refused)?;
        self.entry = Some(entry);
        self.place = place;
        self.record.journal.resolved(&entry.spec);
        validate(entry, &mut self.record.call, &mut self.repairs, limits.input_bytes)
            .map_err(Stop::Refused)?;
        match prepare(entry, &self.record.call, &frame.scope) {
            Ok(prepared) => self.decide(entry, prepared, said).map_err(Stop::Refused),
            Err(refusal) => Err(Stop::Unprepared(refusal, said)),
        }
    }

    /// Bounds what a call is answered with, and answers it.
    pub(super) async fn conclude(&mut self, answer: LayerAnswer, span: &Span) -> CallOutcome {
        let LayerAnswer { status, mut output } = answer;
        match self.shaper().shape(&mut output, &self.repairs) {
            Ok(truncation) => self.reply(status, output, truncation, span),
            Err(output) => self.conclude_large(status, output, span).await,
        }
    }

    /// Bounds an answer that takes time to bound.
    pub(super) async fn conclude_large(
        &mut self,
        status: ReplyStatus,
        output: Unshaped,
        span: &Span,
    ) -> CallOutcome {
        let never = CancellationToken::new();
        let token = self.frame.control.token().unwrap_or(&never);
        let place = (&self.frame.scope, &self.record.call.id, token);
        let (output, truncation) = self.shaper().finish(output, &self.repairs, place).await;
        self.reply(status, output, truncation, span)
    }

    pub(super) fn shaper(&self) -> Shaper<'a> {
        let frame: &'a Frame = self.frame;
        let shared = &frame.shared;
        Shaper {
            limits: self.entry.map_or(&shared.limits, |entry| shared.limits_of(entry)),
            redactor: &shared.redactor,
            outputs: shared.outputs.as_ref().filter(|_| !self.entry.is_some_and(|entry| entry.reads_outputs)),
            registry: frame.registry(),
            is_untrusted: self.entry.is_some_and(|entry| is_untrusted(entry.spec.origin())),
        }
    }

    pub(super) fn reply(
        &mut self,
        status: ReplyStatus,
        output: ToolOutput,
        truncation: Option<Truncation>,
        span: &Span,
    ) -> CallOutcome {
        let mut repairs = std::mem::take(&mut self.repairs);
        if !repairs.is_empty() {
            redact_and_cut(&mut repairs, &self.frame.shared.redactor);
        }
        CallOutcome::Replied(self.record.finish(status, output, truncation, repairs, span))
    }
}

fn too_deep(limit: u32) -> Refusal {
    let message = format!("calls made by tools may nest {limit} deep at most; make this call yourself");
    Refusal::new(ReplyStatus::Denied, message)
}

fn cannot_wait(has_begun: bool) -> Refusal {
    let message = if has_begun {
        "calls below this one need an approval that comes later, which a call made by a tool cannot wait for; what it had \
         begun was given up, so see what it has done, and make it yourself"
    } else {
        "this call needs an approval that comes later, which a call made by a tool cannot wait for; make it yourself"
    };
    Refusal::new(ReplyStatus::Denied, message)
}

fn unkept(has_begun: bool) -> Refusal {
    let message = if has_begun {
        "calls below this one need an approval, and the host cannot keep calls at the moment; what it had begun was given \
         up, so say so and stop"
    } else {
        "this call needs an approval, and the host cannot keep calls at the moment; nothing was done, so say so and stop"
    };
    Refusal::new(ReplyStatus::Denied, message)
}
