use crate::CallId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Asks for one tool by name, with JSON arguments: one request of a model.
///
/// Everything here is as the model wrote it, so `name` need not be the name of any tool and `input` need not fit its
/// schema; both are checked when the call is executed. Arguments that were not JSON at all arrive as a JSON string
/// holding the raw text, so that nothing is lost and the model can be told what was wrong.
///
/// ```
/// use haft_core::ToolCall;
/// use serde_json::json;
///
/// let call = ToolCall::new("call_1".parse()?, "read_file", json!({ "path": "src/lib.rs" }));
/// assert_eq!(call.name, "read_file");
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// Ties the reply to this call; unique within one batch.
    pub id: CallId,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments; normally a JSON object.
    #[serde(default)]
    pub input: Value,
}

impl ToolCall {
    /// Makes a call of the tool called `name`.
    pub fn new(id: CallId, name: impl Into<String>, input: Value) -> Self {
        Self { id, name: name.into(), input }
    }
}
