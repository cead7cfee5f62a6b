use super::kind::Kind;
use std::collections::HashMap;
use std::ops::Range;

/// A part of an entry that does not follow the format.
#[derive(Debug)]
pub(super) struct Fault {
    /// The part, as it is written.
    pub(super) part: String,
    /// What is wrong with it, and what would be right.
    pub(super) reason: &'static str,
}

impl Fault {
    pub(super) fn new(part: &str, reason: &'static str) -> Self {
        Self { part: part.to_owned(), reason }
    }
}

/// One option.
#[derive(Clone, Debug)]
pub(super) struct Opt {
    /// What its values are; none for a flag.
    pub(super) values: Box<[Kind]>,
    /// Whether its value can be left out, and has to be in the same word otherwise.
    pub(super) is_optional: bool,
    /// Whether it is known to do something that is not said.
    pub(super) is_marked: bool,
}

/// The options of a command, by their text with its dashes.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    by_text: HashMap<Box<str>, Opt>,
    /// Whether `-` and digits is an option.
    pub(super) takes_number: bool,
    /// Whether options that are not listed are accepted.
    pub(super) is_open: bool,
}

impl Options {
    /// The option, with the text under which it is listed.
    pub(super) fn get(&self, text: &str) -> Option<(&str, &Opt)> {
        self.by_text.get_key_value(text).map(|(name, opt)| (&**name, opt))
    }

    /// Adds options such as `-abc`, `--all`, `-o=write`, `--color[=text]`, `--hook=shell!` and `-#`.
    ///
    /// In a command whose options are words after one dash, `-abc` is one of them, otherwise three.
    pub(super) fn add(&mut self, text: &str, has_words: bool) -> Result<(), Fault> {
        for item in text.split_whitespace() {
            if item == "-#" {
                self.takes_number = true;
                continue;
            }
            let (rest, is_marked) = item
                .strip_suffix('!')
                .filter(|rest| !rest.is_empty())
                .map_or((item, false), |rest| (rest, true));
            let optional = rest.strip_suffix(']').and_then(|rest| rest.split_once("[="));
            let (name, values, is_optional) = match (optional, rest.split_once('=')) {
                (Some((name, kinds)), _) => (name, values(item, kinds)?, true),
                (None, Some((name, kinds))) => (name, values(item, kinds)?, false),
                (None, None) => (rest, Box::default(), false),
            };
            let opt = Opt { values, is_optional, is_marked };
            let letters = name.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            match letters {
                Some(letters) if !has_words && letters.len() > 1 => {
                    if !opt.values.is_empty() {
                        return Err(Fault::new(
                            item,
                            "several letters cannot have a value; write each with its own",
                        ));
                    }
                    for letter in letters.chars() {
                        self.insert(item, format!("-{letter}"), opt.clone())?;
                    }
                }
                Some("") => return Err(Fault::new(item, "an option needs a letter or a word")),
                None if !name.starts_with("--") && !has_words && name.len() > 1 => {
                    return Err(Fault::new(
                        item,
                        "an option starts with a dash; `words = true` allows others",
                    ));
                }
                _ => self.insert(item, name.to_owned(), opt)?,
            }
        }
        Ok(())
    }

    fn insert(&mut self, item: &str, name: String, opt: Opt) -> Result<(), Fault> {
        match self.by_text.insert(name.into(), opt) {
            None => Ok(()),
            Some(_) => Err(Fault::new(item, "the option is listed twice")),
        }
    }
}

/// Reads `kind` or `kind,kind`.
fn values(item: &str, kinds: &str) -> Result<Box<[Kind]>, Fault> {
    kinds.split(',').map(|kind| Kind::parse(kind).ok_or_else(|| Fault::new(item, KINDS))).collect()
}

const KINDS: &str = "the kind is none of: text, (a|b), read, read-tree, write, write-tree, out, edit, edit-tree, file-url, \
    at-file, name, package, revision, host, url, remote-read, remote-write, command, exec, exec-all, shell, eval, code, directory, placeholder, \
    assign, variable, plus, sed, awk, sql, jq, format, keys, unknown";

/// What the operands of a command are, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Operands {
    /// Before the repeated one.
    first: Box<[Kind]>,
    /// How many of the first may be missing.
    optional: usize,
    repeated: Option<Kind>,
    /// After the repeated one.
    last: Box<[Kind]>,
}

impl Operands {
    /// Reads `text read* write`: kinds, of which the first ones may end in `?` and one in `*` or `+`.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        let (mut first, mut last, mut repeated, mut optional) = (Vec::new(), Vec::new(), None, 0);
        for item in text.split_whitespace() {
            let name = item.trim_end_matches(['?', '*', '+']);
            let kind = Kind::parse(name).ok_or_else(|| Fault::new(item, KINDS))?;
            match (&item[name.len()..], &repeated) {
                ("", None) if optional == 0 => first.push(kind),
                ("", Some(_)) => last.push(kind),
                ("?", None) => {
                    optional += 1;
                    first.push(kind);
                }
                ("*", None) => repeated = Some(kind),
                ("+", None) if optional == 0 => {
                    first.push(kind.clone());
                    repeated = Some(kind);
                }
                _ => {
                    return Err(Fault::new(
                        item,
                        "operands are written `kind… kind?… kind* kind…`, with one `*` or `+`",
                    ));
                }
            }
        }
        Ok(Self { first: first.into(), optional, repeated, last: last.into() })
    }

    /// What so many operands are, if there can be so many.
    pub(super) fn assign(&self, count: usize) -> Option<Vec<&Kind>> {
        let fixed = self.first.len() + self.last.len();
        if count + self.optional < fixed || (count > fixed && self.repeated.is_none()) {
            return None;
        }
        let first = self.first.len().min(count - self.last.len());
        let between = count - first - self.last.len();
        let repeated = self.repeated.iter().cycle().take(between);
        Some(self.first[..first].iter().chain(repeated).chain(&self.last).collect())
    }

    /// Which of so many operands may as well be several or none.
    pub(super) fn repeated(&self, count: usize) -> Range<usize> {
        match self.repeated {
            Some(_) => {
                let start = match (self.first.last(), &self.repeated) {
                    (Some(last), Some(repeated)) if last == repeated => self.first.len() - 1,
                    _ => self.first.len(),
                };
                start..count.saturating_sub(self.last.len())
            }
            None => 0..0,
        }
    }

    /// The kind of an operand if it and all that follow belong together: a command or a text for a shell.
    pub(super) fn rest(&self, place: usize) -> Option<&Kind> {
        let kind = self.first.get(place).or(self.repeated.as_ref())?;
        matches!(kind, Kind::Command | Kind::Eval).then_some(kind)
    }

    /// What any number of words can be.
    pub(super) fn repeats(&self) -> Option<&Kind> {
        self.repeated.as_ref()
    }

    /// Whether the first of them is a program, which without one is read from the standard input.
    pub(super) fn begin_with_code(&self) -> bool {
        self.first.first() == Some(&Kind::Code)
    }

    pub(super) fn all_text(&self) -> bool {
        self.first.iter().chain(&self.repeated).chain(&self.last).all(Kind::is_text)
    }

    pub(super) fn writes(&self) -> bool {
        self.first.iter().chain(&self.repeated).chain(&self.last).any(Kind::writes)
    }
}

/// Compares with a pattern in which each `*` stands for anything.
pub(super) fn matches(pattern: &str, word: &str) -> bool {
    let Some((start, mut rest)) = pattern.split_once('*') else { return pattern == word };
    let Some(mut word) = word.strip_prefix(start) else { return false };
    while let Some((middle, after)) = rest.split_once('*') {
        let Some(found) = word.find(middle) else { return false };
        word = &word[found + middle.len()..];
        rest = after;
    }
    word.ends_with(rest)
}
