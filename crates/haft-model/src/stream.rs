use crate::{Delta, ModelError};
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Yields the deltas of one turn as the model writes them.
///
/// After an error, and after its end, it yields nothing more and has let go of what was behind it, such as a
/// connection. Dropping it does the same at any time.
///
/// ```
/// use haft_core::StopReason;
/// use haft_model::{Delta, DeltaStream};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), haft_model::ModelError> {
/// let mut stream = DeltaStream::from_deltas([Delta::Text("Hi.".into()), Delta::Stop(StopReason::EndTurn)]);
/// assert_eq!(stream.next().await.transpose()?, Some(Delta::Text("Hi.".into())));
/// # Ok(())
/// # }
/// ```
pub struct DeltaStream {
    /// What yields the deltas; `None` once it is over.
    inner: Option<BoxedStream>,
}

type BoxedStream = Pin<Box<dyn Stream<Item = Result<Delta, ModelError>> + Send>>;

impl DeltaStream {
    /// Wraps a stream of deltas.
    pub fn new(stream: impl Stream<Item = Result<Delta, ModelError>> + Send + 'static) -> Self {
        Self { inner: Some(Box::pin(stream)) }
    }

    /// Makes a stream of deltas that are there already.
    pub fn from_deltas<I>(deltas: I) -> Self
    where
        I: IntoIterator<Item = Delta>,
        I::IntoIter: Send + 'static,
    {
        Self::new(futures_util::stream::iter(deltas.into_iter().map(Ok)))
    }

    /// Waits for the next delta; `None` once the stream is over.
    ///
    /// # Errors
    ///
    /// Whatever cut the turn off; it is the last item.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no delta.
    pub async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for DeltaStream {
    type Item = Result<Delta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(inner) = &mut self.inner else {
            return Poll::Ready(None);
        };
        let polled = inner.as_mut().poll_next(cx);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.inner = None;
        }
        polled
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.as_ref().map_or((0, Some(0)), Stream::size_hint)
    }
}

impl fmt::Debug for DeltaStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeltaStream").field("is_over", &self.inner.is_none()).finish_non_exhaustive()
    }
}
