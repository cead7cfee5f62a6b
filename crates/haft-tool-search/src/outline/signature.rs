use super::grammar::Grammar;
use super::symbols::Symbol;
use crate::excerpt::{Excerpt, excerpt};
use memchr::memmem;
use tree_sitter::Node;

/// How many nodes of a symbol are looked at to find where its signature ends.
const MOST_NODES: usize = 512;

/// How much of the text of a signature is looked at, in bytes; more than is shown of it.
const MOST_BYTES: usize = 2048;

/// Writes what a symbol looks like from outside, on one line: without its body, comments and annotations.
pub(super) fn signature(grammar: &'static Grammar, symbol: &Symbol<'_>, text: &[u8]) -> Excerpt {
    let whole = raw(grammar, symbol, text);
    let line = one_line(&whole);
    let line = line.trim_end_matches(['{', ';', ':', ' ', ',']);
    let name = &text[symbol.name.clone()];
    let start = memmem::find(line.as_bytes(), name).unwrap_or(0);
    excerpt(line.as_bytes(), start..(start + name.len()).min(line.len()))
}

/// Gathers the text up to the body, without what is left out.
fn raw(grammar: &'static Grammar, symbol: &Symbol<'_>, text: &[u8]) -> String {
    let table = grammar.table();
    let node = symbol.node;
    // What is on one line has nothing more on others.
    let most = (node.start_byte() + MOST_BYTES).min(node.end_byte()).max(symbol.name.end);
    let end = if symbol.kind.is_one_line() {
        memchr::memchr(b'\n', &text[symbol.name.end..most]).map_or(most, |at| symbol.name.end + at)
    } else {
        most
    };
    let mut gathered = Vec::new();
    let mut from = node.start_byte();
    let mut cursor = node.walk();
    for _ in 0..MOST_NODES {
        let at = cursor.node();
        if at.start_byte() >= end {
            break;
        }
        let entry = table.entry(at);
        // What does not belong there is no part of it, nor is what comes behind.
        if at.is_error() && at.start_byte() >= symbol.name.end {
            return add(gathered, text, from, at.start_byte());
        }
        let is_before_name = at.end_byte() <= symbol.name.start;
        let is_left_out = at.is_extra() || entry.is_decoration || (entry.is_body && is_before_name);
        if entry.is_body && !symbol.kind.is_one_line() && at.start_byte() >= symbol.name.end {
            return add(gathered, text, from, at.start_byte());
        }
        if is_left_out && at.start_byte() >= from {
            gathered.extend_from_slice(&text[from..at.start_byte()]);
            from = at.end_byte();
        }
        if !is_left_out && cursor.goto_first_child() {
            continue;
        }
        if !go_on(&mut cursor) {
            break;
        }
    }
    add(gathered, text, from.min(end), end)
}

fn add(mut gathered: Vec<u8>, text: &[u8], from: usize, to: usize) -> String {
    gathered.extend_from_slice(text.get(from..to).unwrap_or_default());
    String::from_utf8_lossy(&gathered).into_owned()
}

fn go_on(cursor: &mut tree_sitter::TreeCursor<'_>) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

/// Puts what is on several lines on one, as if it had been written so.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut rest = text.trim();
    while let Some(at) = rest.find(char::is_whitespace) {
        line.push_str(&rest[..at]);
        let next = rest[at..].trim_start();
        let is_broken = rest[at..rest.len() - next.len()].contains('\n');
        let closes = next.starts_with([')', ']', '>']);
        if is_broken && closes && line.ends_with(',') {
            line.pop();
        }
        if !(is_broken && (closes || line.ends_with(['(', '[', '<']))) {
            line.push(' ');
        }
        rest = next;
    }
    line.push_str(rest);
    line.chars().filter(|character| !character.is_control()).collect()
}

/// The first line of a node, for what only shows where something is.
pub(super) fn line_of(node: Node<'_>, text: &[u8]) -> Excerpt {
    let (start, end) = (node.start_byte().min(text.len()), node.end_byte().min(text.len()));
    let from = memchr::memrchr(b'\n', &text[..start]).map_or(0, |at| at + 1);
    let to = memchr::memchr(b'\n', &text[end..]).map_or(text.len(), |at| end + at);
    let line = &text[from..to];
    let indent = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count().min(start - from);
    excerpt(&line[indent..], start - from - indent..end - from - indent)
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn puts_what_is_on_several_lines_on_one() {
        let check = |text: &str, expected: &str| assert_eq!(one_line(text), expected);
        check("fn a(b: u8) -> u8 ", "fn a(b: u8) -> u8");
        check(
            "fn a(\n    b: u8, \n    c: u8,\n) -> u8\nwhere\n    T: Copy,\n",
            "fn a(b: u8, c: u8) -> u8 where T: Copy,",
        );
        check("int\nmain( int argc )", "int main( int argc )");
        check("a\u{1b}[31m", "a[31m");
        check("", "");
    }
}
