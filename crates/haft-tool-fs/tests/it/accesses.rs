use crate::fixture::registry;
use expect_test::{Expect, expect};
use haft_core::ToolCall;
use haft_testkit::Tree;
use haft_tools_core::{
    Approval, Batch, CallScope, LocalExecutor, PendingCall, Preview, ToolExecutor as _, approver_fn,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Gives what a person would be asked about a call, which is then denied.
#[tokio::main(flavor = "current_thread")]
async fn asked(tree: &Tree, tool: &str, input: Value) -> PendingCall {
    let asked = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&asked);
    let approver = approver_fn(move |pending: &PendingCall| {
        *seen.lock().unwrap() = Some(pending.clone());
        Approval::Deny { reason: String::new() }
    });
    let executor = LocalExecutor::builder(registry(tree)).approver(approver).build();
    let call = ToolCall::new("c1".parse().unwrap(), tool, input);
    executor.execute_batch(Batch::new(CallScope::new("test".parse().unwrap()), vec![call])).await;
    let asked = asked.lock().unwrap().take();
    asked.expect("the call is asked about")
}

fn tree() -> Tree {
    Tree::new()
        .file("src/main.rs", "fn main() {}\n")
        .directory("src/inner")
        .link("latest.rs", "src/main.rs")
        .link("code", "src")
        .file("*.md", "star\n")
}

fn check(tool: &str, input: Value, accesses: &Expect) {
    let tree = tree();
    let before = tree.list();
    let declared = asked(&tree, tool, input).accesses;
    let written: Vec<String> = declared.iter().map(ToString::to_string).collect();
    accesses.assert_eq(&written.join(", "));
    assert_eq!(tree.list(), before, "preparing and previewing changes nothing");
}

#[test]
fn a_read_declares_exactly_its_file() {
    check("read_file", json!({ "path": "./src//main.rs" }), &expect!["read file:src/main.rs"]);
}

#[test]
fn a_link_is_declared_as_where_it_leads() {
    check("read_file", json!({ "path": "latest.rs" }), &expect!["read file:src/main.rs"]);
    check(
        "list_files",
        json!({ "path": "code" }),
        &expect!["read file:src/**, read file:.gitignore, read file:.ignore, read file:.git/info/exclude"],
    );
    check(
        "write_file",
        json!({ "path": "code/new/a.rs", "content": "" }),
        &expect!["write file:src/new/a.rs, write file:src/new"],
    );
}

#[test]
fn a_name_with_a_star_stays_one_file() {
    check("read_file", json!({ "path": "*.md" }), &expect!["read file:\\*.md"]);
}

#[test]
fn an_edit_declares_that_it_reads_and_writes() {
    check(
        "edit_file",
        json!({ "path": "src/main.rs", "edits": [{ "old": "a", "new": "b" }] }),
        &expect!["read file:src/main.rs, write file:src/main.rs"],
    );
}

#[test]
fn a_write_declares_the_directories_it_creates() {
    check("write_file", json!({ "path": "src/lib.rs", "content": "" }), &expect!["write file:src/lib.rs"]);
    check(
        "write_file",
        json!({ "path": "src/a/b/c.rs", "content": "" }),
        &expect!["write file:src/a/b/c.rs, write file:src/a/b, write file:src/a"],
    );
}

#[test]
fn a_deep_path_declares_few_accesses() {
    let deep = "d/".repeat(2000);
    let declared = |tool, input| asked(&tree(), tool, input).accesses.iter().cloned().collect::<Vec<_>>();
    let written = declared("write_file", json!({ "path": format!("{deep}a"), "content": "" }));
    let listed = declared("list_files", json!({ "path": deep }));
    let shown = [&written[1..], &listed[1..]].concat().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(shown, ["write file:d/**", "read file:**", "read file:**"]);
}

#[test]
fn names_shown_for_a_missing_path_are_declared() {
    let edits = json!([{ "old": "a", "new": "b" }]);
    check("read_file", json!({ "path": "man.rs" }), &expect!["read file:man.rs, read file:**"]);
    check("read_file", json!({ "path": "code/man.rs" }), &expect!["read file:src/man.rs, read file:src/**"]);
    check(
        "read_file",
        json!({ "path": "src/a/b/man.rs" }),
        &expect!["read file:src/a/b/man.rs, read file:src/**"],
    );
    check(
        "edit_file",
        json!({ "path": "src/man.rs", "edits": edits }),
        &expect!["read file:src/man.rs, write file:src/man.rs, read file:src/**"],
    );
    check(
        "list_files",
        json!({ "path": "src/a", "ignored": true }),
        &expect!["read file:src/a/**, read file:src/**"],
    );
}

#[test]
fn names_shown_for_a_directory_are_declared() {
    let edits = json!([{ "old": "a", "new": "b" }]);
    check("read_file", json!({ "path": "src" }), &expect!["read file:src, read file:src/**"]);
    check("edit_file", json!({ "path": "src", "edits": edits }), &expect!["read file:src, write file:src"]);
}

#[test]
fn a_listing_declares_the_ignore_files_above_it() {
    check(
        "list_files",
        json!({ "path": "src/inner" }),
        &expect![
            "read file:src/inner/**, read file:src/.gitignore, read file:src/.ignore, read file:src/.git/info/exclude, read file:.gitignore, read file:.ignore, read file:.git/info/exclude"
        ],
    );
    check("list_files", json!({ "path": "src", "ignored": true }), &expect!["read file:src/**"]);
}

#[test]
fn a_listing_declares_the_whole_tree() {
    check("list_files", json!({}), &expect!["read file:**"]);
    check(
        "list_files",
        json!({ "path": "src", "depth": 1 }),
        &expect!["read file:src/**, read file:.gitignore, read file:.ignore, read file:.git/info/exclude"],
    );
}

fn check_preview(tool: &str, input: Value, preview: &Expect) {
    preview.assert_debug_eq(&asked(&tree(), tool, input).preview);
}

#[test]
fn an_edit_is_previewed_as_a_diff() {
    let preview = asked(
        &tree(),
        "edit_file",
        json!({ "path": "src/main.rs", "edits": [{ "old": "{}", "new": "{\n}" }] }),
    )
    .preview;
    let diff = "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +1,2 @@\n-fn main() {}\n+fn main() {\n+}\n";
    assert_eq!(preview, Preview::Diff(diff.to_owned()));
}

#[test]
fn an_edit_that_cannot_be_made_is_previewed_in_words() {
    check_preview(
        "edit_file",
        json!({ "path": "src/main.rs", "edits": [{ "old": "fn run()", "new": "fn go()" }] }),
        &expect![[r#"
            Text(
                "this edit would be refused: `old` does not occur in it; the nearest is line 1 (shown as → tab, · blank, ⍽ other blank, ␍ carriage return):\n1\tfn main() {}\nwrite the old text as it is there, with blanks for ·, or read the file around it, then call `edit_file` again",
            )
        "#]],
    );
}

#[test]
fn a_write_is_previewed_as_a_diff() {
    check_preview(
        "write_file",
        json!({ "path": "new/a.txt", "content": "a\n" }),
        &expect![[r#"
        Diff(
            "--- /dev/null\n+++ b/new/a.txt\n@@ -0,0 +1 @@\n+a\n",
        )
    "#]],
    );
    check_preview(
        "write_file",
        json!({ "path": "src/main.rs", "content": "" }),
        &expect![[r#"
        Diff(
            "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +0,0 @@\n-fn main() {}\n",
        )
    "#]],
    );
}

#[test]
fn a_write_that_changes_nothing_is_previewed_in_words() {
    check_preview(
        "write_file",
        json!({ "path": "src/main.rs", "content": "fn main() {}\n" }),
        &expect![[r#"
            Text(
                "`src/main.rs` holds exactly this content already; nothing would be written",
            )
        "#]],
    );
    check_preview(
        "write_file",
        json!({ "path": "src/main.rs", "content": "", "create_only": true }),
        &expect![[r#"
            Text(
                "this write would be refused: `src/main.rs` already exists (1 line, 13 bytes); change it with `edit_file`, or leave out `create_only` to replace all of it",
            )
        "#]],
    );
}

#[test]
fn reading_needs_no_preview() {
    check_preview(
        "read_file",
        json!({ "path": "src/main.rs" }),
        &expect![[r"
        Arguments
    "]],
    );
}
