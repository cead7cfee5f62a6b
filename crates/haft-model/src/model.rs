use crate::{DeltaStream, ModelCapabilities, ModelError, ModelRequest};
use async_trait::async_trait;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Answers a transcript with the next turn, in pieces.
///
/// An implementation adapts one provider, or wraps another model. It owes its callers three things: the stream it gives
/// keeps the rules written at [`Delta`](crate::Delta); it looks at `cancel` for as long as the stream lives and then
/// ends it with [`ModelError::Cancelled`]; and dropping the stream ends the request behind it. One that asks its provider
/// again by itself tells [`ModelRequest::retries`] before it waits. It keeps the request no longer than the stream lives, since what is told
/// by it is part of a run.
///
/// ```
/// use async_trait::async_trait;
/// use haft_core::StopReason;
/// use haft_model::{Delta, DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest};
/// use tokio_util::sync::CancellationToken;
///
/// /// Tells how many messages it was sent.
/// struct Counter(ModelCapabilities);
///
/// #[async_trait]
/// impl Model for Counter {
///     fn capabilities(&self) -> &ModelCapabilities {
///         &self.0
///     }
///
///     async fn stream(&self, request: ModelRequest, _: CancellationToken) -> Result<DeltaStream, ModelError> {
///         let text = format!("{} messages", request.messages.len());
///         Ok(DeltaStream::from_deltas([Delta::Text(text), Delta::Stop(StopReason::EndTurn)]))
///     }
/// }
/// ```
#[async_trait]
pub trait Model: Send + Sync + 'static {
    /// Says what the model can take and give.
    fn capabilities(&self) -> &ModelCapabilities;

    /// Sends a request and gives the turn that answers it, piece by piece.
    ///
    /// # Errors
    ///
    /// Whatever keeps the answer from starting. What goes wrong later is the last item of the stream.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future, or the stream it gave, abandons the request; nothing of it is kept. The provider may still
    /// bill for it. Cancelling the token does the same and says so with [`ModelError::Cancelled`].
    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError>;
}

#[async_trait]
impl<M: Model + ?Sized> Model for Arc<M> {
    fn capabilities(&self) -> &ModelCapabilities {
        (**self).capabilities()
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError> {
        (**self).stream(request, cancel).await
    }
}

#[async_trait]
impl<M: Model + ?Sized> Model for Box<M> {
    fn capabilities(&self) -> &ModelCapabilities {
        (**self).capabilities()
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError> {
        (**self).stream(request, cancel).await
    }
}
