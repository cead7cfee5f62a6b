use crate::{check, haft, shown};
use expect_test::expect;
use haft_testkit::Tree;
use std::path::Path;

const READS: &str = r#"{"text":"I look.","calls":[{"id":"c1","name":"read_file","input":{"path":"notes.md"}}]}
{"text":"It says one.","after":{"c1":"ok"},"contains":{"c1":"one"}}
"#;

/// Replaces what differs from run to run: the number of each duration.
pub(crate) fn without_durations(shown: &str) -> String {
    let mut words: Vec<&str> = shown.split(' ').collect();
    for place in 1..words.len() {
        let unit = words[place].split(['\n', ')', ',']).next().unwrap_or_default();
        if ["s", "ms", "µs"].contains(&unit) {
            words[place - 1] = if words[place - 1].starts_with('(') { "(N" } else { "N" };
        }
    }
    words.join(" ").replace("µs", "ms").replace("N s", "N ms")
}

fn session() -> Tree {
    session_of(READS)
}

fn session_of(turns: &str) -> Tree {
    Tree::new()
        .file("look/session.jsonl", turns)
        .file("look/prompt.md", "What do the notes say?\n")
        .file("look/project/notes.md", "one\ntwo\n")
}

#[test]
fn plays_a_session_on_a_scratch_copy() {
    let tree = session();
    let output = haft(tree.path(), &["run", "look"]).output().unwrap();
    expect![[r#"
        look on a scratch copy of its project; its calls are approved

        > What do the notes say?

        turn 1
        I look.
          ✓ read_file notes.md  (allowed, N ms)
              notes.md: 2 lines, 8 bytes
              1    one
              2    two

        turn 2
        It says one.

        done after 2 turns and 1 call, N ms
        exit 0
    "#]]
    .assert_eq(&without_durations(&shown(&output)));
}

#[test]
fn leaves_the_project_as_it_was() {
    let writes = r#"{"calls":[{"id":"c1","name":"write_file","input":{"path":"notes.md","content":"gone"}}]}
{"text":"Done.","after":{"c1":"ok"}}
"#;
    let tree = session().file("look/session.jsonl", writes);
    let output = haft(tree.path(), &["run", "look"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    assert_eq!(tree.read("look/project/notes.md"), "one\ntwo\n");
}

#[test]
fn asks_before_it_writes_in_a_directory_of_yours() {
    let writes = r#"{"calls":[{"id":"c1","name":"write_file","input":{"path":"notes.md","content":"gone"}}]}
{"text":"Done."}
"#;
    let tree = session().file("look/session.jsonl", writes);
    let output = haft(tree.path(), &["run", "look", "--workdir", "look/project"]).output().unwrap();
    expect![[r#"
        look in look/project

        > What do the notes say?

        turn 1
          ? write_file notes.md content=gone  (not answered)

        waiting for an approval after 1 turn and 0 calls, N ms
        stderr: waiting for an approval: `write_file` wants to
        stderr:   write file:notes.md
        stderr:   haft approvals show ID
        stderr:   haft approvals approve ID
        stderr: Answer it, then go on with `haft resume RUN`.
        exit 3
    "#]]
    .assert_eq(&without_durations(&shown(&output)));
    assert_eq!(tree.read("look/project/notes.md"), "one\ntwo\n");
}

#[test]
fn reports_where_a_session_diverges() {
    let tree = session().file("look/project/notes.md", "three\n");
    let output = haft(tree.path(), &["run", "look"]).output().unwrap();
    expect![[r#"
        look on a scratch copy of its project; its calls are approved

        > What do the notes say?

        turn 1
        I look.
          ✓ read_file notes.md  (allowed, N ms)
              notes.md: 1 line, 6 bytes
              1    three

        turn 2

        failed after 1 turn and 1 call, N ms
        stderr: the run diverged from look/session.jsonl at turn 2 (line 2)
        stderr:   expected: the reply to call `c1` (read_file) holds "one"
        stderr:   it ends with:
        stderr:     | notes.md: 1 line, 6 bytes
        stderr:     | 1 three
        stderr:   next: look for what changed in the project or the tool, or change what the session expects
        exit 1
    "#]]
    .assert_eq(&without_durations(&shown(&output)));
}

#[test]
fn names_the_line_of_a_session_that_is_broken() {
    let tree =
        session().file("broken.jsonl", "{\"text\":\"fine\",\"stop\":\"max_tokens\"}\n{\"txt\":\"not\"}\n");
    check(
        tree.path(),
        &["run", "broken.jsonl"],
        expect![[r#"
        stderr: error: cannot read the session `broken.jsonl`; name a JSONL file of recorded turns
        stderr:   because: broken.jsonl line 2, column 6: unknown field `txt`, expected one of `run`, `text`, `reasoning`, `calls`, `usage`, `stop`, `after`, `contains`; each line is one model turn as a JSON object
        exit 2
    "#]],
    );
    check(
        tree.path(),
        &["run", "missing"],
        expect![[r#"
        stderr: error: the session `missing` does not exist; name a JSONL file of recorded turns or a directory that holds one as `session.jsonl`
        exit 2
    "#]],
    );
    check(
        tree.path(),
        &["run", "look/project"],
        expect![[r#"
        stderr: error: the session `look/project` has no file `session.jsonl`; name a JSONL file of recorded turns or a directory that holds one as `session.jsonl`
        exit 2
    "#]],
    );
    check(
        tree.path(),
        &["run", "look", "--workdir", "nowhere"],
        expect![[r#"
        stderr: error: cannot work in `nowhere`; name an existing directory with `--workdir`
        stderr:   because: working directory `nowhere` does not exist; create it or name another
        exit 2
    "#]],
    );
}

#[test]
fn prints_events_as_json_lines() {
    let tree = session();
    let output = haft(tree.path(), &["run", "look", "--json"]).output().unwrap();
    let events: Vec<serde_json::Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(names.first(), Some(&"turn_started"));
    assert_eq!(names.iter().filter(|name| **name == "finished").count(), 1);
    let summary = events.last().unwrap();
    assert_eq!((&summary["event"], &summary["done"]), (&"summary".into(), &true.into()));
}

#[test]
fn the_sample_session_ends_with_its_tests_passing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let elsewhere = Tree::new();
    let mut command = haft(&root, &["run", "examples/sessions/fix-failing-test"]);
    let output = command.env("HAFT_STATE", elsewhere.path().join("haft.db")).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("test result: ok"), "{}", shown(&output));
}

#[test]
fn shows_what_a_session_holds_without_obeying_it() {
    let session = r#"{"text":"\u001b[2Jgone","calls":[{"id":"c1","name":"read_file","input":{"path":"notes.md"}}]}
{"text":"Done.","after":{"c1":{"error":"failed\u001b[31m"}}}
"#;
    let tree = session_of(session).file("look/prompt.md", "What\u{1b}[31m?\n");
    for arguments in [["run", "look", "--yes"], ["run", "look/session.jsonl", "--yes"]] {
        let output = haft(tree.path(), &arguments).output().unwrap();
        assert!(!shown(&output).contains('\u{1b}'), "{}", shown(&output));
    }
    let tree = Tree::new().file("notes.md", "one \u{1b}[31m\n");
    let edit = r#"{"path":"notes.md","edits":[{"old":"one  [31m","new":"two"}]}"#;
    let output = haft(tree.path(), &["call", "edit_file", edit, "--yes"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(!shown(&output).contains('\u{1b}'), "{}", shown(&output));
}
