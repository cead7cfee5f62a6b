use crate::{Content, ToolCall, ToolReply};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Holds one entry of a conversation between a person, a model and its tools.
///
/// The serde form is tagged by `role` (`user`, `assistant`, `tool`).
///
/// ```
/// use haft_core::{Message, ReplyStatus, ToolOutput, ToolReply};
///
/// let asked = Message::user("What is in src?");
/// let reply = ToolReply::new("c1".parse()?, "glob", ReplyStatus::Ok, ToolOutput::text("src/lib.rs"));
/// let told = Message::Tool { replies: vec![reply] };
/// let transcript = serde_json::to_string(&[asked, told])?;
/// assert_eq!(serde_json::from_str::<Vec<Message>>(&transcript)?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// What a person, or the program in their name, says.
    User {
        /// The parts, in order.
        content: Vec<Content>,
    },
    /// What the model says.
    Assistant {
        /// The parts, in the order in which the model wrote them.
        parts: Vec<AssistantPart>,
    },
    /// What the tools gave back: one reply for each call of the assistant message before it, in its order.
    Tool {
        /// The replies.
        replies: Vec<ToolReply>,
    },
}

impl Message {
    /// Makes a user message of one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { content: vec![Content::text(text)] }
    }

    /// Iterates over the calls of an assistant message; other messages have none.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        let parts = match self {
            Self::Assistant { parts } => parts.as_slice(),
            Self::User { .. } | Self::Tool { .. } => &[],
        };
        parts.iter().filter_map(|part| match part {
            AssistantPart::ToolCall { call } => Some(call),
            AssistantPart::Text { .. } | AssistantPart::Reasoning { .. } => None,
        })
    }

    /// Joins the text the model wrote; empty for other messages.
    pub fn assistant_text(&self) -> String {
        let Self::Assistant { parts } = self else {
            return String::new();
        };
        let mut joined = String::new();
        for part in parts {
            if let AssistantPart::Text { text } = part {
                joined.push_str(text);
            }
        }
        joined
    }
}

/// Holds one part of what a model says.
///
/// ```
/// use haft_core::{AssistantPart, Message, ToolCall};
/// use serde_json::json;
///
/// let call = ToolCall::new("c1".parse()?, "glob", json!({ "pattern": "src/**" }));
/// let parts = vec![
///     AssistantPart::Text { text: "Let me look.".to_owned() },
///     AssistantPart::ToolCall { call: call.clone() },
/// ];
/// let message = Message::Assistant { parts };
/// assert_eq!(message.assistant_text(), "Let me look.");
/// assert!(message.tool_calls().eq([&call]));
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AssistantPart {
    /// Text for the person.
    Text {
        /// The text.
        text: String,
    },
    /// The model's reasoning.
    Reasoning {
        /// What can be read of it.
        text: String,
        /// What the provider wants back word for word on the next turn, such as a signature.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        provider_data: Value,
    },
    /// A call of a tool.
    ToolCall {
        /// The call.
        call: ToolCall,
    },
}
