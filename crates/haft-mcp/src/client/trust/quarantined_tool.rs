use haft_core::Digest;
use serde_json::Value;
use std::sync::Arc;

/// Is a tool that a server lists and nobody may call, with everything that is said of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct QuarantinedTool {
    /// The name the server gives it.
    pub name: String,
    /// Identifies the definition: what is accepted is accepted by it.
    pub digest: Digest,
    /// What a model or a person would be told of it, as the server sent it; at most about 1 MiB.
    pub definition: Arc<Value>,
    /// Why it cannot be called, such as `its description changed since it was accepted`.
    pub why: String,
}
