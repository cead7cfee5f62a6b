mod ask;
mod wait_for;

use crate::admission::Room;
use crate::clock::Clock;
use crate::events::RateLimit;
use crate::executor::{Frame, StoppedClocks, call_nested, shape_news};
use crate::order::Place;
use crate::{Access, CallScope, Layer, OutputStore};
use haft_core::{CallId, EventKind, Progress, ReplyStatus, ToolCall, ToolOutput, ToolReply};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Gives a running tool its surroundings: who calls, when to stop, whom to tell, and how to call other tools.
///
/// Cheap to clone, so that a tool can hand it to what it starts. What is sent through it after the call was answered
/// goes nowhere.
///
/// ```
/// use haft_core::ToolError;
/// use haft_tools_core::{CallContext, CallScope};
///
/// /// Counts to ten, tells how far it is, and stops when it is told to.
/// async fn count(cx: CallContext) -> Result<u32, ToolError> {
///     for number in 0..10_u8 {
///         if cx.cancellation().is_cancelled() {
///             return Err(ToolError::cancelled("stopped on the way"));
///         }
///         cx.progress(f64::from(number) / 10.0);
///         tokio::task::yield_now().await;
///     }
///     Ok(10)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cx = CallContext::detached("c1".parse()?, CallScope::new("run-1".parse()?));
/// assert_eq!(count(cx.clone()).await?, 10);
/// cx.cancellation().cancel();
/// assert!(count(cx).await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct CallContext(Arc<Inner>);

struct Inner {
    call_id: CallId,
    made: Made,
    /// The call's own token; made when somebody wants it, since most calls end before.
    token: OnceLock<CancellationToken>,
    /// Is cancelled when the calls that this one makes should stop: with it, or because it has ended without them.
    made_calls: OnceLock<CancellationToken>,
    /// The place of the call in the order, which the calls it makes are beside of.
    place: Option<Place>,
    room: Room,
    /// Made when somebody waits for the call.
    clock: OnceLock<Box<Clock>>,
    /// Limit how often updates and progress are shown; made when somebody listens.
    often: OnceLock<Box<[RateLimit; 2]>>,
    finished: AtomicBool,
    /// Held while news is handed on, so that none comes after the end.
    telling: Mutex<()>,
}

/// Says what is told, each of which is limited on its own.
#[derive(Clone, Copy)]
enum News {
    Update,
    Progress,
}

/// Says where a call is made.
enum Made {
    /// By an executor, in this batch, of the tool at this place in the batch's registry.
    In(Arc<Frame>, usize),
    /// By hand, in this scope.
    Detached(Box<CallScope>),
}

/// Holds what an executor knows of a call that it is about to run.
pub(crate) struct Admitted {
    pub(crate) call_id: CallId,
    pub(crate) tool: usize,
    pub(crate) frame: Arc<Frame>,
    pub(crate) token: Option<CancellationToken>,
    pub(crate) place: Option<Place>,
    pub(crate) room: Room,
}

impl CallContext {
    pub(crate) fn new(admitted: Admitted) -> Self {
        let Admitted { call_id, tool, frame, token, place, room } = admitted;
        let token = token.map_or_else(OnceLock::new, OnceLock::from);
        Self(Arc::new(Inner {
            call_id,
            made: Made::In(frame, tool),
            token,
            made_calls: OnceLock::new(),
            place,
            room,
            clock: OnceLock::new(),
            often: OnceLock::new(),
            finished: AtomicBool::new(false),
            telling: Mutex::new(()),
        }))
    }

    /// Makes a context without an executor, for running one action in a test or a benchmark.
    ///
    /// Nobody observes it, nothing cancels it but its own token, and calls of other tools are denied.
    ///
    /// ```
    /// use haft_tools_core::{CallContext, CallScope};
    ///
    /// let cx = CallContext::detached("c1".parse()?, CallScope::new("run-1".parse()?));
    /// assert_eq!(cx.call_id().as_str(), "c1");
    /// # Ok::<(), haft_core::IdError>(())
    /// ```
    pub fn detached(call_id: CallId, scope: CallScope) -> Self {
        Self(Arc::new(Inner {
            call_id,
            made: Made::Detached(Box::new(scope)),
            token: OnceLock::new(),
            made_calls: OnceLock::new(),
            place: None,
            room: Room::default(),
            clock: OnceLock::new(),
            often: OnceLock::new(),
            finished: AtomicBool::new(false),
            telling: Mutex::new(()),
        }))
    }

    /// The call that is being run.
    pub fn call_id(&self) -> &CallId {
        &self.0.call_id
    }

    /// The name of the tool that is being run, as it stands in the registry.
    pub fn tool_name(&self) -> &str {
        match &self.0.made {
            Made::In(frame, tool) => frame.registry().entries()[*tool].name(),
            Made::Detached(_) => "detached",
        }
    }

    /// On whose behalf the call is made.
    pub fn scope(&self) -> &CallScope {
        match &self.0.made {
            Made::In(frame, _) => &frame.scope,
            Made::Detached(scope) => scope,
        }
    }

    /// Is cancelled when the call should stop: by a person, with its run, or because its time is over.
    ///
    /// A tool that does not stop within the executor's grace is abandoned: its future is dropped.
    pub fn cancellation(&self) -> &CancellationToken {
        self.0.token.get_or_init(|| match self.batch_token() {
            Some(token) => token.child_token(),
            None => CancellationToken::new(),
        })
    }

    /// Shows people what there is of the output so far; it never reaches the model.
    ///
    /// Each update replaces the one before it, so give all there is. The closure is only called when somebody observes
    /// and no other update has just been shown: of updates that follow each other within
    /// [`update_interval`](crate::Limits::update_interval), the first is shown.
    ///
    /// Of an update that is over the bounds of a reply, the end of its texts is shown, and what else fits.
    pub fn update(&self, output: impl FnOnce() -> ToolOutput) {
        self.touch();
        if self.layers().is_empty() {
            self.tell(News::Update, || Some((EventKind::Updated { output: output() }, ())));
            return;
        }
        let shown = self.tell(News::Update, || {
            let output = self.layers().iter().try_fold(output(), |output, layer| {
                // A layer that breaks might have wanted to suppress the update.
                catch_unwind(AssertUnwindSafe(|| layer.before_update(self, output))).ok().flatten()
            })?;
            Some((EventKind::Updated { output: output.clone() }, output))
        });
        for layer in shown.iter().flat_map(|_| self.layers()) {
            // The update has been shown, so nothing is lost with a layer that breaks.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                shown.as_ref().map(|output| layer.after_update(self, output))
            }));
        }
    }

    /// Tells people how far the call has got, as a text or as a fraction from 0.0 to 1.0.
    ///
    /// Limited like updates, but apart from them; a text is cut to 1 KiB.
    /// Also without anybody who listens, it tells the executor that the call gets on: the idle timeout, where there is
    /// one, starts anew.
    pub fn progress(&self, progress: impl Into<Progress>) {
        self.touch();
        self.tell(News::Progress, || Some((EventKind::Progressed { progress: progress.into() }, ())));
    }

    /// Where what is too much for a reply can be kept, if the host keeps it anywhere.
    ///
    /// A tool need not store its own output: what the executor cuts from a reply, it stores.
    pub fn outputs(&self) -> Option<&Arc<dyn OutputStore>> {
        self.frame()?.outputs()
    }

    /// How many bytes of text and JSON the reply may have; what is over it is cut.
    ///
    /// [`usize::MAX`] where no executor made the context. A tool that would rather say itself how to go on keeps its replies
    /// within it, and says that it [does](crate::Tool::bounds_replies).
    ///
    /// ```
    /// use haft_tools_core::{CallContext, CallScope};
    ///
    /// let cx = CallContext::detached("c1".parse()?, CallScope::new("run-1".parse()?));
    /// assert_eq!(cx.output_bytes(), usize::MAX);
    /// # Ok::<(), haft_core::IdError>(())
    /// ```
    pub fn output_bytes(&self) -> usize {
        self.frame().map_or(usize::MAX, |frame| frame.limits_of(self.tool_name()).output_bytes)
    }

    /// How many lines of text the reply may have; otherwise as [`output_bytes`](Self::output_bytes).
    pub fn output_lines(&self) -> usize {
        self.frame().map_or(usize::MAX, |frame| frame.limits_of(self.tool_name()).output_lines)
    }

    /// Tells whether the policy denies this to the tool in the scope of the call, in the modes of now.
    ///
    /// A tool asks it about each part of what it declared as [sifted](Access::sifted), and passes by what is denied, as it does
    /// with what is [dispensable](Access::dispensable). What
    /// would have to be asked about is not denied: a person was asked about the whole. Nothing is denied where no executor
    /// made the context.
    ///
    /// ```
    /// use haft_tools_core::{Access, CallContext, CallScope, Resource, Scheme};
    ///
    /// let cx = CallContext::detached("c1".parse()?, CallScope::new("run-1".parse()?));
    /// assert!(!cx.denies(&Access::read(Resource::exact(Scheme::new("file"), "notes.md"))));
    /// # Ok::<(), haft_core::IdError>(())
    /// ```
    pub fn denies(&self, access: &Access) -> bool {
        self.frame().is_some_and(|frame| frame.denies(self.tool_name(), access))
    }

    /// Calls another tool through the same executor: it is validated, decided and recorded like any other call.
    ///
    /// Its accesses are decided on their own; that this call was permitted permits nothing to that one. Cancelling this
    /// call cancels that one. The nesting is bounded by the executor's limits. A call that would have to wait for a later
    /// approval is answered as denied. What this call still makes when it is answered is cancelled, and afterwards it can
    /// make none. Give each an id of its own, by which it can be told from others in events and the journal.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the nested call.
    pub async fn call(&self, call: ToolCall) -> ToolReply {
        let refusal = match &self.0.made {
            Made::In(frame, _) if !self.is_finished() => return call_nested(self, frame, call).await,
            Made::In(..) => "the call that makes this one has been answered; nothing was done",
            Made::Detached(_) => "no other tools can be called here; go on without this call",
        };
        ToolReply::new(call.id, call.name, ReplyStatus::Denied, ToolOutput::text(refusal))
    }

    /// Waits for something that is not the call's own work, such as a turn of the host's model that a remote tool asks for:
    /// meanwhile the call's clocks stand still, and those of the calls that wait for it.
    ///
    /// What is waited for must have an end of its own. While a person is [asked](Self::ask), the clocks stand still anyway.
    ///
    /// ```
    /// use haft_tools_core::{CallContext, CallScope};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), haft_core::IdError> {
    /// let cx = CallContext::detached("c1".parse()?, CallScope::new("run-1".parse()?));
    /// assert_eq!(cx.stand_still_while(async { 7 }).await, 7);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops what is waited for, and lets the clocks go on.
    pub async fn stand_still_while<T>(&self, wait: impl Future<Output = T>) -> T {
        let _stopped = StoppedClocks::of(Some(self));
        wait.await
    }

    /// Marks the call as answered, so that late news of it goes nowhere and its room is free.
    pub(crate) fn finish(&self) {
        // Without anybody who listens there is no news to hold back.
        let telling = self.is_observed().then(|| self.telling());
        self.0.finished.store(true, Ordering::Release);
        drop(telling);
        // Where nobody else has the context, its room is given back with it in a moment.
        if Arc::strong_count(&self.0) > 1 {
            self.0.room.close();
        }
        if let Some(token) = self.0.made_calls.get() {
            token.cancel();
        }
    }

    /// The token of the calls that this one makes.
    pub(crate) fn calls_token(&self) -> &CancellationToken {
        let token = self.0.made_calls.get_or_init(|| self.cancellation().child_token());
        if self.is_finished() {
            token.cancel();
        }
        token
    }

    /// Tells whether the call was answered.
    pub(crate) fn is_finished(&self) -> bool {
        self.0.finished.load(Ordering::Acquire)
    }

    /// Tells whether the call was told to stop, without making a token for it.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.token.get().or_else(|| self.batch_token()).is_some_and(CancellationToken::is_cancelled)
    }

    pub(crate) fn place(&self) -> Option<Place> {
        self.0.place
    }

    pub(crate) fn room(&self) -> &Room {
        &self.0.room
    }

    pub(crate) fn clock(&self) -> &Clock {
        self.0.clock.get_or_init(Box::default)
    }

    /// The call that makes this one, if a tool makes it.
    pub(crate) fn caller(&self) -> Option<&CallContext> {
        self.frame()?.caller.as_ref()
    }

    pub(crate) fn frame(&self) -> Option<&Frame> {
        match &self.0.made {
            Made::In(frame, _) => Some(frame),
            Made::Detached(_) => None,
        }
    }

    fn batch_token(&self) -> Option<&CancellationToken> {
        self.frame()?.control.token()
    }

    fn is_observed(&self) -> bool {
        self.frame().is_some_and(Frame::is_observed)
    }

    fn telling(&self) -> MutexGuard<'_, ()> {
        self.0.telling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn layers(&self) -> &[Arc<dyn Layer>] {
        self.frame().map_or(&[], |frame| frame.layers())
    }

    /// Notes that the call gets on, and so do those that wait for it.
    fn touch(&self) {
        for cx in std::iter::successors(Some(self), |cx| cx.caller()) {
            if let Some(clock) = cx.0.clock.get() {
                clock.touch();
            }
        }
    }

    /// Hands news on, if somebody listens and the call is not answered yet; gives what comes with it if it did so.
    fn tell<T>(&self, of: News, news: impl FnOnce() -> Option<(EventKind, T)>) -> Option<T> {
        let frame = self.frame()?;
        if !self.is_observed() || self.is_finished() {
            return None;
        }
        let (now, interval) = (Instant::now(), frame.update_interval());
        let often = self.0.often.get_or_init(|| Box::new([(); 2].map(|()| RateLimit::new(now, interval))));
        if !often[of as usize].is_due(now) {
            return None;
        }
        // The tool's own code must not run while the end is held up.
        let (mut kind, rest) = news()?;
        // What a layer suppressed takes nobody's turn.
        if !often[of as usize].allows(now) {
            return None;
        }
        shape_news(frame, self.tool_name(), &mut kind);
        let _telling = self.telling();
        if self.is_finished() {
            return None;
        }
        frame.emit(&self.0.call_id, || kind);
        Some(rest)
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("call_id", &self.0.call_id)
            .field("tool", &self.tool_name())
            .field("scope", &self.scope())
            .finish_non_exhaustive()
    }
}
