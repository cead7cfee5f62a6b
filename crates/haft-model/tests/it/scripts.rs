use crate::{ask, outline, wait};
use expect_test::{Expect, expect};
use haft_core::{ErrorKind, Message, ReplyStatus, ToolOutput, ToolReply};
use haft_model::{Delta, Model, ModelError, ModelRequest, ScriptedModel, Session};
use std::fmt::Write as _;
use tokio_util::sync::CancellationToken;

const SESSION: &str = r#"
{"reasoning":"Look first.","text":"I look.","calls":[{"id":"c1","name":"glob","input":{"pattern":"*.rs"}},{"id":"c2","name":"grep","input":{"path":"src/main.rs","pattern":"fn main"}}],"usage":{"input":10,"output":5}}
{"text":"I edit.","calls":[{"id":"c3","name":"edit_file","input":{"path":"src/main.rs"}}],"after":{"c1":"ok","c2":"ok"}}

{"text":"It is done.","after":{"c3":{"error":"not_found"}}}
"#;

pub(crate) fn scripted() -> ScriptedModel {
    ScriptedModel::new(Session::parse(SESSION, "fix.jsonl").unwrap())
}

pub(crate) fn reply(id: &str, name: &str, status: ReplyStatus, text: &str) -> ToolReply {
    ToolReply::new(id.parse().unwrap(), name, status, ToolOutput::text(text))
}

pub(crate) fn ok(id: &str) -> ToolReply {
    reply(id, "some_tool", ReplyStatus::Ok, "fine")
}

pub(crate) fn tool(replies: impl Into<Vec<ToolReply>>) -> Message {
    Message::Tool { replies: replies.into() }
}

/// Plays the first turns of the session as they should be, and gives the transcript for the next one.
pub(crate) fn play(model: &ScriptedModel, turns: usize) -> Vec<Message> {
    let mut transcript = vec![Message::user("Fix it.")];
    for turn in 0..turns {
        transcript.push(wait(ask(model, &transcript)).unwrap().message);
        match turn {
            0 => transcript.push(tool([ok("c1"), ok("c2")])),
            1 => transcript.push(tool([reply(
                "c3",
                "edit_file",
                ReplyStatus::Error(ErrorKind::NotFound),
                "no such text",
            )])),
            _ => {}
        }
    }
    transcript
}

/// Plays some turns, changes the transcript, and asks for the turn after them.
#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
pub(crate) fn check(turns: usize, change: impl FnOnce(&mut Vec<Message>), expected: Expect) {
    let model = scripted();
    let mut transcript = play(&model, turns);
    change(&mut transcript);
    let turn = wait(ask(&model, &transcript));
    if turn.is_err() {
        assert_eq!(model.remaining(), 3 - turns, "a refused request plays no turn");
    }
    expected.assert_eq(&outline(turn));
}

#[test]
fn plays_each_turn_in_its_place() {
    check(
        0,
        |_| {},
        expect![[r#"
            {"type":"reasoning","text":"Look first."}
            {"type":"text","text":"I look."}
            {"type":"tool_call","call":{"id":"c1","name":"glob","input":{"pattern":"*.rs"}}}
            {"type":"tool_call","call":{"id":"c2","name":"grep","input":{"path":"src/main.rs","pattern":"fn main"}}}
            ToolCalls, 10 tokens in, 5 out
        "#]],
    );
    check(
        1,
        |_| {},
        expect![[r#"
            {"type":"text","text":"I edit."}
            {"type":"tool_call","call":{"id":"c3","name":"edit_file","input":{"path":"src/main.rs"}}}
            ToolCalls, 0 tokens in, 0 out
        "#]],
    );
    check(
        2,
        |_| {},
        expect![[r#"
            {"type":"text","text":"It is done."}
            EndTurn, 0 tokens in, 0 out
        "#]],
    );
}

#[test]
fn streams_in_small_pieces_with_the_calls_side_by_side() {
    let model = scripted();
    let request = ModelRequest::new([Message::user("Fix it.")]);
    let text = wait(async {
        let mut stream = model.stream(request, CancellationToken::new()).await.unwrap();
        let mut text = String::new();
        while let Some(delta) = stream.next().await {
            match delta.unwrap() {
                Delta::ToolCallStart { index, id, name } => writeln!(text, "start {index} {id} {name}"),
                Delta::ToolCallArguments { index, fragment } => writeln!(text, "{index} {fragment:?}"),
                Delta::Reasoning { text: piece, .. } => writeln!(text, "reasoning {piece:?}"),
                other => writeln!(text, "{other:?}"),
            }
            .unwrap();
        }
        text
    });
    expect![[r#"
        reasoning "Look "
        reasoning "first."
        Text("I ")
        Text("look.")
        start 0 c1 glob
        start 1 c2 grep
        0 "{\"pattern\":\""
        1 "{\"path\":\"src"
        0 "*.rs\"}"
        1 "/main.rs\",\"p"
        1 "attern\":\"fn "
        1 "main\"}"
        Usage(Usage { input: 10, output: 5, cache_read: 0, cache_write: 0 })
        Stop(ToolCalls)
    "#]]
    .assert_eq(&text);
}

#[test]
fn takes_other_user_messages_between_turns() {
    check(
        2,
        |transcript| transcript.push(Message::user("Be quick.")),
        expect![[r#"
            {"type":"text","text":"It is done."}
            EndTurn, 0 tokens in, 0 out
        "#]],
    );
}

#[test]
fn checks_only_the_statuses_that_are_recorded() {
    let session = r#"{"calls":[{"id":"a","name":"n"},{"id":"b","name":"n"}]}
{"after":{"b":"denied"}}"#;
    let model = ScriptedModel::new(Session::parse(session, "s.jsonl").unwrap());
    let mut transcript = vec![wait(ask(&model, &[])).unwrap().message];
    transcript.push(tool([ok("a"), reply("b", "n", ReplyStatus::Denied, "no")]));
    assert!(wait(ask(&model, &transcript)).is_ok());
}

#[test]
fn plays_a_turn_again_that_was_given_up() {
    let model = scripted();
    let request = ModelRequest::new([Message::user("Fix it.")]);
    wait(async {
        let mut dropped = model.stream(request.clone(), CancellationToken::new()).await.unwrap();
        assert!(dropped.next().await.is_some());
        drop(dropped);

        let cancel = CancellationToken::new();
        let mut cancelled = model.stream(request.clone(), cancel.clone()).await.unwrap();
        assert!(matches!(cancelled.next().await, Some(Ok(_))));
        cancel.cancel();
        assert!(matches!(cancelled.next().await, Some(Err(ModelError::Cancelled))));
        assert!(cancelled.next().await.is_none());
        assert!(matches!(model.stream(request, cancel).await, Err(ModelError::Cancelled)));
    });
    assert_eq!(model.remaining(), 3);
    play(&model, 3);
    assert_eq!(model.remaining(), 0);
}

#[test]
fn ends_before_a_cancellation_that_comes_too_late() {
    let model = scripted();
    let cancel = CancellationToken::new();
    wait(async {
        let mut stream =
            model.stream(ModelRequest::new([Message::user("Fix it.")]), cancel.clone()).await.unwrap();
        while !matches!(stream.next().await, Some(Ok(Delta::Stop(_)))) {}
        cancel.cancel();
        assert!(stream.next().await.is_none());
    });
    assert_eq!(model.remaining(), 2);
}
