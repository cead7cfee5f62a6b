use super::ladder::{Ladder, Level, Match};
use super::nearest::nearest;
use super::places::{Wanted, choose, line_list};
use super::rewrite::rewrite;
use crate::lines::line_at;
use crate::text_change::TextChange;
use crate::words::Count;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write as _;
use std::ops::Range;

/// How many failed edits are told in full.
const TOLD_EDITS: usize = 3;

/// How long a new text must be, in bytes, for it to be no coincidence that the file has it.
const TELLING_BYTES: usize = 8;

/// One replacement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    /// The text to replace, exactly as it is in the file.
    pub(super) old: String,
    /// The text to put in its place; empty to remove it.
    pub(super) new: String,
    /// How many times `old` must occur; all of them are replaced.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    pub(super) expected: u64,
    /// Replace `old` wherever it occurs, however often.
    #[serde(default)]
    pub(super) all: bool,
    /// Where `old` occurs more than once: the number of the line at which the one meant starts.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(super) near_line: Option<u64>,
}

fn once() -> u64 {
    1
}

/// What is to be changed in a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// In the order of their places, none of them overlapping another.
    pub(super) changes: Vec<TextChange>,
    /// How each edit was found.
    pub(super) edits: Vec<PlannedEdit>,
}

/// How one edit was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlannedEdit {
    pub(super) level: Level,
    /// How many places it replaces.
    pub(super) places: u64,
}

/// The changes of one edit at one place.
struct Replacement {
    place: Range<usize>,
    changes: Vec<TextChange>,
    edit: usize,
}

/// Works out what is to be changed in a file, or says in words for the model why it cannot be edited so.
pub(super) fn plan(content: &str, edits: &[Edit]) -> Result<Plan, String> {
    let ladder = Ladder::new(content);
    let mut replacements = Vec::new();
    let mut planned = Vec::with_capacity(edits.len());
    let mut failed = Vec::new();
    for index in 0..edits.len() {
        match replace(&ladder, edits, index) {
            Ok((level, found)) => {
                planned.push(PlannedEdit { level, places: found.len() as u64 });
                replacements.extend(found);
            }
            Err(reason) => failed.push((index, reason)),
        }
    }
    if !failed.is_empty() {
        return Err(told(&failed, edits.len()));
    }
    replacements.sort_by_key(|replacement| replacement.place.start);
    refuse_overlaps(content, &replacements)?;
    let changes = replacements.into_iter().flat_map(|replacement| replacement.changes);
    let changes: Vec<TextChange> =
        changes.filter(|change| content[change.place.clone()] != change.new).collect();
    if changes.is_empty() {
        return Err("it is already as these edits would make it; go on with the next step".to_owned());
    }
    Ok(Plan { changes, edits: planned })
}

/// Finds the places that one edit replaces, and what becomes of each.
fn replace(ladder: &Ladder<'_>, edits: &[Edit], index: usize) -> Result<(Level, Vec<Replacement>), String> {
    let edit = &edits[index];
    if edit.old.is_empty() {
        return Err("`old` is empty; to insert text, give the line beside it as `old` and repeat that line in `new`, or \
                    write the whole file with `write_file`"
            .to_owned());
    }
    if edit.old == edit.new {
        return Err("`old` and `new` are the same; give what is to change and what it becomes".to_owned());
    }
    let wanted = Wanted::of(edit)?;
    let content = ladder.content();
    let Some((level, found)) = ladder.find(&edit.old, &edit.new) else {
        return Err(not_found(ladder, edits, index));
    };
    let others = ladder.as_close(level, &edit.old, &found);
    if !others.is_empty() {
        return Err(format!(
            "`old` occurs but for indentation in {}, and but for kinds of punctuation and blanks in {}; write it exactly as it is \
             at the place that is meant",
            line_list(content, &found),
            line_list(content, &others)
        ));
    }
    let chosen = choose(content, level, found, wanted)?;
    if level > Level::LineEnds && chosen.iter().any(|found| content[found.place.clone()] == edit.new) {
        return Err(already_applied(content, &chosen));
    }
    let rewritten = chosen.into_iter().map(|found| {
        let changes = rewrite(ladder, level, &found, &edit.old, &edit.new)?;
        Ok(Replacement { place: found.place, changes, edit: index })
    });
    Ok((level, rewritten.collect::<Result<_, String>>()?))
}

fn already_applied(content: &str, places: &[Match]) -> String {
    format!(
        "`old` does not occur in it, but `new` does, in {}: this edit is already applied, it seems; read the file there, then \
         leave out this edit or correct it",
        line_list(content, places)
    )
}

fn not_found(ladder: &Ladder<'_>, edits: &[Edit], index: usize) -> String {
    let Edit { old, new, .. } = &edits[index];
    let applied = if new.trim().len() < TELLING_BYTES { Vec::new() } else { ladder.find_plainly(new) };
    if applied.len() == 1 {
        return already_applied(ladder.content(), &applied);
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
    nearest(ladder.content(), old, "`old`", "edit_file")
}

fn refuse_overlaps(content: &str, replacements: &[Replacement]) -> Result<(), String> {
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

#[cfg(test)]
mod tests;
