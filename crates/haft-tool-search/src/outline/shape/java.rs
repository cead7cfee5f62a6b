use super::Bodies;
use super::braces::{Language, Level, Passed, Scan, Token, end_of_comment, end_of_quoted, find, next_word};
use memchr::{memchr, memmem};

pub(in crate::outline) const JAVA: Bodies = Bodies { find: find::<Java>, around: None };

/// What was read of a member of a type.
#[derive(Clone, Default)]
struct Java {
    /// Where the level is.
    place: Place,
    /// The type that the member is, which has members itself.
    is_type: Option<Place>,
    /// Whether it has a list of parameters, or the values of an annotation.
    has_list: bool,
    /// Whether what comes is a value.
    is_value: bool,
}

/// What is at a level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    /// Members of a type, or types of a file.
    #[default]
    Members,
    /// The constants of an enum, up to a semicolon.
    Constants,
    /// Anything else.
    Else,
}

impl Java {
    fn of(place: Place) -> Self {
        Self { place, ..Self::default() }
    }
}

impl Language for Java {
    type File<'t> = ();

    fn pass(scan: &mut Scan<'_, Self>, (): &mut (), byte: u8) -> Option<Passed> {
        let end = match byte {
            b'/' => return Some(end_of_comment(scan.text, scan.at)?.map_or(Passed::Nothing, Passed::Blank)),
            b'"' if scan.text[scan.at..].starts_with(b"\"\"\"") => end_of_block(scan.text, scan.at)?,
            b'"' | b'\'' => end_of_quoted(scan.text, scan.at)?,
            _ => return Some(Passed::Nothing),
        };
        Some(Passed::Token(Token::Text, end))
    }

    fn word(scan: &mut Scan<'_, Self>, word: &[u8]) {
        let place = match word {
            _ if scan.last[0] == Token::Sign(b'.') => return,
            b"class" | b"interface" => Place::Members,
            b"enum" => Place::Constants,
            // It can also be the name of a method or variable.
            b"record" if !next_word(scan.text, scan.at).is_empty() => Place::Members,
            // What a value of an annotation is where none is given; before a method it is only a modifier.
            b"default" => {
                let head = scan.head();
                head.is_value |= head.has_list;
                return;
            }
            _ => return,
        };
        let level = scan.level();
        level.defines = true;
        level.head.is_type = Some(place);
    }

    fn sign(scan: &mut Scan<'_, Self>, sign: u8) {
        let head = scan.head();
        match sign {
            b';' => {
                let is_else = head.place == Place::Else;
                *head = Self::of(if is_else { Place::Else } else { Place::Members });
            }
            b'=' => head.is_value = true,
            _ => {}
        }
    }

    fn open(scan: &mut Scan<'_, Self>, bracket: u8) -> (bool, Self) {
        let head = scan.head();
        let else_ = (false, Self::of(Place::Else));
        match (bracket, head.place) {
            (b'(', _) => {
                head.has_list = true;
                else_
            }
            (b'{', Place::Constants) => (false, Self::of(Place::Members)),
            (b'{', Place::Members) if !head.is_value => match head.is_type {
                Some(place) => (false, Self::of(place)),
                None if head.has_list => (true, Self::of(Place::Else)),
                None => else_,
            },
            _ => else_,
        }
    }

    fn close(scan: &mut Scan<'_, Self>, closed: &Level<'_, Self>) -> Option<()> {
        let head = scan.head();
        if closed.bracket == b'{' && !head.is_value {
            *head = Self::of(head.place);
        }
        Some(())
    }
}

/// Finds the end of a text of several lines.
fn end_of_block(text: &[u8], at: usize) -> Option<usize> {
    const QUOTES: &[u8] = b"\"\"\"";
    let mut at = at + QUOTES.len();
    loop {
        let end = at + memmem::find(text.get(at..)?, QUOTES)?;
        match memchr(b'\\', &text[at..end]) {
            Some(escape) => at += escape + 2,
            None => return Some(end + QUOTES.len()),
        }
    }
}
