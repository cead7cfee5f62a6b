use crate::wording::{TEXT_BYTES, room_of};

/// How many matches are counted beyond those that are shown, to say how many there are.
pub(crate) const COUNTED_ON: u64 = 1000;

/// The text of a reply as it fills up.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) text: String,
    room_taken: usize,
    /// Whether it shows lines that were cut.
    pub(crate) cut: bool,
}

/// Whether something fits on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// All of it does.
    Whole,
    /// It does without some of the lines around it, and nothing more will.
    Last,
    /// It does not.
    Not,
}

/// Why no more is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// Nothing more is there, or nothing more was asked for.
    #[default]
    Done,
    /// There is another match, beyond the limit.
    Limit,
    /// There is more text than there is room for.
    Full,
}

impl Page {
    /// Adds a line, if it fits.
    pub(crate) fn push_line(&mut self, line: &str) -> Fit {
        if self.room_taken + room_of(line) > TEXT_BYTES {
            return Fit::Not;
        }
        self.text.push_str(line);
        self.room_taken += room_of(line);
        Fit::Whole
    }
}
