use super::access_log::{AccessEntry, AccessLog};
use super::envelope::Envelope;
use super::owners::SessionKey;
use super::rates::Place;
use crate::server::caller::Principal;
use crate::shown;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

/// How many bytes of what a client named are written down.
const NAME_BYTES: usize = 128;

/// Is a request's way through: what it holds until it is over, and what is written down of it then.
pub(super) struct Passage {
    log: Option<(Arc<dyn AccessLog>, Box<AccessEntry>)>,
    begun: Instant,
    held: Option<(OwnedSemaphorePermit, Place)>,
}

impl Passage {
    pub(super) fn begin(log: Option<&Arc<dyn AccessLog>>, peer: SocketAddr, http: &http::Method) -> Self {
        let log = log.map(|log| {
            let entry = AccessEntry {
                at_ms: haft_tools_core::now_ms(),
                peer,
                principal: None,
                http: shown::line(http.as_str(), NAME_BYTES),
                method: None,
                tool: None,
                session: None,
                status: None,
                ms: 0,
                bytes: 0,
                refused: None,
            };
            (Arc::clone(log), Box::new(entry))
        });
        Self { log, begun: Instant::now(), held: None }
    }

    pub(super) fn is_of(&mut self, principal: &Principal) {
        self.note(|entry| entry.principal = Some(principal.clone()));
    }

    pub(super) fn is_about(&mut self, envelope: &Envelope) {
        let line = |text: &String| shown::line(text, NAME_BYTES);
        self.note(|entry| {
            entry.method = envelope.method.as_ref().map(line);
            entry.tool = envelope.name.as_ref().map(line);
        });
    }

    pub(super) fn is_in(&mut self, session: SessionKey) {
        self.note(|entry| entry.session = Some(session.short()));
    }

    pub(super) fn answered(&mut self, status: http::StatusCode) {
        self.note(|entry| entry.status = Some(status.as_u16()));
    }

    pub(super) fn refused(&mut self, reason: &str) {
        self.note(|entry| entry.refused = Some(shown::line(reason, 4 * NAME_BYTES)));
    }

    pub(super) fn sent(&mut self, bytes: usize) {
        self.note(|entry| entry.bytes += bytes as u64);
    }

    /// Holds a place among what is served, until the answer is sent.
    pub(super) fn hold(&mut self, permit: OwnedSemaphorePermit, place: Place) {
        self.held = Some((permit, place));
    }

    /// Gives the place back, for a client that only listens.
    pub(super) fn listens(&mut self) {
        self.held = None;
    }

    fn note(&mut self, change: impl FnOnce(&mut AccessEntry)) {
        if let Some((_, entry)) = &mut self.log {
            change(entry);
        }
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        let ms = haft_tools_core::milliseconds(self.begun.elapsed());
        self.note(|entry| entry.ms = ms);
        if let Some((log, entry)) = &self.log {
            log.record(entry);
        }
    }
}
