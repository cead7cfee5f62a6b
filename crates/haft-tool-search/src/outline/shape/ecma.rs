//! JavaScript and TypeScript, where functions are defined anywhere.

mod before;
mod literal;

use super::Bodies;
use super::braces::{
    Language, Level, Passed, Scan, Token, end_of_comment, end_of_quoted, find, next_word, word_at,
};
use before::{Before, List, is_before_braces, is_between_types, starts_statement};
use literal::{PieceEnd, end_of_piece, end_of_regex, may_be_element, may_be_regex};
use memchr::{memchr, memrchr};

#[cfg(feature = "code-javascript")]
pub(in crate::outline) const JAVASCRIPT: Bodies = Bodies { find: find::<Ecma<false, true>>, around: None };
#[cfg(feature = "code-typescript")]
pub(in crate::outline) const TYPESCRIPT: Bodies = Bodies { find: find::<Ecma<true, false>>, around: None };
#[cfg(feature = "code-typescript")]
pub(in crate::outline) const TSX: Bodies = Bodies { find: find::<Ecma<true, true>>, around: None };

/// What was read at a level, in a language that has types or elements of JSX.
#[derive(Debug, Clone, Default)]
pub(super) struct Ecma<const TYPES: bool, const ELEMENTS: bool> {
    /// Whether the level is the members of a class.
    is_class: bool,
    /// Whether what is in it belongs to a function that is shown, so that variables are not.
    is_local: bool,
    /// Whether it is the body of a function that is shown if it is all of a value.
    is_value: bool,
    /// What was begun and has no braces yet.
    begun: Begun,
    /// What the last list in parentheses belongs to.
    list: List,
    /// What the function is a value of whose parameters the last list may be.
    before_list: Before,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Begun {
    #[default]
    Nothing,
    Class,
    /// A function whose parameters have not come.
    Function(Shown),
    /// A function or method of which only the body or type is to come.
    Parameters(Shown),
    /// A function or method in the type that it gives.
    Type(Shown),
}

/// Whether a function is one that is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Shown {
    #[default]
    No,
    Yes,
    /// If it is all of a value, and not called at once.
    Alone,
}

impl<const TYPES: bool, const ELEMENTS: bool> Language for Ecma<TYPES, ELEMENTS> {
    type File<'t> = ();

    fn pass(scan: &mut Scan<'_, Self>, (): &mut (), byte: u8) -> Option<Passed> {
        let (text, at) = (scan.text, scan.at);
        Some(match byte {
            b'/' => match end_of_comment(text, at)? {
                Some(end) => {
                    keep_comment(scan, end);
                    Passed::Blank(end)
                }
                None if may_be_regex(scan.last, scan.head().list, TYPES)? => {
                    Passed::Token(Token::Text, end_of_regex(text, at)?)
                }
                None => Passed::Nothing,
            },
            b'"' | b'\'' => Passed::Token(Token::Text, end_of_quoted(text, at)?),
            b'`' => {
                let (token, end) = pass_template(scan, at + 1)?;
                Passed::Token(token, end)
            }
            b'=' if text[at..].starts_with(b"=>") => {
                arrow(scan);
                Passed::Token(Token::Arrow, at + 2)
            }
            b'#' if at == 0 && text.starts_with(b"#!") => {
                Passed::Blank(memchr(b'\n', text).unwrap_or(text.len()))
            }
            b'<' if ELEMENTS && may_be_element(scan.last, scan.head().list, text.get(at + 1)) => return None,
            // A name that is written with an escape.
            b'\\' => return None,
            _ => Passed::Nothing,
        })
    }

    fn word(scan: &mut Scan<'_, Self>, word: &[u8]) {
        let [last, before] = scan.last;
        if last == Token::Sign(b'.') {
            return;
        }
        let is_new_line = scan.is_new_line;
        let head = scan.head();
        match head.begun {
            Begun::Parameters(_) => head.begun = Begun::Nothing,
            Begun::Type(_) if is_new_line && !is_between_types(last) => head.begun = Begun::Nothing,
            _ => {}
        }
        let is_local = head.is_local;
        let defines = match word {
            b"function" => {
                let rest = scan.text.get(scan.at..).unwrap_or_default();
                let star =
                    rest.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b'*').count();
                let is_named = !next_word(rest, star).is_empty();
                let front = if last == Token::Word(b"async") { [before, Token::Nothing] } else { scan.last };
                let front_is = Before::of(front);
                scan.head().begun = Begun::Function(match front_is {
                    Before::Name => Shown::Alone,
                    _ if is_named && starts_statement(front[0]) => Shown::Yes,
                    _ => Shown::No,
                });
                front_is != Before::Argument
            }
            b"class" => {
                scan.head().begun = Begun::Class;
                true
            }
            b"const" | b"let" | b"var" => !is_local,
            b"interface" | b"type" | b"enum" | b"namespace" | b"declare" | b"abstract" if TYPES => {
                !next_word(scan.text, scan.at).is_empty()
            }
            b"module" if TYPES => {
                let next = scan.text[scan.at..].iter().find(|byte| !byte.is_ascii_whitespace());
                next.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_$'\"".contains(byte))
            }
            _ => false,
        };
        scan.level().defines |= defines;
    }

    fn sign(scan: &mut Scan<'_, Self>, sign: u8) {
        let head = scan.head();
        head.begun = match (head.begun, sign) {
            (Begun::Parameters(shown), b':') if TYPES => Begun::Type(shown),
            (Begun::Parameters(_), _) | (_, b';') | (Begun::Class, b':') | (Begun::Type(_), b'=') => {
                Begun::Nothing
            }
            (begun, _) => begun,
        };
    }

    fn open(scan: &mut Scan<'_, Self>, bracket: u8) -> (bool, Self) {
        let [last, _] = scan.last;
        let is_new_line = scan.is_new_line;
        let Self { is_local, begun, list, before_list, .. } = *scan.head();
        let inside = |is_local| Self { is_local, ..Self::default() };
        if bracket != b'{' {
            return (false, inside(is_local));
        }
        let (is_body, shown) = match (begun, last) {
            (Begun::Class, _) if !is_between_types(last) => {
                scan.head().begun = Begun::Nothing;
                return (false, Self { is_class: true, ..Self::default() });
            }
            (Begun::Type(_), _) if is_between_types(last) => return (false, inside(is_local)),
            (Begun::Type(shown) | Begun::Parameters(shown), _) => {
                scan.head().begun = Begun::Nothing;
                (true, shown)
            }
            (_, Token::Arrow) => {
                // The parser may take a label for the name of a member.
                let is_body = !starts_with_label(scan.text, scan.at + 1);
                (is_body, if before_list == Before::Name { Shown::Yes } else { Shown::No })
            }
            (Begun::Nothing, Token::Sign(b')')) if list != List::Control => {
                // A method of an object; on another line it may be a block behind a call.
                let is_method = list == List::Call && !is_new_line;
                scan.level().defines = true;
                (is_method, if is_method { Shown::Yes } else { Shown::No })
            }
            // It may be the type that a method of an object gives.
            (Begun::Nothing, Token::Sign(b'>' | b']' | b'}') | Token::Text) if TYPES => {
                scan.level().defines = true;
                (false, Shown::No)
            }
            (Begun::Nothing, Token::Word(word)) if TYPES && !is_before_braces(word) => {
                scan.level().defines = true;
                (false, Shown::No)
            }
            _ => (false, Shown::No),
        };
        let is_value = shown == Shown::Alone;
        (is_body, Self { is_value, ..inside(is_local || shown != Shown::No) })
    }

    fn keeps(scan: &Scan<'_, Self>, closed: &Level<'_, Self>) -> bool {
        let rest = scan.text.get(scan.at + 1..).unwrap_or_default();
        let next = rest.trim_ascii_start();
        let is_end = next.first().is_none_or(|next| b";,)}]".contains(next));
        let is_other_line = rest[..rest.len() - next.len()].contains(&b'\n');
        closed.head.is_value && !is_end && (!is_other_line || word_at(next, 0).is_empty())
    }

    fn close(scan: &mut Scan<'_, Self>, closed: &Level<'_, Self>) -> Option<()> {
        match closed.bracket {
            b'(' => {
                let list = List::of(closed.before, scan.level());
                let front = match closed.before {
                    [Token::Word(b"async"), before] => [before, Token::Nothing],
                    before => before,
                };
                let head = scan.head();
                head.list = list;
                head.before_list = Before::of(front);
                head.begun = match head.begun {
                    Begun::Function(shown) => Begun::Parameters(shown),
                    Begun::Nothing if head.is_class && head.before_list == Before::Other => {
                        Begun::Parameters(Shown::Yes)
                    }
                    begun => begun,
                };
            }
            b'$' => (scan.last[0], scan.at) = pass_template(scan, scan.at)?,
            _ => {}
        }
        Some(())
    }
}

/// Tells whether what begins here may be a label.
fn starts_with_label(text: &[u8], at: usize) -> bool {
    let start = pass_blank(text, at);
    let name = word_at(text, start);
    !name.is_empty() && text.get(pass_blank(text, start + name.len())) == Some(&b':')
}

/// Passes blank space and comments.
fn pass_blank(text: &[u8], mut at: usize) -> usize {
    loop {
        at += text.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        match end_of_comment(text, at) {
            Some(Some(end)) => at = end,
            _ => return at,
        }
    }
}

/// An arrow was read: tells whether what it makes has a name.
fn arrow<const TYPES: bool, const ELEMENTS: bool>(scan: &mut Scan<'_, Ecma<TYPES, ELEMENTS>>) {
    let [last, before] = scan.last;
    let head = scan.head();
    if let Begun::Parameters(_) = head.begun {
        head.begun = Begun::Nothing;
    }
    let front = match last {
        Token::Sign(b')') => head.before_list,
        Token::Word(_) => Before::of([before, Token::Nothing]),
        _ => Before::Other,
    };
    // Behind a type that is given, it is not known what the parameters are a value of.
    head.before_list = front;
    scan.level().defines |= front != Before::Argument;
}

/// Keeps the comment on the first line of a body, without which what stands on that line would be shown with it.
fn keep_comment<L: Language>(scan: &mut Scan<'_, L>, end: usize) {
    let (text, at) = (scan.text, scan.at);
    let line = memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
    let mut is_first = true;
    for level in scan.open.iter_mut().rev().take_while(|level| level.start >= line) {
        if level.is_body && is_first && text[level.start..at].trim_ascii().is_empty() {
            level.start = end;
        } else {
            level.defines |= level.is_body;
        }
        is_first = false;
    }
}

/// Passes what is in a template up to its end or what is put into it.
fn pass_template<const TYPES: bool, const ELEMENTS: bool>(
    scan: &mut Scan<'_, Ecma<TYPES, ELEMENTS>>,
    at: usize,
) -> Option<(Token<'static>, usize)> {
    let (end, piece) = end_of_piece(scan.text, at)?;
    if piece == PieceEnd::Template {
        return Some((Token::Text, end));
    }
    let is_local = scan.head().is_local;
    scan.enter(b'$', end, false, Ecma { is_local, ..Ecma::default() })?;
    Some((Token::Sign(b'('), end))
}
