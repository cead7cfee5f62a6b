use crate::{CallRequest, DecisionError, Pool, RoundDecision, RoundKey};
use haft_core::{Digest, ReplyStatus, ToolOutput, ToolReply};
use haft_tools_core::{Approval, CallOutcome, PendingCall, PendingId};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Holds how far a call has got: a pure machine, which takes what happened and says what is next.
///
/// An engine keeps it, or makes it anew from what it keeps; nothing in it needs a clock or a worker.
///
/// ```
/// use haft_core::{ReplyStatus, ToolCall, ToolOutput, ToolReply};
/// use haft_durable::{CallCourse, CallRequest, Next};
/// use haft_tools_core::{CallOutcome, CallScope};
///
/// let call = ToolCall::new("c1".parse()?, "ping", serde_json::json!({}));
/// let mut course = CallCourse::new(CallRequest::new(&CallScope::new("run-1".parse()?), call)?);
/// let reply = ToolReply::new("c1".parse()?, "ping", ReplyStatus::Ok, ToolOutput::text("pong"));
/// course.performed(CallOutcome::Replied(reply.clone()));
/// assert_eq!(course.next(), Next::Ended(&reply));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallCourse {
    request: CallRequest,
    round: u32,
    at: At,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "at", rename_all = "snake_case")]
enum At {
    /// A round is to be performed.
    Due {
        /// What is gone on with, and how it was answered; nothing in the first round.
        answered: Option<(Box<PendingCall>, Approval)>,
    },
    /// A decision is waited for.
    Waiting { pending: Box<PendingCall> },
    /// Nothing is left to do.
    Ended { reply: ToolReply },
}

/// Says what is next for a call.
///
/// What an engine does, in one loop. Nobody decides here, so the engine says in the end that the time is over:
///
/// ```
/// # use haft_core::{ToolCall, ToolError};
/// use haft_durable::{CallCourse, CallRequest, Next, Performer};
/// # use haft_tools_core::{Accesses, CallContext, CallScope, LocalExecutor, ToolRegistry, tool_fn};
/// # use tokio_util::sync::CancellationToken;
/// #
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mail = tool_fn("send_mail", "Sends.", Accesses::none(), |_: Nothing, _: CallContext| async {
/// #     Ok::<_, ToolError>("sent")
/// # })?;
/// # let performer = Performer::new(LocalExecutor::builder(ToolRegistry::new().with(mail)?));
/// # let call = ToolCall::new("c1".parse()?, "send_mail", serde_json::json!({}));
/// # let request = CallRequest::new(&CallScope::new("run-1".parse()?), call)?;
/// let mut course = CallCourse::new(request);
/// let mut rounds = 0;
/// let reply = loop {
///     match course.next() {
///         Next::Perform => course.performed(performer.perform(&course, CancellationToken::new()).await),
///         Next::Decide { .. } => course.expired(),
///         Next::Ended(reply) => break reply,
///         _ => return Err("this engine is too old".into()),
///     }
///     rounds += 1;
/// };
/// assert_eq!((rounds, reply.status.is_ok()), (3, false));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Next<'a> {
    /// A [`Performer`](crate::Performer) is to perform the round; then [`CallCourse::performed`].
    Perform,
    /// A person is to decide: [`CallCourse::decided`], or once the time is over [`CallCourse::expired`].
    Decide {
        /// For how long, from when the call came to wait; for ever if `None`.
        within: Option<Duration>,
    },
    /// The call is answered.
    Ended(&'a ToolReply),
}

/// Says what a call waits for, as far as a decision has to fit it.
///
/// An answer has its digest, so that it counts only for what the person was shown:
///
/// ```
/// # use haft_core::{Digest, ToolCall};
/// use haft_durable::{CallCourse, CallRequest, RoundDecision};
/// use haft_tools_core::{Approval, CallOutcome};
/// # use haft_tools_core::{CallScope, PendingCall, PendingId};
/// #
/// # let call = ToolCall::new("c1".parse()?, "send_mail", serde_json::json!({}));
/// # let (scope, digest) = (CallScope::new("run-1".parse()?), Digest::of(&call.input));
/// # let mut course = CallCourse::new(CallRequest::new(&scope, call.clone())?);
/// # let pending = PendingCall::new(PendingId::new("p1"), call, &scope, digest);
/// let shown = pending.digest;
/// course.performed(CallOutcome::Pending(Box::new(pending)));
/// let waiting = course.waiting().ok_or("the call waits")?;
/// assert_eq!((waiting.round, waiting.digest), (0, shown));
///
/// course.decided(&RoundDecision::new(course.round_key(), waiting.digest, Approval::Approve, "anna-1"))?;
/// assert_eq!((course.waiting(), course.round_key().round()), (None, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Waiting {
    /// The round.
    pub round: u32,
    /// The digest of what is shown.
    pub digest: Digest,
    /// Until when an approval counts, in milliseconds since the Unix epoch; for ever if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at_ms: Option<u64>,
}

impl CallCourse {
    /// Begins a call.
    pub fn new(request: CallRequest) -> Self {
        Self { request, round: 0, at: At::Due { answered: None } }
    }

    /// What was asked for.
    pub fn request(&self) -> &CallRequest {
        &self.request
    }

    /// Names the round that the call is in.
    pub fn round_key(&self) -> RoundKey {
        RoundKey::new(self.request.key().clone(), self.round)
    }

    /// Says what is next.
    pub fn next(&self) -> Next<'_> {
        match &self.at {
            At::Due { .. } => Next::Perform,
            At::Waiting { pending } => {
                let lifetime = |end: u64| Duration::from_millis(end.saturating_sub(pending.asked_at_ms));
                Next::Decide { within: pending.expires_at_ms.map(lifetime) }
            }
            At::Ended { reply } => Next::Ended(reply),
        }
    }

    /// What is gone on with in this round, and how it was answered.
    pub(crate) fn answered(&self) -> Option<(&PendingCall, &Approval)> {
        match &self.at {
            At::Due { answered: Some((pending, approval)) } => Some((pending, approval)),
            _ => None,
        }
    }

    /// What is waited for, if something is.
    pub fn waiting(&self) -> Option<Waiting> {
        match &self.at {
            At::Waiting { pending } => Some(Waiting::of(self.round, pending)),
            _ => None,
        }
    }

    /// The call as a person is shown it, if it waits, under a [name](Self::parse_id) by which it is found again.
    pub fn pending(&self, pool: &Pool) -> Option<PendingCall> {
        let At::Waiting { pending } = &self.at else { return None };
        let mut pending = PendingCall::clone(pending);
        pending.id = PendingId::new(format!("{pool}/{}", self.round_key()));
        Some(pending)
    }

    /// Reads the name of a call that waits: the pool that makes it, and the round that waits; `None` if no engine gave it.
    pub fn parse_id(id: &PendingId) -> Option<(Pool, RoundKey)> {
        let (pool, round) = id.as_str().split_once('/')?;
        Some((pool.parse().ok()?, round.parse().ok()?))
    }

    /// Takes what became of a round.
    pub fn performed(&mut self, outcome: CallOutcome) {
        if !matches!(self.at, At::Due { .. }) {
            return;
        }
        self.at = match outcome {
            CallOutcome::Replied(reply) => At::Ended { reply },
            CallOutcome::Pending(pending) => At::Waiting { pending },
            // Nothing was before it that it could be held back by, so what was meant cannot be told.
            CallOutcome::Held(held) => match CallOutcome::lost(&held.call) {
                CallOutcome::Replied(reply) => At::Ended { reply },
                CallOutcome::Pending(_) | CallOutcome::Held(_) => return,
            },
        };
    }

    /// Takes a decision, and begins another round with it.
    ///
    /// # Errors
    ///
    /// When it is not [about](RoundDecision::check) what is waited for; nothing changes then.
    pub fn decided(&mut self, decision: &RoundDecision) -> Result<(), DecisionError> {
        decision.check(self.waiting().as_ref())?;
        self.answer(decision.approval.clone());
        Ok(())
    }

    /// Takes a decision that was found to count when it was made.
    ///
    /// Whoever makes a course anew takes the decisions that the engine kept, whatever time it is by then.
    pub fn answer(&mut self, approval: Approval) {
        let At::Waiting { pending } = &mut self.at else { return };
        let mut pending = pending.clone();
        // That it came in time was found when it was decided; how long the round takes to begin does not matter.
        pending.expires_at_ms = None;
        self.round = self.round.saturating_add(1);
        self.at = At::Due { answered: Some((pending, approval)) };
    }

    /// Takes that nobody decided in time.
    pub fn expired(&mut self) {
        if let Next::Decide { within } = self.next() {
            let after_ms = u64::try_from(within.unwrap_or_default().as_millis()).unwrap_or(u64::MAX);
            self.answer(Approval::TimedOut { after_ms });
        }
    }

    /// Takes that the call was cancelled: one that waits ends, and one that is performed ends as its worker says.
    pub fn stopped(&mut self) {
        if matches!(self.at, At::Waiting { .. }) {
            let call = self.request.call();
            let output = ToolOutput::text(
                "the call was cancelled while it waited for an approval; it was not run, so nothing was done",
            );
            let reply = ToolReply::new(call.id.clone(), call.name.clone(), ReplyStatus::Cancelled, output);
            self.at = At::Ended { reply };
        }
    }
}

#[cfg(test)]
mod tests;
