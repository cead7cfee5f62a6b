use super::Sent;
use super::lost::Lost;
use anyhow::{Context as _, Result};
use bytes::Bytes;
use haft::http::HttpClient;
use opentelemetry::Context;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{BatchSpanProcessor, Span, SpanData, SpanExporter, SpanProcessor};
use prost::Message as _;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// How much of why spans were refused is told, in bytes.
const MOST_TOLD: usize = 300;

/// Sends spans to a collector, each batch as one request.
pub(super) struct Exporter {
    client: HttpClient,
    sent: Arc<Sent>,
    resource: ResourceAttributesWithSchema,
    /// Where requests are made: spans are sent by a thread that is none of its own.
    runtime: Handle,
    lost: Arc<Lost>,
}

impl Exporter {
    pub(super) fn new(client: HttpClient, sent: Arc<Sent>, runtime: Handle, lost: Arc<Lost>) -> Self {
        Self { client, sent, resource: ResourceAttributesWithSchema::default(), runtime, lost }
    }
}

impl SpanExporter for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len() as u64;
        let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
        let body = Bytes::from(ExportTraceServiceRequest { resource_spans }.encode_to_vec());
        let sending = self.runtime.spawn(send(self.client.clone(), Arc::clone(&self.sent), body));
        let outcome = match sending.await {
            Ok(outcome) => outcome,
            Err(error) => Err(error).context("it was broken off"),
        };
        match outcome {
            Ok(Refused { spans: refused, why }) => {
                self.lost.were_sent(spans.saturating_sub(refused));
                if refused > 0 {
                    self.lost.failed(anyhow::Error::msg(why).context("the collector refuses some of them"));
                }
                Ok(())
            }
            Err(error) => {
                self.lost.failed(error);
                Err(OTelSdkError::InternalFailure("spans were not exported".to_owned()))
            }
        }
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = resource.into();
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exporter").field("host", &self.sent.host()).finish_non_exhaustive()
    }
}

/// How many spans of a request a collector did not take, and why.
#[derive(Debug, Default)]
struct Refused {
    spans: u64,
    why: String,
}

/// Makes one request.
async fn send(client: HttpClient, sent: Arc<Sent>, body: Bytes) -> Result<Refused> {
    let answer = sent.post(&client, body).await?;
    // A collector may say what it likes, or nothing: it has taken the spans.
    let Ok(body) = answer.bytes().await else { return Ok(Refused::default()) };
    let partial = ExportTraceServiceResponse::decode(body).ok().and_then(|answer| answer.partial_success);
    Ok(partial.map_or_else(Refused::default, |partial| {
        let mut why = partial.error_message;
        why.truncate(why.floor_char_boundary(MOST_TOLD));
        Refused { spans: u64::try_from(partial.rejected_spans).unwrap_or_default(), why }
    }))
}

/// Has spans sent in batches, and counts those that are to be: what comes faster than it is sent is left out.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) batches: BatchSpanProcessor,
    pub(super) lost: Arc<Lost>,
}

impl SpanProcessor for Counted {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.batches.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if span.span_context.is_sampled() {
            self.lost.one_ended();
        }
        self.batches.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.batches.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.batches.set_resource(resource);
    }
}
