//! What a server leaves behind that is started again and again. It is alone in its program, since descriptors and children are
//! those of the whole process.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what cannot be measured fails the test")]

mod left_behind;

use haft_core::ToolCall;
use haft_mcp::{Era, McpServers, ServerConfig, ServerProgram, ServerState, Transport};
use haft_tools_core::{Batch, CallScope, Catalog, LocalExecutor, Policy, Rule, ToolExecutor as _};
use left_behind::{counts, hostile_server};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

async fn call(executor: &LocalExecutor, tool: &str, input: Value) -> String {
    let call = ToolCall::new("c1".parse().unwrap(), format!("s__{tool}"), input);
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
    let reply = executor.execute_batch(batch).await.into_replies().unwrap().remove(0);
    format!("{}: {}", reply.status, reply.output.to_text())
}

#[tokio::test]
async fn fifty_reconnects_leave_no_descriptor_no_process_and_no_task() {
    for era in [Era::Legacy, Era::Modern] {
        let no_arguments: [&str; 0] = [];
        let program = ServerProgram::new(hostile_server(), no_arguments);
        let mut config = ServerConfig::new("s".parse().unwrap(), Transport::Stdio(program));
        config.era = Some(era);
        let servers = McpServers::builder().server(config).build().unwrap();
        let catalog = Catalog::builder().build().unwrap();
        catalog.attach(servers.sources().remove(0)).unwrap();
        catalog.refresh().await;
        let policy = Policy::new().allow(Rule::tools("*".parse().unwrap()));
        let executor = LocalExecutor::builder(catalog.snapshot()).policy(policy).build();
        let server = servers.get("s").unwrap();
        let again = async |round: u64| {
            if round.is_multiple_of(2) {
                let ended = call(&executor, "die", json!({ "code": 1 })).await;
                assert!(ended.starts_with("error: unavailable"), "{ended}");
            }
            // One that has died is started again at once, too.
            server.restart();
            while server.status().state != ServerState::Ready || server.status().generation < round + 2 {
                sleep(Duration::from_millis(1)).await;
            }
            assert_eq!(call(&executor, "echo", json!({ "text": "hi" })).await, "ok: hi");
            executor.idle().await;
        };
        // What is made once for all is made now.
        again(0).await;
        again(1).await;
        let before = counts();
        for round in 2..52 {
            again(round).await;
        }
        // What a connection has ended may still be on its way out.
        let mut after = counts();
        for _ in 0..2_000 {
            if after == before {
                break;
            }
            sleep(Duration::from_millis(5)).await;
            after = counts();
        }
        assert_eq!(after, before, "descriptors, children, tasks in {era:?}");
        servers.stop().await;
    }
}
