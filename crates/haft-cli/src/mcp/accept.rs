use super::arguments::AcceptOptions;
use super::files::pins;
use super::servers::Running;
use super::waiting::{Named, Waiting, WaitingTool, shell_word};
use crate::exit::Exit;
use crate::paint::{GOOD, NAME};
use crate::person;
use crate::printed::print_json;
use anyhow::{Result, bail};
use haft::mcp::{FilePins, PinStore as _, ServerIdentity};
use std::io::{IsTerminal as _, stdout};

/// Shows what waits of a server's tools, and accepts what was shown: by its digest, or by the word of the person at the
/// terminal.
pub(super) async fn accept(options: &AcceptOptions) -> Result<Exit> {
    let running = Running::start(options.workdir.as_deref(), std::slice::from_ref(&options.server)).await?;
    let server = running.server(&options.server)?;
    let (identity, status, listed) =
        (ServerIdentity::of(server.config()), server.status(), server.quarantined());
    running.servers.stop().await;
    if let Some(reason) = status.reason.filter(|_| status.tools == 0) {
        bail!("the server `{}` cannot be looked at: {reason}", options.server);
    }
    let store = pins()?;
    let kept = store.read(&identity)?.unwrap_or_default();
    let waiting = Waiting::of(&kept, &listed);
    // All that is named is found before anything is accepted.
    let mut named = Vec::new();
    for written in &options.tools {
        named.push(Named::find(written, &waiting)?);
    }
    let is_named = |tool: &Waiting| named.iter().any(|named| named.tool.name == tool.name);
    let chosen: Vec<&Waiting> =
        waiting.iter().filter(|tool| options.tools.is_empty() || is_named(tool)).collect();
    let is_exact = |tool: &Waiting| named.iter().any(|named| named.is_exact && named.tool.name == tool.name);

    let accepting = Accepting { store: &store, identity, server: &options.server };
    if options.json {
        let mut told = Vec::new();
        for tool in &chosen {
            let accepted = is_exact(tool);
            if accepted {
                accepting.accept(tool)?;
            }
            told.push(WaitingTool::of(tool, accepted));
        }
        print_json(&told)?;
    } else if chosen.is_empty() {
        let accepted = match kept.accepted().len() {
            1 => "1 tool is accepted as it is".to_owned(),
            count => format!("{count} tools are accepted as they are"),
        };
        outln!("Nothing waits: {accepted}.");
        return Ok(Exit::Done);
    } else {
        for tool in &chosen {
            if is_exact(tool) {
                accepting.accept(tool)?;
                print_accepted(tool);
            } else {
                tool.print(&options.server);
            }
        }
    }
    let open: Vec<&Waiting> = chosen.into_iter().filter(|tool| !is_exact(tool)).collect();
    let is_asked = !options.json && person::at_terminal() && stdout().is_terminal();
    let is_meant = options.all || !options.tools.is_empty();
    let left = if is_asked { accepting.ask(open, options.all).await? } else { open };
    if left.is_empty() {
        return Ok(Exit::Done);
    }
    if !options.json {
        outln!("\nAccept what you have looked at by its digest, as in:");
        outln!("  haft mcp accept {} {}", options.server, shell_word(&left[0].handle()));
    }
    Ok(if is_meant && !is_asked { Exit::Waiting } else { Exit::Done })
}

/// Accepts tools of one server.
struct Accepting<'a> {
    store: &'a FilePins,
    identity: ServerIdentity,
    server: &'a str,
}

impl Accepting<'_> {
    /// Accepts a tool as it was shown.
    fn accept(&self, tool: &Waiting) -> Result<()> {
        if self.store.accept(&self.identity, &tool.name, tool.digest)? {
            return Ok(());
        }
        let now = self.store.read(&self.identity)?.unwrap_or_default();
        let now = now.waiting().get(&tool.name).map(|tool| format!("; its digest is `{}` now", tool.digest));
        bail!(
            "`{}` has changed since it was shown{}; look at it with `haft mcp accept {}`",
            tool.name,
            now.unwrap_or_default(),
            self.server
        )
    }

    /// Asks the person at the terminal about what was shown, one by one or about all; gives what is not accepted.
    async fn ask<'a>(&self, open: Vec<&'a Waiting>, all: bool) -> Result<Vec<&'a Waiting>> {
        let (shown, mut left): (Vec<_>, Vec<_>) = open.into_iter().partition(|tool| tool.can_be_shown());
        let mut is_meant = false;
        for (place, tool) in shown.iter().enumerate() {
            if place == 0 || !all {
                let question = match shown.len() {
                    count @ 2.. if all => format!("Accept these {count} as they were shown?"),
                    _ => format!("Accept `{}` as it was shown?", tool.handle()),
                };
                is_meant = person::confirm(&question).await;
            }
            if is_meant {
                self.accept(tool)?;
                print_accepted(tool);
            } else {
                left.push(tool);
            }
        }
        Ok(left)
    }
}

fn print_accepted(tool: &Waiting) {
    outln!("{GOOD}accepted{GOOD:#} {NAME}{}{NAME:#}", tool.handle());
}
