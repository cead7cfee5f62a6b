//! Sessions whose runs are delegated to agents.

use crate::agent::{agent, ended};
use crate::haft;
use crate::service::{Service, Turn, Wire};
use crate::waiting::{json, say};
use expect_test::expect;
use haft_testkit::Tree;
use serde_json::json as value;
use std::fs;
use std::path::Path;
use std::process::Command;

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
fn an_agent_without_a_part_in_the_session_plays_nobody_elses() {
    let lead = r#"
{"calls":[{"id":"c1","name":"delegate","input":{"tasks":[{"agent":"writer","task":"Write a."}]}}]}
{"text":"It did not come to it.","after":{"c1":{"error":"failed"}},"contains":{"c1":"it could not go on"}}
"#;
    let tree = tree().file("session/session.jsonl", lead);
    let shown = say(&tree, 0, &["run", "session", "--workdir", "work", "--policy", "policy.toml"]);
    assert!(shown.contains("the session has no turn of the run `c1/0`; record it anew"), "{shown}");
}

#[test]
fn each_line_of_how_an_agent_failed_says_whose_it_is() {
    let session = r#"
{"calls":[{"id":"c1","name":"delegate","input":{"tasks":[{"agent":"writer","task":"Write a."}]}}]}
{"run":"c1/0","calls":[{"id":"w1","name":"write_file","input":{"path":"a.txt","content":"a\n"}}]}
{"run":"c1/0","text":"It could not be written.","after":{"w1":"denied"}}
{"text":"It did not come to it.","after":{"c1":{"error":"failed"}}}
"#;
    let policy = "[permissions]\nallow = [\"call(agent:writer)\", \"write(**)\"]\n";
    let tree = tree().file("session/session.jsonl", session).file("policy.toml", policy);
    let shown = say(&tree, 0, &["run", "session", "--workdir", "work", "--policy", "policy.toml"]);
    let of_writer: Vec<&str> = shown.lines().filter(|line| line.starts_with("  writer 1 ")).collect();
    assert!(
        of_writer.iter().any(|line| line.ends_with("  expected: call `w1` (write_file) ends as denied")),
        "{shown}"
    );
    assert!(of_writer.iter().any(|line| line.ends_with("  found:    ok")), "{shown}");
    assert!(!shown.contains("\\n  expected"), "{shown}");
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

#[test]
fn agents_are_looked_for_where_they_are_said_to_be() {
    let (service, tree) = (Service::of(Wire::Chat, &[]), Tree::new().file("file", ""));
    for (name, what) in [("nowhere", "`nowhere` does not exist"), ("file", "`file` is not a directory")] {
        let output = agent(&tree, &service, Wire::Chat, &["Go.", "--agents", name]).output().unwrap();
        let shown = ended(&output, 2).replace(&format!("{}/", tree.path().display()), "");
        assert!(shown.contains(what) && shown.contains("tools: read_file, grep, glob\n"), "{shown}");
    }
}

#[test]
fn a_tool_that_an_agent_is_not_to_have_is_not_written_wrong() {
    let agent = WRITER.replace("tools: write_file", "tools: write_file, grpe\ndisallowedTools: edit_fil");
    let tree = tree().file("session/agents/writer.md", &agent);
    let said = say(&tree, 2, &["run", "session", "--workdir", "work"]);
    assert!(
        said.contains("leaves out `edit_fil`, which is not a tool here; did you mean `edit_file`?"),
        "{said}"
    );
    let tree = tree.file("session/agents/writer.md", &agent.replace("edit_fil", "edit_file"));
    let said = say(&tree, 3, &["run", "session", "--workdir", "work", "--policy", "policy.toml"]);
    assert!(said.contains("note: ") && said.contains("`grpe` in `tools` is not a tool here"), "{said}");
}

#[test]
fn agents_are_within_a_budget_of_money() {
    let reader = "---\nname: reader\ndescription: Reads.\nmodel: small\n---\nYou read.\n";
    let other = "---\nname: other\ndescription: Reads.\nmodel: sonnet\n---\nYou read.\n";
    let tree = Tree::new().file("agents/reader.md", reader).file("agents/other.md", other);
    let delegates =
        |id: &str| Turn::call(id, "delegate", value!({ "tasks": [{ "agent": "reader", "task": "Read." }] }));
    let turns = [delegates("c1"), Turn::text("It says one."), Turn::text("One, it says.")];
    let service = Service::of(Wire::Anthropic, &turns);
    let arguments = ["Go.", "--yes", "--agents", "agents", "--price", "in=3,out=15", "--max-cost", "1"];
    let output = agent(&tree, &service, Wire::Anthropic, &arguments).output().unwrap();
    let shown = ended(&output, 0);
    assert!(shown.contains("2000 tokens read, 20 written; its agents took 1010 more, cost 0.00"), "{shown}");
    assert!(
        shown.contains("what `small` costs, which the agent `reader` works with, is not known"),
        "{shown}"
    );
    assert_eq!(service.heard()[1].body["model"], "small");
}

#[test]
fn agents_in_the_background_have_ended_when_their_run_has() {
    let session = r#"
{"calls":[{"id":"c1","name":"delegate","input":{"tasks":[{"agent":"sleeper","task":"Sleep."}],"background":true}}]}
{"run":"c1/0","calls":[{"id":"b1","name":"bash","input":{"command":"sleep 60"}}]}
{"run":"c1/0","text":"Slept."}
{"text":"I let it sleep."}
"#;
    let sleeper = WRITER.replace("writer", "sleeper").replace("write_file", "bash");
    let tree = Tree::new().file("session/session.jsonl", session).file("work/keep", "");
    let tree = tree.file("session/agents/sleeper.md", &sleeper);
    let said = say(&tree, 0, &["run", "session", "--workdir", "work", "--yes", "--json"]);
    let ends = said.lines().filter(|line| line.contains("run_ended")).collect::<Vec<_>>();
    assert!(matches!(*ends, [end] if end.contains("\"end\":\"cancelled\"")), "{said}");
}

fn entries(directory: &Path) -> usize {
    fs::read_dir(directory).map_or(0, |found| found.flatten().filter(|entry| entry.path().is_dir()).count())
}

#[test]
fn what_an_agent_did_in_a_place_of_its_own_goes_with_its_run() {
    if Command::new("git").arg("--version").output().is_err() {
        return;
    }
    let apart = WRITER.replace("tools: write_file", "tools: write_file\nisolation: copy");
    let tree = tree().file("session/agents/writer.md", &apart);
    let began = say(&tree, 3, &["run", "session", "--workdir", "work", "--policy", "policy.toml"]);
    assert!(began.contains("`write_file` of writer, in a place of its own, wants to"), "{began}");
    let places = tree.path().join(".haft-state/haft.db-places");
    assert_eq!(entries(&places), 2);
    let calls = waiting(&tree);
    let shown = say(&tree, 0, &["approvals", "show", &calls[0].0]);
    assert!(shown.contains("tree, a place of its own"), "{shown}");
    // The agent's own tools look at the arguments, where it works.
    let input = r#"{"path":"../a.txt","content":"a\n"}"#;
    let refused = say(&tree, 2, &["approvals", "edit", &calls[0].0, "--input", input]);
    assert!(refused.contains("cannot be made with these arguments"), "{refused}");
    let input = r#"{"path":"other.txt","content":"a\n"}"#;
    say(&tree, 0, &["approvals", "edit", &calls[0].0, "--input", input]);
    let runs = json(&tree, &["resume", "--json"]);
    let run = runs[0]["run"].as_str().unwrap();
    say(&tree, 3, &["resume", run]);
    let patches = tree.path().join(".haft-state/haft.db-patches");
    let kept = |directory: &Path| {
        fs::read_dir(directory).map_or(0, |found| {
            found.flatten().filter(|entry| entry.file_name().to_string_lossy().ends_with(".patch")).count()
        })
    };
    assert_eq!((entries(&places), kept(&patches)), (1, 1));
    say(&tree, 0, &["resume", run, "--drop"]);
    assert_eq!((entries(&places), kept(&patches)), (0, 0));
}

#[test]
fn what_is_left_out_is_left_out_in_a_place_of_its_own_too() {
    let session = r#"
{"calls":[{"id":"c1","name":"delegate","input":{"tasks":[{"agent":"writer","task":"Write."}]}}]}
{"run":"c1/0","calls":[{"id":"w1","name":"write_file","input":{"path":"a.txt","content":"a\n"}}]}
{"run":"c1/0","text":"It cannot be written."}
{"text":"Nothing is written."}
"#;
    let apart = WRITER.replace("tools: write_file", "isolation: copy");
    let tree = tree().file("session/agents/writer.md", &apart).file("session/session.jsonl", session);
    let tree = tree.file("work/haft.toml", "[tools]\nselect = \"!write_file\"\n");
    let said = say(&tree, 0, &["run", "session", "--workdir", "work", "--yes"]);
    assert!(said.contains("there is no tool `write_file`"), "{said}");
}

#[test]
fn what_each_agent_does_is_shown_under_its_name() {
    let session = r#"
{"calls":[{"id":"c1","name":"delegate","input":{"tasks":[{"agent":"writer","task":"Write a."},{"agent":"writer","task":"Write b."}]}}]}
{"run":"c1/0","calls":[{"id":"w1","name":"write_file","input":{"path":"a.txt","content":"a\n"}}]}
{"run":"c1/0","text":"It is written.","after":{"w1":"ok"}}
{"run":"c1/1","calls":[{"id":"w1","name":"write_file","input":{"path":"../b.txt","content":"b\n"}}]}
{"run":"c1/1","text":"It is not written."}
{"text":"One is written."}
"#;
    let tree = tree().file("session/session.jsonl", session);
    let said = say(&tree, 0, &["run", "session", "--workdir", "work", "--yes"]);
    let line = |of: &str| {
        let found = said.lines().find(|line| line.contains(of));
        let (label, rest) = found.and_then(|line| line.split_once(" │ ")).unwrap_or_else(|| panic!("{said}"));
        (label.trim().to_owned(), rest.trim().to_owned())
    };
    let (of_a, a) = line("write_file a.txt");
    let (of_b, b) = line("write_file ../b.txt");
    assert!(a.starts_with('✓') && b.starts_with('✗'), "{said}");
    assert_eq!(
        (line("It is written."), line("It is not written.")),
        ((of_a.clone(), "It is written.".to_owned()), (of_b.clone(), "It is not written.".to_owned()),)
    );
    let mut labels = [of_a, of_b];
    labels.sort();
    assert_eq!(labels, ["writer 1", "writer 2"]);
    assert!(said.contains("writer 2 │ begins") && said.contains("writer 2 │ done"), "{said}");
}

/// Copies a directory.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if entry.is_dir() {
            copy(&entry, &to.join(name));
        } else {
            fs::copy(&entry, to.join(name)).unwrap();
        }
    }
}

#[test]
fn the_recorded_review_is_answered_call_by_call_from_the_root() {
    let recorded =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sessions/review-with-subagents");
    let tree = Tree::new();
    copy(&recorded, &tree.path().join("session"));
    copy(&recorded.join("project"), &tree.path().join("work"));
    let mut shown = say(&tree, 3, &["run", "session", "--workdir", "work"]);
    let mut asked = Vec::new();
    while let Some(call) = json(&tree, &["approvals", "list", "--json"]).as_array().unwrap().first() {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or("the lead").to_owned();
        let (id, run) = (text(&call["call"]["id"]), text(&json(&tree, &["resume", "--json"])[0]["run"]));
        asked.push(format!("{} of {}", text(&call["call"]["call"]["name"]), text(&call["call"]["agent"])));
        assert!(asked.len() < 20, "{asked:?}");
        say(&tree, 0, &["approvals", "approve", &id]);
        let output = haft(tree.path(), &["resume", &run]).output().unwrap();
        shown = crate::shown(&output);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{shown}");
    }
    expect![[r#"
        bash of the lead
        delegate of the lead
        delegate of the lead
        edit_file of mender
        edit_file of mender
        edit_file of mender
        edit_file of mender
        bash of mender
        show_changes of the lead
        apply_changes of the lead
        bash of the lead"#]]
    .assert_eq(&asked.join("\n"));
    // What the mender has changed in its own place is in the project now, where the tests pass.
    assert!(shown.contains("test result: ok"), "{shown}");
    assert_ne!(
        tree.read("work/src/tally.rs"),
        fs::read_to_string(recorded.join("project/src/tally.rs")).unwrap()
    );
}
