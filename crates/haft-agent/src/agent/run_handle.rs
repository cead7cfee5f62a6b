use super::NotAtWorkError;
use super::controls::AtWork;
use crate::{RunEvent, SteerWhen, Transcript};
use haft_core::RunId;
use haft_tools_core::CallScope;

/// Reaches a run from within the calls it makes.
///
/// An [`Agent`](crate::Agent) puts one into the [scope](CallScope::extension) of the calls that it executes. It can be kept
/// for longer than the call: it reaches the run whenever the same agent drives it. Cheap to clone.
///
/// ```
/// use haft_agent::RunHandle;
/// use haft_core::ToolError;
/// use haft_tools_core::{Accesses, CallContext, ToolRegistry, tool_fn};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Report {
///     /// What came out.
///     result: String,
/// }
///
/// let report = tool_fn("report", "Ends the task with its result.", Accesses::none(), |input: Report, cx: CallContext| async move {
///     let run = RunHandle::of(cx.scope()).ok_or_else(|| ToolError::failed("there is no run to end; say the result"))?;
///     let concluded = run.conclude(input.result);
///     concluded.map_err(|error| ToolError::failed("the run is over already; say the result").with_source(error))?;
///     Ok::<_, ToolError>("reported")
/// })?;
/// # let _ = ToolRegistry::new().with(report)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RunHandle {
    run: RunId,
    at_work: AtWork,
}

impl RunHandle {
    pub(super) fn new(run: RunId, at_work: AtWork) -> Self {
        Self { run, at_work }
    }

    /// The handle of the run that a scope is of, where an agent drives that run.
    ///
    /// The scope of a run that another one started has the handle of that one, until an agent drives it: here that is none.
    pub fn of(scope: &CallScope) -> Option<&Self> {
        scope.extension::<Self>().filter(|handle| handle.run == *scope.run())
    }

    /// The run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Says something to the run: the model is told, at once or after its turn.
    ///
    /// # Errors
    ///
    /// When the agent does not drive the run now: it is over, waits for a person, or is paused.
    pub fn steer(&self, text: impl Into<String>, when: SteerWhen) -> Result<(), NotAtWorkError> {
        self.send(RunEvent::Steered { text: text.into(), when })
    }

    /// Has the run end as completed once all calls of the turn are answered, with this as its [last
    /// text](crate::RunState::last_text).
    ///
    /// For a call of the run, while it is executed; at any other time nothing changes. Of several texts the last one counts.
    /// A run that is told something before it has ended goes on with that instead.
    ///
    /// # Errors
    ///
    /// As for [`RunHandle::steer`].
    pub fn conclude(&self, text: impl Into<String>) -> Result<(), NotAtWorkError> {
        self.send(RunEvent::Concluded { text: text.into() })
    }

    /// The messages of the run as they stand now; the calls that are executed have no replies yet.
    ///
    /// Costs no copy of them.
    ///
    /// # Errors
    ///
    /// As for [`RunHandle::steer`].
    pub fn transcript(&self) -> Result<Transcript, NotAtWorkError> {
        let transcript = self.at_work.get(&self.run).and_then(|controls| controls.transcript());
        transcript.ok_or_else(|| NotAtWorkError { run: self.run.clone() })
    }

    fn send(&self, event: RunEvent) -> Result<(), NotAtWorkError> {
        self.at_work.send(&self.run, event)
    }
}
