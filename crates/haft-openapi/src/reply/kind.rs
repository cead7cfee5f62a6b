use crate::plan::Media;

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
    pub(super) fn of(content_type: &str) -> Self {
        match essence(content_type).as_str() {
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

/// The type of a body without its parameters, in lower case.
pub(super) fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The value of a parameter of a content type.
pub(super) fn parameter<'a>(content_type: &'a str, name: &str) -> Option<&'a str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (key, value) = parameter.split_once('=')?;
        key.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"'))
    })
}
