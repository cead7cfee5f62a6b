//! Asks by a request of our own, and reads the events of the answer.

use crate::complaint::{Complaint, Fault, unanswered};
use crate::events::Events;
use crate::insist::insist;
use crate::retry_after::retry_after;
use crate::turn::{Deltas, Flow, Source, Turn};
use crate::{Patience, Service};
use bytes::Bytes;
use haft_http::{Body, Exchange};
use haft_model::{DeltaStream, ModelError, RetryObserver};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Request, Response};
use serde_json::Value;
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

/// What is asked.
pub(crate) struct Asking<'a> {
    pub(crate) service: &'a Service,
    pub(crate) path: &'a [&'a str],
    pub(crate) headers: &'a [(&'static str, &'static str)],
    pub(crate) body: Value,
    pub(crate) patience: &'a Patience,
    pub(crate) retries: &'a RetryObserver,
}

/// Asks until an answer begins, and gives its deltas.
pub(crate) async fn stream<R: Reader>(
    asking: Asking<'_>,
    reader: impl Fn() -> R,
    cancel: CancellationToken,
) -> Result<DeltaStream, ModelError> {
    let body = Bytes::from(serde_json::to_vec(&asking.body).map_err(ModelError::other)?);
    let begin = || async {
        let answer = asking.send(body.clone()).await?;
        let events = Events::new(answer.into_body(), asking.patience.idle_timeout);
        Turn::begin(Answer { events, reader: reader() }, asking.service.redaction(), cancel.clone()).await
    };
    insist(asking.patience, asking.retries, &cancel, begin).await.map(Turn::deltas)
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
        let exchange = Exchange::default()
            .endless()
            .first_byte_timeout(self.patience.first_byte_timeout)
            .most_bytes(MOST_ANSWER);
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

/// An answer in events.
struct Answer<R> {
    events: Events,
    reader: R,
}

impl<R: Reader> Source for Answer<R> {
    async fn read(&mut self, out: &mut Deltas<'_>) -> Result<Flow, Fault> {
        let Some(data) = self.events.next().await? else { return Err(Fault::passing(ModelError::Truncated)) };
        self.reader.read(&data, out)
    }

    async fn finish(&mut self) {
        let rest = async { while let Ok(Some(_)) = self.events.next().await {} };
        let _ = tokio::time::timeout(ENDING, rest).await;
    }
}
