use super::Bus;
use futures_util::Stream;
use futures_util::task::AtomicWaker;
use haft_core::{Event, EventKind};
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

/// Hands a reader one event, and says what is missing before it.
///
/// ```
/// use haft_core::EventKind;
/// use haft_tools_core::{CallScope, Events};
///
/// let (events, scope) = (Events::default(), CallScope::new("run-1".parse()?));
/// let mut reader = events.subscribe(16);
/// events.emit(&scope, None, || EventKind::RunStarted { agent: "explorer".to_owned(), background: false });
/// let delivery = reader.try_next().ok_or("it was told")?;
/// assert_eq!((delivery.event.run.as_str(), delivery.lost_before), ("run-1", 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Delivery {
    /// The event.
    pub event: Arc<Event>,
    /// How many events are missing between the one delivered before and this one.
    ///
    /// They were updates, progress or pieces of what the model wrote, and were dropped because the reader was too slow.
    /// The sequence numbers have a gap of just this size.
    pub lost_before: u64,
}

/// Reads events in the order of their sequence numbers, in its own time.
///
/// Made by [`Events::subscribe`](crate::Events::subscribe), where it says what a slow reader can lose. Ends when all that
/// was kept is read and all clones of its [`Events`](crate::Events) are gone: executors and the contexts of running calls
/// have one each. Dropping it drops all that is kept for it.
///
/// It is a [`Stream`], too.
///
/// ```
/// use haft_core::EventKind;
/// use haft_tools_core::{CallScope, Events};
///
/// let events = Events::default();
/// let mut reader = events.subscribe(2);
/// let scope = CallScope::new("run-1".parse()?);
/// events.emit(&scope, None, || EventKind::TurnStarted { turn: 1 });
/// for text in ["a", "b", "c"] {
///     events.emit(&scope, None, || EventKind::TextDelta { text: text.into() });
/// }
/// drop(events);
///
/// let seen: Vec<_> = std::iter::from_fn(|| reader.try_next())
///     .map(|delivery| (delivery.event.sequence, delivery.lost_before))
///     .collect();
/// assert_eq!(seen, [(0, 0), (2, 1), (3, 0)]);
/// assert!(reader.is_ended());
/// # Ok::<(), haft_core::IdError>(())
/// ```
pub struct EventReader {
    queue: Arc<Queue>,
    bus: Weak<Bus>,
    /// The number of the next event, if none is missing.
    expected: u64,
}

impl EventReader {
    pub(super) fn new(queue: Arc<Queue>, bus: Weak<Bus>, expected: u64) -> Self {
        Self { queue, bus, expected }
    }

    /// Waits for the next event; `None` when there will be no more.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: an event is taken from the queue only when it is given.
    pub async fn next(&mut self) -> Option<Delivery> {
        poll_fn(|task| self.poll_delivery(task)).await
    }

    /// Takes the next event if there is one already.
    ///
    /// `None` does not mean the end: [`is_ended`](Self::is_ended) tells.
    pub fn try_next(&mut self) -> Option<Delivery> {
        let event = self.queue.pop()?;
        let lost_before = event.sequence.saturating_sub(self.expected);
        self.expected = event.sequence.saturating_add(1);
        Some(Delivery { event, lost_before })
    }

    /// Counts the events that were dropped so far because this reader was too slow.
    ///
    /// That can be more than the deliveries have told of: these tell of what is missing before them alone.
    pub fn lost(&self) -> u64 {
        self.queue.state().lost
    }

    /// Tells whether everything is read and nothing more will come.
    pub fn is_ended(&self) -> bool {
        let state = self.queue.state();
        state.ended && state.kept.is_empty() && state.droppable.is_empty()
    }

    fn poll_delivery(&mut self, task: &mut Context<'_>) -> Poll<Option<Delivery>> {
        if let Some(delivery) = self.try_next() {
            return Poll::Ready(Some(delivery));
        }
        self.queue.waker.register(task.waker());
        // What came before the waker was there has woken nobody.
        match self.try_next() {
            Some(delivery) => Poll::Ready(Some(delivery)),
            None if self.is_ended() => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

impl Stream for EventReader {
    type Item = Delivery;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Delivery>> {
        self.poll_delivery(task)
    }
}

impl Drop for EventReader {
    fn drop(&mut self) {
        if let Some(bus) = self.bus.upgrade() {
            bus.unsubscribe(&self.queue);
        }
    }
}

impl fmt::Debug for EventReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.queue.state();
        f.debug_struct("EventReader")
            .field("waiting", &(state.kept.len() + state.droppable.len()))
            .field("lost", &state.lost)
            .field("ended", &state.ended)
            .finish_non_exhaustive()
    }
}

/// Keeps what one reader has not read yet.
pub(super) struct Queue {
    /// The most droppable events that are kept.
    capacity: usize,
    state: Mutex<State>,
    waker: AtomicWaker,
}

/// The two queues are one, in the order of the numbers; apart, the oldest droppable event is found at once.
#[derive(Default)]
struct State {
    kept: VecDeque<Arc<Event>>,
    droppable: VecDeque<Arc<Event>>,
    lost: u64,
    ended: bool,
}

impl Queue {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, state: Mutex::default(), waker: AtomicWaker::new() }
    }

    /// Adds an event, which must have a higher number than those before; gives who waits for it.
    pub(super) fn push(&self, event: &Arc<Event>) -> Option<Waker> {
        let mut state = self.state();
        if !is_droppable(&event.kind) {
            state.kept.push_back(Arc::clone(event));
        } else if self.capacity == 0 {
            state.lost += 1;
            return None;
        } else {
            if state.droppable.len() >= self.capacity {
                state.droppable.pop_front();
                state.lost += 1;
            }
            state.droppable.push_back(Arc::clone(event));
        }
        drop(state);
        self.waker.take()
    }

    /// Says that nothing more will come; gives who waits for something.
    pub(super) fn end(&self) -> Option<Waker> {
        self.state().ended = true;
        self.waker.take()
    }

    fn pop(&self) -> Option<Arc<Event>> {
        let State { kept, droppable, .. } = &mut *self.state();
        let first = match (kept.front(), droppable.front()) {
            (Some(one), Some(other)) if one.sequence < other.sequence => kept,
            (Some(_), None) => kept,
            _ => droppable,
        };
        first.pop_front()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells whether a reader can do without an event: there may be any number of its kind, and the end says it again.
fn is_droppable(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::Updated { .. }
            | EventKind::Progressed { .. }
            | EventKind::TextDelta { .. }
            | EventKind::ReasoningDelta { .. }
            | EventKind::CallDelta { .. }
    )
}
