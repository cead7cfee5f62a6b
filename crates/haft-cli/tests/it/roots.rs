use crate::{haft, shown};
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use std::fs;

/// Runs the command in `work`, beside which is `docs`, whose path is written as `{docs}`, and that of both `{tree}`.
#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(tree: &Tree, arguments: &[&str], expected: Expect) {
    let canonical = tree.path().canonicalize().unwrap();
    let (docs, canonical) = (canonical.join("docs"), canonical.to_str().unwrap());
    let docs = docs.to_str().unwrap();
    let arguments: Vec<String> = arguments.iter().map(|argument| argument.replace("{docs}", docs)).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = haft(&tree.path().join("work"), &arguments).output().unwrap();
    expected.assert_eq(&shown(&output).replace(docs, "{docs}").replace(canonical, "{tree}"));
}

fn tree() -> Tree {
    Tree::new().file("work/a.md", "here\n").file("docs/a.md", "there\n")
}

const READ: &str = r#"{"path":"{docs}/a.md"}"#;
const WRITE: &str = r#"{"path":"{docs}/a.md","content":"new\n"}"#;

#[test]
fn reads_in_another_directory() {
    let tree = tree();
    check(
        &tree,
        &["call", "read_file", READ, "--root", "../docs:ro", "--yes"],
        expect![[r#"
        {docs}/a.md: 1 line, 6 bytes
        1	there
        exit 0
    "#]],
    );
    check(
        &tree,
        &["call", "read_file", READ, "--yes"],
        expect![[r#"
        stderr: denied: the path `{docs}/a.md` is outside the working directory; use a path inside it, such as `src/main.rs`
        exit 1
    "#]],
    );
}

#[test]
fn writes_in_another_directory_only_where_that_is_not_for_reading() {
    let tree = tree();
    check(
        &tree,
        &["call", "write_file", WRITE, "--root", "../docs:ro", "--yes"],
        expect![[r#"
        stderr: denied: `{docs}/a.md` is in a directory that is for reading only; write somewhere else, or ask the user to do it
        exit 1
    "#]],
    );
    assert_eq!(tree.read("docs/a.md"), "there\n");
    check(
        &tree,
        &["call", "write_file", WRITE, "--root", "../docs", "--yes"],
        expect![[r#"
        replaced `{docs}/a.md`: 1 line, 4 bytes (before: 1 line, 6 bytes)
        @@ -1 +1 @@
        -there
        +new
        exit 0
    "#]],
    );
    assert_eq!(tree.read("docs/a.md"), "new\n");
}

#[test]
fn decides_by_rules_about_absolute_paths() {
    let tree = tree();
    let docs = tree.path().canonicalize().unwrap().join("docs");
    let policy = |rule: &str| fs::write(tree.path().join("policy.toml"), rule).unwrap();
    let call = ["call", "read_file", READ, "--root", "../docs:ro", "--policy", "../policy.toml"];
    policy("[permissions]\nallow = [\"read(**)\", \"read(docs/**)\"]\n");
    check(
        &tree,
        &call,
        expect![[r#"
        stderr: waiting for an approval: `read_file` wants to
        stderr:   read outside:{docs}/a.md
        stderr:   haft approvals show ID
        stderr:   haft approvals approve ID
        stderr: Answer it, then go on with `haft resume RUN`.
        exit 3
    "#]],
    );
    policy(&format!("[permissions]\nallow = [\"read({}/**)\"]\n", docs.display()));
    check(
        &tree,
        &call,
        expect![[r#"
        {docs}/a.md: 1 line, 6 bytes
        1	there
        exit 0
    "#]],
    );
}

#[test]
fn names_a_directory_that_is_missing() {
    check(
        &tree(),
        &["call", "read_file", READ, "--root", "../missing:ro"],
        expect![[r#"
            stderr: error: cannot work in `{tree}/work/../missing`; name an existing directory with `--root`, or in `roots` of `haft.toml`
            stderr:   because: working directory `{tree}/work/../missing` does not exist; create it or name another
            exit 2
        "#]],
    );
}

#[test]
fn plays_with_another_directory_only_in_the_directory_itself() {
    check(
        &tree(),
        &["run", "session.jsonl", "--root", "../docs"],
        expect![[r#"
        stderr: error: the following required arguments were not provided:
        stderr:   --workdir <DIR>
        stderr: 
        stderr: Usage: haft run --workdir <DIR> --root <DIR[:ro]> <SESSION>
        stderr: 
        stderr: For more information, try '--help'.
        exit 2
    "#]],
    );
}
