use futures_util::future::join_all;
use haft_core::{CallId, ErrorKind, ReplyStatus, ToolCall, ToolOutput, ToolReply};
use haft_tools_core::{
    Access, Accesses, Batch, BatchOutcome, CallOutcome, CallScope, Events, HeldCall, Steer, ToldCall,
    ToolRegistry,
};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Runs the calls of a batch elsewhere, so that the outcome is that of running them one after the other.
///
/// A call waits for the earlier ones that it conflicts with, by what the tools of the registry, or of the batch's own, declare
/// here; a call that cannot be declared here, such as one of a tool that is not known, conflicts with all. Where an earlier call
/// comes to wait for a person, those that conflict with it are held back. The batch's steering is asked before each call, and
/// none starts once its token is cancelled; `run` gets a token that tells it to stop.
///
/// What is declared here orders calls and permits none: whoever runs them decides about each.
///
/// Whoever observes the batch, or `events`, is told when a call starts, when it comes to wait for a person and when it is
/// answered; what lies between is told by whoever runs it, if by anyone.
///
/// ```
/// use haft_core::{ReplyStatus, ToolCall, ToolOutput, ToolReply};
/// use haft_durable::in_order;
/// use haft_tools_core::{Batch, CallOutcome, CallScope, Events};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let calls = ["a", "b"].map(|id| ToolCall::new(id.parse().unwrap(), "ping", serde_json::json!({})));
/// let batch = Batch::new(CallScope::new("run-1".parse()?), calls.to_vec());
/// let events = Events::default();
/// let outcome = in_order(&batch, None, &events, |held, _stop| async move {
///     let text = ToolOutput::text("pong");
///     CallOutcome::Replied(ToolReply::new(held.call.id, held.call.name, ReplyStatus::Ok, text))
/// });
/// assert_eq!(outcome.await.into_replies()?.len(), 2);
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
///
/// Dropping the future drops those of `run`; observers are told that these calls were cancelled.
pub async fn in_order<F>(
    batch: &Batch,
    registry: Option<&ToolRegistry>,
    events: &Events,
    run: impl Fn(HeldCall, CancellationToken) -> F,
) -> BatchOutcome
where
    F: Future<Output = CallOutcome>,
{
    let calls = batch.calls();
    let after = conflicts(calls, batch.registry().or(registry), &batch.scope());
    let (ended, ends): (Vec<_>, Vec<_>) = calls.iter().map(|_| watch::channel(None)).unzip();
    // Steering must not cancel more than this batch.
    let stop = batch.cancellation().map_or_else(CancellationToken::new, CancellationToken::child_token);
    let gate = Gate { batch, stop, halt: Mutex::new(None) };
    let mut seen = HashSet::with_capacity(calls.len());
    let courses = calls.iter().zip(ended).enumerate().map(|(place, (call, ended))| {
        let is_repeated = !seen.insert(&call.id);
        let before: Vec<_> =
            after[place].iter().map(|earlier| (calls[*earlier].id.clone(), ends[*earlier].clone())).collect();
        let (gate, run) = (&gate, &run);
        async move {
            let behind = waiting_before(before).await;
            let outcome = if behind.is_empty() || is_repeated {
                let told = ToldCall::start(batch, events, call);
                let refused = if is_repeated { Some(repeated_id(call)) } else { gate.refusal(call) };
                let outcome = match refused {
                    None => run(taken_up(batch, place), gate.stop.clone()).await,
                    Some(refused) => refused,
                };
                told.end(&outcome);
                outcome
            } else {
                let mut held = taken_up(batch, place);
                held.behind = behind;
                CallOutcome::Held(Box::new(held))
            };
            ended.send_replace(Some(!matches!(outcome, CallOutcome::Replied(_))));
            outcome
        }
    });
    BatchOutcome::new(join_all(courses).await)
}

/// Lists for each call the places of the earlier ones that it conflicts with, as [`in_order`] has it: for an engine that takes
/// down what waits for what before it makes the calls.
///
/// ```
/// use haft_core::ToolCall;
/// use haft_durable::conflicts;
/// use haft_tools_core::CallScope;
///
/// let calls = ["a", "b"].map(|id| ToolCall::new(id.parse().unwrap(), "ping", serde_json::json!({})));
/// // Nobody says what they touch.
/// assert_eq!(conflicts(&calls, None, &CallScope::new("run-1".parse()?)), [vec![], vec![0]]);
/// # Ok::<(), haft_core::IdError>(())
/// ```
pub fn conflicts(calls: &[ToolCall], registry: Option<&ToolRegistry>, scope: &CallScope) -> Vec<Vec<usize>> {
    if calls.len() < 2 {
        // What a call touches that is alone is found out by whoever makes it.
        return vec![Vec::new(); calls.len()];
    }
    let touched: Vec<Accesses> = calls.iter().map(|call| declared(registry, call, scope)).collect();
    let earlier = |place: usize| {
        (0..place).filter(|earlier| touched[*earlier].conflict_with(&touched[place])).collect()
    };
    (0..calls.len()).map(earlier).collect()
}

/// Waits until calls have ended or wait themselves, and lists those that wait.
async fn waiting_before(before: Vec<(CallId, watch::Receiver<Option<bool>>)>) -> Vec<CallId> {
    let mut behind = Vec::new();
    for (id, mut end) in before {
        // One that was dropped has not ended, and neither will this.
        let Ok(waits) = end.wait_for(Option::is_some).await.map(|waits| *waits == Some(true)) else {
            continue;
        };
        if waits {
            behind.push(id);
        }
    }
    behind
}

/// Finds out what a call would touch; what cannot be told conflicts with all.
///
/// What bounds it where it is made is not known here, and a call that is refused there touches nothing.
fn declared(registry: Option<&ToolRegistry>, call: &ToolCall, scope: &CallScope) -> Accesses {
    let declared = registry.and_then(|registry| registry.declare(&call.name, call.input.clone(), scope).ok());
    declared.map_or_else(|| Access::opaque("not declared here").into(), |declared| declared.accesses)
}

fn taken_up(batch: &Batch, place: usize) -> HeldCall {
    let mut held = HeldCall::new(batch.calls()[place].clone());
    held.repairs = batch.repairs(place).to_vec();
    held
}

/// Says whether calls may start.
struct Gate<'a> {
    batch: &'a Batch,
    stop: CancellationToken,
    /// What calls that have not started are answered with, once that was said.
    halt: Mutex<Option<Halt>>,
}

enum Halt {
    Skip(String),
    Cancel,
}

impl Gate<'_> {
    /// Answers a call that may not start any more.
    fn refusal(&self, call: &ToolCall) -> Option<CallOutcome> {
        if self.stop.is_cancelled() {
            return Some(halted(call, &Halt::Cancel));
        }
        let steering = self.batch.steering()?;
        // Nothing of the host runs under the lock but its steering, which decides for one call at a time.
        let mut halt = self.halt.lock().unwrap_or_else(PoisonError::into_inner);
        if halt.is_none() {
            // The host's own code is only used again through a shared reference, as it would be by another call.
            *halt = match catch_unwind(AssertUnwindSafe(|| steering.steer(call))) {
                Ok(Steer::Continue) => None,
                Ok(Steer::SkipRemaining { message }) => Some(Halt::Skip(message)),
                _ => Some(Halt::Cancel),
            };
        }
        let halt = halt.as_ref()?;
        if matches!(halt, Halt::Cancel) {
            self.stop.cancel();
        }
        Some(halted(call, halt))
    }
}

fn halted(call: &ToolCall, halt: &Halt) -> CallOutcome {
    let (status, text) = match halt {
        Halt::Skip(message) => (ReplyStatus::Skipped, format!("not run: {message}")),
        Halt::Cancel => (
            ReplyStatus::Cancelled,
            "the call was cancelled before it was started; nothing was done".to_owned(),
        ),
    };
    refused(call, status, text)
}

fn repeated_id(call: &ToolCall) -> CallOutcome {
    let id = &call.id;
    let text =
        format!("an earlier call of this message has the id `{id}` too; give each call an id of its own");
    refused(call, ReplyStatus::Error(ErrorKind::InvalidInput), text)
}

fn refused(call: &ToolCall, status: ReplyStatus, text: String) -> CallOutcome {
    let output = ToolOutput::text(text);
    CallOutcome::Replied(ToolReply::new(call.id.clone(), call.name.clone(), status, output))
}
