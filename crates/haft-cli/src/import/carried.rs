use crate::user_directories::UserDirectories;
use haft::tools_core::RuleLanguage;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml_edit::{Table, Value};

/// A table, with the file and the place in it that it is from.
type Sourced = (Table, (String, String));

/// Names a list of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum List {
    Allow,
    Ask,
    Deny,
}

impl List {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    pub(super) const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];
}

/// Something that was not carried over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Left {
    /// The file it stands in.
    pub(super) file: String,
    /// Where in it, as a path of keys.
    pub(super) at: String,
    /// Why, with what to write instead where something can be.
    pub(super) why: String,
}

/// Gathers what is to be carried over into one file, and what cannot be.
pub(super) struct Carried {
    language: RuleLanguage,
    /// Whether it is for the user's own file.
    pub(super) is_users: bool,
    /// Where the relative paths of the file begin that is written.
    folder: PathBuf,
    file: String,
    pub(super) rules: Vec<(List, String)>,
    /// Single settings by their keys, such as `permissions.mode`, with where each comes from.
    pub(super) settings: Vec<(String, Value, (String, String))>,
    /// Further directories.
    pub(super) roots: Vec<String>,
    /// Tables of servers and providers, by their keys.
    pub(super) tables: BTreeMap<(&'static str, String), Sourced>,
    pub(super) left: Vec<Left>,
}

impl Carried {
    pub(super) fn new(language: RuleLanguage, is_users: bool, folder: PathBuf) -> Self {
        Self {
            language,
            is_users,
            folder,
            file: String::new(),
            rules: Vec::new(),
            settings: Vec::new(),
            roots: Vec::new(),
            tables: BTreeMap::new(),
            left: Vec::new(),
        }
    }

    /// Says which file the next things stand in.
    pub(super) fn reading(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    /// Says that something is not carried over, and why.
    pub(super) fn leave(&mut self, at: impl Into<String>, why: impl Into<String>) {
        let left = Left { file: self.file.clone(), at: at.into(), why: why.into() };
        if !self.left.contains(&left) {
            self.left.push(left);
        }
    }

    /// Carries a rule over, if it can be read.
    pub(super) fn rule(&mut self, list: List, rule: String, at: &str) {
        match self.language.rule(&rule) {
            Ok(_) => {
                if !self.rules.contains(&(list, rule.clone())) {
                    self.rules.push((list, rule));
                }
            }
            Err(error) => self.leave(at, format!("as the rule `{rule}` it cannot be read: {error}")),
        }
    }

    /// Carries a setting over, and tells whether it was; the first that says it counts.
    pub(super) fn setting(&mut self, key: &str, value: impl Into<Value>, at: &str) -> bool {
        let value = value.into();
        match self.settings.iter().find(|(other, _, _)| other == key) {
            Some((_, other, _)) if other.to_string().trim() == value.to_string().trim() => true,
            Some(_) => {
                self.leave(
                    at,
                    format!("another file says something else of `{key}`, which was carried over"),
                );
                false
            }
            None => {
                self.settings.push((key.to_owned(), value, (self.file.clone(), at.to_owned())));
                true
            }
        }
    }

    /// Carries a further directory over, which has to be there: without it, nothing could be worked in.
    pub(super) fn root(&mut self, path: &str, at: &str) {
        if !UserDirectories::found(&self.folder, Path::new(path)).is_dir() {
            self.leave(
                at,
                format!(
                    "there is no directory `{path}`; write it as one of `roots` of `[workdir]` once there is"
                ),
            );
        } else if !self.roots.iter().any(|root| root == path) {
            self.roots.push(path.to_owned());
        }
    }

    /// Carries a table over; the first of a name counts.
    pub(super) fn table(&mut self, below: &'static str, name: &str, table: Table, at: &str) {
        let key = (below, name.to_owned());
        match self.tables.get(&key) {
            Some((other, _)) if other.to_string() == table.to_string() => {}
            Some(_) => self.leave(at, format!("another file has a `{name}`, too, which was carried over")),
            None => drop(self.tables.insert(key, (table, (self.file.clone(), at.to_owned())))),
        }
    }
}
