use haft_core::{CallId, RunId};
use haft_tools_core::ResumptionError;

/// Says why an answer to a call was not used.
///
/// ```
/// use haft_agent::ResumeError;
///
/// let error = ResumeError::NotWaiting { call: "c1".parse()? };
/// assert_eq!(error.to_string(), "no call `c1` waits in this run; it was answered before, or it never asked");
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// The call does not wait.
    #[error("no call `{call}` waits in this run; it was answered before, or it never asked")]
    NotWaiting {
        /// The call.
        call: CallId,
    },
    /// The call is not gone on with.
    #[error(transparent)]
    Refused(#[from] ResumptionError),
}

/// Says that a run cannot be reached, because the agent does not drive it now.
///
/// ```
/// use haft_agent::{Agent, SteerWhen};
/// use haft_model::{ScriptedModel, Session};
/// use haft_tools_core::{LocalExecutor, ToolRegistry};
///
/// # let session = Session::parse(r#"{"text": "Done."}"#, "done.jsonl")?;
/// # let executor = LocalExecutor::builder(ToolRegistry::new()).build();
/// let agent = Agent::new(ScriptedModel::new(session), executor);
/// let error = agent.steer(&"run-1".parse()?, "Look at the tests, too.", SteerWhen::Now).unwrap_err();
/// assert_eq!(error.to_string(), "the run `run-1` is not at work; it has ended, waits, or is driven elsewhere");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the run `{run}` is not at work; it has ended, waits, or is driven elsewhere")]
#[non_exhaustive]
pub struct NotAtWorkError {
    /// The run.
    pub run: RunId,
}
