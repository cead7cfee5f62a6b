use std::borrow::Cow;

/// What ends the lines of a file that is written over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// Line feeds, or not all alike.
    Feeds,
    /// CR LF, every one.
    Crlf,
    /// Carriage returns alone.
    Returns,
}

impl Ends {
    /// Names what a new content is given, where it does not say itself.
    pub(super) fn kept(self) -> Option<&'static str> {
        match self {
            Self::Feeds => None,
            Self::Crlf => Some("CRLF line endings"),
            Self::Returns => Some("CR line endings"),
        }
    }

    /// Writes a new content with them, unless it has carriage returns of its own.
    pub(super) fn give(self, content: &str) -> Cow<'_, str> {
        match self {
            Self::Crlf if !content.contains('\r') => Cow::Owned(content.replace('\n', "\r\n")),
            Self::Returns if !content.contains('\r') => Cow::Owned(content.replace('\n', "\r")),
            _ => Cow::Borrowed(content),
        }
    }
}
