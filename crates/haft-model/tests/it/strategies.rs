use haft_core::{AssistantPart, CallId, ErrorKind, ReplyStatus, StopReason, ToolCall, Usage};
use haft_model::{ModelTurn, Session, SessionTurn};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Any JSON value, with a liking for texts that look like JSON or like nothing.
pub(crate) fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Any text, with a liking for what is hard to tell from arguments.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        any::<String>(),
        Just(String::new()),
        Just(" \t\r\n".to_owned()),
        Just("{}".to_owned()),
        Just("{\"path\":".to_owned()),
        Just("\"quoted\"".to_owned()),
        Just("17".to_owned()),
        Just("null".to_owned()),
        Just("two words\nand \u{2028} a line".to_owned()),
    ]
}

fn nonempty_text() -> impl Strategy<Value = String> {
    text().prop_filter("a part is not empty", |text| !text.is_empty())
}

fn usage() -> impl Strategy<Value = Usage> {
    prop_oneof![
        Just(Usage::default()),
        any::<(u64, u64, u64, u64)>().prop_map(|(input, output, cache_read, cache_write)| Usage {
            input,
            output,
            cache_read,
            cache_write
        }),
    ]
}

/// A reason to stop that fits a turn with calls, or one without.
fn stop(has_calls: bool) -> impl Strategy<Value = StopReason> {
    let usual = if has_calls { StopReason::ToolCalls } else { StopReason::EndTurn };
    prop_oneof![4 => Just(usual), 1 => Just(StopReason::MaxTokens), 1 => Just(StopReason::Refused)]
}

fn status() -> impl Strategy<Value = ReplyStatus> {
    prop::sample::select(vec![
        ReplyStatus::Ok,
        ReplyStatus::Error(ErrorKind::UnknownTool),
        ReplyStatus::Error(ErrorKind::InvalidInput),
        ReplyStatus::Error(ErrorKind::NotFound),
        ReplyStatus::Error(ErrorKind::Unavailable),
        ReplyStatus::Error(ErrorKind::Failed),
        ReplyStatus::Error(ErrorKind::Panicked),
        ReplyStatus::Denied,
        ReplyStatus::Cancelled,
        ReplyStatus::TimedOut,
        ReplyStatus::Skipped,
    ])
}

fn numbered(number: usize) -> CallId {
    format!("call-{number}").parse().unwrap()
}

/// A turn as an assembler gives it: no empty part, and nothing beside its like that would be one part with it.
pub(crate) fn turn() -> impl Strategy<Value = ModelTurn> {
    let part = prop_oneof![
        nonempty_text().prop_map(|text| AssistantPart::Text { text }),
        (text(), json_value())
            .prop_filter("a part is not empty", |(text, data)| !text.is_empty() || !data.is_null())
            .prop_map(|(text, provider_data)| AssistantPart::Reasoning { text, provider_data }),
        nonempty_text().prop_map(|text| AssistantPart::Reasoning { text, provider_data: Value::Null }),
        (text(), json_value()).prop_map(|(name, input)| AssistantPart::ToolCall {
            call: ToolCall::new(numbered(0), name, input)
        }),
    ];
    let parts = vec(part, 0..8).prop_map(|mut parts| {
        parts.dedup_by(|next, last| {
            use AssistantPart::{Reasoning, Text};
            match (last, next) {
                (Text { .. }, Text { .. }) => true,
                (Reasoning { provider_data, .. }, Reasoning { .. }) => provider_data.is_null(),
                _ => false,
            }
        });
        for (number, part) in parts.iter_mut().enumerate() {
            if let AssistantPart::ToolCall { call } = part {
                call.id = numbered(number);
            }
        }
        parts
    });
    parts.prop_flat_map(|parts| {
        let has_calls = parts.iter().any(|part| matches!(part, AssistantPart::ToolCall { .. }));
        (Just(parts), usage(), stop(has_calls))
            .prop_map(|(parts, usage, stop)| ModelTurn::new(parts, usage, stop))
    })
}

/// A session in which `after` names every reply, as a recording has it.
pub(crate) fn session() -> impl Strategy<Value = Session> {
    let call = (text(), prop_oneof![json_value(), Just(json!({}))], status());
    let turn = (text(), text(), vec(call, 0..4), usage()).prop_flat_map(|(text, reasoning, calls, usage)| {
        let stop = stop(!calls.is_empty());
        (Just(text), Just(reasoning), Just(calls), Just(usage), stop)
    });
    vec(turn, 1..5).prop_map(|turns| {
        let mut number = 0;
        let mut after = Vec::new();
        let turns = turns.into_iter().map(|(text, reasoning, calls, usage, stop)| {
            let answered = std::mem::take(&mut after);
            let calls = calls.into_iter().map(|(name, input, status)| {
                number += 1;
                after.push((numbered(number), status));
                ToolCall::new(numbered(number), name, input)
            });
            SessionTurn::new()
                .text(text)
                .reasoning(reasoning)
                .calls(calls.collect())
                .usage(usage)
                .stop(stop)
                .after(answered)
        });
        Session::new(turns.collect(), "generated").unwrap()
    })
}
