use super::{MOST_NESTED, Unreadable, arithmetic, ends_word, word};
use std::borrow::Cow;
use std::mem;

/// How many commands can be open within one another, such as `if` in `for` in `{`.
const MOST_OPEN: usize = 40;

/// How many `case` can be open within one another. A parser that goes back over a branch doubles its work with each.
const MOST_CASES: usize = 4;

/// How many tokens one `[[ … ]]` can have.
const MOST_IN_TEST: usize = 200;

/// The operators, the longer before the shorter that they begin with.
const OPERATORS: [&str; 24] = [
    "&>>", "<<<", "<<-", ";;&", "&&", "||", ";;", ";&", "|&", "&>", "<<", "<&", "<>", ">>", ">&", ">|", "&",
    "|", ";", "<", ">", "(", ")", "\n",
];

/// One token of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Operator(&'static str),
    /// The source of a word.
    Word(String),
    /// The number of a file before a redirection.
    Number(String),
}

/// A here-document whose text comes after the line.
struct Document {
    /// Which token is its text.
    token: usize,
    end: String,
    is_quoted: bool,
    is_indented: bool,
}

/// Splits a script into tokens: its operators and the sources of its words.
///
/// A here-document is given as the operator, the word, its text, and the word again.
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    nested: usize,
    tokens: Vec<Token>,
    documents: Vec<Document>,
    /// Whether the next word could be the beginning of a command.
    starts_command: bool,
    open: usize,
    cases: usize,
    parentheses: usize,
    /// In how many parentheses each process substitution that is open stands.
    substitutions: Vec<usize>,
    /// How many tokens of a `[[` there were.
    in_test: Option<usize>,
}

impl<'a> Lexer<'a> {
    /// Begins in the middle of a text that stands in so many substitutions.
    pub(crate) fn new(text: &'a str, at: usize, nested: usize) -> Self {
        Self {
            text,
            at,
            nested,
            tokens: Vec::new(),
            documents: Vec::new(),
            starts_command: true,
            open: 0,
            cases: 0,
            parentheses: 0,
            substitutions: Vec::new(),
            in_test: None,
        }
    }

    /// Takes all there is.
    #[cfg(feature = "analysis")]
    pub(crate) fn tokens(mut self) -> Result<Vec<Token>, Unreadable> {
        while self.at < self.text.len() {
            self.token()?;
        }
        self.read_documents();
        Ok(self.tokens)
    }

    /// Goes to the `)` that closes what this began in.
    pub(super) fn skip_to_close(mut self) -> Result<usize, Unreadable> {
        if self.nested > MOST_NESTED {
            return Err(Unreadable("substitutions that are nested too deep"));
        }
        loop {
            match self.peek(0) {
                None => return Err(Unreadable("a substitution that does not close")),
                Some(b')') if self.parentheses == 0 && self.documents.is_empty() => return Ok(self.at),
                Some(_) => self.token()?,
            }
            if self.tokens.last() == Some(&Token::Word("case".to_owned())) {
                return Err(Unreadable("a `case` in a substitution"));
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Takes one token, or what stands between two.
    fn token(&mut self) -> Result<(), Unreadable> {
        match (self.peek(0), self.peek(1)) {
            (Some(b' ' | b'\t'), _) => self.at += 1,
            (Some(b'\\'), Some(b'\n')) => self.at += 2,
            (Some(b'#'), _) if self.in_test.is_some() => return Err(Unreadable("a comment in a `[[`")),
            (Some(b'#'), _) => {
                self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at);
            }
            (Some(b'('), Some(b'(')) => self.arithmetic()?,
            (Some(byte), _) if ends_word(byte) => self.operator()?,
            _ => self.word()?,
        }
        Ok(())
    }

    fn push(&mut self, token: Token) -> Result<(), Unreadable> {
        if let Some(count) = &mut self.in_test {
            *count += 1;
            if *count > MOST_IN_TEST {
                return Err(Unreadable("a `[[` that is too long"));
            }
        }
        self.tokens.push(token);
        Ok(())
    }

    fn opened(&mut self) -> Result<(), Unreadable> {
        self.open += 1;
        if self.open > MOST_OPEN {
            return Err(Unreadable("commands that are nested too deep"));
        }
        Ok(())
    }

    fn operator(&mut self) -> Result<(), Unreadable> {
        let rest = &self.text[self.at..];
        let operator = OPERATORS.into_iter().find(|operator| rest.starts_with(operator));
        let operator = operator.ok_or(Unreadable("an operator that is not known"))?;
        let before = self.at.checked_sub(1).and_then(|before| self.text.as_bytes().get(before).copied());
        self.at += operator.len();
        // The line goes on within what might be one operator.
        if self.text[self.at..].starts_with("\\\n") && operator != "\n" {
            return Err(Unreadable("a line continued right behind an operator"));
        }
        match operator {
            "(" => {
                self.part_parentheses()?;
                let is_substitution = matches!(self.tokens.last(), Some(Token::Operator("<" | ">")));
                if is_substitution && !matches!(before, Some(b'<' | b'>')) {
                    return Err(Unreadable("a `<` or `>` before a `(`"));
                }
                if is_substitution {
                    self.substitutions.push(self.parentheses);
                }
                self.parentheses += 1;
                self.opened()?;
            }
            ")" => {
                self.parentheses = self.parentheses.saturating_sub(1);
                self.open = self.open.saturating_sub(1);
                if self.substitutions.last() == Some(&self.parentheses) {
                    self.substitutions.pop();
                    if self.peek(0).is_some_and(|byte| !ends_word(byte)) {
                        return Err(Unreadable("a `<(…)` within a word"));
                    }
                }
            }
            "<" | ">" if self.peek(0) == Some(b'(') => {
                if before.is_some_and(|byte| !ends_word(byte)) {
                    return Err(Unreadable("a `<(` within a word"));
                }
                if self.peek(1) == Some(b'(') {
                    return Err(Unreadable("a `<((`"));
                }
            }
            _ => {}
        }
        self.push(Token::Operator(operator))?;
        let is_redirection = operator.contains(['<', '>']);
        self.starts_command = !is_redirection;
        if matches!(operator, "<<" | "<<-") {
            self.document(operator == "<<-")?;
        }
        if operator == "\n" {
            self.read_documents();
        }
        Ok(())
    }

    /// Puts a line feed between two parentheses, which without a space between them would be arithmetic.
    fn part_parentheses(&mut self) -> Result<(), Unreadable> {
        if self.tokens.last() == Some(&Token::Operator("(")) {
            self.push(Token::Operator("\n"))?;
        }
        Ok(())
    }

    /// `((…))`, as a command or behind `for`.
    fn arithmetic(&mut self) -> Result<(), Unreadable> {
        let is_for = self.tokens.last() == Some(&Token::Word("for".to_owned()));
        if !(is_for || self.starts_command) || self.in_test.is_some() {
            return Err(Unreadable("a `((` where no command begins"));
        }
        let start = self.at + 2;
        let end = arithmetic::end(self.text, start)?;
        self.at = end + 2;
        self.part_parentheses()?;
        for _ in 0..2 {
            self.push(Token::Operator("("))?;
        }
        let expression = &self.text[start..end];
        let parts = expression.split(if is_for { ';' } else { '\0' });
        for (index, part) in parts.enumerate() {
            if index > 0 {
                self.push(Token::Operator(";"))?;
            }
            if !part.trim().is_empty() {
                self.push(Token::Word(part.trim().to_owned()))?;
            }
        }
        for _ in 0..2 {
            self.push(Token::Operator(")"))?;
        }
        self.starts_command = true;
        Ok(())
    }

    fn word(&mut self) -> Result<(), Unreadable> {
        let start = self.at;
        let (_, end) = word::scan(self.text, start, self.nested, None)?;
        let mut source = Cow::Borrowed(&self.text[start..end]);
        if source.contains("\\\n") && !source.contains(['\'', '"', '`', '$']) {
            // So that keywords are seen as such.
            source = Cow::Owned(source.replace("\\\n", ""));
        }
        self.at = end;
        if matches!(self.peek(0), Some(b'<' | b'>')) {
            if source.bytes().all(|byte| byte.is_ascii_digit()) {
                if source.len() > 4 {
                    return Err(Unreadable("a number of a file that is too large"));
                }
                return self.push(Token::Number(source.into_owned()));
            }
            if source.starts_with('{') && source.ends_with('}') {
                return Err(Unreadable("a variable for the number of a file"));
            }
        }
        if source.contains("\\\n") && source.contains('[') {
            return Err(Unreadable("a line continued within a `[`"));
        }
        if has_strange_subscript(&source) {
            return Err(Unreadable("a subscript that is not a simple one"));
        }
        self.keyword(&source)?;
        self.push(Token::Word(source.into_owned()))
    }

    /// Follows how deep commands are nested, and where the next can begin.
    fn keyword(&mut self, source: &str) -> Result<(), Unreadable> {
        let starts_command = mem::replace(&mut self.starts_command, false);
        match source {
            "[[" => self.in_test = self.in_test.or(Some(0)),
            "]]" => self.in_test = None,
            "!" if self.in_test.is_some() => self.opened()?,
            _ => {}
        }
        if starts_command {
            match source {
                "{" | "if" | "while" | "until" | "for" | "case" | "coproc" | "select" | "[[" => {
                    self.opened()?;
                }
                "}" | "fi" | "done" | "esac" => self.open = self.open.saturating_sub(1),
                _ => {}
            }
            match source {
                "case" if self.cases == MOST_CASES => return Err(Unreadable("`case` nested too deep")),
                "case" => self.cases += 1,
                "esac" => self.cases = self.cases.saturating_sub(1),
                _ => {}
            }
        }
        let follows = |name: &str| matches!(self.tokens.last(), Some(Token::Word(word)) if word == name);
        self.starts_command = matches!(
            source,
            "{" | "}"
                | "!"
                | "if"
                | "then"
                | "else"
                | "elif"
                | "fi"
                | "while"
                | "until"
                | "do"
                | "done"
                | "in"
                | "esac"
                | "time"
                | "coproc"
        ) || follows("function")
            || follows("coproc")
            || (source == "-p" && follows("time"));
        Ok(())
    }

    /// What comes behind `<<`.
    fn document(&mut self, is_indented: bool) -> Result<(), Unreadable> {
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let start = self.at;
        let (word, end) = word::scan(self.text, start, self.nested, None)?;
        let source = &self.text[start..end];
        if end == start || !word.is_literal || source.contains(['$', '~', '\n']) || source.starts_with('#') {
            return Err(Unreadable("a here-document whose end is not a plain word"));
        }
        self.at = end;
        let is_quoted = source.contains(['\'', '"', '\\']);
        self.documents.push(Document {
            token: self.tokens.len() + 1,
            end: word.text,
            is_quoted,
            is_indented,
        });
        for text in [source, "", source] {
            self.push(Token::Word(text.to_owned()))?;
        }
        Ok(())
    }

    /// Takes the texts of the here-documents of the line that has ended.
    fn read_documents(&mut self) {
        for document in mem::take(&mut self.documents) {
            let text = self.read_document(&document);
            if let Some(token) = self.tokens.get_mut(document.token) {
                *token = Token::Word(text);
            }
        }
    }

    fn read_document(&mut self, document: &Document) -> String {
        let mut text = String::new();
        let mut is_continued = false;
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let end = rest.find('\n');
            let line = &rest[..end.unwrap_or(rest.len())];
            self.at += end.map_or(rest.len(), |end| end + 1);
            let line = if document.is_indented { line.trim_start_matches('\t') } else { line };
            if line == document.end && !is_continued {
                break;
            }
            is_continued =
                !document.is_quoted && line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// Tells whether a word may be an element of an array whose index is more than a name or a number.
fn has_strange_subscript(source: &str) -> bool {
    let name = source.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if name == 0 || source.as_bytes()[0].is_ascii_digit() || source.as_bytes().get(name) != Some(&b'[') {
        return false;
    }
    let inner = &source[name + 1..];
    inner.len() > 200
        || !inner.contains(']')
        || inner.contains(['(', ')', '$', '`', '"', '\'', '{', '\\', '['])
}
