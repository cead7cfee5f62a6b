//! Runs whose process is killed while it is at work.

use crate::waiting::{json, say, waiting};
use crate::{haft, shown};
use haft_testkit::Tree;
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Is killed in its third turn, after a call that nobody is asked about.
const WORKS: &str = r#"{"text":"I write.","calls":[{"id":"c1","name":"write_file","input":{"path":"a.txt","content":"a\n"}}]}
{"text":"I log.","calls":[{"id":"c2","name":"bash","input":{"command":"echo ran >> log.txt"}}]}
{"text":"I wait.","calls":[{"id":"c3","name":"bash","input":{"command":"echo waits >> log.txt; sleep 60"}}]}
{"text":"It is done.","after":{"c3":{"error":"failed"}}}
"#;

fn tree() -> Tree {
    Tree::new().file("play/session.jsonl", WORKS).file("work/notes.md", "one\n").file(
        "rules.toml",
        "[permissions]\nallow = [\"exec(echo *)\", \"exec(sleep *)\", \"write(log.txt)\"]\n",
    )
}

/// Runs a command until the third turn is at work, and kills it.
fn kill_at_work(tree: &Tree, arguments: &[&str]) {
    kill_at_work_for(tree, arguments, 1);
}

/// Does so once as many calls have begun to wait.
fn kill_at_work_for(tree: &Tree, arguments: &[&str], waits: usize) {
    let mut child = haft(tree.path(), arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    let is_at_work = || {
        std::fs::read_to_string(tree.path().join("work/log.txt"))
            .is_ok_and(|log| log.matches("waits").count() >= waits)
    };
    while !is_at_work() {
        assert!(Instant::now() < deadline, "the third turn did not come");
        assert!(child.try_wait().unwrap().is_none(), "it ended before the third turn");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(
        json(tree, &["resume", "--json"]),
        json!([]),
        "a run that is at work can be gone on with by nobody"
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Goes on with the one run that was interrupted, to its end.
fn go_on(tree: &Tree) {
    let runs = json(tree, &["resume", "--json"]);
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
    assert_eq!(runs[0]["status"], "running");
    assert!(say(tree, 0, &["resume"]).contains("interrupted"));
    let output = haft(tree.path(), &["resume", runs[0]["run"].as_str().unwrap(), "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the call `c3` was due"), "{said}");
    let summary: Value = serde_json::from_slice(
        output.stdout.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty()).unwrap(),
    )
    .unwrap();
    assert_eq!(summary["turns"], 4, "{summary}");
    assert_eq!(tree.read("work/log.txt"), "ran\nwaits\n");
    assert_eq!(json(tree, &["resume", "--json"]), json!([]));
}

#[test]
fn what_was_done_before_a_run_was_interrupted_is_not_done_again() {
    let tree = tree();
    kill_at_work(&tree, &["run", "play", "--workdir", "work", "--yes"]);
    go_on(&tree);
}

#[test]
fn a_run_that_is_interrupted_again_and_again_does_nothing_twice() {
    let waits = |turn: &str| {
        let script = format!("echo waits >> log.txt; sleep 60 # {turn}");
        format!(r#"{{"calls":[{{"id":"{turn}","name":"bash","input":{{"command":"{script}"}}}}]}}"#)
    };
    let turns = ["w1", "w2", "w3"].map(waits).join("\n");
    let first = r#"{"calls":[{"id":"c1","name":"bash","input":{"command":"echo ran >> log.txt"}}]}"#;
    let session = format!("{first}\n{turns}\n{{\"text\":\"It is done.\"}}\n");
    let tree = tree().file("play/session.jsonl", &session);
    kill_at_work(&tree, &["run", "play", "--workdir", "work", "--yes"]);
    for kills in 2..=3 {
        let runs = json(&tree, &["resume", "--json"]);
        kill_at_work_for(&tree, &["resume", runs[0]["run"].as_str().unwrap()], kills);
    }
    let runs = json(&tree, &["resume", "--json"]);
    say(&tree, 0, &["resume", runs[0]["run"].as_str().unwrap()]);
    assert_eq!(tree.read("work/log.txt"), "ran\nwaits\nwaits\nwaits\n");
    assert_eq!(json(&tree, &["resume", "--json"]), json!([]));
}

#[test]
fn what_was_done_after_an_approval_is_not_done_again_either() {
    let tree = tree();
    say(&tree, 3, &["run", "play", "--workdir", "work", "--policy", "rules.toml"]);
    let (id, run) = waiting(&tree);
    say(&tree, 0, &["approvals", "approve", &id]);
    kill_at_work(&tree, &["resume", &run]);
    go_on(&tree);
    assert_eq!(tree.read("work/a.txt"), "a\n");
}

#[test]
fn calls_that_wait_are_found_with_their_run_when_its_process_is_killed_at_once() {
    let session = concat!(
        r#"{"calls":[{"id":"c1","name":"write_file","input":{"path":"a.txt","content":"a\n"}},"#,
        r#"{"id":"c2","name":"bash","input":{"command":"echo waits >> log.txt; sleep 60"}}]}"#,
        "\n",
        r#"{"text":"Done."}"#,
    );
    let tree = tree().file("play/session.jsonl", session);
    kill_at_work(&tree, &["run", "play", "--workdir", "work", "--policy", "rules.toml"]);
    let (id, run) = waiting(&tree);
    say(&tree, 3, &["resume", &run]);
    say(&tree, 0, &["approvals", "approve", &id]);
    say(&tree, 0, &["resume", &run]);
    assert_eq!(tree.read("work/a.txt"), "a\n");
    assert_eq!(tree.read("work/log.txt"), "waits\n");
}

const LOGGER: &str = "\
---
name: logger
description: Logs what it is told to.
tools: bash
---
You log.
";

/// Delegates to an agent whose one call logs that it waits, and then waits.
const DELEGATES: &str = r#"
{"calls":[{"id":"c1","name":"delegate","input":{"tasks":[{"agent":"logger","task":"Log."}]}}]}
{"run":"c1/0","calls":[{"id":"l1","name":"bash","input":{"command":"echo waits >> log.txt; sleep 60"}}]}
{"run":"c1/0","text":"It was interrupted.","after":{"l1":{"error":"failed"}}}
{"text":"It was logged.","after":{"c1":"ok"},"contains":{"c1":"It was interrupted."}}
"#;

/// Kills the run in the middle of what was approved, where the rules allow this, and goes on with it to its end.
fn kill_below(allowed: &str, answer: impl Fn(&Tree, &str)) {
    let rules = format!("[permissions]\nallow = [{allowed}]\n");
    let tree = tree()
        .file("play/session.jsonl", DELEGATES)
        .file("play/agents/logger.md", LOGGER)
        .file("rules.toml", &rules);
    say(&tree, 3, &["run", "play", "--workdir", "work", "--policy", "rules.toml"]);
    let (id, _) = waiting(&tree);
    answer(&tree, &id);
    let run = json(&tree, &["resume", "--json"])[0]["run"].as_str().unwrap().to_owned();
    kill_at_work(&tree, &["resume", &run]);
    assert!(say(&tree, 0, &["resume"]).contains("interrupted"));
    let said = say(&tree, 0, &["resume", &run]);
    assert!(said.contains("It was logged."), "{said}");
    assert_eq!(tree.read("work/log.txt"), "waits\n");
    assert_eq!(json(&tree, &["resume", "--json"]), json!([]));
    assert_eq!(json(&tree, &["approvals", "list", "--json"]), json!([]));
}

fn approve(tree: &Tree, id: &str) {
    say(tree, 0, &["approvals", "approve", id]);
}

const LOGS: &str = r#""exec(echo *)", "exec(sleep *)", "write(log.txt)""#;

#[test]
fn what_an_agent_began_after_the_delegation_was_approved_is_not_begun_again() {
    kill_below(LOGS, approve);
}

#[test]
fn what_an_agent_began_after_the_delegation_was_edited_is_not_begun_again() {
    kill_below(LOGS, |tree, id| {
        let input = r#"{"tasks":[{"agent":"logger","task":"Log it, please."}]}"#;
        say(tree, 0, &["approvals", "edit", id, "--input", input]);
    });
}

#[test]
fn what_an_agent_did_after_it_was_approved_itself_is_not_done_again() {
    kill_below(r#""call(agent:logger)""#, approve);
}
