use crate::{call, registry, text};
use expect_test::{Expect, expect};
use haft_core::{ReplyStatus, ToolCall};
use haft_testkit::Tree;
use haft_tools_core::{
    AccessMode, AllowAll, Batch, CallScope, LocalExecutor, Policy, Resource, Rule, Scheme, ToolExecutor as _,
};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use tokio_util::sync::CancellationToken;

fn check(tree: &Tree, tool: &str, input: Value, expected: &Expect) {
    expected.assert_eq(&text(tree, tool, input));
}

#[test]
fn a_link_that_leads_out_or_round_is_not_followed() {
    let outside = Tree::new().file("secret.txt", "needle\n");
    let tree = Tree::new()
        .file("inner/a.txt", "needle\n")
        .link("inner/out", outside.path())
        .link("inner/out.txt", outside.path().join("secret.txt"))
        .link("inner/round", "..")
        .link("self", "self");
    for (tool, wanted, pattern) in
        [("grep", "pattern", "needle"), ("glob", "pattern", "*.txt"), ("find_files", "query", "txt")]
    {
        let reply = call(&tree, tool, json!({ wanted: pattern, "hidden": true, "no_ignore": true }));
        let found: Vec<String> = reply.output.to_text().lines().map(str::to_owned).collect();
        assert!(found[0].starts_with("inner/a.txt") && found[1].is_empty(), "{found:?}");
    }
    for path in ["inner/out", "inner/out.txt", "self", "inner/round/../.."] {
        let reply = call(&tree, "grep", json!({ "pattern": "needle", "path": path }));
        assert!(!reply.status.is_ok() && !reply.output.to_text().contains("1 match"), "{path}");
    }
}

#[test]
fn pipes_do_not_block() {
    let tree = Tree::new().file("a", "x\n").pipe("pipe");
    check(
        &tree,
        "grep",
        json!({ "pattern": "x" }),
        &expect![[r#"
        a:1: x

        1 match in 1 file"#]],
    );
    check(
        &tree,
        "grep",
        json!({ "pattern": "x", "path": "pipe" }),
        &expect!["`pipe` is a named pipe; use the path of a file or directory"],
    );
    check(
        &tree,
        "glob",
        json!({ "pattern": "*" }),
        &expect![[r#"
        a

        1 file"#]],
    );
    check(
        &tree,
        "find_files",
        json!({ "query": "p" }),
        &expect![
            "no file is named like `p`, among 1 file; use fewer characters, or search the text of files with `grep`"
        ],
    );
}

#[test]
fn names_that_are_not_utf8_are_counted() {
    let tree = Tree::new().file("a", "x\n");
    fs::write(tree.path().join(OsStr::from_bytes(b"b\xff")), "x\n").unwrap();
    check(
        &tree,
        "grep",
        json!({ "pattern": "x" }),
        &expect![[r#"
        a:1: x

        1 match in 1 file
        not searched: 1 entry with a name that is not UTF-8"#]],
    );
    check(
        &tree,
        "glob",
        json!({ "pattern": "*" }),
        &expect![[r#"
        a

        1 file
        not searched: 1 entry with a name that is not UTF-8"#]],
    );
    check(
        &tree,
        "glob",
        json!({ "pattern": "b*" }),
        &expect![[r#"
        no file for `b*`, among 1 entry
        not searched: 1 entry with a name that is not UTF-8
        use a wider pattern such as `*part*`, or search the text of files with `grep`"#]],
    );
    check(
        &tree,
        "find_files",
        json!({ "query": "b" }),
        &expect![[r#"
        no file is named like `b`, among 1 file; use fewer characters, or search the text of files with `grep`
        not searched: 1 entry with a name that is not UTF-8"#]],
    );
}

#[test]
fn a_name_cannot_look_like_another_result() {
    let tree = Tree::new().file("a\nb:1: x", "x\n").file("esc\u{1b}[31m", "x\n");
    check(
        &tree,
        "grep",
        json!({ "pattern": "x" }),
        &expect![[r#"
        a\nb:1: x:1: x
        esc\u{1b}[31m:1: x

        2 matches in 2 files"#]],
    );
    check(
        &tree,
        "glob",
        json!({ "pattern": "*" }),
        &expect![[r#"
        a\nb:1: x
        esc\u{1b}[31m

        2 files"#]],
    );
}

#[test]
fn names_with_the_characters_of_patterns_can_be_found() {
    let tree = Tree::new().file("[id]/page.tsx", "x\n").file("{a}*?.txt", "x\n");
    check(
        &tree,
        "glob",
        json!({ "pattern": "\\[id\\]/*" }),
        &expect![[r#"
        [id]/page.tsx

        1 file"#]],
    );
    check(
        &tree,
        "glob",
        json!({ "pattern": "{\\{a\\},b}[*][?].txt" }),
        &expect![[r#"
        {a}*?.txt

        1 file"#]],
    );
    check(
        &tree,
        "grep",
        json!({ "pattern": "x", "path": "[id]" }),
        &expect![[r#"
        [id]/page.tsx:1: x

        1 match in 1 file"#]],
    );
}

#[test]
fn an_absolute_pattern_is_taken_for_one_below_the_start() {
    let tree = Tree::new().file("src/a.rs", "").file("src/b/a.rs", "");
    let root = tree.path().canonicalize().unwrap();
    let absolute = |rest: &str| format!("{}/{rest}", root.display());
    check(
        &tree,
        "glob",
        json!({ "pattern": absolute("src/*.rs") }),
        &expect![[r#"
        src/a.rs

        1 file"#]],
    );
    check(
        &tree,
        "glob",
        json!({ "pattern": absolute("src/*.rs"), "path": "src" }),
        &expect![[r#"
        src/a.rs

        1 file"#]],
    );
}

#[test]
fn hostile_patterns_are_bounded() {
    let tree = Tree::new().file("ab", &"ab".repeat(20_000)).file("lines", &"aab\n".repeat(5_000));
    for pattern in ["(a*)*c", "(a|aa|b)*?c", "([ab]*a[ab]{300}c){2}", "(?:a?){50}a{50}c", "\\w{20}\\d"] {
        assert!(text(&tree, "grep", json!({ "pattern": pattern })).starts_with("no match"), "{pattern}");
    }
    for pattern in ["*a*a*a*a*a*a*a*a*b*c", "**/**/**/**/**/**/c", "{a,{a,{a,{a,{a,c}}}}}c"] {
        assert!(text(&tree, "glob", json!({ "pattern": pattern })).starts_with("no file"), "{pattern}");
    }
}

#[tokio::test]
async fn a_call_that_was_cancelled_does_not_search() {
    let tree = Tree::new().file("a", "x\n");
    let token = CancellationToken::new();
    token.cancel();
    let executor = LocalExecutor::builder(registry(&tree)).approver(AllowAll).build();
    let calls = [("grep", "pattern"), ("glob", "pattern"), ("find_files", "query")]
        .map(|(tool, wanted)| ToolCall::new(tool.parse().unwrap(), tool, json!({ wanted: "x" })));
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), calls.to_vec()).cancelled_by(token);
    for reply in executor.execute_batch(batch).await.into_replies().unwrap() {
        assert_eq!(reply.status, ReplyStatus::Cancelled);
    }
}

#[tokio::test]
async fn what_a_policy_denies_to_read_is_not_searched_from_above() {
    let tree =
        Tree::new().file("secrets/key", "needle\n").file("src/a.rs", "needle\n").link("src/to", "../secrets");
    let secrets = Resource::subtree(Scheme::new("file"), "secrets");
    let policy = Policy::new()
        .allow(Rule::access(AccessMode::Read, Resource::subtree(Scheme::new("file"), "")))
        .deny(Rule::access(AccessMode::Read, secrets));
    let executor = LocalExecutor::builder(registry(&tree)).policy(policy).build();
    let denied = [
        ("grep", json!({ "pattern": "needle", "path": "secrets/key" })),
        ("grep", json!({ "pattern": "needle", "paths": ["src", "src/to"] })),
        ("glob", json!({ "pattern": "*", "path": "secrets" })),
        ("find_files", json!({ "query": "key", "path": "src/to" })),
    ];
    let allowed = [
        ("grep", json!({ "pattern": "needle" })),
        ("glob", json!({ "pattern": "**" })),
        ("find_files", json!({ "query": "key" })),
        ("grep", json!({ "pattern": "needle", "path": "src" })),
        ("glob", json!({ "pattern": "*", "path": "src" })),
        ("find_files", json!({ "query": "a", "path": "src" })),
    ];
    for (tool, input, is_allowed) in denied
        .into_iter()
        .map(|(tool, input)| (tool, input, false))
        .chain(allowed.into_iter().map(|(tool, input)| (tool, input, true)))
    {
        let call = ToolCall::new("c1".parse().unwrap(), tool, input.clone());
        let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
        let reply = executor.execute_batch(batch).await.into_replies().unwrap().remove(0);
        let text = reply.output.to_text();
        assert_eq!(reply.status.is_ok(), is_allowed, "{tool} {input}: {text}");
        assert!(!text.contains("key:1:") && !text.contains("key\n"), "{tool} {input}: {text}");
    }
}
