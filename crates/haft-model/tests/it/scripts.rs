use crate::{ask, chain, outline, wait};
use expect_test::{Expect, expect};
use haft_core::{AssistantPart, Content, ErrorKind, Message, ReplyStatus, ToolOutput, ToolReply};
use haft_model::{Delta, DivergenceKind, Model, ModelError, ModelRequest, ScriptedModel, Session};
use serde_json::Value;
use std::fmt::Write as _;
use tokio_util::sync::CancellationToken;

const SESSION: &str = r#"
{"reasoning":"Look first.","text":"I look.","calls":[{"id":"c1","name":"glob","input":{"pattern":"*.rs"}},{"id":"c2","name":"grep","input":{"path":"src/main.rs","pattern":"fn main"}}],"usage":{"input":10,"output":5}}
{"text":"I edit.","calls":[{"id":"c3","name":"edit_file","input":{"path":"src/main.rs"}}],"after":{"c1":"ok","c2":"ok"}}

{"text":"It is done.","after":{"c3":{"error":"not_found"}}}
"#;

fn scripted() -> ScriptedModel {
    ScriptedModel::new(Session::parse(SESSION, "fix.jsonl").unwrap())
}

fn reply(id: &str, name: &str, status: ReplyStatus, text: &str) -> ToolReply {
    ToolReply::new(id.parse().unwrap(), name, status, ToolOutput::text(text))
}

fn ok(id: &str) -> ToolReply {
    reply(id, "some_tool", ReplyStatus::Ok, "fine")
}

fn tool(replies: impl Into<Vec<ToolReply>>) -> Message {
    Message::Tool { replies: replies.into() }
}

/// Plays the first turns of the session as they should be, and gives the transcript for the next one.
fn play(model: &ScriptedModel, turns: usize) -> Vec<Message> {
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
fn check(turns: usize, change: impl FnOnce(&mut Vec<Message>), expected: Expect) {
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
fn reports_the_end_of_the_session() {
    check(
        3,
        |_| {},
        expect![[r#"
        fix.jsonl ends here, after turn 3 (line 5), but the run asked for another turn
          next: end the run after that turn, or add a turn to the session
    "#]],
    );
}

#[test]
fn reports_a_reply_that_ended_otherwise() {
    let other = |status, text: &str| {
        let text = text.to_owned();
        move |transcript: &mut Vec<Message>| {
            transcript.pop();
            transcript.push(tool([reply("c3", "edit_file", status, &text)]));
        }
    };
    check(
        2,
        other(ReplyStatus::Ok, "edited src/main.rs\n-\told\n+\tnew"),
        expect![[r#"
        the run diverged from fix.jsonl at turn 3 (line 5)
          expected: call `c3` (edit_file) ends as error: not found
          found:    ok
          its reply:
            | edited src/main.rs
            | - old
            | + new
          next: make the tool end as it did when the session was recorded, or record the session again
    "#]],
    );
    check(
        2,
        other(ReplyStatus::Denied, ""),
        expect![[r#"
        the run diverged from fix.jsonl at turn 3 (line 5)
          expected: call `c3` (edit_file) ends as error: not found
          found:    denied
          its reply: nothing
          next: make the tool end as it did when the session was recorded, or record the session again
    "#]],
    );
    let hostile = format!("\u{1b}[2Jgone\u{202e}\n{}\n{}", "wide ".repeat(50), "line\n".repeat(20));
    check(
        2,
        other(ReplyStatus::Error(ErrorKind::Failed), &hostile),
        expect![[r#"
        the run diverged from fix.jsonl at turn 3 (line 5)
          expected: call `c3` (edit_file) ends as error: not found
          found:    error: failed
          its reply:
            | �[2Jgone�
            | wide wide wide wide wide wide wide wide wide wide wide wide wide wide wide wide wide wide wide wide wide wide wide wide …
            | line
            | line
            | line
            | line
            | line
            | line
            | … (14 more)
          next: make the tool end as it did when the session was recorded, or record the session again
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
fn reports_a_reply_that_lacks_a_text() {
    let text = r#"{"calls":[{"id":"a","name":"bash"}]}
{"text":"All pass.","after":{"a":"ok"},"contains":{"a":"5 passed"}}"#;
    let session = Session::parse(text, "fix.jsonl").unwrap();
    assert_eq!(Session::parse(&session.to_jsonl(), "fix.jsonl").unwrap(), session);
    let answer = |output: &str| {
        let model = ScriptedModel::new(session.clone());
        let mut transcript = vec![Message::user("Fix it.")];
        transcript.push(wait(ask(&model, &transcript)).unwrap().message);
        transcript.push(tool([reply("a", "bash", ReplyStatus::Ok, output)]));
        wait(ask(&model, &transcript))
    };
    assert!(answer("running 5 tests\n5 passed, 0 failed").is_ok());
    expect![[r#"
        the run diverged from fix.jsonl at turn 2 (line 2)
          expected: the reply to call `a` (bash) holds "5 passed"
          it ends with:
            | running 5 tests
            | 4 passed, 1 failed
          next: look for what changed in the project or the tool, or change what the session expects"#]]
    .assert_eq(&answer("running 5 tests\n4 passed, 1 failed").unwrap_err().to_string());
}

#[test]
fn checks_the_statuses_of_earlier_turns_too() {
    check(
        2,
        |transcript| transcript[2] = tool([ok("c1"), reply("c2", "grep", ReplyStatus::TimedOut, "too slow")]),
        expect![[r#"
            the run diverged from fix.jsonl at turn 2 (line 3)
              expected: call `c2` (grep) ends as ok
              found:    timed out
              its reply:
                | too slow
              next: make the tool end as it did when the session was recorded, or record the session again
        "#]],
    );
}

#[test]
fn reports_a_call_without_a_reply() {
    check(
        1,
        |transcript| drop(transcript.pop()),
        expect![[r#"
        the run diverged from fix.jsonl at turn 1 (line 2)
          expected: one reply to call `c1` (glob), directly after it
          found:    no reply to it there
          next: answer every call in the message after it, also one that was not run
    "#]],
    );
    check(
        1,
        |transcript| transcript[2] = tool([ok("c1")]),
        expect![[r#"
        the run diverged from fix.jsonl at turn 1 (line 2)
          expected: one reply to call `c2` (grep), directly after it
          found:    no reply to it there
          next: answer every call in the message after it, also one that was not run
    "#]],
    );
    check(
        1,
        |transcript| transcript[2] = tool([]),
        expect![[r#"
        the run diverged from fix.jsonl at turn 1 (line 2)
          expected: one reply to call `c1` (glob), directly after it
          found:    no reply to it there
          next: answer every call in the message after it, also one that was not run
    "#]],
    );
    check(
        1,
        |transcript| transcript.insert(2, Message::user("Wait.")),
        expect![[r#"
        the run diverged from fix.jsonl at turn 1 (line 2)
          expected: one reply to call `c1` (glob), directly after it
          found:    no reply to it there
          next: answer every call in the message after it, also one that was not run
    "#]],
    );
    check(
        1,
        |transcript| transcript.splice(2.., [tool([ok("c1")]), tool([ok("c2")])]).for_each(drop),
        expect![[r#"
            the run diverged from fix.jsonl at turn 1 (line 2)
              expected: one reply to call `c2` (grep), directly after it
              found:    no reply to it there
              next: answer every call in the message after it, also one that was not run
        "#]],
    );
    check(
        2,
        |transcript| drop(transcript.remove(2)),
        expect![[r#"
        the run diverged from fix.jsonl at turn 1 (line 2)
          expected: one reply to call `c1` (glob), directly after it
          found:    no reply to it there
          next: answer every call in the message after it, also one that was not run
    "#]],
    );
}

#[test]
fn reports_a_second_reply() {
    check(
        1,
        |transcript| transcript[2] = tool([ok("c1"), ok("c2"), ok("c1")]),
        expect![[r#"
        the run diverged from fix.jsonl at turn 1 (line 2)
          expected: one reply to call `c1` (some_tool), directly after it
          found:    more than one reply to it
          next: answer every call once
    "#]],
    );
    check(
        1,
        |transcript| transcript.push(tool([ok("c2")])),
        expect![[r#"
        the run diverged from fix.jsonl at turn 1 (line 2)
          expected: one reply to call `c2` (some_tool), directly after it
          found:    more than one reply to it
          next: answer every call once
    "#]],
    );
}

#[test]
fn reports_a_reply_to_nothing() {
    check(
        1,
        |transcript| transcript[2] = tool([ok("c1"), ok("c2"), ok("c9")]),
        expect![[r#"
            the run diverged from fix.jsonl at turn 1 (line 2)
              expected: replies only to the calls of the turn right before them
              found:    a reply to call `c9` (some_tool), which is not one of them
              next: send replies only in the message after the calls they answer
        "#]],
    );
    check(
        0,
        |transcript| transcript.push(tool([ok("c1")])),
        expect![[r#"
            the run diverged from fix.jsonl before its first turn
              expected: replies only to the calls of the turn right before them
              found:    a reply to call `c1` (some_tool), which is not one of them
              next: send replies only in the message after the calls they answer
        "#]],
    );
    check(
        2,
        |transcript| transcript.push(tool([ok("c1")])),
        expect![[r#"
            the run diverged from fix.jsonl at turn 2 (line 3)
              expected: replies only to the calls of the turn right before them
              found:    a reply to call `c1` (some_tool), which is not one of them
              next: send replies only in the message after the calls they answer
        "#]],
    );
}

#[test]
fn reports_replies_in_another_order() {
    check(
        1,
        |transcript| transcript[2] = tool([ok("c2"), ok("c1")]),
        expect![[r#"
        the run diverged from fix.jsonl at turn 1 (line 2)
          expected: replies in the order `c1`, `c2`
          found:    `c2`, `c1`
          next: put the replies in the order of their calls
    "#]],
    );
}

#[test]
fn reports_a_turn_that_was_changed() {
    check(
        1,
        |transcript| {
            let Message::Assistant { parts } = &mut transcript[1] else { panic!("the turn is there") };
            parts.remove(0);
            parts[0] = AssistantPart::Text { text: "I look\u{7}\naround.".into() };
            let AssistantPart::ToolCall { call } = &mut parts[2] else { panic!("the call is there") };
            call.input["path"] = Value::from("x".repeat(200));
        },
        expect![[r#"
            the run diverged from fix.jsonl at turn 1 (line 2)
              expected the turn as it was played:
                | reasoning "Look first."
                | text "I look."
                | call `c1` glob {"pattern":"*.rs"}
                | call `c2` grep {"path":"src/main.rs","pattern":"fn main"}
              found:
                | text "I look\u{7}\naround."
                | call `c1` glob {"pattern":"*.rs"}
                | call `c2` grep {"path":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
              next: keep what the model said in the transcript as it is
        "#]],
    );
}

#[test]
fn reports_a_turn_that_is_missing() {
    check(
        1,
        |transcript| transcript.truncate(1),
        expect![[r#"
            the run diverged from fix.jsonl at turn 1 (line 2)
              expected: the transcript holds this turn, which was played
              found:    it ends before this turn
              next: send the whole transcript with each request, every earlier turn included
        "#]],
    );
    check(
        2,
        |transcript| transcript.truncate(3),
        expect![[r#"
            the run diverged from fix.jsonl at turn 2 (line 3)
              expected: the transcript holds this turn, which was played
              found:    it ends before this turn
              next: send the whole transcript with each request, every earlier turn included
        "#]],
    );
    check(
        2,
        Vec::clear,
        expect![[r#"
            the run diverged from fix.jsonl at turn 1 (line 2)
              expected: the transcript holds this turn, which was played
              found:    it ends before this turn
              next: send the whole transcript with each request, every earlier turn included
        "#]],
    );
}

#[test]
fn reports_a_turn_that_was_not_played() {
    let parts = vec![AssistantPart::Text { text: "Earlier.".into() }];
    let earlier = Message::Assistant { parts };
    check(
        0,
        |transcript| transcript.push(earlier.clone()),
        expect![[r#"
        the run diverged from fix.jsonl at turn 1 (line 2)
          expected: the transcript ends with the turn before this one
          found an assistant message that was not played:
            | text "Earlier."
          next: start the run without earlier turns of a model
    "#]],
    );
    let model = scripted();
    let mut transcript = play(&model, 3);
    transcript.push(earlier);
    expect![[r#"
        the run diverged from fix.jsonl at turn 4, which it does not have
          expected: the transcript ends with the turn before this one
          found an assistant message that was not played:
            | text "Earlier."
          next: start the run without earlier turns of a model
    "#]]
    .assert_eq(&outline(wait(ask(&model, &transcript))));
}

#[test]
fn reports_the_turns_that_are_left() {
    let model = scripted();
    expect![[r#"
        the run diverged from fix.jsonl at turn 1 (line 2)
          expected: a request for this turn; turns not played: 3
          found:    the run ended
          next: let the run go on, or cut the session after the turn before
    "#]]
    .assert_eq(&chain(&model.finished().unwrap_err()));
    play(&model, 1);
    expect![[r#"
        the run diverged from fix.jsonl at turn 2 (line 3)
          expected: a request for this turn; turns not played: 2
          found:    the run ended
          next: let the run go on, or cut the session after the turn before
    "#]]
    .assert_eq(&chain(&model.finished().unwrap_err()));
    let model = scripted();
    play(&model, 3);
    assert_eq!(model.finished(), Ok(()));
    assert_eq!(model.remaining(), 0);
}

#[test]
fn tells_a_program_what_it_tells_a_person() {
    let model = scripted();
    let mut transcript = play(&model, 2);
    transcript.pop();
    transcript.push(tool([reply("c3", "edit_file", ReplyStatus::Ok, "edited")]));
    let Err(ModelError::Diverged(divergence)) = wait(ask(&model, &transcript)) else {
        panic!("the reply ended otherwise");
    };
    assert_eq!((divergence.turn(), divergence.line()), (3, 5));
    let kind = DivergenceKind::Status {
        call: "c3".parse().unwrap(),
        name: "edit_file".into(),
        expected: ReplyStatus::Error(ErrorKind::NotFound),
        found: ReplyStatus::Ok,
        reply: vec!["edited".into()],
    };
    assert_eq!(divergence.kind(), &kind);
}

#[test]
fn shows_the_kind_of_content_that_is_not_text() {
    check(
        2,
        |transcript| {
            let output = ToolOutput::new(vec![Content::image(vec![0; 10], "image/png")]);
            transcript.pop();
            transcript.push(tool([ToolReply::new(
                "c3".parse().unwrap(),
                "edit_file",
                ReplyStatus::Ok,
                output,
            )]));
        },
        expect![[r#"
            the run diverged from fix.jsonl at turn 3 (line 5)
              expected: call `c3` (edit_file) ends as error: not found
              found:    ok
              its reply:
                | [image image/png, 10 bytes]
              next: make the tool end as it did when the session was recorded, or record the session again
        "#]],
    );
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
