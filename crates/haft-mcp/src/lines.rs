//! One JSON text a line: how lines are found in what is read, and what a line is about that is too long to keep.

mod reader;
mod top_level;

pub(crate) use reader::{Found, Lines};
pub(crate) use top_level::TopLevel;
