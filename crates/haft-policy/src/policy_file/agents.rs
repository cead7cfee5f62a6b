use crate::reader::{Reader, Value};
use crate::rule_lists::{LISTS, RuleLists};
use std::collections::BTreeMap;

/// Holds the rules of one agent, as far as a file has some.
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentRules {
    pub(crate) permissions: Option<RuleLists>,
    pub(crate) ceiling: Option<RuleLists>,
}

impl AgentRules {
    pub(crate) fn extend(&mut self, other: &Self) {
        for (mine, others) in
            [(&mut self.permissions, &other.permissions), (&mut self.ceiling, &other.ceiling)]
        {
            if let Some(others) = others {
                mine.get_or_insert_default().extend(others);
            }
        }
    }
}

/// Reads the tables `[agents.NAME.permissions]` and `[agents.NAME.ceiling]`; of others are the keys `agents.KEY`.
pub(super) fn read(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    others: &[&str],
) -> BTreeMap<Box<str>, AgentRules> {
    let is_of_others = |key: &str| others.iter().any(|other| other.strip_prefix("agents.") == Some(key));
    let mut agents = BTreeMap::new();
    for (name, value) in reader.table(value, "agents").into_iter().flatten() {
        let mut agent = AgentRules::default();
        for (key, value) in reader.table(value, "an agent").into_iter().flatten() {
            match &**key.get_ref() {
                "permissions" => agent.permissions = lists(reader, value, "permissions"),
                "ceiling" => agent.ceiling = lists(reader, value, "ceiling"),
                word if is_of_others(word) => {}
                _ => reader.unknown(
                    key,
                    &format!("`[agents.{}]`", name.get_ref()),
                    &["permissions", "ceiling"],
                ),
            }
        }
        agents.insert((**name.get_ref()).into(), agent);
    }
    agents
}

fn lists(reader: &mut Reader<'_>, value: &Value<'_>, name: &str) -> Option<RuleLists> {
    let mut lists = RuleLists::default();
    for (key, value) in reader.table(value, name)? {
        match &**key.get_ref() {
            word if LISTS.contains(&word) => lists.read(reader, word, value),
            _ => reader.unknown(key, &format!("the {name} of an agent"), &LISTS),
        }
    }
    Some(lists)
}
