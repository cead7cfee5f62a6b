use super::patch::{Hunk, HunkLine};
use crate::edit_file::nearest::nearest;
use crate::words::{Count, counted, joined};
use std::ops::Range;

/// How many lines of context, at each end of a hunk, may not fit if the hunk says where it is.
const MOST_FUZZ: usize = 2;

/// How many of the lines at which a hunk fits are named.
const NAMED_LINES: usize = 50;

/// One line of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    /// Without what ends it.
    pub(super) text: &'t str,
    pub(super) start: usize,
    /// Behind what ends it.
    pub(super) end: usize,
}

/// Divides a text into lines that end in LF or CR LF.
pub(super) fn lines_of(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    let line = |whole: &'_ str| {
        let text = whole.strip_suffix('\n').unwrap_or(whole);
        let text_length = text.strip_suffix('\r').unwrap_or(text).len();
        let range = start..start + whole.len();
        start = range.end;
        (range, text_length)
    };
    let ranges: Vec<(Range<usize>, usize)> = text.split_inclusive('\n').map(line).collect();
    ranges
        .into_iter()
        .map(|(range, length)| Line {
            text: &text[range.start..range.start + length],
            start: range.start,
            end: range.end,
        })
        .collect()
}

/// Where a hunk fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The line of the file, 0-based, that its first line is.
    pub(super) at: usize,
    /// How many of its lines, at the start and at the end, are left out.
    pub(super) left_out: (usize, usize),
    /// What is worth telling of it.
    pub(super) notes: Vec<String>,
    /// By how many lines it is farther down than it says.
    pub(super) moved: i64,
}

/// Finds where a hunk fits, from a line on; fails with words for the model.
///
/// Where it says it is comes first, by how far those before it were moved; elsewhere it has to fit in one place only.
pub(super) fn locate(
    text: &str,
    lines: &[Line<'_>],
    hunk: &Hunk,
    from: usize,
    moved: i64,
) -> Result<Place, String> {
    let old = hunk.old();
    let expected = hunk.at.map(|at| {
        let line = if old.is_empty() { at } else { at.saturating_sub(1) };
        usize::try_from(i64::try_from(line).unwrap_or(i64::MAX).saturating_add(moved)).unwrap_or(0)
    });
    if old.is_empty() {
        return insertion(lines, hunk, from, expected);
    }
    let region = after_anchors(lines, hunk, from)?;
    let fuzz = if hunk.at.is_some() { most_fuzz(hunk) } else { (0, 0) };
    let attempts = [(false, (0, 0)), (true, (0, 0)), (true, (fuzz.0.min(1), fuzz.1.min(1))), (true, fuzz)];
    for (looks_over_blanks, left_out) in attempts {
        let wanted = &old[left_out.0..old.len() - left_out.1];
        let fits = Fits {
            lines,
            wanted,
            looks_over_blanks,
            at_end: hunk.is_end || hunk.unended.0,
            unended: hunk.unended.0,
        };
        let expected = expected.map(|expected| expected + left_out.0);
        let Some(at) = fits.choose(region.clone(), from, expected, hunk)? else { continue };
        let mut notes = Vec::new();
        if looks_over_blanks && wanted.iter().zip(&lines[at..]).any(|(wanted, line)| *wanted != line.text) {
            notes.push("fits without regard to blanks at the ends of lines".to_owned());
        }
        let count = left_out.0 + left_out.1;
        if count > 0 {
            let lines = counted(count as u64, "line", "lines");
            notes.push(format!("fits with {lines} of context at its ends left out"));
        }
        let now = expected.map_or(0, |expected| at.cast_signed() - expected.cast_signed()) as i64;
        if now != 0 {
            let direction = if now > 0 { "down" } else { "up" };
            notes.push(format!(
                "is {} further {direction} than expected",
                counted(now.unsigned_abs(), "line", "lines")
            ));
        }
        return Ok(Place { at, left_out, notes, moved: moved + now });
    }
    let new = hunk.new_lines();
    let fits = Fits { lines, wanted: &new, looks_over_blanks: false, at_end: false, unended: false };
    let applied = if new.len() > 1 || new.iter().any(|line| line.len() >= 8) {
        fits.all(0..lines.len())
    } else {
        Vec::new()
    };
    if let [at] = applied[..] {
        return Err(format!(
            "its old lines do not occur in the file, but its new ones do, at line {}: it is already applied, it seems; leave it \
             out",
            Count(at as u64 + 1)
        ));
    }
    Err(nearest(text, &(old.join("\n") + "\n"), "its old text", "apply_patch"))
}

/// Finds the place of a hunk that only adds lines and has none beside them.
fn insertion(lines: &[Line<'_>], hunk: &Hunk, from: usize, expected: Option<usize>) -> Result<Place, String> {
    let at = match expected {
        _ if hunk.is_end => lines.len(),
        Some(at) if at >= from && at <= lines.len() => at,
        Some(at) => {
            return Err(format!(
                "it adds lines behind line {}, and the file has {}; give lines that stand beside them",
                Count(at as u64),
                counted(lines.len() as u64, "line", "lines")
            ));
        }
        None if hunk.anchors.is_empty() && lines.is_empty() => 0,
        None if hunk.anchors.is_empty() => {
            return Err(
                "it only adds lines and does not say where; give lines that stand beside them".to_owned()
            );
        }
        None => after_anchors(lines, hunk, from)?.start,
    };
    let mut notes = Vec::new();
    if expected.is_some() && !lines.is_empty() {
        notes.push("is placed by its line number alone".to_owned());
    }
    Ok(Place { at, left_out: (0, 0), notes, moved: 0 })
}

/// Finds the lines behind the anchors of a hunk, up to where the block that the last of them opens ends.
fn after_anchors(lines: &[Line<'_>], hunk: &Hunk, from: usize) -> Result<Range<usize>, String> {
    let mut start = from;
    let mut indent = None;
    for anchor in &hunk.anchors {
        let found: Vec<usize> =
            (start..lines.len()).filter(|index| lines[*index].text.trim() == anchor.trim()).collect();
        let index = match found[..] {
            [index] => index,
            [] => {
                return Err(format!(
                    "there is no line `{anchor}` from line {} on, which its `@@` names",
                    start + 1
                ));
            }
            _ => {
                return Err(format!(
                    "the line `{anchor}`, which its `@@` names, is in {}; name one above it that is not",
                    line_list(&found)
                ));
            }
        };
        indent = Some(indentation(lines[index].text));
        start = index + 1;
    }
    let Some(indent) = indent else { return Ok(from..lines.len()) };
    let ends_block = |line: &Line<'_>| !line.text.trim().is_empty() && indentation(line.text) <= indent;
    let end = lines[start..].iter().position(ends_block).map_or(lines.len(), |end| start + end + 1);
    Ok(start..end)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Counts the lines of context at both ends of a hunk that may be left out.
fn most_fuzz(hunk: &Hunk) -> (usize, usize) {
    let is_kept = |line: &&HunkLine| matches!(line, HunkLine::Keep(_));
    let before = hunk.lines.iter().take_while(is_kept).count();
    let behind = hunk.lines.iter().rev().take_while(is_kept).count();
    let old = hunk.old().len();
    // What is left has to say something of its own.
    let (before, behind) = (before.min(MOST_FUZZ), behind.min(MOST_FUZZ));
    if before + behind >= old { (0, 0) } else { (before, behind) }
}

/// A search for lines in a file.
struct Fits<'a> {
    lines: &'a [Line<'a>],
    wanted: &'a [&'a str],
    looks_over_blanks: bool,
    at_end: bool,
    unended: bool,
}

impl Fits<'_> {
    /// Chooses the place expected, or the only one; nothing where there is none.
    fn choose(
        &self,
        region: Range<usize>,
        from: usize,
        expected: Option<usize>,
        hunk: &Hunk,
    ) -> Result<Option<usize>, String> {
        let in_region = self.all(region.clone());
        if let [at] = in_region[..]
            && !hunk.anchors.is_empty()
        {
            return Ok(Some(at));
        }
        let everywhere =
            if in_region.is_empty() { self.all(from.max(region.start)..self.lines.len()) } else { in_region };
        if let Some(expected) = expected
            && everywhere.contains(&expected)
        {
            return Ok(Some(expected));
        }
        match everywhere[..] {
            [] => Ok(None),
            [at] => Ok(Some(at)),
            _ => Err(format!(
                "its old lines are in {} places, at {}; give more lines around them, so that they are in one place only",
                Count(everywhere.len() as u64),
                line_list(&everywhere)
            )),
        }
    }

    fn all(&self, region: Range<usize>) -> Vec<usize> {
        let Some(last) = self.lines.len().checked_sub(self.wanted.len()) else { return Vec::new() };
        (region.start..region.end.min(last + 1)).filter(|at| self.is_at(*at)).collect()
    }

    fn is_at(&self, at: usize) -> bool {
        let end = at + self.wanted.len();
        if self.at_end && end != self.lines.len() {
            return false;
        }
        if self.unended && self.lines.last().is_some_and(|line| line.end > line.start + line.text.len()) {
            return false;
        }
        self.wanted.iter().zip(&self.lines[at..end]).all(|(wanted, line)| {
            if self.looks_over_blanks {
                wanted.trim_end_matches([' ', '\t']) == line.text.trim_end_matches([' ', '\t'])
            } else {
                *wanted == line.text
            }
        })
    }
}

/// Names lines by their place, 0-based: `lines 4, 17 and 32`.
fn line_list(places: &[usize]) -> String {
    let mut named: Vec<String> =
        places.iter().take(NAMED_LINES).map(|place| Count(*place as u64 + 1).to_string()).collect();
    if places.len() > NAMED_LINES {
        named.push(format!("{} more", Count((places.len() - NAMED_LINES) as u64)));
    }
    format!("lines {}", joined(&named, "and"))
}
