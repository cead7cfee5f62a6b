use haft_core::Repair;
use std::fmt::Write as _;

/// The most repairs that the model is told of one by one.
const MOST_REPAIRS: usize = 8;

/// The most bytes of each value that a note on a repair quotes.
const MOST_QUOTED: usize = 80;

/// Tells the model what was changed in its arguments, if that is anything it could have sent otherwise.
///
/// A null that was taken as absent is left out: where a provider has every property be required, that is how a model
/// leaves one out.
pub(super) fn repair_note(repairs: &[Repair]) -> Option<String> {
    let told = || repairs.iter().filter(|repair| !repair.from.is_null() || repair.to.is_some());
    let count = told().count();
    if count == 0 {
        return None;
    }
    let mut note = String::from("[the arguments were changed:");
    for (index, repair) in told().take(MOST_REPAIRS).enumerate() {
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
