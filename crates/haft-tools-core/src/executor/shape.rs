use haft_core::{Content, Repair, ToolOutput, Truncation};
use std::fmt::Write as _;

/// Bounds what a tool gave, keeping head and tail, and tells the model what was mended in its arguments.
pub(super) fn shape(
    mut output: ToolOutput,
    most_bytes: usize,
    repairs: &[Repair],
) -> (ToolOutput, Option<Truncation>) {
    let truncation = bound(&mut output, most_bytes);
    if !repairs.is_empty() {
        output.content.push(Content::text(repair_note(repairs)));
    }
    (output, truncation)
}

/// Cuts texts and JSON so that together they stay within the bound; media parts are left as they are.
fn bound(output: &mut ToolOutput, most_bytes: usize) -> Option<Truncation> {
    let textual: usize = output.content.iter().map(textual_bytes).sum();
    if textual <= most_bytes {
        return None;
    }
    let mut left = most_bytes;
    for part in &mut output.content {
        let size = textual_bytes(part);
        if size <= left {
            left -= size;
            continue;
        }
        let whole = match part {
            Content::Text { text } | Content::Resource { text: Some(text), .. } => std::mem::take(text),
            Content::Json { value } => value.to_string(),
            _ => continue,
        };
        let cut = head_and_tail(&whole, left);
        left = 0;
        match part {
            Content::Resource { text: Some(text), .. } => *text = cut,
            part => *part = Content::text(cut),
        }
    }
    Some(Truncation { total_bytes: textual as u64, kept_bytes: (most_bytes - left) as u64 })
}

fn textual_bytes(part: &Content) -> usize {
    match part {
        Content::Text { .. } | Content::Json { .. } | Content::Resource { text: Some(_), .. } => {
            part.size_bytes()
        }
        _ => 0,
    }
}

/// Keeps the first two thirds and the last third of what is allowed, on line boundaries where there are some near.
fn head_and_tail(text: &str, most_bytes: usize) -> String {
    let head_end = boundary_before(text, most_bytes / 3 * 2);
    let tail_start = boundary_after(text, text.len() - most_bytes / 3);
    let (head, tail) = (&text[..head_end], &text[tail_start..]);
    let cut = &text[head_end..tail_start];
    let mut kept = String::with_capacity(head.len() + tail.len() + 80);
    kept.push_str(head);
    if !head.is_empty() && !head.ends_with('\n') {
        kept.push('\n');
    }
    // Writing to a string cannot fail.
    let _ = writeln!(kept, "[… {} bytes, {} lines cut here …]", cut.len(), cut.lines().count());
    kept.push_str(tail);
    kept
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
    let mut note = String::from("[the arguments were repaired:");
    for (index, repair) in repairs.iter().enumerate() {
        let place = if repair.pointer.is_empty() { "the whole" } else { &repair.pointer };
        let separator = if index == 0 { "" } else { ";" };
        // Writing to a string cannot fail.
        let _ = write!(note, "{separator} {place}: {} ({}", repair.note, repair.from);
        if let Some(to) = &repair.to {
            let _ = write!(note, " → {to}");
        }
        note.push(')');
    }
    note.push(']');
    note
}

#[cfg(test)]
mod tests;
