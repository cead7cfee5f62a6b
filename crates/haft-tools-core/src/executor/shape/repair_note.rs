use crate::Redactor;
use haft_core::Repair;
use serde_json::Value;
use std::fmt::Write as _;

/// The most repairs that the model is told of one by one.
const MOST_REPAIRS: usize = 8;

/// The most bytes of each value that a note on a repair quotes.
const MOST_QUOTED: usize = 80;

/// The most bytes of each value that a reply tells of a repair.
const MOST_TOLD: usize = 200;

/// Replaces secrets in repairs, and then cuts their values to what is worth telling.
pub(in crate::executor) fn redact_and_cut(repairs: &mut [Repair], redactor: &Redactor) {
    redactor.redact_repairs(repairs);
    for value in repairs.iter_mut().flat_map(|repair| [Some(&mut repair.from), repair.to.as_mut()]).flatten()
    {
        cut(value);
    }
}

fn cut(value: &mut Value) {
    let mut text = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => return,
        Value::String(text) => std::mem::take(text),
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            if text.len() <= MOST_TOLD {
                return;
            }
            text
        }
    };
    if text.len() > MOST_TOLD {
        text.truncate(text.floor_char_boundary(MOST_TOLD));
        text.push('…');
        text.shrink_to_fit();
    }
    *value = Value::String(text);
}

/// Tells the model what was changed in its arguments, if that is anything it could have sent otherwise.
///
/// A null that was taken as absent is left out: where a provider has every property be required, that is how a model
/// leaves one out.
pub(super) fn repair_note(repairs: &[Repair], redactor: &Redactor) -> Option<String> {
    let worth_telling = || repairs.iter().filter(|repair| !repair.from.is_null() || repair.to.is_some());
    let count = worth_telling().count();
    if count == 0 {
        return None;
    }
    let mut note = String::from("[the arguments were changed:");
    let mut told: Vec<Repair> = worth_telling().take(MOST_REPAIRS).cloned().collect();
    redact_and_cut(&mut told, redactor);
    for (index, repair) in told.iter().enumerate() {
        let place = if repair.pointer.is_empty() { "the whole".to_owned() } else { quoted(&repair.pointer) };
        let separator = if index == 0 { "" } else { ";" };
        // Writing to a string cannot fail.
        let _ = write!(note, "{separator} {place}: {}", repair.note);
        if let Some(to) = &repair.to {
            let _ = write!(note, " ({} → {})", quoted(&repair.from.to_string()), quoted(&to.to_string()));
        }
    }
    if count > MOST_REPAIRS {
        let _ = write!(note, "; and {} more", count - MOST_REPAIRS);
    }
    note.push(']');
    Some(note)
}

fn quoted(text: &str) -> String {
    if text.len() <= MOST_QUOTED {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MOST_QUOTED)])
}
