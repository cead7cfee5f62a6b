use super::arguments::ServerOptions;
use super::servers::Running;
use crate::exit::Exit;
use crate::printed::print_json;
use crate::timeline::visible;
use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;

/// Starts a server and shows what it has written by the time its tools are listed.
pub(super) async fn logs(options: &ServerOptions) -> Result<Exit> {
    let running = Running::start(options.workdir.as_deref(), std::slice::from_ref(&options.server)).await?;
    let server = running.server(&options.server)?;
    let (log, status) = (server.log(), server.status());
    running.servers.stop().await;
    let words = status.last_words.unwrap_or_default();
    if options.json {
        print_json(&ServerLog { log, stderr: words, reason: status.reason })?;
        return Ok(Exit::Done);
    }
    for line in log.iter().map(String::as_str).chain(words.lines()) {
        outln!("{}", visible(line));
    }
    if let Some(reason) = status.reason {
        outln!("{}", visible(&reason));
    }
    Ok(Exit::Done)
}

/// What a server has written by the time its tools were listed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ServerLog {
    /// What it has logged by the protocol, a line for each message.
    log: Vec<String>,
    /// The end of what it has written to its standard error.
    stderr: String,
    /// Why it is not ready, if it is not.
    reason: Option<String>,
}
