//! What is read of an answer.

use crate::fixture::{GROQ, WHOLE, ask, parts};
use crate::server::Answer;
use expect_test::{Expect, expect};
use haft_core::{AssistantPart, StopReason};
use haft_model::{Delta, ModelTurn};

fn shown(turn: &ModelTurn) -> String {
    let mut lines: Vec<String> = parts(turn).iter().map(part).collect();
    lines.push(format!("{:?} {:?}", turn.stop, turn.usage));
    lines.join("\n")
}

fn part(part: &AssistantPart) -> String {
    match part {
        AssistantPart::Text { text } => format!("text: {text}"),
        AssistantPart::Reasoning { text, provider_data } => format!("reasoning: {text:?} {provider_data}"),
        AssistantPart::ToolCall { call } => format!("call {}: {} {}", call.id, call.name, call.input),
        other => format!("{other:?}"),
    }
}

async fn check(adapter: &str, answer: &str, expected: Expect) {
    let (_, turn) = ask(adapter, Answer::events(answer)).await;
    let mut shown = shown(&turn.unwrap());
    // Ollama gives calls no ids, and the adapter makes random ones.
    if let Some((before, rest)) = shown.split_once("call call_") {
        let rest = &rest[rest.find(':').unwrap()..];
        shown = format!("{before}call MADE{rest}");
    }
    expected.assert_eq(&shown);
}

#[tokio::test]
async fn text_reasoning_calls_and_usage_are_read() {
    let [(gemini, of_gemini), (ollama, of_ollama), (groq, of_groq)] = WHOLE;
    check(gemini, of_gemini, expect![[r#"
        reasoning: "I wonder." null
        text: Grüße. 
        reasoning: "" {"wire":"genai","block":{"adapter":"gemini","parts":[{"ThoughtSignature":"c2lnbmVk"}],"signatures":{"call#read_file#0":["c2lnbmVk"]}}}
        call call#read_file#0: read_file {"path":"a"}
        call call#read_file#1: read_file {"path":"b"}
        ToolCalls Usage { input: 7, output: 11, cache_read: 3, cache_write: 0 }"#]]).await;
    check(ollama, of_ollama, expect![[r#"
        reasoning: "I wonder." null
        text: Grüße. 
        reasoning: "" {"wire":"genai","block":{"adapter":"ollama","parts":[{"ReasoningContent":"I wonder."}],"signatures":{}}}
        call MADE: read_file {"path":"a"}
        ToolCalls Usage { input: 7, output: 11, cache_read: 0, cache_write: 0 }"#]]).await;
    check(groq, of_groq, expect![[r#"
        reasoning: "I wonder." null
        text: Grüße. 
        reasoning: "" {"wire":"genai","block":{"adapter":"groq","parts":[{"ReasoningContent":"I wonder."}],"signatures":{}}}
        call c1: read_file {"path":"a"}
        call c2: read_file "not JSON"
        ToolCalls Usage { input: 7, output: 11, cache_read: 0, cache_write: 0 }"#]]).await;
}

#[tokio::test]
async fn how_an_answer_is_cut_into_pieces_does_not_matter() {
    for (adapter, answer) in WHOLE {
        let (_, whole) = ask(adapter, Answer::events(answer)).await;
        let whole = whole.unwrap();
        for piece in [1, 37] {
            let (_, turn) = ask(adapter, Answer::events(answer).in_pieces(piece)).await;
            let turn = turn.unwrap();
            // An id that was made is another each time.
            let said = |turn: &ModelTurn| (turn.message.assistant_text(), turn.stop, turn.usage);
            assert_eq!(said(&turn), said(&whole), "{adapter}");
            assert_eq!(parts(&turn).len(), parts(&whole).len(), "{adapter}");
        }
    }
}

#[tokio::test]
async fn text_comes_as_the_model_writes_it() {
    for (adapter, answer) in WHOLE {
        let (seen, _) = ask(adapter, Answer::events(answer)).await;
        let place = |is: fn(&Delta) -> bool| seen.iter().position(is).unwrap();
        let text = place(|delta| matches!(delta, Delta::Text(_)));
        assert!(text < place(|delta| matches!(delta, Delta::ToolCallStart { .. })), "{adapter}");
    }
}

/// An answer of one text that ends for this reason.
fn ending(reason: &str) -> String {
    format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"Hm.\"}},\"finish_reason\":\"{reason}\"}}]}}\n\ndata: [DONE]\n\n"
    )
}

#[tokio::test]
async fn why_it_ended_is_told() {
    for (reason, stop) in [
        ("stop", StopReason::EndTurn),
        ("length", StopReason::MaxTokens),
        ("content_filter", StopReason::Refused),
    ] {
        let (_, turn) = ask("groq", Answer::events(ending(reason))).await;
        assert_eq!(turn.unwrap().stop, stop);
    }
    let odd =
        |reason| async move { ask("groq", Answer::events(ending(reason))).await.1.unwrap_err().to_string() };
    expect!["the model's answer is malformed: it waits for replies, but made no call"]
        .assert_eq(&odd("tool_calls").await);
    expect!["the model's answer is malformed: it stopped for `boredom`, which is not a reason that is known here; ask again, or choose another model or service if it stays so"].assert_eq(&odd("boredom").await);
}

#[tokio::test]
async fn an_answer_that_ends_before_it_says_why_is_no_turn() {
    for (adapter, answer) in WHOLE {
        let end = if adapter == "ollama" { "\n" } else { "\n\n" };
        let all: Vec<usize> = answer.match_indices(end).map(|(at, found)| at + found.len()).collect();
        for at in all[..all.len() - 1].iter().copied().chain([0]) {
            for cut in [Answer::events(&answer[..at]), Answer::events(&answer[..at]).then_broken()] {
                let (_, turn) = ask(adapter, cut).await;
                match turn {
                    Err(error) => assert!(error.can_retry(), "{adapter} {at}: {error}"),
                    Ok(turn) => panic!("{adapter} {at}: {turn:?}"),
                }
            }
        }
        for at in (1..answer.trim_end().len() - 20).step_by(23) {
            let (_, turn) = ask(adapter, Answer::events(&answer.as_bytes()[..at])).await;
            assert!(turn.is_err(), "{adapter} {at}: {turn:?}");
        }
    }
}

#[tokio::test]
async fn arguments_that_are_no_json_are_kept_as_they_came() {
    let (_, turn) = ask("groq", Answer::events(GROQ)).await;
    let turn = turn.unwrap();
    let calls = parts(&turn).iter().filter_map(|part| match part {
        AssistantPart::ToolCall { call } => Some((call.id.as_str(), call.input.to_string())),
        _ => None,
    });
    assert_eq!(
        calls.collect::<Vec<_>>(),
        [("c1", r#"{"path":"a"}"#.to_owned()), ("c2", r#""not JSON""#.to_owned())]
    );
}
