//! The lines of C and C++ that are for the preprocessor.

use super::braces::{Language, Level, Scan, word_at};
use memchr::{memchr, memchr3, memmem};

/// In how many conditions a place can be.
const DEEPEST: usize = 64;

/// How many brackets can be open at a condition, of which each keeps them.
const MOST_OPEN: usize = 64;

/// The conditions that a place is under.
#[derive(Debug)]
pub(super) struct Conditions<'t, L>(Vec<Condition<'t, L>>);

impl<L> Default for Conditions<'_, L> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

#[derive(Debug)]
struct Condition<'t, L> {
    /// What is open where it starts, and so at the start of each of its branches.
    start: Vec<Level<'t, L>>,
    /// What was open where the first branch ended, and has to be where each of them does.
    end: Option<Vec<Level<'t, L>>>,
    has_else: bool,
}

impl<'t, L: Language> Conditions<'t, L> {
    /// Ends a branch; nothing where it opens or closes other brackets than the branches before it, or a body.
    fn end_branch(&mut self, scan: &mut Scan<'t, L>, is_else: bool) -> Option<()> {
        let condition = self.0.last_mut()?;
        condition.has_else |= is_else;
        let end = std::mem::replace(&mut scan.open, condition.start.clone());
        let is_same = match &condition.end {
            Some(first) => is_alike(first, &end),
            None => bodies(&condition.start).eq(bodies(&end)),
        };
        condition.end.get_or_insert(end);
        is_same.then_some(())
    }

    /// Ends a condition. Where it has no last branch, the others have to open and close nothing.
    fn end(&mut self, scan: &mut Scan<'t, L>) -> Option<()> {
        self.end_branch(scan, false)?;
        let Condition { start, end, has_else } = self.0.pop()?;
        let end = end?;
        if !has_else && !is_alike(&start, &end) {
            return None;
        }
        scan.open = end;
        Some(())
    }
}

fn bodies<'l, L>(open: &'l [Level<'_, L>]) -> impl Iterator<Item = usize> + use<'l, L> {
    open.iter().filter(|level| level.is_body).map(|level| level.start)
}

fn is_alike<L>(one: &[Level<'_, L>], other: &[Level<'_, L>]) -> bool {
    let brackets = |open: &[Level<'_, L>]| -> Vec<u8> { open.iter().map(|level| level.bracket).collect() };
    brackets(one) == brackets(other) && bodies(one).eq(bodies(other))
}

/// Reads a line for the preprocessor, with all on which it goes on, and finds its end.
pub(super) fn pass_directive<'t, L: Language>(
    scan: &mut Scan<'t, L>,
    conditions: &mut Conditions<'t, L>,
) -> Option<usize> {
    let rest = scan.text.get(scan.at + 1..)?;
    let blank = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match word_at(rest, blank) {
        b"if" | b"ifdef" | b"ifndef" => {
            if conditions.0.len() >= DEEPEST || scan.open.len() > MOST_OPEN {
                return None;
            }
            conditions.0.push(Condition { start: scan.open.clone(), end: None, has_else: false });
        }
        word @ (b"elif" | b"elifdef" | b"elifndef" | b"else") => {
            conditions.end_branch(scan, word == b"else")?;
        }
        b"endif" => conditions.end(scan)?,
        _ => {}
    }
    let text = scan.text;
    let mut at = scan.at + 1;
    loop {
        let Some(next) = memchr3(b'\n', b'/', b'"', text.get(at..)?) else { return Some(text.len()) };
        let next = at + next;
        at = match text.get(next..next + 2) {
            Some([b'\n', ..]) if !is_continued(text, next) => return Some(next),
            Some(b"//") => return Some(end_of_line(text, next)),
            Some(b"/*") => next + 2 + memmem::find(&text[next + 2..], b"*/")? + 2,
            // A quote that is alone on its line is a part of a message.
            Some([b'"', ..]) => super::braces::end_of_quoted(text, next).unwrap_or(next + 1),
            _ => next + 1,
        };
    }
}

/// Finds the end of a line, with all on which it goes on.
pub(super) fn end_of_line(text: &[u8], at: usize) -> usize {
    let mut at = at;
    while let Some(next) = memchr(b'\n', text.get(at..).unwrap_or_default()) {
        if !is_continued(text, at + next) {
            return at + next;
        }
        at += next + 1;
    }
    text.len()
}

fn is_continued(text: &[u8], line_end: usize) -> bool {
    let line = &text[..line_end];
    line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\")
}
