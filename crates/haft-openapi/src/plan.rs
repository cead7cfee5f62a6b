//! What is needed of an operation to make requests: no schema, nothing borrowed.

use crate::FormStyle;
use crate::secrets::Secrets;
use http::Method;
use std::sync::Arc;

/// Says how requests of an operation are written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub(crate) method: Method,
    pub(crate) path: Template,
    /// The server, or why there is none.
    pub(crate) server: Result<String, String>,
    /// Sorted by place and name.
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Body>,
    /// The value of `Accept`.
    pub(crate) accept: String,
    pub(crate) forms: FormStyle,
    /// What no argument may be sent as, since keys of the API are.
    pub(crate) secrets: Arc<Secrets>,
}

/// Is a path with places for parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) path: Vec<Piece>,
    /// What the path itself says behind a `?`.
    pub(crate) query: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// The parameter of this name.
    Parameter(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    /// What the argument is called.
    pub(crate) key: String,
    /// What it is called in the request.
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) style: Style,
    pub(crate) explode: bool,
    pub(crate) allow_reserved: bool,
    pub(crate) required: bool,
    /// How the value is written as a text of its own, where the document gives it a media type.
    pub(crate) media: Option<Media>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    Path,
    Query,
    /// The query as a whole.
    QueryString,
    Header,
    Cookie,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Simple,
    Label,
    Matrix,
    Form,
    SpaceDelimited,
    PipeDelimited,
    /// Only in Swagger 2.0.
    TabDelimited,
    DeepObject,
    /// As `form`, but nothing is encoded that a cookie can hold.
    Cookie,
}

/// Is a kind of media types that are written alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    Json,
    Form,
    Multipart,
    Text,
    Bytes,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Body {
    pub(crate) media: Media,
    pub(crate) content_type: String,
    pub(crate) required: bool,
    pub(crate) shape: Shape,
    /// What the document says of the fields of a form.
    pub(crate) fields: Vec<Field>,
}

/// Says which arguments make the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One, of this key.
    Whole(String),
    /// One for each property: its key, its name, and whether the body must have it.
    Flat(Vec<FlatProperty>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FlatProperty {
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) required: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// It is a file, or a list of files.
    pub(crate) is_file: bool,
    pub(crate) content_type: Option<String>,
    pub(crate) style: Option<Style>,
    pub(crate) explode: Option<bool>,
    pub(crate) allow_reserved: bool,
}

impl Field {
    /// Tells whether anything is said of how it is written in a form of text.
    pub(crate) fn is_styled(&self) -> bool {
        self.style.is_some() || self.explode.is_some() || self.allow_reserved
    }

    /// Tells whether the members of an object are fields of their own.
    pub(crate) fn is_spread(&self) -> bool {
        self.is_styled() && self.style.unwrap_or(Style::Form) == Style::Form && self.explode.unwrap_or(true)
    }
}

impl Place {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::QueryString => "querystring",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        [Self::Path, Self::Query, Self::QueryString, Self::Header, Self::Cookie]
            .into_iter()
            .find(|place| place.word() == word)
    }
}

impl Style {
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "simple" => Self::Simple,
            "label" => Self::Label,
            "matrix" => Self::Matrix,
            "form" => Self::Form,
            "cookie" => Self::Cookie,
            "spaceDelimited" => Self::SpaceDelimited,
            "pipeDelimited" => Self::PipeDelimited,
            "deepObject" => Self::DeepObject,
            _ => return None,
        })
    }

    /// Tells whether a parameter of a place can be written so.
    pub(crate) fn fits(self, place: Place) -> bool {
        match place {
            Place::Path => matches!(self, Self::Simple | Self::Label | Self::Matrix),
            Place::Header => self == Self::Simple,
            Place::Cookie => matches!(self, Self::Form | Self::Cookie),
            Place::Query => !matches!(self, Self::Simple | Self::Label | Self::Matrix | Self::Cookie),
            Place::QueryString => true,
        }
    }

    /// What stands between the items of a list that is one value, as it is written in addresses.
    pub(crate) fn between(self) -> &'static str {
        match self {
            Self::SpaceDelimited => "%20",
            Self::PipeDelimited => "%7C",
            Self::TabDelimited => "%09",
            Self::Simple | Self::Label | Self::Matrix | Self::Form | Self::DeepObject | Self::Cookie => ",",
        }
    }

    pub(crate) fn usual(place: Place) -> Self {
        match place {
            Place::Path | Place::Header => Self::Simple,
            Place::Query | Place::QueryString | Place::Cookie => Self::Form,
        }
    }
}

impl Media {
    /// Tells how a media type is written; `None` where it says too little.
    pub(crate) fn of(content_type: &str) -> Option<Self> {
        let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let (kind, rest) = essence.split_once('/')?;
        Some(match (kind, rest) {
            ("*", _) | ("application", "*" | "json") => Self::Json,
            (_, rest) if rest.ends_with("+json") || rest == "json" => Self::Json,
            ("application", "x-www-form-urlencoded") => Self::Form,
            ("multipart", _) => Self::Multipart,
            ("text", _) => Self::Text,
            (_, rest) if rest.ends_with("+xml") => Self::Text,
            (
                "application",
                "xml" | "yaml" | "x-yaml" | "graphql" | "javascript" | "x-ndjson" | "jsonl" | "sql",
            ) => Self::Text,
            ("image" | "audio" | "video" | "font", _)
            | ("application", "octet-stream" | "pdf" | "zip" | "gzip" | "x-tar" | "x-gzip") => Self::Bytes,
            _ => return None,
        })
    }
}
