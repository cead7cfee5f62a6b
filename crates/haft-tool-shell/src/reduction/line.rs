use std::fmt;

use memchr::memchr3;
use vte::{Params, Parser, Perform};

/// How far to the right a line is written to by moving there.
const MOST_COLUMNS: usize = 4096;

/// A line while it is written, as it is or as a terminal would show it.
#[derive(Debug, Default)]
pub(super) struct Line {
    plain: String,
    shown: Option<Box<Shown>>,
}

/// A line that is not what was written, but what came of it.
struct Shown {
    parser: Parser,
    cells: Cells,
}

#[derive(Debug, Default)]
struct Cells {
    cells: Vec<char>,
    column: usize,
}

impl Line {
    pub(super) fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.shown.is_none()
    }

    /// How long the line is, in bytes; about that where it is not plain.
    pub(super) fn bytes(&self) -> usize {
        self.shown.as_ref().map_or(self.plain.len(), |shown| shown.cells.cells.len())
    }

    /// How long the line is if it is as it was written.
    pub(super) fn plain_bytes(&self) -> Option<usize> {
        self.shown.is_none().then_some(self.plain.len())
    }

    /// Writes on; a carriage return at the end of a line belongs to how it ends.
    pub(super) fn push(&mut self, text: &str, ends: bool) {
        let text = if ends { text.strip_suffix('\r').unwrap_or(text) } else { text };
        if self.shown.is_none() {
            if memchr3(b'\x1b', b'\r', b'\x08', text.as_bytes()).is_none() {
                return self.plain.push_str(text);
            }
            let cells: Vec<char> = std::mem::take(&mut self.plain).chars().collect();
            let cells = Cells { column: cells.len(), cells };
            self.shown = Some(Box::new(Shown { parser: Parser::new(), cells }));
        }
        if let Some(shown) = &mut self.shown {
            shown.parser.advance(&mut shown.cells, text.as_bytes());
        }
    }

    pub(super) fn write_to(&self, text: &mut String) {
        match &self.shown {
            None => text.push_str(&self.plain),
            Some(shown) => shown.cells.write_to(text),
        }
    }

    pub(super) fn into_text(self) -> String {
        let Some(shown) = self.shown else { return self.plain };
        let mut text = String::new();
        shown.cells.write_to(&mut text);
        text
    }
}

impl Cells {
    /// What was written over with spaces is not there any more.
    fn write_to(&self, text: &mut String) {
        let end = self.cells.iter().rposition(|cell| *cell != ' ').map_or(0, |last| last + 1);
        text.extend(&self.cells[..end]);
    }

    fn go_to(&mut self, column: usize) {
        self.column = column.min(MOST_COLUMNS.max(self.cells.len()));
    }

    fn erase(&mut self, what: u16) {
        match what {
            0 => self.cells.truncate(self.column),
            1 => {
                let end = self.cells.len().min(self.column + 1);
                self.cells[..end].fill(' ');
            }
            _ => self.cells.clear(),
        }
    }
}

impl Perform for Cells {
    fn print(&mut self, cell: char) {
        if self.column >= self.cells.len() {
            self.cells.resize(self.column, ' ');
            self.cells.push(cell);
        } else {
            self.cells[self.column] = cell;
        }
        self.column += 1;
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\r' => self.column = 0,
            b'\x08' => self.column = self.column.saturating_sub(1),
            b'\t' => self.print('\t'),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, _: &[u8], _: bool, action: char) {
        let first = params.iter().next().and_then(|param| param.first()).copied().unwrap_or_default();
        let count = usize::from(first.max(1));
        match action {
            'C' => self.go_to(self.column + count),
            'D' => self.go_to(self.column.saturating_sub(count)),
            'G' => self.go_to(count - 1),
            'J' | 'K' => self.erase(first),
            _ => {}
        }
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shown").field("cells", &self.cells).finish_non_exhaustive()
    }
}
