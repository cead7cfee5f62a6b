use haft_core::{ReplyStatus, ToolError, ToolOutput};

/// Holds what a call is answered with, before it is bounded and recorded.
///
/// ```
/// use haft_core::{ReplyStatus, ToolError, ToolOutput};
/// use haft_tools_core::LayerAnswer;
///
/// assert_eq!(LayerAnswer::from(ToolOutput::text("done")).status, ReplyStatus::Ok);
/// assert_eq!(LayerAnswer::from(ToolError::denied("not on a Sunday")).status, ReplyStatus::Denied);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LayerAnswer {
    /// How the call ended.
    pub status: ReplyStatus,
    /// What the model reads.
    pub output: ToolOutput,
}

impl LayerAnswer {
    /// Makes an answer of a status and what the model reads.
    pub fn new(status: ReplyStatus, output: impl Into<ToolOutput>) -> Self {
        Self { status, output: output.into() }
    }
}

impl From<ToolOutput> for LayerAnswer {
    fn from(output: ToolOutput) -> Self {
        Self::new(ReplyStatus::Ok, output)
    }
}

/// Takes the error's kind as the status and its message as the output; its source stays behind.
impl From<ToolError> for LayerAnswer {
    fn from(error: ToolError) -> Self {
        Self::new(error.kind().into(), error.message())
    }
}
