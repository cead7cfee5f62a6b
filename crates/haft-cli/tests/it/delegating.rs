//! Sessions whose runs are delegated to agents.

use crate::waiting::{json, say};
use haft_testkit::Tree;

const WRITER: &str = "\
---
name: writer
description: Writes what it is told to.
tools: write_file
---
You write files.
";

const SESSION: &str = r#"
{"calls":[{"id":"c1","name":"delegate","input":{"tasks":[{"agent":"writer","task":"Write a."},{"agent":"writer","task":"Write b."}]}}]}
{"run":"c1/0","calls":[{"id":"w1","name":"write_file","input":{"path":"a.txt","content":"a\n"}}]}
{"run":"c1/0","text":"Written: a.","after":{"w1":"ok"}}
{"run":"c1/1","calls":[{"id":"w1","name":"write_file","input":{"path":"b.txt","content":"b\n"}}]}
{"run":"c1/1","text":"I may not write b.","after":{"w1":"denied"}}
{"text":"One is written, and one may not be.","after":{"c1":"ok"},"contains":{"c1":"I may not write b."}}
"#;

const POLICY: &str = "[permissions]\nallow = [\"call(agent:writer)\"]\n";

fn tree() -> Tree {
    let tree = Tree::new().file("session/session.jsonl", SESSION).file("session/agents/writer.md", WRITER);
    tree.file("work/keep", "").file("policy.toml", POLICY)
}

/// Gives the ids of the calls that wait, with the paths that they write.
fn waiting(tree: &Tree) -> Vec<(String, String)> {
    let list = json(tree, &["approvals", "list", "--json"]);
    let calls = list.as_array().unwrap().iter().map(|entry| &entry["call"]);
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let mut waiting: Vec<_> =
        calls.map(|call| (text(&call["id"]), text(&call["call"]["input"]["path"]))).collect();
    waiting.sort_by(|one, other| one.1.cmp(&other.1));
    waiting
}

#[test]
fn what_agents_wait_for_is_answered_in_other_processes() {
    let tree = tree();
    let began = say(&tree, 3, &["run", "session", "--workdir", "work", "--policy", "policy.toml"]);
    assert!(began.contains("`write_file` of writer wants to"), "{began}");
    let calls = waiting(&tree);
    let paths: Vec<&str> = calls.iter().map(|(_, path)| path.as_str()).collect();
    assert_eq!(paths, ["a.txt", "b.txt"]);

    say(&tree, 0, &["approvals", "approve", &calls[0].0]);
    let runs = json(&tree, &["resume", "--json"]);
    let run = runs[0]["run"].as_str().unwrap();
    // The other one still waits, and nothing is written twice.
    say(&tree, 3, &["resume", run]);
    assert_eq!(tree.read("work/a.txt"), "a\n");
    assert_eq!(waiting(&tree), [calls[1].clone()]);

    say(&tree, 0, &["approvals", "deny", &calls[1].0, "--reason", "not that"]);
    let ended = say(&tree, 0, &["resume", run]);
    assert!(ended.contains("One is written, and one may not be."), "{ended}");
    assert!(!tree.path().join("work/b.txt").exists());
    assert_eq!(waiting(&tree), []);
}

#[test]
fn agents_that_cannot_be_read_stop_a_run_before_it_begins() {
    let tree = Tree::new()
        .file("session/session.jsonl", "{\"text\":\"Hello.\"}")
        .file("session/agents/odd.md", "no front matter")
        .file("work/keep", "");
    let said = say(&tree, 2, &["run", "session", "--workdir", "work"]);
    assert!(said.contains("odd.md` has no front matter"), "{said}");
}
