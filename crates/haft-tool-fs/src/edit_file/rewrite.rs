use super::ladder::{Ladder, Level, Match, MatchKind, project, unified};
use super::shift::Shift;
use crate::diff::compared;
use crate::text_change::{TextChange, with_line_ends};
use similar::DiffOp;
use std::collections::HashSet;
use std::ops::Range;
use std::time::Duration;

/// How long it is looked for what two long texts have in common; with less of it found, more is written anew.
const PATIENCE: Duration = Duration::from_millis(200);

/// Finds what to put where, so that a place that is `old` becomes `new`; fails with what the new text lacks.
///
/// What the two have in common is left as it is in the file, and new lines end as those beside them do.
pub(super) fn rewrite(
    ladder: &Ladder<'_>,
    level: Level,
    found: &Match,
    old: &str,
    new: &str,
) -> Result<Vec<TextChange>, String> {
    let content = ladder.content();
    match &found.kind {
        // What is written out is taken at its word.
        MatchKind::Projected(_) if level == Level::Exact && (old.contains('\r') || new.contains('\r')) => {
            Ok(vec![TextChange { place: found.place.clone(), new: new.to_owned() }])
        }
        MatchKind::Projected(_) if level == Level::Exact => {
            let (before, behind) = in_common(old, new);
            let place = found.place.start + before..found.place.end - behind;
            let new = with_line_ends(content, &place, &new[before..new.len() - behind]);
            Ok(vec![TextChange { place, new: new.into_owned() }])
        }
        MatchKind::Projected(start) => Ok(projected(ladder, level, *start, old, new)),
        MatchKind::Lines { starts, shifts } => by_lines(content, found, starts, shifts, old, new),
        MatchKind::Unended(start) => {
            let (old, new) = (unified(old), unified(new));
            let unended = |text: &'_ str| text.strip_suffix('\n').unwrap_or(text).to_owned();
            Ok(projected(ladder, level, *start, &unended(&old), &unended(&new)))
        }
    }
}

/// Finds what changes where a text is found by its projection.
fn projected(ladder: &Ladder<'_>, level: Level, start: usize, old: &str, new: &str) -> Vec<TextChange> {
    let (old, new) = (unified(old), unified(new));
    let of_old = project(&old, level);
    let of_content = ladder.projection(level);
    let content = ladder.content();
    let found = of_content.place(&(start..start + of_old.text.len()));
    let (first, there) = (found.start, unified(&content[found]));
    let changes = line_changes(&old, &there, &new).into_iter().map(|(from, to)| {
        let (removed, added) = (&old[from.clone()], &new[to]);
        let (mut before, mut behind) = in_common(removed, added);
        // A blank that is looked over need not be there, so it cannot be what the two have in common.
        while before > 0 && of_old.leaves_out_before(from.start + before) {
            before -= 1;
        }
        while behind > 0 && of_old.leaves_out_before(from.end - behind + 1) {
            behind -= 1;
        }
        let (begin, end) = (from.start + before, from.end - behind);
        let place_begin = if begin == 0 { first } else { of_content.end(start + of_old.projected(begin)) };
        let place_end = start + of_old.projected(end);
        let place_end = if of_old.leaves_out_before(end) || behind == 1 && ends_anew(removed, added) {
            of_content.start(place_end)
        } else {
            of_content.end(place_end)
        };
        let place = place_begin..place_end.max(place_begin);
        let new = with_line_ends(content, &place, &added[before..added.len() - behind]);
        TextChange { new: new.into_owned(), place }
    });
    changes.collect()
}

/// Tells whether the last line of a text is another one than that which it takes the place of, and not the same that has changed:
/// blanks that are looked over at the end of that one are none of its own then.
fn ends_anew(removed: &str, added: &str) -> bool {
    let [Some(removed), Some(added)] = [removed, added].map(|text| text.strip_suffix('\n')) else {
        return false;
    };
    let last = |text: &'_ str| text.rfind('\n').map_or(0, |end| end + 1);
    let (removed, added) = (&removed[last(removed)..], &added[last(added)..]);
    let (before, _) = in_common(removed, added);
    added[..before].trim().is_empty()
}

/// Finds what changes where whole lines are found that are shifted.
fn by_lines(
    content: &str,
    found: &Match,
    starts: &[usize],
    shifts: &[Shift],
    old: &str,
    new: &str,
) -> Result<Vec<TextChange>, String> {
    let (old, new) = (unified(old), unified(new));
    let line_starts: Vec<usize> =
        std::iter::once(0).chain(old.match_indices('\n').map(|(end, _)| end + 1)).collect();
    let in_content = |place: usize| {
        let line = line_starts.binary_search(&place).ok().and_then(|line| starts.get(line));
        line.copied().unwrap_or(found.place.end)
    };
    let mut changes = Vec::new();
    for (from, to) in line_changes(&old, &old, &new) {
        let mut ways: Vec<String> = shifts.iter().filter_map(|shift| shift.lines(&new[to.clone()])).collect();
        ways.sort_unstable();
        ways.dedup();
        let [new] = &ways[..] else {
            return Err("the indentation of `old` differs from that of the file, in a way that does not tell how to indent `new`; \
                        write both with the indentation of the file"
                .to_owned());
        };
        let place = in_content(from.start)..in_content(from.end);
        let new = with_line_ends(content, &place, new).into_owned();
        changes.push(TextChange { place, new });
    }
    Ok(changes)
}

/// Finds the lines that differ, as places of both texts; a line that stands in the file as the new text wants it does not.
fn line_changes(old: &str, there: &str, new: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let there: Vec<&str> = there.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut sought = old.clone();
    if there.len() == old.len() {
        let wanted: HashSet<&str> = new.iter().copied().collect();
        for (line, there) in sought.iter_mut().zip(there) {
            if !wanted.contains(line) && wanted.contains(there) {
                *line = there;
            }
        }
    }
    let ops = compared(&sought, &new, PATIENCE);
    let place = |lines: &[&str], range: Range<usize>| {
        let start: usize = lines[..range.start].iter().map(|line| line.len()).sum();
        start..start + lines[range].iter().map(|line| line.len()).sum::<usize>()
    };
    let changed = ops.into_iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    changed.map(|op| (place(&old, op.old_range()), place(&new, op.new_range()))).collect()
}

/// Counts the bytes that two texts have in common at their start, and behind that at their end.
fn in_common(one: &str, other: &str) -> (usize, usize) {
    let same = |(one, other): &(char, char)| one == other;
    let size = |(character, _): (char, char)| character.len_utf8();
    let before: usize = one.chars().zip(other.chars()).take_while(same).map(size).sum();
    let (one, other) = (one[before..].chars().rev(), other[before..].chars().rev());
    (before, one.zip(other).take_while(same).map(size).sum())
}
