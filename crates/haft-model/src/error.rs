use crate::DivergenceError;
use haft_core::{CallId, with_causes};
use std::error::Error;
use std::time::Duration;

/// Says why a model gave no turn.
///
/// ```
/// use haft_model::ModelError;
/// use std::time::Duration;
///
/// let error = ModelError::RateLimited { retry_after: Some(Duration::from_secs(3)) };
/// assert_eq!(error.to_string(), "the model's provider limits the rate of requests; wait 3 s, then ask again");
/// assert_eq!((error.can_retry(), error.retry_after()), (true, Some(Duration::from_secs(3))));
///
/// let error = ModelError::Refused { reason: "the context is too long".to_owned() };
/// assert!(!error.can_retry());
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The model cannot be reached now.
    #[error("the model is not available")]
    Unavailable {
        /// How long to wait before a retry, where the provider said so.
        retry_after: Option<Duration>,
        /// The cause, where there is one.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// The provider was asked too much in too short a time.
    #[error("the model's provider limits the rate of requests; {}, then ask again", pause(*retry_after))]
    RateLimited {
        /// How long to wait before a retry, where the provider said so.
        retry_after: Option<Duration>,
    },
    /// The stream ended before the turn did.
    #[error("the model's answer broke off before it was finished; ask again")]
    Truncated,
    /// The stream contradicts itself.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The request was cancelled.
    #[error("the model request was cancelled")]
    Cancelled,
    /// The provider does not accept the request; the same request will not be accepted later either.
    #[error("the model's provider refused the request: {reason}")]
    Refused {
        /// What the provider said.
        reason: String,
    },
    /// The run went another way than the session it plays.
    #[error(transparent)]
    Diverged(Box<DivergenceError>),
    /// A turn came in full but could not be recorded.
    #[error("cannot record turn {turn} of the session")]
    Recording {
        /// The turn, counted from 1.
        turn: usize,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Anything else.
    #[error("the model request failed")]
    Other {
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl ModelError {
    /// Says that the model cannot be reached now, and why.
    pub fn unavailable(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unavailable { retry_after: None, source: Some(source.into()) }
    }

    /// Wraps a cause that no other variant fits.
    pub fn other(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Other { source: source.into() }
    }

    /// Tells whether the same request can succeed later.
    ///
    /// ```
    /// use haft_model::ModelError;
    ///
    /// assert!(ModelError::Truncated.can_retry());
    /// assert!(!ModelError::Cancelled.can_retry());
    /// ```
    pub fn can_retry(&self) -> bool {
        match self {
            Self::Unavailable { .. } | Self::RateLimited { .. } | Self::Truncated => true,
            Self::Protocol(_)
            | Self::Cancelled
            | Self::Refused { .. }
            | Self::Diverged(_)
            | Self::Recording { .. }
            | Self::Other { .. } => false,
        }
    }

    /// Tells how long to wait before a retry, where that is known.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unavailable { retry_after, .. } | Self::RateLimited { retry_after } => *retry_after,
            _ => None,
        }
    }

    /// Says what went wrong and by what cause, but not what to do next: for people who see that it is done already.
    ///
    /// ```
    /// use haft_model::ModelError;
    ///
    /// let error = ModelError::RateLimited { retry_after: None };
    /// assert_eq!(error.reason(), "the model's provider limits the rate of requests");
    /// let error = ModelError::unavailable("no answer from `localhost`; start the server");
    /// assert_eq!(error.reason(), "the model is not available: no answer from `localhost`");
    /// ```
    pub fn reason(&self) -> String {
        let mut said = with_causes(self);
        said.truncate(said.find("; ").unwrap_or(said.len()));
        said
    }
}

/// Says how long to wait, where that is known.
fn pause(retry_after: Option<Duration>) -> String {
    match retry_after.map(|wait| wait.as_millis().div_ceil(1000)) {
        None | Some(0) => "wait".to_owned(),
        Some(seconds) => format!("wait {seconds} s"),
    }
}

impl From<DivergenceError> for ModelError {
    fn from(divergence: DivergenceError) -> Self {
        Self::Diverged(Box::new(divergence))
    }
}

/// Says how a model's answer breaks the rules of a stream of deltas.
///
/// ```
/// use haft_model::{Assembler, Delta, ModelError, ProtocolError};
///
/// let mut assembler = Assembler::new();
/// let arguments = Delta::ToolCallArguments { index: 4, fragment: "{}".to_owned() };
/// let error = assembler.push(arguments).unwrap_err();
/// assert!(matches!(error, ModelError::Protocol(ProtocolError::UnknownCall { index: 4 })));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// Arguments came for a call that was not started.
    #[error("the model's answer is malformed: arguments for call number {index}, which was not started")]
    UnknownCall {
        /// The call's index.
        index: u32,
    },
    /// A call was started a second time.
    #[error("the model's answer is malformed: call number {index} was started twice")]
    StartedTwice {
        /// The call's index.
        index: u32,
    },
    /// Two calls of one turn have the same identifier, so that their replies could not be told apart.
    #[error("the model's answer is malformed: two calls have the id `{id}`")]
    RepeatedId {
        /// The identifier.
        id: CallId,
    },
    /// Something came after the turn was over.
    #[error("the model's answer is malformed: it went on after its end")]
    AfterStop,
    /// The turn stopped for the replies to its calls, but has none.
    #[error("the model's answer is malformed: it waits for replies, but made no call")]
    NoCalls,
    /// The turn has calls, but stopped as if it had none.
    #[error("the model's answer is malformed: it made calls ({calls}), but does not wait for the replies")]
    UnexpectedCalls {
        /// How many calls the turn has.
        calls: usize,
    },
    /// The turn is larger than any real one.
    #[error("the model's answer is malformed: it is larger than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// What the provider wants back is nested so deep that nobody could keep it.
    #[error("the model's answer is malformed: it is nested in more than {limit} levels")]
    TooDeep {
        /// The limit, in levels of arrays and objects.
        limit: usize,
    },
    /// What the provider sent cannot be read as deltas.
    #[error("the model's answer is malformed: {what}")]
    Unreadable {
        /// What was wrong, in words.
        what: String,
        /// The cause, where there is one.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
}
