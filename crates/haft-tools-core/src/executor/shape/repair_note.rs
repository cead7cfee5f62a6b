use haft_core::Repair;
use std::fmt::Write as _;

/// The most repairs that the model is told of one by one.
const MOST_REPAIRS: usize = 8;

/// The most bytes of each value that a note on a repair quotes.
const MOST_QUOTED: usize = 80;

/// Tells the model what was changed in its arguments.
pub(super) fn repair_note(repairs: &[Repair]) -> String {
    let mut note = String::from("[the arguments were changed:");
    for (index, repair) in repairs.iter().take(MOST_REPAIRS).enumerate() {
        let place = if repair.pointer.is_empty() { "the whole".to_owned() } else { quoted(&repair.pointer) };
        let separator = if index == 0 { "" } else { ";" };
        // Writing to a string cannot fail.
        let _ = write!(note, "{separator} {place}: {}", repair.note);
        // What was removed is named by its place, and it was a null.
        if let Some(to) = &repair.to {
            let _ = write!(note, " ({} → {})", quoted(&repair.from.to_string()), quoted(&to.to_string()));
        }
    }
    if repairs.len() > MOST_REPAIRS {
        let _ = write!(note, "; and {} more", repairs.len() - MOST_REPAIRS);
    }
    note.push(']');
    note
}

fn quoted(text: &str) -> String {
    if text.len() <= MOST_QUOTED {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MOST_QUOTED)])
}
