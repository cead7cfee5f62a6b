use crate::exit::Exit;
use crate::own_place;
use crate::paint::{ASKS, ERROR};
use crate::printed::print_as_it_is;
use crate::timeline::visible;
use anyhow::Result;
use haft::Access;
use haft::core::RunId;
use haft::tools_core::{CallOutcome, PendingCall, Unmet};
use std::io::IsTerminal as _;

/// Prints what became of one call: the result on standard output, everything else on standard error.
pub(crate) fn print(outcome: &CallOutcome, json: bool) -> Result<Exit> {
    let exit = match outcome {
        CallOutcome::Replied(reply) if reply.status.is_ok() => Exit::Done,
        CallOutcome::Replied(_) => Exit::Failed,
        CallOutcome::Pending(_) | CallOutcome::Held(_) => Exit::Waiting,
    };
    if json {
        outln!("{}", serde_json::to_string_pretty(outcome)?);
        return Ok(exit);
    }
    match outcome {
        CallOutcome::Replied(reply) if reply.status.is_ok() => {
            result(&reply.output.to_text());
        }
        CallOutcome::Replied(reply) => {
            let text = reply.output.to_text();
            let mut lines = text.lines().map(visible);
            errln!("{ERROR}{}{ERROR:#}: {}", reply.status, lines.next().unwrap_or_default());
            // Indented, since whoever has written the text is not haft.
            lines.for_each(|line| errln!("  {line}"));
        }
        CallOutcome::Pending(pending) => pending.leaves().for_each(waiting),
        // Only a call among others is held back.
        CallOutcome::Held(held) => {
            errln!("{ASKS}held back{ASKS:#}: `{}` waits for other calls", visible(&held.call.name));
        }
    }
    Ok(exit)
}

/// Prints a result as it is for programs, and with what cannot be seen made visible on a terminal.
fn result(text: &str) {
    if std::io::stdout().is_terminal() {
        text.lines().for_each(|line| outln!("{}", visible(line)));
        return;
    }
    print_as_it_is(text.as_bytes());
    if !text.ends_with('\n') {
        print_as_it_is(b"\n");
    }
}

/// Says what a call waits for and how to let it run.
pub(crate) fn waiting(pending: &PendingCall) {
    let by = by(pending);
    errln!("{ASKS}waiting for an approval{ASKS:#}: `{}`{by} wants to", visible(&pending.call.name));
    for access in &pending.unmet {
        errln!("  {}", access_line(access));
    }
    let id = short(pending.id.as_str());
    errln!("  haft approvals show {id}\n  haft approvals approve {id}");
}

/// Says who makes a call and where, if that is not the one that people talk to.
pub(crate) fn by(pending: &PendingCall) -> String {
    let Some(agent) = asker(pending) else { return String::new() };
    let place = if own_place::of(pending).is_some() { ", in a place of its own," } else { "" };
    format!(" of {}{place}", visible(agent))
}

/// The agent that makes a call, where it is not the one that people talk to.
pub(crate) fn asker(pending: &PendingCall) -> Option<&str> {
    pending.agent.as_deref().filter(|_| !pending.above.is_empty())
}

/// Says how a run goes on when what it waits for is answered.
pub(crate) fn how_to_go_on(run: &RunId) {
    errln!("Answer it, then go on with `haft resume {run}`.");
}

/// As much of an id as people type; the commands say so if that is not enough.
pub(crate) fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// Writes one access for a person: what is done to what, what else is known of it, and why it is asked about.
pub(crate) fn access_line(unmet: &Unmet) -> String {
    let printed = visible(&unmet.printed());
    match unmet.access.as_ref().filter(|access| !access.is_opaque()).and_then(Access::detail) {
        Some(detail) => format!("{printed} ({})", visible(detail)),
        None => printed,
    }
}
