use super::scan::leading_ticks;
use similar::TextDiff;
use std::fmt;
use std::ops::Range;

/// One way in which a case is not as its page says.
#[derive(Debug)]
pub(super) struct Failure {
    /// Where the page says it, 1-based.
    pub(super) line: usize,
    pub(super) case: String,
    pub(super) what: String,
    /// What would make the page say what is; nothing where the tool is at fault whatever the page says.
    pub(super) mend: Option<Mend>,
}

/// A change to a page.
#[derive(Debug)]
pub(super) struct Mend {
    pub(super) span: Range<usize>,
    pub(super) text: String,
}

impl Failure {
    /// Writes the failure for whoever reads the failed test.
    pub(super) fn report(&self, page: &impl fmt::Display) -> String {
        format!("{page}:{}: in the case `{}`: {}\n", self.line, self.case, self.what)
    }
}

/// Shows how two texts differ, line by line.
pub(super) fn difference(expected: &str, actual: &str) -> String {
    let diff = TextDiff::from_lines(expected, actual);
    diff.unified_diff().context_radius(3).header("the page", "the call").to_string()
}

/// Writes a block whose fence is longer than any in its body.
pub(super) fn fenced(info: &str, body: &str, least_ticks: usize) -> String {
    let inner = body.lines().map(leading_ticks).max().unwrap_or(0);
    let fence = "`".repeat(least_ticks.max(inner + 1).max(3));
    format!("{fence}{info}\n{body}{fence}")
}

/// Makes all changes to a page; whatever lies between them keeps its bytes.
pub(super) fn mended(page: &str, mut mends: Vec<Mend>) -> String {
    mends.sort_by_key(|mend| mend.span.start);
    let mut text = String::with_capacity(page.len());
    let mut kept = 0;
    for Mend { span, text: replacement } in mends {
        text.push_str(&page[kept..span.start]);
        text.push_str(&replacement);
        kept = span.end;
    }
    text.push_str(&page[kept..]);
    text
}
