use super::locate::{Line, Place, lines_of, locate};
use super::patch::{Hunk, HunkLine};
use crate::text_change::{TextChange, with_line_ends};
use crate::words::Count;

/// How many hunks of a file that do not fit are told in full.
const TOLD_HUNKS: usize = 3;

/// What hunks make of a text.
#[derive(Debug)]
pub(super) struct Patched {
    /// In the order of their places.
    pub(super) changes: Vec<TextChange>,
    /// What is worth telling of the hunks.
    pub(super) notes: Vec<String>,
}

/// Finds where every hunk fits, and what changes there; fails with words for the model.
pub(super) fn patched(text: &str, hunks: &[Hunk]) -> Result<Patched, String> {
    let lines = lines_of(text);
    let (mut from, mut moved) = (0, 0);
    let (mut changes, mut notes, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for (index, hunk) in hunks.iter().enumerate() {
        let name = format!("hunk {} (line {} of the patch)", index + 1, Count(hunk.line as u64));
        match locate(text, &lines, hunk, from, moved) {
            Ok(place) => {
                from = place.at + hunk.old().len() - place.left_out.0 - place.left_out.1;
                moved = place.moved;
                notes.extend(place.notes.iter().map(|note| format!("{name} {note}")));
                changes.extend(changes_at(text, &lines, hunk, &place));
            }
            Err(reason) => failed.push(format!("{name}: {reason}")),
        }
    }
    if failed.is_empty() {
        changes.retain(|change: &TextChange| text[change.place.clone()] != change.new);
        return Ok(Patched { changes, notes });
    }
    let more = failed.len().saturating_sub(TOLD_HUNKS);
    failed.truncate(TOLD_HUNKS);
    if more > 0 {
        failed.push(format!("… and {more} more; correct these first"));
    }
    Err(failed.join("\n"))
}

/// Turns the lines of a hunk that fits into changes of the text.
fn changes_at(text: &str, lines: &[Line<'_>], hunk: &Hunk, place: &Place) -> Vec<TextChange> {
    let mut changes = Vec::new();
    let mut at = place.at;
    let (mut removed, mut added) = (0, String::new());
    let kept = hunk.lines.len() - place.left_out.1;
    for line in hunk.lines[place.left_out.0..kept].iter().chain([&HunkLine::Keep(String::new())]) {
        match line {
            HunkLine::Remove(_) => removed += 1,
            HunkLine::Add(line) => {
                added.push_str(line);
                added.push('\n');
            }
            HunkLine::Keep(_) => {
                if removed > 0 || !added.is_empty() {
                    changes.push(change(
                        text,
                        &lines[at..at + removed],
                        hunk,
                        start_of(lines, at, text),
                        &added,
                    ));
                    at += removed;
                    (removed, added) = (0, String::new());
                }
                at += 1;
            }
        }
    }
    changes
}

fn start_of(lines: &[Line<'_>], at: usize, text: &str) -> usize {
    lines.get(at).map_or(text.len(), |line| line.start)
}

fn change(text: &str, removed: &[Line<'_>], hunk: &Hunk, start: usize, added: &str) -> TextChange {
    let place = start..removed.last().map_or(start, |line| line.end);
    let mut new = added.to_owned();
    let is_unended = !text.is_empty() && !text.ends_with('\n');
    if place.end == text.len() {
        // The last line stays without an end, unless the patch says that it gets one.
        if hunk.unended.1 || is_unended && !hunk.unended.0 {
            new.truncate(new.strip_suffix('\n').unwrap_or(&new).len());
        }
        if is_unended && place.is_empty() && !new.is_empty() {
            new.insert(0, '\n');
        }
    }
    let new = with_line_ends(text, &place, &new).into_owned();
    TextChange { place, new }
}

#[cfg(test)]
mod tests {
    use super::patched;
    use crate::apply_patch::patch::{Kind, parse};
    use crate::diff::Diff;
    use proptest::prelude::*;

    /// What a patch of one file makes of it, with what is told of it.
    fn apply(text: &str, patch: &str) -> Result<(String, Vec<String>), String> {
        let files = parse(patch)?;
        let Kind::Update { hunks, .. } = &files[0].kind else { return Err("no update".to_owned()) };
        let patched = patched(text, hunks)?;
        let mut result = String::new();
        let mut kept = 0;
        for change in &patched.changes {
            result += &text[kept..change.place.start];
            result += &change.new;
            kept = change.place.end;
        }
        Ok((result + &text[kept..], patched.notes))
    }

    fn check(text: &str, hunks: &str, expected: &str) {
        let patch = format!("--- a/x\n+++ b/x\n{hunks}");
        let result = apply(text, &patch).map(|(text, _)| text);
        assert_eq!(result.as_deref(), Ok(expected), "{text:?} {hunks}");
    }

    fn joined(lines: &[String]) -> String {
        lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }

    #[test]
    fn keeps_the_ends_of_lines() {
        check("a\r\nb\r\n", "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n", "a\r\nc\r\nd\r\n");
        check(
            "a\nb",
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
            "a\nc",
        );
        check("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n");
        check("a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb");
        check("a\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c\n", "a\nb\nc");
        check("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nc");
        check("a\nb", "@@ -1,2 +1 @@\n a\n-b\n", "a\n");
        check("", "@@ -0,0 +1 @@\n+a\n", "a\n");
    }

    #[test]
    fn an_end_that_is_not_there_does_not_fit() {
        let hunk = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n";
        assert!(apply("a\n", hunk).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_difference_makes_of_the_old_text_the_new(
            old in prop::collection::vec("[ab ]{0,2}", 0..25), new in prop::collection::vec("[ab ]{0,2}", 0..25), ends in any::<(bool, bool)>()
        ) {
            let join = |lines: &[String], ends: bool| {
                let text = joined(lines);
                if ends { text } else { text.strip_suffix('\n').unwrap_or(&text).to_owned() }
            };
            let (old, new) = (join(&old, ends.0), join(&new, ends.1));
            prop_assume!(old != new && !new.is_empty());
            let patch = Diff::new(Some(&old), &new).for_host("x");
            prop_assert_eq!(apply(&old, &patch), Ok((new, Vec::new())));
        }

        #[test]
        fn lines_put_above_do_not_matter(
            lines in prop::collection::vec("[a-z]{8}", 8..20), above in prop::collection::vec("[A-Z]{3}", 1..9), at in any::<prop::sample::Index>()
        ) {
            let old = joined(&lines);
            let changed = at.index(lines.len());
            let new = old.replace(&lines[changed], "changed");
            let patch = Diff::new(Some(&old), &new).for_host("x");
            let above = joined(&above);
            let (result, notes) = apply(&format!("{above}{old}"), &patch).unwrap();
            prop_assert_eq!(result, format!("{above}{new}"));
            prop_assert_eq!(notes.len(), 1);
        }
    }
}
