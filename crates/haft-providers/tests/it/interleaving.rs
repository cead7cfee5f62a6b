//! Calls that are written side by side.

use crate::server::{Answer, Server};
use crate::wire::{ALL, Wire, ask};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Writes an answer that makes calls, whose arguments come in the pieces and in the order that is said.
fn answer(wire: Wire, calls: &[String], order: &[usize]) -> String {
    let mut cut: Vec<Vec<String>> = calls
        .iter()
        .map(|arguments| {
            let characters: Vec<char> = arguments.chars().collect();
            characters.chunks(3).rev().map(|piece| piece.iter().collect()).collect()
        })
        .collect();
    let mut events: Vec<Value> = Vec::new();
    let mut add = |event: Value| events.push(event);
    let start = |call: usize| match wire {
        Wire::Anthropic => json!({
            "type": "content_block_start", "index": call,
            "content_block": { "type": "tool_use", "id": format!("c{call}"), "name": "t", "input": {} },
        }),
        Wire::Chat => json!({ "choices": [{ "delta": { "tool_calls": [
            { "index": call, "id": format!("c{call}"), "function": { "name": "t", "arguments": "" } },
        ] } }] }),
        Wire::Responses => json!({
            "type": "response.output_item.added", "output_index": call,
            "item": { "type": "function_call", "call_id": format!("c{call}"), "name": "t" },
        }),
    };
    let piece = |call: usize, piece: &str| match wire {
        Wire::Anthropic => json!({
            "type": "content_block_delta", "index": call,
            "delta": { "type": "input_json_delta", "partial_json": piece },
        }),
        Wire::Chat => json!({ "choices": [{ "delta": { "tool_calls": [
            { "index": call, "function": { "arguments": piece } },
        ] } }] }),
        Wire::Responses => json!({
            "type": "response.function_call_arguments.delta", "output_index": call, "delta": piece,
        }),
    };
    if wire == Wire::Anthropic {
        add(json!({ "type": "message_start", "message": {} }));
    }
    (0..calls.len()).for_each(|call| add(start(call)));
    for at in order {
        let call = at % calls.len();
        if let Some(next) = cut[call].pop() {
            add(piece(call, &next));
        }
    }
    for (call, rest) in cut.iter_mut().enumerate() {
        while let Some(next) = rest.pop() {
            add(piece(call, &next));
        }
        match wire {
            Wire::Anthropic => add(json!({ "type": "content_block_stop", "index": call })),
            Wire::Chat => {}
            Wire::Responses => add(json!({
                "type": "response.output_item.done", "output_index": call, "item": { "type": "function_call" },
            })),
        }
    }
    match wire {
        Wire::Anthropic => {
            add(json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }));
            add(json!({ "type": "message_stop" }));
        }
        Wire::Chat => add(json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] })),
        Wire::Responses => add(json!({ "type": "response.completed", "response": {} })),
    }
    let mut text = String::new();
    for event in events {
        write!(text, "data: {event}\n\n").unwrap();
    }
    if wire == Wire::Chat {
        text.push_str("data: [DONE]\n\n");
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the order in which the pieces of calls come, each call gets its own.
    #[test]
    fn each_call_gets_its_own_pieces(
        words in vec("[a-zäß👋\"\\\\]{0,12}", 1..5),
        broken in vec(any::<bool>(), 5),
        order in vec(0_usize..60, 0..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let calls: Vec<String> = words
                .iter()
                .zip(broken)
                .map(|(word, broken)| if broken { format!("{{\"w\": {word}") } else { json!({ "w": word }).to_string() })
                .collect();
            let expected: Vec<Value> = calls
                .iter()
                .map(|text| serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())))
                .collect();
            for wire in ALL {
                let server = Server::start([Answer::events(answer(wire, &calls, &order)).in_pieces(37)]).await;
                let turn = ask(&server, wire).await.1.unwrap();
                let inputs: Vec<Value> = turn.message.tool_calls().map(|call| call.input.clone()).collect();
                assert_eq!(inputs, expected, "{wire:?}");
                let ids: Vec<String> = turn.message.tool_calls().map(|call| call.id.to_string()).collect();
                let in_order: Vec<String> = (0..calls.len()).map(|call| format!("c{call}")).collect();
                assert_eq!(ids, in_order, "{wire:?}");
            }
        });
    }
}
