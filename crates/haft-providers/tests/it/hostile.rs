//! Answers that no service would give.

use crate::server::{Answer, Server};
use crate::wire::{ALL, Wire, ask, quick, take_turn, told};
use haft_core::Message;
use haft_model::{ModelError, ModelRequest, ProtocolError};
use proptest::prelude::*;
use std::fmt::Write as _;

async fn error_of(wire: Wire, answer: Answer) -> ModelError {
    let server = Server::start([answer]).await;
    let model = wire.patient_model(server.address, quick().retries(0));
    take_turn(&*model, ModelRequest::new([Message::user("Go on.")])).await.1.unwrap_err()
}

#[tokio::test]
async fn a_line_without_end_is_not_kept() {
    for wire in ALL {
        let giant = [b"data: ".as_slice(), &vec![b'x'; 17 * 1024 * 1024]].concat();
        let error = error_of(wire, Answer::events(giant).in_pieces(1 << 20)).await;
        assert!(matches!(error, ModelError::Protocol(ProtocolError::TooLarge { .. })), "{error:?}");
    }
}

#[tokio::test]
async fn what_is_not_text_or_no_event_is_told() {
    let deep = format!("data: {}\n\n", "[".repeat(100_000));
    let cases: [(&[u8], &str); 4] = [
        (
            b"data: \xff\xfe\n\n",
            "it is not a stream of events; check the base URL, and ask again: utf8 parse error",
        ),
        (b"<html>\n\n", "it is not a stream of events; check the base URL, and ask again: invalid line"),
        (b"data: {\"type\":\n\n", "an event is not JSON; ask again"),
        (deep.as_bytes(), "an event is not JSON; ask again"),
    ];
    for wire in ALL {
        for (body, expected) in cases {
            let told = told(&error_of(wire, Answer::events(body)).await);
            let expected = format!("the model's answer is malformed: {expected}");
            assert!(told.starts_with(&expected), "{wire:?}: {told}");
        }
    }
}

#[tokio::test]
async fn parts_without_number_are_not_kept() {
    for wire in ALL {
        let (first, part, count) = match wire {
            Wire::Anthropic => (
                r#"{"type":"message_start","message":{}}"#,
                r#"{"type":"content_block_start","index":N,"content_block":{"type":"x"}}"#,
                17_000,
            ),
            Wire::Chat => {
                (r#"{"choices":[]}"#, r#"{"choices":[{"delta":{"tool_calls":[{"index":N}]}}]}"#, 17_000)
            }
            Wire::Responses => (
                r#"{"type":"response.created"}"#,
                r#"{"type":"response.output_item.added","output_index":N,"item":{"type":"x"}}"#,
                10_100,
            ),
        };
        let parts = (0..count).map(|number| format!("data: {}\n\n", part.replace('N', &number.to_string())));
        let body: String = std::iter::once(format!("data: {first}\n\n")).chain(parts).collect();
        let error = error_of(wire, Answer::events(body)).await;
        assert!(matches!(error, ModelError::Protocol(_)), "{wire:?}: {error:?}");
    }
}

/// Puts other values in places of a JSON value.
fn changed(value: &serde_json::Value, place: usize, with: &serde_json::Value) -> serde_json::Value {
    fn walk(value: &mut serde_json::Value, left: &mut usize, with: &serde_json::Value) -> bool {
        if *left == 0 {
            *value = with.clone();
            return true;
        }
        *left -= 1;
        match value {
            serde_json::Value::Object(members) => members.values_mut().any(|member| walk(member, left, with)),
            serde_json::Value::Array(items) => items.iter_mut().any(|item| walk(item, left, with)),
            _ => false,
        }
    }
    let mut value = value.clone();
    walk(&mut value, &mut { place }, with);
    value
}

/// Reads a message as whoever goes on with its run does: from a run that was written in one.
fn restored(message: &Message) -> Message {
    let kept = serde_json::json!({ "log": [{ "message": message }] }).to_string();
    let mut kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    serde_json::from_value(kept["log"][0]["message"].take()).unwrap()
}

#[tokio::test]
async fn what_is_nested_too_deep_to_be_kept_is_refused() {
    let block = |levels: usize| {
        let deep = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let events = [
            r#"{"type":"message_start","message":{}}"#.to_owned(),
            format!(
                r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"x","data":{deep}}}}}"#
            ),
            r#"{"type":"content_block_stop","index":0}"#.to_owned(),
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#.to_owned(),
            r#"{"type":"message_stop"}"#.to_owned(),
        ];
        events.map(|event| format!("data: {event}\n\n")).concat()
    };
    let details = |levels: usize| {
        let deep = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let events = [
            format!(r#"{{"choices":[{{"delta":{{"reasoning_details":[{{"data":{deep}}}]}}}}]}}"#),
            r#"{"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}"#.to_owned(),
            "[DONE]".to_owned(),
        ];
        events.map(|event| format!("data: {event}\n\n")).concat()
    };
    for levels in [90, 99, 110, 120] {
        for (wire, body) in [(Wire::Anthropic, block(levels)), (Wire::Chat, details(levels))] {
            let server = Server::start([Answer::events(body)]).await;
            match ask(&server, wire).await.1 {
                Ok(turn) => {
                    assert!(levels < 99, "{wire:?} {levels}");
                    assert_eq!(restored(&turn.message), turn.message);
                }
                Err(error) => {
                    assert!(levels > 90, "{wire:?} {levels}: {error:?}");
                    let is_too_deep = matches!(error, ModelError::Protocol(ProtocolError::TooDeep { .. }));
                    assert!(is_too_deep, "{wire:?} {levels}: {error:?}");
                }
            }
        }
    }
}

fn odd_value() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::json;
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([{ "type": inner }]));
    prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(1.5e300),
        json!(""),
        json!("\u{0}\u{202e}"),
        json!([]),
        json!([[], {}]),
        json!({}),
        json!({ "error": { "message": 1 } }),
        nested(48),
        nested(59),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is in the place of what an event should say, there is a turn that can be kept or an error, and never a panic.
    #[test]
    fn any_value_in_any_place_is_survived(event in 0_usize..30, place in 0_usize..40, with in odd_value()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for wire in ALL {
                let transcript = wire.transcript("tools");
                let events: Vec<&str> = transcript.split("\n\n").filter(|event| !event.is_empty()).collect();
                let mut body = String::new();
                for (at, text) in events.iter().enumerate() {
                    let data = text.rsplit("data: ").next().unwrap();
                    match serde_json::from_str(data) {
                        Ok(value) if at == event % events.len() => {
                            write!(body, "data: {}\n\n", changed(&value, place, &with)).unwrap();
                        }
                        _ => write!(body, "{text}\n\n").unwrap(),
                    }
                }
                let server = Server::start([Answer::events(body)]).await;
                if let Ok(turn) = ask(&server, wire).await.1 {
                    assert_eq!(restored(&turn.message), turn.message);
                }
            }
        });
    }
}
