//! Run scripts in a sandbox that reaches one host
//!
//! Two things hold a script to what it may reach. It is read before it runs, and what its commands would connect to, read and write is
//! decided by rules: here one address is allowed and nothing else. And on Linux the kernel holds the script to what was decided, so that
//! a program whose doings cannot be read from the script gets no further. `ShellSandbox::require` refuses to run without a kernel that
//! can; `prefer`, as here, says what it lacks.

use crate::Done;
use haft::shell::ShellSandbox;
use haft::{Batch, CallScope, LocalExecutor, Policy, ToolCall, ToolExecutor as _, Workdir};
use serde_json::json;
use tokio::net::TcpListener;

pub(crate) async fn run() -> Done {
    let project = tempfile::tempdir()?;
    let workdir = Workdir::open(project.path())?;
    let sandbox = ShellSandbox::prefer();
    let lacks: Vec<_> = sandbox.lacks().iter().map(ToString::to_string).collect();
    let tools = haft::DefaultTools::new(&workdir).sandbox(sandbox).registry()?;

    // Two servers of this machine: one that may be reached, and one that may not.
    let (open, closed) = (TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?);
    let (open, closed) = (open.local_addr()?, closed.local_addr()?);
    let language = haft::DefaultRules::new(&workdir).language();
    let policy = Policy::new()
        .allow(language.rule(&format!("connect({open})"))?)
        .allow(language.rule("exec(curl *)")?)
        .allow(language.rule("exec(sh *)")?)
        .allow(language.rule("read(**)")?)
        .language(language);
    let executor = LocalExecutor::builder(tools).policy(policy).build();
    let call = |id: &str, script: String| -> Result<ToolCall, haft::core::IdError> {
        Ok(ToolCall::new(id.parse()?, "bash", json!({ "command": script, "timeout": 10 })))
    };
    // Each curl ends with 28 where it was connected and heard nothing, and with 7 where it was not connected.
    let fetch = |address| format!("curl --silent --max-time 1 http://{address}/");
    let calls = vec![call("c1", fetch(open))?, call("c2", fetch(closed))?];
    let batch = Batch::new(CallScope::new("run-1".parse()?), calls);
    for reply in executor.execute_batch(batch).await.into_replies()? {
        let text = reply.output.to_text().replace(&closed.to_string(), "CLOSED");
        println!("{} {}: {text}", reply.call_id, reply.status);
    }
    println!("kernel: {}", if lacks.is_empty() { "confines scripts".to_owned() } else { lacks.join("; ") });
    Ok(())
}
