use super::Reader;
use crate::catalog::compile::Task;
use crate::catalog::effects::{Nested, Word};
use crate::catalog::grammar::Opt;
use crate::catalog::kind::Kind;

/// What the command runs.
impl Reader<'_> {
    /// Takes the command of `find -exec` or `fd --exec`.
    pub(super) fn exec(&mut self, start: usize, kind: &Kind) {
        let words = &self.words[start..];
        let is = |word: &Word, text: &str| word.is_literal && word.text == text;
        let end = (0..words.len()).find(|&place| {
            is(&words[place], ";")
                || (*kind == Kind::Exec && is(&words[place], "+") && place > 0 && is(&words[place - 1], "{}"))
        });
        let length = end.unwrap_or(words.len());
        self.next = start + length + usize::from(end.is_some());
        self.effects.is_complete &= end.is_some() || *kind == Kind::ExecAll;
        let found = match kind {
            Kind::Exec => {
                if self.finds_links() {
                    self.effects.is_opaque("what it finds can be links, which lead elsewhere".to_owned());
                }
                self.found_paths()
            }
            _ => vec![input()],
        };
        let mut nested = Vec::with_capacity(length);
        for word in &words[..length] {
            if is(word, "{}") {
                nested.extend(found.iter().cloned());
            } else if word.text.contains(if *kind == Kind::Exec { "{}" } else { "{" }) {
                nested.push(with_input(&word.text, if *kind == Kind::Exec { "{}" } else { "{" }));
            } else {
                nested.push(word.clone());
            }
        }
        if *kind == Kind::ExecAll && !words[..length].iter().any(|word| word.text.contains('{')) {
            nested.extend(found);
        }
        self.effects.runs.push(Nested::Command(nested));
    }

    /// Whether `find` looks for links.
    fn finds_links(&self) -> bool {
        let is_not = |word: &Word| matches!(word.text.as_str(), "!" | "-not");
        let is_negated = self
            .words
            .windows(2)
            .any(|words| is_not(&words[0]) && matches!(words[1].text.as_str(), "-type" | "(" | "!" | "-not"));
        let has_type = self.given.iter().any(|(name, _)| *name == "-type");
        self.given.iter().any(|(name, _)| matches!(*name, "-xtype" | "-lname" | "-ilname"))
            || self.texts.iter().any(|(name, word)| *name == "-type" && word.text.contains('l'))
            || (has_type && is_negated)
    }

    /// Patterns for the paths that `find` gives to a command.
    fn found_paths(&self) -> Vec<Word> {
        let below = |word: &Word| match word.text.as_str() {
            _ if !word.is_literal => input(),
            text if text.starts_with('-') || !is_plain(text) => input(),
            text => Word::source(format!("{}/**", text.trim_end_matches('/'))),
        };
        match &*self.operands {
            [] => vec![Word::source("./**")],
            places => places.iter().map(|&place| below(&self.words[place])).collect(),
        }
    }

    /// The rest is a command.
    pub(super) fn nested(&mut self, at: usize, task: &Task) {
        self.next = self.words.len();
        let mut words = self.words[at..].to_vec();
        if let Some(placeholder) = self.placeholder.filter(|text| !text.is_empty()) {
            for word in words.iter_mut().filter(|word| word.text.contains(placeholder)) {
                *word = with_input(&word.text, placeholder);
            }
        }
        if task.adds_words && !self.replaces_input() {
            words.push(input());
        }
        if let Some(base) = &self.base {
            // Its relative paths are below another directory, which the words alone do not say.
            self.effects.is_opaque(format!("the command works in `{}`", base.text));
        }
        self.effects.runs.push(Nested::Command(words));
    }

    /// Whether input only replaces something in the words that are there: of two options that say otherwise, the last counts.
    fn replaces_input(&self) -> bool {
        let is_placeholder = |opt: &Opt| opt.values.contains(&Kind::Placeholder);
        let counts = |name: &str| matches!(name, "-n" | "-L" | "-l" | "--max-args" | "--max-lines");
        let last = self.given.iter().rev().find(|(name, opt)| is_placeholder(opt) || counts(name));
        self.placeholder.is_some_and(|text| !text.is_empty())
            && last.is_some_and(|(_, opt)| is_placeholder(opt))
    }

    /// The rest is joined and run by a shell.
    pub(super) fn eval(&mut self, at: usize) {
        self.next = self.words.len();
        let words = &self.words[at..];
        let text: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let is_literal = words.iter().all(|word| word.is_literal);
        self.effects.runs.push(Nested::Script(Word { text: text.join(" "), is_literal }));
    }
}

/// A word of which only the command that adds it knows what it is.
fn input() -> Word {
    Word::source("$input")
}

/// The source of a word that has input in some places.
fn with_input(text: &str, placeholder: &str) -> Word {
    let text = text.replace(['"', '\\', '$', '`'], "_").replace(placeholder, "${input}");
    Word::source(format!("\"{text}\""))
}

fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ','))
}
