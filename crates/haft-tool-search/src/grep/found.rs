use std::fmt::Write as _;
use std::ops::Range;

use crate::excerpt::excerpt;
use crate::page::{Fit, Page};

/// What stands between two groups of lines.
pub(super) const BREAK: &str = "--\n";

/// What was found in one file.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// How many matches it has, or at least has.
    pub(super) matches: u64,
    /// Whether counting ended before the file did.
    pub(super) has_more: bool,
    /// After how many matches those start that were written out; nothing where none were meant to be.
    pub(super) from: Option<u64>,
    /// Matches as they are shown, as many as could be needed.
    pub(super) hits: Vec<Hit>,
}

/// A match as it is shown, with its context.
#[derive(Debug, Default)]
pub(super) struct Hit {
    /// Whether lines are left out before it.
    pub(super) gap: bool,
    pub(super) before: Lines,
    pub(super) lines: Lines,
    pub(super) after: Lines,
}

/// Lines as they are shown.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) text: String,
    /// Whether some of them were cut.
    pub(super) cut: bool,
}

impl Lines {
    pub(super) fn push(
        &mut self,
        path: &str,
        number: u64,
        separator: char,
        line: &[u8],
        focus: Range<usize>,
    ) {
        let shown = excerpt(line, focus);
        self.cut |= shown.cut;
        let space = if shown.text.is_empty() { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{path}{separator}{number}{separator}{space}{}", shown.text);
    }
}

impl Page {
    /// Adds a match, if it fits; it matters more than what is around it.
    pub(super) fn push_hit(&mut self, hit: &Hit, with_context: bool) -> Fit {
        let has_breaks = with_context && !self.text.is_empty();
        let start = |gap| if gap && has_breaks { BREAK } else { "" };
        let whole = format!("{}{}{}", start(hit.gap), hit.before.text, hit.lines.text);
        if self.push_line(&whole) == Fit::Not {
            let alone = format!("{}{}", start(hit.gap || !hit.before.text.is_empty()), hit.lines.text);
            if self.push_line(&alone) == Fit::Not {
                return Fit::Not;
            }
            self.cut |= hit.lines.cut;
            return Fit::Last;
        }
        self.cut |= hit.before.cut | hit.lines.cut;
        for line in hit.after.text.split_inclusive('\n') {
            if self.push_line(line) == Fit::Not {
                return Fit::Last;
            }
        }
        self.cut |= hit.after.cut;
        Fit::Whole
    }
}
