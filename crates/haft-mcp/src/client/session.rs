//! What the rest of the crate knows of a connection to a server: the seam between the protocol and what is made of it.

use crate::Era;
use crate::shown::line;
use async_trait::async_trait;
use haft_tools_core::CallContext;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Is one connection to one server, from its first word to its last: a restart makes another.
///
/// Nothing of the protocol's framing, ids or headers shows here, and no type of a protocol library.
#[async_trait]
pub(crate) trait Session: Send + Sync + 'static {
    /// What the server said of itself.
    fn server(&self) -> &ServerInfo;

    /// Sends a request and gives its result as the server sent it, whatever it holds; done soon after the connection has
    /// ended, if not before.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is done tells the server at once that the request is cancelled; a late answer is
    /// dropped.
    async fn request(&self, request: Request, watch: Option<Arc<dyn Watch>>) -> Result<Value, Fault>;

    /// Is cancelled when the connection has ended, for whatever reason.
    fn ended(&self) -> &CancellationToken;

    /// How the connection ended; only once it has.
    fn farewell(&self) -> Option<Farewell>;

    /// Ends the connection, and the program behind it with all its processes; done when they are gone.
    async fn close(&self);
}

/// Opens connections to one server.
#[async_trait]
pub(crate) trait Dial: Send + Sync + 'static {
    /// Opens a connection, up to where requests can be sent.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends what was begun, a started program included.
    async fn dial(&self, counterpart: Arc<dyn Counterpart>) -> Result<Arc<dyn Session>, DialError>;

    /// Waits until a person has logged in, since this was done last; for ever where nobody can.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, it misses nothing.
    async fn logged_in(&self) {
        std::future::pending::<()>().await;
    }

    /// Waits until a login that was begun was in vain, since this was done last, and says why; for ever where nobody can.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, it misses nothing.
    async fn login_failed(&self) -> String {
        std::future::pending().await
    }

    /// Begins a login, or goes on with the one that was begun; gives where a person logs in. `None` where there is none.
    ///
    /// # Cancel safety
    ///
    /// A login that was begun stays so.
    async fn log_in(&self) -> Option<Result<String, Fault>> {
        None
    }

    /// Forgets the login, and gives up one that was begun. `None` where there is none.
    async fn log_out(&self) -> Option<Result<(), Fault>> {
        None
    }
}

/// Holds what a server said of itself when the connection was opened.
#[derive(Debug, Clone)]
pub(crate) struct ServerInfo {
    pub(crate) era: Era,
    /// The revision of the protocol that is spoken, such as `2025-11-25`.
    pub(crate) revision: String,
    /// The name it gives itself; it identifies nothing.
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) instructions: Option<String>,
    /// The object `capabilities`, as it was sent.
    pub(crate) capabilities: Value,
}

/// Is a request to a server.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The method, such as `tools/call`.
    pub(crate) method: &'static str,
    /// The params, an object; what every request has to hold in an era is added by the session.
    pub(crate) params: Value,
}

/// Why there is no result.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Fault {
    /// The server answered with an error of JSON-RPC.
    #[error("the server answered with the error {code}: {message}")]
    Refused { code: i64, message: String, data: Option<Value> },
    /// The answer was larger than the limit, and was not kept.
    #[error("the server's answer has {bytes} bytes, more than the {most} that are taken")]
    Oversize { bytes: u64, most: usize },
    /// The connection ended before the answer came.
    #[error("the connection ended: {0}")]
    Ended(Farewell),
    /// The server has certainly not taken the request: it was not sent, or belongs to a session that the server does not
    /// know any more.
    #[error("the server did not take the request: {0}")]
    Untaken(Farewell),
    /// A person has to log in.
    #[error("the server needs a login")]
    Unauthorized {
        /// Where to do so, if a login could be begun.
        url: Option<String>,
    },
    /// The answer is not what the protocol allows, or could not be transported.
    #[error("{0}")]
    Broken(String),
}

/// Why a connection could not be opened.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum DialError {
    /// The program or the service is not there; says what was tried.
    #[error("{0}")]
    Unreachable(String),
    /// It is there, and did not get through the opening.
    #[error("the server did not open the connection: {0}")]
    Refused(Fault),
    /// It ended, or was ended, before it had answered.
    #[error("the server ended before it had answered: {0}")]
    Ended(Farewell),
    /// It did not answer in time.
    #[error("the server did not answer within {seconds} s{}", farewell.as_ref().map(|farewell| format!(": {farewell}")).unwrap_or_default())]
    Silent { seconds: u64, farewell: Option<Farewell> },
}

/// Says how a connection ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Farewell {
    /// How, in words: `it exited with code 3`, `it was closed`.
    pub(crate) how: String,
    /// The last of what the program wrote to its standard error, at most 64 KiB; made visible where it is shown.
    pub(crate) stderr: String,
}

/// The most bytes that are shown of a line of what a program wrote last.
const MOST_LAST_WORDS: usize = 300;

impl fmt::Display for Farewell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.how)?;
        let lines: Vec<&str> = self.stderr.lines().rev().take(3).collect();
        if lines.is_empty() {
            return Ok(());
        }
        let last: Vec<String> = lines.into_iter().rev().map(|words| line(words, MOST_LAST_WORDS)).collect();
        write!(f, "; it last wrote: {}", last.join(" / "))
    }
}

/// Is told what happens to a request before its result.
pub(crate) trait Watch: Send + Sync + 'static {
    /// The server tells how far it is; `total` and `text` as far as it says so.
    fn progress(&self, done: f64, total: Option<f64>, text: Option<&str>);

    /// Takes note that the server asks something for the request; false if it has asked too much, and gets no answer.
    fn may_ask(&self) -> bool {
        true
    }

    /// The call the request is made for, by which a person can be asked; `None` for requests of the host's own.
    fn call(&self) -> Option<&CallContext>;
}

/// Is what a server can turn to: it is one for all connections of a server.
#[async_trait]
pub(crate) trait Counterpart: Send + Sync + 'static {
    /// The capabilities of a client, as they are told to the server.
    fn capabilities(&self) -> Value;

    /// Answers what a server asks, in the era that sends requests as well as in the one that puts them into results.
    ///
    /// `of` is what the request is about that the server asks for, as far as that is known.
    async fn answer(&self, ask: Ask, of: Option<Arc<dyn Watch>>) -> Result<Value, AskRefused>;

    /// Takes note of what a server tells unasked.
    fn hear(&self, news: News);
}

/// Is what a server asks.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    /// The method: `elicitation/create`, `sampling/createMessage` or `roots/list`; anything else is refused.
    pub(crate) method: String,
    /// Its params, as they were sent.
    pub(crate) params: Value,
}

/// Says why a server gets no answer: an error of JSON-RPC.
#[derive(Debug, Clone)]
pub(crate) struct AskRefused {
    pub(crate) code: i32,
    pub(crate) message: String,
}

/// Is what a server tells unasked.
#[derive(Debug, Clone)]
pub(crate) enum News {
    ToolsChanged,
    PromptsChanged,
    ResourcesChanged,
    ResourceUpdated(String),
    /// A message of the server's log.
    Log {
        level: String,
        text: String,
    },
    /// A message that fits nothing: said in words, for the server's log.
    Odd(String),
}
