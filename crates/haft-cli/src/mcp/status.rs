use super::arguments::ServersOptions;
use super::servers::Running;
use crate::exit::Exit;
use crate::paint::{ASKS, BAD, GOOD, NAME, QUIET};
use crate::timeline::visible;
use anyhow::Result;
use haft::mcp::{Era, ServerState, ServerStatus};
use serde_json::{Value, json};

/// Starts servers and says how each is doing.
pub(super) async fn status(options: &ServersOptions) -> Result<Exit> {
    let running = Running::start(options.workdir.as_deref(), &options.servers).await?;
    let statuses = running.servers.statuses();
    running.servers.stop().await;
    if options.json {
        anstream::println!("{:#}", Value::from(statuses.iter().map(told).collect::<Vec<_>>()));
    } else {
        statuses.iter().for_each(print);
        if statuses.is_empty() {
            anstream::println!(
                "There are no servers to start; `haft mcp list` has those that are configured."
            );
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
    anstream::println!(
        "{NAME}{}{NAME:#} {colour}{}{colour:#}, {}{QUIET}{calls_itself}{revision}{QUIET:#}",
        status.name,
        status.state,
        counted(status.tools),
    );
    for text in status.reason.iter().chain(&status.login_url) {
        anstream::println!("  {}", visible(text));
    }
    for notice in &status.notices {
        anstream::println!("  {}", visible(&notice.to_string()));
    }
    for line in status
        .last_words
        .iter()
        .flat_map(|words| words.lines().rev().take(5).collect::<Vec<_>>().into_iter().rev())
    {
        anstream::println!("  {QUIET}stderr: {}{QUIET:#}", visible(line));
    }
}

/// Says how many tools there are.
pub(super) fn counted(tools: usize) -> String {
    if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") }
}

fn told(status: &ServerStatus) -> Value {
    let notices: Vec<Value> =
        status.notices.iter().map(|notice| json!({ "tool": notice.tool, "text": notice.text })).collect();
    let era = status.era.map(|era| if era == Era::Modern { "modern" } else { "legacy" });
    json!({
        "name": status.name.as_str(),
        "state": status.state.to_string(),
        "era": era,
        "revision": status.revision,
        "calls_itself": status.calls_itself,
        "tools": status.tools,
        "reason": status.reason,
        "login_url": status.login_url,
        "notices": notices,
    })
}
