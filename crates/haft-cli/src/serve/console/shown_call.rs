use crate::kept_state::why;
use crate::outcome::{access_line, short};
use crate::report::page::Text;
use crate::task::Task;
use haft::core::Visible;
use haft::store::PendingEntry;
use haft::tools_core::{Approval, PendingCall, Preview, Redactor, Unmet, Wants};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The most bytes of a text that are shown, and of arguments that can be edited on the page.
const MOST_TEXT: usize = 64 * 1024;

/// The most accesses that are listed.
const MOST_ACCESSES: usize = 50;

/// Writes what a person is shown of a call that waits, and what they need to answer exactly that.
///
/// A secret is replaced before anything is cut, so that no part of one stays. Arguments that hold one cannot be edited here: what
/// is shown is not what they are.
pub(super) fn shown_call(entry: &PendingEntry, redactor: &Redactor) -> Value {
    let pending = match &entry.call {
        Ok(pending) => pending,
        Err(fault) => return json!({ "id": entry.id, "unreadable": why(fault) }),
    };
    let (kind, preview) = match &pending.preview {
        Preview::Arguments => ("arguments", String::new()),
        Preview::Diff(text) => ("diff", redactor.redact(text).into_owned()),
        Preview::Command(text) => ("command", redactor.redact(text).into_owned()),
        preview => ("text", redactor.redact(preview.as_text()).into_owned()),
    };
    let mut shown = pending.call.input.clone();
    redactor.redact_value(&mut shown);
    let holds_secret = shown != pending.call.input;
    let input = serde_json::to_string_pretty(&shown).unwrap_or_default();
    let url = match &pending.wants {
        Wants::Authentication { url } => Some(url),
        _ => None,
    };
    json!({
        "id": entry.id,
        "short": short(entry.id.as_str()),
        "digest": pending.digest,
        "tool": pending.call.name,
        "by": pending.agent,
        "run": entry.run,
        "in": Task::kept(&entry.host).ok().map(|task| task.workdir.display().to_string()),
        "asked_at_ms": pending.asked_at_ms,
        "expires_at_ms": pending.expires_at_ms,
        "expired": pending.is_expired(),
        "sign_in": url,
        "again": pending.again,
        "repairs": pending.repairs.iter().map(|repair| &repair.note).collect::<Vec<_>>(),
        "accesses": pending.unmet.iter().take(MOST_ACCESSES).map(shown_access).collect::<Vec<_>>(),
        "accesses_omitted": pending.unmet.len().saturating_sub(MOST_ACCESSES),
        "preview": { "kind": kind, "text": Text::cut(&preview, MOST_TEXT) },
        "input": Text::cut(&input, MOST_TEXT),
        "edit": (input.len() <= MOST_TEXT && url.is_none() && !holds_secret).then(|| typed(&input)),
        "holds_secret": holds_secret,
        "can_be_remembered": pending.can_be_remembered(),
        "can_be_never": can_be_never(pending),
        "answered": answered(entry),
    })
}

/// Tells whether something of a call can be denied for good.
pub(super) fn can_be_never(pending: &PendingCall) -> bool {
    pending.wants == Wants::Approval && pending.unmet.iter().any(|unmet| unmet.grant.is_some())
}

fn shown_access(unmet: &Unmet) -> Value {
    json!({ "access": access_line(unmet), "reason": unmet.reason, "grant": unmet.grant })
}

fn answered(entry: &PendingEntry) -> Option<&'static str> {
    match &entry.answer {
        Ok(None) => None,
        Ok(Some(Approval::Approve | Approval::ApproveFor { .. })) => Some("approved"),
        Ok(Some(Approval::Edit { .. })) => Some("approved with other arguments"),
        Ok(Some(_)) => Some("denied"),
        Err(_) => Some("answered, in a way that cannot be read"),
    }
}

/// Writes JSON so that all of it can be seen and typed: what cannot be is escaped, so that it stays the same value.
fn typed(json: &str) -> String {
    let mut typed = String::with_capacity(json.len());
    for character in json.chars() {
        let text = character.encode_utf8(&mut [0; 4]).to_owned();
        if character == '\n' || Visible::new(&text).to_cow() == text {
            typed.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(typed, "\\u{unit:04x}");
        }
    }
    typed
}

#[cfg(test)]
mod tests {
    use super::typed;
    use serde_json::{Value, json};

    #[test]
    fn what_is_edited_can_be_seen_and_is_the_same_value() {
        let value = json!({ "a\u{202e}b": ["\u{200b}", "é", "\u{e0001}", "\u{1b}[2J", "line\nline"] });
        let text = typed(&serde_json::to_string_pretty(&value).unwrap());
        assert!(!text.contains(['\u{202e}', '\u{200b}', '\u{e0001}', '\u{1b}']), "{text}");
        assert!(text.contains("a\\u202eb") && text.contains('é'), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
