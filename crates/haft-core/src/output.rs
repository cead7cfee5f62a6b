use crate::present::present;
use crate::{Blob, Content, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Holds what a tool gives back when it succeeds.
///
/// `content` is what the model reads; `structured` is the same as data, where the tool has an output schema; `details`
/// is for the host alone (a diff to draw, an exit code to act on) and never reaches the model.
///
/// ```
/// use haft_core::ToolOutput;
/// use serde_json::json;
///
/// let output = ToolOutput::text("3 files changed").with_details(json!({ "files": 3 }));
/// assert_eq!(output.to_text(), "3 files changed");
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolOutput {
    /// What the model reads, in order.
    pub content: Vec<Content>,
    /// The result as data.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// What only the host sees.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// The run that this call started, if it started one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_run: Option<RunId>,
}

impl ToolOutput {
    /// Makes an output of these parts.
    pub fn new(content: Vec<Content>) -> Self {
        Self { content, ..Self::default() }
    }

    /// Makes an output of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![Content::text(text)])
    }

    /// Makes an output of one JSON value, given both as content and as structured data.
    pub fn json(value: Value) -> Self {
        Self { structured: Some(value.clone()), ..Self::new(vec![Content::json(value)]) }
    }

    /// Adds data for the host alone.
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// Adds the result as data.
    pub fn with_structured(mut self, structured: Value) -> Self {
        self.structured = Some(structured);
        self
    }

    /// Names the run that this call started.
    pub fn with_child_run(mut self, run: RunId) -> Self {
        self.child_run = Some(run);
        self
    }

    /// Joins what can be read as text, one part a line: texts as they are, JSON compactly, the rest as a short note.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for part in &self.content {
            if !text.is_empty() {
                text.push('\n');
            }
            match part {
                Content::Text { text: part } | Content::Resource { text: Some(part), .. } => {
                    text.push_str(part);
                }
                Content::Json { value } => text.push_str(&value.to_string()),
                Content::Image { data, mime_type } => text.push_str(&note("image", mime_type, data)),
                Content::Audio { data, mime_type } => text.push_str(&note("audio", mime_type, data)),
                Content::Resource { uri, .. } | Content::ResourceLink { uri, .. } => text.push_str(uri),
            }
        }
        text
    }

    /// Counts the bytes of all content parts.
    pub fn size_bytes(&self) -> usize {
        self.content.iter().map(Content::size_bytes).sum()
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

fn note(kind: &str, mime_type: &str, data: &Blob) -> String {
    format!("[{kind} {mime_type}, {} bytes]", data.as_bytes().len())
}
