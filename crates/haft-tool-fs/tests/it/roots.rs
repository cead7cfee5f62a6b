//! Several roots, and what is said of them to who decides.

use expect_test::{Expect, expect};
use haft_core::ToolCall;
use haft_testkit::Tree;
use haft_tools_core::{
    AccessMode, Approval, Batch, CallScope, LocalExecutor, PendingCall, Policy, Resource, Rule, Scheme,
    ToolExecutor as _, ToolRegistry, approver_fn,
};
use haft_workdir::{RootAccess, Workdir};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const FILE: Scheme = Scheme::new("file");

fn tree() -> Tree {
    Tree::new()
        .file("work/src/lib.rs", "mine\n")
        .file("ref/src/lib.rs", "theirs\n")
        .file("ref/src/deep/a.rs", "theirs\n")
}

/// Makes a call where all of the working directory may be read and written; gives the reply, and what was asked about.
///
/// `{ref}` stands for the path of the other root.
#[tokio::main(flavor = "current_thread")]
async fn reply(tree: &Tree, access: RootAccess, tool: &str, input: &Value) -> String {
    let other = tree.path().canonicalize().unwrap().join("ref");
    let other = other.to_str().unwrap();
    let input = serde_json::from_str(&input.to_string().replace("{ref}", other)).unwrap();
    let workdir = Workdir::open(tree.path().join("work")).unwrap().with_root(other, access).unwrap();
    let everything = Resource::subtree(FILE, "");
    let asked = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&asked);
    let approver = approver_fn(move |pending: &PendingCall| {
        let accesses: Vec<String> = pending.accesses.iter().map(ToString::to_string).collect();
        *seen.lock().unwrap() = format!("asked about {}\n", accesses.join(", "));
        Approval::Approve
    });
    let policy = Policy::new()
        .allow(Rule::access(AccessMode::Read, everything.clone()))
        .allow(Rule::access(AccessMode::Write, everything));
    let registry = ToolRegistry::of(haft_tool_fs::tools(&workdir)).unwrap();
    let executor = LocalExecutor::builder(registry).policy(policy).approver(approver).build();
    let call = ToolCall::new("c1".parse().unwrap(), tool, input);
    let batch = Batch::new(CallScope::new("test".parse().unwrap()), vec![call]);
    let outcome = executor.execute_batch(batch).await;
    let reply = outcome.into_replies().unwrap().remove(0);
    let asked = asked.lock().unwrap().clone();
    format!("{asked}{}\n{}\n", reply.status, reply.output.to_text()).replace(other, "{ref}")
}

fn check(access: RootAccess, tool: &str, input: &Value, expected: &Expect) {
    expected.assert_eq(&reply(&tree(), access, tool, input));
}

#[test]
fn what_is_allowed_in_one_root_is_not_in_another() {
    let read = RootAccess::ReadOnly;
    check(
        read,
        "read_file",
        &json!({ "path": "src/lib.rs" }),
        &expect![[r"
        ok
        src/lib.rs: 1 line, 5 bytes
        1	mine
    "]],
    );
    check(
        read,
        "read_file",
        &json!({ "path": "{ref}/src/lib.rs" }),
        &expect![[r"
        asked about read outside:{ref}/src/lib.rs
        ok
        {ref}/src/lib.rs: 1 line, 7 bytes
        1	theirs
    "]],
    );
    check(
        read,
        "list_files",
        &json!({ "path": "{ref}/src" }),
        &expect![[r"
        asked about read outside:{ref}/src/**, read outside:{ref}/.gitignore, read outside:{ref}/.ignore, read outside:{ref}/.git/info/exclude
        ok
        {ref}/src/
          deep/
            a.rs  7 bytes
          lib.rs  7 bytes
    "]],
    );
    check(
        read,
        "list_files",
        &json!({ "path": "{ref}" }),
        &expect![[r"
        asked about read outside:{ref}/**
        ok
        {ref}/
          src/
            deep/  (1 entry)
            lib.rs  7 bytes
    "]],
    );
    check(
        read,
        "read_file",
        &json!({ "path": "{ref}/src/libs.rs" }),
        &expect![[r"
        asked about read outside:{ref}/src/libs.rs, read outside:{ref}/src/**
        error: not found
        `{ref}/src/libs.rs` does not exist; did you mean `{ref}/src/lib.rs`?
    "]],
    );
}

#[test]
fn nothing_is_written_in_a_root_for_reading() {
    let patch = "*** Begin Patch\n*** Update File: {ref}/src/lib.rs\n@@\n-theirs\n+mine\n*** End Patch\n";
    let calls = [
        ("write_file", json!({ "path": "{ref}/new/a.rs", "content": "mine\n" })),
        ("edit_file", json!({ "path": "{ref}/src/lib.rs", "edits": [{ "old": "theirs", "new": "mine" }] })),
        ("apply_patch", json!({ "patch": patch })),
    ];
    let tree = tree();
    let before = tree.list();
    let replies: String =
        calls.into_iter().map(|(tool, input)| reply(&tree, RootAccess::ReadOnly, tool, &input)).collect();
    expect![[r"
        denied
        `{ref}/new/a.rs` is in a directory that is for reading only; write somewhere else, or ask the user to do it
        denied
        `{ref}/src/lib.rs` is in a directory that is for reading only; write somewhere else, or ask the user to do it
        denied
        `{ref}/src/lib.rs` is in a directory that is for reading only; write somewhere else, or ask the user to do it
    "]].assert_eq(&replies);
    assert_eq!((tree.list(), tree.read("ref/src/lib.rs")), (before, "theirs\n".to_owned()));
}

#[test]
fn a_root_for_writing_is_written_where_that_is_allowed() {
    check(
        RootAccess::ReadWrite,
        "edit_file",
        &json!({ "path": "{ref}/src/lib.rs", "edits": [{ "old": "theirs", "new": "mine" }] }),
        &expect![[r"
            asked about read outside:{ref}/src/lib.rs, write outside:{ref}/src/lib.rs
            ok
            edited `{ref}/src/lib.rs`: 1 replacement, sha256:fcbc800db3f1
            @@ -1 +1 @@
            -theirs
            +mine
        "]],
    );
    check(
        RootAccess::ReadWrite,
        "write_file",
        &json!({ "path": "{ref}/new/a.rs", "content": "mine\n" }),
        &expect![[r"
            asked about write outside:{ref}/new/a.rs, write outside:{ref}/new
            ok
            created `{ref}/new/a.rs`: 1 line, 5 bytes; new directories: `{ref}/new`
        "]],
    );
}
