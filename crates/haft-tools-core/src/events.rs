use haft_core::{CallId, Event, EventKind};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::CallScope;

/// Sees every event and changes nothing.
///
/// Called in the task that caused the event, in the order of the sequence numbers of one call; an observer that has
/// much to do hands the event on. One that panics misses the event and disturbs nobody else.
pub trait Observer: Send + Sync + 'static {
    /// Takes note of an event. Must not block.
    fn observe(&self, event: &Event);
}

impl<F: Fn(&Event) + Send + Sync + 'static> Observer for F {
    fn observe(&self, event: &Event) {
        self(event);
    }
}

/// Numbers events and hands them to observers; shared by everything that works on one run tree.
///
/// Cheap to clone: clones share the numbering and the observers. Without an observer an event costs nothing: it is not
/// even made.
///
/// ```
/// use haft_tools_core::{CallScope, Events};
/// use haft_core::{Event, EventKind};
/// use std::sync::Mutex;
/// use std::sync::Arc;
///
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let sink = Arc::clone(&seen);
/// let events = Events::new([Arc::new(move |event: &Event| sink.lock().unwrap().push(event.sequence)) as _]);
/// let scope = CallScope::new("run-1".parse()?);
/// events.emit(&scope, None, || EventKind::TextDelta { text: "hello".into() });
/// assert_eq!(*seen.lock().unwrap(), [0]);
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Clone, Default)]
pub struct Events(Option<Arc<Bus>>);

struct Bus {
    next: AtomicU64,
    observers: Box<[Arc<dyn Observer>]>,
}

impl Events {
    /// Hands events to these observers, in this order.
    pub fn new(observers: impl IntoIterator<Item = Arc<dyn Observer>>) -> Self {
        let observers: Box<[_]> = observers.into_iter().collect();
        if observers.is_empty() {
            return Self(None);
        }
        Self(Some(Arc::new(Bus { next: AtomicU64::new(0), observers })))
    }

    /// Tells whether anybody observes.
    pub fn is_observed(&self) -> bool {
        self.0.is_some()
    }

    /// Makes an event, if anybody observes, and hands it to every observer.
    pub fn emit(&self, scope: &CallScope, call: Option<&CallId>, kind: impl FnOnce() -> EventKind) {
        let Some(bus) = &self.0 else { return };
        let sequence = bus.next.fetch_add(1, Ordering::Relaxed);
        let mut event = Event::new(sequence, now_ms(), scope.run().clone(), kind())
            .with_parent_run(scope.parent_run().cloned());
        if let Some(call) = call {
            event = event.with_call(call.clone());
        }
        for observer in &bus.observers {
            // An observer is only used again through a shared reference, as it would be by another task.
            let _ = catch_unwind(AssertUnwindSafe(|| observer.observe(&event)));
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Events({} observers)", self.0.as_ref().map_or(0, |bus| bus.observers.len()))
    }
}

fn now_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}
