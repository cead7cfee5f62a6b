//! `haft serve`, as far as nobody is served: what is printed for clients, what is refused, and what waits for a person.

use crate::terminal::Terminal;
use crate::waiting::{say, waiting};
use crate::{check, haft};
use expect_test::expect;
use haft::store::SqliteStore;
use haft::tools_core::{CallOutcome, PendingStore, approver_fn};
use haft::{Batch, CallScope, LocalExecutor, ToolCall, ToolExecutor as _};
use haft_testkit::Tree;
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

#[test]
fn a_person_who_starts_it_at_a_terminal_is_told_who_does() {
    let tree = Tree::new();
    let mut command = haft(tree.path(), &["serve"]);
    command.env("XDG_CONFIG_HOME", tree.path()).env("XDG_STATE_HOME", tree.path());
    let mut terminal = Terminal::start(&command);
    terminal.until("what it is", |shown| shown.contains("haft serve --print-config CLIENT"));
    terminal.types("\u{4}");
    assert!(terminal.ended().success());
}

#[test]
fn standard_output_is_what_to_paste() {
    let tree = Tree::new();
    let output =
        haft(tree.path(), &["serve", "--print-config", "claude-code", "--workdir", "."]).output().unwrap();
    assert!(output.status.success());
    let snippet: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let server = &snippet["mcpServers"]["haft"];
    assert_eq!(server["command"], json!(env!("CARGO_BIN_EXE_haft")));
    assert_eq!((&server["args"][0], &server["args"][1]), (&json!("serve"), &json!("--workdir")));
    expect![[r"
        Put this into `.mcp.json` of the project:
    "]]
    .assert_eq(&String::from_utf8(output.stderr).unwrap());
}

#[test]
fn what_cannot_be_served_safely_is_refused() {
    let tree = Tree::new().file("key", "no key").file("clients.toml", "[clients.a]\nprofile = \"x\"\n");
    let here = tree.path();
    check(
        here,
        &["serve", "--http", "0.0.0.0:8765"],
        expect![[r"
        stderr: error: others can reach `0.0.0.0:8765`; say with `--token-file` or `--oauth-issuer` who is served, or serve at 127.0.0.1
        exit 2
    "]],
    );
    check(
        here,
        &["serve", "--http", "[::]:8765"],
        expect![[r"
        stderr: error: others can reach `[::]:8765`; say with `--token-file` or `--oauth-issuer` who is served, or serve at 127.0.0.1
        exit 2
    "]],
    );
    check(
        here,
        &["serve", "--http", "127.0.0.1:8765", "--allow-host", "mcp.example.org"],
        expect![[r"
        stderr: error: `--allow-host` is for clients of other machines; say with `--token-file` or `--oauth-issuer` who of them is served
        exit 2
    "]],
    );
    check(
        here,
        &["serve", "--state-key", "key"],
        expect![[r"
        stderr: error: cannot use the key in `key`; name a file that only you can read
        stderr:   because: others than its owner may read or write `./key` (mode 0644); look at what it says, then make it private with `chmod 600`
        exit 2
    "]],
    );
    std::fs::set_permissions(here.join("key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    check(
        here,
        &["serve", "--state-key", "key"],
        expect![[r"
        stderr: error: `key` holds no key; write 64 hexadecimal digits, as of `openssl rand -hex 32`
        exit 2
    "]],
    );
    check(
        here,
        &["serve", "--clients", "clients.toml"],
        expect![[r"
        stderr: error: cannot use the clients of `clients.toml`; correct the file
        stderr:   because: the client `a`
        stderr:   because: `x` is not a profile; write `read_only`, `workspace_write` or `full_access`
        exit 2
    "]],
    );
    check(
        here,
        &["serve", "--clients", "missing.toml"],
        expect![[r"
        stderr: error: cannot read `missing.toml`; name a text file with `--clients`
        stderr:   because: No such file or directory (os error 2)
        exit 2
    "]],
    );
    check(
        here,
        &["serve", "--workdir", "missing"],
        expect![[r"
        stderr: error: cannot work in `missing`; name an existing directory with `--workdir`
        stderr:   because: working directory `missing` does not exist; create it or name another
        exit 2
    "]],
    );
    check(
        here,
        &["serve", "--tools", "@git*"],
        expect![[r"
        stderr: error: invalid value '@git*' for '--tools <full|search|TOOLS>': `@git*` is neither `full` nor `search`, and chooses no tools
        stderr: 
        stderr: For more information, try '--help'.
        exit 2
    "]],
    );
    check(
        here,
        &["serve", "--http", "127.0.0.1:0", "--unix", "socket"],
        expect![[r"
        stderr: error: the argument '--http <ADDR:PORT>' cannot be used with '--unix <PATH>'
        stderr: 
        stderr: Usage: haft serve --http <ADDR:PORT>
        stderr: 
        stderr: For more information, try '--help'.
        exit 2
    "]],
    );
}

/// Has a client's call wait.
fn leave_waiting(tree: &Tree) {
    std::fs::create_dir_all(tree.path().join(".haft-state")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Arc::new(SqliteStore::open(tree.path().join(".haft-state/haft.db")).unwrap());
        let tools = haft::default_tools(&tree.workdir()).unwrap();
        let executor = LocalExecutor::builder(tools)
            .approver(approver_fn(|_| haft::tools_core::Approval::Later))
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
    let plain = |text: String| {
        let text = text.replace(&id, "ID").replace(&id[..8], "ID");
        // How long ago it was depends on how busy the machine is.
        (0..120).rev().fold(text, |text, seconds| text.replace(&format!("{seconds} s ago"), "now"))
    };
    expect![[r"
        ID  write_file  write file:a  mcp:laptop, mcp-0123456789ab, now
        exit 0
    "]]
    .assert_eq(&plain(say(&tree, 0, &["approvals", "list"])));
    expect![[r"
        stderr: error: the calls of `mcp-0123456789ab` are those of an MCP client: they go on when the client repeats them, once they are answered with `haft approvals`
        exit 2
    "]]
    .assert_eq(&plain(say(&tree, 2, &["resume", &run])));
    expect![[r"
        approved `write_file`; repeat the call in the client
        exit 0
    "]]
    .assert_eq(&plain(say(&tree, 0, &["approvals", "approve", &id])));
    expect![[r"

        ? write_file wants to:
            write file:a
              --- /dev/null
              +++ b/a

          write file:a
            asked about because: no rule speaks of it
            can be remembered as: write(file:a)

          id ID  run mcp-0123456789ab  asked now
          by mcp:laptop
          expires in 6 days
          answered approved; the client goes on when it repeats the call
        exit 0
    "]]
    .assert_eq(&plain(say(&tree, 0, &["approvals", "show", &id])));
    expect![[r"
        denied `write_file`; the client is told so when it repeats the call
        stderr: note: `ID` was approved before; that answer no longer holds
        exit 0
    "]]
    .assert_eq(&plain(say(&tree, 0, &["approvals", "deny", &id])));
}
