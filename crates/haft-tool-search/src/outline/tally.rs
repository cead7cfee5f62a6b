use super::source::MOST_BYTES;
use crate::wording::{not_searched, not_walked};
use haft_workdir::Skipped;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How many extensions of files in other languages are named.
const NAMED: usize = 5;

/// How many extensions are told apart, so that names which a program made up do not fill the memory.
const MOST_EXTENSIONS: usize = 200;

/// The longest extension that is told apart, in bytes.
const LONGEST: usize = 12;

/// What was looked at and what was not, in a part of a search or all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Files that were looked at.
    pub(super) searched: u64,
    /// Files in which there is nothing to be shown.
    pub(super) empty: u64,
    /// Files that are not as their language says, which the text does not say of each.
    pub(super) broken: u64,
    /// Files in languages that cannot be read, by extension; the empty one stands for none, and for others when there are many.
    pub(super) others: BTreeMap<Box<str>, u64>,
    pub(super) binary: u64,
    pub(super) too_large: u64,
    pub(super) unreadable_files: u64,
    pub(super) skipped: Skipped,
}

impl Tally {
    pub(super) fn add_other(&mut self, extension: Option<&str>, files: u64) {
        // What is no extension but a part of a name says nothing about a language.
        let is_one =
            |name: &&str| name.len() <= LONGEST && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let extension = extension.filter(is_one).unwrap_or_default();
        let has_room = self.others.len() < MOST_EXTENSIONS || self.others.contains_key(extension);
        let key = if has_room { extension } else { "" };
        *self.others.entry(key.into()).or_default() += files;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.searched += other.searched;
        self.empty += other.empty;
        self.broken += other.broken;
        self.binary += other.binary;
        self.too_large += other.too_large;
        self.unreadable_files += other.unreadable_files;
        self.skipped += other.skipped;
        for (extension, files) in &other.others {
            self.add_other(Some(extension), *files);
        }
    }

    /// Says what was not searched; empty where that is nothing.
    pub(super) fn sentence(&self) -> String {
        let others: u64 = self.others.values().sum();
        let mut by_number: Vec<(&str, u64)> = self
            .others
            .iter()
            .filter(|(name, _)| !name.is_empty())
            .map(|(name, files)| (&**name, *files))
            .collect();
        by_number.sort_by_key(|(_, files)| std::cmp::Reverse(*files));
        let named: Vec<String> =
            by_number.iter().take(NAMED).map(|(name, files)| format!("{files} `.{name}`")).collect();
        let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
        let too_large = format!(" over {} MiB", MOST_BYTES >> 20);
        let in_others = format!(" in other languages{named}");
        let files = [
            (others, "file", &*in_others),
            (self.binary, "binary file", ""),
            (self.too_large, "file", &*too_large),
            (self.unreadable_files, "file", " that cannot be read"),
        ];
        not_searched(&[&files[..], &not_walked(self.skipped)].concat())
    }

    /// What the host is told of what was not searched.
    pub(super) fn details(&self) -> Value {
        json!({
            "hidden": self.skipped.hidden,
            "ignored": self.skipped.ignored,
            "other_languages": self.others,
            "binary": self.binary,
            "too_large": self.too_large,
            "unreadable_files": self.unreadable_files,
            "unreadable_directories": self.skipped.unreadable,
            "not_unicode": self.skipped.not_unicode,
            "denied": self.skipped.held_back,
        })
    }
}
