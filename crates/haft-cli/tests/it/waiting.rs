use crate::{haft, shown};
use haft_testkit::Tree;
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Reads, then writes two files in one turn, beside each other, and runs a command in the next.
const WRITES: &str = r#"{"text":"I look.","calls":[{"id":"c1","name":"read_file","input":{"path":"notes.md"}}]}
{"text":"I write.","calls":[{"id":"c2","name":"write_file","input":{"path":"a.txt","content":"a\n"}},{"id":"c3","name":"read_file","input":{"path":"notes.md"}}]}
{"text":"And a log.","calls":[{"id":"c4","name":"bash","input":{"command":"echo ran >> log.txt"}}]}
{"text":"All is written."}
"#;

fn tree() -> Tree {
    Tree::new().file("play/session.jsonl", WRITES).file("work/notes.md", "one\n")
}

/// Runs a command and gives what was printed, expecting an exit code.
pub(crate) fn say(tree: &Tree, code: i32, arguments: &[&str]) -> String {
    let output = haft(tree.path(), arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", shown(&output));
    shown(&output)
}

pub(crate) fn json(tree: &Tree, arguments: &[&str]) -> Value {
    let output = haft(tree.path(), arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", shown(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The ids of the one call that waits and of its run.
pub(crate) fn waiting(tree: &Tree) -> (String, String) {
    let list = json(tree, &["approvals", "list", "--json"]);
    assert_eq!(list.as_array().map(Vec::len), Some(1), "{list}");
    let text = |name: &str| list[0]["call"][name].as_str().unwrap().to_owned();
    (text("id"), text("run"))
}

const RUN: [&str; 4] = ["run", "play", "--workdir", "work"];

/// Begins the run of the session, to its first wait.
fn begin(tree: &Tree) -> (String, String) {
    say(tree, 3, &RUN);
    waiting(tree)
}

/// What is left of a run that was not interrupted.
fn uninterrupted() -> (Tree, Value) {
    let tree = tree();
    let mut arguments = RUN.to_vec();
    arguments.extend(["--yes", "--json"]);
    let summary = summary(&say(&tree, 0, &arguments));
    (tree, summary)
}

/// The last line, without what differs from run to run.
fn summary(shown: &str) -> Value {
    let line = shown.lines().rfind(|line| line.contains("\"summary\"")).unwrap();
    let mut summary: Value = serde_json::from_str(line).unwrap();
    summary["elapsed_ms"].take();
    summary["spent"]["wall_ms"].take();
    summary
}

fn check_files(tree: &Tree, expected: &Tree) {
    for file in ["work/notes.md", "work/a.txt", "work/log.txt"] {
        assert_eq!(tree.read(file), expected.read(file), "{file}");
    }
}

/// Waits, in a process that is killed as soon as a call waits.
fn begin_and_kill(tree: &Tree, arguments: &[&str]) -> (String, String) {
    let mut child = haft(tree.path(), arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let runs = json(tree, &["resume", "--json"]);
        if runs.as_array().is_some_and(|runs| !runs.is_empty()) {
            break;
        }
        assert!(Instant::now() < deadline, "no call came to wait");
    }
    // `kill` sends SIGKILL.
    child.kill().unwrap();
    child.wait().unwrap();
    waiting(tree)
}

#[test]
fn a_killed_run_that_is_approved_and_resumed_ends_as_if_it_had_not_been() {
    let (expected, expected_summary) = uninterrupted();
    let tree = tree();
    let mut arguments = RUN.to_vec();
    arguments.push("--wait");
    let (call, run) = begin_and_kill(&tree, &arguments);
    assert!(!tree.path().join("work/a.txt").exists());

    say(&tree, 0, &["approvals", "approve", &call]);
    // The second guarded call waits in the next process, which is killed, too.
    let (next, same_run) = {
        say(&tree, 3, &["resume", &run]);
        waiting(&tree)
    };
    assert_eq!(run, same_run);
    assert_ne!(call, next);
    assert_eq!(tree.read("work/a.txt"), "a\n");
    say(&tree, 0, &["approvals", "approve", &next]);
    let shown = say(&tree, 0, &["resume", &run, "--json"]);

    assert_eq!(summary(&shown), expected_summary);
    check_files(&tree, &expected);
}

#[test]
fn a_process_that_waits_takes_answers_from_others() {
    let (expected, _) = uninterrupted();
    let tree = tree();
    let mut arguments = RUN.to_vec();
    arguments.push("--wait");
    let child = haft(tree.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    let mut answered = 0;
    while answered < 2 {
        for entry in json(&tree, &["approvals", "list", "--json"]).as_array().unwrap() {
            if entry["answer"].is_null() {
                say(&tree, 0, &["approvals", "approve", entry["call"]["id"].as_str().unwrap()]);
                answered += 1;
            }
        }
        assert!(Instant::now() < deadline, "no call came to wait");
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    check_files(&tree, &expected);
}

#[test]
fn what_was_resumed_is_not_resumed_again() {
    let tree = tree();
    let (call, run) = begin(&tree);
    say(&tree, 0, &["approvals", "deny", &call]);
    say(&tree, 3, &["resume", &run]);
    assert!(say(&tree, 2, &["approvals", "approve", &call]).contains("gone on with before"));
    let (next, _) = waiting(&tree);
    say(&tree, 0, &["approvals", "approve", &next[..6]]);
    say(&tree, 0, &["resume", &run]);
    assert!(say(&tree, 2, &["resume", &run]).contains("has ended"));
    assert_eq!(tree.read("work/log.txt"), "ran\n");
    assert_eq!(json(&tree, &["resume", "--json"]), serde_json::json!([]));
}

#[test]
fn a_call_whose_process_was_killed_while_it_ran_is_not_run_again() {
    let tree = Tree::new();
    say(&tree, 3, &["call", "bash", r#"{"command":"echo ran >> log.txt; sleep 60"}"#]);
    let (id, run) = waiting(&tree);
    say(&tree, 0, &["approvals", "approve", &id]);
    let mut child =
        haft(tree.path(), &["resume", &run]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    while !std::fs::read_to_string(tree.path().join("log.txt")).is_ok_and(|log| log == "ran\n") {
        assert!(Instant::now() < deadline, "the call did not start");
        std::thread::yield_now();
    }
    // Somebody else cannot go on with it meanwhile.
    assert!(say(&tree, 1, &["resume", &run]).contains("is being worked on"));
    child.kill().unwrap();
    child.wait().unwrap();

    assert!(say(&tree, 2, &["approvals", "approve", &id]).contains("gone on with before"));
    assert!(say(&tree, 1, &["resume", &run]).contains("whether it had its effect is not known"));
    assert!(say(&tree, 2, &["resume", &run]).contains("has ended"));
    assert_eq!(tree.read("log.txt"), "ran\n");
}

#[test]
fn a_call_is_denied_with_a_reason() {
    let tree = Tree::new();
    let call = ["call", "write_file", r#"{"path":"a.txt","content":"x\n"}"#];
    assert!(say(&tree, 3, &call).contains("haft resume RUN"));
    let (id, run) = waiting(&tree);
    say(&tree, 0, &["approvals", "deny", &id, "--reason", "use b.txt"]);
    assert!(say(&tree, 1, &["resume", &run]).contains("not approved: use b.txt"));
    assert!(!tree.path().join("a.txt").exists());
}

#[test]
fn it_is_said_where_a_call_would_run() {
    let tree = tree();
    let (call, _) = begin(&tree);
    let work = tree.path().canonicalize().unwrap().join("work").to_string_lossy().into_owned();
    assert_eq!(json(&tree, &["approvals", "list", "--json"])[0]["workdir"], work.as_str());
    assert_eq!(json(&tree, &["approvals", "show", &call, "--json"])["workdir"], work.as_str());
    assert!(say(&tree, 0, &["approvals", "list"]).contains(&format!(" in {work}, ")));
    assert!(say(&tree, 0, &["approvals", "show", &call]).contains(&format!("  in {work}\n")));
}

#[test]
fn a_call_runs_with_an_edited_input() {
    let tree = Tree::new();
    say(&tree, 3, &["call", "write_file", r#"{"path":"a.txt","content":"x\n"}"#]);
    let (id, run) = waiting(&tree);
    say(&tree, 0, &["approvals", "edit", &id, "--input", r#"{"path":"b.txt","content":"y\n"}"#]);
    say(&tree, 0, &["resume", &run]);
    assert!(!tree.path().join("a.txt").exists());
    assert_eq!(tree.read("b.txt"), "y\n");
}

#[test]
fn an_edited_input_that_the_tool_would_refuse_is_not_kept() {
    let tree = tree();
    let (id, _) = begin(&tree);
    for (input, why) in [
        (r#"{"path":"b.txt","contents":"y"}"#, "unknown property `contents`; did you mean `content`?"),
        (r#"{"path":"../b.txt","content":"y"}"#, "is outside the working directory"),
    ] {
        let refused = say(&tree, 2, &["approvals", "edit", &id, "--input", input]);
        assert!(refused.contains(why) && refused.contains("waits as it was"), "{refused}");
        assert!(json(&tree, &["approvals", "show", &id, "--json"])["answer"].is_null());
    }
}

#[test]
fn an_edited_input_is_as_large_as_the_policy_lets_it_be() {
    let tree = Tree::new();
    std::fs::write(tree.path().join("haft.toml"), "[limits]\ninput_bytes = \"1 KiB\"\n").unwrap();
    say(&tree, 3, &["call", "write_file", r#"{"path":"a.txt","content":"x\n"}"#]);
    let (id, _) = waiting(&tree);
    let edited = |size: usize| format!(r#"{{"path":"a.txt","content":"{}"}}"#, "x".repeat(size));
    let refused = say(&tree, 2, &["approvals", "edit", &id, "--input", &edited(2_000)]);
    assert!(refused.contains("waits as it was"), "{refused}");
    say(&tree, 0, &["approvals", "edit", &id, "--input", &edited(500)]);
}

#[test]
fn grants_hold_until_they_are_revoked() {
    let tree = Tree::new();
    let call = ["call", "write_file", r#"{"path":"a.txt","content":"x\n"}"#];
    say(&tree, 3, &call);
    let (id, run) = waiting(&tree);
    assert!(say(&tree, 0, &["approvals", "show", &id]).contains("can be remembered as: write(./a.txt)"));
    say(&tree, 0, &["approvals", "approve", &id, "--for", "workspace"]);
    say(&tree, 0, &["resume", &run]);

    let again = ["call", "write_file", r#"{"path":"a.txt","content":"y\n"}"#];
    say(&tree, 0, &again);
    let grants = json(&tree, &["grants", "list", "--json"]);
    assert_eq!(grants[0]["rule"], "write(./a.txt)");
    assert!(say(&tree, 0, &["grants", "list"]).contains("allow  write(./a.txt)"));
    assert!(say(&tree, 2, &["grants", "revoke", "nothing"]).contains("haft grants list"));
    assert!(
        say(&tree, 0, &["grants", "revoke", grants[0]["id"].as_str().unwrap()]).contains("revoked 1 grant\n")
    );
    say(&tree, 3, &again);
    assert_eq!(json(&tree, &["grants", "list", "--json"]), serde_json::json!([]));
}

#[test]
fn never_holds_for_later_calls() {
    let tree = Tree::new();
    let call = ["call", "write_file", r#"{"path":"a.txt","content":"x\n"}"#];
    say(&tree, 3, &call);
    let (id, run) = waiting(&tree);
    say(&tree, 0, &["approvals", "deny", &id, "--never"]);
    say(&tree, 1, &["resume", &run]);
    assert!(say(&tree, 1, &call).contains("never to be done"));
}

#[test]
fn what_cannot_be_remembered_is_not_said_for_longer() {
    let tree = Tree::new();
    say(&tree, 3, &["call", "bash", r#"{"command":"python3 -c 1"}"#]);
    let (id, run) = waiting(&tree);
    assert!(say(&tree, 0, &["approvals", "show", &id]).contains("cannot be remembered"));
    assert!(say(&tree, 2, &["approvals", "approve", &id, "--for", "run"]).contains("without `--for`"));
    assert!(say(&tree, 2, &["approvals", "deny", &id, "--never"]).contains("without `--never`"));
    assert!(say(&tree, 3, &["resume", &run]).contains("waiting for an approval"));
    say(&tree, 0, &["approvals", "deny", &id]);
    say(&tree, 1, &["resume", &run]);
}

#[test]
fn a_scratch_copy_is_there_until_its_run_ends() {
    let tree = Tree::new().file("play/session.jsonl", WRITES).file("play/project/notes.md", "one\n");
    say(&tree, 3, &["run", "play", "--ask"]);
    let runs = json(&tree, &["resume", "--json"]);
    let scratch = runs[0]["task"]["workdir"].as_str().unwrap().to_owned();
    assert!(Path::new(&scratch).join("notes.md").exists());
    let run = runs[0]["run"].as_str().unwrap().to_owned();
    for code in [3, 0] {
        let (call, _) = waiting(&tree);
        say(&tree, 0, &["approvals", "approve", &call]);
        say(&tree, code, &["resume", &run]);
    }
    assert!(!Path::new(&scratch).exists());
    assert!(!tree.path().join("play/project/a.txt").exists());
}

#[test]
fn a_run_whose_directory_is_gone_is_dropped() {
    let tree = tree();
    let (call, run) = begin(&tree);
    say(&tree, 0, &["approvals", "approve", &call]);
    std::fs::rename(tree.path().join("work"), tree.path().join("moved")).unwrap();
    let said = say(&tree, 2, &["resume", &run]);
    let work = tree.path().canonicalize().unwrap().join("work");
    assert!(said.contains(&format!("works in `{}`, which cannot be opened", work.display())), "{said}");
    assert!(said.contains(&format!("haft resume {run} --drop")) && !said.contains("--workdir"), "{said}");

    say(&tree, 2, &["resume", "--drop"]);
    assert!(say(&tree, 2, &["resume", "other", "--drop"]).contains("no run `other` is kept"));
    let dropped = json(&tree, &["resume", &run[..run.len() - 1], "--drop", "--json"]);
    assert_eq!(dropped, serde_json::json!({ "dropped": run, "calls": 1 }));
    assert_eq!(json(&tree, &["resume", "--json"]), serde_json::json!([]));
    assert_eq!(json(&tree, &["approvals", "list", "--json"]), serde_json::json!([]));
    assert!(say(&tree, 2, &["resume", &run, "--drop"]).contains("nothing to drop"));
    assert!(say(&tree, 2, &["resume", &run]).contains("has ended"));
}

#[test]
fn a_run_that_is_worked_on_is_not_dropped_and_a_scratch_copy_goes_with_its_run() {
    let tree = Tree::new().file("play/session.jsonl", WRITES).file("play/project/notes.md", "one\n");
    let mut child = haft(tree.path(), &["run", "play", "--ask", "--wait"]);
    // What one that is killed leaves goes with the tree.
    child.env("TMPDIR", tree.path());
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    let listed = loop {
        let runs = json(&tree, &["resume", "--json"]);
        if !runs[0].is_null() {
            break runs[0].clone();
        }
        assert!(Instant::now() < deadline, "no call came to wait");
    };
    let (run, scratch) = (listed["run"].as_str().unwrap(), listed["task"]["workdir"].as_str().unwrap());
    assert!(say(&tree, 1, &["resume", run, "--drop"]).contains("is being worked on"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(Path::new(scratch).exists());
    say(&tree, 0, &["resume", run, "--drop"]);
    assert!(!Path::new(scratch).exists());
}

#[test]
fn nothing_is_left_of_what_did_not_wait() {
    let tree = tree();
    let mut arguments = RUN.to_vec();
    arguments.push("--yes");
    say(&tree, 0, &arguments);
    assert_eq!(say(&tree, 0, &["approvals", "list"]), "No call waits.\nexit 0\n");
    assert_eq!(
        say(&tree, 0, &["grants", "list"]),
        "Nothing is granted; `haft approvals approve` grants something with `--for`.\nexit 0\n"
    );
    assert_eq!(
        say(&tree, 0, &["resume"]),
        "No run waits, and none was interrupted; `haft resume --ended` lists those that have ended, too.\nexit 0\n"
    );
    assert!(say(&tree, 2, &["resume", "run-1"]).contains("no run `run-1` is kept"));
}

#[test]
fn an_approval_is_for_the_change_that_was_shown() {
    let write = ["call", "write_file", r#"{"path":"a.txt","content":"new\n"}"#];
    let edit = ["call", "edit_file", r#"{"path":"a.txt","edits":[{"old":"a","new":"Z"}]}"#];
    for (before, call, after) in [
        (None, &write, "precious\n"),
        (Some("old\n"), &write, "changed\n"),
        (Some("a\nb\n"), &edit, "rm -rf a\n"),
    ] {
        let tree = Tree::new();
        let path = tree.path().join("a.txt");
        if let Some(before) = before {
            std::fs::write(&path, before).unwrap();
        }
        say(&tree, 3, call);
        let (id, run) = waiting(&tree);
        std::fs::write(&path, after).unwrap();
        say(&tree, 0, &["approvals", "approve", &id]);
        let again = say(&tree, 3, &["resume", &run]);
        assert!(again.contains("waiting for an approval"), "{again}");
        assert_eq!(tree.read("a.txt"), after);
        // What is shown now is what runs.
        let (id, run) = waiting(&tree);
        let shown = say(&tree, 0, &["approvals", "show", &id]);
        assert!(shown.contains(&format!("-{}", after.trim_end())), "{shown}");
        say(&tree, 0, &["approvals", "approve", &id]);
        say(&tree, 0, &["resume", &run]);
        assert_ne!(tree.read("a.txt"), after);
    }
}

#[test]
fn an_answer_that_takes_the_place_of_another_says_so() {
    let tree = Tree::new();
    say(&tree, 3, &["call", "write_file", r#"{"path":"a.txt","content":"new\n"}"#]);
    let (id, _) = waiting(&tree);
    assert!(!say(&tree, 0, &["approvals", "deny", &id]).contains("before"));
    let again = say(&tree, 0, &["approvals", "approve", &id]);
    assert!(again.contains(&format!("`{id}` was denied before; that answer no longer holds")), "{again}");
}
