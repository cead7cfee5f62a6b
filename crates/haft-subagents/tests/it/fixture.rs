//! What the tests are played with: a house of tools, a script for each run, and what outlives a process.

use async_trait::async_trait;
use haft_agent::{Agent, RunState, StateKeeper};
use haft_core::{Event, Message, RunId, ToolError};
use haft_model::{DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest, ScriptedModel, Session};
use haft_subagents::{
    AgentRunner, AgentSpec, ChildRecord, ChildStore, MemoryChildren, Runner, SpawnLimits, Supervisor,
};
use haft_tools_core::{
    Access, AccessMode, Accesses, Approval, Approver, CallContext, CallScope, CollisionPolicy, DenyAll,
    Events, LocalExecutor, MemoryPending, Observer, PendingCall, PendingStore, Policy, Resource, Rule,
    Scheme, StoreError, ToolRegistry, approver_fn, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, to_string};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub(crate) const THING: Scheme = Scheme::new("thing");
pub(crate) const AGENT: Scheme = Scheme::new("agent");

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Named {
    /// The thing.
    pub(crate) name: String,
}

/// Plays to each request the turn that comes next by its transcript, so that it can be asked again after a process ended.
///
/// In a session `@1` stands for the name of the run that the model was told of first, `@2` for the next one, and so on.
pub(crate) struct Script {
    session: String,
    /// The run below whose turns are played.
    path: Option<String>,
    capabilities: ModelCapabilities,
}

impl Script {
    pub(crate) fn new(session: &str) -> Self {
        let capabilities = ModelCapabilities::new("scripted").parallel_tool_calls();
        Self { session: session.to_owned(), path: None, capabilities }
    }

    /// As [`Script::new`], of a run below; `None` where the session has none of that path.
    fn below(session: &str, path: &str) -> Option<Self> {
        Session::parse(session, "test.jsonl").unwrap().of_run(path)?;
        Some(Self { path: Some(path.to_owned()), ..Self::new(session) })
    }
}

#[async_trait]
impl Model for Script {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError> {
        let mut session = self.session.clone();
        for (place, name) in names(&request.messages).iter().enumerate() {
            session = session.replace(&format!("@{}\"", place + 1), &format!("{name}\""));
        }
        let session = Session::parse(&session, "test.jsonl").unwrap();
        let session = match &self.path {
            Some(path) => session.of_run(path).unwrap(),
            None => session,
        };
        let is_turn = |message: &&Arc<Message>| matches!(***message, Message::Assistant { .. });
        let played = request.messages.iter().filter(is_turn).count();
        ScriptedModel::new(session).after_turns(played).stream(request, cancel).await
    }
}

/// The names of runs in the order in which a model was told of them.
fn names(messages: &[Arc<Message>]) -> Vec<String> {
    let mut names = Vec::new();
    for message in messages {
        let Message::Tool { replies } = &**message else { continue };
        for text in replies.iter().map(|reply| reply.output.to_text()) {
            for quoted in text.split('`').skip(1).step_by(2) {
                if unnamed(quoted).ends_with("-#") && !names.iter().any(|name| name == quoted) {
                    names.push(quoted.to_owned());
                }
            }
        }
    }
    names
}

/// Says how a model is no use.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Odd {
    Panics,
    Fails,
    Hangs,
}

struct OddModel(Odd, ModelCapabilities);

#[async_trait]
impl Model for OddModel {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.1
    }

    async fn stream(&self, _: ModelRequest, _: CancellationToken) -> Result<DeltaStream, ModelError> {
        match self.0 {
            Odd::Panics => panic!("the model is broken"),
            Odd::Fails => Err(ModelError::Truncated),
            Odd::Hangs => std::future::pending().await,
        }
    }
}

/// What outlives a process.
#[derive(Clone, Default)]
pub(crate) struct Disk {
    pub(crate) children: Arc<MemoryChildren>,
    pub(crate) pending: Arc<MemoryPending>,
    /// How often each thing was made.
    pub(crate) made: Arc<Mutex<BTreeMap<String, u32>>>,
    pub(crate) events: Arc<Mutex<Vec<Event>>>,
}

impl Disk {
    /// Another one on which the same runs below the one at the top are kept.
    pub(crate) async fn copied(&self) -> Self {
        let copy = Self::default();
        for record in self.children.tree(scope().run()).await.unwrap() {
            copy.children.put(&record).await.unwrap();
            if let Some((head, log)) = self.children.state(&record.run).await.unwrap() {
                copy.children.keep(&record.run, head, 0, log).await.unwrap();
            }
        }
        copy
    }
}

/// Keeps the run at the top as JSON, until it would have this in it.
pub(crate) struct KeptUntil {
    pub(crate) kept: Arc<Mutex<Option<String>>>,
    pub(crate) last: Option<&'static str>,
}

#[async_trait]
impl StateKeeper for KeptUntil {
    async fn keep(&self, _: &CallScope, state: &RunState) -> Result<(), Box<dyn Error + Send + Sync>> {
        let state = to_string(state)?;
        if self.last.is_some_and(|last| state.contains(last)) {
            std::future::pending::<()>().await;
        }
        *self.kept.lock().unwrap() = Some(state);
        Ok(())
    }
}

/// Keeps children in a store that outlives the process, and waits before it keeps something.
pub(crate) struct Hesitant {
    disk: Disk,
    wait: Box<dyn Fn(&str) -> Duration + Send + Sync>,
}

impl Hesitant {
    /// `wait` is given what is kept as JSON.
    pub(crate) fn new(disk: &Disk, wait: impl Fn(&str) -> Duration + Send + Sync + 'static) -> Self {
        Self { disk: disk.clone(), wait: Box::new(wait) }
    }
}

#[async_trait]
impl ChildStore for Hesitant {
    async fn put(&self, record: &ChildRecord) -> Result<(), StoreError> {
        // As JSON, since that is how another process reads it.
        let written = to_string(record).unwrap();
        tokio::time::sleep((self.wait)(&written)).await;
        self.disk.children.put(&serde_json::from_str(&written).unwrap()).await
    }

    async fn get(&self, run: &RunId) -> Result<Option<ChildRecord>, StoreError> {
        self.disk.children.get(run).await
    }

    async fn tree(&self, root: &RunId) -> Result<Vec<ChildRecord>, StoreError> {
        self.disk.children.tree(root).await
    }

    async fn keep(
        &self,
        run: &RunId,
        head: Value,
        from: usize,
        entries: Vec<Value>,
    ) -> Result<(), StoreError> {
        tokio::time::sleep((self.wait)(&format!("{head}{entries:?}"))).await;
        self.disk.children.keep(run, head, from, entries).await
    }

    async fn state(&self, run: &RunId) -> Result<Option<(Value, Vec<Value>)>, StoreError> {
        self.disk.children.state(run).await
    }

    async fn forget(&self, root: &RunId) -> Result<(), StoreError> {
        self.disk.children.forget(root).await
    }
}

/// Says how a house is set up.
pub(crate) struct Setup {
    pub(crate) session: String,
    pub(crate) agents: Vec<AgentSpec>,
    pub(crate) limits: SpawnLimits,
    pub(crate) policy: Policy,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) tools: ToolRegistry,
    /// Agents whose models are no use.
    pub(crate) odd: Vec<(&'static str, Odd)>,
    pub(crate) disk: Disk,
}

/// Is a process: a house with its supervisor, and the agent of the run at the top.
pub(crate) struct Process {
    pub(crate) supervisor: Supervisor,
    pub(crate) agent: Arc<Agent>,
}

pub(crate) fn helper(name: &str) -> AgentSpec {
    AgentSpec::new(name.parse().unwrap(), format!("Is the {name}."))
}

/// Lets everything be looked at and delegated, and has people asked about what is made.
pub(crate) fn policy() -> Policy {
    Policy::new()
        .allow(Rule::tools("look".parse().unwrap()))
        .allow(Supervisor::looking_after())
        .allow(Rule::access(AccessMode::Call, Resource::subtree(AGENT, "")))
}

pub(crate) fn later() -> Arc<dyn Approver> {
    Arc::new(approver_fn(|_: &PendingCall| Approval::Later))
}

impl Setup {
    /// A house with a helper, in which nobody answers.
    pub(crate) fn new(session: &str) -> Self {
        Self {
            session: session.to_owned(),
            agents: vec![helper("helper")],
            limits: SpawnLimits { depth: 3, ..SpawnLimits::default() },
            policy: policy(),
            approver: Arc::new(DenyAll),
            tools: ToolRegistry::new(),
            odd: Vec::new(),
            disk: Disk::default(),
        }
    }

    pub(crate) fn process(&self) -> Process {
        let (process, agent) =
            self.process_over(Arc::clone(&self.disk.children) as _, Arc::clone(&self.disk.pending) as _);
        Process { agent: Arc::new(agent), ..process }
    }

    /// As [`Setup::process`], over other stores; the agent of the run at the top is given to be set up further.
    pub(crate) fn process_over(
        &self,
        store: Arc<dyn ChildStore>,
        pending: Arc<dyn PendingStore>,
    ) -> (Process, Agent) {
        self.process_of(store, pending, None::<AgentRunner>)
    }

    /// As [`Setup::process`], with another runner.
    pub(crate) fn process_driven_by(&self, runner: impl Runner) -> Process {
        let (process, agent) = self.process_of(
            Arc::clone(&self.disk.children) as _,
            Arc::clone(&self.disk.pending) as _,
            Some(runner),
        );
        Process { agent: Arc::new(agent), ..process }
    }

    fn process_of(
        &self,
        store: Arc<dyn ChildStore>,
        pending: Arc<dyn PendingStore>,
        other: Option<impl Runner>,
    ) -> (Process, Agent) {
        let odd = self.odd.clone();
        let sink = Arc::clone(&self.disk.events);
        let observer: Arc<dyn Observer> =
            Arc::new(move |event: &Event| sink.lock().unwrap().push(event.clone()));
        let events = Events::new([observer]);
        let supervisor = Supervisor::builder()
            .agents(self.agents.iter().cloned())
            .limits(self.limits.clone())
            .store(store)
            .events(events.clone())
            .build();
        let tools = things(&self.disk.made)
            .merge(&self.tools, CollisionPolicy::Refuse)
            .unwrap()
            .merge(&supervisor.tools().unwrap(), CollisionPolicy::Refuse)
            .unwrap();
        let executor = LocalExecutor::builder(tools)
            .policy(self.policy.clone())
            .approver(Arc::clone(&self.approver))
            .pending(pending)
            .events(events.clone())
            .build();
        let session = self.session.clone();
        let runner = AgentRunner::new(Script::new(&session), executor.clone())
            .events(events.clone())
            .choosing_model(move |child| {
                if let Some((_, odd)) = odd.iter().find(|(name, _)| *name == child.spec.name.as_str()) {
                    return Some(Arc::new(OddModel(*odd, ModelCapabilities::new("odd"))));
                }
                Some(Arc::new(Script::below(&session, &child.path)?))
            });
        assert!(match other {
            Some(other) => supervisor.drive_with(other),
            None => supervisor.drive_with(runner),
        });
        let news = Arc::new(supervisor.clone());
        let agent = |own| {
            Agent::new(own, executor.clone())
                .events(events.clone())
                .made_again(Supervisor::MADE_AGAIN)
                .news(Arc::clone(&news) as _)
        };
        let own = || Script::new(&self.session);
        let process = Process { supervisor, agent: Arc::new(agent(own())) };
        (process, agent(own()))
    }
}

/// Tools that look at things, and that make them.
fn things(made: &Arc<Mutex<BTreeMap<String, u32>>>) -> ToolRegistry {
    let read = |input: &Named| Ok(Accesses::from(Access::read(Resource::exact(THING, input.name.as_str()))));
    let look = tool_fn("look", "Looks at a thing.", read, |input: Named, _: CallContext| async move {
        Ok::<_, ToolError>(format!("a {}", input.name))
    });
    let write =
        |input: &Named| Ok(Accesses::from(Access::write(Resource::exact(THING, input.name.as_str()))));
    let made = Arc::clone(made);
    let making = tool_fn("make", "Makes a thing.", write, move |input: Named, _: CallContext| {
        *made.lock().unwrap().entry(input.name.clone()).or_default() += 1;
        async move { Ok::<_, ToolError>(format!("made {}", input.name)) }
    });
    ToolRegistry::new().with(look.unwrap()).unwrap().with(making.unwrap()).unwrap()
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A tool that takes a second, in which all that is under way comes to its end.
pub(crate) fn slow() -> ToolRegistry {
    let slow = tool_fn("slow", "Takes a second.", Accesses::none(), |_: Nothing, _: CallContext| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok::<_, ToolError>("a second is over")
    });
    ToolRegistry::new().with(slow.unwrap()).unwrap()
}

pub(crate) fn scope() -> CallScope {
    CallScope::new("run-1".parse().unwrap())
}

impl Process {
    pub(crate) async fn run(&self) -> RunState {
        self.agent.run(scope(), "go").await
    }
}

/// The replies of a run and what its model said, one a line; the names of runs are left out.
pub(crate) fn transcript(state: &RunState) -> String {
    let mut lines = Vec::new();
    for message in state.messages() {
        match &**message {
            Message::Tool { replies } => lines.extend(
                replies
                    .iter()
                    .map(|reply| format!("{} {}: {}", reply.call_id, reply.status, reply.output.to_text())),
            ),
            Message::Assistant { .. } => lines.push(format!("model: {}", message.assistant_text())),
            Message::User { content } => {
                lines.push(format!("person: {}", content[0].as_text().unwrap_or_default()));
            }
            _ => {}
        }
    }
    lines.push(format!("{:?}", state.end()));
    unnamed(&lines.join("\n"))
}

/// Leaves out the digits by which runs are told apart.
pub(crate) fn unnamed(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some(place) = rest.find('-') {
        left.push_str(&rest[..=place]);
        rest = &rest[place + 1..];
        let digits = rest.bytes().take(12).take_while(u8::is_ascii_hexdigit).count();
        if digits == 12 {
            left.push('#');
            rest = &rest[12..];
        }
    }
    left.push_str(rest);
    left
}
