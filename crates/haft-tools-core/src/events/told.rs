use super::{Events, Observer, apart};
use crate::{CallScope, now_ms};
use haft_core::{CallId, Event, EventKind};

/// Is who is told of a call: those who observe everything, and perhaps one who observes its batch.
#[derive(Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(super) events: &'a Events,
    pub(super) observer: Option<&'a dyn Observer>,
}

impl Told<'_> {
    /// Tells whether anybody observes or reads.
    pub(crate) fn is_observed(&self) -> bool {
        self.observer.is_some() || self.events.is_observed()
    }

    /// Makes an event, if anybody observes or reads, and hands it without secrets to everyone who does.
    pub(crate) fn emit(&self, scope: &CallScope, call: Option<&CallId>, kind: impl FnOnce() -> EventKind) {
        if !self.is_observed() {
            return;
        }
        let bus = &self.events.0;
        // The number is given last, so that one whose making panics leaves no gap.
        let mut kind = kind();
        for redactor in &*bus.redactors.all() {
            redactor.redact_event(&mut kind);
        }
        let mut event =
            Event::new(0, now_ms(), scope.run().clone(), kind).with_parent_run(scope.parent_run().cloned());
        if let Some(call) = call {
            event = event.with_call(call.clone());
        }
        let (event, woken) = bus.publish(event);
        for waker in woken {
            apart(|| waker.wake());
        }
        for observer in bus.observers.iter().map(|observer| &**observer).chain(self.observer) {
            apart(|| observer.observe(&event));
        }
    }
}
