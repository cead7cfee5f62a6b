//! What is undone, what is refused and what is said of it.

use crate::{haft, shown};
use haft_testkit::Tree;
use serde_json::{Value, json};

fn say(tree: &Tree, code: i32, arguments: &[&str]) -> String {
    let output = haft(tree.path(), arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", shown(&output));
    shown(&output)
}

fn call(tree: &Tree, tool: &str, input: &Value) {
    say(tree, 0, &["call", tool, &input.to_string(), "--yes"]);
}

fn runs(tree: &Tree) -> Vec<String> {
    let output = haft(tree.path(), &["undo", "--json"]).output().unwrap();
    let runs: Value = serde_json::from_slice(&output.stdout).unwrap();
    runs.as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_run_is_shown_undone_and_done_again() {
    let tree = Tree::new().executable("a.txt", "one\ntwo\n");
    assert_eq!(say(&tree, 0, &["undo"]), "no run has changed anything\nexit 0\n");
    call(&tree, "edit_file", &json!({ "path": "a.txt", "edits": [{ "old": "two", "new": "three" }] }));
    call(&tree, "write_file", &json!({ "path": "new/b.txt", "content": "b\n" }));
    let runs_now = runs(&tree);
    let (made, edited) = (&runs_now[0], &runs_now[1]);
    let diff = say(&tree, 0, &["diff", edited]);
    assert_eq!(
        diff,
        "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\nexit 0\n"
    );
    assert_eq!(say(&tree, 0, &["undo", edited, "--dry-run"]), "restores a.txt\nexit 0\n");
    assert_eq!(tree.read("a.txt"), "one\nthree\n");
    assert!(say(&tree, 0, &["undo", edited]).starts_with("restored a.txt\n"));
    assert_eq!(tree.read("a.txt"), "one\ntwo\n");
    assert!(say(&tree, 1, &["undo", edited]).contains("was undone before"));
    let undoing = runs(&tree)[0].clone();
    say(&tree, 0, &["undo", &undoing]);
    assert_eq!(tree.read("a.txt"), "one\nthree\n");
    say(&tree, 0, &["undo", made]);
    assert!(tree.list().iter().all(|path| !path.starts_with("new")), "{:?}", tree.list());
}

#[test]
fn what_has_changed_since_is_named_and_nothing_is_undone() {
    let tree = Tree::new().file("a.txt", "one\n");
    call(&tree, "write_file", &json!({ "path": "a.txt", "content": "two\n" }));
    call(&tree, "write_file", &json!({ "path": "a.txt", "content": "three\n" }));
    let first = runs(&tree)[1].clone();
    let said = say(&tree, 1, &["undo", &first]);
    assert!(said.contains("nothing was undone"), "{said}");
    assert!(said.contains("`a.txt` has changed since, by the call `cli` of the run `run-"), "{said}");
    assert_eq!(tree.read("a.txt"), "three\n");
    let said = say(&tree, 2, &["undo", "run-nothing"]);
    assert!(
        said.contains("no run `run-nothing` has changed anything; the latest that have are `run-"),
        "{said}"
    );
    let said = say(&tree, 2, &["undo", &first, "--call", "c9"]);
    assert!(said.contains("these calls have: `cli` (write_file)"), "{said}");
}

#[test]
fn nothing_is_recorded_where_nothing_is_to_be() {
    let tree = Tree::new();
    let input = json!({ "path": "a.txt", "content": "a\n" }).to_string();
    say(&tree, 0, &["call", "write_file", &input, "--yes", "--undo-space", "0"]);
    assert_eq!(say(&tree, 0, &["undo"]), "no run has changed anything\nexit 0\n");
}
