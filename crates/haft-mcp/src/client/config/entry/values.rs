use super::EntryReader;
use super::fields::Fields;
use crate::client::config::document::{Key, Node, NodeValue};
use haft_tools_core::listed;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The most arguments, variables or headers of a server.
const MOST_ITEMS: usize = 256;

impl EntryReader<'_> {
    pub(super) fn word<T: Copy>(
        &mut self,
        fields: &Fields<'_>,
        name: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let (key, value) = fields.get(name)?;
        let NodeValue::Text(text) = &value.value else {
            self.unfit(key, value, "a text");
            return None;
        };
        let found = words.iter().find(|(word, _)| word == text).map(|(_, meant)| *meant);
        if found.is_none() {
            let words = listed(words.iter().map(|(word, _)| *word), "or");
            self.refuse(&value.span, Some(&key.text), format!("`{text}` is not known; write {words}"));
        }
        found
    }

    pub(super) fn switch(&mut self, fields: &Fields<'_>, name: &str) -> Option<bool> {
        let (key, value) = fields.get(name)?;
        if let NodeValue::Switch(switch) = value.value {
            return Some(switch);
        }
        self.unfit(key, value, "`true` or `false`");
        None
    }

    pub(super) fn names(&mut self, fields: &Fields<'_>, name: &str) -> BTreeSet<String> {
        let Some((key, value)) = fields.get(name) else { return BTreeSet::new() };
        let NodeValue::List(items) = &value.value else {
            self.unfit(key, value, "a list of names");
            return BTreeSet::new();
        };
        let name = |item: &Node| {
            if let NodeValue::Text(text) = &item.value {
                return Some(text.clone());
            }
            self.unfit(key, item, "a text");
            None
        };
        items.iter().filter_map(name).collect()
    }

    pub(super) fn path(&mut self, fields: &Fields<'_>, name: &str) -> Option<PathBuf> {
        let (key, value) = fields.get(name)?;
        let path = self.text(&key.text, value)?;
        if path.is_empty() || path.contains('\0') {
            self.refuse(&value.span, Some(&key.text), "it is not a path; write one, or remove it");
        }
        Some(path.into())
    }

    pub(super) fn texts(&mut self, key: &Key, items: &[Node]) -> Option<Vec<String>> {
        if items.len() > MOST_ITEMS {
            self.refuse(
                &key.span,
                Some(&key.text),
                format!("it has more than {MOST_ITEMS} texts; write fewer"),
            );
            return None;
        }
        let text = |(place, item)| {
            let field = format!("{}[{place}]", key.text);
            let text = self.text(&field, item)?;
            if text.contains('\0') {
                self.refuse(&item.span, Some(&field), "it holds a NUL");
            }
            Some(text)
        };
        items.iter().enumerate().map(text).collect()
    }

    /// Reads texts with names; a name that stands there twice is refused.
    pub(super) fn pairs(
        &mut self,
        fields: &Fields<'_>,
        name: &str,
        check: impl Fn(&str, &str) -> Result<(), &'static str>,
    ) -> BTreeMap<String, String> {
        let mut pairs = BTreeMap::new();
        let Some((key, value)) = fields.get(name) else { return pairs };
        let NodeValue::Table(members) = &value.value else {
            self.unfit(key, value, "a table of texts");
            return pairs;
        };
        if members.len() > MOST_ITEMS {
            self.refuse(
                &key.span,
                Some(&key.text),
                format!("it has more than {MOST_ITEMS} texts; write fewer"),
            );
            return pairs;
        }
        let mut seen = BTreeSet::new();
        for (member, value) in members {
            let field = format!("{}.{}", key.text, member.text);
            if !seen.insert(&member.text) {
                self.refuse(&member.span, Some(&field), "it is written twice; remove one of them");
            }
            let Some(text) = self.text(&field, value) else { continue };
            match check(&member.text, &text) {
                Ok(()) => drop(pairs.insert(member.text.clone(), text)),
                Err(message) => self.refuse(&value.span, Some(&field), message),
            }
        }
        pairs
    }

    /// Reads a text and replaces its variables; numbers and switches are taken as they are written.
    pub(super) fn text(&mut self, field: &str, value: &Node) -> Option<String> {
        match &value.value {
            NodeValue::Text(text) => match (self.expand)(text) {
                Ok(text) => Some(text),
                Err(error) => {
                    self.refuse(&value.span, Some(field), error.to_string());
                    None
                }
            },
            NodeValue::Number(number) => Some(number.clone()),
            NodeValue::Switch(switch) => Some(switch.to_string()),
            _ => {
                self.refuse(&value.span, Some(field), format!("it is {}; write a text", value.kind()));
                None
            }
        }
    }

    pub(super) fn unfit(&mut self, key: &Key, value: &Node, due: &str) {
        self.refuse(&value.span, Some(&key.text), format!("it is {}; write {due}", value.kind()));
    }
}
