use crate::words::size;
use haft_core::Visible;
use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices_deadline, group_diff_ops};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

/// How many unchanged lines stand around a change.
const CONTEXT: usize = 3;

/// How long the best difference is looked for; a longer one is as right.
const PATIENCE: Duration = Duration::from_millis(500);

/// How far the changes of two texts together may span so that the difference is found however long that takes, in lines and in
/// bytes. So it is the same each time: what a person approves is compared with what would be done. A thousand lines in another
/// order take 20 ms, measured without optimisation.
const SURE_LINES: usize = 2_000;
const SURE_BYTES: usize = 256 * 1024;

/// How many bytes of a difference a person or the host gets.
const HOST_BYTES: usize = 64 * 1024;

/// The difference of two texts, as the hunks of a unified diff.
///
/// Where both texts have CR LF at the end of every line, so that the ends do not differ, they are left out.
pub(crate) struct Diff {
    hunks: String,
    is_new: bool,
}

impl Diff {
    /// Finds what differs; a file that was not there is an empty text.
    pub(crate) fn new(old: Option<&str>, new: &str) -> Self {
        Self { is_new: old.is_none(), ..Self::within(0, old.unwrap_or_default(), new) }
    }

    /// Finds what differs in parts of two files, before which so many lines are the same.
    pub(crate) fn within(lines_before: usize, old: &str, new: &str) -> Self {
        let (old, new) = match (without_crlf(old), without_crlf(new)) {
            (Some(old), Some(new)) => (Cow::Owned(old), Cow::Owned(new)),
            _ => (Cow::Borrowed(old), Cow::Borrowed(new)),
        };
        Self { hunks: hunks(lines_before, &old, &new, PATIENCE), is_new: false }
    }

    /// Writes the whole diff with its head, for people: a path is one line of it, whatever is in its names.
    pub(crate) fn for_host(&self, path: &str) -> String {
        let path = Visible::line(path);
        let old = if self.is_new { "/dev/null".to_owned() } else { format!("a/{path}") };
        format!("--- {old}\n+++ b/{path}\n{}", cut(&self.hunks, HOST_BYTES))
    }

    /// Writes as many whole lines as fit, with carriage returns made visible.
    pub(crate) fn for_model(&self, most_bytes: usize) -> String {
        cut(&self.hunks, most_bytes).replace('\r', "␍")
    }
}

/// Finds what differs in these lines; where they are many, the best that is found in this time.
pub(crate) fn compared(old: &[&str], new: &[&str], patience: Duration) -> Vec<DiffOp> {
    let bytes: usize = old.iter().chain(new).map(|line| line.len()).sum();
    let is_sure = old.len() + new.len() <= SURE_LINES && bytes <= SURE_BYTES;
    let deadline = if is_sure { None } else { Instant::now().checked_add(patience) };
    capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline)
}

/// Takes the carriage returns away where every line ends in CR LF.
fn without_crlf(text: &str) -> Option<String> {
    let crlf = text.matches("\r\n").count();
    (crlf > 0 && crlf == text.matches('\n').count()).then(|| text.replace("\r\n", "\n"))
}

fn cut(hunks: &str, most_bytes: usize) -> Cow<'_, str> {
    if hunks.len() <= most_bytes {
        return Cow::Borrowed(hunks);
    }
    let head = &hunks[..hunks.floor_char_boundary(most_bytes)];
    let head = &head[..head.rfind('\n').map_or(0, |end| end + 1)];
    let left = (hunks.len() - head.len()) as u64;
    Cow::Owned(format!("{head}[… {} more of the diff]\n", size(left)))
}

fn hunks(lines_before: usize, old: &str, new: &str, patience: Duration) -> String {
    let Changed { first_line, old, new } = changed(old, new);
    let first_line = lines_before + first_line;
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut text = String::new();
    for group in group_diff_ops(compared(&old, &new, patience), CONTEXT) {
        write_hunk(&mut text, &group, first_line, &old, &new);
    }
    text
}

fn write_hunk(text: &mut String, group: &[DiffOp], first_line: usize, old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else {
        return;
    };
    let range = |start: usize, end: usize| {
        let length = end - start;
        // The number of a range without lines is that of the line before it.
        let start = first_line + start + usize::from(length > 0);
        if length == 1 { start.to_string() } else { format!("{start},{length}") }
    };
    let old_range = range(first.old_range().start, last.old_range().end);
    let new_range = range(first.new_range().start, last.new_range().end);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "@@ -{old_range} +{new_range} @@");
    for change in group.iter().flat_map(|op| op.iter_changes(old, new)) {
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        };
        text.push(sign);
        text.push_str(change.value());
        if !change.value().ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// The part of two texts that differs, with context.
struct Changed<'a> {
    /// How many lines come before it.
    first_line: usize,
    old: &'a str,
    new: &'a str,
}

/// Leaves out what two texts have in common at both ends, so that the cost is that of the change and not of the file.
fn changed<'a>(old: &'a str, new: &'a str) -> Changed<'a> {
    let common = common_start(old.as_bytes(), new.as_bytes());
    let mut start = line_start(old, common);
    for _ in 0..CONTEXT {
        start = line_start(old, start.saturating_sub(1));
    }
    let first_line = memchr::memchr_iter(b'\n', &old.as_bytes()[..start]).count();
    let (old, new) = (&old[start..], &new[start..]);

    let common = common_end(old.as_bytes(), new.as_bytes());
    let mut end = old.len() - common;
    if !starts_line(old, end) || !starts_line(new, new.len() - common) {
        end = next_line(old, end);
    }
    for _ in 0..CONTEXT {
        end = next_line(old, end);
    }
    let kept = old.len() - end;
    Changed { first_line, old: &old[..end], new: &new[..new.len() - kept] }
}

/// How many bytes are compared at once.
const BLOCK_BYTES: usize = 4096;

fn common_start(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks_exact(BLOCK_BYTES).zip(other.chunks_exact(BLOCK_BYTES));
    let same = blocks.take_while(|(one, other)| one == other).count() * BLOCK_BYTES;
    same + one[same..].iter().zip(&other[same..]).take_while(|(one, other)| one == other).count()
}

fn common_end(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.rchunks_exact(BLOCK_BYTES).zip(other.rchunks_exact(BLOCK_BYTES));
    let same = blocks.take_while(|(one, other)| one == other).count() * BLOCK_BYTES;
    let (one, other) = (&one[..one.len() - same], &other[..other.len() - same]);
    same + one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
}

/// Finds the part of a text that holds a place, with the lines around it that a difference shows.
pub(crate) fn around(text: &str, place: &Range<usize>) -> Range<usize> {
    let mut start = line_start(text, place.start);
    let mut end = next_line(text, place.end);
    for _ in 0..CONTEXT {
        start = line_start(text, start.saturating_sub(1));
        end = next_line(text, end);
    }
    start..end
}

/// Finds the start of the line that `place` is in.
fn line_start(text: &str, place: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[..place]).map_or(0, |end| end + 1)
}

/// Finds the start of the line after the one that `place` is in, or the end.
fn next_line(text: &str, place: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[place..]).map_or(text.len(), |end| place + end + 1)
}

fn starts_line(text: &str, place: usize) -> bool {
    place == 0 || text.as_bytes()[place - 1] == b'\n'
}

#[cfg(test)]
mod tests;
