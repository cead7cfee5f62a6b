use crate::catalog::Word;
use crate::syntax::{Scanned, quoted, split};
use std::borrow::Cow;

/// One command, as it is declared.
#[derive(Debug)]
pub(super) struct Command<'a> {
    words: Cow<'a, [Word]>,
}

impl Command<'_> {
    /// Splits a command; nothing when the text is something else, such as a script that was not understood.
    pub(super) fn split(text: &str) -> Option<Self> {
        let words: Vec<Word> = split(text)
            .ok()?
            .into_iter()
            .map(
                |(word, source)| {
                    if word.is_literal { Word::literal(word.text) } else { Word::source(source) }
                },
            )
            .collect();
        (!words.is_empty()).then_some(Self { words: Cow::Owned(words) })
    }

    pub(super) fn words(&self) -> &[Word] {
        &self.words
    }

    /// The name without its directory, in lower case.
    pub(super) fn base(&self) -> Box<str> {
        self.words.first().map_or_else(Box::default, |word| base(&word.text))
    }

    /// Tells whether it is a script rather than a command.
    pub(super) fn begins_with_keyword(&self) -> bool {
        const KEYWORDS: [&str; 17] = [
            "!", "case", "coproc", "do", "done", "elif", "else", "fi", "for", "function", "if", "select",
            "then", "until", "while", "{", "}",
        ];
        self.words.first().is_some_and(|word| word.is_literal && KEYWORDS.contains(&word.text.as_str()))
    }

    /// The command without the assignments before it, if there are any.
    pub(super) fn without_settings(&self) -> Option<Command<'_>> {
        let count = self.words.iter().take_while(|word| is_assignment(&word.text)).count();
        let words = self.words.get(count..).filter(|words| count > 0 && !words.is_empty())?;
        Some(Command { words: Cow::Borrowed(words) })
    }
}

/// Writes words so that they can be split again.
pub(crate) fn canonical(words: &[Word]) -> String {
    let mut text = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        if word.is_literal { text.push_str(&quoted(&word.text)) } else { text.push_str(&word.text) }
    }
    text
}

/// Writes words that were split with the source of each, as they are declared: what is assigned before the command stays so.
pub(super) fn canonical_of(split: Vec<(Scanned, &str)>) -> String {
    let mut is_before = true;
    let words = split.into_iter().map(|(word, source)| {
        is_before &= is_assignment(source);
        match word.is_literal {
            true if is_before => Word::source(assigned(source, &word.text)),
            true => Word::literal(word.text),
            false => Word::source(source),
        }
    });
    canonical(&words.collect::<Vec<_>>())
}

/// Writes an assignment before a command, of its source and of what that is without quotes.
pub(crate) fn assigned(source: &str, text: &str) -> String {
    let value = text.split_once('=').map_or("", |(_, value)| value);
    let start = source.find('=').map_or("", |equals| &source[..=equals]);
    if value.is_empty() { start.to_owned() } else { format!("{start}{}", quoted(value)) }
}

/// Takes the directory from a program's name, and upper case.
pub(super) fn base(name: &str) -> Box<str> {
    name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase().into()
}

pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// What could be commands in a script that was not understood.
#[derive(Debug)]
pub(super) struct Pieces {
    pub(super) commands: Vec<Command<'static>>,
    /// Whether there are more.
    pub(super) is_cut: bool,
}

/// Takes a script that was not understood apart into what could be commands in it.
///
/// Each place at which one could begin gives one: behind an operator, a quote, a bracket, and behind each word, since the
/// word may be a keyword or run the others.
pub(super) fn pieces(script: &str) -> Pieces {
    const MOST_WORDS: usize = 1 << 16;
    let is_quote = |character: char| matches!(character, '\'' | '"' | '\\');
    let parts = script.split(|character: char| ";&|()<>`\n{}$".contains(character));
    let mut commands = Vec::new();
    let mut count = 0;
    for part in parts {
        let words: Vec<Word> = part
            .split_whitespace()
            .map(|word| Word::literal(word.replace(is_quote, "")))
            .filter(|word| !word.text.is_empty())
            .collect();
        for start in 0..words.len() {
            count += words.len() - start;
            if count > MOST_WORDS {
                return Pieces { commands, is_cut: true };
            }
            commands.push(Command { words: Cow::Owned(words[start..].to_vec()) });
        }
    }
    Pieces { commands, is_cut: false }
}
