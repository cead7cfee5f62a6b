//! One turn: the deltas of an answer, as they come.

use crate::complaint::Fault;
use crate::redaction::Redaction;
use futures_util::stream;
use haft_model::{Delta, DeltaStream, ModelError};
use serde_json::Value;
use std::collections::VecDeque;
use tokio_util::sync::CancellationToken;

/// Is where an answer comes from.
pub(crate) trait Source: Send + 'static {
    /// Reads what comes next, and adds the deltas that it brings.
    fn read(&mut self, out: &mut Deltas<'_>) -> impl Future<Output = Result<Flow, Fault>> + Send;

    /// Waits a little for the end of what comes when the turn is over.
    fn finish(&mut self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// Whether more is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    On,
    /// The turn is over: its stop was added.
    Over,
}

/// Takes deltas, and knows what must not be shown of what a service says.
pub(crate) struct Deltas<'a> {
    queue: &'a mut VecDeque<Delta>,
    redaction: &'a Redaction,
}

impl Deltas<'_> {
    pub(crate) fn push(&mut self, delta: Delta) {
        match (self.queue.back_mut(), delta) {
            // A later one takes the place of an earlier one, so that however many come, one is kept.
            (Some(Delta::Usage(last)), Delta::Usage(usage)) => *last = usage,
            (_, delta) => self.queue.push_back(delta),
        }
    }

    /// Adds text, if there is any.
    pub(crate) fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.push(Delta::Text(text.to_owned()));
        }
    }

    /// Adds reasoning that can be read, if there is any.
    pub(crate) fn reasoning(&mut self, text: &str) {
        if !text.is_empty() {
            self.push(Delta::Reasoning { text: text.to_owned(), provider_data: Value::Null });
        }
    }

    /// Ends a block of reasoning with what the provider wants back.
    pub(crate) fn kept(&mut self, provider_data: Value) {
        self.push(Delta::Reasoning { text: String::new(), provider_data });
    }

    /// What must not be shown.
    #[cfg(feature = "genai")]
    pub(crate) fn redaction(&self) -> &Redaction {
        self.redaction
    }

    /// Says that an answer stopped for a reason that is not known.
    pub(crate) fn unknown_stop(&self, reason: &str) -> Fault {
        let reason: String = self.redaction.show(reason).chars().take(64).collect();
        Fault::unreadable(format!("it stopped for `{reason}`, which is not a reason that is known here"))
    }

    /// Says what follows from an error that came within an answer.
    #[cfg(any(feature = "anthropic", feature = "openai"))]
    pub(crate) fn complain(&self, error: &Value) -> Fault {
        crate::complaint::Complaint::of_json(error).fault(self.redaction)
    }
}

/// An answer that is being read.
pub(crate) struct Turn<S> {
    /// `None` once it is over.
    source: Option<S>,
    queue: VecDeque<Delta>,
    redaction: Redaction,
    cancel: CancellationToken,
    is_over: bool,
}

impl<S: Source> Turn<S> {
    /// Reads until something of the answer is there that an observer may have seen.
    pub(crate) async fn begin(
        source: S,
        redaction: Redaction,
        cancel: CancellationToken,
    ) -> Result<Self, Fault> {
        let mut turn =
            Self { source: Some(source), queue: VecDeque::new(), redaction, cancel, is_over: false };
        while turn.queue.iter().all(|delta| matches!(delta, Delta::Usage(_))) {
            turn.read().await?;
        }
        Ok(turn)
    }

    /// Reads what comes next.
    async fn read(&mut self) -> Result<(), Fault> {
        let Some(source) = &mut self.source else { return Err(Fault::last(ModelError::Truncated)) };
        let mut out = Deltas { queue: &mut self.queue, redaction: &self.redaction };
        if source.read(&mut out).await? == Flow::Over {
            self.is_over = true;
        }
        Ok(())
    }

    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            if !self.queue.is_empty() && self.cancel.is_cancelled() {
                return Some(Err(ModelError::Cancelled));
            }
            if let Some(delta) = self.queue.pop_front() {
                return Some(Ok(delta));
            }
            if self.is_over {
                if let Some(mut source) = self.source.take() {
                    source.finish().await;
                }
                return None;
            }
            let cancel = self.cancel.clone();
            let read = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(Fault::last(ModelError::Cancelled)),
                read = self.read() => read,
            };
            if let Err(fault) = read {
                return Some(Err(fault.error));
            }
        }
    }

    pub(crate) fn deltas(self) -> DeltaStream {
        DeltaStream::new(stream::unfold(self, |mut turn| async move {
            let delta = turn.next().await?;
            Some((delta, turn))
        }))
    }
}
