mod rate_limit;
mod redacting;
mod stream;
mod told;

pub(crate) use rate_limit::RateLimit;
pub use stream::{Delivery, EventReader};
pub(crate) use told::Told;

use crate::{CallScope, RedactedStream, Redactor};
use haft_core::{CallId, Event, EventKind};
use redacting::Redactors;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use stream::Queue;

/// Sees every event and changes nothing.
///
/// Called in the task that caused the event, in the order of the sequence numbers of one call; an observer that has
/// much to do hands the event on. One that panics misses the event and disturbs nobody else.
///
/// ```
/// use haft_core::{Event, EventKind};
/// use haft_tools_core::{CallScope, Events, Observer};
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use std::sync::Arc;
///
/// /// Counts what happens.
/// #[derive(Default)]
/// struct Count(AtomicUsize);
///
/// impl Observer for Count {
///     fn observe(&self, _: &Event) {
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// let count = Arc::new(Count::default());
/// let events = Events::new([Arc::clone(&count) as Arc<dyn Observer>]);
/// let scope = CallScope::new("run-1".parse()?);
/// events.emit(&scope, None, || EventKind::RunStarted { agent: "explorer".to_owned(), background: false });
/// assert_eq!(count.0.load(Ordering::Relaxed), 1);
/// # Ok::<(), haft_core::IdError>(())
/// ```
pub trait Observer: Send + Sync + 'static {
    /// Takes note of an event. Must not block.
    fn observe(&self, event: &Event);
}

impl<F: Fn(&Event) + Send + Sync + 'static> Observer for F {
    fn observe(&self, event: &Event) {
        self(event);
    }
}

/// Numbers events and hands them to observers and readers; shared by everything that works on one run tree.
///
/// There are two ways to learn of events. An [`Observer`] is called in place, in the task that caused the event; a reader,
/// made by [`subscribe`](Self::subscribe), takes them from a bounded queue in its own time. Cheap to clone: clones share
/// the numbering, the observers and the readers. While nobody observes and nobody reads, an event costs nothing: it is not
/// even made, and has no number.
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
pub struct Events(Arc<Bus>);

#[derive(Default)]
struct Bus {
    observers: Box<[Arc<dyn Observer>]>,
    /// Counts the readers, so that whether there are any is known without the lock.
    reading: AtomicUsize,
    readers: Mutex<Readers>,
    redactors: Redactors,
}

#[derive(Default)]
struct Readers {
    /// The number of the next event.
    next: u64,
    queues: Vec<Arc<Queue>>,
}

impl Events {
    /// Hands events to these observers, in this order.
    pub fn new(observers: impl IntoIterator<Item = Arc<dyn Observer>>) -> Self {
        let observers = observers.into_iter().collect();
        let (reading, readers, redactors) = Default::default();
        Self(Arc::new(Bus { observers, reading, readers, redactors }))
    }

    /// Makes a reader of all events from now on, through a queue of its own.
    ///
    /// The queue holds at most `capacity` events that may be lost: updates, progress, and what the model writes piece by
    /// piece. When one more comes, the oldest of them is dropped, and the reader is told how many are missing at the
    /// place where they are. 256 is plenty for a screen; with 0 the reader gets none of these.
    ///
    /// All other events are kept until they are read: a slow reader loses no start, no end, no decision, no question and
    /// no turn. Of these there are a handful for each call and two for each turn, so they are bounded by the calls that
    /// the run may make. A reader that is no longer wanted has to be dropped: then nothing is kept for it.
    ///
    /// Whoever causes an event never waits for a reader.
    ///
    /// ```
    /// use haft_core::{EventKind, ToolCall, ToolError};
    /// use haft_tools_core::{Accesses, Batch, CallContext, CallScope, Events, LocalExecutor, Policy, Rule};
    /// use haft_tools_core::{ToolExecutor as _, ToolRegistry, tool_fn};
    /// use serde_json::json;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Input {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let build = tool_fn("build", "Builds it.", Accesses::none(), |_: Input, cx: CallContext| async move {
    ///     cx.progress("linking");
    ///     Ok::<_, ToolError>("built")
    /// })?;
    /// let events = Events::default();
    /// let mut reader = events.subscribe(256);
    /// let executor = LocalExecutor::builder(ToolRegistry::new().with(build)?)
    ///     .policy(Policy::new().allow(Rule::tools("build".parse()?)))
    ///     .events(events)
    ///     .build();
    /// let calls = vec![ToolCall::new("c1".parse()?, "build", json!({}))];
    /// let batch = Batch::new(CallScope::new("run-1".parse()?), calls);
    ///
    /// // The executor goes with its work, and with it the last who could cause an event.
    /// let work = async move { executor.execute_batch(batch).await };
    /// let watch = async {
    ///     let mut seen = Vec::new();
    ///     while let Some(delivery) = reader.next().await {
    ///         assert_eq!(delivery.lost_before, 0);
    ///         seen.push(match &delivery.event.kind {
    ///             EventKind::Started { name, .. } => format!("{name} started"),
    ///             EventKind::Progressed { progress } => progress.message.clone().unwrap_or_default(),
    ///             EventKind::Finished { reply } => format!("{} finished: {}", reply.name, reply.status),
    ///             _ => continue,
    ///         });
    ///     }
    ///     seen
    /// };
    /// let (_, seen) = tokio::join!(work, watch);
    /// assert_eq!(seen, ["build started", "linking", "build finished: ok"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn subscribe(&self, capacity: usize) -> EventReader {
        let queue = Arc::new(Queue::new(capacity));
        let mut readers = self.0.readers();
        readers.queues.push(Arc::clone(&queue));
        self.0.reading.store(readers.queues.len(), Ordering::Release);
        EventReader::new(queue, Arc::downgrade(&self.0), readers.next)
    }

    /// Replaces the secrets that are registered with this redactor in every event from now on, whoever causes it.
    ///
    /// It holds for all clones, beside the redactors that they have already. An executor does so with its own when it is
    /// built.
    pub fn redacted_by(&self, redactor: &Redactor) {
        self.0.redactors.add(redactor);
    }

    /// Starts to replace secrets in a text that is told in several events, such as what a model writes.
    ///
    /// In events each piece is looked at by itself, so a secret that is split over two of them is only found by a stream.
    ///
    /// ```
    /// use haft_tools_core::{Events, Redactor};
    ///
    /// let (events, redactor) = (Events::default(), Redactor::new());
    /// redactor.add("hunter2")?;
    /// events.redacted_by(&redactor);
    /// let mut stream = events.redacted_stream();
    /// assert_eq!(stream.push("it is hun".to_owned()), "it is ");
    /// assert_eq!(stream.push("ter2, as".to_owned()), "[redacted], as");
    /// # Ok::<(), haft_tools_core::SecretError>(())
    /// ```
    pub fn redacted_stream(&self) -> RedactedStream {
        RedactedStream::new(self.0.redactors.all().iter().cloned())
    }

    /// Tells whether anybody observes or reads.
    pub fn is_observed(&self) -> bool {
        !self.0.observers.is_empty() || self.0.reading.load(Ordering::Acquire) > 0
    }

    /// Makes an event, if anybody observes or reads, and hands it without secrets to everyone who does.
    pub fn emit(&self, scope: &CallScope, call: Option<&CallId>, kind: impl FnOnce() -> EventKind) {
        self.beside(None).emit(scope, call, kind);
    }

    /// Tells one more observer, beside those who observe everything.
    pub(crate) fn beside<'a>(&'a self, observer: Option<&'a dyn Observer>) -> Told<'a> {
        Told { events: self, observer }
    }
}

/// Does what others wrote so that its panic disturbs nobody else.
fn apart(work: impl FnOnce()) {
    // What is called is only used again through a shared reference, as it would be by another task.
    let _ = catch_unwind(AssertUnwindSafe(work));
}

impl Bus {
    /// Numbers an event and puts it into the queues, which are therefore all in the order of the numbers.
    ///
    /// Gives those who wait for it, to be woken without the lock.
    fn publish(&self, mut event: Event) -> (Arc<Event>, Vec<Waker>) {
        let mut readers = self.readers();
        event.sequence = readers.next;
        readers.next += 1;
        let event = Arc::new(event);
        let woken = readers.queues.iter().filter_map(|queue| queue.push(&event)).collect();
        (event, woken)
    }

    fn unsubscribe(&self, queue: &Arc<Queue>) {
        let mut readers = self.readers();
        readers.queues.retain(|other| !Arc::ptr_eq(other, queue));
        self.reading.store(readers.queues.len(), Ordering::Release);
    }

    fn readers(&self) -> MutexGuard<'_, Readers> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        let queues = std::mem::take(&mut self.readers().queues);
        for queue in queues {
            if let Some(waker) = queue.end() {
                apart(|| waker.wake());
            }
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (observers, readers) = (self.0.observers.len(), self.0.reading.load(Ordering::Relaxed));
        write!(f, "Events({observers} observers, {readers} readers)")
    }
}
