use std::fmt;
use std::sync::Arc;

/// Is a text that is sent to an API and shown nowhere: a key, a password, a token.
///
/// ```
/// use haft_openapi::Secret;
///
/// assert_eq!(format!("{:?}", Secret::new("hunter2")), "Secret(..)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Holds a text; white space around it, such as the line end of a file, is no part of it.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().into())
    }

    /// The text; only what is sent is made of it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}
