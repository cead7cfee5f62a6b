//! Which tools are to be called, as both of OpenAI's ways take it.

use crate::ToolChoice;
use crate::names::NameRule;
use serde_json::{Value, json};

/// Writes the word for a choice; `named` writes the choice of one tool.
pub(super) fn choice(
    choice: &ToolChoice,
    rule: NameRule,
    named: impl FnOnce(&str) -> Value,
) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Tool(name) => Some(named(&rule.written(name.as_str()))),
    }
}
