//! The text of a large file without what is in its functions, of which an outline shows nothing.
//!
//! Most of a file is in its functions, and to parse it is most of what an outline costs. What takes their place is blank
//! space of the same length with the same line breaks, which is not read: every place in the tree is a place in the file. A body in which
//! something may be defined is left as it is, and so is the whole file where it cannot be told where a body ends.

#[cfg(any(
    feature = "code-c",
    feature = "code-cpp",
    feature = "code-go",
    feature = "code-java",
    feature = "code-javascript",
    feature = "code-typescript"
))]
mod braces;
#[cfg(any(feature = "code-c", feature = "code-cpp"))]
mod c;
#[cfg(any(feature = "code-c", feature = "code-cpp"))]
mod directives;
#[cfg(any(feature = "code-javascript", feature = "code-typescript"))]
mod ecma;
#[cfg(feature = "code-go")]
mod go;
#[cfg(feature = "code-java")]
mod java;
#[cfg(feature = "code-python")]
mod python;
#[cfg(feature = "code-rust")]
mod rust;

#[cfg(feature = "code-c")]
pub(super) use c::C;
#[cfg(feature = "code-cpp")]
pub(super) use c::CPP;
#[cfg(feature = "code-javascript")]
pub(super) use ecma::JAVASCRIPT;
#[cfg(feature = "code-typescript")]
pub(super) use ecma::{TSX, TYPESCRIPT};
#[cfg(feature = "code-go")]
pub(super) use go::GO;
#[cfg(feature = "code-java")]
pub(super) use java::JAVA;
#[cfg(feature = "code-python")]
pub(super) use python::PYTHON;
#[cfg(feature = "code-rust")]
pub(super) use rust::RUST;

use memchr::{memchr_iter, memrchr};
use std::ops::Range;
use tree_sitter::{Point, Range as Part};

/// From which size on files are looked at without their bodies, in bytes. Smaller ones are parsed in a few milliseconds.
pub(super) const FROM_BYTES: usize = 64 << 10;

/// How a language says what to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bodies {
    /// Finds, in their order, the insides of functions in which nothing is defined; nothing where that cannot be told.
    find: fn(&[u8]) -> Option<Vec<Range<usize>>>,
    /// What stands in the place of one, at its start and its end, so that it is still something.
    around: Option<(u8, u8)>,
}

/// A text without what is in its functions.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// It has the length and the lines of the whole.
    pub(super) text: Vec<u8>,
    /// What of it there is to be read: to pass over blank space takes a parser as long as to read anything else.
    pub(super) parts: Vec<Part>,
}

impl Bodies {
    /// Gives a text of the same length and lines without them; nothing where there are none, or it cannot be told.
    pub(super) fn without(self, text: &[u8]) -> Option<Shape> {
        let bodies = (self.find)(text)?;
        if bodies.is_empty() {
            return None;
        }
        let mut without = text.to_vec();
        for body in &bodies {
            let inside = without.get_mut(body.clone())?;
            inside.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
            if let (Some((open, close)), [first, .., last]) = (self.around, inside) {
                (*first, *last) = (open, close);
            }
        }
        let parts = parts_between(&without, &bodies);
        Some(Shape { text: without, parts })
    }
}

/// Gives what of a text is around its bodies, with the first and the last byte of each, which keep apart what is around it.
fn parts_between(text: &[u8], bodies: &[Range<usize>]) -> Vec<Part> {
    let mut parts = Vec::with_capacity(bodies.len() + 1);
    let mut start = Place { byte: 0, point: Point::new(0, 0) };
    for body in bodies.iter().filter(|body| body.len() > 2) {
        let end = start.on_to(text, body.start + 1);
        parts.push(start.up_to(end));
        start = end.on_to(text, body.end - 1);
    }
    parts.push(start.up_to(start.on_to(text, text.len())));
    parts
}

/// A place in a text.
#[derive(Debug, Clone, Copy)]
struct Place {
    byte: usize,
    point: Point,
}

impl Place {
    fn on_to(self, text: &[u8], byte: usize) -> Self {
        let passed = &text[self.byte..byte];
        let point = match memrchr(b'\n', passed) {
            Some(last) => {
                Point::new(self.point.row + memchr_iter(b'\n', passed).count(), passed.len() - last - 1)
            }
            None => Point::new(self.point.row, self.point.column + passed.len()),
        };
        Self { byte, point }
    }

    fn up_to(self, end: Self) -> Part {
        Part { start_byte: self.byte, end_byte: end.byte, start_point: self.point, end_point: end.point }
    }
}

/// Tells whether a byte can be in a name, or in a word of the language.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Finds where the word ends that starts at a place.
fn end_of_word(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !is_of_word(*byte)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests;
