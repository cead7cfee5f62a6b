use super::EntryReader;
use super::fields::Fields;
use crate::ServerLimits;
use crate::client::config::document::NodeValue;
use crate::client::config::quantity;
use crate::client::config::servers_file::not_known;
use haft_tools_core::nearest;

pub(in crate::client::config) const LIMITS: [&str; 7] =
    ["start", "probe", "idle", "call", "message", "restarts", "restart_window"];

impl EntryReader<'_> {
    pub(super) fn limits(&mut self, fields: &Fields<'_>) -> ServerLimits {
        let mut limits = ServerLimits::default();
        let Some((key, value)) = fields.get("limits") else { return limits };
        let NodeValue::Table(members) = &value.value else {
            self.unfit(key, value, "a table");
            return limits;
        };
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
            let time = match key.text.as_str() {
                "start" => Some(&mut limits.start),
                "probe" => Some(&mut limits.probe),
                "idle" => Some(&mut limits.idle),
                "call" => Some(&mut limits.call),
                "restart_window" => Some(&mut limits.restart_window),
                _ => None,
            };
            let read = match (time, key.text.as_str()) {
                (Some(place), _) => quantity::time(text).map(|time| *place = time),
                (None, "message") => quantity::size(text).map(|bytes| limits.message_bytes = bytes.max(1024)),
                (None, "restarts") => text
                    .parse()
                    .map(|count| limits.restarts = count)
                    .map_err(|_| "it is not a number of times; write one such as `5`".to_owned()),
                (None, word) => {
                    self.warn(&key.span, &field, not_known(nearest(word, LIMITS).first().copied()));
                    Ok(())
                }
            };
            if let Err(message) = read {
                self.refuse(&value.span, Some(&field), message);
            }
        }
        limits
    }
}
