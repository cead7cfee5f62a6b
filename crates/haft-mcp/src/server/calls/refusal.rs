use crate::shown::{line, shown};
use haft_core::ToolOutput;
use haft_tools_core::{PendingCall, Unmet, Wants};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The most accesses that are listed, and the most bytes of each text.
const MOST_ACCESSES: usize = 12;
const MOST_BYTES: usize = 512;

/// Answers a call that waits for a person whom its client cannot ask: what is not allowed, and what would allow it.
///
/// The structured form is for programs; both readers are told the same.
pub(crate) fn refusal(pending: &PendingCall) -> ToolOutput {
    if pending.waits_below() {
        return refusal_below(pending);
    }
    let name = line(&pending.call.name, MOST_BYTES);
    let command = format!("haft approvals approve {}", pending.id);
    let unmet = pending.unmet.iter().take(MOST_ACCESSES);
    let told: Vec<Value> = unmet.clone().map(told).collect();
    let mut rules: Vec<String> = unmet.filter_map(rule).collect();
    rules.dedup();
    let needed = match &pending.wants {
        Wants::Authentication { .. } => "a login, and this client cannot ask for it",
        _ => "an approval, and this client cannot ask for one",
    };
    let mut text = format!("`{name}` needs {needed}; nothing was done.");
    for unmet in pending.unmet.iter().take(MOST_ACCESSES) {
        let _ = write!(text, "\n- {}", line(&unmet.reason, MOST_BYTES));
    }
    let mut commands = vec![command.clone()];
    match &pending.wants {
        Wants::Authentication { url } => {
            let url = shown(url, MOST_BYTES);
            let _ = write!(text, "\nAsk the user to log in at {url}, then repeat the very same call.");
            commands.clear();
        }
        _ if rules.is_empty() => {
            let _ = write!(text, "\nAsk the user to run `{command}`, then repeat the very same call.");
        }
        _ => {
            let rules = serde_json::to_string(&rules).unwrap_or_default();
            let _ = write!(
                text,
                "\nAsk the user to run `{command}`, or to add `allow = {rules}` to the policy of this server, then repeat the \
                 very same call."
            );
        }
    }
    let mut output = ToolOutput::text(text);
    output.structured = Some(json!({
        "error": if commands.is_empty() { "authentication_required" } else { "approval_required" },
        "pending": pending.id,
        "unmet": told,
        "rules": rules,
        "commands": commands,
    }));
    output
}

/// Answers a call that waits for calls it has made, which people are to answer.
fn refusal_below(pending: &PendingCall) -> ToolOutput {
    let name = line(&pending.call.name, MOST_BYTES);
    let count = pending.leaves().count();
    let mut text = format!(
        "`{name}` has begun, and waits for calls that it has made: they need an approval, and this client cannot ask for one."
    );
    let (mut told, mut commands) = (Vec::new(), Vec::new());
    for leaf in pending.leaves().take(MOST_ACCESSES) {
        let tool = line(&leaf.call.name, MOST_BYTES);
        let of = leaf.agent.as_deref().filter(|_| !leaf.above.is_empty());
        let of = of.map(|agent| format!(" of {}", line(agent, MOST_BYTES))).unwrap_or_default();
        let command = format!("haft approvals approve {}", leaf.id);
        let _ = match &leaf.wants {
            Wants::Authentication { url } => {
                let url = shown(url, MOST_BYTES);
                write!(text, "\n- `{tool}`{of}: log in at {url}, then `{command}`")
            }
            _ => write!(text, "\n- `{tool}`{of}: `{command}`"),
        };
        told.push(json!({ "pending": leaf.id, "tool": tool, "agent": leaf.agent, "command": command }));
        commands.push(command);
    }
    if count > told.len() {
        let _ = write!(text, "\n- and {} more: `haft approvals list`", count - told.len());
    }
    text.push_str("\nAsk the user to answer these, then repeat the very same call: it goes on where it is.");
    let mut output = ToolOutput::text(text);
    output.structured = Some(json!({
        "error": "approval_required",
        "pending": pending.id,
        "waits_for": told,
        "commands": commands,
    }));
    output
}

fn told(unmet: &Unmet) -> Value {
    json!({
        "access": line(&unmet.printed(), MOST_BYTES),
        "reason": line(&unmet.reason, MOST_BYTES),
        "rule": rule(unmet),
    })
}

/// The rule that would allow an access; none for what cannot be told.
fn rule(unmet: &Unmet) -> Option<String> {
    let is_known = unmet.access.as_ref().is_none_or(|access| !access.is_opaque());
    unmet.grant.as_ref().filter(|_| is_known).map(|rule| line(rule, MOST_BYTES))
}
