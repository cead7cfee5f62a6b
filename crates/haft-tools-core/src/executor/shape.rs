use haft_core::{Content, Repair, ToolOutput, Truncation};
use std::fmt;
use std::fmt::Write as _;

/// The most repairs that the model is told of one by one.
const MOST_REPAIRS: usize = 8;

/// The most bytes of each value that a note on a repair quotes.
const MOST_QUOTED: usize = 80;

/// Bounds what a call is answered with, keeping head and tail, and tells the model what was changed in its arguments.
pub(super) fn shape(
    mut output: ToolOutput,
    most_bytes: usize,
    repairs: &[Repair],
) -> (ToolOutput, Option<Truncation>) {
    let truncation = bound(&mut output.content, most_bytes);
    if !repairs.is_empty() {
        output.content.push(Content::text(repair_note(repairs)));
    }
    (output, truncation)
}

/// Cuts the middle out of texts and JSON, taken together, so that they stay within the bound but for the one note that
/// says what was cut; media parts are left as they are.
fn bound(parts: &mut Vec<Content>, most_bytes: usize) -> Option<Truncation> {
    let total: usize = parts.iter().map(textual_bytes).sum();
    if total <= most_bytes {
        return None;
    }
    let cut_from = most_bytes / 3 * 2;
    let cut_to = total - most_bytes / 3;
    let mut cut = Cut::default();
    let mut end = 0;
    let mut kept: Vec<Content> = Vec::new();
    for mut part in parts.drain(..) {
        let (start, size) = (end, textual_bytes(&part));
        end += size;
        if size == 0 || end <= cut_from || start >= cut_to {
            kept.push(part);
            continue;
        }
        let text = take_text(&mut part);
        let head_end = boundary_before(&text, cut_from.saturating_sub(start));
        let tail_start = boundary_after(&text, (cut_to - start).min(text.len()));
        cut.bytes += tail_start - head_end;
        cut.lines += text[head_end..tail_start].lines().count();
        let is_first = cut.place.is_none();
        if is_first {
            let gap = if head_end == 0 || text[..head_end].ends_with('\n') { "" } else { "\n" };
            cut.place = Some((kept.len(), head_end + gap.len()));
            kept.push(with_text(part, [&text[..head_end], gap, &text[tail_start..]].concat()));
        } else if tail_start < text.len() {
            kept.push(with_text(part, text[tail_start..].to_owned()));
        }
    }
    *parts = kept;
    if let Some((place, at)) = cut.place
        && let Some(text) = parts.get_mut(place).and_then(text_mut)
    {
        text.insert_str(at, &cut.to_string());
    }
    Some(Truncation { total_bytes: total as u64, kept_bytes: (total - cut.bytes) as u64 })
}

/// Counts what was cut, and where the note on it goes: into which part, at which byte.
#[derive(Default)]
struct Cut {
    place: Option<(usize, usize)>,
    bytes: usize,
    lines: usize,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = if self.lines == 1 { "line" } else { "lines" };
        writeln!(
            f,
            "[… {} bytes, {} {lines} cut here: ask for less at once to see them …]",
            self.bytes, self.lines
        )
    }
}

/// Counts what of a part is text that can be cut.
fn textual_bytes(part: &Content) -> usize {
    match part {
        Content::Text { text } | Content::Resource { text: Some(text), .. } => text.len(),
        Content::Json { .. } => part.size_bytes(),
        _ => 0,
    }
}

fn text_mut(part: &mut Content) -> Option<&mut String> {
    match part {
        Content::Text { text } | Content::Resource { text: Some(text), .. } => Some(text),
        _ => None,
    }
}

fn take_text(part: &mut Content) -> String {
    match part {
        Content::Json { value } => value.to_string(),
        part => text_mut(part).map(std::mem::take).unwrap_or_default(),
    }
}

/// Puts a text back into the part it was taken from; JSON that was cut is a text.
fn with_text(mut part: Content, text: String) -> Content {
    match text_mut(&mut part) {
        Some(place) => {
            *place = text;
            part
        }
        None => Content::text(text),
    }
}

/// Finds the end of the last whole line that fits, or where a single line is longer than half the space, of the last
/// whole character.
fn boundary_before(text: &str, most: usize) -> usize {
    let end = text.floor_char_boundary(most);
    match text[..end].rfind('\n') {
        Some(newline) if newline + 1 >= end / 2 => newline + 1,
        _ => end,
    }
}

/// Finds the start of the first whole line at or behind a place, or else of the first whole character.
fn boundary_after(text: &str, from: usize) -> usize {
    let start = text.ceil_char_boundary(from);
    if start == 0 || text.as_bytes()[start - 1] == b'\n' {
        return start;
    }
    let rest = &text[start..];
    match rest.find('\n') {
        Some(newline) if newline < rest.len() / 2 => start + newline + 1,
        _ => start,
    }
}

fn repair_note(repairs: &[Repair]) -> String {
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

#[cfg(test)]
mod tests;
