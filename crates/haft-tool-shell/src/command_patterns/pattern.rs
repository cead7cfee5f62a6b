use super::command::{Command, base};
use crate::catalog::{CommandCatalog, Word};
use std::ops::Range;

/// The patterns that stand for commands by what is known of them.
const NAMED: [(&str, Class); 2] = [("@reads", Class::Reads), ("@understood", Class::Understood)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Reads,
    Understood,
}

/// One pattern.
#[derive(Debug)]
pub(super) enum Pattern {
    Class(ClassPattern),
    Words(Vec<Part>),
}

/// Commands of which everything is known.
#[derive(Debug)]
pub(super) struct ClassPattern(Class);

/// One word of a pattern.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Any number of words.
    Any,
    Exact(String),
    /// The texts between the `*` of a word.
    Glob(Vec<String>),
}

/// Short options that have the same long name in most commands, and do the harm that rules are about.
const LONG: [(char, &str); 7] = [
    ('a', "all"),
    ('d', "delete"),
    ('D', "delete"),
    ('f', "force"),
    ('r', "recursive"),
    ('R', "recursive"),
    ('y', "yes"),
];

type Refusal = (Range<usize>, String);

impl Pattern {
    pub(super) fn parse(text: &str) -> Result<Self, Refusal> {
        let trimmed = text.trim();
        if trimmed.starts_with('@') {
            let class = NAMED.into_iter().find(|(name, _)| *name == trimmed);
            return class.map(|(_, class)| Self::Class(ClassPattern(class))).ok_or_else(|| {
                let nearest = if trimmed.starts_with("@u") { "@understood" } else { "@reads" };
                (0..text.len(), format!("`{trimmed}` stands for no commands; did you mean `{nearest}`?"))
            });
        }
        let mut parser = Parser { text, at: 0, words: Vec::new() };
        parser.parse()?;
        if parser.words.is_empty() {
            return Err((
                0..text.len(),
                "the pattern is empty; write the words of a command, or `*`".to_owned(),
            ));
        }
        Ok(Self::Words(parser.words))
    }

    /// The name of the commands it is about, if it is one name.
    pub(super) fn head(&self) -> Option<&str> {
        match self {
            Self::Words(words) => match words.first() {
                Some(Part::Exact(name)) => Some(name),
                _ => None,
            },
            Self::Class(_) => None,
        }
    }

    /// Tells whether it is `*`.
    pub(super) fn is_everything(&self) -> bool {
        matches!(self, Self::Words(words) if *words == [Part::Any])
    }

    /// Tells whether all that the command stands for is meant.
    pub(super) fn contains(&self, command: &Command<'_>, catalog: &CommandCatalog) -> bool {
        match self {
            Self::Class(class) => class.contains(command, catalog),
            Self::Words(parts) => {
                let words = command.words();
                let none = |_: usize| false;
                if !contains(parts, words, 0, &none) {
                    return false;
                }
                // Most commands have no such word, so that it is looked for last.
                let marked = catalog.effects(words).map(|effects| effects.marked).unwrap_or_default();
                marked.is_empty() || contains(parts, words, 0, &|place| marked.contains(&place))
            }
        }
    }

    /// Tells whether any of what the command could stand for is meant.
    pub(super) fn touches(&self, command: &Command<'_>, catalog: &CommandCatalog) -> bool {
        match self {
            Self::Class(class) => class.contains(command, catalog),
            Self::Words(parts) => touches(parts, command.words()),
        }
    }
}

impl ClassPattern {
    fn contains(&self, command: &Command<'_>, catalog: &CommandCatalog) -> bool {
        let Some(effects) = catalog.effects(command.words()) else { return false };
        let is_understood = effects.is_complete && effects.opaque.is_none();
        match self.0 {
            // What it runs is a command of its own, which is declared besides.
            Class::Reads => is_understood && effects.writes.is_empty() && effects.connects.is_empty(),
            Class::Understood => is_understood,
        }
    }
}

/// Compares words with parts, where a `*` does not take a marked word.
fn contains(parts: &[Part], words: &[Word], place: usize, is_marked: &dyn Fn(usize) -> bool) -> bool {
    // Where the last `*` was met, and how many words it has taken.
    let (mut part, mut word) = (0, 0);
    let mut last: Option<(usize, usize)> = None;
    while word < words.len() {
        let fits = match parts.get(part) {
            Some(Part::Any) => {
                last = Some((part, word));
                part += 1;
                continue;
            }
            Some(Part::Exact(text)) => is_exactly(text, &words[word], place + word == 0),
            Some(Part::Glob(texts)) => {
                words[word].is_literal && !is_marked(place + word) && is_glob(texts, &words[word].text)
            }
            None => false,
        };
        if fits {
            part += 1;
            word += 1;
            continue;
        }
        match last {
            Some((any, taken)) if !is_marked(place + taken) => {
                last = Some((any, taken + 1));
                part = any + 1;
                word = taken + 1;
            }
            _ => return false,
        }
    }
    parts[part..].iter().all(|part| *part == Part::Any)
}

fn is_exactly(text: &str, word: &Word, is_name: bool) -> bool {
    if !word.is_literal {
        return false;
    }
    let name = || ["/usr/bin/", "/bin/"].into_iter().find_map(|prefix| word.text.strip_prefix(prefix));
    word.text == text || (is_name && !text.contains('/') && name() == Some(text))
}

fn is_glob(texts: &[String], word: &str) -> bool {
    let Some((first, rest)) = texts.split_first() else { return false };
    let Some(mut word) = word.strip_prefix(first.as_str()) else { return false };
    let Some((last, middle)) = rest.split_last() else { return word.is_empty() };
    for text in middle {
        let Some(place) = word.find(text.as_str()) else { return false };
        word = &word[place + text.len()..];
    }
    word.ends_with(last.as_str())
}

/// Compares words with parts, erring towards a match.
fn touches(parts: &[Part], words: &[Word]) -> bool {
    let Some((name, rest)) = words.split_first() else { return false };
    let is_name = match parts.first() {
        Some(Part::Any) => return touches_anywhere(&parts[1..], words),
        Some(Part::Exact(text)) => base(text) == base(&name.text),
        Some(Part::Glob(texts)) => is_glob(texts, &name.text) || is_glob(texts, &base(&name.text)),
        None => return false,
    };
    is_name && touches_arguments(&parts[1..], rest)
}

/// After a `*` at the beginning the other words may be anywhere.
fn touches_anywhere(parts: &[Part], words: &[Word]) -> bool {
    parts.is_empty() || (0..words.len()).any(|start| touches_arguments(parts, &words[start..]))
}

fn touches_arguments(parts: &[Part], words: &[Word]) -> bool {
    let is_option =
        |part: &&Part| matches!(part, Part::Exact(text) if text.starts_with('-') && text.len() > 1);
    if !parts
        .iter()
        .filter(is_option)
        .all(|part| matches!(part, Part::Exact(option) if has_option(option, words)))
    {
        return false;
    }
    let mut operands = parts.iter().filter(|part| !is_option(part)).peekable();
    let mut may_skip = false;
    let mut is_value = false;
    for word in words {
        while operands.next_if(|part| **part == Part::Any).is_some() {
            may_skip = true;
        }
        let Some(part) = operands.peek() else { return true };
        let fits = match part {
            Part::Any => true,
            // A word that expands is compared as it is written: `$HOME` is what a rule about `'$HOME'` means.
            Part::Exact(text) => word.text == *text,
            Part::Glob(texts) => is_glob(texts, &word.text),
        };
        if fits {
            operands.next();
            may_skip = false;
            is_value = false;
            continue;
        }
        let is_option = word.text.starts_with(['-', '+']) || !word.is_literal;
        if !may_skip && !is_option && !is_value {
            return false;
        }
        is_value = is_option && !word.text.contains('=');
    }
    operands.all(|part| *part == Part::Any)
}

/// Tells whether an option is given, also as a beginning of its name, with a value, or together with others.
fn has_option(option: &str, words: &[Word]) -> bool {
    if words.iter().any(|word| word.text == option) {
        return true;
    }
    if let Some(long) = option.strip_prefix("--") {
        let long = long.split('=').next().unwrap_or(long);
        let is_beginning = |word: &Word| {
            let given = word.text.strip_prefix("--").and_then(|given| given.split('=').next());
            given.is_some_and(|given| !given.is_empty() && long.starts_with(given))
        };
        let short = LONG.iter().filter(|(_, name)| *name == long).map(|(short, _)| *short);
        return words.iter().any(is_beginning)
            || short.into_iter().any(|letter| words.iter().any(|word| has_letter(letter, &word.text)));
    }
    option[1..].chars().all(|letter| words.iter().any(|word| has_letter(letter, &word.text)))
}

/// Tells whether a word gives a short option, among others or by its long name.
fn has_letter(letter: char, word: &str) -> bool {
    match (word.strip_prefix("--"), word.strip_prefix('-')) {
        (Some(long), _) => LONG.iter().any(|(short, name)| *short == letter && *name == long),
        (None, Some(letters)) => {
            letters.contains(letter) || (letter.eq_ignore_ascii_case(&'r') && letters.contains(['r', 'R']))
        }
        (None, None) => false,
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    words: Vec<Part>,
}

impl Parser<'_> {
    fn parse(&mut self) -> Result<(), Refusal> {
        while let Some(character) = self.peek() {
            if matches!(character, ' ' | '\t') {
                self.at += 1;
            } else {
                let word = self.word()?;
                self.words.push(word);
            }
        }
        Ok(())
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn word(&mut self) -> Result<Part, Refusal> {
        let start = self.at;
        let mut texts = vec![String::new()];
        while let Some(character) = self.peek() {
            match character {
                ' ' | '\t' => break,
                '\'' | '"' => self.quote(character, &mut texts)?,
                '\\' => {
                    self.at += 1;
                    let Some(escaped) = self.peek() else {
                        return Err(self.refusal(1, "a `\\` at the end; write what it escapes"));
                    };
                    self.at += escaped.len_utf8();
                    push(&mut texts, escaped);
                }
                '*' => {
                    self.at += 1;
                    texts.push(String::new());
                }
                '|' | '&' | ';' | '<' | '>' | '(' | ')' | '\n' => {
                    return Err(self.refusal(
                        0,
                        &format!("`{character}` joins commands or redirects them, and a rule is about one; write a rule for each"),
                    ));
                }
                '$' | '`' | '?' | '[' | '{' => {
                    let is_alone = matches!(character, '[' | '{') && self.is_alone(start);
                    if !is_alone {
                        return Err(self.refusal(
                            0,
                            &format!("`{character}` would expand; put the word in single quotes if it is meant as it is, or write `*`"),
                        ));
                    }
                    self.at += 1;
                    push(&mut texts, character);
                }
                '~' | '#' if self.at == start => {
                    return Err(self.refusal(0, &format!("a word that begins with `{character}` reads otherwise in a shell; write the whole path, or put it in single quotes")));
                }
                _ => {
                    self.at += character.len_utf8();
                    push(&mut texts, character);
                }
            }
        }
        if &self.text[start..self.at] == "*" {
            return Ok(Part::Any);
        }
        Ok(match <[String; 1]>::try_from(texts) {
            Ok([text]) => Part::Exact(text),
            Err(texts) => Part::Glob(texts),
        })
    }

    /// Whether the word is only `[` or `{}`.
    fn is_alone(&self, start: usize) -> bool {
        let rest = &self.text[start..];
        let word = rest.split([' ', '\t']).next().unwrap_or(rest);
        matches!(word, "[" | "{}")
    }

    fn quote(&mut self, quote: char, texts: &mut [String]) -> Result<(), Refusal> {
        let start = self.at;
        self.at += 1;
        while let Some(character) = self.peek() {
            self.at += character.len_utf8();
            match character {
                _ if character == quote => return Ok(()),
                '$' | '`' if quote == '"' => {
                    self.at -= 1;
                    return Err(self.refusal(0, "it would expand between `\"`; write `'` around it"));
                }
                '\\' if quote == '"'
                    && self.peek().is_some_and(|next| matches!(next, '"' | '\\' | '$' | '`')) =>
                {
                    let escaped = self.peek().unwrap_or_default();
                    self.at += escaped.len_utf8();
                    push(texts, escaped);
                }
                _ => push(texts, character),
            }
        }
        self.at = start;
        Err(self.refusal(0, "a quote that does not close; add the other one"))
    }

    fn refusal(&self, back: usize, reason: &str) -> Refusal {
        let start = self.at - back;
        let length = self.text[start..].chars().next().map_or(0, char::len_utf8);
        (start..start + length, reason.to_owned())
    }
}

fn push(texts: &mut [String], character: char) {
    if let Some(text) = texts.last_mut() {
        text.push(character);
    }
}
