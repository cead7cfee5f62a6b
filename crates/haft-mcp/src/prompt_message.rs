use haft_core::Content;

/// Holds one message of a prompt.
///
/// ```
/// use haft_core::Content;
/// use haft_mcp::{PromptMessage, PromptRole};
///
/// let asked = PromptMessage::new(PromptRole::User, Content::text("Review the last change."));
/// assert_eq!(asked.content.as_text(), Some("Review the last change."));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// In whose name it is.
    pub role: PromptRole,
    /// What is said.
    pub content: Content,
}

/// Says in whose name a message of a prompt is.
///
/// ```
/// use haft_core::Content;
/// use haft_mcp::{PromptMessage, PromptRole};
///
/// let said = [(PromptRole::User, "Review the change."), (PromptRole::Assistant, "Which one?")];
/// let said = said.map(|(role, text)| PromptMessage::new(role, Content::text(text)));
/// assert_eq!(said[1].role, PromptRole::Assistant);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptRole {
    /// Of the person.
    User,
    /// Of the model.
    Assistant,
}

impl PromptMessage {
    /// Makes a message in the name of the person or the model.
    pub fn new(role: PromptRole, content: Content) -> Self {
        Self { role, content }
    }
}
