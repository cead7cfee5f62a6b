mod nesting;

use super::compile::{Command, Form, Task};
use super::effects::{Effects, Word};
use super::grammar::Opt;
use super::kind::Kind;
use super::lookup::Place;
use std::mem;

/// Says what the words make a command do.
pub(super) fn effects(command: &Command, words: &[Word]) -> Effects {
    if says_something_of_itself(command, words) {
        return Effects::none();
    }
    let mut reader = Reader {
        command,
        words,
        next: 1,
        place: Place::start(command),
        is_beyond_subcommands: false,
        is_beyond_options: false,
        operands: Vec::new(),
        given: Vec::new(),
        current: "",
        texts: Vec::new(),
        base: None,
        placeholder: None,
        marked: Vec::new(),
        option: 0,
        unknown: Vec::new(),
        effects: Effects::none(),
    };
    reader.read();
    let unknown = mem::take(&mut reader.unknown);
    let is_complete = reader.task().is_some_and(|task| reader.form(task).is_complete);
    let mut effects = reader.finish();
    // Of a command that otherwise only reads, an option that nobody knows may be one by which it does not.
    if is_complete && effects.writes.is_empty() && effects.connects.is_empty() {
        effects.marked.extend(unknown);
    }
    effects
}

/// `git --version`, `kubectl delete --help`.
fn says_something_of_itself(command: &Command, words: &[Word]) -> bool {
    let [_, path @ .., last] = words else { return false };
    let mut place = Place::start(command);
    last.is_literal
        && command.info.iter().any(|info| **info == *last.text)
        && (path.is_empty() || matches!(last.text.as_str(), "--help" | "-help" | "-h" | "help"))
        && path.iter().all(|word| word.is_literal && place.descend(&word.text))
}

/// Goes through the words of one command.
struct Reader<'a> {
    command: &'a Command,
    words: &'a [Word],
    next: usize,
    place: Place<'a>,
    is_beyond_subcommands: bool,
    is_beyond_options: bool,
    /// Places of the operands.
    operands: Vec<usize>,
    /// Options that were given.
    given: Vec<(&'a str, &'a Opt)>,
    /// The option that was given last.
    current: &'a str,
    /// Values that are text, of which a form may say more.
    texts: Vec<(&'a str, Word)>,
    /// Where relative paths are below, if it is not the directory of the command.
    base: Option<Word>,
    /// What stands for input in the words of the command that is run.
    placeholder: Option<&'a str>,
    /// Places of options that make it do more than it otherwise does.
    marked: Vec<usize>,
    /// The place of the option that is being read, and those of options that are not known.
    option: usize,
    unknown: Vec<usize>,
    effects: Effects,
}

impl<'a> Reader<'a> {
    fn read(&mut self) {
        if self.command.has_old_style {
            self.old_cluster();
        }
        while let Some(word) = self.words.get(self.next) {
            let at = self.next;
            self.next += 1;
            if self.is_beyond_options {
                self.operand(at);
            } else if !word.is_literal && word.could_be_option() {
                self.expanded(at);
            } else if !word.is_literal {
                self.operand(at);
            } else if word.text == "--" {
                self.is_beyond_options = true;
            } else if self.is_option(word) {
                self.option(at, word);
            } else {
                self.operand(at);
            }
        }
    }

    fn is_option(&self, word: &Word) -> bool {
        let has_dash = word.text.len() > 1 && word.text.starts_with('-');
        has_dash || (self.command.has_words && self.lookup(&word.text).is_some())
    }

    /// The first word of a command like `tar` or `ps`, if it has no dash.
    fn old_cluster(&mut self) {
        let Some(word) = self.words.get(1) else { return };
        if !word.is_literal
            || word.text.is_empty()
            || !word.text.bytes().all(|byte| byte.is_ascii_alphabetic())
        {
            return;
        }
        self.next = 2;
        for letter in word.text.chars() {
            // Some letters mean something else without a dash, and are listed so.
            let found = self.lookup(letter.encode_utf8(&mut [0; 4]));
            match found.or_else(|| self.lookup(&format!("-{letter}"))) {
                Some(found) => {
                    self.give(found, 1);
                    if !found.1.is_optional {
                        self.values(found.1);
                    }
                }
                None => self.unknown_option(),
            }
        }
    }

    fn task(&self) -> Option<&'a Task> {
        self.place.task()
    }

    /// The option, with the text under which it is listed.
    fn lookup(&self, text: &str) -> Option<(&'a str, &'a Opt)> {
        let own = self.task().and_then(|task| task.options.get(text));
        own.or_else(|| self.command.everywhere.get(text))
    }

    /// Takes an option, whose words are all literal up to its value.
    fn option(&mut self, at: usize, word: &'a Word) {
        self.option = at;
        let text = word.text.as_str();
        if text.starts_with("--") || self.command.has_words {
            self.long_option(at, word);
        } else if self.task().is_some_and(|task| task.options.takes_number)
            && text[1..].bytes().all(|byte| byte.is_ascii_digit())
        {
            // `-3` is complete in itself.
        } else {
            self.cluster(at, word);
        }
    }

    fn long_option(&mut self, at: usize, word: &'a Word) {
        let (name, value) = match word.text.find('=') {
            Some(place) if place > 0 => (&word.text[..place], Some(word.after(place + 1))),
            _ => (word.text.as_str(), None),
        };
        // Commands with words for options take two dashes for one.
        let found = self.lookup(name).or_else(|| {
            let name =
                name.strip_prefix('-').filter(|name| self.command.has_words && name.starts_with('-'))?;
            self.lookup(name)
        });
        let Some(found @ (_, opt)) = found else {
            if let (Some(value), Some(task)) = (&value, self.task().filter(|task| task.options.is_open)) {
                // It is what any other word would be.
                if let Some(kind) = self.form(task).operands.repeats() {
                    self.value(kind, value, at);
                }
            }
            return self.unknown_option();
        };
        self.give(found, at);
        match value {
            Some(value) => match &*opt.values {
                [kind] => self.value(kind, &value, at),
                _ => self.unknown_option(),
            },
            None if opt.is_optional => {}
            None => self.values(opt),
        }
    }

    /// `-abc`, `-ofile`.
    fn cluster(&mut self, at: usize, word: &'a Word) {
        for (start, letter) in word.text.char_indices().skip(1) {
            let end = start + letter.len_utf8();
            let Some(found @ (_, opt)) = self.lookup(&format!("-{letter}")) else {
                return self.unknown_option();
            };
            self.give(found, at);
            match (&*opt.values, word.text.len() > end) {
                ([], _) => {}
                ([kind], true) => return self.value(kind, &word.after(end), at),
                (_, true) => return self.unknown_option(),
                (_, false) if opt.is_optional => {}
                (_, false) => self.values(opt),
            }
        }
    }

    /// Notes an option.
    fn give(&mut self, found: (&'a str, &'a Opt), at: usize) {
        let (name, opt) = found;
        self.given.push(found);
        self.current = name;
        if opt.is_marked {
            self.effects.marked.push(at);
        } else if opt.values.iter().any(Kind::changes) {
            self.marked.push(at);
        }
        if opt.is_optional && opt.values.contains(&Kind::Placeholder) {
            self.placeholder = Some("{}");
        }
    }

    /// Takes the values of an option from the words that follow.
    fn values(&mut self, opt: &Opt) {
        for kind in &opt.values {
            let at = self.next;
            let Some(word) = self.words.get(at) else {
                self.effects.is_complete = false;
                return;
            };
            self.next += 1;
            if word.could_be_several() {
                self.effects.is_opaque(format!("`{}` could become several words", word.text));
            }
            match kind {
                Kind::Exec | Kind::ExecAll => self.exec(at, kind),
                kind => self.value(kind, word, at),
            }
        }
    }

    fn value(&mut self, kind: &Kind, word: &Word, at: usize) {
        match kind {
            Kind::Directory => self.base = Some(word.below(self.base.as_ref())),
            Kind::Placeholder => {
                let text = self.words[at].text.as_str();
                self.placeholder = text.get(text.len() - word.text.len()..);
                self.effects.is_complete &= word.is_literal;
            }
            Kind::Text => self.texts.push((self.current, word.clone())),
            kind => kind.apply(word, self.base.as_ref(), &mut self.effects),
        }
    }

    fn unknown_option(&mut self) {
        let Some(task) = self.task() else {
            self.effects.is_complete = false;
            return;
        };
        if task.options.is_open {
            // The next word may be its value and not a subcommand.
            self.is_beyond_subcommands = true;
            return;
        }
        self.effects.is_complete = false;
        if self.option > 0 {
            self.unknown.push(self.option);
        }
        if runs_a_command(task) {
            self.effects.is_opaque(
                "an option that is not known could have the command it runs as its value".to_owned(),
            );
        }
    }

    /// Takes a word that may become an option.
    fn expanded(&mut self, at: usize) {
        let word = &self.words[at];
        if let Some(place) = word.text.find('=') {
            let (name, value) = (&word.text[..place], &word.text[place + 1..]);
            let value = Word::source(value);
            let is_name = name.starts_with("--")
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            if is_name && !value.could_be_several() {
                let found = self.lookup(name).and_then(|found| Some((found, found.1.values.first()?)));
                let Some((found, kind)) = found else { return self.unknown_option() };
                self.give(found, at);
                return self.value(kind, &value, at);
            }
        }
        let takes_anything =
            self.task().is_some_and(|task| task.options.is_open && self.form(task).operands.all_text());
        if takes_anything && (self.is_beyond_subcommands || !self.place.has_children()) {
            self.operand(at);
        } else {
            self.effects.is_opaque(format!("`{}` could become an option", word.text));
        }
    }

    fn form(&self, task: &'a Task) -> &'a Form {
        let given: Vec<&str> = self.given.iter().map(|(name, _)| *name).collect();
        task.form(&given)
    }

    fn operand(&mut self, at: usize) {
        let word = &self.words[at];
        if !self.is_beyond_subcommands && !self.is_beyond_options && self.place.has_children() {
            if !word.is_literal {
                self.effects.is_opaque(format!("`{}` could become the name of a subcommand", word.text));
            } else if self.place.descend(&word.text) {
                return;
            }
        }
        self.is_beyond_subcommands = true;
        let Some(task) = self.task() else {
            self.effects.is_complete = false;
            return;
        };
        if task.takes_assignments && self.operands.is_empty() && is_assignment(word) {
            return Kind::Assign.apply(word, None, &mut self.effects);
        }
        self.is_beyond_options |= task.stops;
        let rest = self.form(task).operands.rest(self.operands.len());
        self.operands.push(at);
        match rest {
            Some(Kind::Eval) => self.eval(at),
            Some(_) => self.nested(at, task),
            None => {}
        }
    }

    fn finish(mut self) -> Effects {
        let Some(task) = self.task() else {
            self.effects.is_complete = false;
            self.effects.marked.extend(&self.marked);
            return self.effects;
        };
        let form = self.form(task);
        self.effects.is_complete &= form.is_complete;
        self.effects.is_complete &=
            self.given.iter().all(|(name, opt)| !opt.is_marked || form.speaks_of(name));
        for (name, word) in &self.texts {
            if let Some((_, Opt { values, .. })) = form.values.get(name) {
                values.iter().for_each(|kind| kind.apply(word, self.base.as_ref(), &mut self.effects));
            }
        }
        let mut has_path = false;
        if let Some(kinds) = form.operands.assign(self.operands.len()) {
            let repeated = form.operands.repeated(kinds.len());
            for (place, (kind, &at)) in kinds.into_iter().zip(&self.operands).enumerate() {
                let word = &self.words[at];
                has_path |= kind.is_path();
                if matches!(kind, Kind::Command | Kind::Eval) {
                    continue;
                }
                if word.could_be_several() && !repeated.contains(&place) {
                    self.effects.is_opaque(format!("`{}` could become several words", word.text));
                }
                // To some it is more than a path.
                self.effects.is_complete &= !(kind.is_path() && word.text.starts_with(['+', '@']));
                kind.apply(word, self.base.as_ref(), &mut self.effects);
            }
        } else {
            self.effects.is_complete = false;
            self.effects.reads_program = self.operands.is_empty() && form.operands.begin_with_code();
        }
        let without = form.without.iter().filter(|_| !has_path);
        for (kind, word) in without.chain(&form.always) {
            kind.apply(word, self.base.as_ref(), &mut self.effects);
        }
        if !form.operands.writes() && !task.plain.operands.writes() {
            self.effects.marked.extend(&self.marked);
        }
        self.effects.marked.sort_unstable();
        self.effects.marked.dedup();
        self.effects
    }
}

fn runs_a_command(task: &Task) -> bool {
    (0..4).any(|place| task.plain.operands.rest(place).is_some())
}

fn is_assignment(word: &Word) -> bool {
    let Some((name, _)) = word.text.split_once('=') else { return false };
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
