use expect_test::{Expect, expect};
use haft_testkit::{Tree, call, cases};
use haft_tools_core::ToolRegistry;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;

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
    spec.assert_eq(&format!("{}\n", serde_json::to_string_pretty(registry.get(tool).unwrap()).unwrap()));
}

#[test]
#[expect(clippy::too_many_lines, reason = "snapshots")]
fn describes_its_tools() {
    check_spec(
        "move",
        &expect![[r#"
        {
          "name": "move",
          "title": "Move",
          "description": "Moves or renames a file or a directory. Nothing is replaced: if something is at the new path, the call is refused. Directories above the new path are made.",
          "input_schema": {
            "additionalProperties": false,
            "properties": {
              "from": {
                "description": "The file or directory to move, relative to the working directory.",
                "type": "string"
              },
              "to": {
                "description": "Its whole new path, its name included.",
                "type": "string"
              }
            },
            "required": [
              "from",
              "to"
            ],
            "type": "object"
          },
          "hints": {
            "read_only": false,
            "destructive": true,
            "idempotent": false,
            "open_world": false,
            "streaming": false
          },
          "origin": {
            "kind": "builtin"
          },
          "exposure": "direct",
          "explicit": false
        }
    "#]],
    );
    check_spec(
        "copy",
        &expect![[r#"
        {
          "name": "copy",
          "title": "Copy",
          "description": "Copies a file, or a directory with everything in it. Nothing is replaced: if something is at the new path, the call is refused. Directories above the new path are made. Symbolic links in a directory are left out and counted.",
          "input_schema": {
            "additionalProperties": false,
            "properties": {
              "from": {
                "description": "The file or directory to copy, relative to the working directory.",
                "type": "string"
              },
              "to": {
                "description": "The whole path of the copy, its name included.",
                "type": "string"
              }
            },
            "required": [
              "from",
              "to"
            ],
            "type": "object"
          },
          "hints": {
            "read_only": false,
            "destructive": false,
            "idempotent": false,
            "open_world": false,
            "streaming": false
          },
          "origin": {
            "kind": "builtin"
          },
          "exposure": "direct",
          "explicit": false
        }
    "#]],
    );
    check_spec(
        "delete",
        &expect![[r#"
        {
          "name": "delete",
          "title": "Delete",
          "description": "Deletes a file, or a directory with everything in it. It is moved to a trash of this run, and the reply says how to bring it back. With `permanently` a file or an empty directory is removed for good.",
          "input_schema": {
            "additionalProperties": false,
            "properties": {
              "path": {
                "description": "The file or directory to delete, relative to the working directory.",
                "type": "string"
              },
              "permanently": {
                "default": false,
                "description": "Remove a file or an empty directory for good, instead of moving it to the trash.",
                "type": "boolean"
              }
            },
            "required": [
              "path"
            ],
            "type": "object"
          },
          "hints": {
            "read_only": false,
            "destructive": true,
            "idempotent": false,
            "open_world": false,
            "streaming": false
          },
          "origin": {
            "kind": "builtin"
          },
          "exposure": "direct",
          "explicit": false
        }
    "#]],
    );
    check_spec(
        "make_directory",
        &expect![[r#"
        {
          "name": "make_directory",
          "title": "Make directory",
          "description": "Makes a directory, with those above it that do not exist. write_file makes the directories of a file by itself.",
          "input_schema": {
            "additionalProperties": false,
            "properties": {
              "path": {
                "description": "The directory to make, relative to the working directory.",
                "type": "string"
              }
            },
            "required": [
              "path"
            ],
            "type": "object"
          },
          "hints": {
            "read_only": false,
            "destructive": false,
            "idempotent": true,
            "open_world": false,
            "streaming": false
          },
          "origin": {
            "kind": "builtin"
          },
          "exposure": "direct",
          "explicit": false
        }
    "#]],
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
    let mode = std::fs::metadata(tree.path().join("tools/bin/run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
}
