use super::excerpt::{Budget, Excerpt, Place, is_too_long};
use super::notes::{GapNote, LineNote, Whereabouts};
use crate::Limits;
use crate::output::count_lines;
use crate::rewrite::{words as text, words_mut as text_mut};
use haft_core::Content;
use std::borrow::Cow;

/// The part of the lines that may be over their bound: what stands around lines that a tool bounds itself.
const LINES_SLACK: usize = 256;

/// Counts what of a part is text that can be cut; JSON is not.
pub(super) fn textual_bytes(part: &Content) -> usize {
    match part {
        Content::Text { text } | Content::Resource { text: Some(text), .. } => text.len(),
        _ => 0,
    }
}

/// Tells whether texts and JSON are within their bounds; what is far below them is not looked at byte by byte.
pub(super) fn fits(parts: &[Content], limits: &Limits) -> bool {
    let (mut left, mut longest) = (limits.output_bytes, 0);
    for part in parts {
        let bytes = match part {
            Content::Json { value } => super::data::json_bytes(value, left),
            part => Some(textual_bytes(part)),
        };
        let Some(rest) = bytes.and_then(|bytes| left.checked_sub(bytes)) else { return false };
        longest = longest.max(textual_bytes(part));
        left = rest;
    }
    let texts = || parts.iter().filter_map(text);
    let most_lines = limits.output_lines.saturating_add(limits.output_lines / LINES_SLACK);
    let lines = || parts.iter().map(lines).sum::<u64>();
    let lines_fit = limits.output_bytes - left + parts.len() <= most_lines || lines() <= most_lines as u64;
    let is_too_long = |bytes| is_too_long(bytes, limits.line_bytes);
    lines_fit
        && (!is_too_long(longest)
            || !texts().any(|text| text.split('\n').any(|line| is_too_long(line.len()))))
}

/// Counts the lines of a part for a reader, who is given each part on lines of its own.
fn lines(part: &Content) -> u64 {
    match part {
        Content::Json { .. } => 1,
        part => text(part).map_or(0, |text| count_lines(text).max(1)),
    }
}

/// Is what was cut from texts, of which the notes are still to be written.
#[derive(Debug)]
pub(super) struct CutText {
    whole: String,
    pub(super) total_bytes: u64,
    pub(super) kept_bytes: u64,
    gap: Option<Gap>,
    cuts_lines: bool,
    line_bytes: usize,
}

/// Where the middle was cut out: of which part, at which byte, and how much.
#[derive(Debug)]
struct Gap {
    part: usize,
    at: usize,
    bytes: u64,
    lines: u64,
    offset: u64,
}

impl CutText {
    /// Takes the whole that is to be stored.
    pub(super) fn take_whole(&mut self) -> String {
        std::mem::take(&mut self.whole)
    }

    /// Writes into the parts what was cut from them.
    pub(super) fn tell(self, parts: &mut Vec<Content>, whereabouts: &Whereabouts<'_>) {
        if let Some(Gap { part, at, bytes, lines, offset }) = self.gap {
            let note = GapNote { bytes, lines, offset, whereabouts };
            if let Some(text) = parts.get_mut(part).and_then(text_mut) {
                let gap = if text[..at].is_empty() || text[..at].ends_with('\n') { "" } else { "\n" };
                text.insert_str(at, &format!("{gap}{note}\n"));
            }
        } else if self.cuts_lines {
            parts.push(Content::text(LineNote { line_bytes: self.line_bytes, whereabouts }.to_string()));
        }
    }
}

/// Cuts texts and JSON, taken together, to their bounds: lines that are too long within, and then lines out of the middle.
pub(super) fn cut(parts: &mut Vec<Content>, limits: &Limits) -> Option<CutText> {
    if fits(parts, limits) {
        return None;
    }
    // The parts with texts, and these; JSON is written on several lines, which can be cut and read one by one.
    let texts: Vec<(usize, Cow<'_, str>)> = parts
        .iter()
        .enumerate()
        .filter_map(|(index, part)| match part {
            Content::Json { value } => Some((index, Cow::Owned(format!("{value:#}")))),
            part => Some((index, Cow::Borrowed(text(part)?))),
        })
        .collect();
    let plan = Plan::new(&texts.iter().map(|(_, text)| &**text).collect::<Vec<_>>(), limits);
    let places: Vec<usize> = texts.iter().map(|(index, _)| *index).collect();
    let whole = match &texts[..] {
        [(index, Cow::Borrowed(_))] => {
            let index = *index;
            drop(texts);
            text_mut(&mut parts[index]).map(std::mem::take).unwrap_or_default()
        }
        _ => joined(texts.into_iter().map(|(_, text)| text)),
    };
    Some(plan.apply(parts, &places, whole, limits))
}

/// Joins texts so that each starts a line.
fn joined<'a>(texts: impl Iterator<Item = Cow<'a, str>>) -> String {
    let mut texts = texts.peekable();
    let mut whole = String::new();
    while let Some(text) = texts.next() {
        let ends_line = text.ends_with('\n');
        match text {
            Cow::Owned(text) if whole.is_empty() => whole = text,
            text => whole.push_str(&text),
        }
        if !ends_line && texts.peek().is_some() {
            whole.push('\n');
        }
    }
    whole
}

/// Says what is left of each text.
struct Plan {
    /// One for each text; nothing where it stays as it is, or is cut out whole.
    left: Vec<Left>,
    total: usize,
    kept: usize,
    /// Of which text, at which byte of what is left of it, and the counts.
    gap: Option<(usize, usize, u64, u64, u64)>,
    cuts_lines: bool,
}

enum Left {
    Whole,
    Part(String),
    Nothing,
}

impl Plan {
    fn new(texts: &[&str], limits: &Limits) -> Self {
        let total = texts.iter().map(|text| text.len()).sum();
        let whole = Budget {
            bytes: limits.output_bytes,
            lines: limits.output_lines.saturating_add(limits.output_lines / LINES_SLACK),
            line_bytes: limits.line_bytes,
        };
        let all = Excerpt::head(texts, whole);
        if all.edge.is_none() {
            let kept = total - all.cut_bytes;
            let left = all.taken.into_iter().zip(texts).map(|(taken, text)| Left::of(taken, text)).collect();
            return Self { left, total, kept, gap: None, cuts_lines: kept < total };
        }
        let tail = Budget { bytes: whole.bytes / 3, lines: limits.output_lines / 3, ..whole };
        let head = Budget { bytes: whole.bytes / 3 * 2, lines: limits.output_lines - tail.lines, ..whole };
        let head = Excerpt::head(texts, head);
        let from = head.edge.unwrap_or(Place { text: texts.len(), byte: 0 });
        let tail = Excerpt::tail(texts, from, tail);
        let to = tail.edge.unwrap_or(from);
        let gap = Span { texts, from, to };
        let kept = total - gap.bytes() - head.cut_bytes - tail.cut_bytes;
        let at = head.taken.last().map_or(0, String::len);
        let noted = (from.text, at, gap.bytes() as u64, gap.lines(), head.lines as u64 + 1);
        let mut left: Vec<Left> =
            head.taken.into_iter().zip(texts).map(|(taken, text)| Left::of(taken, text)).collect();
        left.resize_with(texts.len(), || Left::Nothing);
        for (index, taken) in (0..texts.len()).rev().zip(tail.taken) {
            if index > from.text {
                let is_cut = index == to.text && taken.is_empty();
                left[index] = if is_cut { Left::Nothing } else { Left::of(taken, texts[index]) };
            } else if let Left::Part(head) = &mut left[index] {
                head.push_str(&taken);
            }
        }
        Self { left, total, kept, gap: Some(noted), cuts_lines: false }
    }

    fn apply(self, parts: &mut Vec<Content>, places: &[usize], whole: String, limits: &Limits) -> CutText {
        let Self { left, total, kept, gap, cuts_lines } = self;
        let mut gone = vec![false; parts.len()];
        for (index, left) in places.iter().zip(left) {
            match left {
                Left::Whole => {}
                Left::Part(text) => put(&mut parts[*index], text),
                Left::Nothing => gone[*index] = true,
            }
        }
        let gap = gap.map(|(text, at, bytes, lines, offset)| {
            let place = places[text];
            let part = place - gone[..place].iter().filter(|gone| **gone).count();
            Gap { part, at, bytes, lines, offset }
        });
        let mut gone = gone.into_iter();
        parts.retain(|_| !gone.next().unwrap_or_default());
        let (total_bytes, kept_bytes) = (total as u64, kept as u64);
        CutText { whole, total_bytes, kept_bytes, gap, cuts_lines, line_bytes: limits.line_bytes }
    }
}

impl Left {
    fn of(taken: String, text: &str) -> Self {
        // What is as long as the text is the text, unless a note is by chance as long as what it stands for.
        if taken == text { Self::Whole } else { Self::Part(taken) }
    }
}

/// What lies between two places.
struct Span<'a> {
    texts: &'a [&'a str],
    from: Place,
    to: Place,
}

impl Span<'_> {
    fn pieces(&self) -> impl Iterator<Item = &str> {
        let Self { texts, from, to } = *self;
        (from.text..texts.len().min(to.text + 1)).map(move |index| {
            let start = if index == from.text { from.byte } else { 0 };
            let end = if index == to.text { to.byte } else { texts[index].len() };
            &texts[index][start..end]
        })
    }

    fn bytes(&self) -> usize {
        self.pieces().map(str::len).sum()
    }

    fn lines(&self) -> u64 {
        self.pieces().map(count_lines).sum()
    }
}

/// Puts what is left of a text into the part it is from; JSON that was cut is a text.
fn put(part: &mut Content, left: String) {
    match text_mut(part) {
        Some(text) => *text = left,
        None => *part = Content::text(left),
    }
}
