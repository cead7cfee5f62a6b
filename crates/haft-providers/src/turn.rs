//! One turn: a request, made again while that can help, and the deltas of its answer.

use crate::complaint::{Complaint, Fault, unanswered};
use crate::events::Events;
use crate::redaction::Redaction;
use crate::retry_after::retry_after;
use crate::{Patience, Service};
use bytes::Bytes;
use futures_util::stream;
use haft_http::{Body, Exchange};
use haft_model::{Delta, DeltaStream, ModelError};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Request, Response};
use serde_json::Value;
use std::collections::VecDeque;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How much of an answer that failed is read, in bytes.
const MOST_COMPLAINT: u64 = 64 * 1024;

/// How long is waited for what a service says when it fails.
const COMPLAINT: Duration = Duration::from_secs(10);

/// How much an answer may have in all, in bytes: what frames the pieces of a turn is many times as large as the pieces.
const MOST_ANSWER: u64 = 1024 * 1024 * 1024;

/// How long is waited, once a turn is over, for the end of its answer, so that the connection can be used again.
const ENDING: Duration = Duration::from_millis(100);

/// Reads the events of one answer.
pub(crate) trait Reader: Send + 'static {
    /// Reads an event and adds the deltas that it brings.
    fn read(&mut self, data: &str, out: &mut Deltas<'_>) -> Result<Flow, Fault>;
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

    /// Says that an answer stopped for a reason that is not known.
    pub(crate) fn unknown_stop(&self, reason: &str) -> Fault {
        let reason: String = self.redaction.show(reason).chars().take(64).collect();
        Fault::unreadable(format!("it stopped for `{reason}`, which is no reason that is known here"))
    }

    /// Says what follows from an error that came within an answer.
    pub(crate) fn complain(&self, error: &Value) -> Fault {
        Complaint::of_json(error).fault(self.redaction)
    }
}

/// What is asked.
pub(crate) struct Asking<'a> {
    pub(crate) service: &'a Service,
    pub(crate) path: &'a [&'a str],
    pub(crate) headers: &'a [(&'static str, &'static str)],
    pub(crate) body: Value,
    pub(crate) patience: &'a Patience,
}

/// Asks until an answer begins, and gives its deltas.
pub(crate) async fn stream<R: Reader>(
    asking: Asking<'_>,
    reader: impl Fn() -> R,
    cancel: CancellationToken,
) -> Result<DeltaStream, ModelError> {
    let body = Bytes::from(serde_json::to_vec(&asking.body).map_err(ModelError::other)?);
    let patience = asking.patience;
    let mut wait = patience.first_wait;
    let mut left = patience.retries;
    loop {
        let begun = async {
            let answer = asking.send(body.clone()).await?;
            let mut turn = Turn {
                events: Some(Events::new(answer.into_body(), patience.idle)),
                reader: reader(),
                queue: VecDeque::new(),
                redaction: asking.service.redaction(),
                cancel: cancel.clone(),
                is_over: false,
            };
            turn.begin().await?;
            Ok(turn)
        };
        let fault = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ModelError::Cancelled),
            begun = begun => match begun {
                Ok(turn) => return Ok(turn.deltas()),
                Err(fault) => fault,
            },
        };
        let Fault { error, again: true } = fault else { return Err(fault.error) };
        let pause = error.retry_after().unwrap_or_else(|| jittered(wait));
        if left == 0 || pause > patience.longest_wait {
            return Err(error);
        }
        tracing::debug!(%error, ?pause, left, "a model is asked again");
        left -= 1;
        wait = (wait * 2).min(Duration::from_secs(8).max(patience.first_wait));
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ModelError::Cancelled),
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Takes up to a quarter off, so that those who were refused together do not come again together.
fn jittered(wait: Duration) -> Duration {
    let random = getrandom::u32().unwrap_or(0);
    wait.mul_f64(1.0 - 0.25 * f64::from(random) / f64::from(u32::MAX))
}

impl Asking<'_> {
    async fn send(&self, body: Bytes) -> Result<Response<Body>, Fault> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        for (name, value) in self.headers {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        headers.extend(self.service.headers().clone());
        let mut request = Request::new(body);
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.service.url(self.path).parse().map_err(|_| {
            Fault::last(ModelError::Refused { reason: "the base URL is too long; check it".into() })
        })?;
        *request.headers_mut() = headers;
        // Between events it is waited as the reader of events says, and for all of them as long as they come.
        let exchange = Exchange::default().endless().first_byte(self.patience.answer).most_bytes(MOST_ANSWER);
        let answer = self.service.http.send(request, exchange).await.map_err(unanswered)?;
        if !answer.status().is_success() {
            return Err(self.refusal(answer).await);
        }
        let kind = answer.headers().get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()));
        match kind {
            Some(kind) if !kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream") => {
                let kind = self.service.redaction().show(kind.split(';').next().unwrap_or_default());
                Err(Fault::malformed(format!(
                    "it is `{kind}` and no stream of events; check the base URL, and that the service can stream"
                )))
            }
            _ => Ok(answer),
        }
    }

    /// Reads what a service says when it fails.
    async fn refusal(&self, answer: Response<Body>) -> Fault {
        let status = answer.status();
        let wait = retry_after(answer.headers());
        let is_final = answer.headers().get("x-should-retry").is_some_and(|value| value == "false");
        let mut body = answer.into_body();
        let mut said = Vec::new();
        let read = async {
            while let Ok(Some(piece)) = body.next().await {
                said.extend_from_slice(&piece);
                if said.len() as u64 >= MOST_COMPLAINT {
                    break;
                }
            }
        };
        // What came until then is told.
        let _ = tokio::time::timeout(COMPLAINT, read).await;
        let complaint = Complaint::of_answer(status, &String::from_utf8_lossy(&said), wait);
        let mut fault = complaint.fault(&self.service.redaction());
        fault.again &= !is_final;
        fault
    }
}

/// An answer that is being read.
struct Turn<R> {
    /// `None` once it is over.
    events: Option<Events>,
    reader: R,
    queue: VecDeque<Delta>,
    redaction: Redaction,
    cancel: CancellationToken,
    is_over: bool,
}

impl<R: Reader> Turn<R> {
    /// Reads until something of the answer is there that an observer may have seen.
    async fn begin(&mut self) -> Result<(), Fault> {
        while self.queue.iter().all(|delta| matches!(delta, Delta::Usage(_))) {
            self.read().await?;
        }
        Ok(())
    }

    /// Reads one event.
    async fn read(&mut self) -> Result<(), Fault> {
        let Some(events) = &mut self.events else { return Err(Fault::last(ModelError::Truncated)) };
        let Some(data) = events.next().await? else { return Err(Fault::passing(ModelError::Truncated)) };
        let mut out = Deltas { queue: &mut self.queue, redaction: &self.redaction };
        if self.reader.read(&data, &mut out)? == Flow::Over {
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
                if let Some(mut events) = self.events.take() {
                    let _ = tokio::time::timeout(ENDING, async {
                        while let Ok(Some(_)) = events.next().await {}
                    })
                    .await;
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

    fn deltas(self) -> DeltaStream {
        DeltaStream::new(stream::unfold(self, |mut turn| async move {
            let delta = turn.next().await?;
            Some((delta, turn))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_shortened_by_a_quarter_at_most() {
        let wait = Duration::from_secs(4);
        for _ in 0..1000 {
            let shorter = jittered(wait);
            assert!(shorter <= wait && shorter >= Duration::from_secs(3), "{shorter:?}");
        }
    }
}
