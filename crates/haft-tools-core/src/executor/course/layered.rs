use super::rest::{Halt, Rest};
use crate::executor::Refusal;
use crate::layer::Verdict;
use crate::registry::Entry;
use crate::validation::abridged;
use crate::{Answer, Before, LayerCall};
use futures_util::FutureExt as _;
use haft_core::{Content, ErrorKind, Repair, ReplyStatus};
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Remembers which layers have let a call go on, and what they want the model to be told.
#[derive(Default)]
pub(super) struct Layered {
    seen: usize,
    context: Vec<String>,
}

impl Layered {
    /// Takes up a call that so many layers have seen before it waited for a person.
    pub(super) fn resumed(layers: u32, context: Vec<String>) -> Self {
        Self { seen: layers as usize, context }
    }

    pub(super) fn seen(&self) -> u32 {
        u32::try_from(self.seen).unwrap_or(u32::MAX)
    }

    pub(super) fn context(&self) -> &[String] {
        &self.context
    }
}

impl Rest<'_> {
    /// Shows a call to the layers that have not seen it; stops at the first that gives it another input, and gives that.
    pub(super) async fn before_layers(
        &self,
        entry: &Entry,
        layered: &mut Layered,
        token: &CancellationToken,
    ) -> Result<Option<Value>, Halt> {
        let layers = self.frame.layers();
        let most_time = self.frame.shared.limits.timeout;
        while let Some(layer) = layers.get(layered.seen) {
            let call = self.layer_call(entry);
            // A layer is only used again through a shared reference, as it would be by another call.
            let before = AssertUnwindSafe(async { layer.before(&call).await }).catch_unwind();
            let said = tokio::select! {
                biased;
                refusal = self.frame.control.halts(token) => return Err(refusal.into()),
                said = timeout(most_time, before) => said,
            };
            let verdict = match said {
                Ok(Ok(Before(verdict))) => verdict,
                Ok(Err(_)) => return Err(broke_before().into()),
                Err(_) => return Err(late_before(most_time).into()),
            };
            match verdict {
                Verdict::Skip(answer) => return Err(Halt::Answered(answer)),
                Verdict::Proceed { input, context } => {
                    layered.seen += 1;
                    layered.context.extend(context);
                    if let Some(input) = input
                        && input != self.record.call.input
                    {
                        return Ok(Some(input));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Shows what a call is answered with to the layers that let it go on, the innermost first.
    ///
    /// What a layer breaks on is withheld: it might have been there to take something out.
    pub(super) async fn after_layers(
        &self,
        mut answer: Answer,
        layered: Layered,
        token: &CancellationToken,
    ) -> Answer {
        let limits = &self.frame.shared.limits;
        let seen = self.frame.layers().iter().take(layered.seen).rev();
        if let Some(entry) = self.frame.registry().entry(&self.record.call.name) {
            for layer in seen {
                let call = self.layer_call(entry);
                let after = AssertUnwindSafe(async { layer.after(&call, answer).await }).catch_unwind();
                let status = tokio::select! {
                    biased;
                    said = after => match said {
                        Ok(said) => {
                            answer = said;
                            continue;
                        }
                        Err(_) => ErrorKind::Panicked,
                    },
                    () = too_late(token, limits.timeout, limits.grace) => ErrorKind::Failed,
                };
                tracing::error!(tool = &*entry.name, "a layer broke after a call, whose output is withheld");
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
async fn too_late(token: &CancellationToken, most_time: Duration, grace: Duration) {
    tokio::select! {
        () = sleep(most_time) => {}
        () = async { token.cancelled().await; sleep(grace).await } => {}
    }
}

/// Tells the model that what runs is not what it asked for.
pub(super) fn replaced(from: &Value, to: &Value) -> Repair {
    Repair::new("", abridged(from), Some(abridged(to)), "changed by the host before the call ran")
}

fn broke_before() -> Refusal {
    Refusal::new(
        ReplyStatus::Error(ErrorKind::Panicked),
        "the host broke while it looked at this call, which was not run; this is a fault of the host, so say so",
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

fn withheld(kind: ErrorKind) -> Answer {
    Answer::new(
        ReplyStatus::Error(kind),
        "the host broke while it looked at how this call ended, which is withheld; see what the call has done, if \
         anything, before you repeat it",
    )
}
