use super::nearest::nearest;
use super::search::Search;
use crate::lines::{line_at, line_feeds};
use crate::words::{Count, counted, joined};
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// How many failed edits are told in full.
const TOLD_EDITS: usize = 3;

/// How many of the lines in which a text occurs are named.
const NAMED_LINES: usize = 10;

/// How long a new text must be, in bytes, for it to be no coincidence that the file has it.
const TELLING_BYTES: usize = 8;

/// One replacement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    /// The text to replace, exactly as it is in the file.
    old: String,
    /// The text to put in its place; empty to remove it.
    new: String,
    /// How many times `old` must occur; all of them are replaced.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    expected: u64,
    /// Replace `old` wherever it occurs, however often.
    #[serde(default)]
    all: bool,
}

fn once() -> u64 {
    1
}

/// What a file becomes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) content: String,
    /// How many places each edit replaced.
    pub(super) replacements: Vec<u64>,
}

/// One place that is to be replaced.
struct Replacement<'a> {
    /// Where the edit's `old` is.
    place: Range<usize>,
    /// The part of it that changes.
    changed: Range<usize>,
    new: Cow<'a, str>,
    /// Which edit it is of.
    edit: usize,
}

/// Works out what a file becomes, or says in words for the model why it cannot be edited so.
pub(super) fn plan(content: &str, edits: &[Edit]) -> Result<Plan, String> {
    let search = Search::new(content);
    let mut replacements = Vec::new();
    let mut counts = Vec::with_capacity(edits.len());
    let mut failed = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        match places(&search, edits, index) {
            Ok(places) => {
                counts.push(places.len() as u64);
                replacements.extend(places.into_iter().map(|place| {
                    let (changed, new) = search.change(&place, &edit.old, &edit.new);
                    Replacement { place, changed, new, edit: index }
                }));
            }
            Err(reason) => failed.push((index, reason)),
        }
    }
    if !failed.is_empty() {
        return Err(told(&failed, edits.len()));
    }
    replacements.sort_by_key(|replacement| replacement.place.start);
    refuse_overlaps(content, &replacements)?;
    let result = replaced(content, &replacements);
    if result == content {
        return Err("it is already as these edits would make it; go on with the next step".to_owned());
    }
    Ok(Plan { content: result, replacements: counts })
}

/// Finds the places that one edit replaces.
fn places(search: &Search<'_>, edits: &[Edit], index: usize) -> Result<Vec<Range<usize>>, String> {
    let edit = &edits[index];
    if edit.old.is_empty() {
        return Err("`old` is empty; to insert text, give the line beside it as `old` and repeat that line in `new`, or \
                    write the whole file with write_file"
            .to_owned());
    }
    if edit.old == edit.new {
        return Err("`old` and `new` are the same; give what is to change and what it becomes".to_owned());
    }
    let mut places = search.find(&edit.old);
    let found = places.len() as u64;
    if found == 0 {
        return Err(not_found(search, edits, index));
    }
    if edit.all {
        return Ok(places);
    }
    let wanted = edit.expected;
    if found != wanted {
        let times = counted(found, "time", "times");
        let lines = line_list(search.content(), &places);
        return Err(if wanted == 1 {
            format!(
                "`old` occurs {times}, in {lines}; add lines around it so that it is unique, or set `all` to replace every one"
            )
        } else {
            format!(
                "`old` occurs {times}, in {lines}, and not {} as expected; correct `expected`, or set `all`",
                Count(wanted)
            )
        });
    }
    if wanted == 1
        && let Some(other) = search.find_overlapping(&edit.old)
    {
        places.push(other);
        return Err(format!(
            "`old` occurs twice, in places that overlap, in {}; add text around it so that it is unique",
            line_list(search.content(), &places)
        ));
    }
    Ok(places)
}

fn not_found(search: &Search<'_>, edits: &[Edit], index: usize) -> String {
    let Edit { old, new, .. } = &edits[index];
    let applied = if new.trim().len() < TELLING_BYTES { Vec::new() } else { search.find(new) };
    if applied.len() == 1 {
        return format!(
            "`old` does not occur in it, but `new` does, in {}: the edit may have been made before; read the file there, then \
             leave out this edit or correct it",
            line_list(search.content(), &applied)
        );
    }
    let mut earlier =
        edits.iter().enumerate().filter(|(other, edit)| *other != index && edit.new.contains(old));
    if let Some((other, _)) = earlier.next() {
        return format!(
            "`old` does not occur in it, only in the `new` of edit {}; edits are looked up in the file as it is before the \
             call, so join the two into one edit",
            other + 1
        );
    }
    nearest(search.content(), old)
}

fn refuse_overlaps(content: &str, replacements: &[Replacement<'_>]) -> Result<(), String> {
    for pair in replacements.windows(2) {
        let [first, second] = pair else { continue };
        if first.place.end > second.place.start {
            let line = line_at(content.as_bytes(), second.place.start);
            let (one, other) = (first.edit.min(second.edit) + 1, first.edit.max(second.edit) + 1);
            return Err(format!(
                "edits {one} and {other} overlap at line {}; join them into one edit",
                Count(line)
            ));
        }
    }
    Ok(())
}

fn replaced(content: &str, replacements: &[Replacement<'_>]) -> String {
    let mut result = String::with_capacity(content.len());
    let mut kept = 0;
    for Replacement { changed, new, .. } in replacements {
        result.push_str(&content[kept..changed.start]);
        result.push_str(new);
        kept = changed.end;
    }
    result.push_str(&content[kept..]);
    result
}

/// Tells why edits failed; which ones, where there is more than one.
fn told(failed: &[(usize, String)], edits: usize) -> String {
    if let ([(_, reason)], 1) = (failed, edits) {
        return reason.clone();
    }
    let mut text = format!("{} of {edits} edits cannot be made, so none was", failed.len());
    for (index, reason) in failed.iter().take(TOLD_EDITS) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\nedit {}: {reason}", index + 1);
    }
    if failed.len() > TOLD_EDITS {
        let _ = write!(text, "\n… and {} more; correct these first", failed.len() - TOLD_EDITS);
    }
    text
}

/// Names the lines at which places start: `lines 4, 17 and 32`.
fn line_list(content: &str, places: &[Range<usize>]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for place in places.iter().take(NAMED_LINES) {
        line += line_feeds(&content.as_bytes()[counted..place.start]);
        counted = place.start;
        lines.push(Count(line).to_string());
    }
    lines.dedup();
    let more = places.len().saturating_sub(NAMED_LINES);
    if more > 0 {
        lines.push(format!("{} more", Count(more as u64)));
    }
    let noun = if lines.len() == 1 { "line" } else { "lines" };
    format!("{noun} {}", joined(&lines, "and"))
}

#[cfg(test)]
mod tests;
