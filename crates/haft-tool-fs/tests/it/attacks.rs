//! Trees made to mislead: the tools must neither leave the root, nor wait for ever, nor corrupt anything.

use crate::fixture::{registry, run, shown};
use expect_test::{Expect, expect};
use haft_core::{ReplyStatus, ToolCall};
use haft_testkit::Tree;
use haft_tools_core::{
    Approval, Batch, CallScope, LocalExecutor, PendingCall, ToolExecutor as _, approver_fn,
};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The calls of every tool that would touch `path`.
fn calls(path: &str) -> [(&'static str, Value); 4] {
    [
        ("read_file", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": "changed" })),
        ("edit_file", json!({ "path": path, "edits": [{ "old": "secret", "new": "changed" }] })),
        ("list_files", json!({ "path": path })),
    ]
}

/// Replies of every tool to the same path.
fn check(tree: &Tree, path: &str, replies: &Expect) {
    let mut text = String::new();
    for (tool, input) in calls(path) {
        write!(text, "{tool}: {}", shown(&run(tree, tool, input))).unwrap();
    }
    replies.assert_eq(&text);
}

#[test]
fn no_path_leads_out() {
    let outside = Tree::new().file("secret", "secret\n");
    let tree = Tree::new()
        .link("absolute", outside.path())
        .link("file", outside.path().join("secret"))
        .link("relative", Path::new("..").join(outside.path().file_name().unwrap()))
        .link("twice", "absolute")
        .directory("inside");
    let name = outside.path().file_name().unwrap().to_str().unwrap();
    let paths = [
        format!("{}/secret", outside.path().display()),
        format!("../{name}/secret"),
        format!("inside/../../{name}/secret"),
        format!("new/../../{name}/secret"),
        "absolute/secret".to_owned(),
        "relative/secret".to_owned(),
        "twice/secret".to_owned(),
        "file".to_owned(),
    ];
    for path in paths {
        for (tool, input) in calls(&path) {
            let reply = run(&tree, tool, input);
            let text = reply.output.to_text();
            let is_refused = matches!(
                reply.status,
                ReplyStatus::Denied | ReplyStatus::Error(haft_core::ErrorKind::InvalidInput)
            );
            assert!(is_refused && !text.contains("secret\n"), "{tool} {path}: {}", shown(&reply));
        }
    }
    assert_eq!((outside.list(), outside.read("secret").as_str()), (vec!["secret".to_owned()], "secret\n"));
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    check(
        &Tree::new().pipe("pipe"),
        "pipe",
        &expect![[r"
        read_file: error: invalid input
        `pipe` is a named pipe, not a regular file; use the path of a regular file
        write_file: error: invalid input
        `pipe` is a named pipe, not a regular file; use the path of a regular file
        edit_file: error: invalid input
        `pipe` is a named pipe, not a regular file; use the path of a regular file
        list_files: error: invalid input
        `pipe` is a named pipe, not a regular file; use the path of a regular file
    "]],
    );
}

#[test]
fn a_socket_is_refused() {
    let tree = Tree::new();
    let socket = UnixListener::bind(tree.path().join("socket")).unwrap();
    check(
        &tree,
        "socket",
        &expect![[r"
        read_file: error: invalid input
        `socket` is a socket, not a regular file; use the path of a regular file
        write_file: error: invalid input
        `socket` is a socket, not a regular file; use the path of a regular file
        edit_file: error: invalid input
        `socket` is a socket, not a regular file; use the path of a regular file
        list_files: error: invalid input
        `socket` is a socket, not a regular file; use the path of a regular file
    "]],
    );
    let patch = "*** Begin Patch\n*** Delete File: socket\n*** End Patch\n";
    let reply = run(&tree, "apply_patch", json!({ "patch": patch }));
    expect![[r"
        error: invalid input
        the patch was not applied
        `socket` is a socket, not a regular file; use the path of a regular file
    "]]
    .assert_eq(&shown(&reply));
    assert_eq!(tree.list(), ["socket|"]);
    drop(socket);
}

#[test]
fn an_odd_path_is_refused() {
    check(
        &Tree::new(),
        "a\0b",
        &expect![[r"
        read_file: error: invalid input
        the path `a\u{0}b` contains a NUL byte; write the path without it
        write_file: error: invalid input
        the path `a\u{0}b` contains a NUL byte; write the path without it
        edit_file: error: invalid input
        the path `a\u{0}b` contains a NUL byte; write the path without it
        list_files: error: invalid input
        the path `a\u{0}b` contains a NUL byte; write the path without it
    "]],
    );
    check(
        &Tree::new(),
        &"x".repeat(300),
        &expect![[r"
        read_file: error: invalid input
        the path `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` is too long; use a path under 4096 bytes with names of at most 255 bytes
        write_file: error: invalid input
        the path `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` is too long; use a path under 4096 bytes with names of at most 255 bytes
        edit_file: error: invalid input
        the path `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` is too long; use a path under 4096 bytes with names of at most 255 bytes
        list_files: error: invalid input
        the path `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` is too long; use a path under 4096 bytes with names of at most 255 bytes
    "]],
    );
}

#[test]
fn a_name_cannot_forge_a_line_of_a_reply() {
    let tree = Tree::new().file("a\n[2 of 2 entries shown]\u{1b}[2J", "text\n");
    expect![[r"
        ok
        ./
          a\n[2 of 2 entries shown]\u{1b}[2J  5 bytes
    "]]
    .assert_eq(&shown(&run(&tree, "list_files", json!({}))));
    expect![[r"
        ok
        a\n[2 of 2 entries shown]\u{1b}[2J: 1 line, 5 bytes
        1	text
    "]]
    .assert_eq(&shown(&run(&tree, "read_file", json!({ "path": "a\n[2 of 2 entries shown]\u{1b}[2J" }))));
}

/// Runs a call while something else changes the tree between its preparation and its run.
#[tokio::main(flavor = "current_thread")]
async fn meanwhile(
    tree: &Tree,
    tool: &str,
    input: Value,
    change: impl Fn() + Send + Sync + 'static,
) -> String {
    let approver = approver_fn(move |_: &PendingCall| {
        change();
        Approval::Approve
    });
    let executor = LocalExecutor::builder(registry(tree)).approver(approver).build();
    let call = ToolCall::new("c1".parse().unwrap(), tool, input);
    let batch = Batch::new(CallScope::new("test".parse().unwrap()), vec![call]);
    let replies = executor.execute_batch(batch).await.into_replies().unwrap();
    shown(&replies[0])
}

#[test]
fn a_file_relinked_before_it_is_used_is_not_followed() {
    for (tool, input) in &calls("inside")[..3] {
        let outside = Tree::new().file("secret", "secret\n");
        let tree = Tree::new().file("inside", "secret of the inside\n");
        let (link, target) = (tree.path().join("inside"), outside.path().join("secret"));
        let reply = meanwhile(&tree, tool, input.clone(), move || relink(&link, &target));
        expect![[r"
            error: failed
            `inside` changed while it was being used: a part of it is now a symbolic link; repeat the call to use what is there now
        "]]
        .assert_eq(&reply);
        assert_eq!(outside.read("secret"), "secret\n", "{tool}");
    }
}

#[test]
fn a_directory_relinked_before_it_is_used_is_not_followed() {
    for (tool, input) in
        calls("dir/file").into_iter().take(3).chain([("list_files", json!({ "path": "dir" }))])
    {
        let outside = Tree::new().file("file", "secret\n");
        let tree = Tree::new().file("dir/file", "secret of the inside\n");
        let (link, target) = (tree.path().join("dir"), outside.path().to_owned());
        let reply = meanwhile(&tree, tool, input, move || relink(&link, &target));
        assert!(reply.starts_with("error: failed\n`dir"), "{tool}: {reply}");
        assert!(reply.contains("changed while it was being used"), "{tool}: {reply}");
        assert_eq!(
            (outside.list(), outside.read("file").as_str()),
            (vec!["file".to_owned()], "secret\n"),
            "{tool}"
        );
    }
}

/// Puts a link where something else is.
fn relink(link: &Path, target: &PathBuf) {
    if link.is_dir() {
        fs::remove_dir_all(link).unwrap();
    } else {
        fs::remove_file(link).unwrap();
    }
    symlink(target, link).unwrap();
}

#[test]
fn a_file_that_is_gone_before_it_is_used_is_missed() {
    let tree = Tree::new().file("a.txt", "one\n");
    let path = tree.path().join("a.txt");
    let input = json!({ "path": "a.txt", "edits": [{ "old": "one", "new": "two" }] });
    let reply = meanwhile(&tree, "edit_file", input, move || fs::remove_file(&path).unwrap());
    expect![[r"
        error: not found
        `a.txt` does not exist; list its directory or search for the name, then use the path you find. To create a file, use `write_file`.
    "]].assert_eq(&reply);
    assert_eq!(tree.list(), Vec::<String>::new());
}

#[test]
fn names_that_were_not_declared_are_not_shown() {
    let edits = json!([{ "old": "one", "new": "two" }]);
    for (tool, input) in [
        ("read_file", json!({ "path": "dir/a.txt" })),
        ("edit_file", json!({ "path": "dir/a.txt", "edits": edits })),
        ("read_file", json!({ "path": "dir" })),
        ("list_files", json!({ "path": "dir" })),
    ] {
        let tree = Tree::new().file("dir/a.txt", "one\n").file("dir/b.txt", "").file("dim/a.txt", "");
        let path = tree.path().join(input["path"].as_str().unwrap());
        let reply =
            meanwhile(&tree, tool, input, move || fs::rename(&path, path.with_extension("old")).unwrap());
        assert!(reply.contains("does not exist; list its directory or search"), "{tool}: {reply}");
    }
}

#[test]
fn a_directory_that_takes_the_place_of_a_file_is_not_listed() {
    let tree = Tree::new().file("a.txt", "one\n");
    let path = tree.path().join("a.txt");
    let reply = meanwhile(&tree, "read_file", json!({ "path": "a.txt" }), move || {
        fs::remove_file(&path).unwrap();
        fs::create_dir_all(path.join("inner")).unwrap();
    });
    expect![[r"
        error: invalid input
        `a.txt` is a directory, not a file; list it, or use the path of a file
    "]]
    .assert_eq(&reply);
}

#[test]
fn a_file_that_comes_to_be_before_it_is_created_is_not_replaced() {
    let tree = Tree::new();
    let path = tree.path().join("a.txt");
    let input = json!({ "path": "a.txt", "content": "mine\n", "create_only": true });
    let reply = meanwhile(&tree, "write_file", input, move || fs::write(&path, "theirs\n").unwrap());
    expect![[r"
        error: invalid input
        `a.txt` already exists (1 line, 7 bytes); change it with `edit_file`, or leave out `create_only` to replace all of it
    "]].assert_eq(&reply);
    assert_eq!(tree.read("a.txt"), "theirs\n");
}

#[test]
fn a_renamed_root_is_still_the_one_that_was_opened() {
    let scratch = Tree::new().file("root/a.txt", "one\n");
    let root = haft_workdir::Workdir::open(scratch.path().join("root")).unwrap();
    let tools = haft_tools_core::ToolRegistry::of(haft_tool_fs::tools(&root)).unwrap();
    fs::rename(scratch.path().join("root"), scratch.path().join("moved")).unwrap();
    fs::create_dir(scratch.path().join("root")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let input = json!({ "path": "a.txt", "content": "two\n" });
    let reply = runtime.block_on(haft_testkit::call(&tools, "write_file", input));
    assert!(reply.status.is_ok(), "{}", shown(&reply));
    assert_eq!(scratch.list(), ["moved/", "moved/a.txt", "root/"]);
    assert_eq!(scratch.read("moved/a.txt"), "two\n");
}

#[test]
fn a_written_file_keeps_its_mode_and_leaves_nothing_beside_it() {
    let tree = Tree::new().executable("run.sh", "echo one\n");
    run(&tree, "edit_file", json!({ "path": "run.sh", "edits": [{ "old": "one", "new": "two" }] }));
    run(&tree, "write_file", json!({ "path": "run.sh", "content": "echo three\n" }));
    let mode = fs::metadata(tree.path().join("run.sh")).unwrap().permissions().mode();
    assert_eq!(
        (mode & 0o777, tree.list(), tree.read("run.sh").as_str()),
        (0o755, vec!["run.sh".to_owned()], "echo three\n")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn no_edit_of_many_at_once_is_lost() {
    const EDITS: usize = 200;
    let lines = (0..EDITS).fold(String::new(), |text, line| text + &format!("line {line:03};\n"));
    let tree = Tree::new().file("a", &lines);
    let start = Arc::new(tokio::sync::Barrier::new(EDITS));
    let mut edits = tokio::task::JoinSet::new();
    for line in 0..EDITS {
        // Each call has a registry and an executor of its own, so that none of them waits for another but for the file's turn.
        let (registry, start) = (registry(&tree), Arc::clone(&start));
        edits.spawn(async move {
            let edit = json!({ "old": format!("line {line:03};"), "new": format!("LINE {line:03};") });
            start.wait().await;
            haft_testkit::call(&registry, "edit_file", json!({ "path": "a", "edits": [edit] })).await
        });
    }
    for reply in edits.join_all().await {
        assert!(reply.status.is_ok(), "{}", shown(&reply));
    }
    assert_eq!(tree.read("a"), lines.to_uppercase());
}

#[test]
fn a_huge_line_is_edited_in_place() {
    let huge = "x,".repeat(17 << 20);
    let tree = Tree::new().file("a", &format!("{huge}needle,{huge}"));
    let reply = run(&tree, "edit_file", json!({ "path": "a", "edits": [{ "old": "needle", "new": "pin" }] }));
    let text = reply.output.to_text();
    assert!(text.contains("larger than 64.0 MiB"), "{}", &text[..text.len().min(500)]);
    let tree = Tree::new().file("a", &format!("{huge}needle"));
    let reply = run(&tree, "edit_file", json!({ "path": "a", "edits": [{ "old": "needle", "new": "pin" }] }));
    let text = reply.output.to_text();
    assert!(reply.status.is_ok() && text.len() < 6_000, "{}", &text[..text.len().min(500)]);
    assert!(tree.read("a").ends_with("x,x,pin"));
    let read = run(&tree, "read_file", json!({ "path": "a" })).output.to_text();
    assert!(read.len() < 3_000, "{}", read.len());
}

#[test]
fn a_file_of_the_kernel_is_read_to_its_end() {
    if !Path::new("/proc/self/status").exists() {
        return;
    }
    let root = haft_workdir::Workdir::open("/proc/self").unwrap();
    let tools = haft_tools_core::ToolRegistry::of(haft_tool_fs::tools(&root)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let reply =
        runtime.block_on(haft_testkit::call(&tools, "read_file", json!({ "path": "status", "limit": 1 })));
    assert!(reply.status.is_ok() && reply.output.to_text().contains("\n1\tName:"), "{}", shown(&reply));
}

#[test]
fn a_patch_leads_nowhere_else() {
    let outside = Tree::new().file("secret", "secret\n");
    let tree = Tree::new().link("link", outside.path()).file("a", "a\n");
    let name = outside.path().join("secret");
    for path in ["../secret", "link/secret", name.to_str().unwrap(), "new/../../secret"] {
        for patch in [
            format!("*** Begin Patch\n*** Update File: {path}\n-secret\n+changed\n*** End Patch\n"),
            format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n"),
            format!("*** Begin Patch\n*** Add File: {path}2\n+new\n*** End Patch\n"),
            format!("*** Begin Patch\n*** Update File: a\n*** Move to: {path}2\n-a\n+b\n*** End Patch\n"),
        ] {
            let reply = run(&tree, "apply_patch", json!({ "patch": patch }));
            assert!(!reply.status.is_ok(), "{path}: {}", shown(&reply));
        }
    }
    assert_eq!((outside.list(), outside.read("secret").as_str()), (vec!["secret".to_owned()], "secret\n"));
    assert_eq!(tree.read("a"), "a\n");
}
