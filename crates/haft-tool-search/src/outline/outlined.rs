use super::Request;
use super::tally::Tally;
use super::visit::{FileOutline, Item, Part};
use crate::page::{COUNTED_ON, End, Fit, Page};
use crate::scan::Take;
use crate::wording::{OneLine, counted};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::ops::ControlFlow;

/// How many symbols may wait for those before them.
const MOST_WAITING: usize = 4096;

/// Writes what files define, in the order in which it is given.
pub(super) struct Outlined<'r> {
    request: &'r Request,
    pub(super) page: Page,
    /// How many symbols are shown.
    pub(super) shown: u64,
    /// How many files are shown.
    pub(super) files: u64,
    /// How many symbols there are to be shown, with those before `offset`.
    pub(super) total: u64,
    /// Whether there are more than were counted.
    pub(super) has_more: bool,
    pub(super) tally: Tally,
    pub(super) end: End,
    /// What the host is told of each file that is shown.
    pub(super) details: Vec<Value>,
    /// The lines, language and first error of the only file.
    pub(super) only: Option<(usize, &'static str, Option<usize>)>,
}

impl<'r> Outlined<'r> {
    pub(super) fn new(request: &'r Request) -> Self {
        Self {
            request,
            page: Page::default(),
            shown: 0,
            files: 0,
            total: 0,
            has_more: false,
            tally: Tally::default(),
            end: End::Done,
            details: Vec::new(),
            only: None,
        }
    }

    fn add(&mut self, item: Item) -> ControlFlow<()> {
        match item {
            Item::Tally(tally) => self.tally.add(&tally),
            Item::Outlined(file) => {
                self.tally.searched += 1;
                self.add_file(&file);
            }
            Item::Named(_) => {}
        }
        let most = self.request.offset + self.request.limit + COUNTED_ON;
        if self.total >= most && self.end != End::Done {
            self.has_more = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn add_file(&mut self, file: &FileOutline) {
        let Request { offset, limit, .. } = *self.request;
        let is_only = self.request.is_one_file();
        if is_only {
            self.only = Some((file.lines, file.language, file.error_line));
        }
        let before = self.total;
        self.total += file.total - file.left_out;
        self.has_more |= file.has_more;
        // A file of which nothing can be told is shown for its error, where it comes.
        let is_passed = self.total <= offset && (offset > before || !file.entries.is_empty());
        if self.end != End::Done || is_passed {
            return;
        }
        let mut pending = if is_only { String::new() } else { header(file) };
        let mut shown = Vec::new();
        for (at, entry) in (before + file.from..).zip(&file.entries) {
            if at < offset {
                continue;
            }
            if self.shown == limit {
                self.end = End::Limit;
                break;
            }
            let indent = "  ".repeat(entry.depth + usize::from(!is_only));
            // Writing to a string cannot fail.
            let _ = writeln!(pending, "{indent}{}", entry.line());
            if self.page.push_line(&pending) == Fit::Not {
                self.end = End::Full;
                break;
            }
            pending.clear();
            self.page.cut |= entry.shown.cut;
            self.shown += 1;
            shown.push(entry.details());
        }
        if self.end == End::Done && is_only && before + file.from + (file.entries.len() as u64) < self.total {
            self.end = End::Limit;
        }
        if self.end == End::Done && file.left_out > 0 {
            let _ = writeln!(pending, "  … {} more: outline this file", file.left_out);
        }
        if self.end == End::Done && !pending.is_empty() && self.page.push_line(&pending) == Fit::Not {
            self.end = End::Full;
        }
        if !shown.is_empty() || self.end == End::Done {
            self.files += 1;
            self.details.push(json!({
                "path": file.path.as_str(),
                "language": file.language,
                "lines": file.lines,
                "error_line": file.error_line,
                "total": file.total,
                "symbols": shown,
            }));
        }
    }
}

fn header(file: &FileOutline) -> String {
    let lines = counted(file.lines as u64, "line");
    let error = file.error_line.map(|line| format!(", syntax error at line {line}")).unwrap_or_default();
    format!("{}: {lines}{error}\n", OneLine(file.path.as_str()))
}

impl Take<Part> for Outlined<'_> {
    fn take(&mut self, part: Part) -> ControlFlow<()> {
        part.0.into_iter().try_for_each(|item| self.add(item))
    }

    fn most_waiting(&self) -> usize {
        MOST_WAITING
    }
}
