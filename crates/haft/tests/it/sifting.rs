//! What a policy denies to read, in the language of rules: the tools that look at many files neither read it nor name it, from
//! wherever they start.

use haft::core::ReplyStatus;
use haft::tools_core::Selector;
use haft::{Batch, CallScope, LocalExecutor, Policy, Rule, ToolCall, ToolExecutor as _, ToolReply};
use haft_testkit::Tree;
use serde_json::{Value, json};

/// What stands in every file that is denied.
const SECRET: &str = "hunter2";

fn tree() -> Tree {
    let secret = format!("{SECRET}\n");
    ["secrets/prod/db.key", "private-keys/a.pem", ".env", ".ENV", ".env.d/prod", "certs/own.pem"]
        .into_iter()
        .fold(Tree::new().file("src/main.rs", "fn main() {}\n"), |tree, path| tree.file(path, &secret))
        .file("certs/.hidden", "")
        .link("src/key", "../secrets/prod/db.key")
}

const RULES: [&str; 5] =
    ["read(secrets/*)", "read(private*)", "read(.env*)", "read(*.pem)", "read(secrets/prod/db.key)"];

fn call(tree: &Tree, tool: &str, input: Value) -> ToolReply {
    let workdir = tree.workdir();
    let language = haft::DefaultRules::new(&workdir).language();
    let policy = RULES.iter().fold(Policy::new().allow(Rule::tools(Selector::all())), |policy, text| {
        policy.deny(language.rule(text).unwrap())
    });
    let tools = haft::default_tools(&workdir).unwrap();
    let executor = LocalExecutor::builder(tools).policy(policy.language(language)).build();
    let call = ToolCall::new("c1".parse().unwrap(), tool, input);
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(executor.execute_batch(batch)).into_replies().unwrap().remove(0)
}

#[test]
fn a_file_or_directory_that_is_denied_is_no_start() {
    let tree = tree();
    for path in [
        "secrets/prod",
        "secrets/prod/db.key",
        "private-keys",
        "private-keys/a.pem",
        ".env",
        ".ENV",
        ".env.d/prod",
    ] {
        for (tool, input) in [
            ("grep", json!({ "pattern": SECRET, "path": path })),
            ("grep", json!({ "pattern": SECRET, "paths": ["src", path] })),
            ("list_files", json!({ "path": path })),
        ] {
            let reply = call(&tree, tool, input.clone());
            assert_eq!(reply.status, ReplyStatus::Denied, "{tool} {input}: {}", reply.output.to_text());
        }
    }
}

#[test]
fn from_above_nothing_of_it_is_read_or_named() {
    let tree = tree();
    for (tool, input) in [
        ("grep", json!({ "pattern": SECRET, "hidden": true, "no_ignore": true })),
        ("grep", json!({ "pattern": SECRET })),
        ("glob", json!({ "pattern": "**", "hidden": true })),
        ("glob", json!({ "pattern": "src/*" })),
        ("find_files", json!({ "query": "key", "hidden": true })),
        ("find_files", json!({ "query": "pem", "hidden": true })),
        ("list_files", json!({ "depth": 9, "hidden": true })),
        ("list_files", json!({ "path": "src" })),
        ("glob", json!({ "pattern": "*", "path": "src" })),
    ] {
        let reply = call(&tree, tool, input.clone());
        let text = reply.output.to_text();
        assert!(reply.status.is_ok(), "{tool} {input}: {text}");
        let text = if tool == "grep" { text.replacen(&format!("`{SECRET}`"), "", 1) } else { text };
        for secret in [SECRET, "db.key", ".pem", ".env", ".ENV", "prod", "private-keys"] {
            assert!(!text.contains(secret), "{tool} {input} tells {secret}: {text}");
        }
        assert!(text.contains("main.rs") || tool != "list_files", "{tool} {input}: {text}");
    }
}

#[test]
fn what_is_in_it_is_not_counted() {
    let listed = call(&tree(), "list_files", json!({ "depth": 1 })).output.to_text();
    assert!(listed.contains("certs/  (1 hidden or ignored)"), "{listed}");
    let listed = call(&tree(), "list_files", json!({ "depth": 9 })).output.to_text();
    assert!(listed.contains("certs/  (1 hidden or ignored)"), "{listed}");
}

#[test]
fn a_name_that_is_not_there_is_answered_with_those_that_may_be_named() {
    let tree =
        tree().file("src/mine.pem", "").file("src/mine.rs", "").link("mine.txt", "secrets/prod/db.key");
    let answers = [
        ("list_files", "src/mine.pe", "`src/mine.pe` does not exist; did you mean `src/mine.rs`?"),
        ("read_file", "src/mine.p", "`src/mine.p` does not exist; did you mean `src/mine.rs`?"),
        ("read_file", "src/keys", "`src/keys` does not exist"),
        ("read_file", "mine.tx", "`mine.tx` does not exist"),
        ("list_files", "scr/mine.pe", "`scr/mine.pe` does not exist; did you mean `src`?"),
        // The directory itself may be named; what is in it may not, and whether it is there is not told.
        ("list_files", "secret/prod", "`secret/prod` does not exist; did you mean `secrets`?"),
        ("list_files", "secret/none", "`secret/none` does not exist; did you mean `secrets`?"),
    ];
    for (tool, path, expected) in answers {
        let reply = call(&tree, tool, json!({ "path": path }));
        let text = reply.output.to_text();
        assert!(matches!(reply.status, ReplyStatus::Error(_)), "{tool} {path}: {text}");
        assert!(text.starts_with(expected), "{tool} {path}: {text}");
        for secret in [".pem", "db.key", "key`", "secrets/", "private"] {
            assert!(!text.contains(secret), "{tool} {path} tells {secret}: {text}");
        }
    }
    let listed = call(&tree, "read_file", json!({ "path": "src" })).output.to_text();
    assert!(listed.contains("main.rs") && !listed.contains("pem") && !listed.contains("key"), "{listed}");
}
