use super::arguments::AcceptOptions;
use super::files::pins;
use super::servers::Running;
use crate::exit::{Exit, UsageError};
use crate::paint::{ASKS, GOOD, NAME, QUIET};
use crate::timeline::visible;
use anyhow::{Context as _, Result, bail};
use haft::mcp::{AcceptedTool, PinStore as _, ServerIdentity, WaitingTool};
use serde_json::{Value, json};

/// Shows what waits of a server's tools, and accepts it where that is said.
pub(super) async fn accept(options: &AcceptOptions) -> Result<Exit> {
    let running = Running::start(options.workdir.as_deref(), std::slice::from_ref(&options.server)).await?;
    let server = running.servers.get(&options.server).context("the server was chosen")?;
    let (identity, status) = (ServerIdentity::of(server.config()), server.status());
    running.servers.stop().await;
    if let Some(reason) = status.reason.filter(|_| status.tools == 0) {
        bail!("the server `{}` cannot be looked at: {reason}", options.server);
    }
    let store = pins()?;
    let kept = store.read(&identity)?.unwrap_or_default();
    for tool in &options.tools {
        if !kept.waiting().contains_key(tool) {
            let near = haft::listed(haft::nearest(tool, kept.waiting().keys().map(String::as_str)), "or");
            let instead = if near.is_empty() {
                "`haft mcp accept SERVER` shows what does".to_owned()
            } else {
                format!("did you mean {near}?")
            };
            bail!(UsageError(format!("no tool `{tool}` waits to be accepted; {instead}")));
        }
    }
    let mut told = Vec::new();
    for (name, waiting) in kept.waiting() {
        let is_meant = options.all || options.tools.contains(name);
        let accepted = is_meant && store.accept(&identity, name, waiting.digest)?;
        told.push(json!({ "tool": name, "why": waiting.why, "accepted": accepted, "definition": waiting.definition }));
        if !options.json {
            print(name, waiting, kept.accepted().get(name), accepted);
        }
    }
    if options.json {
        anstream::println!("{:#}", Value::from(told));
    } else if kept.waiting().is_empty() {
        let accepted = match kept.accepted().len() {
            1 => "1 tool is accepted as it is".to_owned(),
            count => format!("{count} tools are accepted as they are"),
        };
        anstream::println!("Nothing waits: {accepted}.");
    } else if !options.all && options.tools.is_empty() {
        let server = &options.server;
        anstream::println!(
            "\nAccept one with `haft mcp accept {server} TOOL`, or all with `haft mcp accept {server} --all`."
        );
    }
    Ok(Exit::Done)
}

/// Prints what a tool was and what it is, whatever characters are in it.
fn print(name: &str, waiting: &WaitingTool, before: Option<&AcceptedTool>, accepted: bool) {
    let name = visible(name);
    if accepted {
        anstream::println!("{GOOD}accepted{GOOD:#} {NAME}{name}{NAME:#}");
    } else {
        anstream::println!("{ASKS}waits{ASKS:#} {NAME}{name}{NAME:#}: {}", visible(&waiting.why));
    }
    let old = before.and_then(|tool| tool.definition.as_ref());
    let Some(new) = &waiting.definition else {
        anstream::println!("  {QUIET}its definition is too large to be shown{QUIET:#}");
        return;
    };
    for member in ["title", "description", "inputSchema", "outputSchema", "annotations"] {
        let (old, new) = (old.and_then(|old| old.get(member)), new.get(member));
        if old == new {
            continue;
        }
        for (sign, value) in [("-", old), ("+", new)] {
            if let Some(value) = value {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                for line in text.lines() {
                    anstream::println!("  {QUIET}{member}{QUIET:#} {sign} {}", visible(line));
                }
            }
        }
    }
}
