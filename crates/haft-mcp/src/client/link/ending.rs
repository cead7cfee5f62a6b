use crate::client::session::Farewell;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;

/// Is the end of one connection, seen by all who hold it.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    over: CancellationToken,
    hurry: CancellationToken,
    farewell: OnceLock<Farewell>,
}

impl Ending {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Says that all is over, and how; what was said first counts.
    pub(crate) fn finish(&self, farewell: Farewell) {
        // A connection that was closed from both sides has one end.
        let _ = self.farewell.set(farewell);
        self.over.cancel();
    }

    /// Is cancelled once it is over and nothing of it is left.
    pub(crate) fn over(&self) -> &CancellationToken {
        &self.over
    }

    /// How it ended, once it has.
    pub(crate) fn farewell(&self) -> Option<&Farewell> {
        self.farewell.get()
    }

    /// Asks for an end without patience: nobody waits for a program that never worked.
    pub(crate) fn make_haste(&self) {
        self.hurry.cancel();
    }

    /// Is cancelled when there is no time to wait for a program to end by itself.
    pub(crate) fn hurry(&self) -> &CancellationToken {
        &self.hurry
    }
}
