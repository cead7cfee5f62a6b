//! Reads and writes lengths of time as people do; lengths are whole milliseconds.

mod format;
mod parse;
mod unit;

pub use format::format;
pub use parse::{parse, ParseError};
