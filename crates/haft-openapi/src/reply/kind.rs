use crate::plan::Media;
use haft_http::ContentType;

/// Says what a body says it is, as far as it is read in different ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Json,
    /// A text of which nothing else is said.
    Plain,
    /// Any other text.
    Text,
    Events,
    /// Nothing, or that it is bytes.
    Unknown,
    Binary,
}

impl Kind {
    pub(super) fn of(content_type: &ContentType) -> Self {
        match content_type.essence() {
            "" | "application/octet-stream" | "binary/octet-stream" | "*/*" => Self::Unknown,
            "text/event-stream" => Self::Events,
            "text/plain" => Self::Plain,
            essence if essence.contains('*') => Self::Unknown,
            essence => match Media::of(essence) {
                Some(Media::Json) => Self::Json,
                Some(Media::Text | Media::Form) => Self::Text,
                Some(Media::Bytes | Media::Multipart) | None => Self::Binary,
            },
        }
    }
}
