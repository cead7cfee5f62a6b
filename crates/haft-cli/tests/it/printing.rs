//! What becomes of a command whose output nobody can read.

use crate::{haft, shown};
use expect_test::expect;
use haft_testkit::Tree;
use std::fs::File;
use std::process::{Output, Stdio};

/// Runs a command whose standard output is full.
fn onto_a_full_disk(tree: &Tree, arguments: &[&str]) -> Output {
    let full = File::options().write(true).open("/dev/full").unwrap();
    haft(tree.path(), arguments).stdout(full).output().unwrap()
}

fn tree() -> Tree {
    let turns = r#"{"calls":[{"id":"c1","name":"read_file","input":{"path":"notes.md"}}]}
{"calls":[{"id":"c2","name":"write_file","input":{"path":"made.md","content":"two"}}]}
{"text":"Done."}
"#;
    Tree::new().file("notes.md", "one\n").file("play/session.jsonl", turns)
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_fails_and_is_said_once() {
    let tree = tree();
    let call = ["call", "read_file", r#"{"path":"notes.md"}"#];
    let with_json = [&call[..], &["--json"]].concat();
    let run = ["run", "play/session.jsonl", "--workdir", ".", "--yes"];
    let run_json = [&run[..], &["--json"]].concat();
    let commands: [&[&str]; 14] = [
        &["--help"],
        &["call", "--help"],
        &["--version"],
        &["tools"],
        &["tools", "--json"],
        &["init", "--print"],
        &["journal"],
        &["schema"],
        &["config", "schema"],
        &["policy", "show"],
        &["serve", "--print-config", "codex"],
        &call,
        &with_json,
        &["completions", "bash"],
    ];
    for arguments in commands {
        let said = shown(&onto_a_full_disk(&tree, arguments));
        let expected = "stderr: error: cannot write to standard output\n\
                        stderr:   because: No space left on device (os error 28)\nexit 1\n";
        // Ahead of it may stand what is no output, as where to put a snippet.
        assert!(said.ends_with(expected) && !said.contains("panicked"), "{arguments:?}: {said}");
    }
    for arguments in [&run[..], &run_json] {
        let output = onto_a_full_disk(&tree, arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.matches("cannot write to standard output").count(), 1, "{arguments:?}: {said}");
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(!tree.path().join("made.md").exists(), "{arguments:?} went on: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_error_is_nobodys_fault() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let tree = tree();
    let mut command = haft(tree.path(), &["call", "no_such_tool", "{}"]);
    assert_eq!(command.stderr(full).status().unwrap().code(), Some(1));
}

#[test]
fn whoever_has_read_enough_may_leave() {
    let tree = tree();
    for arguments in [&["tools"][..], &["tools", "--json"], &["config", "schema"], &["--help"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = haft(tree.path(), arguments).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        expect!["exit 0\n"].assert_eq(&shown(&output));
    }
}
