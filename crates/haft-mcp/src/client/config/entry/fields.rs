use super::EntryReader;
use crate::client::config::document::{Key, Node};
use crate::client::config::servers_file::not_known;
use haft_tools_core::nearest;
use std::collections::BTreeMap;

/// The fields of a server, each with how others write it.
pub(in crate::client::config) const FIELDS: [(&str, &[&str]); 19] = [
    ("command", &[]),
    ("args", &["arguments"]),
    ("env", &[]),
    ("cwd", &["directory"]),
    ("url", &["serverUrl", "server_url", "httpUrl"]),
    ("headers", &["http_headers"]),
    ("login", &["oauth", "auth"]),
    ("authorities", &["ca", "ca_file", "caFile"]),
    ("unix", &["socket"]),
    ("type", &["transport"]),
    ("disabled", &[]),
    ("enabled", &[]),
    ("start", &[]),
    ("era", &[]),
    ("log_level", &["logLevel"]),
    ("resource_tools", &["resourceTools"]),
    ("limits", &[]),
    ("orders_itself", &["ordersItself"]),
    ("repeatable", &[]),
];

/// Fields of other clients that have no effect here, with what has.
const OF_OTHERS: [(&[&str], &str); 4] = [
    (
        &["autoApprove", "alwaysAllow", "trust", "autoApproveTools"],
        "what may be called is said by the rules of a policy",
    ),
    (
        &["timeout", "startupTimeout", "tool_timeout_sec", "startup_timeout_sec"],
        "write `limits = { start_timeout, idle_timeout, timeout }`",
    ),
    (&["envFile"], "write the variables in `env`"),
    (&["disabledTools", "enabledTools", "tools"], "which tools there are is said by the rules of a policy"),
];

/// Fields that only describe.
pub(in crate::client::config) const DESCRIBING: [&str; 6] =
    ["description", "name", "version", "gallery", "icon", "$schema"];

/// Holds the fields of a server by their first names.
pub(super) type Fields<'n> = BTreeMap<&'static str, (&'n Key, &'n Node)>;

/// Says that a field has a value already, whichever of its words it was given by.
pub(super) fn written_twice(word: &str, first: &str) -> String {
    if word == first {
        return "it is written twice; remove one of them".to_owned();
    }
    format!("it is another word for `{first}`, which is written, too; remove one of them")
}

impl EntryReader<'_> {
    /// Sorts the fields by their names; tells of those that have no effect.
    pub(super) fn fields<'n>(&mut self, members: &'n [(Key, Node)]) -> Fields<'n> {
        let mut fields = Fields::new();
        for (key, value) in members {
            let word = key.text.as_str();
            let known = FIELDS.iter().find(|(name, others)| *name == word || others.contains(&word));
            if let Some((name, _)) = known {
                if let Some((first, _)) = fields.insert(*name, (key, value)) {
                    self.refuse(&key.span, Some(word), written_twice(word, &first.text));
                }
            } else if let Some((_, instead)) = OF_OTHERS.iter().find(|(words, _)| words.contains(&word)) {
                self.warn(&key.span, word, format!("it has no effect here; {instead}"));
            } else if !DESCRIBING.contains(&word) {
                let words = FIELDS.iter().flat_map(|(name, others)| others.iter().chain([name]));
                let meant = nearest(word, words.copied()).first().copied();
                self.warn(&key.span, word, not_known(meant));
            }
        }
        fields
    }
}
