use super::Bodies;
use super::braces::{Language, Level, Passed, Scan, Token, end_of_comment, end_of_quoted, find};
use memchr::memchr;

pub(in crate::outline) const GO: Bodies = Bodies { find: find::<Go>, around: None };

#[derive(Clone, Default)]
struct Go {
    /// Whether a function was named whose body has not come.
    is_function: bool,
}

impl Language for Go {
    type File<'t> = ();

    fn pass(scan: &mut Scan<'_, Self>, (): &mut (), byte: u8) -> Option<Passed> {
        // A line that ends behind a whole type or list of parameters ends what it is in.
        if scan.is_new_line
            && scan.open.is_empty()
            && !matches!(scan.last[0], Token::Sign(b'(' | b'[' | b'{'))
        {
            scan.reset();
        }
        let end = match byte {
            b'/' => return Some(end_of_comment(scan.text, scan.at)?.map_or(Passed::Nothing, Passed::Blank)),
            b'"' | b'\'' => end_of_quoted(scan.text, scan.at)?,
            b'`' => scan.at + 1 + memchr(b'`', scan.text.get(scan.at + 1..)?)? + 1,
            _ => return Some(Passed::Nothing),
        };
        Some(Passed::Token(Token::Text, end))
    }

    fn word(scan: &mut Scan<'_, Self>, word: &[u8]) {
        match word {
            // `x.(type)` asks for a type.
            b"type" if scan.last[0] != Token::Sign(b'(') => scan.level().defines = true,
            // What a variable of such a type has is shown wherever that is.
            b"interface" if !is_empty(scan.text, scan.at) => scan.level().defines = true,
            b"func" if scan.is_new_line && scan.open.is_empty() => scan.head().is_function = true,
            _ => {}
        }
    }

    fn open(scan: &mut Scan<'_, Self>, bracket: u8) -> (bool, Self) {
        let is_type = matches!(scan.last[0], Token::Word(b"struct" | b"interface"));
        (bracket == b'{' && !is_type && std::mem::take(&mut scan.head().is_function), Self::default())
    }

    fn close(_: &mut Scan<'_, Self>, _: &Level<'_, Self>) -> Option<()> {
        Some(())
    }
}

/// Tells whether braces come next that have nothing in them.
fn is_empty(text: &[u8], at: usize) -> bool {
    let mut rest = text.get(at..).unwrap_or_default().iter().filter(|byte| !byte.is_ascii_whitespace());
    rest.next() == Some(&b'{') && rest.next() == Some(&b'}')
}
