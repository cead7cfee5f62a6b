//! The identifiers of calls.

use crate::complaint::Fault;
use haft_core::{CallId, Message};
use std::sync::Arc;

/// What the ids begin with that are made here.
const MADE: &str = "call_";

/// Reads the id of a call, or makes one of the turn's number where the service gives none.
pub(crate) fn identified(id: Option<&str>, turn: usize, call: u32) -> Result<CallId, Fault> {
    let id = id.map_or_else(String::new, str::to_owned);
    let id = if id.is_empty() { format!("{MADE}{turn}_{call}") } else { id };
    id.parse().map_err(|_| Fault::unreadable("the id of a call is too long, or has control characters"))
}

/// Numbers the turn that answers these messages: no id of theirs was made with that number, or with one above it.
///
/// Each turn has more messages before it than the last, unless some of them were left out.
pub(crate) fn turn_number(messages: &[Arc<Message>]) -> usize {
    let made = messages.iter().flat_map(|message| message.tool_calls()).filter_map(|call| {
        let (turn, _) = call.id.as_str().strip_prefix(MADE)?.split_once('_')?;
        turn.parse::<usize>().ok()?.checked_add(1)
    });
    made.fold(messages.len(), usize::max)
}

#[cfg(test)]
mod tests {
    use super::{identified, turn_number};
    use haft_core::{AssistantPart, Message, ToolCall};
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn an_id_that_is_made_is_new_also_where_messages_are_left_out() {
        let told = |ids: &[&str]| {
            let calls = ids.iter().map(|id| ToolCall::new(id.parse().unwrap(), "look", json!({})));
            let parts = calls.map(|call| AssistantPart::ToolCall { call }).collect();
            vec![Arc::new(Message::user("Go on.")), Arc::new(Message::Assistant { parts })]
        };
        assert_eq!(turn_number(&told(&[])), 2);
        assert_eq!(turn_number(&told(&["call_7_0", "call_3_9", "call_x_0", "call_8", "toolu_99_1"])), 8);
        assert_eq!(turn_number(&told(&["call_18446744073709551615_0"])), 2);
        let id = |service, turn| identified(service, turn, 1).unwrap().to_string();
        assert_eq!(
            (id(Some("mine"), 8), id(Some(""), 8), id(None, 8)),
            ("mine".into(), "call_8_1".into(), "call_8_1".into())
        );
    }
}
