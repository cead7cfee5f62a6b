//! What the policy denies below the start of a search is passed by, and leaks by no way.

use crate::registry;
use haft_core::{ReplyStatus, ToolCall, ToolReply};
use haft_testkit::Tree;
use haft_tools_core::{
    Access, AccessMode, Accesses, Batch, CallScope, LocalExecutor, Policy, Resource, Rule, Scheme, Selector,
    ToolExecutor as _,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const FILE: Scheme = Scheme::new("file");

fn all_but<const N: usize>(denied: [Resource; N]) -> Policy {
    let allowed = Policy::new().allow(Rule::tools(Selector::all()));
    denied.into_iter().fold(allowed, |policy, within| policy.deny(Rule::access(AccessMode::Read, within)))
}

fn below(path: &str) -> Resource {
    Resource::subtree(FILE, path)
}

fn exactly(path: &str) -> Resource {
    Resource::exact(FILE, path)
}

fn call(tree: &Tree, policy: Policy, tool: &str, input: Value) -> ToolReply {
    let executor = LocalExecutor::builder(registry(tree)).policy(policy).build();
    let call = ToolCall::new("c1".parse().unwrap(), tool, input);
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(executor.execute_batch(batch)).into_replies().unwrap().remove(0)
}

fn text(tree: &Tree, policy: Policy, tool: &str, input: Value) -> String {
    let reply = call(tree, policy, tool, input);
    assert!(reply.status.is_ok(), "{}", reply.output.to_text());
    reply.output.to_text()
}

fn secrets() -> Tree {
    Tree::new().file("src/main.rs", "token\n").file("keys/token.pem", "token\n").file(".env", "token\n")
}

fn without_secrets() -> Policy {
    all_but([below("keys"), exactly(".env")])
}

#[test]
fn a_search_finds_nothing_in_it_and_says_that_there_is_something() {
    let found = text(&secrets(), without_secrets(), "grep", json!({ "pattern": "token", "hidden": true }));
    assert!(found.contains("src/main.rs") && !found.contains("pem") && !found.contains(".env"), "{found}");
    assert!(found.contains("2 entries that the policy denies"), "{found}");
    let without = text(&secrets(), all_but([]), "grep", json!({ "pattern": "token", "hidden": true }));
    assert!(without.contains("keys/token.pem") && !without.contains("denies"), "{without}");
}

#[test]
fn its_names_are_not_listed() {
    let input = json!({ "pattern": "**", "hidden": true });
    let listed = text(&secrets(), without_secrets(), "glob", input);
    assert_eq!(listed, "src/main.rs\n\n1 file\nnot searched: 2 entries that the policy denies");
    let input = json!({ "pattern": "**/", "hidden": true });
    let listed = text(&secrets(), without_secrets(), "glob", input);
    assert!(listed.starts_with("src/\n") && !listed.contains("keys"), "{listed}");
    let found = text(&secrets(), without_secrets(), "find_files", json!({ "query": "token" }));
    assert!(!found.contains("pem"), "{found}");
}

#[test]
fn hints_do_not_name_it() {
    let tree = Tree::new()
        .file(".gitignore", "*.pem\n")
        .file("keys/old.pem", "token\n")
        .file(".hidden/token", "token\n")
        .file("a", "");
    let policy = || all_but([below("keys"), below(".hidden")]);
    for (tool, input) in [
        ("grep", json!({ "pattern": "token" })),
        ("glob", json!({ "pattern": "**/*.pem" })),
        ("glob", json!({ "pattern": "**/token" })),
        ("glob", json!({ "pattern": "key/*.pem" })),
        ("glob", json!({ "pattern": "keys" })),
        ("find_files", json!({ "query": "olpem" })),
    ] {
        let found = text(&tree, policy(), tool, input.clone());
        let of_the_call = found.replace("key/*.pem", "").replace("`keys`", "");
        for name in ["keys", "old.pem", ".hidden"] {
            assert!(!of_the_call.contains(name), "{tool} {input}: {found}");
        }
    }
}

#[test]
fn a_link_to_it_is_not_listed() {
    let tree = secrets().link("link", "keys/token.pem").link("other", "src/main.rs");
    let listed = text(&tree, without_secrets(), "glob", json!({ "pattern": "*" }));
    assert!(listed.contains("other") && !listed.contains("link"), "{listed}");
}

#[test]
fn a_search_of_nothing_else_is_refused() {
    for (tool, input) in [
        ("grep", json!({ "pattern": "token", "path": "keys" })),
        ("grep", json!({ "pattern": "token", "paths": ["src", ".env"] })),
        ("glob", json!({ "pattern": "*", "path": "keys" })),
        ("find_files", json!({ "query": "token", "path": "keys" })),
    ] {
        assert_eq!(call(&secrets(), without_secrets(), tool, input).status, ReplyStatus::Denied);
    }
}

#[test]
fn hints_do_not_go_into_a_directory_that_is_itself_denied() {
    let tree = Tree::new().file(".hidden/inner/x", "token\n").file("keys/old.pem", "").file("a", "");
    let policy = || all_but([exactly(".hidden/inner"), exactly("keys")]);
    for (tool, input) in [
        ("grep", json!({ "pattern": "token" })),
        ("glob", json!({ "pattern": "**/x" })),
        ("glob", json!({ "pattern": "keys/olld.pem" })),
    ] {
        let found = text(&tree, policy(), tool, input.clone());
        assert!(!found.contains("inner") && !found.contains("old.pem"), "{tool} {input}: {found}");
    }
}

#[test]
fn a_link_from_elsewhere_is_not_listed() {
    let tree = secrets().link("src/link", "../keys/token.pem");
    let listed = text(&tree, without_secrets(), "glob", json!({ "pattern": "*", "path": "src" }));
    assert!(listed.contains("main.rs") && !listed.contains("link"), "{listed}");
}

#[test]
fn an_ignore_file_that_is_denied_is_passed_by_and_does_not_count() {
    let tree = || {
        Tree::new()
            .file(".git/info/exclude", "*.exclude\n")
            .file(".gitignore", "*.git\n")
            .file("src/.ignore", "*.inner\n")
            .file("src/deep/a.git", "token\n")
            .file("src/deep/b.exclude", "token\n")
            .file("src/deep/c.inner", "token\n")
            .file("src/deep/d.txt", "token\n")
    };
    let found = |policy: Policy, start: &str| {
        let calls = [
            ("grep", json!({ "pattern": "token", "mode": "files", "path": start })),
            ("glob", json!({ "pattern": "**", "path": start })),
            ("find_files", json!({ "query": ".", "path": start })),
        ];
        let [grep, glob, files] = calls.map(|(tool, input)| {
            let found = text(&tree(), policy.clone(), tool, input);
            let mut ends: Vec<_> =
                found.lines().filter_map(|line| line.strip_prefix("src/deep/")).map(str::to_owned).collect();
            ends.sort();
            ends.join(" ")
        });
        assert_eq!((&grep, &glob), (&files, &files));
        grep
    };
    for start in ["src/deep", "src", "."] {
        // Nothing of it is denied, or what is not there.
        assert_eq!(found(all_but([]), start), "d.txt", "{start}");
        assert_eq!(found(all_but([exactly("src/.gitignore")]), start), "d.txt", "{start}");
        assert_eq!(found(all_but([exactly(".gitignore")]), start), "a.git d.txt", "{start}");
        // The directory of the repository as a whole, by itself, or a part of it.
        for git in [below(".git"), exactly(".git"), exactly(".git/info"), exactly(".git/info/exclude")] {
            assert_eq!(found(all_but([git.clone()]), start), "b.exclude d.txt", "{git} {start}");
        }
        assert_eq!(found(all_but([exactly("src/.ignore")]), start), "c.inner d.txt", "{start}");
    }
    // A start so deep that its ignore files are declared together.
    let deep = "d/".repeat(40);
    let tree =
        Tree::new().file("keys/a", "").file(".gitignore", "*.git\n").file(&format!("{deep}a.git"), "token\n");
    let search = |policy: Policy| {
        text(&tree, policy, "grep", json!({ "pattern": "token", "mode": "files", "path": deep }))
    };
    assert!(!search(all_but([below("keys")])).contains("a.git\n"));
    assert!(search(all_but([exactly(".gitignore")])).contains("a.git\n"));
}

#[test]
fn hints_do_not_follow_rules_that_are_denied() {
    let tree = Tree::new().file(".hidden/.gitignore", "a\n").file(".hidden/a", "token\n").file("b", "");
    let hint = |policy: Policy| text(&tree, policy, "grep", json!({ "pattern": "token" }));
    assert!(!hint(all_but([])).contains(".hidden/a"));
    assert!(hint(all_but([exactly(".hidden/.gitignore")])).contains(".hidden/a"));
}

#[test]
fn a_near_name_that_is_denied_takes_the_place_of_no_other() {
    let tree = ["confg1", "confg2", "confg3", "kconfig"]
        .iter()
        .fold(Tree::new(), |tree, name| tree.file(&format!("{name}/a.toml"), ""));
    let denied = || all_but([below("confg1"), exactly("confg2"), below("confg3")]);
    let hint = |policy: Policy| text(&tree, policy, "glob", json!({ "pattern": "confg/*.toml" }));
    assert!(hint(all_but([])).contains("confg1"));
    let hint = hint(denied());
    assert!(hint.contains("kconfig") && !hint.contains("confg1") && !hint.contains("confg2"), "{hint}");
}

/// Some files and directories, by their paths, in a tree that has all of them.
fn places() -> impl Strategy<Value = Vec<(String, bool)>> {
    let name = prop::sample::select(vec!["a", "b", ".c"]);
    let place = (prop::collection::vec(name, 1..4), any::<bool>());
    prop::collection::vec(place.prop_map(|(names, tree)| (names.join("/"), tree)), 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_listed_is_all_that_is_not_denied(places in places()) {
        let names = ["a", "b", ".c"];
        let mut tree = Tree::new();
        let mut files = Vec::new();
        for one in names {
            for two in names {
                for three in ["a", "b", ".c"] {
                    let path = format!("{one}/{two}/{three}");
                    tree = tree.file(&path, "x\n");
                    files.push(path);
                }
            }
        }
        let denied = |policy: Policy, (path, is_tree): &(String, bool)| {
            policy.deny(Rule::access(AccessMode::Read, if *is_tree { below(path) } else { exactly(path) }))
        };
        let policy = places.iter().fold(all_but([]), denied);
        let tool = registry(&tree).get("grep").unwrap().clone();
        let may_be_read = |path: &String| {
            // A directory that may not be looked at itself is not looked into.
            let above = path.match_indices('/').map(|(slash, _)| &path[..slash]);
            above.chain([path.as_str()]).all(|path| {
                let read = Accesses::from(Access::read(exactly(path)));
                policy.decide(&tool, &read).decision() == haft_core::Decision::Allow
            })
        };
        let mut expected: Vec<_> = files.iter().filter(|path| may_be_read(path)).cloned().collect();
        expected.sort();
        for (tool, input) in [
            ("glob", json!({ "pattern": "**", "hidden": true })),
            ("grep", json!({ "pattern": "x", "mode": "files", "hidden": true })),
        ] {
            let found = text(&tree, policy.clone(), tool, input);
            let mut found: Vec<_> = found.lines().filter(|line| files.contains(&(*line).to_owned())).map(str::to_owned).collect();
            found.sort();
            prop_assert_eq!(&found, &expected);
        }
    }
}
