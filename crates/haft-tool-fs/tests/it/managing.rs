use expect_test::{Expect, expect};
use haft_core::ToolCall;
use haft_testkit::{Tree, call, cases, laid_out};
use haft_tools_core::{
    Approval, Batch, CallScope, LocalExecutor, PendingCall, ToolExecutor as _, ToolRegistry, approver_fn,
};
use haft_workdir::{RootAccess, Workdir};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn registry(tree: &Tree) -> ToolRegistry {
    ToolRegistry::of(haft_tool_fs::manage_tools(&tree.workdir())).unwrap()
}

#[tokio::main(flavor = "current_thread")]
async fn run(tree: &Tree, tool: &str, input: Value) -> String {
    let reply = call(&registry(tree), tool, input).await;
    format!("{}\n{}\n", reply.status, reply.output.to_text())
}

#[test]
fn behaves_as_its_pages_say() {
    cases::check("tests/manage_cases", registry);
}

fn check_spec(tool: &str, spec: &Expect) {
    let registry = registry(&Tree::new());
    spec.assert_eq(&laid_out(registry.get(tool).unwrap()));
}

#[test]
fn describes_its_tools() {
    check_spec(
        "move",
        &expect![[r#"
            {
              "description": "Moves or renames a file or a directory. Nothing is replaced: if something is at the new path, the call is refused. Directories above the new path are made.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": true, "idempotent": false, "open_world": false, "read_only": false, "streaming": false},
              "input_schema": {
                "additionalProperties": false,
                "properties": {
                  "from": {"description": "The file or directory to move, relative to the working directory.", "type": "string"},
                  "to": {"description": "Its whole new path, its name included.", "type": "string"}
                },
                "required": ["from", "to"],
                "type": "object"
              },
              "name": "move",
              "origin": {"kind": "builtin"},
              "title": "Move"
            }"#]],
    );
    check_spec(
        "copy",
        &expect![[r#"
            {
              "description": "Copies a file, or a directory with everything in it. Nothing is replaced: if something is at the new path, the call is refused. Directories above the new path are made. Symbolic links in a directory are left out and counted.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": false, "idempotent": false, "open_world": false, "read_only": false, "streaming": false},
              "input_schema": {
                "additionalProperties": false,
                "properties": {
                  "from": {"description": "The file or directory to copy, relative to the working directory.", "type": "string"},
                  "to": {"description": "The whole path of the copy, its name included.", "type": "string"}
                },
                "required": ["from", "to"],
                "type": "object"
              },
              "name": "copy",
              "origin": {"kind": "builtin"},
              "title": "Copy"
            }"#]],
    );
    check_spec(
        "delete",
        &expect![[r#"
            {
              "description": "Deletes a file, or a directory with everything in it. It is moved to a trash of this run, and the reply says how to bring it back. With `permanently` a file or an empty directory is removed for good.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": true, "idempotent": false, "open_world": false, "read_only": false, "streaming": false},
              "input_schema": {
                "additionalProperties": false,
                "properties": {
                  "path": {"description": "The file or directory to delete, relative to the working directory.", "type": "string"},
                  "permanently": {
                    "default": false,
                    "description": "Remove a file or an empty directory for good, instead of moving it to the trash.",
                    "type": "boolean"
                  }
                },
                "required": ["path"],
                "type": "object"
              },
              "name": "delete",
              "origin": {"kind": "builtin"},
              "title": "Delete"
            }"#]],
    );
    check_spec(
        "make_directory",
        &expect![[r#"
            {
              "description": "Makes a directory, with those above it that do not exist. write_file makes the directories of a file by itself.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": false, "idempotent": true, "open_world": false, "read_only": false, "streaming": false},
              "input_schema": {
                "additionalProperties": false,
                "properties": {
                  "path": {"description": "The directory to make, relative to the working directory.", "type": "string"}
                },
                "required": ["path"],
                "type": "object"
              },
              "name": "make_directory",
              "origin": {"kind": "builtin"},
              "title": "Make directory"
            }"#]],
    );
}

#[test]
fn no_path_leads_out() {
    let outside = Tree::new().file("secret", "secret\n");
    let tree = Tree::new()
        .link("link", outside.path())
        .file("a", "a\n")
        .link("to_secret", outside.path().join("secret"));
    let out = outside.path().join("secret");
    for path in ["../secret", "link/secret", out.to_str().unwrap(), "new/../../secret"] {
        for (tool, input) in [
            ("move", json!({ "from": "a", "to": path })),
            ("move", json!({ "from": path, "to": "b" })),
            ("copy", json!({ "from": "a", "to": path })),
            ("copy", json!({ "from": path, "to": "b" })),
            ("delete", json!({ "path": path })),
            ("delete", json!({ "path": path, "permanently": true })),
            ("make_directory", json!({ "path": path })),
        ] {
            let reply = run(&tree, tool, input);
            assert!(!reply.starts_with("ok"), "{tool} {path}: {reply}");
        }
    }
    // A link is what is named, and not where it leads.
    let reply = run(&tree, "delete", json!({ "path": "to_secret", "permanently": true }));
    assert!(reply.starts_with("ok"), "{reply}");
    assert_eq!((outside.list(), outside.read("secret").as_str()), (vec!["secret".to_owned()], "secret\n"));
}

#[test]
fn a_copy_can_be_executed_as_what_it_is_of() {
    let tree = Tree::new().executable("bin/run.sh", "echo\n").link("bin/link", "run.sh");
    let reply = run(&tree, "copy", json!({ "from": "bin", "to": "tools/bin" }));
    expect![[r"
        ok
        copied `bin` to `tools/bin`: 1 file, 5 bytes; left out: 1 link or other entry
    "]]
    .assert_eq(&reply);
    let mode = fs::metadata(tree.path().join("tools/bin/run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
}

#[test]
fn a_copy_has_the_permissions_of_what_it_is_of() {
    let tree = Tree::new().file("private/key", "secret\n").file("private/open", "text\n");
    let set = |path: &str, mode| {
        fs::set_permissions(tree.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    let mode = |path: &str| fs::metadata(tree.path().join(path)).unwrap().permissions().mode() & 0o777;
    set("private/key", 0o600);
    set("private", 0o700);
    let reply = run(&tree, "copy", json!({ "from": "private", "to": "copy" }));
    assert!(reply.starts_with("ok\n"), "{reply}");
    assert_eq!((mode("copy"), mode("copy/key"), mode("copy/open")), (0o700, 0o600, mode("private/open")));
    // One that may not be written is copied all the same, and nobody can write the copy.
    set("private", 0o555);
    run(&tree, "copy", json!({ "from": "private", "to": "second" }));
    assert_eq!((mode("second"), tree.read("second/key")), (0o755, "secret\n".to_owned()));
    set("private", 0o700);
}

#[test]
fn what_cannot_be_copied_whole_is_not_copied() {
    let tree = Tree::new().file("from/a", "a\n").directory("from/deep");
    let large = fs::File::create(tree.path().join("from/deep/large")).unwrap();
    large.set_len((64 << 20) + 1).unwrap();
    let before = tree.list();
    expect![[r"
        error: invalid input
        nothing was copied: `from/deep/large` is larger than 64.0 MiB; copy it with a command such as `cp`
    "]]
    .assert_eq(&run(&tree, "copy", json!({ "from": "from", "to": "new/to" })));
    assert_eq!(tree.list(), before);
}

#[test]
fn what_cannot_be_moved_leaves_no_directories_behind() {
    let tree = Tree::new().file("dir/a", "a\n").file("file", "");
    let before = tree.list();
    for (from, to) in [("dir/missing", "new/deep/a"), ("dir/a", "file/below/a")] {
        let reply = run(&tree, "move", json!({ "from": from, "to": to }));
        assert!(!reply.starts_with("ok\n"), "{reply}");
        assert_eq!(tree.list(), before, "{from} to {to}");
    }
}

#[test]
fn a_link_is_moved_and_deleted_as_what_it_is() {
    let tree = Tree::new().file("target/a", "a\n").link("link", "target").link("gone", "nowhere");
    expect![[r"
        ok
        moved `link` to `target/link`
    "]]
    .assert_eq(&run(&tree, "move", json!({ "from": "link", "to": "target/link" })));
    expect![[r"
        ok
        deleted `gone`; it is kept as `.haft-trash/test/gone`, from where `move` brings it back
    "]]
    .assert_eq(&run(&tree, "delete", json!({ "path": "gone" })));
    expect![[r"
        ok
        deleted `target/link` for good
    "]]
    .assert_eq(&run(&tree, "delete", json!({ "path": "target/link", "permanently": true })));
    assert_eq!(tree.read("target/a"), "a\n");
}

#[test]
fn the_trash_keeps_what_has_the_same_name_and_does_not_swallow_itself() {
    let tree = Tree::new();
    let mut replies = String::new();
    for content in ["one\n", "two\n"] {
        fs::write(tree.path().join("a"), content).unwrap();
        replies += &run(&tree, "delete", json!({ "path": "a" }));
    }
    replies += &run(&tree, "delete", json!({ "path": ".haft-trash/test/a" }));
    replies += &run(&tree, "delete", json!({ "path": ".haft-trash" }));
    expect![[r"
        ok
        deleted `a`; it is kept as `.haft-trash/test/a`, from where `move` brings it back
        ok
        deleted `a`; it is kept as `.haft-trash/test/1~a`, from where `move` brings it back
        error: invalid input
        `.haft-trash/test/a` is in the trash already; set `permanently` to remove it for good
        error: invalid input
        `.haft-trash` holds the trash of this run and cannot be moved into it; delete what is in it with `permanently`
    "]]
    .assert_eq(&replies);
    assert_eq!(
        (
            tree.read(".haft-trash/test/a"),
            tree.read(".haft-trash/test/1~a"),
            tree.read(".haft-trash/.gitignore")
        ),
        ("one\n".to_owned(), "two\n".to_owned(), "*\n".to_owned())
    );
}

/// Makes a call where there is a root for reading, `{ref}`; gives the reply and whether anybody was asked.
#[tokio::main(flavor = "current_thread")]
async fn beside_a_root_for_reading(tree: &Tree, tool: &str, input: &Value) -> (String, bool) {
    let other = tree.path().canonicalize().unwrap().join("ref");
    let input = serde_json::from_str(&input.to_string().replace("{ref}", other.to_str().unwrap())).unwrap();
    let workdir = Workdir::open(tree.path().join("work")).unwrap();
    let workdir = workdir.with_root(&other, RootAccess::ReadOnly).unwrap();
    let asked = Arc::new(AtomicBool::new(false));
    let was_asked = Arc::clone(&asked);
    let approver = approver_fn(move |_: &PendingCall| {
        was_asked.store(true, Ordering::SeqCst);
        Approval::Approve
    });
    let registry = ToolRegistry::of(haft_tool_fs::manage_tools(&workdir)).unwrap();
    let executor = LocalExecutor::builder(registry).approver(approver).build();
    let call = ToolCall::new("c1".parse().unwrap(), tool, input);
    let batch = Batch::new(CallScope::new("test".parse().unwrap()), vec![call]);
    let reply = executor.execute_batch(batch).await.into_replies().unwrap().remove(0);
    let text = format!("{}\n{}\n", reply.status, reply.output.to_text());
    (text.replace(other.to_str().unwrap(), "{ref}"), asked.load(Ordering::SeqCst))
}

#[test]
fn nobody_is_asked_about_changes_in_a_root_for_reading() {
    let tree = Tree::new().file("work/a", "mine\n").file("ref/b", "theirs\n");
    let before = tree.list();
    let mut replies = String::new();
    for (tool, input) in [
        ("move", json!({ "from": "a", "to": "{ref}/a" })),
        ("move", json!({ "from": "{ref}/b", "to": "b" })),
        ("copy", json!({ "from": "a", "to": "{ref}/new/a" })),
        ("delete", json!({ "path": "{ref}/b" })),
        ("delete", json!({ "path": "{ref}/b", "permanently": true })),
        ("make_directory", json!({ "path": "{ref}/new" })),
    ] {
        let (reply, was_asked) = beside_a_root_for_reading(&tree, tool, &input);
        assert!(!was_asked, "{tool} {input}");
        replies += &reply;
    }
    expect![[r"
        denied
        `{ref}/a` is in a directory that is for reading only; write somewhere else, or ask the user to do it
        denied
        `{ref}/b` is in a directory that is for reading only; write somewhere else, or ask the user to do it
        denied
        `{ref}/new/a` is in a directory that is for reading only; write somewhere else, or ask the user to do it
        denied
        `{ref}/b` is in a directory that is for reading only; write somewhere else, or ask the user to do it
        denied
        `{ref}/b` is in a directory that is for reading only; write somewhere else, or ask the user to do it
        denied
        `{ref}/new` is in a directory that is for reading only; write somewhere else, or ask the user to do it
    "]].assert_eq(&replies);
    assert_eq!(tree.list(), before);
    // To copy from there is to read.
    let (reply, _) = beside_a_root_for_reading(&tree, "copy", &json!({ "from": "{ref}/b", "to": "b" }));
    assert_eq!(reply, "ok\ncopied `{ref}/b` to `b`: 7 bytes\n");
}
