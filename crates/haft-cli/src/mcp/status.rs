use super::arguments::ServersOptions;
use super::servers::Running;
use crate::exit::Exit;
use crate::paint::{ASKS, BAD, GOOD, NAME, QUIET};
use crate::printed::print_json;
use crate::timeline::visible;
use anyhow::Result;
use haft::mcp::{Era, ServerNotice, ServerState, ServerStatus};
use schemars::JsonSchema;
use serde::Serialize;

/// Starts servers and says how each is doing.
pub(super) async fn status(options: &ServersOptions) -> Result<Exit> {
    let running = Running::start(options.workdir.as_deref(), &options.servers).await?;
    let statuses = running.servers.statuses();
    running.servers.stop().await;
    if options.json {
        print_json(&statuses.iter().map(ServerReport::of).collect::<Vec<_>>())?;
    } else {
        statuses.iter().for_each(print);
        if statuses.is_empty() {
            outln!("There are no servers to start; `haft mcp list` has those that are configured.");
        }
    }
    let is_usable =
        |status: &ServerStatus| matches!(status.state, ServerState::Ready | ServerState::Degraded);
    Ok(if statuses.iter().all(is_usable) { Exit::Done } else { Exit::Failed })
}

/// Prints how one server is doing.
pub(super) fn print(status: &ServerStatus) {
    let colour = match status.state {
        ServerState::Ready => GOOD,
        ServerState::Degraded | ServerState::NeedsLogin => ASKS,
        _ => BAD,
    };
    let calls_itself =
        status.calls_itself.as_deref().map(|name| format!(" {}", visible(name))).unwrap_or_default();
    let revision =
        status.revision.as_deref().map(|revision| format!(" {}", visible(revision))).unwrap_or_default();
    outln!(
        "{NAME}{}{NAME:#} {colour}{}{colour:#}, {}{QUIET}{calls_itself}{revision}{QUIET:#}",
        status.name,
        status.state,
        counted(status.tools),
    );
    for text in status.reason.iter().chain(&status.login_url) {
        outln!("  {}", visible(text));
    }
    for notice in &status.notices {
        outln!("  {}", visible(&notice.to_string()));
    }
    for line in status
        .last_words
        .iter()
        .flat_map(|words| words.lines().rev().take(5).collect::<Vec<_>>().into_iter().rev())
    {
        outln!("  {QUIET}stderr: {}{QUIET:#}", visible(line));
    }
}

/// Says how many tools there are.
pub(super) fn counted(tools: usize) -> String {
    if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") }
}

/// How an MCP server is doing.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ServerReport {
    /// Its name.
    name: String,
    /// Where it stands: `configured`, `starting`, `ready`, `degraded`, `backoff`, `failed` or `needs login`.
    state: String,
    /// Which of the protocol's ways it speaks, `modern` or `legacy`; `null` where that is not known.
    era: Option<&'static str>,
    /// The revision of the protocol that it speaks, if that is known.
    revision: Option<String>,
    /// What it calls itself, if it says so.
    calls_itself: Option<String>,
    /// How many tools it offers.
    tools: usize,
    /// Why it is not ready, if it is not.
    reason: Option<String>,
    /// Where to log in, if it wants that.
    login_url: Option<String>,
    /// What is odd about its tools.
    notices: Vec<NoticeReport>,
}

/// Something that is odd about a tool of a server, or about all.
#[derive(Serialize, JsonSchema)]
struct NoticeReport {
    /// The tool; `null` where it is about the server.
    tool: Option<String>,
    /// What, for people.
    text: String,
}

impl ServerReport {
    fn of(status: &ServerStatus) -> Self {
        let notice =
            |notice: &ServerNotice| NoticeReport { tool: notice.tool.clone(), text: notice.text.clone() };
        Self {
            name: status.name.as_str().to_owned(),
            state: status.state.to_string(),
            era: status.era.map(|era| if era == Era::Modern { "modern" } else { "legacy" }),
            revision: status.revision.clone(),
            calls_itself: status.calls_itself.clone(),
            tools: status.tools,
            reason: status.reason.clone(),
            login_url: status.login_url.clone(),
            notices: status.notices.iter().map(notice).collect(),
        }
    }
}
