//! The form in which a person is asked whether a call may run.

use crate::server::ask::ClientAskError;
use crate::shown::{line, shown};
use haft_tools_core::{Approval, GrantTerm, PendingCall, Preview, milliseconds};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The most bytes of what the call is about to do.
const MOST_PREVIEW_BYTES: usize = 3 * 1024;

/// The most accesses that are listed, and the most bytes of each.
const MOST_ACCESSES: usize = 12;
const MOST_ACCESS_BYTES: usize = 256;

/// The most bytes of a reason that a person gives.
const MOST_REASON_BYTES: usize = 1024;

/// Says what was asked before the call is asked about once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asked {
    /// Nothing.
    First,
    /// What it would do has changed since.
    Changed,
}

/// Writes what a person reads, with all that a tool or a client wrote made visible.
pub(super) fn message(pending: &PendingCall, asked: Asked) -> String {
    let mut text = format!("May the tool `{}` run?", line(&pending.call.name, MOST_ACCESS_BYTES));
    if asked == Asked::Changed || pending.again.is_some() {
        text.push_str(" What it would do is no longer what was asked about before.");
    }
    let about = match &pending.preview {
        Preview::Arguments => pending.call.input.to_string(),
        preview => preview.as_text().to_owned(),
    };
    for line in shown(&about, MOST_PREVIEW_BYTES).lines() {
        // Marked, so that none is taken for a line of ours.
        let _ = write!(text, "\n> {line}");
    }
    text.push_str("\nNot allowed yet:");
    for unmet in pending.unmet.iter().take(MOST_ACCESSES) {
        let _ = write!(text, "\n- {}", line(&unmet.printed(), MOST_ACCESS_BYTES));
    }
    if pending.unmet.len() > MOST_ACCESSES {
        let _ = write!(text, "\n- and {} more", pending.unmet.len() - MOST_ACCESSES);
    }
    text
}

/// Is the form: flat, with nothing filled in.
pub(super) fn schema(pending: &PendingCall, has_session: bool) -> Value {
    let mut choices = vec!["once"];
    let mut meaning = "once: this call alone".to_owned();
    if pending.can_be_remembered() {
        if has_session {
            choices.push("session");
            meaning.push_str("; session: until the connection ends");
        }
        choices.extend(["workspace", "always", "never"]);
        meaning.push_str(
            "; workspace, always: also what is like it, here or everywhere; never: not now and not later",
        );
    }
    choices.push("deny");
    meaning.push_str("; deny: not this call");
    json!({
        "type": "object",
        "properties": {
            "answer": { "type": "string", "title": "Answer", "description": meaning, "enum": choices },
            "reason": { "type": "string", "title": "Reason", "description": "why not, for the model" },
        },
        "required": ["answer"],
    })
}

/// Reads the content of a form that was accepted; `None` is no answer to it.
pub(super) fn approval(content: &Value, has_session: bool) -> Option<Approval> {
    let reason = || {
        let reason = content.get("reason").and_then(Value::as_str).unwrap_or_default();
        shown(reason, MOST_REASON_BYTES)
    };
    Some(match content.get("answer")?.as_str()? {
        "once" => Approval::Approve,
        // A connection is one run.
        "session" if has_session => Approval::ApproveFor { term: GrantTerm::Run },
        "workspace" => Approval::ApproveFor { term: GrantTerm::Workspace },
        "always" => Approval::ApproveFor { term: GrantTerm::Always },
        "never" => Approval::Never { term: GrantTerm::Workspace, reason: reason() },
        "deny" => Approval::Deny { reason: reason() },
        _ => return None,
    })
}

/// Reads what a client answered to the form, as it came.
pub(super) fn read(raw: &Value, has_session: bool) -> Option<Approval> {
    match raw.get("action")?.as_str()? {
        "accept" => approval(raw.get("content")?, has_session),
        "decline" => Some(unanswered(&ClientAskError::Declined)),
        "cancel" => Some(unanswered(&ClientAskError::Cancelled)),
        _ => None,
    }
}

/// Says what is made of a question that was not answered.
pub(super) fn unanswered(error: &ClientAskError) -> Approval {
    match error {
        ClientAskError::Declined => Approval::Deny { reason: String::new() },
        ClientAskError::TimedOut(time) => Approval::TimedOut { after_ms: milliseconds(*time) },
        ClientAskError::Unable(_) => Approval::Nobody,
        error => Approval::Deny { reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::{approval, schema};
    use crate::server::calls::answers::flat;
    use crate::server::calls::fixture::pending;
    use haft_tools_core::{Approval, GrantTerm};
    use serde_json::json;

    #[test]
    fn what_cannot_be_remembered_is_asked_each_time() {
        let choices = |grant: Option<&str>, has_session| {
            let schema = schema(&pending(grant), has_session);
            assert_eq!(flat(&schema).as_ref(), Some(&schema));
            schema["properties"]["answer"]["enum"].clone()
        };
        assert_eq!(choices(None, true), json!(["once", "deny"]));
        assert_eq!(choices(Some("write(a)"), false), json!(["once", "workspace", "always", "never", "deny"]));
        assert_eq!(
            choices(Some("write(a)"), true),
            json!(["once", "session", "workspace", "always", "never", "deny"])
        );
    }

    #[test]
    fn nothing_but_a_choice_is_an_answer() {
        let check = |content, read| assert_eq!(approval(&content, false), read, "{content}");
        check(json!({ "answer": "once" }), Some(Approval::Approve));
        check(json!({ "answer": "always" }), Some(Approval::ApproveFor { term: GrantTerm::Always }));
        let reason = "not\\u{1b}".to_owned();
        check(json!({ "answer": "deny", "reason": "not\u{1b}" }), Some(Approval::Deny { reason }));
        for none in [json!({}), json!({ "answer": "session" }), json!({ "answer": true }), json!("once")] {
            check(none, None);
        }
    }
}
