use crate::client::listing::Definition;
use crate::shown::shown;
use haft_core::ToolError;
use serde_json::{Map, Value};

/// The most bytes of what is wrong with a result.
const MOST_VIOLATION_BYTES: usize = 2 << 10;

/// Takes the result as data, if it has any and it is what the tool says it gives.
pub(super) fn take_structured(
    members: &mut Map<String, Value>,
    tool: &Definition,
) -> Result<Option<Value>, ToolError> {
    let Some(structured) = members.remove("structuredContent") else { return Ok(None) };
    let checked = tool.output.as_ref().map(|schema| schema.check(&structured));
    match checked {
        Some(Ok(())) => Ok(Some(structured)),
        // Many write so what they do not have.
        _ if structured.is_null() => Ok(None),
        None => Ok(Some(structured)),
        Some(Err(violations)) => Err(ToolError::failed(format!(
            "the server answered `{}` with data that is not what the tool says it gives: {}; it was done, so do not repeat \
             it; go on without its result",
            tool.spec.name(),
            shown(&violations.to_string(), MOST_VIOLATION_BYTES),
        ))),
    }
}

/// Tells whether a text says the same as the data, and nothing more.
pub(super) fn is_mirror(text: &str, data: &Value) -> bool {
    // Where a tool gives something that is no object, it is put into one, and the text is of the thing itself.
    let inside = match data {
        Value::Object(members) if members.len() == 1 => members.get("result"),
        _ => None,
    };
    let says = |value: &Value| matches!(value, Value::String(said) if said == text);
    if says(data) || inside.is_some_and(says) {
        return true;
    }
    let begins = |text: &str| {
        text.trim_start().starts_with([
            '{', '[', '"', 't', 'f', 'n', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9',
        ])
    };
    begins(text)
        && serde_json::from_str::<Value>(text).is_ok_and(|value| value == *data || Some(&value) == inside)
}
