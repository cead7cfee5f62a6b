use crate::panicked::apart;
use crate::{Accesses, CallContext, CallScope, PendingCall, Preview};
use async_trait::async_trait;
use haft_core::{ToolError, ToolOutput, ToolSpec};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Does something for a model: prepares a call, says what running it will touch, and runs it.
///
/// Implement it where preparing resolves something that running then uses, such as a file that was opened; otherwise
/// [`TypedTool`](crate::TypedTool) and [`tool_fn`](crate::tool_fn()) are shorter.
///
/// ```
/// use async_trait::async_trait;
/// use haft_core::{Schema, ToolError, ToolOutput, ToolSpec};
/// use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool};
/// use serde_json::Value;
///
/// struct Version(ToolSpec);
///
/// impl Tool for Version {
///     fn spec(&self) -> &ToolSpec {
///         &self.0
///     }
///
///     fn prepare(&self, _input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
///         Ok(Prepared::new(Accesses::none(), Tell))
///     }
/// }
///
/// struct Tell;
///
/// #[async_trait]
/// impl Action for Tell {
///     async fn run(self: Box<Self>, _cx: CallContext) -> Result<ToolOutput, ToolError> {
///         Ok("1.2.3".into())
///     }
/// }
///
/// let tool = Version(ToolSpec::new("version".parse()?, "Tells the version.", Schema::empty()));
/// assert_eq!(tool.spec().name().as_str(), "version");
/// # Ok::<(), haft_core::NameError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    note = "of a function `f` with `#[haft::tool]`, the function `f_tool()` makes the tool"
)]
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    /// Describes the tool; read once, when the tool is registered.
    fn spec(&self) -> &ToolSpec;

    /// Parses the validated input, resolves what it names and declares the accesses.
    ///
    /// Nothing may be changed and no content read here: the call has not been decided yet. It may be prepared more
    /// than once before it runs.
    ///
    /// # Errors
    ///
    /// When the input cannot be used or names something that cannot be resolved; the text goes to the model.
    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError>;

    /// Tells whether the tool keeps its replies within [`CallContext::output_bytes`] and [`CallContext::output_lines`] by
    /// itself, and says in them how to go on; read once, when the tool is registered.
    ///
    /// Then they may be [larger](crate::Limits::bounded_output_bytes) than others: what is cut from those, a model reads
    /// elsewhere. What is over the bound all the same is cut. By default a tool does not.
    fn bounds_replies(&self) -> bool {
        false
    }

    /// Learns that a call of this tool which [waits for calls below it](CallContext::wait_for) does not go on: it was
    /// denied, by a person or by what the policy says by now, or it could not be kept.
    ///
    /// Here a tool ends what it keeps for the call, such as the runs of sub-agents; nothing of the call may be gone on with.
    /// It is told once at most, and not at all if the process ends before, or nobody ever answers. Afterwards the calls below
    /// can be gone on with by nobody. By default nothing is done.
    ///
    /// # Cancel safety
    ///
    /// Must be cancel safe: it is dropped when it takes longer than a call may.
    async fn given_up(&self, waited: &PendingCall, scope: &CallScope) {
        let _ = (waited, scope);
    }
}

#[async_trait]
impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn spec(&self) -> &ToolSpec {
        (**self).spec()
    }

    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError> {
        (**self).prepare(input, scope)
    }

    fn bounds_replies(&self) -> bool {
        (**self).bounds_replies()
    }

    async fn given_up(&self, waited: &PendingCall, scope: &CallScope) {
        (**self).given_up(waited, scope).await;
    }
}

/// Holds a call that is ready to be decided and run, with everything running it will touch.
///
/// What was decided is what runs, because it is the same value. One that declares nothing does not compile:
///
/// ```compile_fail,E0061
/// # use haft_tools_core::{Action, Prepared};
/// fn prepare(action: impl Action + 'static) -> Prepared {
///     Prepared::new(action)
/// }
/// ```
#[must_use = "a prepared call does nothing until it is run"]
pub struct Prepared {
    accesses: Accesses,
    action: Held,
    /// Made when the tool wishes for something, which is rare, so that the others stay small.
    wishes: Option<Box<Wishes>>,
}

/// Holds an action that may never be run, and whose end then breaks nothing but itself.
struct Held(Option<Box<dyn Action>>);

impl Held {
    fn take(mut self) -> Box<dyn Action> {
        self.0.take().expect("an action is taken once, with what held it")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(action) = self.0.take() {
            // Nobody has seen the action but the tool, and nobody sees it again.
            apart(|| drop(action));
        }
    }
}

/// Holds what a tool asks of the executor for one call.
#[derive(Default)]
struct Wishes {
    timeout: Option<Duration>,
    idle_timeout: Option<Duration>,
    repeatable: bool,
}

impl Prepared {
    /// Pairs an action with what it will touch.
    pub fn new(accesses: impl Into<Accesses>, action: impl Action + 'static) -> Self {
        Self { accesses: accesses.into(), action: Held(Some(Box::new(action))), wishes: None }
    }

    /// Asks for a wall timeout of its own for this call; the executor's ceiling still holds.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.wishes().timeout = Some(timeout);
        self
    }

    /// Asks for an idle timeout of its own: how long the call may run without an update or progress.
    pub fn with_idle_timeout(mut self, timeout: Duration) -> Self {
        self.wishes().idle_timeout = Some(timeout);
        self
    }

    /// Says that doing this twice is the same as doing it once, so that the executor may try it again when it failed.
    ///
    /// This is the tool's own word on this very call; a hint in its specification has no such effect.
    pub fn repeatable(mut self) -> Self {
        self.wishes().repeatable = true;
        self
    }

    /// Borrows what running the call will touch.
    pub fn accesses(&self) -> &Accesses {
        &self.accesses
    }

    /// The wall timeout the tool asks for, if it asks for one.
    pub fn timeout(&self) -> Option<Duration> {
        self.wishes.as_ref()?.timeout
    }

    /// The idle timeout the tool asks for, if it asks for one.
    pub fn idle_timeout(&self) -> Option<Duration> {
        self.wishes.as_ref()?.idle_timeout
    }

    /// Tells whether doing this twice is the same as doing it once.
    pub fn is_repeatable(&self) -> bool {
        self.wishes.as_ref().is_some_and(|wishes| wishes.repeatable)
    }

    /// Shows what a person is shown when asked.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a preview changes nothing.
    pub async fn preview(&self) -> Preview {
        match &self.action.0 {
            Some(action) => action.preview().await,
            None => Preview::Arguments,
        }
    }

    /// Runs the call without an executor, for tests and benchmarks: nothing is decided, bounded or recorded.
    ///
    /// # Errors
    ///
    /// Whatever the tool answers.
    ///
    /// # Cancel safety
    ///
    /// As for [`Action::run`].
    pub async fn run(self, cx: CallContext) -> Result<ToolOutput, ToolError> {
        self.action.take().run(cx).await
    }

    fn wishes(&mut self) -> &mut Wishes {
        self.wishes.get_or_insert_default()
    }

    pub(crate) fn into_parts(self) -> (Accesses, Box<dyn Action>) {
        (self.accesses, self.action.take())
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("accesses", &self.accesses).finish_non_exhaustive()
    }
}

/// Runs one prepared call.
///
/// ```
/// use async_trait::async_trait;
/// use haft_core::{ToolError, ToolOutput};
/// use haft_tools_core::{Action, CallContext, CallScope};
///
/// /// Adds what was prepared.
/// struct Add(Vec<u32>);
///
/// #[async_trait]
/// impl Action for Add {
///     async fn run(self: Box<Self>, _cx: CallContext) -> Result<ToolOutput, ToolError> {
///         Ok(self.0.iter().sum::<u32>().to_string().into())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cx = CallContext::detached("c1".parse()?, CallScope::new("run-1".parse()?));
/// assert_eq!(Box::new(Add(vec![1, 2])).run(cx).await?.to_text(), "3");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Action: Send + Sync {
    /// Shows what a person is shown when asked: a diff, a command, a request. Computed only then.
    ///
    /// By default the call's arguments are shown. Reading is allowed here, changing is not.
    ///
    /// # Cancel safety
    ///
    /// Must be cancel safe.
    async fn preview(&self) -> Preview {
        Preview::Arguments
    }

    /// Runs the call.
    ///
    /// # Errors
    ///
    /// Whatever kept the call from doing what it was asked to; the text goes to the model.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped when a call is abandoned: after its timeout or a cancellation, and a grace. What a tool
    /// started must end with it; the context's token says so beforehand.
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError>;
}
