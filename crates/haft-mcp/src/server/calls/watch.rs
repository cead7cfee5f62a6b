use super::relay::Relay;
use crate::server::line::Line as _;
use haft_core::{CallId, Event, EventKind, Progress};
use haft_tools_core::Observer;
use std::sync::Weak;

/// Tells the client how far its call has got.
pub(super) struct Watch {
    pub(super) call: CallId,
    pub(super) relay: Weak<Relay>,
}

impl Observer for Watch {
    fn observe(&self, event: &Event) {
        let EventKind::Progressed { progress } = &event.kind else { return };
        let Some(relay) = self.relay.upgrade() else { return };
        if event.call.as_ref() == Some(&self.call) {
            relay.progress(progress);
        } else if progress.message.is_some() {
            // How far a call that this one makes has got says nothing of how far this one has.
            relay.progress(&Progress { message: progress.message.clone(), fraction: None });
        }
    }
}
