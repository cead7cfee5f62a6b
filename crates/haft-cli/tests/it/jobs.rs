//! Jobs of a run, from the command.
#![cfg(target_os = "linux")]

use std::fs;

use haft_testkit::Tree;
use serde_json::json;

use crate::{haft, shown};

/// Tells whether a program runs that was started with this argument.
fn runs_with(argument: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("processes can be listed").flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes()))
}

#[test]
fn a_run_writes_to_its_jobs_and_takes_them_along_when_it_ends() {
    let seconds = format!("61.{}", std::process::id());
    let turns = [
        json!({ "calls": [{ "id": "c1", "name": "bash", "input": {
            "command": "while read line; do echo \"got $line\"; done", "background": true, "stdin": true,
        } }] }),
        json!({ "after": { "c1": "ok" }, "calls": [{ "id": "c2", "name": "job_write", "input": {
            "job": "j1", "text": "one\n", "close": true,
        } }] }),
        json!({ "after": { "c2": "ok" }, "calls": [{ "id": "c3", "name": "job_wait", "input": { "jobs": ["j1"] } }] }),
        json!({ "after": { "c3": "ok" }, "contains": { "c3": "got one" }, "calls": [{ "id": "c4", "name": "bash", "input": {
            "command": format!("setsid sleep {seconds} & echo left"),
        } }] }),
        json!({ "text": "Done.", "after": { "c4": "ok" }, "contains": { "c4": "still running as the job `j2`" } }),
    ];
    let turns: Vec<String> = turns.iter().map(ToString::to_string).collect();
    let tree = Tree::new()
        .file("work/session.jsonl", &(turns.join("\n") + "\n"))
        .file("work/prompt.md", "Work.\n")
        .file("work/project/notes.md", "");
    let output = haft(tree.path(), &["run", "work"]).output().expect("it can be run");
    let text = shown(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(!runs_with(&seconds), "{text}");
}
