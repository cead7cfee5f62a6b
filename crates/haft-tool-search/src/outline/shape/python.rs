use super::{Bodies, end_of_word};
use memchr::{memchr, memchr2, memmem};
use std::ops::Range;

/// A function has to have something in it, and what is in parentheses can be on many lines.
pub(in crate::outline) const PYTHON: Bodies = Bodies { find, around: Some((b'(', b')')) };

/// A function or class that the text is in.
struct Block {
    /// How far its own line is indented.
    indent: u16,
    /// Where what is in it starts, once something is.
    start: Option<usize>,
    is_function: bool,
    defines: bool,
}

/// A line, with all on which it goes on.
struct Line {
    indent: u16,
    /// Where it starts, behind the blank space, and where it ends, without blank space and comment.
    text: Range<usize>,
    next: usize,
}

fn find(text: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut found = Vec::new();
    let mut blocks: Vec<Block> = Vec::new();
    let mut indents = vec![0];
    let mut last_end = 0;
    let mut at = 0;
    while at < text.len() {
        let Line { indent, text: line, next } = read_line(text, at)?;
        at = next;
        if line.is_empty() {
            continue;
        }
        enter(&mut indents, indent, text[..last_end].ends_with(b":"))?;
        close(&mut blocks, &mut found, indent, last_end);
        if let Some(block) = blocks.last_mut() {
            block.start.get_or_insert(line.start);
        }
        let (is_function, is_class, is_type) = kind(&text[line.clone()]);
        if is_function || is_class || is_type {
            for block in &mut blocks {
                block.defines = true;
            }
        }
        // What stands behind the colon is on one line.
        if (is_function || is_class) && text[..line.end].ends_with(b":") {
            blocks.push(Block { indent, start: None, is_function, defines: false });
        }
        last_end = line.end;
    }
    close(&mut blocks, &mut found, 0, last_end);
    found.sort_unstable_by_key(|body: &Range<usize>| body.start);
    Some(found)
}

/// Goes to the indentation of the next line: a deeper one behind a colon, or else that of a line before which it is in
/// one block with. Of a line with any other it cannot be said what it is in.
fn enter(indents: &mut Vec<u16>, indent: u16, behind_colon: bool) -> Option<()> {
    if behind_colon {
        let deeper = indents.last().is_some_and(|around| indent > *around);
        indents.push(indent);
        return deeper.then_some(());
    }
    while indents.pop_if(|around| *around > indent).is_some() {}
    (indents.last() == Some(&indent)).then_some(())
}

/// Ends the blocks that a line of this indentation is not in.
fn close(blocks: &mut Vec<Block>, found: &mut Vec<Range<usize>>, indent: u16, last_end: usize) {
    while let Some(block) = blocks.pop_if(|block| block.indent >= indent) {
        if let (true, false, Some(start)) = (block.is_function, block.defines, block.start)
            && last_end >= start + 2
        {
            found.push(start..last_end);
        }
    }
}

/// Tells whether a line defines a function, a class or a type by a word of its own.
fn kind(line: &[u8]) -> (bool, bool, bool) {
    let first = &line[..end_of_word(line, 0)];
    let rest = line[first.len()..].trim_ascii_start();
    let is_async = first == b"async" && &rest[..end_of_word(rest, 0)] == b"def";
    (first == b"def" || is_async, first == b"class", first == b"type")
}

/// Reads a line; nothing where a string or bracket in it has no end, or where it is not known how far it is indented.
fn read_line(text: &[u8], at: usize) -> Option<Line> {
    let (mut indent, mut start) = (0_u16, at);
    loop {
        // As the parser counts them.
        match text.get(start) {
            Some(b' ') => indent = indent.checked_add(1)?,
            Some(b'\t') => indent = indent.checked_add(8)?,
            Some(b'\x0c' | b'\r') => indent = 0,
            // It would count what stands on the next line too.
            Some(b'\\') => return None,
            _ => break,
        }
        start += 1;
    }
    let (mut at, mut end, mut open, mut colons) = (start, start, 0_usize, 0_usize);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\n' if open == 0 => {
                at += 1;
                break;
            }
            b'#' => {
                at += memchr(b'\n', &text[at..]).unwrap_or(text.len() - at);
                continue;
            }
            b'\\' if matches!(text.get(at + 1..), Some([b'\n', ..] | [b'\r', b'\n', ..])) => {
                at += if text[at + 1] == b'\n' { 2 } else { 3 };
                continue;
            }
            b'\'' | b'"' => {
                at = end_of_string(text, at)?;
                end = at;
                continue;
            }
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.checked_sub(1)?,
            b':' if open == 0 && text.get(at + 1) != Some(&b'=') => colons += 1,
            _ => {}
        }
        at += 1;
        if !byte.is_ascii_whitespace() {
            end = at;
        }
    }
    // Behind one colon of two, the parser looks for a type on the next line.
    let opens_twice = colons > 1 && text[start..end].ends_with(b":");
    (open == 0 && !opens_twice).then_some(Line { indent, text: start..end, next: at })
}

/// Finds the end of a string; a backslash keeps what is behind it from ending one, also where it is raw.
fn end_of_string(text: &[u8], at: usize) -> Option<usize> {
    let quote = text[at];
    let three = [quote; 3];
    if text[at..].starts_with(&three) {
        let mut at = at + 3;
        loop {
            let end = at + memmem::find(text.get(at..)?, &three)?;
            match memchr(b'\\', &text[at..end]) {
                Some(escape) => at += escape + 2,
                None => return Some(end + 3),
            }
        }
    }
    let mut at = at + 1;
    loop {
        let next = at + memchr2(quote, b'\\', text.get(at..)?)?;
        if memchr(b'\n', &text[at..next]).is_some() {
            return None;
        }
        if text[next] == quote {
            return Some(next + 1);
        }
        at = next + 2;
    }
}
