use crate::Blob;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Holds one piece of what a tool or a person says to a model.
///
/// The serde form is tagged by `type` (`text`, `json`, `image`, `audio`, `resource`, `resource_link`).
///
/// ```
/// use haft_core::{Content, ToolOutput};
///
/// let mut output = ToolOutput::text("three apples");
/// output.content.push(Content::text("and a pear"));
/// assert!(matches!(&output.content[1], Content::Text { text } if text == "and a pear"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A JSON value, shown to the model as compact JSON text where its wire format has no JSON part.
    Json {
        /// The value.
        value: Value,
    },
    /// An image.
    Image {
        /// The encoded image.
        data: Blob,
        /// Its media type, such as `image/png`.
        mime_type: String,
    },
    /// A sound.
    Audio {
        /// The encoded sound.
        data: Blob,
        /// Its media type, such as `audio/wav`.
        mime_type: String,
    },
    /// A document that is carried along.
    Resource {
        /// Where it is from.
        uri: String,
        /// Its media type, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// Its text, where it is text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Its bytes, where it is not text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Blob>,
    },
    /// A document that can be fetched by its address.
    ResourceLink {
        /// Where it is.
        uri: String,
        /// Its name for people.
        name: String,
        /// Its media type, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// Its size in bytes, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
    },
}

impl Content {
    /// Makes a text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Makes a JSON part.
    pub fn json(value: Value) -> Self {
        Self::Json { value }
    }

    /// Makes an image part from its encoded bytes and media type.
    pub fn image(data: impl Into<Blob>, mime_type: impl Into<String>) -> Self {
        Self::Image { data: data.into(), mime_type: mime_type.into() }
    }

    /// Makes an audio part from its encoded bytes and media type.
    pub fn audio(data: impl Into<Blob>, mime_type: impl Into<String>) -> Self {
        Self::Audio { data: data.into(), mime_type: mime_type.into() }
    }

    /// Borrows the text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }

    /// Counts the bytes this part carries: its text, its encoded data, or its JSON written compactly.
    pub fn size_bytes(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::Json { value } => json_size(value),
            Self::Image { data, .. } | Self::Audio { data, .. } => data.as_bytes().len(),
            Self::Resource { uri, text, data, .. } => {
                let text = text.as_ref().map_or(0, String::len);
                uri.len() + text + data.as_ref().map_or(0, |data| data.as_bytes().len())
            }
            Self::ResourceLink { uri, name, .. } => uri.len() + name.len(),
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// Counts the bytes of `value` written compactly, without keeping them.
fn json_size(value: &Value) -> usize {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Neither a `Value` nor the counter can fail here, and a short count would only be an estimate.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}
