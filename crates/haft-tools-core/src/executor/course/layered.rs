use super::rest::{Halt, Rest};
use crate::executor::Refusal;
use crate::layer::Verdict;
use crate::panicked::discard;
use crate::registry::Entry;
use crate::{Before, DecidedBy, Layer, LayerAnswer, LayerCall, LayerTime, PendingCall};
use futures_util::FutureExt as _;
use haft_core::{Content, ErrorKind, Repair, ReplyStatus};
use serde_json::Value;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// How often layers may give one call another input, so that those that disagree come to an end.
const MOST_REPLACEMENTS: u32 = 8;

/// Remembers which layers have let a call go on, and what they want the model to be told.
#[derive(Default)]
pub(super) struct Layered {
    /// How many layers have let the call go on with the input it has now.
    seen: usize,
    /// How many have let it go on with any input: those that see its end.
    entered: usize,
    replacements: u32,
    /// The layer that gave the call its last other input, and that input once it is taken; it is not asked about it.
    made: Option<(usize, Value)>,
    context: Vec<String>,
}

impl Layered {
    /// Takes up a call that waited for a person; `None` if no layers have seen it, or other ones than there are now.
    pub(super) fn resumed(pending: &PendingCall, layers: &[Arc<dyn Layer>]) -> Option<Self> {
        let entered = pending.layers.len();
        let are_same = names(layers).take(entered).eq(pending.layers.iter().cloned());
        if entered == 0 || !are_same {
            return None;
        }
        let maker =
            pending.input_by.and_then(|index| usize::try_from(index).ok()).filter(|maker| *maker < entered);
        let made = maker.map(|maker| (maker, pending.call.input.clone()));
        Some(Self { entered, made, context: pending.context.clone(), ..Self::default() })
    }

    /// Notes, on a call that waits for a person, what layers have made of it.
    pub(super) fn noted(&self, pending: PendingCall, layers: &[Arc<dyn Layer>]) -> PendingCall {
        let input_by = self.maker_of(&pending.call.input).and_then(|maker| u32::try_from(maker).ok());
        let layers = names(layers).take(self.entered).collect();
        PendingCall { layers, input_by, context: self.context.clone(), ..pending }
    }

    /// Learns what the input that a layer gave became when it was validated.
    pub(super) fn took(&mut self, input: &Value) {
        if let Some((_, made)) = &mut self.made {
            made.clone_from(input);
        }
    }

    fn maker_of(&self, input: &Value) -> Option<usize> {
        self.made.as_ref().filter(|(_, made)| made == input).map(|(maker, _)| *maker)
    }

    /// Lets the call go on past the next layer, which wants the model to be told this.
    fn goes_on(&mut self, context: Option<String>) {
        self.seen += 1;
        self.entered = self.entered.max(self.seen);
        // A layer that sees the call again may say the same again.
        self.context.extend(context.filter(|text| !self.context.contains(text)));
    }

    /// Starts over with the input of the layer that was the last to let the call go on.
    fn replaced(&mut self) -> Result<(), Refusal> {
        self.made = Some((self.seen - 1, Value::Null));
        self.seen = 0;
        self.replacements += 1;
        if self.replacements > MOST_REPLACEMENTS { Err(endless()) } else { Ok(()) }
    }
}

impl Rest<'_> {
    /// Shows a call to the layers that do not know its input; stops at the first that gives another one, and gives that.
    pub(super) async fn before_layers(
        &mut self,
        entry: &Entry,
        layered: &mut Layered,
        token: &CancellationToken,
    ) -> Result<Option<Value>, Halt> {
        let frame = self.frame;
        let maker = layered.maker_of(&self.record.call.input);
        while let Some(layer) = frame.layers().get(layered.seen) {
            if maker == Some(layered.seen) {
                layered.goes_on(None);
                continue;
            }
            let most_time = most_time(&**layer, frame.shared.limits.timeout);
            let call = self.layer_call(entry);
            // A layer is only used again through a shared reference, as it would be by another call.
            let before = AssertUnwindSafe(async { layer.before(&call).await }).catch_unwind();
            let said = tokio::select! {
                biased;
                refusal = frame.control.halts(token) => return Err(refusal.into()),
                said = before => said.map_err(|payload| {
                    discard(payload);
                    broke_before()
                }),
                late = passed(most_time) => Err(late_before(late)),
            };
            let halt = match said {
                Ok(Before(Verdict::Proceed { input, context })) => {
                    layered.goes_on(context);
                    let Some(input) = input.filter(|input| *input != self.record.call.input) else {
                        continue;
                    };
                    match layered.replaced() {
                        Ok(()) => return Ok(Some(input)),
                        Err(refusal) => refusal.into(),
                    }
                }
                Ok(Before(Verdict::Skip(answer))) => Halt::Answered(answer),
                Err(refusal) => refusal.into(),
            };
            self.record.journal.decided(|| DecidedBy::layer(&name_of(&**layer)));
            return Err(halt);
        }
        Ok(None)
    }

    /// Shows what a call is answered with to the layers that let it go on, the innermost first.
    ///
    /// What a layer breaks on is withheld: it might have been there to take something out.
    pub(super) async fn after_layers(
        &self,
        mut answer: LayerAnswer,
        layered: Layered,
        token: &CancellationToken,
    ) -> LayerAnswer {
        let limits = &self.frame.shared.limits;
        let seen = self.frame.layers().iter().take(layered.entered).rev();
        if let Some(entry) = self.frame.registry().entry(&self.record.call.name) {
            for layer in seen {
                let most_time = most_time(&**layer, limits.timeout);
                let call = self.layer_call(entry);
                let after = AssertUnwindSafe(async { layer.after(&call, answer).await }).catch_unwind();
                let status = tokio::select! {
                    biased;
                    said = after => match said {
                        Ok(said) => {
                            answer = said;
                            continue;
                        }
                        Err(payload) => {
                            discard(payload);
                            ErrorKind::Panicked
                        }
                    },
                    () = too_late(token, most_time, limits.grace) => ErrorKind::Failed,
                };
                tracing::error!(tool = entry.name(), "a layer broke after a call, whose output is withheld");
                answer = withheld(status);
            }
        }
        answer.output.content.extend(layered.context.into_iter().map(Content::text));
        answer
    }

    fn layer_call<'c>(&'c self, entry: &'c Entry) -> LayerCall<'c> {
        LayerCall {
            call: &self.record.call,
            spec: &entry.spec,
            scope: &self.frame.scope,
            accesses: &self.touches,
        }
    }
}

/// Waits until a layer has had its time, which is short for a call that was told to stop.
pub(super) async fn too_late(token: &CancellationToken, most_time: Option<Duration>, grace: Duration) {
    tokio::select! {
        _ = passed(most_time) => {}
        () = async { token.cancelled().await; sleep(grace).await } => {}
    }
}

/// Waits until this time has passed, and gives it; for ever if there is none.
async fn passed(most_time: Option<Duration>) -> Duration {
    let Some(most_time) = most_time else { return pending().await };
    sleep(most_time).await;
    most_time
}

/// How long a layer may look; one that breaks when it is asked gets what a call gets.
fn most_time(layer: &dyn Layer, of_calls: Duration) -> Option<Duration> {
    match unbroken(|| layer.time()).unwrap_or_default() {
        LayerTime::AsCalls => Some(of_calls),
        LayerTime::AtMost(most_time) => Some(most_time),
        LayerTime::Own => None,
    }
}

fn names(layers: &[Arc<dyn Layer>]) -> impl Iterator<Item = String> {
    layers.iter().map(|layer| name_of(&**layer))
}

fn name_of(layer: &dyn Layer) -> String {
    unbroken(|| layer.name().to_owned()).unwrap_or_default()
}

/// Gives what a layer says, if it does not panic.
fn unbroken<T>(said: impl FnOnce() -> T) -> Option<T> {
    // A layer is only used again through a shared reference, as it would be by another call.
    catch_unwind(AssertUnwindSafe(said)).map_err(discard).ok()
}

/// Tells the model that what runs is not what it asked for.
pub(super) fn replaced(from: &Value, to: &Value) -> Repair {
    Repair::new("", from.clone(), Some(to.clone()), "changed by the host before the call ran")
}

fn broke_before() -> Refusal {
    Refusal::new(
        ReplyStatus::Error(ErrorKind::Panicked),
        "the host broke while it looked at this call, which was not run; this is a fault of the host, so say so",
    )
}

fn endless() -> Refusal {
    Refusal::new(
        ReplyStatus::Error(ErrorKind::Failed),
        format!(
            "the host changed the arguments of this call more than {MOST_REPLACEMENTS} times and came to no end, so it \
             was not run; this is a fault of the host, so say so"
        ),
    )
}

fn late_before(most_time: Duration) -> Refusal {
    let seconds = most_time.as_secs_f64();
    Refusal::new(
        ReplyStatus::TimedOut,
        format!(
            "the host took more than {seconds} s to look at this call, which was not run; try it again later"
        ),
    )
}

fn withheld(kind: ErrorKind) -> LayerAnswer {
    LayerAnswer::new(
        ReplyStatus::Error(kind),
        "the host broke while it looked at how this call ended, which is withheld; see what the call has done, if \
         anything, before you repeat it",
    )
}
