use crate::{chain, strategies};
use expect_test::{Expect, expect};
use haft_model::Session;
use proptest::prelude::*;
use std::fs;

/// Reads a session and prints it as it would be written, or everything its error says.
#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&read(text));
}

fn read(text: &str) -> String {
    match Session::parse(text, "s.jsonl") {
        Ok(session) => session.to_jsonl(),
        Err(error) => chain(&error),
    }
}

#[test]
fn reads_turns_and_fills_in_what_is_missing() {
    check(
        "\u{feff}{\"calls\":[{\"id\":\"c1\",\"name\":\"glob\"}],\"stop\":\"tool_calls\"}\r\n\r\n   \n  {\"text\":\"Done.\",\"stop\":\"end_turn\",\"usage\":{\"output\":3},\"after\":{\"c1\":{\"error\":\"not_found\"}}}",
        expect![[r#"
            {"calls":[{"id":"c1","name":"glob","input":{}}]}
            {"text":"Done.","usage":{"input":0,"output":3},"after":{"c1":{"error":"not_found"}}}
        "#]],
    );
}

#[test]
fn reads_every_member() {
    let line = r#"{"text":"t","reasoning":"r","calls":[{"id":"c1","name":"n","input":null}],"usage":{"input":1,"output":2,"cache_read":3,"cache_write":4},"stop":"max_tokens"}"#;
    assert_eq!(read(line), format!("{line}\n"));
}

#[test]
fn keeps_the_runs_below_apart() {
    let text = r#"{"calls":[{"id":"c1","name":"delegate","input":{}}]}
{"run":"c1/1","calls":[{"id":"c1","name":"glob","input":{}}]}
{"run":"c1/0","text":"first"}
{"run":"c1/1","text":"second","after":{"c1":"ok"}}
{"text":"both","after":{"c1":"ok"}}
"#;
    let session = Session::parse(text, "s.jsonl").unwrap();
    assert_eq!(session.turns().len(), 2);
    assert_eq!(session.line_of(2), Some(5));
    assert_eq!(session.runs_below().collect::<Vec<_>>(), ["c1/0", "c1/1"]);
    let second = session.of_run("c1/1").unwrap();
    assert_eq!((second.turns().len(), second.line_of(2)), (2, Some(4)));
    assert_eq!(session.of_run("c2/0"), None);
    assert_eq!(session.to_jsonl(), text);
}

#[test]
fn checks_each_run_for_itself() {
    check(
        r#"{"calls":[{"id":"c1","name":"delegate","input":{}}]}
{"run":"c1/0","text":"first","after":{"c1":"ok"}}"#,
        expect![[r#"
            s.jsonl line 2: `after` names the call `c1`, which the turn before did not make; name only the calls of that turn
        "#]],
    );
    check(
        r#"{"run":"c1/0","text":"first"}"#,
        expect![[r#"
            s.jsonl has no turns; write each model turn as a JSON object on a line of its own
        "#]],
    );
}

#[test]
fn reads_a_turn_that_says_nothing() {
    check(
        "{}",
        expect![[r#"
            {}
        "#]],
    );
}

#[test]
fn refuses_unknown_members_by_name() {
    check(
        "{\"text\":\"a\"}\n\n{\"text\":\"b\",\"cals\":[]}",
        expect![[r#"
            s.jsonl line 3, column 18: unknown field `cals`, expected one of `run`, `text`, `reasoning`, `calls`, `usage`, `stop`, `after`, `contains`; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"calls":[{"id":"c1","name":"glob","arguments":{}}]}"#,
        expect![[r#"
            s.jsonl line 1, column 46: unknown field `arguments`, expected one of `id`, `name`, `input`; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"usage":{"input_tokens":1}}"#,
        expect![[r#"
            s.jsonl line 1, column 24: unknown field `input_tokens`, expected one of `input`, `output`, `cache_read`, `cache_write`; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"stop":"tool_use"}"#,
        expect![[r#"
            s.jsonl line 1, column 18: unknown variant `tool_use`, expected one of `end_turn`, `tool_calls`, `max_tokens`, `refused`; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"calls":[{"id":"c1","name":"n"}]}
{"after":{"c1":"failed"}}"#,
        expect![[r#"
            s.jsonl line 2, column 23: unknown variant `failed`, expected one of `ok`, `error`, `denied`, `cancelled`, `timed_out`, `skipped`; each line is one model turn as a JSON object
        "#]],
    );
}

#[test]
fn refuses_members_of_another_type() {
    check(
        r#"{"text":["a"]}"#,
        expect![[r#"
            s.jsonl line 1, column 8: invalid type: sequence, expected a string; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"text":null}"#,
        expect![[r#"
            s.jsonl line 1, column 12: invalid type: null, expected a string; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"calls":{}}"#,
        expect![[r#"
            s.jsonl line 1, column 9: invalid type: map, expected a sequence; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"calls":["glob"]}"#,
        expect![[r#"
            s.jsonl line 1, column 16: invalid type: string "glob", expected an object; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"calls":[["c1","glob"]]}"#,
        expect![[r#"
            s.jsonl line 1, column 10: invalid type: sequence, expected an object; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"calls":[{"id":"c1"}]}"#,
        expect![[r#"
            s.jsonl line 1, column 21: missing field `name`; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"calls":[{"id":"","name":"glob"}]}"#,
        expect![[r#"
            s.jsonl line 1, column 18: an identifier cannot be empty; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"usage":{"input":-1}}"#,
        expect![[r#"
            s.jsonl line 1, column 20: invalid value: integer `-1`, expected u64; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"after":["c1"]}"#,
        expect![[r#"
            s.jsonl line 1, column 9: invalid type: sequence, expected an object with one entry for each call id; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"after":{"c1":"ok","c1":"denied"}}"#,
        expect![[r#"
            s.jsonl line 1, column 34: two entries for the call `c1`; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"text":"a","text":"b"}"#,
        expect![[r#"
            s.jsonl line 1, column 18: duplicate field `text`; each line is one model turn as a JSON object
        "#]],
    );
}

#[test]
fn refuses_lines_that_are_not_json_objects() {
    check(
        "[\"text\"]",
        expect![[r#"
            s.jsonl line 1, column 1: invalid type: sequence, expected an object; each line is one model turn as a JSON object
        "#]],
    );
    check(
        "\"text\"",
        expect![[r#"
            s.jsonl line 1, column 6: invalid type: string "text", expected an object; each line is one model turn as a JSON object
        "#]],
    );
    check(
        "{\n  \"text\": \"a\"\n}",
        expect![[r#"
            s.jsonl line 1, column 1: EOF while parsing an object; each line is one model turn as a JSON object
        "#]],
    );
    check(
        "{\"text\":\"naïve”}",
        expect![[r#"
            s.jsonl line 1, column 16: EOF while parsing a string; each line is one model turn as a JSON object
        "#]],
    );
    check(
        "{\"text\":\"ö\"} {\"text\":\"b\"}",
        expect![[r#"
            s.jsonl line 1, column 14: trailing characters; each line is one model turn as a JSON object
        "#]],
    );
    check(
        "# a comment",
        expect![[r#"
            s.jsonl line 1, column 1: expected value; each line is one model turn as a JSON object
        "#]],
    );
    check(
        &"[".repeat(100_000),
        expect![[r#"
            s.jsonl line 1, column 1: invalid type: sequence, expected an object; each line is one model turn as a JSON object
        "#]],
    );
    check(
        &format!(
            "{{\"calls\":[{{\"id\":\"a\",\"name\":\"n\",\"input\":{}1{}}}]}}",
            "[".repeat(101),
            "]".repeat(101)
        ),
        expect![[r#"
            s.jsonl line 1: the input of the call `a` is nested deeper than 100 levels; make it flatter
        "#]],
    );
}

#[test]
fn refuses_turns_that_do_not_fit() {
    check(
        r#"{"calls":[{"id":"c1","name":"n"},{"id":"c1","name":"n"}]}"#,
        expect![[r#"
            s.jsonl line 1: the call id `c1` is already used in turn 1; give each call of a session its own id
        "#]],
    );
    check(
        "{\"calls\":[{\"id\":\"c1\",\"name\":\"n\"}]}\n{\"text\":\"a\"}\n\n{\"calls\":[{\"id\":\"c1\",\"name\":\"n\"}]}",
        expect![[r#"
            s.jsonl line 4: the call id `c1` is already used in turn 1; give each call of a session its own id
        "#]],
    );
    check(
        r#"{"calls":[{"id":"c1","name":"n"}],"stop":"end_turn"}"#,
        expect![[r#"
            s.jsonl line 1: `stop` is "end_turn", but the turn has calls; leave `stop` out, or leave out `calls`
        "#]],
    );
    check(
        r#"{"text":"a","stop":"tool_calls"}"#,
        expect![[r#"
            s.jsonl line 1: `stop` is "tool_calls", but the turn has no calls; add some, or leave `stop` out
        "#]],
    );
    check(
        r#"{"after":{"c1":"ok"}}"#,
        expect![[r#"
            s.jsonl line 1: `after` names the call `c1`, which the turn before did not make; name only the calls of that turn
        "#]],
    );
    check(
        "{\"calls\":[{\"id\":\"c1\",\"name\":\"n\"}]}\n{\"text\":\"a\"}\n{\"after\":{\"c1\":\"ok\"}}",
        expect![[r#"
            s.jsonl line 3: `after` names the call `c1`, which the turn before did not make; name only the calls of that turn
        "#]],
    );
}

#[test]
fn refuses_an_expected_text_of_no_reply() {
    check(
        "{\"calls\":[{\"id\":\"c1\",\"name\":\"n\"}]}\n{\"contains\":{\"c2\":\"passed\"}}",
        expect![[r#"
            s.jsonl line 2: `contains` names the call `c2`, which the turn before did not make; name only the calls of that turn
        "#]],
    );
    check(
        r#"{"contains":{"c1":"a","c1":"b"}}"#,
        expect![[r#"
            s.jsonl line 1, column 31: two entries for the call `c1`; each line is one model turn as a JSON object
        "#]],
    );
    check(
        r#"{"contains":{"c1":["a"]}}"#,
        expect![[r#"
            s.jsonl line 1, column 18: invalid type: sequence, expected a string; each line is one model turn as a JSON object
        "#]],
    );
}

#[test]
fn refuses_an_empty_session() {
    for text in ["", "\u{feff}", "\n \r\n\t\n"] {
        let expected = "s.jsonl has no turns; write each model turn as a JSON object on a line of its own\n";
        assert_eq!(read(text), expected);
    }
}

#[test]
fn knows_the_line_of_each_turn() {
    let session = Session::parse("\n{}\n\n\n{}\n", "s").unwrap();
    let lines: Vec<_> = (0..4).map(|turn| session.line_of(turn)).collect();
    assert_eq!(lines, [None, Some(2), Some(5), None]);
}

/// Reads a session from a file of these bytes.
fn read_file(bytes: &[u8]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s.jsonl");
    fs::write(&path, bytes).unwrap();
    let result = Session::read(&path).map_err(|error| chain(&error));
    let text = result.map_or_else(|error| error, |session| session.to_jsonl());
    text.replace(directory.path().to_str().unwrap(), "DIRECTORY")
}

#[test]
fn reads_a_file() {
    assert_eq!(read_file(b"{\"text\":\"Hi.\"}"), "{\"text\":\"Hi.\"}\n");
}

#[test]
fn names_the_file_that_is_not_a_session() {
    expect![[r#"
        DIRECTORY/s.jsonl line 2, column 2: key must be a string; each line is one model turn as a JSON object
    "#]]
    .assert_eq(&read_file(b"{}\n{]"));
    expect![[r#"
        DIRECTORY/s.jsonl line 3: the text is not UTF-8; each line is one model turn as a JSON object
    "#]]
    .assert_eq(&read_file(b"{}\n\n{\"text\":\"\xff\"}\n"));
    expect![[r#"
        DIRECTORY/s.jsonl has no turns; write each model turn as a JSON object on a line of its own
    "#]]
    .assert_eq(&read_file(b""));
}

#[test]
fn names_the_file_that_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let missing = Session::read(directory.path().join("s.jsonl")).unwrap_err();
    let text = chain(&missing).replace(directory.path().to_str().unwrap(), "DIRECTORY");
    expect![[r#"
        cannot read the session `DIRECTORY/s.jsonl`
        because: No such file or directory (os error 2)
    "#]]
    .assert_eq(&text);
    assert!(chain(&Session::read(directory.path()).unwrap_err()).contains("\nbecause: "));
}

#[test]
fn refuses_a_file_without_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s.jsonl");
    // A hole: it has a length, but takes no room.
    fs::File::create(&path).unwrap().set_len(64 * 1024 * 1024 + 1).unwrap();
    let text =
        chain(&Session::read(&path).unwrap_err()).replace(directory.path().to_str().unwrap(), "DIRECTORY");
    expect![[r#"
        the session `DIRECTORY/s.jsonl` is larger than 64 MiB; split it
    "#]]
    .assert_eq(&text);
}

proptest! {
    /// What is written reads as the same turns.
    #[test]
    fn reads_what_it_writes(session in strategies::session(), expected in strategies::text()) {
        let turns = session.turns().iter().map(|turn| {
            let answered: Vec<_> = turn.after.keys().map(|call| (call.clone(), expected.clone())).collect();
            turn.clone().contains(answered)
        });
        let session = Session::new(turns.collect(), "generated").unwrap();
        let text = session.to_jsonl();
        let read = Session::parse(&text, "s.jsonl").unwrap();
        prop_assert_eq!(read.turns(), session.turns());
        prop_assert_eq!(text.lines().count(), session.turns().len());
    }

    /// Whatever the text, reading it ends with a session or an error that names the session.
    #[test]
    fn takes_any_text(text in "(\\PC{0,20}\n?){0,4}") {
        if let Err(error) = Session::parse(&text, "s.jsonl") {
            prop_assert!(error.to_string().starts_with("s.jsonl "));
        }
    }

    /// A session that is cut or has another character somewhere is read or refused, and a cut one is never a longer one.
    #[test]
    fn takes_any_damage(session in strategies::session(), at in any::<prop::sample::Index>(), put in any::<Option<char>>()) {
        let mut characters: Vec<char> = session.to_jsonl().chars().collect();
        let at = at.index(characters.len());
        match put {
            Some(put) => characters[at] = put,
            None => characters.truncate(at),
        }
        let text: String = characters.into_iter().collect();
        if let Ok(read) = Session::parse(&text, "s.jsonl") {
            prop_assert!(put.is_some() || read.turns().len() <= session.turns().len());
        }
    }
}
