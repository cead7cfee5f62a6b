//! What is read out of the answers that services give.

use crate::server::{Answer, Server};
use crate::wire::{ALL, Wire, ask, told};
use expect_test::{Expect, expect};
use haft_core::AssistantPart;
use haft_model::{Delta, ModelTurn};

fn show(turn: &ModelTurn) -> String {
    let haft_core::Message::Assistant { parts } = &turn.message else { panic!("{turn:?}") };
    let mut lines: Vec<String> = parts
        .iter()
        .map(|part| match part {
            AssistantPart::Text { text } => format!("text {text:?}"),
            AssistantPart::Reasoning { text, provider_data } => format!("reasoning {text:?} {provider_data}"),
            AssistantPart::ToolCall { call } => format!("call {} {} {}", call.id, call.name, call.input),
            other => panic!("{other:?}"),
        })
        .collect();
    lines.push(format!("{:?} {:?}", turn.stop, turn.usage));
    lines.join("\n")
}

async fn check(wire: Wire, transcript: &str, expected: &Expect) {
    let server = Server::start([Answer::events(wire.transcript(transcript))]).await;
    let (_, turn) = ask(&server, wire).await;
    expected.assert_eq(&match turn {
        Ok(turn) => show(&turn),
        Err(error) => format!("{}\nagain: {}", told(&error), error.can_retry()),
    });
}

#[tokio::test]
async fn reasoning_text_and_interleaved_calls_are_read() {
    check(Wire::Anthropic, "tools", &expect![[r#"
        reasoning "Two files, both at once." {"block":{"signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h","type":"thinking"},"wire":"anthropic_messages"}
        reasoning "" {"block":{"data":"EmwKAhgBEgy3va3pzix","type":"redacted_thinking"},"wire":"anthropic_messages"}
        text "Grüße 👋, I read both."
        call toolu_01 read_file {"path":"src/lib.rs"}
        call toolu_02 read_file {"path":"ü.rs"}
        ToolCalls Usage { input: 1209, output: 89, cache_read: 1000, cache_write: 188 }"#]]).await;
    check(
        Wire::Chat,
        "tools",
        &expect![[r#"
        text "Grüße 👋, I read both."
        call call_a read_file {"path":"src/lib.rs"}
        call call_b read_file {"path":"ü.rs"}
        ToolCalls Usage { input: 1209, output: 89, cache_read: 1024, cache_write: 0 }"#]],
    )
    .await;
    check(Wire::Responses, "tools", &expect![[r#"
        reasoning "Two files, both at once.\n\nThen answer." {"block":{"encrypted_content":"gAAAAABoISQ24OyVRYbk","id":"rs_1","summary":[{"text":"Two files, both at once.","type":"summary_text"},{"text":"Then answer.","type":"summary_text"}],"type":"reasoning"},"wire":"openai_responses"}
        reasoning "" {"about":{"phase":"commentary"},"wire":"openai_responses"}
        text "Grüße 👋, I read both."
        call call_a read_file {"path":"src/lib.rs"}
        call call_b read_file {"path":"ü.rs"}
        ToolCalls Usage { input: 1209, output: 89, cache_read: 1024, cache_write: 0 }"#]]).await;
}

#[tokio::test]
async fn text_alone_ends_the_turn() {
    check(
        Wire::Anthropic,
        "text",
        &expect![[r#"
        text "Done."
        EndTurn Usage { input: 9, output: 4, cache_read: 0, cache_write: 0 }"#]],
    )
    .await;
    check(
        Wire::Chat,
        "text",
        &expect![[r#"
        text "Done."
        EndTurn Usage { input: 9, output: 4, cache_read: 0, cache_write: 0 }"#]],
    )
    .await;
    check(
        Wire::Responses,
        "text",
        &expect![[r#"
        text "Done."
        EndTurn Usage { input: 9, output: 4, cache_read: 0, cache_write: 0 }"#]],
    )
    .await;
}

#[tokio::test]
async fn a_refusal_is_read_as_one() {
    check(
        Wire::Anthropic,
        "refusal",
        &expect![[r#"
            text "I\n[the provider refused: The request could enable harm.]"
            Refused Usage { input: 9, output: 2, cache_read: 0, cache_write: 0 }"#]],
    )
    .await;
    check(
        Wire::Chat,
        "refusal",
        &expect![[r#"
        text "I cannot do that."
        Refused Usage { input: 0, output: 0, cache_read: 0, cache_write: 0 }"#]],
    )
    .await;
    check(
        Wire::Responses,
        "refusal",
        &expect![[r#"
        text "I cannot do that."
        Refused Usage { input: 9, output: 4, cache_read: 0, cache_write: 0 }"#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_not_known_is_kept_and_what_was_cut_off_is_handed_on() {
    check(Wire::Anthropic, "odd", &expect![[r#"
        reasoning "" {"block":{"id":"srvtoolu_01","input":{"query":"haft"},"name":"web_search","type":"server_tool_use"},"wire":"anthropic_messages"}
        reasoning "" {"block":{"content":[{"encrypted_content":"Eo8DC","title":"Haft","type":"web_search_result","url":"https://example.org"}],"tool_use_id":"srvtoolu_01","type":"web_search_tool_result"},"wire":"anthropic_messages"}
        call toolu_03 list_files {}
        call toolu_04 grep {"pattern":"whole at the start"}
        call toolu_05 grep "{\"pattern\": \"cut off by the lim"
        MaxTokens Usage { input: 9, output: 64, cache_read: 0, cache_write: 0 }"#]]).await;
    check(Wire::Responses, "cut", &expect![[r#"
        reasoning "" {"block":{"action":{"query":"haft","type":"search"},"id":"ws_1","status":"completed","type":"web_search_call"},"wire":"openai_responses"}
        call call_c grep "{\"pattern\": \"cut off by the lim"
        MaxTokens Usage { input: 9, output: 64, cache_read: 0, cache_write: 0 }"#]]).await;
}

#[tokio::test]
async fn a_turn_that_was_paused_is_refused() {
    check(Wire::Anthropic, "paused", &expect![[r"
        the model's provider refused the request: it paused the turn (`pause_turn`), which only tools do that the provider runs itself; choose a service that runs none
        again: false"]]).await;
}

#[tokio::test]
async fn reasoning_of_others_than_openai_is_read_with_what_they_want_back() {
    check(Wire::Chat, "reasoning", &expect![[r#"
        reasoning "Two files, both at once." {"block":{"reasoning":null,"reasoning_details":[{"format":"anthropic-claude-v1","index":0,"text":"Two files, ","type":"reasoning.text"},{"format":"anthropic-claude-v1","index":0,"text":"both at once.","type":"reasoning.text"},{"format":"anthropic-claude-v1","index":0,"signature":"EqQBCg","type":"reasoning.text"}]},"wire":"openai_chat"}
        text "I read them."
        call call_1_0 read_file {"path":"a"}
        call function-call-2 read_file "not json"
        reasoning "" {"about":{"call":"call_1_0","extra_content":{"google":{"thought_signature":"CqkBAd"}}},"wire":"openai_chat"}
        ToolCalls Usage { input: 0, output: 0, cache_read: 0, cache_write: 0 }"#]]).await;
    check(
        Wire::Chat,
        "deepseek",
        &expect![[r#"
        reasoning "Thinking." {"block":{"reasoning_content":null},"wire":"openai_chat"}
        text "Done."
        MaxTokens Usage { input: 11, output: 7, cache_read: 8, cache_write: 0 }"#]],
    )
    .await;
}

#[tokio::test]
async fn an_error_within_an_answer_ends_it() {
    check(Wire::Anthropic, "overloaded", &expect![[r"
        the model is not available: the service said overloaded_error: Overloaded; try again later, or choose another model
        again: true"]]).await;
    check(Wire::Chat, "overloaded", &expect![[r"
        the model is not available: the service said 500 InternalServerError: the engine is dead; try again later, or choose another model
        again: true"]]).await;
    check(Wire::Responses, "overloaded", &expect![[r"
        the model is not available: the service said server_error: The server had an error while processing your request; try again later, or choose another model
        again: true"]]).await;
}

#[tokio::test]
async fn deltas_come_as_the_model_writes_them() {
    for wire in ALL {
        let transcript = wire.transcript("tools");
        let server = Server::start([Answer::events(&transcript)]).await;
        let (deltas, _) = ask(&server, wire).await;
        let texts: Vec<_> = deltas.iter().filter(|delta| matches!(delta, Delta::Text(_))).collect();
        assert_eq!(
            texts,
            [&Delta::Text("Grüße 👋, ".into()), &Delta::Text("I read both.".into())],
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn how_an_answer_is_cut_into_pieces_does_not_matter() {
    for wire in ALL {
        let transcript = wire.transcript("tools");
        let other_ends = transcript.replace('\n', "\r\n");
        let whole = ask(&Server::start([Answer::events(&transcript)]).await, wire).await;
        for (text, piece) in [
            (&transcript, 1),
            (&transcript, 2),
            (&transcript, 37),
            (&transcript, 1000),
            (&other_ends, 1),
            (&other_ends, 37),
        ] {
            let server = Server::start([Answer::events(text).in_pieces(piece)]).await;
            let (deltas, turn) = ask(&server, wire).await;
            assert_eq!(deltas, whole.0, "{wire:?} in pieces of {piece}");
            assert_eq!(turn.unwrap(), *whole.1.as_ref().unwrap());
        }
    }
}

#[tokio::test]
async fn a_connection_is_used_again() {
    for wire in ALL {
        let server = Server::start([Answer::events(wire.transcript("text"))]).await;
        let model = wire.model(server.address);
        for _ in 0..3 {
            let request = haft_model::ModelRequest::new([haft_core::Message::user("Go on.")]);
            crate::wire::take_turn(&*model, request).await.1.unwrap();
        }
        assert_eq!(server.connections(), 1, "{wire:?}");
    }
}

/// Compares what is read out of events that are written here.
async fn check_events(wire: Wire, events: &[&str], expected: Expect) {
    let body = format!("data: {}\n\n", events.join("\n\ndata: "));
    let server = Server::start(vec![Answer::events(body); 3]).await;
    let (_, turn) = ask(&server, wire).await;
    expected.assert_eq(&match turn {
        Ok(turn) => show(&turn),
        Err(error) => format!("{}\nagain: {}", told(&error), error.can_retry()),
    });
}

#[tokio::test]
async fn an_answer_that_says_that_it_makes_calls_and_makes_none_is_no_turn() {
    let says = r#"{"choices":[{"delta":{"content":"I look."},"finish_reason":"tool_calls"}]}"#;
    check_events(
        Wire::Chat,
        &[says, "[DONE]"],
        expect![[r#"
        the model's answer is malformed: it waits for replies, but made no call
        again: false"#]],
    )
    .await;
    let old = r#"{"choices":[{"delta":{"function_call":{"name":"look","arguments":"{}"}}}]}"#;
    check_events(Wire::Chat, &[old, "[DONE]"], expect![[r#"
        the model's answer is malformed: it calls a function in a form that is no longer in use (`function_call`); choose a service that makes `tool_calls`
        again: false"#]]).await;
    let events = [
        r#"{"type":"message_start","message":{}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"I look."}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    check_events(
        Wire::Anthropic,
        &events,
        expect![[r#"
        the model's answer is malformed: it waits for replies, but made no call
        again: false"#]],
    )
    .await;
}

#[tokio::test]
async fn words_of_other_services_for_why_a_model_stopped_are_known() {
    let stops =
        |reason: &str| format!(r#"{{"choices":[{{"delta":{{"content":"I"}},"finish_reason":"{reason}"}}]}}"#);
    check_events(
        Wire::Chat,
        &[&stops("model_length"), "[DONE]"],
        expect![[r#"
        text "I"
        MaxTokens Usage { input: 0, output: 0, cache_read: 0, cache_write: 0 }"#]],
    )
    .await;
    check_events(
        Wire::Chat,
        &[&stops("insufficient_system_resource"), "[DONE]"],
        expect![[r#"
        the model is not available: the service has no room for the turn
        again: true"#]],
    )
    .await;
}

#[tokio::test]
async fn parts_of_an_answer_that_are_not_known_are_told() {
    let parts = r#"{"choices":[{"delta":{"content":[{"type":"text","text":"See: "},{"type":"image_url","image_url":"x"},{"type":"text","text":""},1]},"finish_reason":"stop"}]}"#;
    check_events(Wire::Chat, &[parts, "[DONE]"], expect![[r#"
        text "See: [a part of the answer that cannot be shown: image_url][a part of the answer that cannot be shown: unnamed]"
        EndTurn Usage { input: 0, output: 0, cache_read: 0, cache_write: 0 }"#]]).await;
}
