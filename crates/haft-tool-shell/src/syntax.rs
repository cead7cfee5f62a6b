//! Bash's words and tokens, read the way bash reads them, or refused.
//!
//! What is refused here is not run unasked: where bash has a rule that is seldom needed and easily got wrong, there is no
//! attempt at it. Nothing in here can grow beyond the script it is given, nor recurse deeper than [`MOST_NESTED`].

mod arithmetic;
mod expansion;
mod lexer;
mod quoted;
#[cfg(test)]
mod tests;
mod word;

#[cfg(feature = "analysis")]
pub(crate) use self::arithmetic::{is_constant, is_number};
#[cfg(feature = "analysis")]
pub(crate) use self::lexer::{Lexer, Token};
pub(crate) use self::quoted::quoted;
#[cfg(any(feature = "analysis", test))]
pub(crate) use self::word::scan;
#[cfg(feature = "analysis")]
pub(crate) use self::word::{Failure, scan_document};
pub(crate) use self::word::{Scanned, split};

/// How deep substitutions, and commands within commands, may be nested.
pub(crate) const MOST_NESTED: usize = 16;

/// Says why a text is not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) &'static str);

/// Tells whether a character ends a word where it is not quoted.
pub(crate) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
}
