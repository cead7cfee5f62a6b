use super::{Unreadable, ends_word, expansion};

/// What is known of one word.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Scanned {
    /// Its value if nothing in it expands; otherwise what is known to stand at its beginning.
    pub(crate) text: String,
    pub(crate) is_literal: bool,
    /// Whether it can become several words, or none.
    pub(crate) splits: bool,
    /// Whether all that expands in it are patterns of file names and braces.
    pub(crate) is_pattern: bool,
    /// The scripts that are run to expand it.
    pub(crate) scripts: Vec<String>,
    /// What in it can run commands that do not stand there.
    pub(crate) hazard: Option<&'static str>,
    pub(crate) failure: Failure,
}

/// What becomes of a script if a word in it cannot be expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Failure {
    /// The word always can be.
    #[default]
    None,
    /// It ends, with a failure: `${x?}`.
    EndsScript,
    /// It goes on behind the line, as far as that is not part of a longer command: `$((1/0))`.
    SkipsLine,
}

/// Reads one word.
pub(super) struct Scan<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// How many substitutions this stands in.
    pub(super) nested: usize,
    /// What `~` stands for, if that is known.
    pub(super) home: Option<&'a str>,
    pub(super) word: Scanned,
    /// Whether something that expands was met, so that what follows is no longer at the beginning.
    expands: bool,
    /// Where the first `[` and `{` that are not quoted stand, and how much of the beginning was known there.
    openers: [Option<(usize, usize)>; 2],
}

/// Reads the word that starts at `at`, and returns where it ends.
///
/// ```text
/// "a b"'c'\$   is the literal word `a bc$`
/// src/$X       begins with `src/`
/// ```
pub(crate) fn scan(
    text: &str,
    at: usize,
    nested: usize,
    home: Option<&str>,
) -> Result<(Scanned, usize), Unreadable> {
    let plain = text.as_bytes()[at..].iter().position(|byte| !is_plain(*byte));
    let end = plain.map_or(text.len(), |count| at + count);
    if end > at && text.as_bytes().get(end).is_none_or(|byte| ends_word(*byte)) {
        let word = Scanned { text: text[at..end].to_owned(), is_literal: true, ..Scanned::default() };
        return Ok((word, end));
    }
    let mut scan = Scan::new(text, at, nested, home);
    scan.word()?;
    Ok((scan.word, scan.at))
}

/// Reads the text of a here-document in which something may expand.
#[cfg(feature = "analysis")]
pub(crate) fn scan_document(text: &str) -> Result<Scanned, Unreadable> {
    let mut scan = Scan::new(text, 0, 0, None);
    while let Some(byte) = scan.peek(0) {
        match byte {
            b'\\' => {
                scan.at += 1;
                scan.take();
            }
            b'$' | b'`' => expansion::expansion(&mut scan, true)?,
            _ => scan.take(),
        }
    }
    Ok(scan.word)
}

/// Splits a command that was put together of quoted words and sources of words.
///
/// Nothing when it is not one: when there is an operator in it, or a quote that does not close.
pub(crate) fn split(command: &str) -> Result<Vec<(Scanned, &str)>, Unreadable> {
    let mut words = Vec::new();
    let mut at = 0;
    loop {
        at += command[at..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if at == command.len() {
            return Ok(words);
        }
        if command.as_bytes()[at] == b'#' {
            return Err(Unreadable("a comment"));
        }
        let (word, end) = scan(command, at, 0, None)?;
        if end == at {
            return Err(Unreadable("an operator or a redirection"));
        }
        words.push((word, &command[at..end]));
        at = end;
    }
}

/// Tells whether a byte stands for itself wherever it is in a word.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-./:=,@%+^".contains(&byte) || byte >= 0x80
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str, at: usize, nested: usize, home: Option<&'a str>) -> Self {
        let word = Scanned { is_literal: true, is_pattern: true, ..Scanned::default() };
        Self { text, at, nested, home, word, expands: false, openers: [None; 2] }
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Takes the next character as it is.
    fn take(&mut self) {
        if let Some(character) = self.text[self.at..].chars().next() {
            self.at += character.len_utf8();
            self.push(character);
        }
    }

    pub(super) fn push(&mut self, character: char) {
        if !self.expands {
            self.word.text.push(character);
        }
    }

    /// Notes what becomes of the script if the word cannot be expanded.
    pub(super) fn can_fail(&mut self, failure: Failure) {
        self.word.failure = self.word.failure.max(failure);
    }

    /// Notes that something expands here, to other than file names.
    pub(super) fn expands(&mut self, splits: bool) {
        self.expands = true;
        self.word.is_literal = false;
        self.word.is_pattern = false;
        self.word.splits |= splits;
    }

    fn is_pattern_here(&mut self) {
        self.expands = true;
        self.word.is_literal = false;
    }

    fn word(&mut self) -> Result<(), Unreadable> {
        let may_be_assignment = self.may_be_assignment();
        self.tilde();
        while let Some(byte) = self.peek(0) {
            match byte {
                _ if ends_word(byte) => break,
                b'\'' => self.single_quoted()?,
                b'"' => self.double_quoted()?,
                b'\\' => match self.peek(1) {
                    None => return Err(Unreadable("a `\\` at the end")),
                    Some(b'\n') => self.at += 2,
                    Some(_) => {
                        self.at += 1;
                        self.take();
                    }
                },
                b'$' if self.peek(1) == Some(b'\'') => self.ansi_quoted()?,
                b'$' if self.peek(1) == Some(b'"') => {
                    self.at += 1;
                    self.expands(false);
                }
                b'$' | b'`' => expansion::expansion(self, false)?,
                b'*' | b'?' => {
                    self.is_pattern_here();
                    self.take();
                }
                b'[' => self.opener(0),
                b'{' => self.opener(1),
                b'~' if may_be_assignment && matches!(self.text.as_bytes()[self.at - 1], b'=' | b':') => {
                    self.expands(false);
                    self.take();
                }
                // `#` after the first character, `!`, `{`, `}`, `~`, `]` and control characters stand for themselves.
                _ if byte == 0 || (byte < 0x20) || byte == 0x7f => {
                    return Err(Unreadable("a control character"));
                }
                _ => self.take(),
            }
        }
        self.close_openers();
        Ok(())
    }

    /// Tells whether the word that starts here may be an assignment, in which `~` expands behind `=` and `:` too.
    fn may_be_assignment(&self) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        name > 0 && matches!(rest.get(name), Some(b'=' | b'+' | b'['))
    }

    fn opener(&mut self, which: usize) {
        if self.openers[which].is_none() {
            self.openers[which] = Some((self.at, self.word.text.len()));
        }
        self.take();
    }

    /// Takes a `[` and a `{` for the beginning of a pattern if anything after it, quoted or not, could be its end.
    fn close_openers(&mut self) {
        let [bracket, brace] =
            self.openers.map(|opener| opener.map(|(at, known)| (&self.text[at..self.at], known)));
        let bracket = bracket.filter(|(rest, _)| rest.contains(']'));
        let brace = brace.filter(|(rest, _)| {
            rest.rfind('}').is_some_and(|close| rest[..close].contains(',') || rest[..close].contains(".."))
        });
        for (_, known) in [bracket, brace].into_iter().flatten() {
            self.word.is_literal = false;
            self.word.text.truncate(known);
        }
    }

    fn tilde(&mut self) {
        if self.peek(0) != Some(b'~') {
            return;
        }
        match (self.home, self.peek(1)) {
            (Some(home), Some(b'/')) => self.word.text.push_str(home.trim_end_matches('/')),
            (Some(home), None) => self.word.text.push_str(home),
            (Some(home), Some(byte)) if ends_word(byte) => self.word.text.push_str(home),
            _ => self.expands(false),
        }
        self.at += 1;
    }

    fn single_quoted(&mut self) -> Result<(), Unreadable> {
        let inner = &self.text[self.at + 1..];
        let end = inner.find('\'').ok_or(Unreadable("a `'` that does not close"))?;
        if !self.expands {
            self.word.text.push_str(&inner[..end]);
        }
        self.at += end + 2;
        Ok(())
    }

    pub(super) fn double_quoted(&mut self) -> Result<(), Unreadable> {
        self.at += 1;
        loop {
            match self.peek(0) {
                None => return Err(Unreadable("a `\"` that does not close")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => match self.peek(1) {
                    Some(b'\n') => self.at += 2,
                    Some(b'$' | b'`' | b'"' | b'\\') => {
                        self.at += 1;
                        self.take();
                    }
                    _ => self.take(),
                },
                Some(b'$' | b'`') => expansion::expansion(self, true)?,
                Some(_) => self.take(),
            }
        }
    }

    /// `$'…'`: what it stands for, unless that is a character seldom meant.
    pub(super) fn ansi_quoted(&mut self) -> Result<(), Unreadable> {
        self.at += 2;
        loop {
            match self.peek(0) {
                None => return Err(Unreadable("a `$'` that does not close")),
                Some(b'\'') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    let (character, length) = escape(&self.text[self.at + 1..]);
                    match character {
                        Some(character) => self.push(character),
                        None => self.expands(false),
                    }
                    self.at += 1 + length;
                }
                Some(_) => self.take(),
            }
        }
    }
}

/// Reads an escape of `$'…'` after its backslash: the character, if it is one that is read here, and how long it is.
fn escape(text: &str) -> (Option<char>, usize) {
    let Some(first) = text.chars().next() else { return (None, 0) };
    let simple = match first {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\x07',
        'b' => '\x08',
        'e' | 'E' => '\x1b',
        'f' => '\x0c',
        'v' => '\x0b',
        '\\' | '\'' | '"' | '?' => first,
        'x' => return number(text, 1, 2, 16),
        '0'..='7' => return number(text, 0, 3, 8),
        'u' => return number(text, 1, 4, 16),
        'U' => return number(text, 1, 8, 16),
        _ => return (None, first.len_utf8()),
    };
    (Some(simple), 1)
}

/// Reads the digits of an escape; only ASCII characters are taken, since the others depend on the locale.
fn number(text: &str, skip: usize, most: usize, radix: u32) -> (Option<char>, usize) {
    let digits = text[skip..].chars().take(most).take_while(|digit| digit.is_digit(radix)).count();
    let value = u32::from_str_radix(&text[skip..skip + digits], radix).ok();
    let character = value.filter(|value| (1..0x80).contains(value)).and_then(char::from_u32);
    (character, skip + digits)
}
