//! How much of an answer is held back.

use crate::complaint::Fault;
use haft_model::ProtocolError;

/// The most bytes of an answer that are held back until they can be passed on.
const MOST: usize = 16 * 1024 * 1024;

/// Counts the bytes of an answer that are held back.
#[derive(Debug, Default)]
pub(crate) struct Held(usize);

impl Held {
    /// Counts some more, unless that is too much.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), Fault> {
        self.0 = self.0.saturating_add(bytes);
        if self.0 > MOST { Err(Fault::last(ProtocolError::TooLarge { limit: MOST })) } else { Ok(()) }
    }
}
