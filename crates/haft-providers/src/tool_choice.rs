use haft_core::ToolName;
use haft_model::ModelRequest;

/// Says whether a model may, must or must not call tools in a turn that offers some.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// It calls at least one.
    Required,
    /// It calls none; they stay in the request, so that what is cached of it stays valid.
    None,
    /// It calls this one.
    Tool(ToolName),
}

impl ToolChoice {
    /// What holds for a request: one that lets the model make no calls has the last word.
    pub(crate) fn of(&self, request: &ModelRequest) -> &Self {
        if request.without_calls { &Self::None } else { self }
    }
}
