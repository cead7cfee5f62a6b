//! Lines of JSON-RPC that a client sends: each line that comes back is one message, and each request has one answer at most.
#![no_main]

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use haft::mcp::{Caller, Ended, ToolServer, Toolbox, Toolset};
use haft::tools_core::{AllowAll, MemoryPending};
use haft::{Accesses, CallContext, CallScope, LocalExecutor, ToolError, ToolRegistry, tool_fn};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {
    text: Option<String>,
}

/// Gives everybody the same tool.
struct One(Arc<Toolset>);

#[async_trait]
impl Toolbox for One {
    async fn toolset(&self, _: &Caller, _: Option<&[String]>) -> Result<Arc<Toolset>, String> {
        Ok(self.0.clone())
    }
}

static SERVER: LazyLock<ToolServer> = LazyLock::new(|| {
    let echo = tool_fn("echo", "Repeats.", Accesses::none(), |input: Input, _: CallContext| async move {
        Ok::<_, ToolError>(input.text.unwrap_or_default())
    });
    let registry = ToolRegistry::new().with(echo.expect("a tool")).expect("one tool");
    let executor = Arc::new(LocalExecutor::builder(registry.clone()).approver(AllowAll).build());
    let scope = CallScope::new("fuzz".parse().expect("an id"));
    let pending = Arc::new(MemoryPending::new());
    let toolset = Toolset::new(move || registry.clone(), executor, scope, pending);
    ToolServer::builder(One(Arc::new(toolset))).build()
});

fuzz_target!(|lines: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (written, ended) = runtime.block_on(async {
        let (client, server) = tokio::io::duplex(1 << 20);
        let (server_reads, server_writes) = tokio::io::split(server);
        let (mut client_reads, mut client_writes) = tokio::io::split(client);
        let stop = CancellationToken::new();
        let serve = SERVER.serve_over(server_reads, server_writes, stop.clone());
        let talk = async {
            let initialize = json!({ "jsonrpc": "2.0", "id": "first", "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "fuzz", "version": "0" } } });
            client_writes.write_all(format!("{initialize}\n").as_bytes()).await.expect("it listens");
            let _ = client_writes.write_all(lines).await;
            let _ = client_writes.shutdown().await;
            let mut written = Vec::new();
            let _ = client_reads.read_to_end(&mut written).await;
            written
        };
        let both = async { tokio::join!(talk, serve) };
        tokio::time::timeout(Duration::from_secs(10), both).await.expect("it ends when its input does")
    });
    assert_eq!(ended, Ended::Closed);
    let asked = asked(lines);
    let mut answered: HashMap<String, usize> = HashMap::new();
    let text = std::str::from_utf8(&written).expect("what is written is UTF-8");
    for line in text.lines() {
        let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        if message.get("method").is_some() {
            continue;
        }
        assert!(message.get("result").is_some() != message.get("error").is_some(), "{line}");
        match message.get("id") {
            // Of a line that is no message nothing is known.
            None | Some(Value::Null) => assert!(message.get("error").is_some(), "{line}"),
            Some(id) => *answered.entry(named(id)).or_default() += 1,
        }
    }
    for (id, count) in answered {
        let most = asked.get(&id).copied().unwrap_or_default() + usize::from(id == "\"first\"");
        assert!(count <= most, "{id} was asked {most} times and answered {count} times");
    }
});

/// Writes an id as the server does: a whole number is the same number with a fraction of zero.
fn named(id: &Value) -> String {
    let whole =
        id.as_f64().filter(|_| id.is_f64()).filter(|number| number.fract() == 0.0 && number.abs() < 9e15);
    // And zero is zero, whatever its sign.
    whole.map_or_else(|| id.to_string(), |number| format!("{:.0}", number + 0.0))
}

/// Counts the requests of each id, as far as they can be told.
fn asked(lines: &[u8]) -> HashMap<String, usize> {
    let mut asked = HashMap::new();
    for line in lines.split(|byte| *byte == b'\n') {
        let Ok(message) = serde_json::from_slice::<Value>(line) else { continue };
        let messages = match message {
            Value::Array(messages) => messages,
            message => vec![message],
        };
        for id in messages.iter().filter_map(|message| message.get("id")) {
            *asked.entry(named(id)).or_default() += 1;
        }
    }
    asked
}
