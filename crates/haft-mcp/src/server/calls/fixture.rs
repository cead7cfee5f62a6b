//! What tests of calls are made of: a client on paper, and tools that ask.

use super::{Names, ParkedLimits, ServedCalls, SpentNonces};
use crate::LogLevel;
use crate::server::ask::{Ask, AskKind, ClientAskError};
use crate::server::caller::{Abilities, Ability, Caller, Principal};
use crate::server::line::{CallRequest, Calls as _, Fault, Line, Served};
use crate::server::rmcp_service::seal::HmacSeal;
use crate::server::toolbox::Toolset;
use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use haft_core::{
    CallId, Digest, Progress, Schema, ToolCall, ToolError, ToolHints, ToolOutput, ToolReply, ToolSpec,
};
use haft_tools_core::{
    Access, Accesses, Action, CallContext, CallScope, LocalExecutor, MemoryPending, PendingCall,
    PendingStore, Policy, Prepared, Preview, Rule, Tool, ToolRegistry,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Serves each tool by its own name.
struct OwnNames;

#[async_trait]
impl Names for OwnNames {
    async fn resolve(
        &self,
        _: &Arc<Toolset>,
        _: &CallId,
        served: &str,
        input: Value,
    ) -> Result<(String, Value), Box<ToolReply>> {
        Ok((served.to_owned(), input))
    }
}

/// Makes a call that waits because of one access.
pub(super) fn pending(grant: Option<&str>) -> PendingCall {
    serde_json::from_value(json!({
        "version": PendingCall::VERSION,
        "id": "p1",
        "call": { "id": "c1", "name": "write", "input": { "path": "a" } },
        "run": "r",
        "accesses": Accesses::from([Access::write("file:a".parse().unwrap())]),
        "unmet": [{
            "access": Access::write("file:a".parse().unwrap()),
            "reason": "write file:a: ask, no rule speaks of it",
            "grant": grant,
        }],
        "preview": Preview::Arguments,
        "asked_at_ms": 0,
        "digest": Digest::of(&json!({})),
    }))
    .unwrap()
}

type Run = dyn Fn(Value, CallContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync;

/// Is a tool that touches the `path` of its input, if there is one.
#[derive(Clone)]
pub(crate) struct Probe {
    spec: ToolSpec,
    run: Arc<Run>,
}

impl Probe {
    pub(crate) fn new<F>(name: &str, run: impl Fn(Value, CallContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        let schema = Schema::new(json!({ "type": "object" })).unwrap();
        let spec = ToolSpec::new(name.parse().unwrap(), "Does it.", schema);
        Self { spec, run: Arc::new(move |input, cx| run(input, cx).boxed()) }
    }

    pub(super) fn idempotent(mut self) -> Self {
        self.spec = self.spec.with_hints(ToolHints { idempotent: true, ..ToolHints::default() });
        self
    }
}

impl Tool for Probe {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        let written = input["path"].as_str().map(|path| format!("file:{path}").parse().unwrap());
        let accesses: Accesses = written.into_iter().map(Access::write).collect();
        Ok(Prepared::new(accesses, Probing(input.clone(), Arc::clone(&self.run))))
    }
}

struct Probing(Value, Arc<Run>);

#[async_trait]
impl Action for Probing {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        (self.1)(self.0, cx).await
    }
}

/// Counts what was run, by input.
#[derive(Clone, Default)]
pub(super) struct Ran(Arc<Mutex<Vec<Value>>>);

impl Ran {
    pub(super) fn add(&self, input: Value) {
        self.0.lock().unwrap().push(input);
    }

    pub(super) fn all(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }
}

/// Says when what it is in is dropped.
pub(super) struct Dropped(pub(super) Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

type Answer = dyn Fn(&Ask) -> Option<Result<Value, ClientAskError>> + Send + Sync;

/// Is one request of a client.
pub(crate) struct Paper {
    caller: Caller,
    in_rounds: bool,
    answer: Arc<Answer>,
    pub(super) asked: Mutex<Vec<Ask>>,
    pub(super) told: Mutex<Vec<String>>,
    pub(super) token: CancellationToken,
}

impl Paper {
    /// Is a request of a client of the newer era.
    pub(crate) fn modern(principal: &str) -> Self {
        let caller = Caller::new(Principal::new(principal)).who_can(able());
        let nobody = |_: &Ask| unreachable!("a client of the newer era is not asked by request");
        Self {
            caller,
            in_rounds: true,
            answer: Arc::new(nobody),
            asked: Mutex::default(),
            told: Mutex::default(),
            token: CancellationToken::new(),
        }
    }

    /// Is a request of a client of the older era, whose person answers like this; or never, with `None`.
    pub(crate) fn legacy(
        answer: impl Fn(&Ask) -> Option<Result<Value, ClientAskError>> + Send + Sync + 'static,
    ) -> Self {
        let mut paper = Self::modern("ada");
        paper.caller.session = Some("s1".into());
        Self { in_rounds: false, answer: Arc::new(answer), ..paper }
    }

    /// Can be answered with a task.
    pub(super) fn with_tasks(mut self) -> Self {
        self.caller.can.tasks = true;
        self
    }

    /// Cannot be asked anything.
    pub(super) fn mute(self) -> Self {
        self.who_can(Abilities::default())
    }

    fn who_can(mut self, can: Abilities) -> Self {
        self.caller.can = can;
        self
    }

    pub(super) fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

#[async_trait]
impl Line for Paper {
    fn caller(&self) -> &Caller {
        &self.caller
    }

    fn asks_in_rounds(&self) -> bool {
        self.in_rounds
    }

    async fn ask(&self, asks: Vec<Ask>) -> BTreeMap<String, Result<Value, ClientAskError>> {
        let mut answers = BTreeMap::new();
        for ask in asks {
            let answer = (self.answer)(&ask);
            let key = ask.key.clone();
            self.asked.lock().unwrap().push(ask);
            match answer {
                Some(answer) => drop(answers.insert(key, answer)),
                None => std::future::pending().await,
            }
        }
        answers
    }

    fn needs(&self, _: Ability) {}

    fn progress(&self, progress: &Progress) {
        self.told.lock().unwrap().push(progress.message.clone().unwrap_or_default());
    }

    fn log(&self, _: LogLevel, _: &str, data: &Value) {
        self.told.lock().unwrap().push(data.to_string());
    }

    fn cancellation(&self) -> &CancellationToken {
        &self.token
    }
}

/// Is a server with its tools; `write` has to be asked about, all others are allowed.
pub(super) struct Stage {
    pub(super) calls: ServedCalls,
    pub(super) toolset: Arc<Toolset>,
    pub(super) store: Arc<dyn PendingStore>,
    pub(super) ran: Ran,
}

impl Stage {
    pub(super) fn new(probes: impl IntoIterator<Item = Probe>) -> Self {
        Self::within(probes, ParkedLimits::default())
    }

    pub(super) fn within(probes: impl IntoIterator<Item = Probe>, limits: ParkedLimits) -> Self {
        Self::instance(probes, limits, Arc::new(MemoryPending::new()))
    }

    /// Is one of several instances that share a key and a store.
    pub(super) fn instance(
        probes: impl IntoIterator<Item = Probe>,
        limits: ParkedLimits,
        store: Arc<dyn PendingStore>,
    ) -> Self {
        let ran = Ran::default();
        let writes = ran.clone();
        let write = Probe::new("write", move |input, _| {
            writes.add(input);
            async { Ok("written".into()) }
        });
        let probes: Vec<Probe> = probes.into_iter().chain([write]).collect();
        let names: Vec<String> = probes.iter().map(|probe| probe.spec.name().to_string()).collect();
        let registry =
            ToolRegistry::of(probes.into_iter().map(|probe| Arc::new(probe) as Arc<dyn Tool>)).unwrap();
        let free = names.iter().filter(|name| *name != "write");
        let policy =
            free.fold(Policy::new(), |policy, name| policy.allow(Rule::tools(name.parse().unwrap())));
        let executor = LocalExecutor::builder(registry.clone())
            .policy(policy)
            .pending(Arc::clone(&store))
            .limits(haft_tools_core::Limits {
                update_interval: Duration::ZERO,
                ..haft_tools_core::Limits::default()
            })
            .build();
        let toolset = Toolset {
            tools: Box::new(move || registry.clone()),
            executor: Arc::new(executor),
            scope: CallScope::new("mcp-1".parse().unwrap()),
            outputs: None,
            pending: Arc::clone(&store),
            instructions: None,
            attended: None,
        };
        let seal = Arc::new(HmacSeal::new([3; 32]));
        let calls = ServedCalls::new(seal, Arc::new(SpentNonces::default()), Arc::new(OwnNames), limits);
        Self { calls, toolset: Arc::new(toolset), store, ran }
    }

    pub(super) async fn call(
        &self,
        line: Arc<Paper>,
        tool: &str,
        input: Value,
        (state, answers): (Option<&str>, Value),
    ) -> Result<Served, Fault> {
        let call = CallRequest {
            tool: tool.to_owned(),
            input,
            answers: serde_json::from_value(answers).unwrap_or_default(),
            state: state.map(str::to_owned),
            is_watched: true,
        };
        self.calls.call(&self.toolset, call, line).await
    }

    /// Makes one request of the newer era.
    pub(super) async fn round(&self, tool: &str, input: Value, echoed: (Option<&str>, Value)) -> Told {
        self.round_of("ada", tool, input, echoed).await
    }

    pub(super) async fn round_of(
        &self,
        principal: &str,
        tool: &str,
        input: Value,
        echoed: (Option<&str>, Value),
    ) -> Told {
        self.call(Arc::new(Paper::modern(principal)), tool, input, echoed).await.into()
    }
}

/// Is what a client is told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    Reply(String),
    Asks(Vec<Ask>, String),
    Waits(String),
    Needs(Ability),
    Fault(i32),
}

impl From<Result<Served, Fault>> for Told {
    fn from(served: Result<Served, Fault>) -> Self {
        match served {
            Ok(Served::Reply(reply)) => Self::Reply(format!("{}: {}", reply.status, reply.output.to_text())),
            Ok(Served::Asks { asks, state }) => Self::Asks(asks, state),
            Ok(Served::Waits(pending)) => Self::Waits(pending.id.to_string()),
            Ok(Served::Needs(ability)) => Self::Needs(ability),
            Ok(Served::Task(name)) => Self::Reply(format!("task {name}")),
            Err(fault) => Self::Fault(fault.code),
        }
    }
}

impl Told {
    pub(crate) fn reply(&self) -> &str {
        match self {
            Self::Reply(reply) => reply,
            other => panic!("no reply: {other:?}"),
        }
    }

    /// The keys that are asked for, and the state.
    pub(super) fn asks(self) -> (Vec<String>, String) {
        match self {
            Self::Asks(asks, state) => (asks.into_iter().map(|ask| ask.key).collect(), state),
            other => panic!("nothing is asked: {other:?}"),
        }
    }
}

/// Calls a tool in each era, by a client that gives one answer; gives what it was told, and what it was asked.
#[cfg(feature = "client")]
pub(crate) async fn in_both_eras(probe: Probe, can: Abilities, answer: Value) -> Vec<(Told, Vec<AskKind>)> {
    let name = probe.spec.name().to_string();
    let server = Stage::new([probe]);
    let call = async |line: &Arc<Paper>, state: Option<&str>, answers: Value| -> Told {
        server.call(Arc::clone(line), &name, json!({}), (state, answers)).await.into()
    };
    let answered = answer.clone();
    let legacy = Arc::new(Paper::legacy(move |_| Some(Ok(answered.clone()))).who_can(can));
    let told = call(&legacy, None, Value::Null).await;
    let asked = legacy.asked.lock().unwrap().iter().map(|ask| ask.kind.clone()).collect();
    let mut both = vec![(told, asked)];
    let modern = Arc::new(Paper::modern("ada").who_can(can));
    both.push(match call(&modern, None, Value::Null).await {
        Told::Asks(asks, state) => {
            let answers: BTreeMap<_, _> = asks.iter().map(|ask| (&ask.key, &answer)).collect();
            let told = call(&modern, Some(&state), json!(answers)).await;
            (told, asks.into_iter().map(|ask| ask.kind).collect())
        }
        told => (told, Vec::new()),
    });
    both
}

/// Says that a client can be asked everything.
pub(crate) fn able() -> Abilities {
    Abilities { forms: true, addresses: true, sampling: true, roots: true, tasks: false }
}

/// Is what a person answers to a form.
#[expect(clippy::needless_pass_by_value, reason = "a value is written where it is used")]
pub(super) fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// Is the answer to the question whether a call may run.
pub(super) fn approval(answer: &str) -> Value {
    json!({ "approval": accept(json!({ "answer": answer })) })
}

/// The message of a form.
pub(super) fn message(ask: &Ask) -> &str {
    match &ask.kind {
        AskKind::Form { message, .. } | AskKind::Address { message, .. } => message,
        other => panic!("no message: {other:?}"),
    }
}

/// Is a tool that writes through another, and says how that ended.
pub(super) fn through() -> Probe {
    Probe::new("through", |input, cx| async move {
        let call = ToolCall::new("inner".parse().unwrap(), "write", json!({ "path": input["of"] }));
        Ok(ToolOutput::text(cx.call(call).await.output.to_text()))
    })
}
