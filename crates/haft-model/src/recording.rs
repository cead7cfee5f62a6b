use crate::session::SessionRules;
use crate::{
    Assembler, Delta, DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest, ModelTurn, SessionTurn,
};
use async_trait::async_trait;
use futures_core::Stream;
use haft_core::{CallId, Message, ReplyStatus, ToolReply};
use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use tokio_util::sync::CancellationToken;

/// Wraps a model and writes what it says as a session.
///
/// Deltas pass through unchanged and at once, but for the stop, which waits until its turn is written: whoever has seen
/// the stop can rely on the recording. Each turn is one line, written with a single call and flushed. A turn that failed,
/// broke a rule of the stream or was given up on the way leaves no line.
///
/// The sink is written to while the stream is polled, some kilobytes a turn, so it should be a local file or memory. If
/// it fails, the turn ends with [`ModelError::Recording`] in place of its stop, and so does every later one: a session
/// with a hole could not be played. A call that repeats the id of one of an earlier turn, as the calls of some services do, has
/// another id in the record; where it starts runs, these cannot be told apart from those of the earlier one.
///
/// A recording model is of one run: the turns of runs that share one are mixed in its session. The runs below it are recorded
/// to the same sink by models [beside](Self::beside) it.
///
/// ```
/// use haft_core::Message;
/// use haft_model::{Model, ModelRequest, RecordingModel, ScriptedModel, Session, assemble};
/// use std::fs::File;
/// use tokio_util::sync::CancellationToken;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("copy.jsonl");
/// let session = Session::parse(r#"{"text": "Hello."}"#, "hello.jsonl")?;
/// let model = RecordingModel::new(ScriptedModel::new(session), File::create(&path)?);
///
/// let request = ModelRequest::new([Message::user("Say hello.")]);
/// assemble(model.stream(request, CancellationToken::new()).await?, |_| {}).await?;
/// assert_eq!(std::fs::read_to_string(&path)?, "{\"text\":\"Hello.\"}\n");
/// # Ok(())
/// # }
/// ```
pub struct RecordingModel<M> {
    inner: M,
    run: Arc<str>,
    recorder: Arc<Mutex<Recorder>>,
}

impl<M: Model> RecordingModel<M> {
    /// Records what `inner` says to a sink, from its current position.
    pub fn new(inner: M, sink: impl Write + Send + 'static) -> Self {
        let recorder =
            Recorder { sink: Box::new(sink), rules: HashMap::new(), renamed: HashMap::new(), broken: false };
        Self { inner, run: Arc::default(), recorder: Arc::new(Mutex::new(recorder)) }
    }

    /// Records what the model of a run below says to the same sink; see [`SessionTurn::run`] for how it is named.
    pub fn beside<N: Model>(&self, inner: N, run: impl Into<Arc<str>>) -> RecordingModel<N> {
        RecordingModel { inner, run: run.into(), recorder: Arc::clone(&self.recorder) }
    }

    /// Borrows the model that is recorded.
    pub fn inner(&self) -> &M {
        &self.inner
    }
}

impl<M: fmt::Debug> fmt::Debug for RecordingModel<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingModel").field("inner", &self.inner).finish_non_exhaustive()
    }
}

#[async_trait]
impl<M: Model> Model for RecordingModel<M> {
    fn capabilities(&self) -> &ModelCapabilities {
        self.inner.capabilities()
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError> {
        lock(&self.recorder).check_whole(&self.run)?;
        let after = last_statuses(&request.messages);
        let inner = self.inner.stream(request, cancel).await?;
        Ok(DeltaStream::new(RecordedStream {
            inner,
            assembler: Some(Assembler::new()),
            after,
            stop: None,
            surplus: None,
            run: Arc::clone(&self.run),
            recorder: Arc::clone(&self.recorder),
        }))
    }
}

/// How the calls of the last assistant message ended.
fn last_statuses(transcript: &[Arc<Message>]) -> Vec<(CallId, ReplyStatus)> {
    let since_turn =
        transcript.iter().rev().take_while(|message| !matches!(***message, Message::Assistant { .. }));
    let replies = since_turn.filter_map(|message| match &**message {
        Message::Tool { replies } => Some(replies.as_slice()),
        _ => None,
    });
    replies.flatten().map(|reply: &ToolReply| (reply.call_id.clone(), reply.status)).collect()
}

/// Passes a turn on and keeps a copy of it.
struct RecordedStream {
    inner: DeltaStream,
    /// The copy; `None` once the turn cannot be recorded any more, or is.
    assembler: Option<Assembler>,
    after: Vec<(CallId, ReplyStatus)>,
    /// The stop, until it is known that nothing comes after it.
    stop: Option<Delta>,
    /// What came after the stop, though nothing should.
    surplus: Option<Result<Delta, ModelError>>,
    run: Arc<str>,
    recorder: Arc<Mutex<Recorder>>,
}

impl Stream for RecordedStream {
    type Item = Result<Delta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(item) = self.surplus.take() {
            return Poll::Ready(Some(item));
        }
        loop {
            let item = ready!(Pin::new(&mut self.inner).poll_next(cx));
            match (self.stop.take(), item) {
                (None, Some(Ok(delta))) => {
                    self.copy(&delta);
                    if !matches!(delta, Delta::Stop(_)) {
                        return Poll::Ready(Some(Ok(delta)));
                    }
                    self.stop = Some(delta);
                }
                (None, end) => return Poll::Ready(end),
                (Some(stop), None) => return Poll::Ready(Some(self.record().map(|()| stop))),
                (Some(stop), Some(item)) => {
                    self.assembler = None;
                    self.surplus = Some(item);
                    return Poll::Ready(Some(Ok(stop)));
                }
            }
        }
    }
}

impl RecordedStream {
    /// Keeps a copy of a delta; one that breaks a rule ends the copy, and whoever assembles the turn finds it too.
    fn copy(&mut self, delta: &Delta) {
        if self.assembler.as_mut().is_some_and(|assembler| assembler.push(delta.clone()).is_err()) {
            self.assembler = None;
        }
    }

    fn record(&mut self) -> Result<(), ModelError> {
        let Some(Ok(turn)) = self.assembler.take().map(Assembler::finish) else {
            return Ok(());
        };
        lock(&self.recorder).record(&self.run, &turn, std::mem::take(&mut self.after))
    }
}

struct Recorder {
    sink: Box<dyn Write + Send>,
    /// What the turns of each run have to keep to.
    rules: HashMap<Arc<str>, SessionRules>,
    /// How the calls of the last turn of each run are called in the record that have another id there.
    renamed: HashMap<Arc<str>, HashMap<CallId, CallId>>,
    /// Whether a turn is missing, so that nothing after it can be played.
    broken: bool,
}

impl Recorder {
    fn record(
        &mut self,
        run: &Arc<str>,
        turn: &ModelTurn,
        after: Vec<(CallId, ReplyStatus)>,
    ) -> Result<(), ModelError> {
        self.check_whole(run)?;
        let rules = self.rules.entry(Arc::clone(run)).or_default();
        // A transcript can start with turns that came before the recording; their replies are not part of it.
        let renamed = self.renamed.entry(Arc::clone(run)).or_default();
        let after = after.into_iter().map(|(call, status)| (renamed.remove(&call).unwrap_or(call), status));
        let after: Vec<_> = after.filter(|(call, _)| rules.is_answered(call)).collect();
        let mut turn = SessionTurn::from(turn).run(&**run).after(after);
        *renamed = rename(&mut turn, rules);
        let number = rules.turns() + 1;
        let written = rules.admit(&turn).map_err(Into::into).and_then(|()| Ok(self.write(&turn)?));
        written.map_err(|source: Box<dyn Error + Send + Sync>| {
            self.broken = true;
            ModelError::Recording { turn: number, source }
        })
    }

    fn write(&mut self, turn: &SessionTurn) -> io::Result<()> {
        let mut line = turn.to_line();
        line.push('\n');
        self.sink.write_all(line.as_bytes())?;
        self.sink.flush()
    }

    fn check_whole(&self, run: &str) -> Result<(), ModelError> {
        if !self.broken {
            return Ok(());
        }
        let source = "an earlier turn could not be recorded; record to a new file".into();
        let turns = self.rules.get(run).map_or(0, SessionRules::turns);
        Err(ModelError::Recording { turn: turns + 1, source })
    }
}

/// Gives calls other ids whose ids stand for calls of earlier turns; gives the new id of each.
fn rename(turn: &mut SessionTurn, rules: &SessionRules) -> HashMap<CallId, CallId> {
    let mut taken: HashSet<CallId> = turn.calls.iter().map(|call| call.id.clone()).collect();
    let mut renamed = HashMap::new();
    for call in turn.calls.iter_mut().filter(|call| rules.is_used(&call.id)) {
        let free = |id: &CallId| !rules.is_used(id) && !taken.contains(id);
        let number = rules.turns() + 1;
        // An id that is as long as ids can be has no room for more.
        let names = (1_u64..)
            .flat_map(|more| [format!("{}-{number}-{more}", call.id), format!("call-{number}-{more}")]);
        let Some(id) = names.filter_map(|name| name.parse().ok()).find(free) else { continue };
        taken.insert(id.clone());
        renamed.insert(std::mem::replace(&mut call.id, id.clone()), id);
    }
    renamed
}

/// Takes the recorder; a sink that panicked is one that failed.
fn lock(recorder: &Mutex<Recorder>) -> MutexGuard<'_, Recorder> {
    recorder.lock().unwrap_or_else(|poisoned| {
        let mut recorder = PoisonError::into_inner(poisoned);
        recorder.broken = true;
        recorder
    })
}
