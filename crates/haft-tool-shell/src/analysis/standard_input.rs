/// What redirections make of the standard input of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StandardInput {
    /// They leave it as it is.
    Same,
    /// This text.
    Text(String),
    /// Something of which the content is not known.
    Unknown,
}

impl StandardInput {
    /// What a redirection makes of one descriptor: of the standard input, or of another.
    pub(super) fn of(descriptor: Option<i32>, made: Self) -> Self {
        if descriptor.is_none_or(|number| number == 0) { made } else { Self::Same }
    }

    /// What it is when this comes after others: the last one counts.
    pub(super) fn after(self, before: Self) -> Self {
        if self == Self::Same { before } else { self }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Same | Self::Unknown => None,
        }
    }
}

impl From<Option<String>> for StandardInput {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Unknown, Self::Text)
    }
}
