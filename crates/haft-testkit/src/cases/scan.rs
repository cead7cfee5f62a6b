use std::ops::Range;

/// Says what is wrong with a page, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Malformed {
    /// The line, 1-based.
    pub(super) line: usize,
    pub(super) reason: String,
}

impl Malformed {
    pub(super) fn new(line: usize, reason: impl Into<String>) -> Self {
        Self { line, reason: reason.into() }
    }
}

/// A part of a page that means something; the rest is prose.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    Heading { line: usize, level: usize, text: &'a str },
    Block(Block<'a>),
}

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block<'a> {
    /// The line of the opening fence, 1-based.
    pub(super) line: usize,
    /// How many backticks the fence has.
    pub(super) ticks: usize,
    /// What stands behind the opening fence.
    pub(super) info: &'a str,
    /// The lines between the fences, each with its line feed.
    pub(super) body: &'a str,
    /// Where it stands in the page, from the first backtick to the last.
    pub(super) span: Range<usize>,
}

/// Finds the headings and blocks of a page.
pub(super) fn scan(page: &str) -> Result<Vec<Item<'_>>, Malformed> {
    let mut items = Vec::new();
    let mut lines = Lines { page, offset: 0, number: 0 };
    while let Some((line, start, text)) = lines.next() {
        let ticks = leading_ticks(text);
        if ticks >= 3 {
            items.push(Item::Block(block(&mut lines, line, start, ticks)?));
        } else if leading_ticks(text.trim_start()) >= 3 || text.trim_start().starts_with("~~~") {
            return Err(Malformed::new(line, "a fence is made of backticks at the start of the line"));
        } else if let Some((level, text)) = heading(text) {
            items.push(Item::Heading { line, level, text });
        }
    }
    Ok(items)
}

/// Reads the block whose opening fence has just been read.
fn block<'a>(lines: &mut Lines<'a>, line: usize, start: usize, ticks: usize) -> Result<Block<'a>, Malformed> {
    let page = lines.page;
    let info = page[start + ticks..lines.offset].trim();
    if info.contains('`') {
        return Err(Malformed::new(line, "the words behind a fence have no backticks"));
    }
    let body = lines.offset;
    for (_, end, text) in lines.by_ref() {
        if leading_ticks(text) >= ticks && text.trim_end().bytes().all(|byte| byte == b'`') {
            let span = start..end + text.trim_end().len();
            return Ok(Block { line, ticks, info, body: &page[body..end], span });
        }
    }
    Err(Malformed::new(line, "this block has no closing fence"))
}

fn heading(text: &str) -> Option<(usize, &str)> {
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    let is_heading = (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with(' '));
    is_heading.then(|| (level, rest.trim()))
}

pub(super) fn leading_ticks(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'`').count()
}

/// Walks over lines and knows where it is.
struct Lines<'a> {
    page: &'a str,
    offset: usize,
    number: usize,
}

impl<'a> Iterator for Lines<'a> {
    /// The line's number, its offset, and its text without the line feed.
    type Item = (usize, usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.page[self.offset..];
        if rest.is_empty() {
            return None;
        }
        let start = self.offset;
        let line = rest.split_inclusive('\n').next().unwrap_or(rest);
        self.offset += line.len();
        self.number += 1;
        Some((self.number, start, line.strip_suffix('\n').unwrap_or(line)))
    }
}
