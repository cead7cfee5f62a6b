use crate::reader::{Reader, Value};
use haft_tools_core::{Rule, Rules};

/// The keys of a table of rules.
pub(crate) const LISTS: [&str; 3] = ["allow", "ask", "deny"];

/// Holds the rules of a table, in the order in which they are written.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleLists {
    pub(crate) allow: Vec<Rule>,
    pub(crate) ask: Vec<Rule>,
    pub(crate) deny: Vec<Rule>,
}

impl RuleLists {
    /// Reads one list, under one of the keys of [`LISTS`].
    pub(crate) fn read(&mut self, reader: &mut Reader<'_>, key: &str, value: &Value<'_>) {
        let list = match key {
            "allow" => &mut self.allow,
            "ask" => &mut self.ask,
            _ => &mut self.deny,
        };
        for (text, value) in reader.texts(value, key) {
            list.extend(reader.rule(text, value));
        }
    }

    pub(crate) fn extend(&mut self, other: &Self) {
        self.allow.extend_from_slice(&other.allow);
        self.ask.extend_from_slice(&other.ask);
        self.deny.extend_from_slice(&other.deny);
    }

    pub(crate) fn to_rules(&self) -> Rules {
        let rules = self.allow.iter().cloned().fold(Rules::new(), Rules::allow);
        let rules = self.ask.iter().cloned().fold(rules, Rules::ask);
        self.deny.iter().cloned().fold(rules, Rules::deny)
    }
}
