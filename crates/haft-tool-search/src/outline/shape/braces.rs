//! How bodies are found in languages that write them in braces; each says what it has instead of what is common here.

use super::is_of_word;
use memchr::{memchr, memchr3, memmem};
use std::ops::Range;

/// How many brackets can be open at once.
const DEEPEST: usize = 1 << 10;

/// What a language knows of what was read at one level of brackets, and how it tells what opens a body.
pub(super) trait Language: Clone + Default {
    /// What it knows of the file as a whole.
    type File<'t>: Default;

    /// Reads what is no word, bracket or sign by itself; nothing where it has no end, or it cannot be told what it is.
    fn pass<'t>(scan: &mut Scan<'t, Self>, file: &mut Self::File<'t>, byte: u8) -> Option<Passed>;

    /// A word was read, up to where the scan is.
    fn word(scan: &mut Scan<'_, Self>, word: &[u8]);

    /// A sign is read that is no bracket.
    fn sign(_: &mut Scan<'_, Self>, _: u8) {}

    /// A bracket opens. Tells whether that is a body, and what is known of what is in it.
    fn open(scan: &mut Scan<'_, Self>, bracket: u8) -> (bool, Self);

    /// Tells whether a body that is about to be closed is not what it was taken for, so that it stays with all that is in it.
    fn keeps(_: &Scan<'_, Self>, _: &Level<'_, Self>) -> bool {
        false
    }

    /// A bracket was closed that was opened at this level; nothing where it cannot be told how to go on.
    fn close(scan: &mut Scan<'_, Self>, closed: &Level<'_, Self>) -> Option<()>;
}

/// What was read before a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Nothing,
    /// A word of the language, a name or a number.
    Word(&'t [u8]),
    /// A string, a character or the like.
    Text,
    Sign(u8),
    /// `=>`
    Arrow,
}

/// What a language read by itself.
pub(super) enum Passed {
    Nothing,
    /// A comment or what is like one, with where it ends.
    Blank(usize),
    Token(Token<'static>, usize),
}

/// What is in a bracket that is open, or the whole file.
#[derive(Debug, Clone)]
pub(super) struct Level<'t, L> {
    pub(super) bracket: u8,
    /// Where what is in it starts.
    pub(super) start: usize,
    /// The last two tokens before it, the later one first.
    pub(super) before: [Token<'t>; 2],
    pub(super) is_body: bool,
    /// Whether something may be defined in it.
    pub(super) defines: bool,
    /// How many bodies had been found before it.
    found: usize,
    pub(super) head: L,
}

/// Where a scan is.
pub(super) struct Scan<'t, L: Language> {
    pub(super) text: &'t [u8],
    pub(super) at: usize,
    /// The last two tokens, the later one first.
    pub(super) last: [Token<'t>; 2],
    /// Whether a line ended since the last token.
    pub(super) is_new_line: bool,
    /// The brackets that are open.
    pub(super) open: Vec<Level<'t, L>>,
    /// What is around them.
    root: Level<'t, L>,
    found: Vec<Range<usize>>,
}

/// Finds the insides of functions in which nothing is defined.
pub(super) fn find<L: Language>(text: &[u8]) -> Option<Vec<Range<usize>>> {
    let root = Level {
        bracket: 0,
        start: 0,
        before: [Token::Nothing; 2],
        is_body: false,
        defines: false,
        found: 0,
        head: L::default(),
    };
    let mut scan = Scan {
        text,
        at: 0,
        last: [Token::Nothing; 2],
        is_new_line: true,
        open: Vec::new(),
        root,
        found: Vec::new(),
    };
    let mut file = L::File::default();
    while let Some(&byte) = text.get(scan.at) {
        scan.step(&mut file, byte)?;
    }
    scan.open.is_empty().then_some(scan.found)
}

impl<'t, L: Language> Scan<'t, L> {
    /// The level that the scan is at.
    pub(super) fn level(&mut self) -> &mut Level<'t, L> {
        self.open.last_mut().unwrap_or(&mut self.root)
    }

    pub(super) fn head(&mut self) -> &mut L {
        &mut self.level().head
    }

    /// Forgets what was read at this level.
    pub(super) fn reset(&mut self) {
        *self.head() = L::default();
    }

    /// Goes a level deeper; nothing where that is too deep.
    pub(super) fn enter(&mut self, bracket: u8, start: usize, is_body: bool, head: L) -> Option<()> {
        if self.open.len() >= DEEPEST {
            return None;
        }
        let level = Level {
            bracket,
            start,
            before: self.last,
            is_body,
            defines: false,
            found: self.found.len(),
            head,
        };
        self.open.push(level);
        Some(())
    }

    fn step(&mut self, file: &mut L::File<'t>, byte: u8) -> Option<()> {
        if byte.is_ascii_whitespace() {
            self.is_new_line |= byte == b'\n';
            self.at += 1;
            return Some(());
        }
        match L::pass(self, file, byte)? {
            Passed::Nothing => {}
            Passed::Blank(end) => {
                self.is_new_line |= memchr(b'\n', self.text.get(self.at..end)?).is_some();
                self.at = end;
                return Some(());
            }
            Passed::Token(token, end) => {
                self.at = end;
                self.shift(token);
                return Some(());
            }
        }
        if is_of_name(byte) {
            let word = word_at(self.text, self.at);
            self.at += word.len();
            L::word(self, word);
            self.shift(Token::Word(word));
            return Some(());
        }
        match byte {
            b'(' | b'[' | b'{' => {
                let (is_body, head) = L::open(self, byte);
                self.enter(byte, self.at + 1, is_body, head)?;
                self.shift(Token::Sign(byte));
                self.at += 1;
            }
            b')' | b']' | b'}' => self.close(byte)?,
            _ => {
                L::sign(self, byte);
                self.shift(Token::Sign(byte));
                self.at += 1;
            }
        }
        Some(())
    }

    fn close(&mut self, byte: u8) -> Option<()> {
        let closed = self.open.pop()?;
        if !matches!((closed.bracket, byte), (b'(', b')') | (b'[', b']') | (b'{' | b'$', b'}')) {
            return None;
        }
        if closed.is_body && L::keeps(self, &closed) {
            self.found.truncate(closed.found);
            self.level().defines = true;
        } else if closed.defines {
            self.level().defines = true;
        } else if closed.is_body {
            let inside = self.text.get(closed.start..self.at)?;
            let start = self.at - inside.trim_ascii_start().len();
            let end = closed.start + inside.trim_ascii_end().len();
            // There has to be room for what stands around what is taken out.
            if start + 2 <= end {
                // What was found in it is a part of it.
                self.found.truncate(closed.found);
                self.found.push(start..end);
            }
        }
        self.shift(Token::Sign(byte));
        self.at += 1;
        L::close(self, &closed)
    }

    fn shift(&mut self, token: Token<'t>) {
        self.last = [token, self.last[0]];
        self.is_new_line = false;
    }
}

fn is_of_name(byte: u8) -> bool {
    is_of_word(byte) || byte == b'$'
}

/// The word that starts at a place; empty where none does.
pub(super) fn word_at(text: &[u8], at: usize) -> &[u8] {
    let rest = text.get(at..).unwrap_or_default();
    let end = rest.iter().position(|byte| !is_of_name(*byte)).unwrap_or(rest.len());
    &rest[..end]
}

/// The word that comes next, behind blank space; empty where something else does.
pub(super) fn next_word(text: &[u8], at: usize) -> &[u8] {
    let rest = text.get(at..).unwrap_or_default();
    let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    word_at(text, at + blank)
}

/// Finds the end of a comment of either kind that starts at a place; nothing where it has none.
#[expect(clippy::option_option, reason = "that none starts here is not that one does not end")]
pub(super) fn end_of_comment(text: &[u8], at: usize) -> Option<Option<usize>> {
    let rest = text.get(at..)?;
    let end = match rest {
        [b'/', b'/', ..] => at + memchr(b'\n', rest).unwrap_or(rest.len()),
        [b'/', b'*', ..] => at + 2 + memmem::find(&rest[2..], b"*/")? + 2,
        _ => return Some(None),
    };
    Some(Some(end))
}

/// Finds the end of what starts with a quote and goes on to the next that no backslash is before; nothing where its line ends.
pub(super) fn end_of_quoted(text: &[u8], at: usize) -> Option<usize> {
    let quote = *text.get(at)?;
    let mut at = at + 1;
    loop {
        let next = at + memchr3(quote, b'\\', b'\n', text.get(at..)?)?;
        match text[next] {
            b'\n' => return None,
            b'\\' if text[next..].starts_with(b"\\\r\n") => at = next + 3,
            b'\\' => at = next + 2,
            _ => return Some(next + 1),
        }
    }
}
