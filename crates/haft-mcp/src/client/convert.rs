//! What a server answers, as the outputs and errors of tools.

mod error;
mod structured;

pub(crate) use error::{begun_error, fault_error, login_error, rpc_error};

use crate::client::content::{block, left_out};
use crate::client::listing::Definition;
use crate::shown::shown;
use haft_core::{Content, ToolError, ToolOutput};
use serde_json::Value;
use structured::{is_mirror, take_structured};

/// The most bytes of what a tool says of its own failure.
const MOST_ERROR_BYTES: usize = 16 << 10;

/// Makes an output of a call's result, or the error it tells of.
pub(crate) fn output(result: Value, tool: &Definition) -> Result<ToolOutput, ToolError> {
    let name = tool.spec.name();
    let Value::Object(mut members) = result else {
        return Err(ToolError::failed(format!(
            "the server answered `{name}` with no result; go on without it"
        )));
    };
    let is_error = members.get("isError") == Some(&Value::Bool(true));
    let mut content: Vec<Content> = match members.remove("content") {
        Some(Value::Array(blocks)) => blocks.into_iter().map(block).collect(),
        None | Some(Value::Null) => Vec::new(),
        Some(_) => vec![left_out("what was answered", "it is not a list of blocks")],
    };
    if is_error {
        let said = ToolOutput::new(content).to_text();
        let said = match (said.trim().is_empty(), members.remove("structuredContent")) {
            (false, _) => shown(&said, MOST_ERROR_BYTES),
            (true, Some(data)) if !data.is_null() => shown(&data.to_string(), MOST_ERROR_BYTES),
            (true, _) => format!("`{name}` failed and did not say why; try something else"),
        };
        return Err(ToolError::failed(said));
    }
    let Some(structured) = take_structured(&mut members, tool)? else { return Ok(ToolOutput::new(content)) };
    // Servers say the same as text for those who know no data; once is enough.
    let mut data = Some(Content::json(structured.clone()));
    content.retain_mut(|part| match part {
        Content::Text { text } if is_mirror(text, &structured) => match data.take() {
            Some(data) => {
                *part = data;
                true
            }
            None => false,
        },
        _ => true,
    });
    content.extend(data);
    Ok(ToolOutput::new(content).with_structured(structured))
}

#[cfg(test)]
mod tests;
