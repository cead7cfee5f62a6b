//! What a reply names beside a path that does not exist.

use crate::fixture::{FILE, exactly, run_without, shown};
use haft_core::ReplyStatus;
use haft_testkit::Tree;
use haft_tools_core::{Resource, ToolRegistry};
use serde_json::{Value, json};

/// Each tool that answers with near names, for a path that does not exist.
fn calls(path: &str) -> [(&'static str, Value); 7] {
    let change = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch\n");
    [
        ("read_file", json!({ "path": path })),
        ("list_files", json!({ "path": path })),
        ("edit_file", json!({ "path": path, "edits": [{ "old": "a", "new": "b" }] })),
        ("apply_patch", json!({ "patch": change })),
        ("move", json!({ "from": path, "to": "elsewhere" })),
        ("delete", json!({ "path": path })),
        ("copy", json!({ "from": path, "to": "elsewhere" })),
    ]
}

fn registry(tree: &Tree) -> ToolRegistry {
    let workdir = tree.workdir();
    ToolRegistry::of(haft_tool_fs::tools(&workdir).into_iter().chain(haft_tool_fs::manage_tools(&workdir)))
        .unwrap()
}

/// Gives what is said to be near a path, which all tools agree about.
fn near<const N: usize>(tree: &Tree, path: &str, denied: &[Resource; N]) -> String {
    let said = calls(path).map(|(tool, input)| {
        let reply = run_without(&registry(tree), denied.clone(), tool, input);
        assert_eq!(
            reply.status,
            ReplyStatus::Error(haft_core::ErrorKind::NotFound),
            "{tool}: {}",
            shown(&reply)
        );
        let text = reply.output.to_text();
        let near = text.split_once("did you mean ").map_or("nothing", |(_, near)| near);
        (tool, near.split('?').next().unwrap_or_default().to_owned())
    });
    let first = said[0].1.clone();
    assert!(said.iter().all(|(_, near)| *near == first), "{said:?}");
    first
}

fn tree() -> Tree {
    ["token.pem", "token.pen", "token.pdm", "token.txt", "keys/main.pem", "src/main.rs"]
        .iter()
        .fold(Tree::new(), |tree, path| tree.file(path, "a\n"))
}

#[test]
fn a_name_that_is_denied_is_passed_by_and_refuses_no_call() {
    let pem = || [exactly("token.pem"), exactly("token.pen"), exactly("token.pdm")];
    assert_eq!(near(&tree(), "token.pm", &[exactly("absent")]), "`token.pdm`, `token.pem` or `token.pen`");
    // What is denied does not take the place of what may be named.
    assert_eq!(near(&tree(), "token.pm", &pem()), "`token.txt`");
    assert_eq!(
        near(&tree(), "token.pm", &[Resource::subtree(FILE, "keys")]),
        "`token.pdm`, `token.pem` or `token.pen`"
    );
}

#[test]
fn a_directory_that_is_denied_is_not_named_nor_what_is_in_it() {
    for denied in [Resource::subtree(FILE, "keys"), exactly("keys")] {
        assert_eq!(near(&tree(), "keyz/main.pem", &[denied]), "nothing");
    }
    // Whether there is something in a directory that may not be read is not told by what is near.
    for name in ["main.pem", "other.pem"] {
        let denied = exactly(&format!("keys/{name}"));
        assert_eq!(near(&tree(), &format!("keyz/{name}"), &[denied]), "`keys`");
    }
}

#[test]
fn a_link_to_what_is_denied_is_not_named() {
    let tree = tree().link("linked.rs", "keys/main.pem");
    assert_eq!(near(&tree, "linkd.rs", &[exactly("absent")]), "`linked.rs`");
    assert_eq!(near(&tree, "linkd.rs", &[Resource::subtree(FILE, "keys")]), "nothing");
}
