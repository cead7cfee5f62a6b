use super::caller::Ability;
use serde_json::Value;
use std::time::Duration;

/// Is something that only the client, or the person before it, can answer.
///
/// ```
/// use haft_mcp::{Ask, AskKind};
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
/// let ask = Ask::form("name", "What shall the branch be called?", schema.clone());
/// assert_eq!(ask.key, "name");
/// assert!(matches!(ask.kind, AskKind::Form { schema: asked, .. } if asked == schema));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Ask {
    /// Names the question within its call; the same one each time that the call is made again.
    pub key: String,
    /// What is asked.
    pub kind: AskKind,
}

impl Ask {
    /// Asks under a key, which the answer is found by.
    pub fn new(key: impl Into<String>, kind: AskKind) -> Self {
        Self { key: key.into(), kind }
    }

    /// Asks for a form to be filled in: an object of flat fields.
    pub fn form(key: impl Into<String>, message: impl Into<String>, schema: Value) -> Self {
        Self { key: key.into(), kind: AskKind::Form { message: message.into(), schema } }
    }

    /// Asks a person to open an address.
    pub fn address(key: impl Into<String>, message: impl Into<String>, url: impl Into<String>) -> Self {
        Self { key: key.into(), kind: AskKind::Address { message: message.into(), url: url.into() } }
    }

    /// Asks for a turn of the client's model, with the params of `sampling/createMessage`.
    pub fn sample(key: impl Into<String>, params: Value) -> Self {
        Self { key: key.into(), kind: AskKind::Sample(params) }
    }

    /// Asks for the client's roots.
    pub fn roots(key: impl Into<String>) -> Self {
        Self { key: key.into(), kind: AskKind::Roots }
    }
}

/// Says what is asked, in the words of the protocol, which both eras share.
///
/// ```
/// use haft_mcp::{Ask, AskKind};
///
/// let ask = Ask::address("login", "Sign in to go on.", "https://login.example");
/// assert!(matches!(ask.kind, AskKind::Address { url, .. } if url == "https://login.example"));
/// assert!(matches!(Ask::roots("roots").kind, AskKind::Roots));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AskKind {
    /// `elicitation/create` of mode `form`: the schema is restricted to flat objects, checked by `form::narrowed`.
    Form {
        /// The question, for people.
        message: String,
        /// What may be answered: `requestedSchema`.
        schema: Value,
    },
    /// `elicitation/create` of mode `url`.
    Address {
        /// Why, for people.
        message: String,
        /// Where; it is shown whole.
        url: String,
    },
    /// `sampling/createMessage`, with its params.
    Sample(Value),
    /// `roots/list`.
    Roots,
}

/// Says why a question has no answer.
///
/// ```
/// use haft_mcp::{Ability, ClientAskError};
/// use std::time::Duration;
///
/// assert_eq!(ClientAskError::TimedOut(Duration::from_secs(60)).to_string(), "nobody answered within 60 s");
/// assert_eq!(ClientAskError::Unable(Ability::Forms).to_string(), "the client cannot be asked this");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientAskError {
    /// The client cannot be asked this.
    #[error("the client cannot be asked this")]
    Unable(Ability),
    /// The person declined.
    #[error("the user does not want to answer")]
    Declined,
    /// The person put it off, or the question was cancelled.
    #[error("the question was cancelled")]
    Cancelled,
    /// Nobody answered in time.
    #[error("nobody answered within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// The client is gone, or what it answered is no answer to what was asked.
    #[error("the client did not answer: {0}")]
    Broken(String),
}
