use crate::{Access, Accesses, CallScope, Preview};
use haft_core::{Digest, Repair, RunId, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Holds a call that waits for a person: plain data that survives the process.
///
/// The digest binds an approval to exactly what was shown: the tool as it was, the input, the accesses and the scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingCall {
    /// The call, with its input as it was repaired.
    pub call: ToolCall,
    /// What was changed in the input the model wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// The run it belongs to.
    pub run: RunId,
    /// The agent that asks, if it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Everything that running it will touch.
    pub accesses: Accesses,
    /// Those accesses that no rule allows.
    pub unmet: Vec<Access>,
    /// What the person is shown.
    pub preview: Preview,
    /// Binds an approval to exactly this.
    pub digest: Digest,
    /// The names of the executor's layers that have let the call go on, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<String>,
    /// Which of these layers made the input that the call has now, 0-based; it is not asked about its own input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_by: Option<u32>,
    /// What these layers want the model to be told beside the output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
}

/// Digests what an approval is bound to.
pub(crate) fn call_digest(
    tool_version: Digest,
    call: &ToolCall,
    accesses: &Accesses,
    scope: &CallScope,
) -> Digest {
    Digest::of(&json!({
        "tool": tool_version,
        "input": call.input,
        "accesses": accesses,
        "scope": scope.chain().map(|link| (link.run(), link.agent())).collect::<Vec<_>>(),
    }))
}
