use super::run_request::RunRequest;
use super::run_wire::{RunEnded, STANDING, STATE, Stands};
use crate::ingress::Ingress;
use crate::wire::{RUN, STOP};
use crate::{Error, RestateExecutor};
use haft_agent::RunState;
use haft_core::{Digest, RunId};
use haft_durable::Pool;
use haft_tools_core::PendingCall;
use restate_sdk::ingress::{ClientError, InvocationHandle, RequestTarget};
use restate_sdk::serde::Json;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Begins the runs of an agent and finds them again, from any process.
///
/// Made by [`RestateExecutor::runs`].
///
/// ```no_run
/// # // Not run: it would need an engine.
/// # async fn example(executor: haft_durable_restate::RestateExecutor) -> Result<(), Box<dyn std::error::Error>> {
/// use haft_durable_restate::{RunRequest, RunStanding};
/// use haft_tools_core::{Approval, CallScope, Resumption, ToolExecutor as _};
///
/// let runs = executor.runs("travel".parse()?);
/// let run = runs.begin(&RunRequest::new(&CallScope::new("run-1".parse()?), "Book a flight to Vienna.")?).await?;
///
/// // From here on it could be any other process, with `runs.get("run-1".parse()?)`.
/// let state = loop {
///     match run.standing().await? {
///         RunStanding::Waits(calls) => {
///             for pending in calls {
///                 executor.resume(Resumption::new(pending.scope(), pending, Approval::Approve)).await?;
///             }
///         }
///         RunStanding::Ended(state) => break state,
///         _ => return Err("this program is older than the worker".into()),
///     }
/// };
/// println!("{}", state.last_text());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Runs {
    executor: RestateExecutor,
    pool: Pool,
}

/// Is one run that an engine keeps.
///
/// It is kept for as long as the workers say ([`Worker::kept_for`](crate::Worker::kept_for)) after its end.
///
/// One that another process has begun is found by its name:
///
/// ```no_run
/// # // Not run: it would need an engine.
/// # async fn example(executor: haft_durable_restate::RestateExecutor) -> Result<(), Box<dyn std::error::Error>> {
/// use haft_durable_restate::RunStanding;
///
/// let run = executor.runs("travel".parse()?).get("run-1".parse()?);
/// run.cancel().await?;
/// if let RunStanding::Ended(state) = run.standing().await? {
///     println!("{} was stopped after: {}", run.run(), state.last_text());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct DurableRun {
    runs: Runs,
    run: RunId,
    /// What was asked for, where that was here.
    request: Option<Digest>,
}

/// Says where a run stands that does not go on by itself.
///
/// What a program says of what [`DurableRun::standing`] gives:
///
/// ```
/// use haft_durable_restate::RunStanding;
/// # use haft_core::{Digest, ToolCall};
/// # use haft_tools_core::{CallScope, PendingCall, PendingId};
///
/// fn said(standing: &RunStanding) -> String {
///     match standing {
///         RunStanding::Waits(calls) => {
///             let names: Vec<&str> = calls.iter().map(|pending| pending.call.name.as_str()).collect();
///             format!("it waits for you to decide about {}", names.join(", "))
///         }
///         RunStanding::Ended(state) => state.last_text().to_owned(),
///         _ => "this program is older than the worker".to_owned(),
///     }
/// }
///
/// # let call = ToolCall::new("c1".parse()?, "book_flight", serde_json::json!({}));
/// # let (id, digest) = (PendingId::new("tools/run-1/2/c1:0"), Digest::of(&call.input));
/// # let pending = PendingCall::new(id, call, &CallScope::new("run-1".parse()?), digest);
/// assert_eq!(said(&RunStanding::Waits(vec![pending])), "it waits for you to decide about book_flight");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RunStanding {
    /// Nothing goes on until people have decided about these calls, of the run and of those below it.
    Waits(Vec<PendingCall>),
    /// It has ended, as its state says.
    Ended(Box<RunState>),
}

impl RestateExecutor {
    /// The runs of the agent that has its workers in this pool.
    pub fn runs(&self, pool: Pool) -> Runs {
        Runs { executor: self.clone(), pool }
    }
}

impl Runs {
    /// Has a run begin, unless it has: asking for the same run again changes nothing.
    ///
    /// # Errors
    ///
    /// When the engine does not answer, or does not know the pool.
    ///
    /// # Cancel safety
    ///
    /// The run has begun or not; beginning it again finds it.
    pub async fn begin(&self, request: &RunRequest) -> Result<DurableRun, Error> {
        let run = self.get(request.run());
        let target = run.handler(RUN);
        let client = self.executor.client();
        let sent = self
            .executor
            .insist(|| client.request::<_, Json<RunEnded>>(target.clone(), Json(request.clone())).send());
        sent.await.map_err(|error| run.failed(error))?;
        Ok(DurableRun { request: Some(request.digest()), ..run })
    }

    /// Finds a run again; whether there is one is seen once it is asked.
    pub fn get(&self, run: RunId) -> DurableRun {
        DurableRun { runs: self.clone(), run, request: None }
    }
}

impl DurableRun {
    /// The run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Waits until the run has ended, or nothing goes on in it until a person decides.
    ///
    /// # Errors
    ///
    /// When the engine does not answer; when the run was begun with [another request](Error::OtherRun) than here; when it [was
    /// given up](Error::Run), as one is that an operator kills.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn standing(&self) -> Result<RunStanding, Error> {
        let stands: Stands = self.ask(STANDING, &0_u32).await?;
        if self.request.is_some_and(|request| request != stands.request) {
            return Err(Error::OtherRun { run: self.run.clone() });
        }
        if !stands.has_ended {
            return Ok(RunStanding::Waits(stands.waiting));
        }
        match self.state().await? {
            Some(state) => Ok(RunStanding::Ended(Box::new(state))),
            None => Err(self.unreadable("it has ended and there is no state of it")),
        }
    }

    /// Gives the state of the run as it was after its last turn; nothing if it has taken none, or there is no such run.
    ///
    /// # Errors
    ///
    /// When the engine does not answer, or the state is of a version that this program does not know.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn state(&self) -> Result<Option<RunState>, Error> {
        let kept = self.ask::<_, Option<(Value, Vec<Value>)>>(STATE, &()).await?;
        let state = kept.map(|(head, log)| RunState::restore(head, log)).transpose();
        state.map_err(|error| self.unreadable(error))
    }

    /// Tells the run to stop, wherever it is: its calls and the runs below are cancelled, and it ends as cancelled.
    ///
    /// It has not ended yet when this returns; a run that has ended stays as it is.
    ///
    /// # Errors
    ///
    /// When the engine does not answer, or there is no such run.
    ///
    /// # Cancel safety
    ///
    /// The run is told or not; telling it again changes nothing.
    pub async fn cancel(&self) -> Result<(), Error> {
        let client = self.runs.executor.client();
        let (pool, key) = (self.runs.pool.as_str(), self.run.to_string());
        let workflow: Result<InvocationHandle<Ingress, Json<RunEnded>>, ClientError> =
            self.runs.executor.insist(|| client.lookup_workflow(pool, key.clone(), None)).await;
        let workflow = workflow.map_err(|error| self.failed(error))?;
        self.ask(STOP, workflow.invocation_id()).await
    }

    async fn ask<Q, A>(&self, handler: &str, question: &Q) -> Result<A, Error>
    where
        Q: Serialize + Clone + Send + Sync + 'static,
        A: DeserializeOwned + Send + 'static,
    {
        let target = self.handler(handler);
        let client = self.runs.executor.client();
        let answer = self.runs.executor.insist(|| async {
            client.request::<_, Json<A>>(target.clone(), Json(question.clone())).call().await?.into_body()
        });
        Ok(answer.await.map_err(|error| self.failed(error))?.into_inner())
    }

    fn handler(&self, handler: &str) -> RequestTarget {
        RequestTarget::workflow(self.runs.pool.as_str(), self.run.to_string(), handler)
    }

    fn failed(&self, error: ClientError) -> Error {
        Error::Run { run: self.run.clone(), source: Box::new(error) }
    }

    fn unreadable(&self, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Run { run: self.run.clone(), source: error.into() }
    }
}
