//! C and C++, where nothing that an outline shows is in a body. So to take braces in a body for braces around declarations
//! does no harm, and whatever is in doubt is taken for that.

use super::Bodies;
use super::braces::{Language, Level, Passed, Scan, Token, end_of_comment, end_of_quoted, find, word_at};
use super::directives::{Conditions, end_of_line, pass_directive};
use memchr::memmem;

#[cfg(feature = "code-c")]
pub(in crate::outline) const C: Bodies = Bodies { find: find::<Family<false>>, around: None };
/// In a class, braces with nothing in them would be a value.
#[cfg(feature = "code-cpp")]
pub(in crate::outline) const CPP: Bodies = Bodies { find: find::<Family<true>>, around: Some((b';', b';')) };

/// What stands in front of a list that is no list of parameters.
const ATTRIBUTES: [&[u8]; 6] =
    [b"__attribute__", b"__attribute", b"__declspec", b"alignas", b"_Alignas", b"__aligned"];

/// What was read of a declaration.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "any of them can be read beside the others")]
pub(super) struct Family<const IS_CPP: bool> {
    /// Whether what is at this level is no declaration.
    is_else: bool,
    /// The type or namespace by whose word it starts.
    of: Option<Of>,
    /// How many lists in parentheses it has.
    lists: u8,
    /// Whether what comes behind them is the type that a function gives.
    has_arrow: bool,
    /// Whether what comes is a value.
    is_value: bool,
    /// Whether what comes are the values that a constructor starts with.
    is_initialised: bool,
    /// Whether it has what is too hard to read.
    is_unsure: bool,
    /// How many angle brackets of a template are open.
    angles: u8,
}

#[derive(Debug, Clone, Copy)]
struct Of {
    word: Keyword,
    /// How many words came behind it.
    words: u8,
    /// Whether a list or colon is there that a function which gives such a type does not have.
    has_more: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keyword {
    /// It has declarations, and no function is declared by it.
    Scope,
    /// A function can give it.
    Type,
    /// The same, and it has no declarations.
    Enum,
}

impl<const IS_CPP: bool> Family<IS_CPP> {
    const ELSE: Self = Self {
        is_else: true,
        of: None,
        lists: 0,
        has_arrow: false,
        is_value: false,
        is_initialised: false,
        is_unsure: false,
        angles: 0,
    };

    fn start(&mut self, word: Keyword) {
        self.of = Some(Of { word, words: 0, has_more: self.lists > 0 });
    }
}

impl<const IS_CPP: bool> Language for Family<IS_CPP> {
    type File<'t> = Conditions<'t, Self>;

    fn pass<'t>(
        scan: &mut Scan<'t, Self>,
        conditions: &mut Conditions<'t, Self>,
        byte: u8,
    ) -> Option<Passed> {
        let (text, at) = (scan.text, scan.at);
        Some(match byte {
            b'/' if text[at..].starts_with(b"//") => Passed::Blank(end_of_line(text, at)),
            b'/' => end_of_comment(text, at)?.map_or(Passed::Nothing, Passed::Blank),
            b'"' if IS_CPP && is_raw(scan) => Passed::Token(Token::Text, end_of_raw(text, at)?),
            b'"' | b'\'' => Passed::Token(Token::Text, end_of_quoted(text, at)?),
            b'0'..=b'9' => Passed::Token(Token::Text, end_of_number(text, at)),
            b'#' if scan.is_new_line => Passed::Blank(pass_directive(scan, conditions)?),
            b':' if text.get(at + 1) == Some(&b':') => Passed::Token(Token::Nothing, at + 2),
            _ => Passed::Nothing,
        })
    }

    fn word(scan: &mut Scan<'_, Self>, word: &[u8]) {
        let last = scan.last[0];
        let head = scan.head();
        if head.is_else || head.angles > 0 {
            return;
        }
        match word {
            b"struct" | b"union" => {
                // As in `enum struct`.
                if !head.of.is_some_and(|of| of.word == Keyword::Enum && of.words == 0) {
                    head.start(Keyword::Type);
                }
            }
            b"enum" => head.start(Keyword::Enum),
            b"class" if IS_CPP && last == Token::Word(b"enum") => {}
            b"class" | b"namespace" if IS_CPP => head.start(Keyword::Scope),
            b"requires" if IS_CPP => head.is_unsure = true,
            b"operator" if IS_CPP => {
                let rest = scan.text.get(scan.at..).unwrap_or_default();
                let is_sign = |byte: &u8| byte.is_ascii_whitespace() || b"=<>!+-*/%^&|~,".contains(byte);
                scan.at += rest.iter().take_while(|byte| is_sign(byte)).count();
            }
            _ => {
                if let Some(of) = &mut head.of {
                    of.words = of.words.saturating_add(1);
                } else if !(head.is_initialised || head.has_arrow || is_behind_parameters(word)) {
                    // The lists before a name are those of a type or an attribute.
                    head.lists = 0;
                }
            }
        }
    }

    fn sign(scan: &mut Scan<'_, Self>, sign: u8) {
        let last = scan.last[0];
        let head = scan.head();
        if head.is_else {
            return;
        }
        match sign {
            b';' => scan.reset(),
            b'<' if IS_CPP && (head.angles > 0 || last == Token::Word(b"template")) => {
                head.angles = head.angles.saturating_add(1);
            }
            b'>' if head.angles == 0 && last == Token::Sign(b'-') => head.has_arrow |= head.lists > 0,
            b'>' if head.angles > 0 && last != Token::Sign(b'-') => head.angles -= 1,
            _ if head.angles > 0 => {}
            b'=' => head.is_value = true,
            b':' => match (last, &mut head.of) {
                (Token::Word(b"public" | b"private" | b"protected" | b"slots" | b"signals"), _) => {
                    scan.reset();
                }
                (_, Some(of)) => of.has_more = true,
                _ if head.lists > 0 => head.is_initialised = true,
                _ => scan.reset(),
            },
            _ => {}
        }
    }

    fn open(scan: &mut Scan<'_, Self>, bracket: u8) -> (bool, Self) {
        let [last, before] = scan.last;
        let head = scan.head();
        if bracket != b'{' || head.is_else || head.is_value || head.angles > 0 {
            return (false, Self::ELSE);
        }
        let is_behind_list = last == Token::Sign(b')');
        let is_body = match head.of {
            Some(of) if of.word == Keyword::Scope => false,
            // As in `struct a *b(int c) {`; other words are no part of a type that a list could belong to.
            Some(of) => is_behind_list && of.words >= 2 && !of.has_more && head.lists == 1,
            None if head.lists == 0 || head.is_unsure => false,
            None if matches!((last, before), (Token::Text, Token::Word(b"extern"))) => false,
            None if head.is_initialised => is_behind_list || matches!(last, Token::Sign(b'}' | b'.')),
            None => true,
        };
        let is_value = !is_body && head.of.is_none() && head.is_initialised;
        let is_enum = !is_body && head.of.is_some_and(|of| of.word == Keyword::Enum);
        (is_body, if is_body || is_value || is_enum { Self::ELSE } else { Self::default() })
    }

    fn close(scan: &mut Scan<'_, Self>, closed: &Level<'_, Self>) -> Option<()> {
        let head = scan.head();
        if head.is_else || head.angles > 0 {
            return Some(());
        }
        match closed.bracket {
            b'(' => {
                head.lists = head.lists.saturating_add(1);
                if let Some(of) = &mut head.of {
                    of.has_more |= of.words < 2
                        || !matches!(closed.before[0], Token::Word(word) if !ATTRIBUTES.contains(&word));
                }
            }
            b'{' if closed.is_body || !(head.is_value || (head.is_initialised && head.of.is_none())) => {
                scan.reset();
            }
            _ => {}
        }
        Some(())
    }
}

/// Tells whether a word stands between a list of parameters and the body; one in capitals is taken for such a macro.
fn is_behind_parameters(word: &[u8]) -> bool {
    matches!(word, b"const" | b"volatile" | b"noexcept" | b"override" | b"final" | b"try" | b"throw")
        || !word.iter().any(u8::is_ascii_lowercase)
}

/// Tells whether the string that starts where the scan is has a word before it that makes it a raw one.
fn is_raw<const IS_CPP: bool>(scan: &Scan<'_, Family<IS_CPP>>) -> bool {
    let Token::Word(word @ (b"R" | b"LR" | b"uR" | b"UR" | b"u8R")) = scan.last[0] else { return false };
    scan.text[..scan.at].ends_with(word)
}

fn end_of_raw(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at + 1..)?;
    let open = rest.iter().take(17).position(|byte| *byte == b'(')?;
    let end = [b")", &rest[..open], b"\""].concat();
    Some(at + 1 + open + memmem::find(&rest[open..], &end)? + end.len())
}

/// Finds the end of a number, which has a quote only between digits.
fn end_of_number(text: &[u8], at: usize) -> usize {
    let mut end = at;
    loop {
        end += word_at(text, end).len();
        match text.get(end..) {
            Some([b'.', ..]) => end += 1,
            Some([b'\'', next, ..]) if next.is_ascii_alphanumeric() => end += 1,
            _ => return end,
        }
    }
}
