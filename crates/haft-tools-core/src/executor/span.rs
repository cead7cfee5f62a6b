//! The span of a running call, named after OpenTelemetry's semantic conventions for generative AI.
//!
//! Source: <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span>.

use crate::Redactor;
use crate::registry::Entry;
use haft_core::{ErrorKind, ReplyStatus, ToolCall, ToolReply};
use tracing::Span;
use tracing::field::Empty;

/// The most of the arguments of a call, and of its result, that its span holds, in bytes: it is held until it is sent.
const MOST_CONTENT: usize = 32 * 1024;

/// Says whether spans hold what calls are about, which can be private.
///
/// ```
/// use haft_tools_core::{LocalExecutor, SpanContent, ToolRegistry};
///
/// assert_eq!(SpanContent::default(), SpanContent::Omitted);
/// let executor = LocalExecutor::builder(ToolRegistry::new()).span_content(SpanContent::Recorded).build();
/// # let _ = executor;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum SpanContent {
    /// Arguments and results are left out.
    #[default]
    Omitted,
    /// `gen_ai.tool.call.arguments` and `gen_ai.tool.call.result` are recorded, with secrets redacted, and each up to 32 KiB.
    Recorded,
}

/// Opens the span of a call; costs nothing when nobody subscribes.
pub(super) fn of(entry: &Entry, call: &ToolCall, content: SpanContent, redactor: &Redactor) -> Span {
    let span = tracing::info_span!(
        "execute_tool",
        otel.name = Empty,
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = entry.name(),
        gen_ai.tool.r#type = "function",
        gen_ai.tool.call.id = call.id.as_str(),
        gen_ai.tool.call.arguments = Empty,
        gen_ai.tool.call.result = Empty,
        error.r#type = Empty,
        haft.reply.bytes = Empty,
        haft.reply.bytes_cut = Empty,
    );
    if !span.is_disabled() {
        span.record("otel.name", format!("execute_tool {}", entry.name()));
        if content == SpanContent::Recorded {
            let mut arguments = call.input.clone();
            redactor.redact_value(&mut arguments);
            span.record("gen_ai.tool.call.arguments", bounded(arguments.to_string()));
        }
    }
    span
}

/// Notes that a call failed and is tried again.
pub(super) fn failed(span: &Span, status: ReplyStatus) {
    if let Some(error) = error_type(status) {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", error);
    }
}

/// Notes what a call was answered with.
pub(super) fn answered(span: &Span, reply: &ToolReply, content: SpanContent) {
    if span.is_disabled() {
        return;
    }
    failed(span, reply.status);
    // Counters are signed: OpenTelemetry knows no unsigned integers.
    span.record("haft.reply.bytes", signed(reply.output.size_bytes() as u64));
    let cut = reply.truncation.as_ref().map_or(0, |cut| cut.total_bytes.saturating_sub(cut.kept_bytes));
    span.record("haft.reply.bytes_cut", signed(cut));
    if content == SpanContent::Recorded {
        span.record("gen_ai.tool.call.result", bounded(reply.output.to_text()));
    }
}

/// Leaves out the end of what is too long, and says so.
fn bounded(mut text: String) -> String {
    let kept = text.floor_char_boundary(MOST_CONTENT);
    if kept < text.len() {
        let left_out = format!("… ({} bytes more)", text.len() - kept);
        text.truncate(kept);
        text.push_str(&left_out);
    }
    text
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn error_type(status: ReplyStatus) -> Option<&'static str> {
    Some(match status {
        ReplyStatus::Ok => return None,
        ReplyStatus::Error(ErrorKind::UnknownTool) => "unknown_tool",
        ReplyStatus::Error(ErrorKind::InvalidInput) => "invalid_input",
        ReplyStatus::Error(ErrorKind::NotFound) => "not_found",
        ReplyStatus::Error(ErrorKind::Unavailable) => "unavailable",
        ReplyStatus::Error(ErrorKind::Panicked) => "panicked",
        ReplyStatus::Denied => "denied",
        ReplyStatus::Cancelled => "cancelled",
        ReplyStatus::TimedOut => "timed_out",
        ReplyStatus::Skipped => "skipped",
        _ => "failed",
    })
}
