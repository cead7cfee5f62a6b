//! What haft remembers: where it is, that nobody else writes it, and what is said when it cannot be used.

use crate::{haft, shown};
use haft_testkit::Tree;

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
