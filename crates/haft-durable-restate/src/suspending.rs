//! Letting a workflow that waits give its worker free at once.
//!
//! The engine holds a stream open for each workflow that runs, and asks it to suspend once nothing has happened on it for a
//! while. A round may be silent for as long as a tool takes, so that while has to be long; a call that waits for a person
//! should hold nothing meanwhile. So the workflow says itself that it is going to wait: its side of the stream is read as
//! ended from then on, which is how the engine asks for a suspension, and what waits is suspended.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Sleep, sleep};
use tokio_util::task::task_tracker::TaskTrackerToken;

tokio::task_local! {
    /// Of the workflow that is polled.
    static STREAM: Stream;
}

/// Is the stream of one workflow.
#[derive(Clone)]
pub(crate) struct Stream {
    reading: Arc<Mutex<Reading>>,
    drains: Arc<AtomicBool>,
}

/// Says when the stream is read as ended.
#[derive(Default)]
enum Reading {
    /// When the engine ends it.
    #[default]
    On,
    /// At once.
    Ended,
    /// When nothing has come until then.
    EndsAfter(Pin<Box<Sleep>>),
}

impl Stream {
    /// Makes a stream of a server, which says whether it is about to end.
    pub(crate) fn new(drains: &Arc<AtomicBool>) -> Self {
        Self { reading: Arc::default(), drains: Arc::clone(drains) }
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        // Nothing that is called under the lock panics.
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Is a wait of a workflow that gives its worker free; what it did goes on when that is dropped.
#[must_use = "the wait is over when it is dropped"]
pub(crate) struct FarWait(Option<Stream>);

impl FarWait {
    /// Has the workflow that runs here suspend where it next has to wait, whatever for.
    pub(crate) fn begin() -> Self {
        Self::reading(|_| Reading::Ended)
    }

    /// Has the workflow that runs here suspend once it has waited for so long, and at once on a worker that is about to end.
    pub(crate) fn after(silence: Duration) -> Self {
        Self::reading(|stream| {
            if stream.drains.load(Ordering::Relaxed) {
                return Reading::Ended;
            }
            Reading::EndsAfter(Box::pin(sleep(silence)))
        })
    }

    fn reading(reading: impl FnOnce(&Stream) -> Reading) -> Self {
        // Elsewhere than on a worker's own server the engine asks for suspensions itself.
        let stream = STREAM.try_with(Stream::clone).ok();
        if let Some(stream) = &stream {
            *stream.reading() = reading(stream);
        }
        Self(stream)
    }
}

impl Drop for FarWait {
    fn drop(&mut self) {
        // What was waited for was there already, so the stream was not read as ended.
        if let Some(stream) = &self.0 {
            *stream.reading() = Reading::On;
        }
    }
}

pin_project! {
    /// Reads what the engine sends to a workflow, until that wants to suspend.
    pub(crate) struct Incoming<B> {
        #[pin]
        inner: B,
        stream: Stream,
    }
}

pin_project! {
    /// Gives what a workflow sends to the engine, which polls the workflow.
    pub(crate) struct Outgoing<B> {
        #[pin]
        inner: B,
        stream: Stream,
        runs: TaskTrackerToken,
    }
}

impl<B> Incoming<B> {
    pub(crate) fn new(inner: B, stream: &Stream) -> Self {
        Self { inner, stream: stream.clone() }
    }
}

impl<B> Outgoing<B> {
    /// Counts as running until it is dropped.
    pub(crate) fn new(inner: B, stream: Stream, runs: TaskTrackerToken) -> Self {
        Self { inner, stream, runs }
    }
}

impl<B: Body<Data = Bytes>> Body for Incoming<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.project();
        // It is said and read by the same task, so nobody has to be woken.
        match &mut *this.stream.reading() {
            Reading::On => this.inner.poll_frame(cx),
            Reading::Ended => Poll::Ready(None),
            Reading::EndsAfter(silence) => {
                if let Poll::Ready(frame) = this.inner.poll_frame(cx) {
                    return Poll::Ready(frame);
                }
                ready!(silence.as_mut().poll(cx));
                Poll::Ready(None)
            }
        }
    }
}

impl<B: Body<Data = Bytes>> Body for Outgoing<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.project();
        STREAM.sync_scope(this.stream.clone(), || this.inner.poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
