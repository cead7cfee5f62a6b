use super::Telling;
use crate::exit::note;
use anyhow::Error;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counts spans, and says once that some are lost and why.
pub(super) struct Lost {
    /// Where they are sent, for people.
    host: String,
    telling: Telling,
    ended: AtomicU64,
    sent: AtomicU64,
    /// The first error; it was told already where that is done at once.
    first: Mutex<Option<Error>>,
}

impl Lost {
    pub(super) fn new(host: &str, telling: Telling) -> Self {
        let (ended, sent) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { host: host.to_owned(), telling, ended, sent, first: Mutex::default() }
    }

    /// Notes that there is one more to be sent.
    pub(super) fn one_ended(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that so many were taken.
    pub(super) fn were_sent(&self, spans: u64) {
        self.sent.fetch_add(spans, Ordering::Relaxed);
    }

    /// Notes why some were not, if it is the first time.
    pub(super) fn failed(&self, error: Error) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() {
            let error = match self.telling {
                Telling::AtEnd => error,
                Telling::AtOnce => {
                    let what = format!(
                        "spans are not exported to `{}`; what comes is tried all the same",
                        self.host
                    );
                    let error = error.context(what);
                    note(error.as_ref());
                    error
                }
            };
            *first = Some(error);
        }
    }

    /// Says what is lost, now that nothing more is sent.
    pub(super) fn tell(&self) {
        let lost = self.ended.load(Ordering::Relaxed).saturating_sub(self.sent.load(Ordering::Relaxed));
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        let spans = if lost == 1 { "1 span was".to_owned() } else { format!("{lost} spans were") };
        let what = format!("{spans} not exported to `{}`", self.host);
        match first {
            _ if lost == 0 => {}
            Some(_) if self.telling == Telling::AtOnce => {}
            Some(error) => note(error.context(what).as_ref()),
            None => {
                let error = Error::msg(
                    "they came faster than they could be sent, or were still to be sent when that was waited for no longer",
                );
                note(error.context(what).as_ref());
            }
        }
    }
}

impl fmt::Debug for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lost").field("host", &self.host).finish_non_exhaustive()
    }
}
