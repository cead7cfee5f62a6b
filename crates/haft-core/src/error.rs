use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Says what kind of failure a tool met.
///
/// ```
/// use haft_core::{ErrorKind, ReplyStatus, ToolError, ToolErrorKind};
///
/// let error = ToolError::invalid_input("`limit` is over 500; ask for 500 at most");
/// assert_eq!(error.kind(), ToolErrorKind::InvalidInput);
/// // What the reply to the call says of it.
/// assert_eq!(ReplyStatus::from(error.kind()), ReplyStatus::Error(ErrorKind::InvalidInput));
/// assert_eq!(ReplyStatus::from(ToolErrorKind::TimedOut), ReplyStatus::TimedOut);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// The arguments cannot be used.
    InvalidInput,
    /// What the arguments name is not there.
    NotFound,
    /// The tool may not do this.
    Denied,
    /// The call was cancelled.
    Cancelled,
    /// The tool ran out of time.
    TimedOut,
    /// Something the tool needs is not there now.
    Unavailable,
    /// A remote party wants to know who asks.
    Unauthenticated,
    /// Anything else.
    Failed,
}

/// Tells, to two readers, why a tool failed.
///
/// The model reads the message: written on purpose, bounded, free of host paths and secrets, ending with the next
/// step. The host also reads the [`source`](Error::source), which never reaches the model.
///
/// ```
/// use haft_core::{ToolError, ToolErrorKind};
///
/// let missing = ToolError::not_found("there is no file `src/man.rs`; did you mean `src/main.rs`?")
///     .with_source(std::io::Error::from_raw_os_error(2));
/// assert_eq!(missing.kind(), ToolErrorKind::NotFound);
/// assert!(!missing.can_retry());
///
/// let changed = ToolError::retry("the file changed since you read it; read it again, then repeat the edit");
/// assert!(changed.can_retry());
/// ```
pub struct ToolError {
    kind: ToolErrorKind,
    message: String,
    retry: Retry,
    authentication_url: Option<Box<str>>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Retry {
    Useless,
    Useful,
    After(Duration),
}

impl ToolError {
    /// Makes an error of a kind; its message is what the model reads.
    pub fn new(kind: ToolErrorKind, message: impl Into<String>) -> Self {
        let retry = match kind {
            ToolErrorKind::Unavailable => Retry::Useful,
            _ => Retry::Useless,
        };
        Self { kind, message: message.into(), retry, authentication_url: None, source: None }
    }

    /// Says that the arguments cannot be used.
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::InvalidInput, message)
    }

    /// Says that what the arguments name is not there.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::NotFound, message)
    }

    /// Says that the tool may not do this.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Denied, message)
    }

    /// Says that the call was cancelled.
    pub fn cancelled(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Cancelled, message)
    }

    /// Says that the tool ran out of time.
    pub fn timed_out(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::TimedOut, message)
    }

    /// Says that something the tool needs is not there now; a retry can help.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Unavailable, message)
    }

    /// Says that a remote party wants a person to make themselves known at an address first; the same call can succeed
    /// then.
    ///
    /// An executor hands the address to a person, and calls again when they say that it is done. It must be `https`, or
    /// `http` to this machine: with any other the error is like one without an address.
    ///
    /// ```
    /// use haft_core::ToolError;
    ///
    /// let error = ToolError::unauthenticated("https://example.org/authorize", "the service does not know you yet");
    /// assert_eq!(error.authentication_url(), Some("https://example.org/authorize"));
    /// let error = ToolError::unauthenticated("javascript:alert(1)", "the service does not know you yet");
    /// assert_eq!(error.authentication_url(), None);
    /// ```
    pub fn unauthenticated(url: &str, message: impl Into<String>) -> Self {
        let authentication_url = is_fit_for_a_person(url).then(|| url.into());
        Self { authentication_url, ..Self::new(ToolErrorKind::Unauthenticated, message) }
    }

    /// Says that the tool failed in a way that a retry does not change.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Failed, message)
    }

    /// Says that the tool failed and that trying again can help.
    pub fn retry(message: impl Into<String>) -> Self {
        Self { retry: Retry::Useful, ..Self::failed(message) }
    }

    /// Adds the cause, for the host alone.
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Says that a retry can help once this much time has passed.
    pub fn with_retry_after(mut self, delay: Duration) -> Self {
        self.retry = Retry::After(delay);
        self
    }

    /// Tells what kind of failure this is.
    pub fn kind(&self) -> ToolErrorKind {
        self.kind
    }

    /// Borrows the text for the model.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where a person has to make themselves known for the same call to succeed.
    pub fn authentication_url(&self) -> Option<&str> {
        self.authentication_url.as_deref()
    }

    /// Tells whether the same call can succeed later.
    pub fn can_retry(&self) -> bool {
        self.retry != Retry::Useless
    }

    /// Tells how long to wait before a retry, where that is known.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.retry {
            Retry::After(delay) => Some(delay),
            Retry::Useless | Retry::Useful => None,
        }
    }
}

/// Tells whether an address that a remote party gave can be shown to a person to go to.
fn is_fit_for_a_person(url: &str) -> bool {
    const MOST_BYTES: usize = 8 * 1024;
    const HERE: [&str; 3] = ["http://localhost", "http://127.0.0.1", "http://[::1]"];
    let ends_there = |rest: &str| rest.is_empty() || rest.starts_with([':', '/', '?', '#']);
    let is_here = HERE.iter().any(|host| url.strip_prefix(host).is_some_and(ends_there));
    let is_secure = url
        .strip_prefix("https://")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '['));
    // A name before the host makes it look like another.
    let authority =
        url.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or(""));
    url.len() <= MOST_BYTES
        && url.chars().all(|character| character.is_ascii_graphic() && character != '\\')
        && !authority.contains('@')
        && (is_secure || is_here)
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError")
            .field("kind", &self.kind)
            .field("message", &self.message)
            .field("retry", &self.retry)
            .field("authentication_url", &self.authentication_url)
            .field("source", &self.source)
            .finish()
    }
}

impl Error for ToolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
