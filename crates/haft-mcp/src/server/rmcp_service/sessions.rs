use super::http_session::{HttpSession, SessionTransport};
use crate::server::caller::Principal;
use crate::server::tool_server::session;
use futures_util::{Stream, StreamExt as _};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, interval};

/// How many sessions there are at most; the one that was idle longest makes room for a new one.
const MOST_SESSIONS: usize = 10_000;

/// How often sessions and answers are looked for whose time is over.
const SWEEP: Duration = Duration::from_secs(2);

tokio::task_local! {
    /// Who sends the request that is being served: a session is there for its owner alone.
    pub(super) static SENDER: Principal;
}

/// Keeps the sessions of the older era, bounded in number, time and size.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    known: Mutex<HashMap<SessionId, Arc<HttpSession>>>,
}

impl Sessions {
    /// Ends what has been waited for long enough, for as long as it is awaited.
    pub(super) async fn sweep(&self) {
        let mut ticks = interval(SWEEP);
        loop {
            ticks.tick().await;
            let now = Instant::now();
            let sessions: Vec<_> =
                self.known().iter().map(|(id, session)| (id.clone(), session.clone())).collect();
            for (id, session) in sessions {
                if session.sweep(now) {
                    self.close(&id);
                }
            }
        }
    }

    /// Ends the streams that belong to no request.
    pub(super) fn let_listeners_go(&self) {
        let sessions: Vec<_> = self.known().values().cloned().collect();
        for session in sessions {
            session.let_listeners_go();
        }
    }

    /// Finds a session, if it is that of whoever asks.
    fn find(&self, id: &SessionId) -> Result<Arc<HttpSession>, io::Error> {
        let found = self.known().get(id).filter(|session| session.is_of_sender()).cloned();
        found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no such session"))
    }

    fn close(&self, id: &SessionId) {
        let closed = self.known().remove(id);
        if let Some(session) = closed {
            session.close();
        }
    }

    /// Makes room for one more; false if all are in use.
    fn make_room(&self) -> bool {
        let known = self.known();
        if known.len() < MOST_SESSIONS {
            return true;
        }
        // Whoever has the most makes room, so that nobody can push out the sessions of others.
        let mut counts: HashMap<Option<&Principal>, usize> = HashMap::new();
        for session in known.values() {
            *counts.entry(session.owner()).or_default() += 1;
        }
        let idle = known
            .iter()
            .filter_map(|(id, session)| Some((Reverse(counts[&session.owner()]), session.idle_since()?, id)));
        let oldest = idle.min().map(|(_, _, id)| id.clone());
        drop(known);
        oldest.map(|id| self.close(&id)).is_some()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<HttpSession>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionManager for Sessions {
    type Error = io::Error;
    type Transport = SessionTransport;

    async fn create_session(&self) -> Result<(SessionId, SessionTransport), io::Error> {
        if !self.make_room() {
            return Err(io::Error::other("there are too many sessions"));
        }
        let id: SessionId = session();
        let owner = SENDER.try_with(Clone::clone).ok();
        let session = Arc::new(HttpSession::new(id.clone(), owner));
        self.known().insert(id.clone(), session.clone());
        Ok((id, SessionTransport(session)))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, io::Error> {
        let closed = || io::Error::other("the session was closed");
        let mut reader = self.find(id)?.let_in(message)?.ok_or_else(closed)?;
        let answer = reader.next().await.and_then(|answer| answer.message).ok_or_else(closed)?;
        // It was read to its end, so nothing of it is left.
        let _ = reader.next().await;
        drop(reader);
        Ok(Arc::unwrap_or_clone(answer))
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, io::Error> {
        Ok(self.find(id).is_ok())
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), io::Error> {
        if self.find(id).is_ok() {
            self.close(id);
        }
        Ok(())
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, io::Error> {
        let reader = self.find(id)?.let_in(message)?;
        reader.ok_or_else(|| io::Error::other("it is not a request"))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), io::Error> {
        self.find(id)?.let_in(message).map(drop)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, io::Error> {
        Ok(self.find(id)?.listen())
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, io::Error> {
        let unknown = || io::Error::new(io::ErrorKind::NotFound, "there is no such stream");
        self.find(id)?.resume(&last_event_id).ok_or_else(unknown)
    }
}
