use super::EntryReader;
use super::fields::{Fields, written_twice};
use crate::ServerLimits;
use crate::client::config::document::NodeValue;
use crate::client::config::quantity;
use crate::client::config::servers_file::not_known;
use haft_tools_core::nearest;
use std::collections::BTreeMap;

/// The limits of a server, each with how it can be written besides.
pub(in crate::client::config) const LIMITS: [(&str, &[&str]); 7] = [
    ("start_timeout", &["start"]),
    ("probe_timeout", &["probe"]),
    ("idle_timeout", &["idle"]),
    ("timeout", &["call"]),
    ("message", &[]),
    ("restarts", &[]),
    ("restart_window", &[]),
];

impl EntryReader<'_> {
    pub(super) fn limits(&mut self, fields: &Fields<'_>) -> ServerLimits {
        let mut limits = ServerLimits::default();
        let Some((key, value)) = fields.get("limits") else { return limits };
        let NodeValue::Table(members) = &value.value else {
            self.unfit(key, value, "a table");
            return limits;
        };
        let mut found = BTreeMap::new();
        for (key, value) in members {
            let field = format!("limits.{}", key.text);
            let text = match &value.value {
                NodeValue::Text(text) | NodeValue::Number(text) => text.as_str(),
                _ => {
                    self.refuse(
                        &value.span,
                        Some(&field),
                        format!("it is {}; write a text or a number", value.kind()),
                    );
                    continue;
                }
            };
            let word = key.text.as_str();
            let Some(name) = limit(word) else {
                let words = LIMITS.iter().flat_map(|(name, others)| others.iter().chain([name]));
                let meant = nearest(word, words.copied()).first().and_then(|near| limit(near));
                self.warn(&key.span, &field, not_known(meant));
                continue;
            };
            if let Some(first) = found.insert(name, word) {
                self.refuse(&key.span, Some(&field), written_twice(word, first));
            }
            let time = match name {
                "start_timeout" => Some(&mut limits.start_timeout),
                "probe_timeout" => Some(&mut limits.probe_timeout),
                "idle_timeout" => Some(&mut limits.idle_timeout),
                "timeout" => Some(&mut limits.timeout),
                "restart_window" => Some(&mut limits.restart_window),
                _ => None,
            };
            let read = match (time, name) {
                (Some(place), _) => quantity::time(text).map(|time| *place = time),
                (None, "message") => quantity::size(text).map(|bytes| limits.message_bytes = bytes.max(1024)),
                (None, _) => text
                    .parse()
                    .map(|count| limits.restarts = count)
                    .map_err(|_| "it is not a number of times; write one such as `5`".to_owned()),
            };
            if let Err(message) = read {
                self.refuse(&value.span, Some(&field), message);
            }
        }
        limits
    }
}

/// Gives the first name of the limit that is written so.
fn limit(word: &str) -> Option<&'static str> {
    LIMITS.iter().find(|(name, others)| *name == word || others.contains(&word)).map(|(name, _)| *name)
}
