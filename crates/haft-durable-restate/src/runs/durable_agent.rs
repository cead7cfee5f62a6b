use super::delegates::is_delegate;
use super::run_wire::Planned;
use async_trait::async_trait;
use haft_agent::Agent;
use haft_core::ToolCall;
use haft_durable::{Routes, conflicts};
use haft_model::Model;
use haft_tools_core::{
    Batch, BatchOutcome, CallOutcome, CallScope, Resumption, ResumptionError, StoreError, ToolExecutor,
    ToolRegistry,
};
use std::fmt;
use std::sync::Arc;

/// Is an agent whose runs an engine keeps: a model, the tools it is told of, and which pools make their calls.
///
/// A [`Worker`](crate::Worker) drives its runs, any number of workers the same ones: a run goes on wherever there is one. The
/// tools of the registry are described and ordered by here and not called; their calls are made by the workers of their pools,
/// which decide about each.
///
/// ```
/// use haft_agent::Budget;
/// use haft_durable::Routes;
/// use haft_durable_restate::{DurableAgent, Worker};
/// use haft_model::{ScriptedModel, Session};
/// use haft_tools_core::ToolRegistry;
///
/// let model = ScriptedModel::new(Session::parse(r#"{"text": "Nothing to do."}"#, "idle.jsonl")?);
/// let agent = DurableAgent::new(model, ToolRegistry::new(), Routes::to("tools".parse()?))
///     .set_up(|agent| agent.system("You book journeys.").budget(Budget::default().turns(20)));
/// let worker = Worker::new("travel".parse()?, agent);
/// # let _ = worker;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "an agent does nothing until a worker drives its runs"]
pub struct DurableAgent {
    agent: Agent,
    registry: ToolRegistry,
    routes: Routes,
}

impl DurableAgent {
    /// Makes an agent of a model and of the tools of a registry, whose calls are made by these routes.
    pub fn new(model: impl Model, registry: ToolRegistry, routes: Routes) -> Self {
        let agent = Agent::from_executor(model, Arc::new(MadeElsewhere), registry.direct_specs());
        Self { agent, registry, routes }
    }

    /// Sets the agent up as any other: its system prompt, its budget, its compaction, who observes it.
    ///
    /// What an agent has in its own process has no part in such runs: a [keeper](haft_agent::StateKeeper) is told of turns
    /// only, nobody [steers](Agent::steer) them, and their calls find no [handle](haft_agent::RunHandle).
    pub fn set_up(self, change: impl FnOnce(Agent) -> Agent) -> Self {
        Self { agent: change(self.agent), ..self }
    }

    pub(crate) fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Says which pool makes each call, and which earlier ones it waits for: plain data, since what tools declare may be
    /// otherwise when a worker looks again.
    pub(crate) fn plan(&self, scope: &CallScope, calls: Vec<ToolCall>) -> Vec<Planned> {
        let after = conflicts(&calls, Some(&self.registry), scope);
        let planned = calls.into_iter().zip(after).map(|(call, after)| {
            let pool = self.routes.pool_in(Some(&self.registry), &call.name).clone();
            let delegates = self.registry.get(&call.name).is_some_and(is_delegate);
            Planned { call, pool, after, delegates }
        });
        planned.collect()
    }
}

impl fmt::Debug for DurableAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DurableAgent")
            .field("agent", &self.agent)
            .field("routes", &self.routes)
            .finish_non_exhaustive()
    }
}

/// Stands where an agent has its executor: the calls of these runs are made by the engine.
struct MadeElsewhere;

#[async_trait]
impl ToolExecutor for MadeElsewhere {
    async fn execute_batch(&self, batch: Batch) -> BatchOutcome {
        BatchOutcome::new(batch.calls().iter().map(CallOutcome::lost).collect())
    }

    async fn resume(&self, resumption: Resumption) -> Result<CallOutcome, ResumptionError> {
        let source = StoreError::new("go on with the call", "its run is driven by an engine, which keeps it");
        Err(ResumptionError::Unclaimed { id: resumption.pending().id.clone(), source })
    }
}
