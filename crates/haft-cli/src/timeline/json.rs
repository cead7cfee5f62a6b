use crate::exit::Exit;
use haft::agent::RunState;
use haft::{Event, Observer, PendingCall};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Prints every event as one line of JSON, for programs.
pub(crate) struct JsonLines;

impl Observer for JsonLines {
    fn observe(&self, event: &Event) {
        if let Ok(line) = serde_json::to_string(event) {
            anstream::println!("{line}");
        }
    }
}

impl JsonLines {
    /// Prints the last line: how the run ended and what it took.
    pub(crate) fn summary(state: &RunState, elapsed: Duration, exit: Exit, kept: Option<&Path>) {
        let pending: Vec<_> = state.pending().flat_map(PendingCall::leaves).collect();
        let summary = json!({
            "event": "summary",
            "end": state.end(),
            "pending": pending,
            "turns": state.turns(),
            "usage": state.usage(),
            "spent": state.spent(),
            "cost": super::money(state),
            "elapsed_ms": u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            "done": exit == Exit::Done,
            "kept": kept,
        });
        anstream::println!("{summary}");
    }
}
