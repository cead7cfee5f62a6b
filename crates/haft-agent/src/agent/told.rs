use haft_core::EventKind;
use haft_model::Delta;
use haft_tools_core::{CallScope, Events, RedactedStream};

/// Tells what a model writes in one turn piece by piece, without secrets that are split over several pieces.
pub(super) struct Told<'a> {
    events: &'a Events,
    scope: &'a CallScope,
    text: RedactedStream,
    reasoning: RedactedStream,
}

impl<'a> Told<'a> {
    pub(super) fn new(events: &'a Events, scope: &'a CallScope) -> Self {
        Self { events, scope, text: events.redacted_stream(), reasoning: events.redacted_stream() }
    }

    pub(super) fn delta(&mut self, delta: &Delta) {
        if !self.events.is_observed() {
            return;
        }
        match delta {
            Delta::Text(text) => {
                let text = self.text.push(text.clone());
                self.tell(text, |text| EventKind::TextDelta { text });
            }
            Delta::Reasoning { text, .. } => {
                let text = self.reasoning.push(text.clone());
                self.tell(text, |text| EventKind::ReasoningDelta { text });
            }
            _ => {}
        }
    }

    /// Tells what was held back, now that nothing follows.
    pub(super) fn finish(self) {
        let Self { events, scope, text, reasoning } = self;
        for (text, kind) in [
            (reasoning.finish(), (|text| EventKind::ReasoningDelta { text }) as fn(String) -> EventKind),
            (text.finish(), |text| EventKind::TextDelta { text }),
        ] {
            if !text.is_empty() {
                events.emit(scope, None, || kind(text));
            }
        }
    }

    fn tell(&self, text: String, kind: impl FnOnce(String) -> EventKind) {
        if !text.is_empty() {
            self.events.emit(self.scope, None, || kind(text));
        }
    }
}
