use super::super::name_glob::Token;
use super::Fault;
use std::iter::Peekable;
use std::str::CharIndices;

/// How deep alternatives may stand in one another.
const DEEPEST: usize = 8;

/// One part of the text of a pattern.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    Token(Token),
    Slash,
    /// One of these.
    Alternatives(Vec<Vec<Self>>),
}

impl Part {
    pub(super) fn token(&self) -> Option<&Token> {
        match self {
            Self::Token(token) => Some(token),
            _ => None,
        }
    }

    pub(super) fn is_star(&self) -> bool {
        matches!(self, Self::Token(Token::Star))
    }
}

/// Reads the text of a pattern.
pub(super) fn read(text: &str) -> Result<Vec<Part>, Fault> {
    let mut lexer = Lexer { text, characters: text.char_indices().peekable(), depth: 0 };
    let parts = lexer.parts()?;
    match lexer.characters.next() {
        None => Ok(parts),
        Some((at, _)) => {
            Err(Fault::new(at..at + 1, "`}` without a `{`; open it, or write `\\}` for the character itself"))
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    characters: Peekable<CharIndices<'a>>,
    depth: usize,
}

impl Lexer<'_> {
    /// Reads up to the end, or in alternatives up to the `,` or `}` that ends one.
    fn parts(&mut self) -> Result<Vec<Part>, Fault> {
        let mut parts = Vec::new();
        while let Some(&(at, character)) = self.characters.peek() {
            if character == '}' || (character == ',' && self.depth > 0) {
                break;
            }
            self.characters.next();
            parts.push(match character {
                '/' => Part::Slash,
                '*' => Part::Token(Token::Star),
                '?' => Part::Token(Token::One),
                '[' => Part::Token(self.class(at)?),
                '{' => self.alternatives(at)?,
                '\\' => Part::Token(Token::Char(self.escaped(at)?)),
                '\0' => return Err(Fault::new(at..at + 1, "no path has a NUL in it; leave it out")),
                character => Part::Token(Token::Char(character)),
            });
        }
        Ok(parts)
    }

    fn alternatives(&mut self, open: usize) -> Result<Part, Fault> {
        if self.depth == DEEPEST {
            return Err(Fault::new(
                open..open + 1,
                "alternatives stand too deep in one another; write several rules",
            ));
        }
        self.depth += 1;
        let mut alternatives = vec![self.parts()?];
        loop {
            match self.characters.next() {
                Some((_, ',')) => alternatives.push(self.parts()?),
                Some(_) => break,
                None => {
                    let reason = "`{` without a `}`; close it, or write `\\{` for the character itself";
                    return Err(Fault::new(open..open + 1, reason));
                }
            }
        }
        self.depth -= 1;
        Ok(Part::Alternatives(alternatives))
    }

    /// Reads what stands behind a `\`. A letter needs none: who writes one means a directory of another system.
    fn escaped(&mut self, at: usize) -> Result<char, Fault> {
        match self.characters.next() {
            None => Err(Fault::new(
                at..at + 1,
                "`\\` with nothing behind it; leave it out, or write `\\\\` for the character itself",
            )),
            Some((next, character)) if character.is_alphanumeric() || matches!(character, '/' | '\0') => {
                let reason =
                    "`\\` escapes nothing here; write `/` between names, or `\\\\` for the character itself";
                Err(Fault::new(at..next + character.len_utf8(), reason))
            }
            Some((_, character)) => Ok(character),
        }
    }

    fn class(&mut self, open: usize) -> Result<Token, Fault> {
        let negated = self.characters.next_if(|(_, character)| matches!(character, '!' | '^')).is_some();
        let mut ranges = Vec::new();
        let mut is_first = true;
        loop {
            let Some((at, character)) = self.characters.next() else {
                let reason = "`[` without a `]`; close it, or write `\\[` for the character itself";
                return Err(Fault::new(open..open + 1, reason));
            };
            if character == ']' && !is_first {
                return Ok(Token::Class { negated, ranges });
            }
            is_first = false;
            if character == '['
                && self.characters.peek().is_some_and(|(_, next)| matches!(next, ':' | '.' | '='))
            {
                let reason = "named classes are not known here; write the characters, as in `[a-zA-Z]`";
                return Err(Fault::new(at..at + 2, reason));
            }
            let first = self.member(at, character)?;
            let mut last = first;
            if self.is_range() {
                self.characters.next();
                if let Some((at, character)) = self.characters.next() {
                    last = self.member(at, character)?;
                    if last < first {
                        let reason =
                            format!("the range `{first}-{last}` holds nothing; write `{last}-{first}`");
                        return Err(Fault::new(open..at + character.len_utf8(), reason));
                    }
                }
            }
            ranges.push((first, last));
        }
    }

    /// Tells whether a `-` comes that does not stand before the closing `]`.
    fn is_range(&mut self) -> bool {
        let Some(&(at, '-')) = self.characters.peek() else { return false };
        !self.text[at + 1..].starts_with(']')
    }

    /// Reads one character of a class.
    fn member(&mut self, at: usize, character: char) -> Result<char, Fault> {
        match character {
            '\\' => self.escaped(at),
            '/' | '\0' => {
                let reason = "a `[..]` stands for one character of a name; close it before the `/`";
                Err(Fault::new(at..at + 1, reason))
            }
            character => Ok(character),
        }
    }
}
