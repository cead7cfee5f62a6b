//! Arbitrary values of every public type that has a serde form.

use haft_core::{
    AssistantPart, Blob, CallId, Content, Decision, Digest, ErrorKind, Event, EventKind, Exposure, Message,
    Origin, OutputId, Progress, Repair, ReplyStatus, RunId, Schema, StopReason, ToolCall, ToolErrorKind,
    ToolHints, ToolName, ToolOutput, ToolReply, ToolSpec, Truncation, Usage,
};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

/// Any JSON value; its numbers reach to the ends of what JSON readers hold.
pub(crate) fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO)
            .prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Any text, with a liking for the words that serde forms are made of.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "\\PC{0,12}",
        prop::sample::select(vec![
            "", "type", "role", "event", "kind", "text", "null", "error", "\0", "\u{feff}"
        ])
        .prop_map(str::to_owned),
    ]
}

pub(crate) fn call_id() -> impl Strategy<Value = CallId> {
    "\\PC{1,20}".prop_map(|text| text.parse().unwrap())
}

pub(crate) fn run_id() -> impl Strategy<Value = RunId> {
    "\\PC{1,20}".prop_map(|text| text.parse().unwrap())
}

pub(crate) fn output_id() -> impl Strategy<Value = OutputId> {
    "\\PC{1,20}".prop_map(|text| text.parse().unwrap())
}

pub(crate) fn tool_name() -> impl Strategy<Value = ToolName> {
    "[A-Za-z0-9_-]{1,64}".prop_map(|text| text.parse().unwrap())
}

pub(crate) fn blob() -> impl Strategy<Value = Blob> {
    vec(any::<u8>(), 0..20).prop_map(Blob::from)
}

pub(crate) fn digest() -> impl Strategy<Value = Digest> {
    json_value().prop_map(|value| Digest::of(&value))
}

pub(crate) fn decision() -> impl Strategy<Value = Decision> {
    prop::sample::select(vec![Decision::Allow, Decision::Ask, Decision::Deny])
}

pub(crate) fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        text().prop_map(Content::text),
        json_value().prop_map(Content::json),
        (blob(), text()).prop_map(|(data, mime_type)| Content::image(data, mime_type)),
        (blob(), text()).prop_map(|(data, mime_type)| Content::audio(data, mime_type)),
        (text(), of(text()), of(text()), of(blob()))
            .prop_map(|(uri, mime_type, text, data)| { Content::Resource { uri, mime_type, text, data } }),
        (text(), text(), of(text()), of(any::<u64>())).prop_map(|(uri, name, mime_type, size)| {
            Content::ResourceLink { uri, name, mime_type, size }
        }),
    ]
}

pub(crate) fn tool_call() -> impl Strategy<Value = ToolCall> {
    (call_id(), text(), json_value()).prop_map(|(id, name, input)| ToolCall::new(id, name, input))
}

pub(crate) fn tool_output() -> impl Strategy<Value = ToolOutput> {
    (vec(content(), 0..3), of(json_value()), json_value(), of(run_id())).prop_map(
        |(content, structured, details, child_run)| {
            let mut output = ToolOutput::new(content).with_details(details);
            output.structured = structured;
            output.child_run = child_run;
            output
        },
    )
}

pub(crate) fn error_kind() -> impl Strategy<Value = ErrorKind> {
    prop::sample::select(vec![
        ErrorKind::UnknownTool,
        ErrorKind::InvalidInput,
        ErrorKind::NotFound,
        ErrorKind::Unavailable,
        ErrorKind::Failed,
        ErrorKind::Panicked,
    ])
}

pub(crate) fn tool_error_kind() -> impl Strategy<Value = ToolErrorKind> {
    prop::sample::select(vec![
        ToolErrorKind::InvalidInput,
        ToolErrorKind::NotFound,
        ToolErrorKind::Denied,
        ToolErrorKind::Cancelled,
        ToolErrorKind::TimedOut,
        ToolErrorKind::Unavailable,
        ToolErrorKind::Failed,
    ])
}

pub(crate) fn reply_status() -> impl Strategy<Value = ReplyStatus> {
    prop_oneof![
        Just(ReplyStatus::Ok),
        error_kind().prop_map(ReplyStatus::Error),
        Just(ReplyStatus::Denied),
        Just(ReplyStatus::Cancelled),
        Just(ReplyStatus::TimedOut),
        Just(ReplyStatus::Skipped),
    ]
}

pub(crate) fn truncation() -> impl Strategy<Value = Truncation> {
    (any::<(u64, u64)>(), of(output_id()))
        .prop_map(|((total, kept), output)| Truncation::new(total, kept).with_output(output))
}

pub(crate) fn repair() -> impl Strategy<Value = Repair> {
    (text(), json_value(), of(json_value()), text())
        .prop_map(|(pointer, from, to, note)| Repair::new(pointer, from, to, note))
}

/// Any reply; its duration is of whole microseconds, which is all that its serde form holds.
pub(crate) fn tool_reply() -> impl Strategy<Value = ToolReply> {
    let call = (call_id(), text(), reply_status(), tool_output());
    (call, any::<u64>(), of(truncation()), vec(repair(), 0..3)).prop_map(
        |((id, name, status, output), microseconds, truncation, repairs)| {
            let mut reply = ToolReply::new(id, name, status, output);
            reply.duration = Duration::from_micros(microseconds);
            reply.truncation = truncation;
            reply.repairs = repairs;
            reply
        },
    )
}

pub(crate) fn assistant_part() -> impl Strategy<Value = AssistantPart> {
    prop_oneof![
        text().prop_map(|text| AssistantPart::Text { text }),
        (text(), json_value())
            .prop_map(|(text, provider_data)| AssistantPart::Reasoning { text, provider_data }),
        tool_call().prop_map(|call| AssistantPart::ToolCall { call }),
    ]
}

pub(crate) fn message() -> impl Strategy<Value = Message> {
    prop_oneof![
        vec(content(), 0..4).prop_map(|content| Message::User { content }),
        vec(assistant_part(), 0..4).prop_map(|parts| Message::Assistant { parts }),
        vec(tool_reply(), 0..3).prop_map(|replies| Message::Tool { replies }),
    ]
}

pub(crate) fn usage() -> impl Strategy<Value = Usage> {
    any::<(u64, u64, u64, u64)>().prop_map(|(input, output, cache_read, cache_write)| Usage {
        input,
        output,
        cache_read,
        cache_write,
    })
}

pub(crate) fn stop_reason() -> impl Strategy<Value = StopReason> {
    prop::sample::select(vec![
        StopReason::EndTurn,
        StopReason::ToolCalls,
        StopReason::MaxTokens,
        StopReason::Refused,
    ])
}

pub(crate) fn progress() -> impl Strategy<Value = Progress> {
    (of(text()), of(0.0..=1.0)).prop_map(|(message, fraction)| Progress { message, fraction })
}

pub(crate) fn event_kind() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        any::<u32>().prop_map(|turn| EventKind::TurnStarted { turn }),
        text().prop_map(|text| EventKind::TextDelta { text }),
        text().prop_map(|text| EventKind::ReasoningDelta { text }),
        (any::<u32>(), stop_reason(), usage()).prop_map(|(turn, stop, usage)| EventKind::TurnFinished {
            turn,
            stop,
            usage
        }),
        (any::<u32>(), text(), any::<bool>()).prop_map(|(turn, reason, again)| EventKind::TurnDiscarded {
            turn,
            reason,
            again
        }),
        (text(), json_value()).prop_map(|(name, input)| EventKind::Started { name, input }),
        (decision(), text()).prop_map(|(decision, reason)| EventKind::Decided { decision, reason }),
        (vec(text(), 0..3), text())
            .prop_map(|(accesses, preview)| EventKind::ApprovalRequested { accesses, preview }),
        any::<u64>().prop_map(|calls| EventKind::WaitsBelow { calls }),
        (text(), any::<bool>()).prop_map(|(agent, background)| EventKind::RunStarted { agent, background }),
        (text(), text(), of(text())).prop_map(|(agent, end, detail)| EventKind::RunEnded {
            agent,
            end,
            detail
        }),
        tool_output().prop_map(|output| EventKind::Updated { output }),
        progress().prop_map(|progress| EventKind::Progressed { progress }),
        tool_reply().prop_map(|reply| EventKind::Finished { reply: Box::new(reply) }),
        (vec(tool_name(), 0..3), vec(tool_name(), 0..3), vec(tool_name(), 0..3))
            .prop_map(|(added, removed, changed)| EventKind::ToolsChanged { added, removed, changed }),
        (any::<u64>(), any::<u64>(), any::<u64>())
            .prop_map(|(tokens, budget, tools)| EventKind::ToolsOverBudget { tokens, budget, tools }),
        (text(), text()).prop_map(|(source, reason)| EventKind::SourceFailed { source, reason }),
    ]
}

pub(crate) fn event() -> impl Strategy<Value = Event> {
    (any::<u64>(), any::<u64>(), run_id(), of(run_id()), of(call_id()), event_kind()).prop_map(
        |(sequence, at_ms, run, parent, call, kind)| {
            let event = Event::new(sequence, at_ms, run, kind).with_parent_run(parent);
            match call {
                Some(call) => event.with_call(call),
                None => event,
            }
        },
    )
}

pub(crate) fn schema() -> impl Strategy<Value = Schema> {
    btree_map(text(), json_value(), 0..4).prop_map(|members| {
        let mut schema: serde_json::Map<_, _> = members.into_iter().collect();
        schema.insert("type".to_owned(), json!("object"));
        Schema::new(Value::Object(schema)).unwrap()
    })
}

pub(crate) fn origin() -> impl Strategy<Value = Origin> {
    prop_oneof![
        Just(Origin::Builtin),
        Just(Origin::Host),
        (text(), text()).prop_map(|(server, tool)| Origin::Mcp { server, tool }),
        (text(), text()).prop_map(|(document, operation)| Origin::OpenApi { document, operation }),
        text().prop_map(|name| Origin::Agent { name }),
    ]
}

pub(crate) fn tool_hints() -> impl Strategy<Value = ToolHints> {
    any::<(bool, bool, bool, bool, bool)>().prop_map(
        |(read_only, destructive, idempotent, open_world, streaming)| ToolHints {
            read_only,
            destructive,
            idempotent,
            open_world,
            streaming,
        },
    )
}

pub(crate) fn exposure() -> impl Strategy<Value = Exposure> {
    prop::sample::select(vec![Exposure::Direct, Exposure::Deferred, Exposure::Hidden])
}

pub(crate) fn tool_spec() -> impl Strategy<Value = ToolSpec> {
    let seen = (tool_name(), of(text()), text(), schema(), of(schema()));
    (seen, tool_hints(), origin(), exposure(), any::<bool>()).prop_map(
        |((name, title, description, input, output), hints, origin, exposure, explicit)| {
            let mut spec = ToolSpec::new(name, description, input)
                .with_hints(hints)
                .with_origin(origin)
                .with_exposure(exposure);
            if let Some(title) = title {
                spec = spec.with_title(title);
            }
            if let Some(output) = output {
                spec = spec.with_output_schema(output);
            }
            if explicit { spec.explicit_only() } else { spec }
        },
    )
}
