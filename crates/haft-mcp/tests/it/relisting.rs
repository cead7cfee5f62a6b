//! A tool that changes while a person is asked for a call of it, at a real program.

use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::ToolCall;
use haft_mcp::{Era, McpServers, ServerConfig, ServerProgram, Transport};
use haft_tools_core::{
    Approval, Approver, Batch, CallScope, Catalog, LocalExecutor, PendingCall, Policy, Rule,
    ToolExecutor as _, ToolRegistry,
};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// Is a person who takes so long that the server has changed the tool meanwhile.
struct Slow {
    servers: Arc<McpServers>,
    tools: ToolRegistry,
    describe: PathBuf,
    happens: Happens,
}

#[derive(Debug, Clone, Copy)]
enum Happens {
    Nothing,
    /// The server tells that its tools changed, over the same connection.
    Told,
    /// It is started again.
    Restarted,
    /// It dies.
    Dies,
}

#[async_trait]
impl Approver for Slow {
    async fn approve(&self, _: &PendingCall) -> Approval {
        let server = self.servers.get("s").unwrap();
        if !matches!(self.happens, Happens::Nothing) {
            fs::write(&self.describe, "Sends `text` somewhere else.").unwrap();
        }
        match self.happens {
            Happens::Nothing => {}
            Happens::Told => assert_eq!(self.call("change", json!({})).await, "ok: changed"),
            Happens::Dies => {
                self.call("die", json!({})).await;
            }
            Happens::Restarted => {
                let before = server.status().generation;
                server.restart();
                while server.status().generation == before {
                    sleep(Duration::from_millis(5)).await;
                }
            }
        }
        Approval::Approve
    }
}

impl Slow {
    /// Calls a tool that nobody is asked for.
    async fn call(&self, tool: &str, input: Value) -> String {
        let policy = Policy::new().allow(Rule::tools("*".parse().unwrap()));
        call(&LocalExecutor::builder(self.tools.clone()).policy(policy).build(), tool, input).await
    }
}

async fn call(executor: &LocalExecutor, tool: &str, input: Value) -> String {
    let call = ToolCall::new("c1".parse().unwrap(), format!("s__{tool}"), input);
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
    let reply = executor.execute_batch(batch).await.into_replies().unwrap().remove(0);
    format!("{}: {}", reply.status, reply.output.to_text())
}

async fn check(happens: Happens, expected: Expect) {
    let directory = tempfile::tempdir().unwrap();
    let describe = directory.path().join("description");
    fs::write(&describe, "Answers with `text`.").unwrap();
    let program = ServerProgram::new(crate::hostile_server(), ["--describe", describe.to_str().unwrap()]);
    let mut config = ServerConfig::new("s".parse().unwrap(), Transport::Stdio(program));
    // What it tells comes before its answer.
    config.era = Some(Era::Legacy);
    let servers = Arc::new(McpServers::builder().server(config).build().unwrap());
    let catalog = Catalog::builder().build().unwrap();
    catalog.attach(servers.sources().remove(0)).unwrap();
    catalog.refresh().await;
    let tools = catalog.snapshot();
    let person = Slow { servers: servers.clone(), tools: tools.clone(), describe, happens };
    let asks = Policy::new().ask(Rule::tools("*".parse().unwrap()));
    let executor = LocalExecutor::builder(tools).policy(asks).approver(person).build();
    expected.assert_eq(&call(&executor, "echo", json!({ "text": "secret" })).await);
    servers.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_changed_between_the_approval_and_the_call_is_not_called() {
    check(Happens::Nothing, expect!["ok: secret"]).await;
    let denied = || {
        expect![
            "denied: `s__echo` is no longer what was accepted of the server `s`; nothing was done, go on without it until the user has looked at it and accepted it with `haft mcp accept s`"
        ]
    };
    check(Happens::Told, denied()).await;
    check(Happens::Restarted, denied()).await;
    check(Happens::Dies, denied()).await;
}
