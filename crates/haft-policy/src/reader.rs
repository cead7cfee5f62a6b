use crate::instead::instead;
use crate::problem::Problems;
use crate::source_text::SourceText;
use haft_tools_core::{AccessMode, Rule, RuleError, RuleLanguage};
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue};

/// The most rules of a policy file and of what it includes, together.
const MOST_RULES: usize = 10_000;

pub(crate) type Key<'d> = Spanned<DeString<'d>>;
pub(crate) type Value<'d> = Spanned<DeValue<'d>>;

/// Reads the values of one file, and gathers what is wrong with them.
pub(crate) struct Reader<'a> {
    pub(crate) source: &'a SourceText,
    pub(crate) language: &'a RuleLanguage,
    pub(crate) problems: Problems,
    /// Whether rules over what the language has no patterns of are left out instead of refused.
    pub(crate) leaves_out_unknown_patterns: bool,
    /// How many rules were met, in files that were read before too.
    pub(crate) rules: usize,
    /// Lines that are no TOML, of which nothing else is said.
    broken: Vec<u32>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(source: &'a SourceText, language: &'a RuleLanguage) -> Self {
        let problems = Problems::default();
        Self { source, language, problems, leaves_out_unknown_patterns: false, rules: 0, broken: Vec::new() }
    }

    pub(crate) fn refuse(&mut self, range: &Range<usize>, message: impl Into<String>) {
        if !self.broken.contains(&self.source.line_of(range.start)) {
            self.problems.add(self.source.problem(range, message));
        }
    }

    /// Says that all which is not TOML was refused: what else is refused on the same lines comes of that.
    pub(crate) fn syntax_is_read(&mut self) {
        self.broken = self.problems.lines();
    }

    /// Refuses a key that the table does not have.
    pub(crate) fn unknown(&mut self, key: &Key<'_>, table: &str, known: &[&str]) {
        let word = key.get_ref();
        let instead = instead(word, known.iter().copied());
        self.refuse(&key.span(), format!("`{word}` is not a key of {table}; {instead}"));
    }

    pub(crate) fn table<'v, 'd>(&mut self, value: &'v Value<'d>, key: &str) -> Option<&'v DeTable<'d>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.unfit(value, key, "a table");
        }
        table
    }

    pub(crate) fn list<'v, 'd>(&mut self, value: &'v Value<'d>, key: &str) -> Option<&'v DeArray<'d>> {
        let list = value.get_ref().as_array();
        if list.is_none() {
            self.unfit(value, key, "a list");
        }
        list
    }

    pub(crate) fn text<'v>(&mut self, value: &'v Value<'_>, key: &str) -> Option<&'v str> {
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.unfit(value, key, "a text");
        }
        text
    }

    pub(crate) fn texts<'v, 'd>(&mut self, value: &'v Value<'d>, key: &str) -> Vec<(&'v str, &'v Value<'d>)> {
        let values = self.list(value, key).into_iter().flatten();
        let mut texts = Vec::new();
        for value in values {
            texts.extend(self.text(value, &format!("each of `{key}`")).map(|text| (text, value)));
        }
        texts
    }

    /// Reads one of the words there are.
    pub(crate) fn word<T: Copy>(&mut self, value: &Value<'_>, what: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(value, what)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, meant)| *meant);
        if found.is_none() {
            let instead = instead(text, words.iter().map(|(word, _)| *word));
            self.refuse(&self.within(value, 0..text.len()), format!("`{text}` is not {what}; {instead}"));
        }
        found
    }

    /// Reads what a rule language reads, and points into the text where it does not.
    pub(crate) fn in_language<T>(
        &mut self,
        value: &Value<'_>,
        read: impl FnOnce(&RuleLanguage) -> Result<T, RuleError>,
    ) -> Option<T> {
        match read(self.language) {
            Ok(read) => Some(read),
            Err(error) => {
                self.refuse(&self.within(value, error.range()), error.to_string());
                None
            }
        }
    }

    /// Reads a rule, of which no more are read than a policy may have: each takes memory.
    pub(crate) fn rule(&mut self, text: &str, value: &Value<'_>) -> Option<Rule> {
        if self.leaves_out_unknown_patterns && !self.knows_patterns_of(text) {
            return None;
        }
        self.rules += 1;
        if self.rules > MOST_RULES {
            if self.rules == MOST_RULES + 1 {
                let message = format!(
                    "a policy has at most {MOST_RULES} rules, all that it includes counted; use wider patterns"
                );
                self.refuse(&value.span(), message);
            }
            return None;
        }
        let line = self.source.line_of(value.span().start);
        let rule = self.in_language(value, |language| language.rule(text))?;
        Some(rule.written_in(Arc::clone(self.source.name()), line))
    }

    /// Tells whether the language can read patterns of the mode that a rule or an access begins with.
    pub(crate) fn knows_patterns_of(&self, text: &str) -> bool {
        let modes = [AccessMode::Read, AccessMode::Write, AccessMode::Execute, AccessMode::Connect];
        let word = text.split('(').next().unwrap_or_default();
        modes.into_iter().find(|mode| mode.to_string() == word).is_none_or(|mode| self.language.knows(mode))
    }

    /// Finds a part of a text in the file; the whole text, where it is not written as it reads.
    pub(crate) fn within(&self, value: &Value<'_>, part: Range<usize>) -> Range<usize> {
        let whole = value.span();
        let (Some(text), Some(raw)) = (value.get_ref().as_str(), self.source.text().get(whole.clone()))
        else {
            return whole;
        };
        // One quote, or three of them with or without a line end.
        let as_written = [1, 3, 4, 5].into_iter().find(|quotes| {
            let end = quotes + text.len();
            raw.get(*quotes..end) == Some(text) && raw[end..].len() <= 3
        });
        match as_written {
            Some(quotes) if part.end <= text.len() => {
                let start = whole.start + quotes;
                start + part.start..start + part.end
            }
            _ => whole,
        }
    }

    fn unfit(&mut self, value: &Value<'_>, key: &str, wanted: &str) {
        let found = match value.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let key = if key.contains(' ') { key.to_owned() } else { format!("`{key}`") };
        self.refuse(&value.span(), format!("{key} is {wanted}, and this is {found}"));
    }
}
