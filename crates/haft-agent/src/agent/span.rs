//! The spans of runs and of the turns of their models, named after OpenTelemetry's semantic conventions for generative AI.
//!
//! Sources: <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/> and
//! <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/>.

use crate::{RunEnd, RunState};
use haft_core::{RunId, Usage};
use haft_model::ModelError;
use haft_tools_core::CallScope;
use tracing::Span;
use tracing::field::Empty;

/// Opens the span of a run for as long as it is driven; costs nothing when nobody subscribes.
pub(super) fn of_run(scope: &CallScope, model: &str) -> Span {
    let span = tracing::info_span!(
        "invoke_agent",
        otel.name = Empty,
        otel.status_code = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = scope.agent(),
        gen_ai.conversation.id = scope.run().as_str(),
        gen_ai.request.model = model,
        haft.run.parent = scope.parent_run().map(RunId::as_str),
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        error.r#type = Empty,
    );
    if let Some(agent) = scope.agent().filter(|_| !span.is_disabled()) {
        span.record("otel.name", format!("invoke_agent {agent}"));
    }
    span
}

/// Notes where a run stands when it is driven no further, and what it used since `before`.
pub(super) fn left(span: &Span, state: &RunState, before: &Usage) {
    if span.is_disabled() {
        return;
    }
    let usage = state.usage();
    span.record("gen_ai.usage.input_tokens", signed(usage.input.saturating_sub(before.input)));
    span.record("gen_ai.usage.output_tokens", signed(usage.output.saturating_sub(before.output)));
    if let Some(error) = state.end().and_then(end_type) {
        failed(span, error);
    }
}

/// Opens the span of a turn of a model; `turn` counts from 1.
pub(super) fn of_turn(model: &str, turn: u32) -> Span {
    let span = tracing::info_span!(
        "chat",
        otel.name = Empty,
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.request.model = model,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.usage.cache_creation.input_tokens = Empty,
        haft.turn = i64::from(turn),
        error.r#type = Empty,
    );
    if !span.is_disabled() {
        span.record("otel.name", format!("chat {model}"));
    }
    span
}

/// Notes what a turn used, and how it failed if it did.
pub(super) fn answered(span: &Span, usage: &Usage, error: Option<&'static str>) {
    if span.is_disabled() {
        return;
    }
    if usage.total() > 0 {
        span.record("gen_ai.usage.input_tokens", signed(usage.input));
        span.record("gen_ai.usage.output_tokens", signed(usage.output));
    }
    for (name, tokens) in [
        ("gen_ai.usage.cache_read.input_tokens", usage.cache_read),
        ("gen_ai.usage.cache_creation.input_tokens", usage.cache_write),
    ] {
        if tokens > 0 {
            span.record(name, signed(tokens));
        }
    }
    if let Some(error) = error {
        failed(span, error);
    }
}

/// Names the kind of an answer that failed.
pub(super) fn error_type(error: &ModelError) -> &'static str {
    match error {
        ModelError::Unavailable { .. } => "unavailable",
        ModelError::RateLimited { .. } => "rate_limited",
        ModelError::Truncated => "truncated",
        ModelError::Protocol(_) => "protocol",
        ModelError::Cancelled => "cancelled",
        ModelError::Refused { .. } => "refused",
        ModelError::Diverged(_) => "diverged",
        ModelError::Recording { .. } => "recording",
        _ => "failed",
    }
}

fn failed(span: &Span, error: &'static str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", error);
}

/// Names the end of a run that did not come to what it was asked for.
fn end_type(end: &RunEnd) -> Option<&'static str> {
    Some(match end {
        RunEnd::Completed => return None,
        RunEnd::CutOff => "cut_off",
        RunEnd::Refused => "refused",
        RunEnd::Failed { .. } => "failed",
        RunEnd::Cancelled => "cancelled",
        RunEnd::BudgetSpent { .. } => "budget_spent",
        RunEnd::Looping => "looping",
    })
}

/// Counters are signed: OpenTelemetry knows no unsigned integers.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
