use std::fmt;
use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::repeats::Repeats;
use vt100::Parser;

/// How large a terminal is, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScreenSize {
    pub(crate) rows: NonZeroU16,
    pub(crate) columns: NonZeroU16,
}

/// Shows what stands on a terminal, from all that was printed to it.
///
/// Its memory is bounded by its size: what has left it is not kept.
pub(crate) struct Screen {
    size: ScreenSize,
    parser: Mutex<(Repeats, Parser)>,
}

/// What stands on a terminal at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Its rows without the empty ones at the end.
    pub(crate) text: String,
    pub(crate) size: ScreenSize,
    /// Where the cursor is, 1-based; `None` where it is hidden.
    pub(crate) cursor: Option<(u16, u16)>,
}

impl Screen {
    pub(crate) fn new(size: ScreenSize) -> Self {
        Self { size, parser: Mutex::new((Repeats::default(), empty(size))) }
    }

    /// Takes what is printed. What the parser cannot take begins an empty screen.
    pub(crate) fn feed(&self, bytes: &[u8]) {
        let mut locked = self.parser.lock().unwrap_or_else(PoisonError::into_inner);
        let (repeats, parser) = &mut *locked;
        let bytes = repeats.bounded(bytes, self.size.columns.get());
        if catch_unwind(AssertUnwindSafe(|| parser.process(&bytes))).is_err() {
            *parser = empty(self.size);
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let locked = self.parser.lock().unwrap_or_else(PoisonError::into_inner);
        let screen = locked.1.screen();
        let rows: Vec<String> =
            screen.rows(0, self.size.columns.get()).map(|row| row.trim_end().to_owned()).collect();
        let used = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
        let (row, column) = screen.cursor_position();
        let cursor = (!screen.hide_cursor()).then_some((row.saturating_add(1), column.saturating_add(1)));
        Snapshot { text: rows[..used].join("\n"), size: self.size, cursor }
    }
}

fn empty(size: ScreenSize) -> Parser {
    Parser::new(size.rows, size.columns, 0)
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen").field("size", &self.size).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use proptest::prelude::*;

    fn screen(rows: u16, columns: u16) -> Screen {
        let of = |count| NonZeroU16::new(count).unwrap();
        Screen::new(ScreenSize { rows: of(rows), columns: of(columns) })
    }

    #[test]
    fn shows_what_a_terminal_would() {
        let screen = screen(4, 20);
        screen.feed(b"old\r\n\x1b[2J\x1b[2;3H\x1b[31mred\x1b[m\x1b[3;1Hlast");
        expect![[r#"(Some((3, 5)), "\n  red\nlast")"#]]
            .assert_eq(&format!("{:?}", (screen.snapshot().cursor, screen.snapshot().text)));
        screen.feed(b"\x1b[?25l\x1bc");
        assert_eq!(screen.snapshot().text, "");
    }

    proptest! {
        #[test]
        fn takes_whatever_is_printed(
            bytes in prop::collection::vec(prop_oneof![Just(0x1b), Just(b'['), Just(b';'), any::<u8>(), b'0'..b':'], 0..300),
            rows in 1_u16..40,
            columns in 1_u16..90,
        ) {
            let screen = screen(rows, columns);
            screen.feed(&bytes);
            prop_assert!(screen.snapshot().text.lines().count() <= usize::from(rows));
        }
    }
}
