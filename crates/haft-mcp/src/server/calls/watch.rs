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
        let progress = match &event.kind {
            // How far a call that this one makes has got says nothing of how far this one has.
            EventKind::Progressed { progress } if event.call.as_ref() != Some(&self.call) => {
                progress.message.clone().map(|message| Progress { message: Some(message), fraction: None })
            }
            EventKind::Progressed { progress } => Some(progress.clone()),
            // The protocol has no place for a part of an output but this; what is newest says most.
            EventKind::Updated { output } => last_line(&output.to_text()).map(Progress::from),
            _ => None,
        };
        if let (Some(progress), Some(relay)) = (progress, self.relay.upgrade()) {
            relay.progress(&progress);
        }
    }
}

/// The last line that says something.
fn last_line(text: &str) -> Option<&str> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty())
}
