use crate::{haft, shown};
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use std::fs;

/// Runs the command in `work`, beside which is `docs`, whose path is written as `{docs}`.
#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(tree: &Tree, arguments: &[&str], expected: Expect) {
    let docs = tree.path().canonicalize().unwrap().join("docs");
    let docs = docs.to_str().unwrap();
    let arguments: Vec<String> = arguments.iter().map(|argument| argument.replace("{docs}", docs)).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = haft(&tree.path().join("work"), &arguments).output().unwrap();
    expected.assert_eq(&shown(&output).replace(docs, "{docs}"));
}

fn tree() -> Tree {
    Tree::new().file("work/a.md", "here\n").file("docs/a.md", "there\n")
}

const READ: &str = r#"{"path":"{docs}/a.md"}"#;
const WRITE: &str = r#"{"path":"{docs}/a.md","content":"new\n"}"#;

#[test]
fn reads_in_another_directory() {
    let tree = tree();
    check(&tree, &["call", "read_file", READ, "--root", "../docs:ro", "--yes"], expect![[r#""#]]);
    check(&tree, &["call", "read_file", READ, "--yes"], expect![[r#""#]]);
}

#[test]
fn writes_in_another_directory_only_where_that_is_not_for_reading() {
    let tree = tree();
    check(&tree, &["call", "write_file", WRITE, "--root", "../docs:ro", "--yes"], expect![[r#""#]]);
    assert_eq!(tree.read("docs/a.md"), "there\n");
    check(&tree, &["call", "write_file", WRITE, "--root", "../docs", "--yes"], expect![[r#""#]]);
    assert_eq!(tree.read("docs/a.md"), "new\n");
}

#[test]
fn decides_by_rules_about_absolute_paths() {
    let tree = tree();
    let docs = tree.path().canonicalize().unwrap().join("docs");
    let policy = |rule: &str| fs::write(tree.path().join("policy.toml"), rule).unwrap();
    let call = ["call", "read_file", READ, "--root", "../docs:ro", "--policy", "../policy.toml"];
    policy("[permissions]\nallow = [\"read(**)\", \"read(docs/**)\"]\n");
    check(&tree, &call, expect![[r#""#]]);
    policy(&format!("[permissions]\nallow = [\"read({}/**)\"]\n", docs.display()));
    check(&tree, &call, expect![[r#""#]]);
}

#[test]
fn names_a_directory_that_is_missing() {
    check(&tree(), &["call", "read_file", READ, "--root", "../missing:ro"], expect![[r#""#]]);
}

#[test]
fn plays_with_another_directory_only_in_the_directory_itself() {
    check(&tree(), &["run", "session.jsonl", "--root", "../docs"], expect![[r#""#]]);
}
