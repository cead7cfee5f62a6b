use haft_core::{CallId, EventKind};
use haft_model::Delta;
use haft_tools_core::{CallScope, Events, RedactedStream};

/// Tells what a model writes in one turn piece by piece, without secrets that are split over several pieces.
pub(super) struct Told<'a> {
    events: &'a Events,
    scope: &'a CallScope,
    text: RedactedStream,
    reasoning: RedactedStream,
    calls: Vec<Call>,
}

/// Is a call that the model writes.
struct Call {
    index: u32,
    id: CallId,
    name: String,
    arguments: RedactedStream,
}

impl<'a> Told<'a> {
    pub(super) fn new(events: &'a Events, scope: &'a CallScope) -> Self {
        let (text, reasoning) = (events.redacted_stream(), events.redacted_stream());
        Self { events, scope, text, reasoning, calls: Vec::new() }
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
            Delta::ToolCallStart { index, id, name } => {
                let arguments = self.events.redacted_stream();
                let call = Call { index: *index, id: id.clone(), name: name.clone(), arguments };
                self.events.emit(self.scope, None, || call.delta(String::new()));
                self.calls.push(call);
            }
            Delta::ToolCallArguments { index, fragment } => {
                let Some(place) = self.calls.iter().position(|call| call.index == *index) else { return };
                let arguments = self.calls[place].arguments.push(fragment.clone());
                self.tell(arguments, |arguments| self.calls[place].delta(arguments));
            }
            _ => {}
        }
    }

    /// Tells what was held back, now that nothing follows.
    pub(super) fn finish(self) {
        let Self { events, scope, text, reasoning, calls } = self;
        for (text, kind) in [
            (reasoning.finish(), (|text| EventKind::ReasoningDelta { text }) as fn(String) -> EventKind),
            (text.finish(), |text| EventKind::TextDelta { text }),
        ] {
            if !text.is_empty() {
                events.emit(scope, None, || kind(text));
            }
        }
        for mut call in calls {
            let arguments = std::mem::replace(&mut call.arguments, events.redacted_stream()).finish();
            if !arguments.is_empty() {
                events.emit(scope, None, || call.delta(arguments));
            }
        }
    }

    fn tell(&self, text: String, kind: impl FnOnce(String) -> EventKind) {
        if !text.is_empty() {
            self.events.emit(self.scope, None, || kind(text));
        }
    }
}

impl Call {
    fn delta(&self, arguments: String) -> EventKind {
        EventKind::CallDelta { id: self.id.clone(), name: self.name.clone(), arguments }
    }
}
