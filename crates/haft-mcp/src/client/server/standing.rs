use super::{ServerState, ServerStatus};
use crate::ServerConfig;
use crate::client::listing::Listing;
use crate::client::session::{DialError, Farewell, Fault, Request, Session, Watch};
use crate::shown::{line, shown};
use serde_json::Value;
use std::sync::Arc;
use tokio::time::Instant;

/// The most bytes of a reason.
const MOST_REASON_BYTES: usize = 2 << 10;

/// The most bytes of what a server says of how it is used.
const MOST_INSTRUCTIONS: usize = 4 << 10;

/// The most bytes of what a server says of itself in one word.
const MOST_WORD_BYTES: usize = 100;

/// Says how it stands with a server.
#[derive(Clone, Default)]
pub(super) struct Standing {
    pub(super) state: ServerState,
    /// Only while it lasts.
    pub(super) connection: Option<Connection>,
    /// Counts the connections.
    pub(super) generation: u64,
    /// Counts the attempts to connect that have been made.
    pub(super) attempts: u64,
    /// Why there is no connection, or why it is of little use.
    pub(super) failure: Option<Failure>,
    pub(super) retry_at: Option<Instant>,
    /// Which time that it was asked to be ended it has been.
    pub(super) stopped: u64,
    /// Counts the attempts to read the tools that have ended, in whatever way.
    pub(super) readings: u64,
    /// The tools as they were last read, and over which connection.
    pub(super) listing: Option<(u64, Listing)>,
    /// How often the server had told that they changed, when that was begun.
    pub(super) told: u64,
    /// When what was read last counts no longer; never if `None`.
    pub(super) stale_at: Option<Instant>,
    /// Why the tools could not be read the last time.
    pub(super) unread: Option<Failure>,
}

/// Is a connection, with its number among those to the server.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) session: Arc<dyn Session>,
    pub(crate) generation: u64,
}

/// Says what went wrong with a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// For people: bounded and visible.
    pub(crate) reason: String,
    pub(crate) last_words: Option<String>,
    /// Whether a person has to log in.
    pub(crate) login: Option<Login>,
}

/// Says where a person has to log in, if that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Login {
    pub(crate) url: Option<String>,
}

impl Standing {
    /// The tools as they were last read, if that was over this connection or a later one, after the server had told so often
    /// that they changed, went well and still counts.
    pub(super) fn fresh(&self, generation: u64, told: u64) -> Option<&Listing> {
        let is_stale = self.stale_at.is_some_and(|at| at <= Instant::now());
        let (of, listing) = self.listing.as_ref()?;
        (*of >= generation && self.told >= told && self.unread.is_none() && !is_stale).then_some(listing)
    }

    pub(super) fn status(&self, config: &ServerConfig) -> ServerStatus {
        let info = self.connection.as_ref().map(|connection| connection.session.server());
        let failure = self.failure.as_ref().or(self.unread.as_ref());
        let listing = self.listing.as_ref().map(|(_, listing)| listing);
        ServerStatus {
            name: config.name.clone(),
            state: self.state,
            era: info.map(|info| info.era),
            revision: info.map(|info| line(&info.revision, MOST_WORD_BYTES)),
            calls_itself: info
                .map(|info| line(&format!("{} {}", info.name, info.version), 2 * MOST_WORD_BYTES)),
            instructions: info
                .and_then(|info| info.instructions.as_deref())
                .map(|text| shown(text, MOST_INSTRUCTIONS)),
            generation: self.generation,
            tools: listing.map_or(0, |listing| listing.tools.len()),
            reason: failure.map(|failure| failure.reason.clone()),
            last_words: failure.and_then(|failure| failure.last_words.clone()),
            login_url: failure.and_then(|failure| failure.login.clone()?.url),
            retry_in: self.retry_at.map(|at| at.saturating_duration_since(Instant::now())),
            notices: listing.map_or_else(Vec::new, |listing| listing.notices.to_vec()),
        }
    }
}

impl Connection {
    /// Sends a request; done when the connection has ended.
    ///
    /// # Cancel safety
    ///
    /// As for [`Session::request`].
    pub(crate) async fn request(
        &self,
        request: Request,
        watch: Option<Arc<dyn Watch>>,
    ) -> Result<Value, Fault> {
        self.session.request(request, watch).await
    }

    pub(super) fn farewell(&self) -> Farewell {
        let unknown = || Farewell { how: "it is gone".to_owned(), stderr: String::new() };
        self.session.farewell().unwrap_or_else(unknown)
    }
}

impl Failure {
    pub(super) fn of_dialing(error: &DialError) -> Self {
        let (farewell, login) = match error {
            DialError::Ended(farewell)
            | DialError::Refused(Fault::Ended(farewell))
            | DialError::Silent { farewell: Some(farewell), .. } => (Some(farewell), None),
            DialError::Refused(Fault::Unauthorized { url }) => (None, Some(Login { url: url.clone() })),
            _ => (None, None),
        };
        Self::new(&error.to_string(), farewell, login)
    }

    pub(super) fn of_ending(farewell: &Farewell) -> Self {
        Self::new(&format!("the server ended: {farewell}"), Some(farewell), None)
    }

    pub(super) fn of_reading(fault: &Fault) -> Self {
        let login = match fault {
            Fault::Unauthorized { url } => Some(Login { url: url.clone() }),
            _ => None,
        };
        Self::new(&format!("its tools could not be read: {fault}"), None, login)
    }

    fn new(reason: &str, farewell: Option<&Farewell>, login: Option<Login>) -> Self {
        let words = farewell.map(|farewell| &*farewell.stderr).filter(|words| !words.is_empty());
        // The end of it is what tells why.
        let last = |words: &str| {
            let from = words.len().saturating_sub(64 << 10);
            shown(&words[words.ceil_char_boundary(from)..], usize::MAX)
        };
        Self { reason: line(reason, MOST_REASON_BYTES), last_words: words.map(last), login }
    }
}
