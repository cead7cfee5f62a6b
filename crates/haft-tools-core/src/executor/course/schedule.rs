//! The schedule stage: a call waits for its turn among those it conflicts with, and for room.

use super::rest::{Halt, Rest};
use crate::admission::Room;
use crate::executor::Refusal;
use crate::executor::decide::Authorized;
use crate::executor::frame::Frame;
use crate::registry::Entry;
use crate::{Access, Accesses};
use tokio_util::sync::CancellationToken;

impl Rest<'_> {
    /// Waits until the calls before this one that it conflicts with have ended, unless it is cancelled.
    pub(super) async fn wait_for_turn(&mut self, token: &CancellationToken) -> Result<(), Refusal> {
        // What the call waits for may itself wait for a person, and has clocks of its own.
        let _stopped = self.frame.stop_clocks();
        tokio::select! {
            biased;
            refusal = self.frame.control.halts(token) => Err(refusal),
            () = self.turn.come() => Ok(()),
        }
    }

    /// Tells whether a call that is in its turn has to wait for others of its batch that are left to wait.
    pub(super) fn in_reach(&self, accesses: Option<&Accesses>) -> Result<(), Halt> {
        if self.frame.leaves_none() || !self.turn.is_ordered() || self.turn.waits() {
            return Ok(());
        }
        let behind = self.frame.left_before(accesses);
        if behind.is_empty() {
            return Ok(());
        }
        // What a call touches that cannot be prepared yet could be anything.
        let accesses = accesses.cloned().unwrap_or_else(|| Access::opaque("not known yet").into());
        Err(Halt::Held { behind, accesses })
    }

    /// Waits until there is room for a call, unless it is cancelled.
    pub(super) async fn room(
        &self,
        entry: &Entry,
        authorized: &Authorized,
        token: &CancellationToken,
    ) -> Result<Room, Refusal> {
        let Frame { shared, control, .. } = &**self.frame;
        tokio::select! {
            biased;
            refusal = control.halts(token) => Err(refusal),
            room = shared.admission.admit(&entry.spec, authorized.accesses()) => Ok(room),
        }
    }
}
