use crate::scripts::{check, ok, play, reply, scripted, tool};
use crate::{ask, chain, outline, wait};
use expect_test::expect;
use haft_core::{AssistantPart, Content, ErrorKind, Message, ReplyStatus, ToolOutput, ToolReply};
use haft_model::{DivergenceKind, ModelError, ScriptedModel, Session};
use serde_json::Value;

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
