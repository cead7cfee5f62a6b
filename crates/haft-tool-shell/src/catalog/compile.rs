use super::effects::Word;
use super::grammar::{Fault, Operands, Options, matches};
use super::kind::Kind;
use std::collections::HashMap;
use std::sync::Arc;

/// One command and its subcommands, ready to be held against words.
#[derive(Debug, Default)]
pub(super) struct Command {
    /// Options are words after one dash, or words without any.
    pub(super) has_words: bool,
    /// The first word is a cluster of options, with a dash or without.
    pub(super) has_old_style: bool,
    /// Options that are taken anywhere.
    pub(super) everywhere: Options,
    /// Words which, alone behind the command or a subcommand, make it say something of itself and nothing else.
    pub(super) info: Box<[Box<str>]>,
    pub(super) is_never_granted: bool,
    pub(super) root: Node,
}

/// A command or a subcommand.
#[derive(Debug, Default)]
pub(super) struct Node {
    children: HashMap<Box<str>, Self>,
    /// Children whose names are patterns with `*`, in the order they are listed.
    patterns: Vec<(Box<str>, Self)>,
    pub(super) task: Option<Arc<Task>>,
    /// Whether it is known to do something that is not said.
    pub(super) is_other: bool,
    /// Whether it is so, and depends on words that no pattern should stand for.
    pub(super) is_never_granted: bool,
}

/// What a command or a subcommand does.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own in the format")]
pub(super) struct Task {
    pub(super) options: Options,
    /// What it does if no form fits.
    pub(super) plain: Form,
    pub(super) forms: Vec<Form>,
    /// Whether everything after the first operand is an operand.
    pub(super) stops: bool,
    /// Whether operands of the form `NAME=VALUE` come first.
    pub(super) takes_assignments: bool,
    /// Whether it adds words to the command it runs.
    pub(super) adds_words: bool,
    pub(super) is_never_granted: bool,
}

/// What a command does when certain options are given.
#[derive(Debug, Default)]
pub(super) struct Form {
    /// Of each of these groups one option has to be given.
    pub(super) when: Vec<Box<[Box<str>]>>,
    pub(super) operands: Operands,
    /// What it does without an operand that is a path.
    pub(super) without: Vec<(Kind, Word)>,
    /// What it does besides.
    pub(super) always: Vec<(Kind, Word)>,
    pub(super) is_complete: bool,
    /// What the values of options are that are otherwise text.
    pub(super) values: Options,
}

impl Node {
    /// Gives every path of the lines to `change`, which says whether it can be there; alternatives are written `a|b`.
    pub(super) fn at_paths(&mut self, lines: &str, change: &dyn Fn(&mut Self) -> bool) -> Result<(), Fault> {
        for line in lines.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if !words.is_empty() {
                self.at_path(line, &words, change)?;
            }
        }
        Ok(())
    }

    fn at_path(
        &mut self,
        path: &str,
        words: &[&str],
        change: &dyn Fn(&mut Self) -> bool,
    ) -> Result<(), Fault> {
        let Some((first, rest)) = words.split_first() else {
            return if change(self) {
                Ok(())
            } else {
                Err(Fault::new(path, "the subcommand is listed twice"))
            };
        };
        for name in first.split('|') {
            if name.is_empty() {
                return Err(Fault::new(first, "a path is written `word a|b c-*`"));
            }
            self.child(name).at_path(path, rest, change)?;
        }
        Ok(())
    }

    fn child(&mut self, name: &str) -> &mut Self {
        if !name.contains('*') {
            return self.children.entry(name.into()).or_default();
        }
        let place = self.patterns.iter().position(|(pattern, _)| **pattern == *name).unwrap_or_else(|| {
            self.patterns.push((name.into(), Self::default()));
            self.patterns.len() - 1
        });
        &mut self.patterns[place].1
    }

    /// Sets what is done there; `false` where that is said already.
    pub(super) fn becomes(&mut self, task: Option<&Arc<Task>>) -> bool {
        let is_same = self.task.as_ref().zip(task).is_some_and(|(old, new)| Arc::ptr_eq(old, new));
        let is_new = is_same || (!self.is_other && self.task.is_none());
        self.task = task.cloned();
        self.is_other = task.is_none();
        is_new
    }

    /// The children that a word can name, the one with exactly this name first.
    pub(super) fn named(&self, word: &str) -> Vec<&Self> {
        let patterns =
            self.patterns.iter().filter(|(pattern, _)| matches(pattern, word)).map(|(_, node)| node);
        let named: Vec<&Self> = self.children.get(word).into_iter().chain(patterns).collect();
        // What is known to do something else is not what another pattern means.
        match named.iter().find(|node| node.is_other) {
            Some(other) if !self.children.contains_key(word) || self.children[word].is_other => vec![*other],
            _ => named,
        }
    }

    pub(super) fn has_children(&self) -> bool {
        !self.children.is_empty() || !self.patterns.is_empty()
    }
}

impl Task {
    /// The form that fits the options that were given.
    pub(super) fn form(&self, given: &[&str]) -> &Form {
        let fits = |group: &[Box<str>]| group.iter().any(|option| given.contains(&&**option));
        self.forms.iter().find(|form| form.when.iter().all(|group| fits(group))).unwrap_or(&self.plain)
    }
}

impl Form {
    /// Whether it says what the command does with the option.
    pub(super) fn speaks_of(&self, option: &str) -> bool {
        self.when.iter().any(|group| group.iter().any(|name| **name == *option))
    }
}
