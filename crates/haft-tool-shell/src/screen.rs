use std::fmt;
use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
/// Its memory is bounded by its size: what has left it is not kept, and once nothing more comes only the text is.
pub(crate) struct Screen {
    size: ScreenSize,
    stage: Mutex<Stage>,
}

enum Stage {
    Live(Box<(Repeats, Parser)>),
    Last(Snapshot),
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
        Self { size, stage: Mutex::new(Stage::Live(Box::new((Repeats::default(), empty(size))))) }
    }

    /// Takes what is printed. What the parser cannot take begins an empty screen.
    pub(crate) fn feed(&self, bytes: &[u8]) {
        let mut stage = self.lock();
        let Stage::Live(live) = &mut *stage else { return };
        let (repeats, parser) = &mut **live;
        let bytes = repeats.bounded(bytes, self.size.columns.get());
        if catch_unwind(AssertUnwindSafe(|| parser.process(&bytes))).is_err() {
            *parser = empty(self.size);
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        match &*self.lock() {
            Stage::Live(live) => self.snapshot_of(&live.1),
            Stage::Last(last) => last.clone(),
        }
    }

    /// Takes note that nothing more is printed.
    pub(crate) fn end(&self) {
        let mut stage = self.lock();
        if let Stage::Live(live) = &*stage {
            let last = self.snapshot_of(&live.1);
            *stage = Stage::Last(last);
        }
    }

    fn snapshot_of(&self, parser: &Parser) -> Snapshot {
        let screen = parser.screen();
        let rows: Vec<String> =
            screen.rows(0, self.size.columns.get()).map(|row| row.trim_end().to_owned()).collect();
        let used = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
        let (row, column) = screen.cursor_position();
        let cursor = (!screen.hide_cursor()).then_some((row.saturating_add(1), column.saturating_add(1)));
        Snapshot { text: rows[..used].join("\n"), size: self.size, cursor }
    }

    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[test]
    fn once_it_has_ended_it_shows_what_stood_there_last() {
        let screen = screen(4, 20);
        screen.feed(b"one\r\n  two");
        let last = screen.snapshot();
        screen.end();
        screen.feed(b"\x1bcmore");
        screen.end();
        assert_eq!(screen.snapshot(), last);
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
