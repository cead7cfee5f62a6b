//! Regular expressions, and what starts as an element of JSX does.

use super::super::braces::Token;
use super::before::{List, takes_value};
use memchr::memchr3;

/// Tells whether a slash starts a regular expression; nothing where it cannot be told.
pub(super) fn may_be_regex(last: [Token<'_>; 2], parentheses: List, has_types: bool) -> Option<bool> {
    match last {
        [Token::Word(_), Token::Sign(b'.')] | [Token::Text | Token::Sign(b']'), _] => Some(false),
        [Token::Word(b"of") | Token::Sign(b'}' | b'.'), _]
        | [Token::Sign(b'+'), Token::Sign(b'+')]
        | [Token::Sign(b'-'), Token::Sign(b'-')] => None,
        // That a value is there is said behind it.
        [Token::Sign(b'!'), Token::Word(_) | Token::Sign(b')' | b']')] if has_types => None,
        [Token::Word(word), _] => Some(takes_value(word)),
        [Token::Sign(b')'), _] => match parentheses {
            List::Control => Some(true),
            List::Call => Some(false),
            List::Unknown => None,
        },
        [Token::Sign(_) | Token::Nothing | Token::Arrow, _] => Some(true),
    }
}

/// Tells whether an angle bracket may start an element, in which text is no part of the language.
pub(super) fn may_be_element(last: [Token<'_>; 2], parentheses: List, next: Option<&u8>) -> bool {
    if !next.is_some_and(|next| next.is_ascii_alphabetic() || b"_$>!".contains(next) || !next.is_ascii()) {
        return false;
    }
    match last {
        [Token::Word(_), Token::Sign(b'.')] | [Token::Text | Token::Sign(b']'), _] => false,
        [Token::Word(word), _] => takes_value(word) || word == b"default",
        [Token::Sign(b')'), _] => parentheses != List::Call,
        [Token::Sign(_) | Token::Nothing | Token::Arrow, _] => true,
    }
}

/// Finds the end of a regular expression; nothing where its line ends before.
pub(super) fn end_of_regex(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    let mut is_in_class = false;
    loop {
        match text.get(at)? {
            b'\n' => return None,
            b'\\' if text.get(at + 1) != Some(&b'\n') => at += 1,
            b'[' => is_in_class = true,
            b']' => is_in_class = false,
            b'/' if !is_in_class => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
}

/// What a piece of a template ends with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PieceEnd {
    Template,
    /// Something is put into it.
    Value,
}

/// Finds the end of a piece of a template.
pub(super) fn end_of_piece(text: &[u8], at: usize) -> Option<(usize, PieceEnd)> {
    let mut at = at;
    loop {
        let next = at + memchr3(b'`', b'\\', b'$', text.get(at..)?)?;
        at = match &text[next..] {
            [b'`', ..] => return Some((next + 1, PieceEnd::Template)),
            [b'$', b'{', ..] => return Some((next + 2, PieceEnd::Value)),
            [b'\\', ..] => next + 2,
            _ => next + 1,
        };
    }
}
