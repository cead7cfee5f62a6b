//! `haft serve`, as far as nobody is served: what is printed for clients, what is refused, and what waits for a person.

use crate::waiting::{say, waiting};
use crate::{check, haft};
use expect_test::expect;
use haft::store::SqliteStore;
use haft::{
    Batch, CallOutcome, CallScope, LocalExecutor, PendingStore, ToolCall, ToolExecutor as _, approver_fn,
};
use haft_testkit::Tree;
use serde_json::json;
use std::sync::Arc;

#[test]
fn standard_output_is_what_to_paste() {
    let tree = Tree::new();
    let output =
        haft(tree.path(), &["serve", "--print-config", "claude-code", "--workdir", "."]).output().unwrap();
    assert!(output.status.success());
    let snippet: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let server = &snippet["mcpServers"]["haft"];
    assert_eq!(server["command"], json!(env!("CARGO_BIN_EXE_haft")));
    assert_eq!(server["args"][0..2].len(), 2);
    expect![""].assert_eq(&String::from_utf8(output.stderr).unwrap());
}

#[test]
fn what_cannot_be_served_safely_is_refused() {
    let tree = Tree::new().file("key", "no key").file("clients.toml", "[clients.a]\nprofile = \"x\"\n");
    let here = tree.path();
    check(here, &["serve", "--http", "0.0.0.0:8765"], expect![""]);
    check(here, &["serve", "--http", "[::]:8765"], expect![""]);
    check(here, &["serve", "--state-key", "key"], expect![""]);
    check(here, &["serve", "--clients", "clients.toml"], expect![""]);
    check(here, &["serve", "--clients", "missing.toml"], expect![""]);
    check(here, &["serve", "--workdir", "missing"], expect![""]);
    check(here, &["serve", "--tools", "@git*"], expect![""]);
    check(here, &["serve", "--http", "127.0.0.1:0", "--unix", "socket"], expect![""]);
}

/// Has a client's call wait.
fn leave_waiting(tree: &Tree) {
    std::fs::create_dir_all(tree.path().join(".haft-state")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Arc::new(SqliteStore::open(tree.path().join(".haft-state/haft.db")).unwrap());
        let tools = haft::default_tools(&tree.workdir()).unwrap();
        let executor = LocalExecutor::builder(tools)
            .approver(approver_fn(|_| haft::Approval::Later))
            .pending(store as Arc<dyn PendingStore>)
            .build();
        let scope = CallScope::new("mcp-0123456789ab".parse().unwrap()).with_agent("mcp:laptop");
        let call = ToolCall::new("c1".parse().unwrap(), "write_file", json!({ "path": "a", "content": "" }));
        let outcomes = executor.execute_batch(Batch::new(scope, vec![call])).await.into_outcomes();
        assert!(matches!(outcomes[0], CallOutcome::Pending(_)));
    });
}

#[test]
fn a_call_of_a_client_is_answered_and_then_repeated() {
    let tree = Tree::new();
    leave_waiting(&tree);
    let (id, run) = waiting(&tree);
    assert_eq!(run, "mcp-0123456789ab");
    let plain = |text: String| text.replace(&id, "ID").replace(&id[..8], "ID");
    expect![""].assert_eq(&plain(say(&tree, 0, &["approvals", "list"])));
    expect![""].assert_eq(&plain(say(&tree, 2, &["resume", &run])));
    expect![""].assert_eq(&plain(say(&tree, 0, &["approvals", "approve", &id])));
    expect![""].assert_eq(&plain(say(&tree, 0, &["approvals", "show", &id])));
    expect![""].assert_eq(&plain(say(&tree, 0, &["approvals", "deny", &id])));
}
