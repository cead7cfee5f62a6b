use serde::Serialize;

/// Describes what can be filled in a prompt.
///
/// ```
/// use haft_mcp::PromptArgument;
///
/// let branch = PromptArgument::new("branch").description("The branch to review.").required();
/// assert_eq!((branch.name.as_str(), branch.required), ("branch", true));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// Whether it must be filled in.
    pub required: bool,
}

impl PromptArgument {
    /// Describes an argument that can be left out.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), description: None, required: false }
    }

    /// Says what it is.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Says that it must be filled in.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }
}
