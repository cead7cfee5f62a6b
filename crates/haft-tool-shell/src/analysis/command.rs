//! One simple command.

use super::assignment::Kind;
use super::directory::Current;
use super::other_shell;
use super::standard_input::StandardInput;
use super::{Analysis, canonical};
use crate::catalog::{Effects, Nested, Target, Word};
use crate::command_patterns::assigned;
use crate::syntax::{Failure, Unreadable, scan};
use brush_parser::ast::{AssignmentValue, CommandPrefixOrSuffixItem, SimpleCommand};
use haft_tools_core::AccessMode;

/// How many commands can run one another, as in `sudo env nice ls`.
const MOST_WRAPPERS: usize = 24;

/// What a process substitution becomes: the name of a pipe.
const PIPE: &str = "/dev/fd/63";

/// Commands that run what they read from their standard input, unless they are told what else to run.
const SHELLS: [&str; 5] = ["bash", "sh", "dash", "ksh", "zsh"];

impl Analysis<'_> {
    pub(super) fn simple(&mut self, command: &SimpleCommand) -> Result<(), Unreadable> {
        let mut words = Vec::new();
        let mut variables = Vec::new();
        let mut input = StandardInput::Same;
        for item in command.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                    variables.push((self.assignment(assignment)?, word.value.as_str()));
                }
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                    input = self.redirect(redirect)?.after(input);
                }
                CommandPrefixOrSuffixItem::Word(_) | CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                    return Err(Unreadable("a command that begins with something else"));
                }
            }
        }
        if let Some(name) = &command.word_or_name {
            words.push(self.word(&name.value)?);
        }
        for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                    input = self.redirect(redirect)?.after(input);
                }
                CommandPrefixOrSuffixItem::Word(word) => words.push(self.word(&word.value)?),
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => match assignment.value {
                    AssignmentValue::Scalar(_) => words.push(self.word(&word.value)?),
                    AssignmentValue::Array(_) => {
                        let name = self.assignment(assignment)?;
                        words.push(Word::literal(format!("{name}=()")));
                    }
                },
                CommandPrefixOrSuffixItem::ProcessSubstitution(_, command) => {
                    let current = self.current.clone();
                    let read = self.subshell(command);
                    self.current = current;
                    read?;
                    words.push(Word::literal(PIPE));
                }
            }
        }
        if words.is_empty() {
            for (name, source) in &variables {
                self.assigned(name, self.value_of(source).as_deref());
                if self.is_constant(name) {
                    self.can_fail(Failure::SkipsLine);
                }
            }
            return Ok(());
        }
        let settings = self.settings(&variables, &words);
        self.words(words, &settings, input.text())
    }

    /// The assignments before a command that matter to it, as the beginning of its text.
    fn settings(&mut self, variables: &[(&str, &str)], words: &[Word]) -> String {
        let mut settings = String::new();
        for (name, source) in variables {
            let is_ifs = *name == "IFS" && words.first().is_some_and(|word| word.text == "read");
            match Kind::of(name, self.value_of(source).as_deref()) {
                _ if is_ifs => continue,
                Kind::Harmless => continue,
                Kind::Other => {}
                Kind::OfBash => self.opaque(format!("what a command does with the variable `{name}` set")),
            }
            if !self.functions.is_empty() {
                self.opaque(format!("what a function does with the variable `{name}` set"));
            }
            let text = match scan(source, 0, 0, self.home.as_deref()) {
                Ok((word, end)) if word.is_literal && end == source.len() => assigned(source, &word.text),
                Ok((_, end)) if end == source.len() => (*source).to_owned(),
                // An array, which no word of a command is.
                _ => {
                    self.opaque(format!("what the array `{name}` does to a command"));
                    format!("{name}=")
                }
            };
            settings.push_str(&text);
            settings.push(' ');
        }
        settings
    }

    /// Reads a command of which the words are known.
    pub(super) fn words(
        &mut self,
        mut words: Vec<Word>,
        settings: &str,
        input: Option<&str>,
    ) -> Result<(), Unreadable> {
        if self.current == Current::Unknown {
            self.opaque("the directory in which later commands run");
        }
        self.place_of_program(&mut words);
        let text = format!("{settings}{}", canonical(&words));
        let name = &words[0];
        if !name.is_literal || name.text.starts_with('-') {
            self.opaque(format!("which command `{}` is", name.text));
            return self.command_is(text, false);
        }
        let effects = self.catalog.effects(&words);
        let is_complete =
            effects.as_ref().is_some_and(|effects| effects.is_complete && effects.opaque.is_none());
        let is_function = self.functions.contains(&name.text);
        self.command_is(text, is_complete && settings.is_empty() && !is_function)?;
        let is_told = effects.as_ref().is_some_and(|effects| effects.opaque.is_some());
        if !is_complete
            && !is_told
            && let Some(word) = words[1..].iter().find(|word| self.could_be_option(word))
        {
            let word = word.text.clone();
            self.opaque(format!("whether `{word}` is an option of `{}`", words[0].text));
        }
        self.script_that_is_read(
            &words,
            effects.as_ref().is_some_and(|effects| effects.reads_program),
            input,
        )?;
        let runs_itself = self.builtin(&words)?;
        if let Some(effects) = effects {
            self.effects(effects, &words, settings, runs_itself)?;
        }
        Ok(())
    }

    /// Takes into account that a command may run what it reads from its standard input.
    fn script_that_is_read(
        &mut self,
        words: &[Word],
        is_program: bool,
        input: Option<&str>,
    ) -> Result<(), Unreadable> {
        let base = words[0].text.rsplit('/').next().unwrap_or_default();
        let is_shell = SHELLS.contains(&base);
        // Commands of a script read on where the shell has read to, which is the end of a line.
        let is_line = |input: &str| !input.trim_end_matches('\n').contains('\n');
        let is_told = input
            .is_some_and(|input| is_shell && is_line(input) && other_shell::reads_script_alike(base, input));
        if is_program && !is_told {
            self.opaque(format!("what `{}` reads and runs", canonical(words)));
        }
        match input.or(self.given) {
            Some(input) if is_shell => self.script_apart(input),
            _ => Ok(()),
        }
    }

    fn effects(
        &mut self,
        effects: Effects,
        words: &[Word],
        settings: &str,
        runs_itself: bool,
    ) -> Result<(), Unreadable> {
        if let Some(reason) = effects.opaque {
            self.opaque(reason);
        }
        effects.reads.iter().for_each(|target| self.target(AccessMode::Read, target));
        // Where only plain files are named, no more than these are written, and none of them becomes something else.
        let is_plain = effects.is_complete
            && effects.writes.iter().any(|target| matches!(target, Target::Tree(_)))
            && effects.reads.iter().chain(&effects.writes).all(|target| self.is_plain_file(target));
        for target in effects.writes {
            let target = match target {
                Target::Tree(word) if is_plain => Target::File(word),
                target => target,
            };
            self.target(AccessMode::Write, &target);
        }
        effects.connects.iter().for_each(|host| self.host(host));
        if runs_itself {
            return Ok(());
        }
        // These run in the shell itself; others are processes of their own.
        let is_here = matches!(words[0].text.as_str(), "command" | "builtin" | "jobs");
        for nested in effects.runs {
            let current = self.current.clone();
            match nested {
                Nested::Command(words) if words.is_empty() => {}
                Nested::Command(words) => {
                    self.wrappers += 1;
                    if self.wrappers > MOST_WRAPPERS {
                        return Err(Unreadable("commands that run commands, nested too deep"));
                    }
                    self.words(words, settings, None)?;
                    self.wrappers -= 1;
                }
                Nested::Script(script) if script.is_literal => {
                    let shell = words[0].text.as_str();
                    if !other_shell::is_bash(shell) && !other_shell::reads_alike(shell, &script.text) {
                        self.opaque(format!("what a shell that is not bash makes of `{}`", script.text));
                    }
                    self.script(&script.text)?;
                }
                Nested::Script(script) => self.opaque(format!("which script `{}` is", script.text)),
            }
            if !is_here {
                self.current = current;
            }
        }
        Ok(())
    }

    /// Names a program that is given by a relative path from the working directory, wherever the command runs.
    fn place_of_program(&self, words: &mut [Word]) {
        let (Some(name), Current::Inside { path, .. }) = (words.first_mut(), &self.current) else { return };
        if name.is_literal && !path.is_empty() && name.text.contains('/') && !name.text.starts_with('/') {
            let program = name.text.strip_prefix("./").unwrap_or(&name.text);
            name.text = format!("./{path}/{program}");
        }
    }

    /// Tells whether a word can become an option, or several words.
    fn could_be_option(&self, word: &Word) -> bool {
        if word.is_literal {
            return false;
        }
        match scan(&word.text, 0, 0, self.home.as_deref()) {
            Ok((word, _)) => word.splits || word.text.is_empty() || word.text.starts_with('-'),
            Err(_) => true,
        }
    }
}
