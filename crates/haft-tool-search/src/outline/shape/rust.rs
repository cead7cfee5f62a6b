use super::{Bodies, end_of_word, is_of_word};
use memchr::{memchr, memchr2, memmem};
use std::ops::Range;

pub(in crate::outline) const RUST: Bodies = Bodies { find, around: None };

/// The words that something is defined by. Some also stand elsewhere, as in `*const T`, and then a body is left as it is.
const DEFINING: [&[u8]; 11] = [
    b"fn",
    b"struct",
    b"enum",
    b"union",
    b"trait",
    b"impl",
    b"mod",
    b"const",
    b"static",
    b"type",
    b"macro_rules",
];

/// The function that the text is in.
struct Body {
    start: usize,
    /// How many brackets are open around its own.
    depth: usize,
    defines: bool,
}

fn find(text: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut found = Vec::new();
    let mut open: Vec<u8> = Vec::new();
    // At how many open brackets a function was named whose body has not come.
    let mut named: Option<usize> = None;
    let mut body: Option<Body> = None;
    let mut is_behind_fn = false;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if let Some(end) = end_of_text_or_comment(text, at)? {
            // A raw name is a name, too.
            if byte == b'r' && std::mem::take(&mut is_behind_fn) && body.is_none() {
                named = Some(open.len());
            }
            at = end;
            continue;
        }
        if is_of_word(byte) {
            let end = end_of_word(text, at);
            let word = &text[at..end];
            match &mut body {
                Some(body) => body.defines |= DEFINING.contains(&word),
                None if is_behind_fn => named = Some(open.len()),
                None => {}
            }
            is_behind_fn = word == b"fn";
            at = end;
            continue;
        }
        is_behind_fn = false;
        match byte {
            b'(' | b'[' | b'{' => {
                if byte == b'{' && body.is_none() && named.take_if(|depth| *depth == open.len()).is_some() {
                    body = Some(Body { start: at + 1, depth: open.len(), defines: false });
                }
                open.push(byte);
            }
            b')' | b']' | b'}' => {
                let opened = open.pop()?;
                if !matches!((opened, byte), (b'(', b')') | (b'[', b']') | (b'{', b'}')) {
                    return None;
                }
                if let Some(ended) = body.take_if(|body| body.depth == open.len())
                    && !ended.defines
                    && ended.start < at
                {
                    found.push(ended.start..at);
                }
                named = named.filter(|depth| *depth <= open.len());
            }
            b';' => named = named.filter(|depth| *depth != open.len()),
            _ => {}
        }
        at += 1;
    }
    open.is_empty().then_some(found)
}

/// Finds where a comment, a string, a character, a lifetime or a raw name ends that starts at a place; nothing where none does.
/// The whole is nothing where it has no end.
#[expect(clippy::option_option, reason = "that none starts here is not that one does not end")]
fn end_of_text_or_comment(text: &[u8], at: usize) -> Option<Option<usize>> {
    let rest = text.get(at..)?;
    let end = match rest {
        [b'/', b'/', ..] => at + memchr(b'\n', rest).unwrap_or(rest.len()),
        [b'/', b'*', ..] => end_of_comment(text, at)?,
        [b'"', ..] => end_of_string(text, at + 1, b'"')?,
        [b'\'', b'\\', ..] => end_of_string(text, at + 1, b'\'')?,
        [b'\'', next, ..] => {
            let width = match next {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 1,
            };
            match text.get(at + 1 + width) {
                Some(b'\'') => at + 2 + width,
                _ => end_of_word(text, at + 1),
            }
        }
        [b'r', b'"' | b'#', ..] => end_of_raw(text, at, at + 1)?,
        [b'b' | b'c', b'r', b'"' | b'#', ..] => end_of_raw(text, at, at + 2)?,
        // What is in it is a string or a character like any other.
        [b'b' | b'c', b'"', ..] => end_of_string(text, at + 2, b'"')?,
        [b'b', b'\'', ..] => end_of_string(text, at + 2, b'\'')?,
        _ => return Some(None),
    };
    Some(Some(end))
}

/// Finds the end of a comment that may have others in it.
fn end_of_comment(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = at;
    loop {
        let next = at + memchr2(b'/', b'*', text.get(at..)?)?;
        match text.get(next..next + 2)? {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at = next + 1;
                continue;
            }
        }
        at = next + 2;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Finds the end of what goes on up to `quote`, unless a backslash is before it.
fn end_of_string(text: &[u8], at: usize, quote: u8) -> Option<usize> {
    let mut at = at;
    loop {
        let next = at + memchr2(quote, b'\\', text.get(at..)?)?;
        if text[next] == quote {
            return Some(next + 1);
        }
        at = next + 2;
    }
}

/// Finds the end of a raw string, or of a raw name such as `r#type`.
fn end_of_raw(text: &[u8], start: usize, at: usize) -> Option<usize> {
    let hashes = text.get(at..)?.iter().take_while(|byte| **byte == b'#').count();
    let quote = at + hashes;
    if text.get(quote) != Some(&b'"') {
        // At least the letter is gone past.
        return Some(end_of_word(text, quote).max(start + 1));
    }
    let end = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
    Some(quote + 1 + memmem::find(text.get(quote + 1..)?, &end)? + end.len())
}
