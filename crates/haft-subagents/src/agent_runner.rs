mod answers;
mod attending;
mod keeper;
mod offer;

use crate::supervisor::ModelName;
use crate::{ChildEnd, ChildOutcome, ChildResult, ChildRun, ExpectedResult, Placed, Runner, Supervisor};
use async_trait::async_trait;
use attending::Attending;
use haft_agent::{Agent, CutOutputs, Prices, Purses, RunEnd, RunEvent, RunState, SteerWhen};
use haft_core::RunId;
use haft_model::Model;
use haft_tools_core::{
    CallScope, Events, LocalExecutor, OutputStore, PendingCall, PendingStore, ToolExecutor, ToolRegistry,
};
use keeper::Keeper;
use offer::Offer;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What every agent is told behind its own instructions.
const SITUATION: &str = "You work on one task that another agent gave you. It sees nothing of your work but your result, which \
    you give by `report` or as your last message: write into it all that was asked for. Nobody can answer you meanwhile, so decide yourself what is \
    left open, and say so in the result. If you cannot do the task, say what keeps you from it.";

/// Drives runs with the loop of [`haft_agent`].
///
/// Each run gets the tools of the executor's registry that its agent's selector chooses, whatever tools its parent has; what
/// they may do is decided by the executor's policy and by the ceilings of all runs above. Its calls that wait for a later
/// answer are gone on with by what is found in the [`PendingStore`].
///
/// ```
/// use haft_model::{ScriptedModel, Session};
/// use haft_subagents::{AgentRunner, AgentSpec, Supervisor};
/// use haft_tools_core::LocalExecutor;
///
/// let explorer = AgentSpec::new("explorer".parse()?, "Finds things.").model("fast");
/// let supervisor = Supervisor::builder().agent(explorer).build();
/// let executor = LocalExecutor::builder(supervisor.tools()?).build();
/// let model = || Session::parse(r#"{"text": "Here."}"#, "found.jsonl").map(ScriptedModel::new);
/// let runner = AgentRunner::new(model()?, executor).model("fast", model()?);
/// assert!(supervisor.drive_with(runner));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AgentRunner {
    executor: Arc<dyn ToolExecutor>,
    /// The tools of the house as they are now.
    house: Arc<HouseTools>,
    pending: Arc<dyn PendingStore>,
    outputs: Option<Arc<dyn OutputStore>>,
    model: Arc<dyn Model>,
    models: BTreeMap<Arc<str>, Arc<dyn Model>>,
    choose: Option<Arc<Choose>>,
    events: Events,
    prices: Prices,
    /// Runs are driven again by other agents, which draw on the same purses.
    purses: Purses,
    at_work: AtWork,
}

type HouseTools = dyn Fn() -> ToolRegistry + Send + Sync;
type Choose = dyn Fn(&ChildRun) -> Option<Arc<dyn Model>> + Send + Sync;
type AtWork = Arc<Mutex<HashMap<RunId, Arc<Agent>>>>;

/// Is the model that a run works with, for those that it starts.
#[derive(Clone)]
struct ModelAbove(Arc<dyn Model>);

impl AgentRunner {
    /// Makes a runner of the model of those agents that name none, and of the executor that all calls are executed by.
    pub fn new(model: impl Model, executor: LocalExecutor) -> Self {
        let (registry, pending) = (executor.registry().clone(), Arc::clone(executor.pending()));
        let outputs = executor.outputs().cloned();
        Self { outputs, ..Self::from_executor(model, Arc::new(executor), registry, pending) }
    }

    /// As [`AgentRunner::new`], of any executor: with the tools that it executes, and where it keeps the calls that wait for a
    /// later answer.
    pub fn from_executor(
        model: impl Model,
        executor: Arc<dyn ToolExecutor>,
        tools: ToolRegistry,
        pending: Arc<dyn PendingStore>,
    ) -> Self {
        Self {
            executor,
            house: Arc::new(move || tools.clone()),
            pending,
            outputs: None,
            model: Arc::new(model),
            models: BTreeMap::new(),
            choose: None,
            events: Events::default(),
            prices: Prices::default(),
            purses: Purses::default(),
            at_work: AtWork::default(),
        }
    }

    /// Takes the tools of the house anew before each turn of a run, such as those of a live
    /// [`Catalog`](haft_tools_core::Catalog).
    pub fn tools_from(mut self, tools: impl Fn() -> ToolRegistry + Send + Sync + 'static) -> Self {
        self.house = Arc::new(tools);
        self
    }

    /// Adds a model that agents can name.
    pub fn model(mut self, name: impl Into<Arc<str>>, model: impl Model) -> Self {
        self.models.insert(name.into(), Arc::new(model));
        self
    }

    /// Chooses the model of each run; where nothing is chosen, it is the one that its agent names, or its parent's.
    pub fn choosing_model(
        mut self,
        choose: impl Fn(&ChildRun) -> Option<Arc<dyn Model>> + Send + Sync + 'static,
    ) -> Self {
        self.choose = Some(Arc::new(choose));
        self
    }

    /// Tells observers what the models of runs say; give the executor the same events.
    pub fn events(mut self, events: Events) -> Self {
        self.events = events;
        self
    }

    /// Says what models cost.
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    fn model_of(&self, child: &ChildRun) -> Result<Arc<dyn Model>, ChildResult> {
        if let Some(model) = self.choose.as_ref().and_then(|choose| choose(child)) {
            return Ok(model);
        }
        match &child.spec.model {
            Some(name) => self.model_called(name),
            None => self.model_above(child),
        }
    }

    /// The model that the run above works with.
    fn model_above(&self, child: &ChildRun) -> Result<Arc<dyn Model>, ChildResult> {
        if let Some(ModelAbove(model)) = child.scope.extension::<ModelAbove>() {
            return Ok(Arc::clone(model));
        }
        // Where this process has not driven that run, its agent still says it.
        match child.scope.extension::<ModelName>() {
            Some(ModelName(name)) => self.model_called(name),
            None => Ok(Arc::clone(&self.model)),
        }
    }

    fn model_called(&self, name: &str) -> Result<Arc<dyn Model>, ChildResult> {
        self.models.get(name).cloned().ok_or_else(|| {
            ChildResult::failed("the model that it works with is not there; do the task yourself")
                .with_detail(format!("there is no model called `{name}`"))
        })
    }

    fn agent(
        &self,
        child: &ChildRun,
        model: Arc<dyn Model>,
        keeper: Keeper,
        expected: &ExpectedResult,
    ) -> Agent {
        let offer = Offer::new(child, Arc::clone(&self.house));
        let reads_outputs = offer.now().registry().get("read_output").is_some();
        let executor = Attending::new(Arc::clone(&self.executor), child.attended_like.clone());
        let missing = Placed::of(&child.scope).map(|place| place.missing()).unwrap_or_default();
        let missing = (!missing.is_empty())
            .then(|| format!("You work in a place of your own. What is not there: {}.", missing.join(", ")));
        let own = Some(child.spec.instructions.trim().to_owned()).filter(|own| !own.is_empty());
        let told = [own, Some(SITUATION.to_owned()), missing, expected.instructions()];
        let system: Vec<String> = told.into_iter().flatten().collect();
        let system = system.join("\n\n");
        let mut agent = Agent::from_executor(model, Arc::new(executor), offer.now().list())
            .run_tools(move |_| offer.now())
            .purses(self.purses.clone())
            .news(Arc::clone(&child.news))
            .system(system)
            .events(self.events.clone())
            .prices(self.prices.clone())
            .cancelled_by(child.cancellation.clone())
            .kept_by(Arc::new(keeper))
            .budget(child.budget)
            .may_repeat(Supervisor::MAY_REPEAT)
            .made_again(Supervisor::MADE_AGAIN);
        if let Some(outputs) = self.outputs.as_ref().filter(|_| reads_outputs) {
            agent = agent.compacted_by(CutOutputs::new(Arc::clone(outputs)));
        }
        match &child.caller {
            Some(caller) => agent.made_by(caller),
            None => agent,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Agent>>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Runner for AgentRunner {
    async fn run(&self, child: ChildRun) -> ChildOutcome {
        match self.try_run(child).await {
            Ok(outcome) => outcome,
            Err(result) => ChildOutcome::Ended(result),
        }
    }

    fn steer(&self, run: &RunId, text: &str, when: SteerWhen) -> bool {
        let agent = self.lock().get(run).cloned();
        agent.is_some_and(|agent| agent.steer(run, text, when).is_ok())
    }

    fn keeps_all(&self) -> bool {
        true
    }

    async fn is_answered(&self, calls: &[PendingCall]) -> bool {
        self.next_answer(calls.to_vec()).await.is_ok_and(|answer| answer.is_some())
    }

    async fn withdraw(&self, calls: &[PendingCall]) {
        for call in calls.iter().flat_map(PendingCall::leaves) {
            // Whoever has claimed it has gone on with it.
            let _ = self.pending.claim(call).await;
        }
    }
}

impl AgentRunner {
    async fn try_run(&self, child: ChildRun) -> Result<ChildOutcome, ChildResult> {
        let model = self.model_of(&child)?;
        let kept = child.memory.load().await.map_err(|error| unkept(&error))?;
        let kept = match kept {
            Some((head, log)) => Some(RunState::restore(head, log).map_err(|error| {
                ChildResult::lost("where it stood cannot be read; delegate the task anew")
                    .with_detail(error.to_string())
            })?),
            None => None,
        };
        let keeper = Keeper::new(&child, kept.as_ref());
        let scope = child.scope.clone().with_extension(ModelAbove(Arc::clone(&model)));
        let expected = ExpectedResult::of(&child.spec).map_err(|error| {
            let told = "the result that it is to give cannot be checked; delegate to another agent";
            ChildResult::failed(told).with_detail(error.to_string())
        })?;
        let agent = Arc::new(self.agent(&child, model, keeper, &expected));
        let _listed = Listed::new(&self.at_work, scope.run(), &agent);
        let state = if let Some(state) = kept {
            let own = self.pending.waiting_of(scope.run()).await.unwrap_or_default();
            go_on(&agent, &scope, &child, state, &own).await?
        } else {
            let prompt = said(std::iter::once(&child.task).chain(&child.said));
            agent.run_from(scope.clone(), child.messages.iter().cloned(), prompt).await
        };
        let mut state = self.answered(&agent, &scope, state).await;
        loop {
            child.meter.record(*state.spent());
            let text = state.last_text();
            let unfit = match (state.end(), expected.read(&text)) {
                (Some(RunEnd::Completed), Ok(structured)) => {
                    let result = ChildResult { structured, ..ChildResult::done(text) };
                    return Ok(ChildOutcome::Ended(result));
                }
                (Some(RunEnd::Completed), Err(unfit)) => unfit,
                _ => return Ok(outcome(&state)),
            };
            if ExpectedResult::was_asked_again(state.messages()) {
                let end = ChildEnd::Stopped { reason: unfit.reason() };
                return Ok(ChildOutcome::Ended(ChildResult::new(end, text)));
            }
            let asked = agent.prompt(scope.clone(), state, unfit.repair()).await;
            state = self.answered(&agent, &scope, asked.map_err(|error| misstep(&error))?).await;
        }
    }
}

/// Goes on with a run from where it was kept; `waiting` are the calls of it that people were asked about.
async fn go_on(
    agent: &Agent,
    scope: &CallScope,
    child: &ChildRun,
    state: RunState,
    waiting: &[PendingCall],
) -> Result<RunState, ChildResult> {
    let mut state = state.budget(child.budget);
    if state.end().is_some() {
        if child.said.is_empty() {
            return Ok(state);
        }
        let prompted = agent.prompt(scope.clone(), state, said(&child.said)).await;
        return prompted.map_err(|error| misstep(&error));
    }
    for text in &child.said {
        let steered = RunEvent::Steered { text: text.clone(), when: SteerWhen::AfterTurn };
        // What is steered is kept, and nothing is begun for it.
        state = agent.step(scope.clone(), state, steered).await.map_err(|error| misstep(&error))?;
    }
    // A call that still waits can be answered otherwise by now than when it was to be gone on with.
    let is_open =
        state.approved().is_some_and(|(approved, _)| waiting.iter().any(|pending| pending.id == approved.id));
    if state.is_paused() && !is_open {
        return agent.unpause(scope.clone(), state).await.map_err(|error| misstep(&error));
    }
    match state.interruption(waiting) {
        RunEvent::Interrupted if !is_open => Ok(agent.go_on(scope.clone(), state).await),
        stands => {
            let stands = agent.step(scope.clone(), state, stands).await;
            stands.map_err(|error| misstep(&error))
        }
    }
}

fn said<'a>(texts: impl IntoIterator<Item = &'a String>) -> String {
    texts.into_iter().map(String::as_str).collect::<Vec<_>>().join("\n\n")
}

/// Says what became of a run by where its state stands.
fn outcome(state: &RunState) -> ChildOutcome {
    let calls: Vec<PendingCall> = state.pending().cloned().collect();
    let text = state.last_text();
    let why = || state.end().and_then(RunEnd::why).unwrap_or_else(|| "it stands still".to_owned());
    ChildOutcome::Ended(match state.end() {
        None if !calls.is_empty() => return ChildOutcome::Waiting(calls),
        Some(RunEnd::Completed) => ChildResult::done(text),
        Some(RunEnd::Cancelled) => ChildResult::new(ChildEnd::Cancelled, text),
        Some(RunEnd::Failed { reason }) => {
            ChildResult { text, ..ChildResult::failed(why()).with_detail(reason.clone()) }
        }
        _ => ChildResult::new(ChildEnd::Stopped { reason: why() }, text),
    })
}

fn unkept(error: &haft_tools_core::StoreError) -> ChildResult {
    ChildResult::lost("where it stood cannot be read; delegate the task anew").with_detail(error.to_string())
}

fn misstep(error: &haft_agent::StepError) -> ChildResult {
    ChildResult::failed("it cannot be gone on with; delegate the task anew").with_detail(error.to_string())
}

/// Lists a run's agent until it is dropped.
struct Listed<'a> {
    at_work: &'a AtWork,
    run: RunId,
}

impl<'a> Listed<'a> {
    fn new(at_work: &'a AtWork, run: &RunId, agent: &Arc<Agent>) -> Self {
        at_work.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone(), Arc::clone(agent));
        Self { at_work, run: run.clone() }
    }
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.run);
    }
}

impl fmt::Debug for AgentRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentRunner")
            .field("model", self.model.capabilities())
            .field("models", &self.models.keys())
            .finish_non_exhaustive()
    }
}
