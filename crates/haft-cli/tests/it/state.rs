//! What haft remembers: where it is, that nobody else writes it, and what is said when it cannot be used.

use crate::{haft, shown};
use haft::Accesses;
use haft::core::Digest;
use haft::store::SqliteStore;
use haft::tools_core::{PendingCall, PendingStore as _, now_ms};
use haft_testkit::Tree;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

/// Runs a command whose state is in a file of the working directory itself.
fn say(tree: &Tree, code: i32, arguments: &[&str]) -> String {
    let mut command = haft(tree.path(), arguments);
    command.env("HAFT_STATE", tree.path().join("state.db"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", shown(&output));
    shown(&output)
}

#[test]
fn what_lies_in_a_writable_directory_is_protected_with_all_that_is_put_beside_it() {
    let tree = Tree::new();
    let write = |path: &str, code: i32| {
        let input = serde_json::json!({ "path": path, "content": "x" }).to_string();
        say(&tree, code, &["call", "write_file", &input, "--profile", "workspace_write"]);
    };
    // Before the files are there, and when they are.
    for _ in 0..2 {
        for beside in ["", "-wal", "-shm", "-journal", "-locks", "-locks/0123.lock"] {
            write(&format!("state.db{beside}"), 3);
        }
    }
    write("other.db", 0);
    write("state.db-notes", 0);
}

const READ: [&str; 3] = ["call", "read_file", r#"{"path":"notes.md"}"#];

/// Checks that nothing runs where the state cannot be used, whatever the command would not need of it.
fn check_refused(tree: &Tree, because: &str) {
    let session = tree.path().join("play/session.jsonl");
    let run = ["run", session.to_str().unwrap(), "--yes", "--workdir", "."];
    for arguments in [&READ[..], &run, &["approvals", "list"], &["grants", "list"], &["resume"]] {
        let said = say(tree, 2, arguments);
        assert!(said.contains("cannot remember anything in `"), "{said}");
        assert!(said.contains(because), "{said}");
        assert!(said.lines().all(|line| !line.contains("one")), "{said}");
    }
}

fn tree() -> Tree {
    let turn = r#"{"calls":[{"id":"c1","name":"read_file","input":{"path":"notes.md"}}]}"#;
    Tree::new().file("notes.md", "one\n").file("play/session.jsonl", &format!("{turn}\n"))
}

#[test]
fn nothing_runs_where_the_state_is_damaged() {
    let tree = tree().file("state.db", &"not a database, but long enough to be one".repeat(100));
    check_refused(&tree, "because: the file is damaged, or no database");
}

#[test]
fn a_link_to_nothing_is_not_taken_for_no_state() {
    let tree = tree().link("state.db", "gone.db");
    check_refused(&tree, "because it is a symbolic link, not a regular file");
    assert!(!tree.path().join("gone.db").exists());
}

#[test]
fn a_state_whose_directory_is_a_file_is_not_there() {
    let tree = tree().file("file", "");
    let mut command = haft(tree.path(), &READ);
    command.env("HAFT_STATE", tree.path().join("file/state.db"));
    assert_eq!(command.output().unwrap().status.code(), Some(0));
}

#[test]
fn what_nobody_can_go_on_with_is_removed_after_a_month() {
    let tree = tree();
    let input = serde_json::json!({});
    let call = |id: &str, end: u64| {
        let call = serde_json::json!({
            "version": 1, "id": id, "call": { "id": "c1", "name": "bash", "input": input }, "run": "run-1",
            "accesses": Accesses::none(), "unmet": [], "preview": { "kind": "arguments" }, "asked_at_ms": 1,
            "expires_at_ms": end, "digest": Digest::of(&input),
        });
        serde_json::from_value::<PendingCall>(call).unwrap()
    };
    let store = SqliteStore::open(tree.path().join("state.db")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        for pending in [call("long-gone", 1), call("just-gone", now_ms() - 1000)] {
            store.put(&pending).await.unwrap();
        }
    });
    let listed = say(&tree, 0, &["approvals", "list"]);
    assert_eq!(listed.matches(", expired").count(), 2, "{listed}");
    say(&tree, 0, &READ);
    let listed = say(&tree, 0, &["approvals", "list", "--json"]);
    assert!(listed.contains("just-gone") && !listed.contains("long-gone"), "{listed}");
    assert!(listed.contains("\"expired\": true"), "{listed}");
}

#[test]
fn what_has_no_name_in_utf_8_is_refused_by_name() {
    let tree = tree();
    let name = OsStr::from_bytes(b"w\xff");
    let work = tree.path().join(name);
    fs::create_dir(&work).unwrap();
    let refused = |before: &[&str], after: &[&str]| {
        let mut command = haft(tree.path(), before);
        let output = shown(&command.arg(name).args(after).output().unwrap());
        assert!(output.contains("/w\u{fffd}`") && output.contains("is not UTF-8"), "{output}");
        assert!(output.contains("rename it") && output.ends_with("exit 2\n"), "{output}");
    };
    refused(&[&READ[..], &["--workdir"]].concat(), &[]);
    refused(&["policy", "explain", "ls", "--workdir"], &[]);
    fs::copy(tree.path().join("play/session.jsonl"), work.join("session.jsonl")).unwrap();
    refused(&["run"], &["--workdir", "."]);
    refused(&[&READ[..], &["--policy"]].concat(), &[]);
}

#[test]
fn a_state_that_would_be_another_in_each_directory_is_refused() {
    let tree = tree();
    for arguments in [&READ[..], &["approvals", "list"], &["resume"], &["run", "play"]] {
        let mut command = haft(tree.path(), arguments);
        let said = shown(&command.env("HAFT_STATE", "state.db").output().unwrap());
        assert_eq!(
            said,
            "stderr: error: HAFT_STATE is `state.db`; set it to the absolute path of a file, or unset it\nexit 2\n"
        );
    }
    assert!(!tree.path().join("state.db").exists());
    // One that is set to nothing is not set.
    let mut command = haft(tree.path(), &READ);
    assert_eq!(command.env("HAFT_STATE", "").output().unwrap().status.code(), Some(0));
}

#[test]
fn a_person_is_told_once_why_nothing_can_be_kept() {
    let write = |id: &str| {
        format!(r#"{{"id":"{id}","name":"write_file","input":{{"path":"{id}.txt","content":"x"}}}}"#)
    };
    let session = format!("{{\"calls\":[{},{}]}}\n{{\"text\":\"Done.\"}}\n", write("c1"), write("c2"));
    let tree = Tree::new().file("file", "").file("session.jsonl", &session);
    let mut command = haft(tree.path(), &["run", "session.jsonl"]);
    let said = shown(&command.env("HAFT_STATE", tree.path().join("file/state.db")).output().unwrap());
    let told: Vec<&str> = said.lines().filter(|line| line.starts_with("stderr: ")).collect();
    let root = tree.path().display();
    let cannot = format!(
        "stderr:   because: cannot remember anything in `{root}/file/state.db`; set HAFT_STATE to a file that can be"
    );
    let note = "stderr: note: this run is not kept: if it is interrupted, it has to be started anew";
    assert_eq!(told[..2], [note, &cannot], "{said}");
    assert_eq!(said.matches("cannot remember anything").count(), 1, "{said}");
    assert!(!tree.path().join("c1.txt").exists());
}
