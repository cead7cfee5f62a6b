//! What is told by what stands before a place.

use super::super::braces::{Level, Token};

/// What a function without a name is a value of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Before {
    /// What it is given to, which has a name.
    Name,
    /// It is an argument or the like, and nothing has its name.
    Argument,
    #[default]
    Other,
}

impl Before {
    /// Tells it by the last two tokens, the later one first.
    pub(super) fn of(last: [Token<'_>; 2]) -> Self {
        match last {
            [Token::Sign(b'='), Token::Word(b"export")] => Self::Other,
            [Token::Sign(b'='), _] => Self::Name,
            [Token::Sign(b'(' | b',' | b'[') | Token::Word(b"return") | Token::Arrow, _] => Self::Argument,
            _ => Self::Other,
        }
    }
}

/// What a list in parentheses belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum List {
    /// `if` or the like, behind which a statement comes.
    Control,
    /// A name or value, which is called or a method.
    Call,
    /// It cannot be told.
    #[default]
    Unknown,
}

impl List {
    /// Tells it by the two tokens before it, the later one first, and what it is in.
    pub(super) fn of<L>(last: [Token<'_>; 2], level: &Level<'_, L>) -> Self {
        match last {
            [Token::Word(b"if" | b"for" | b"while" | b"switch" | b"with"), before] => match before {
                Token::Sign(b',' | b'*' | b'.' | b'#')
                | Token::Word(b"get" | b"set" | b"async" | b"static") => Self::Unknown,
                Token::Sign(b'{') if !is_block(level) => Self::Unknown,
                _ => Self::Control,
            },
            [Token::Word(b"catch"), Token::Sign(b'}')] | [Token::Word(b"await"), Token::Word(b"for")] => {
                Self::Control
            }
            [Token::Word(b"catch" | b"await"), _] => Self::Unknown,
            _ => Self::Call,
        }
    }
}

/// Tells whether a level is one of statements and not an object; where in doubt, that it is not.
fn is_block<L>(level: &Level<'_, L>) -> bool {
    level.is_body
        || matches!(
            level.before[0],
            Token::Sign(b')' | b';' | b'{') | Token::Word(b"else" | b"do" | b"try" | b"finally")
        )
}

/// Tells whether a type goes on behind a token.
pub(super) fn is_between_types(last: Token<'_>) -> bool {
    match last {
        Token::Sign(sign) => !matches!(sign, b'>' | b']' | b'}' | b')'),
        Token::Arrow => true,
        Token::Word(word) => matches!(
            word,
            b"is"
                | b"extends"
                | b"implements"
                | b"keyof"
                | b"infer"
                | b"unique"
                | b"readonly"
                | b"asserts"
                | b"typeof"
                | b"in"
                | b"as"
        ),
        Token::Text | Token::Nothing => false,
    }
}

/// Tells whether the function that starts behind a token is a statement.
pub(super) fn starts_statement(last: Token<'_>) -> bool {
    match last {
        Token::Nothing | Token::Text | Token::Sign(b';' | b'}' | b'{' | b')' | b']') => true,
        Token::Word(word) => word == b"else" || word == b"do" || !takes_value(word),
        Token::Sign(_) | Token::Arrow => false,
    }
}

/// Tells whether a value comes behind a word, which otherwise is a name or a value itself.
pub(super) fn takes_value(word: &[u8]) -> bool {
    matches!(
        word,
        b"return"
            | b"typeof"
            | b"case"
            | b"in"
            | b"of"
            | b"delete"
            | b"void"
            | b"throw"
            | b"new"
            | b"else"
            | b"do"
            | b"instanceof"
            | b"await"
            | b"yield"
            | b"extends"
    )
}

/// Tells whether braces behind a word are a block or an object, and the word no type that a method gives.
pub(super) fn is_before_braces(word: &[u8]) -> bool {
    (takes_value(word) && word != b"void")
        || matches!(
            word,
            b"try"
                | b"finally"
                | b"catch"
                | b"default"
                | b"export"
                | b"import"
                | b"const"
                | b"let"
                | b"var"
                | b"static"
                | b"as"
                | b"satisfies"
        )
}
