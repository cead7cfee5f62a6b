use haft_core::{Blob, Content};
use serde::Serialize;

/// Is a part of what a client is given; its serde form is that of the protocol.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum Block {
    Text {
        text: String,
    },
    Image {
        data: Blob,
        mime_type: String,
    },
    Audio {
        data: Blob,
        mime_type: String,
    },
    Resource {
        resource: Document,
    },
    ResourceLink {
        uri: String,
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
    },
}

/// Is a document that is carried along.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document {
    pub(crate) uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mime_type: Option<String>,
    #[serde(flatten)]
    pub(crate) body: Body,
}

/// Is what a document holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Body {
    Text(String),
    Blob(Blob),
}

impl Block {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

impl From<Content> for Block {
    fn from(content: Content) -> Self {
        match content {
            Content::Text { text } => Self::Text { text },
            Content::Json { value } => Self::Text { text: value.to_string() },
            Content::Image { data, mime_type } => Self::Image { data, mime_type },
            Content::Audio { data, mime_type } => Self::Audio { data, mime_type },
            Content::Resource { uri, mime_type, text, data } => {
                Self::Resource { resource: Document { uri, mime_type, body: Body::of(text, data) } }
            }
            Content::ResourceLink { uri, name, mime_type, size } => {
                Self::ResourceLink { uri, name, description: None, mime_type, size }
            }
            _ => Self::text("[a part was left out: its kind is not known here]"),
        }
    }
}

impl Body {
    /// A document that is neither text nor data is an empty text.
    pub(super) fn of(text: Option<String>, data: Option<Blob>) -> Self {
        match (text, data) {
            (Some(text), _) => Self::Text(text),
            (None, Some(data)) => Self::Blob(data),
            (None, None) => Self::Text(String::new()),
        }
    }
}
