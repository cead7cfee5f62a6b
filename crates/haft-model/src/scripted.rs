mod transcript;

use crate::{
    Delta, DeltaStream, DivergenceError, DivergenceKind, Model, ModelCapabilities, ModelError, ModelRequest,
    Session, SessionTurn,
};
use async_trait::async_trait;
use futures_core::Stream;
use haft_core::Message;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::vec;
use tokio_util::sync::CancellationToken;

/// Plays a session: the first request gets its first turn, the next one its second, and so on.
///
/// Before a turn is played, the transcript of the request is checked from its beginning:
///
/// - its assistant messages are the turns that were played so far, unchanged;
/// - every call is answered exactly once, in the message directly after it, in the order of the calls, and no reply
///   answers anything else;
/// - the replies ended as the session says in `after`, where it says so.
///
/// What differs ends the request with [`ModelError::Diverged`]. A turn counts as played once its last delta was taken
/// from the stream, so a request that was given up on the way can be made again. The turn comes in small pieces, calls
/// side by side, as from a provider.
///
/// One model plays one session to one run: there is one place in the session for all who ask.
///
/// ```
/// use haft_core::Message;
/// use haft_model::{Model as _, ModelRequest, ScriptedModel, Session, assemble};
/// use tokio_util::sync::CancellationToken;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new(Session::parse(r#"{"text": "Hello."}"#, "hello.jsonl")?);
/// let request = ModelRequest::new([Message::user("Hi!")]);
/// let turn = assemble(model.stream(request, CancellationToken::new()).await?, |_| {}).await?;
/// assert_eq!(turn.message.assistant_text(), "Hello.");
/// assert!(model.finished().is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ScriptedModel {
    capabilities: ModelCapabilities,
    session: Session,
    /// The message of each turn.
    messages: Vec<Message>,
    /// How many turns were played.
    played: Arc<AtomicUsize>,
}

impl ScriptedModel {
    /// Plays this session from its first turn.
    pub fn new(session: Session) -> Self {
        let capabilities = ModelCapabilities::new("scripted").parallel_tool_calls().reasoning();
        let messages = session.turns().iter().map(SessionTurn::message).collect();
        Self { capabilities, session, messages, played: Arc::default() }
    }

    /// Counts so many turns as played, for a run that was stored after them and is gone on with.
    pub fn after_turns(self, turns: usize) -> Self {
        self.played.store(turns.min(self.messages.len()), Ordering::SeqCst);
        self
    }

    /// Counts the turns that were not played yet.
    pub fn remaining(&self) -> usize {
        self.session.turns().len().saturating_sub(self.played())
    }

    /// Checks that the session was played to its end; to be asked when the run is over.
    ///
    /// # Errors
    ///
    /// A report of the turns that are left.
    pub fn finished(&self) -> Result<(), DivergenceError> {
        match self.remaining() {
            0 => Ok(()),
            count => {
                let kind = DivergenceKind::TurnsLeft { count };
                Err(DivergenceError::new(&self.session, self.played() + 1, kind))
            }
        }
    }

    /// Borrows the session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    fn played(&self) -> usize {
        self.played.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError> {
        if cancel.is_cancelled() {
            return Err(ModelError::Cancelled);
        }
        let played = self.played();
        transcript::check(&self.session, &self.messages[..played], &request.messages)?;
        let Some(turn) = self.session.turns().get(played) else {
            return Err(DivergenceError::new(&self.session, played, DivergenceKind::SessionEnded).into());
        };
        Ok(DeltaStream::new(Playback {
            deltas: turn.deltas().into_iter(),
            played: Arc::clone(&self.played),
            after: played + 1,
            cancel,
        }))
    }
}

/// Streams one turn.
struct Playback {
    deltas: vec::IntoIter<Delta>,
    played: Arc<AtomicUsize>,
    /// How many turns are played once this one is.
    after: usize,
    cancel: CancellationToken,
}

impl Stream for Playback {
    type Item = Result<Delta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(delta) = self.deltas.next() else {
            return Poll::Ready(None);
        };
        if self.cancel.is_cancelled() {
            return Poll::Ready(Some(Err(ModelError::Cancelled)));
        }
        if self.deltas.as_slice().is_empty() {
            self.played.fetch_max(self.after, Ordering::SeqCst);
        }
        Poll::Ready(Some(Ok(delta)))
    }
}
