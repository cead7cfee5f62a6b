use serde::{Deserialize, Serialize};

/// Shows a person what a call is about to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "text", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Preview {
    /// The call's arguments say it all.
    Arguments,
    /// A change, as a unified diff.
    Diff(String),
    /// A command, as it will run.
    Command(String),
    /// A request, as it will be sent, without secrets.
    Request(String),
    /// Anything else, in words.
    Text(String),
}

impl Preview {
    /// Borrows the text; empty where the arguments are shown.
    pub fn as_text(&self) -> &str {
        match self {
            Self::Arguments => "",
            Self::Diff(text) | Self::Command(text) | Self::Request(text) | Self::Text(text) => text,
        }
    }
}
