use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use haft_core::{Event, EventKind, Schema, ToolCall, ToolError, ToolOutput, ToolReply, ToolSpec};
use haft_tools_core::{
    Access, Accesses, Action, Approval, Batch, CallContext, CallOutcome, CallScope, Events, Limits,
    LocalExecutor, LocalExecutorBuilder, Observer, PendingCall, Policy, Prepared, Preview, Resource,
    Resumption, Rule, Scheme, Tool, ToolExecutor as _, ToolRegistry,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const FILE: Scheme = Scheme::new("file");

/// Reads a resource as it is printed.
pub(crate) fn resource(text: &str) -> Resource {
    text.parse().unwrap()
}

pub(crate) fn read(text: &str) -> Access {
    Access::read(resource(text))
}

pub(crate) fn write(text: &str) -> Access {
    Access::write(resource(text))
}

pub(crate) fn scope() -> CallScope {
    CallScope::new("run-1".parse().unwrap())
}

pub(crate) fn call(id: &str, name: &str, input: Value) -> ToolCall {
    ToolCall::new(id.parse().unwrap(), name, input)
}

pub(crate) fn spec(name: &str) -> ToolSpec {
    ToolSpec::new(name.parse().unwrap(), "Does it.", Schema::new(json!({})).unwrap())
}

/// Allows every tool.
pub(crate) fn anything() -> Policy {
    Policy::new().allow(Rule::tools("*".parse().unwrap()))
}

type Declare = dyn Fn(&Value) -> Result<Accesses, ToolError> + Send + Sync;
type Run = dyn Fn(Value, CallContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync;
type Show = dyn Fn(&Value) -> BoxFuture<'static, Preview> + Send + Sync;

/// Is a tool made of what a test says of it: without anything said, it takes any object and answers with it.
#[derive(Clone)]
pub(crate) struct Probe {
    spec: ToolSpec,
    declare: Arc<Declare>,
    show: Arc<Show>,
    timeout: Option<Duration>,
    idle_timeout: Option<Duration>,
    repeatable: bool,
    bounds_replies: bool,
    run: Arc<Run>,
}

impl Probe {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            spec: spec(name),
            declare: Arc::new(|_| Ok(Accesses::none())),
            show: Arc::new(|_| async { Preview::Arguments }.boxed()),
            timeout: None,
            idle_timeout: None,
            repeatable: false,
            bounds_replies: false,
            run: Arc::new(|input, _| async move { Ok(ToolOutput::text(input.to_string())) }.boxed()),
        }
    }

    pub(crate) fn schema(mut self, schema: Value) -> Self {
        let hints = self.spec.hints();
        self.spec =
            ToolSpec::new(self.spec.name().clone(), self.spec.description(), Schema::new(schema).unwrap())
                .with_hints(hints);
        self
    }

    pub(crate) fn spec(mut self, change: impl FnOnce(ToolSpec) -> ToolSpec) -> Self {
        self.spec = change(self.spec);
        self
    }

    pub(crate) fn declare(
        mut self,
        declare: impl Fn(&Value) -> Result<Accesses, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.declare = Arc::new(declare);
        self
    }

    pub(crate) fn show<F>(mut self, show: impl Fn(&Value) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Preview> + Send + 'static,
    {
        self.show = Arc::new(move |input| show(input).boxed());
        self
    }

    pub(crate) fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    pub(crate) fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    pub(crate) fn bounds_replies(mut self) -> Self {
        self.bounds_replies = true;
        self
    }

    pub(crate) fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    pub(crate) fn run<F>(mut self, run: impl Fn(Value, CallContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        self.run = Arc::new(move |input, cx| run(input, cx).boxed());
        self
    }

    /// Answers with a text, whatever the input.
    pub(crate) fn says(self, text: &str) -> Self {
        let text = text.to_owned();
        self.run(move |_, _| std::future::ready(Ok(ToolOutput::text(text.clone()))))
    }
}

impl Tool for Probe {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn bounds_replies(&self) -> bool {
        self.bounds_replies
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let probing =
            Probing { input: input.clone(), show: Arc::clone(&self.show), run: Arc::clone(&self.run) };
        let mut prepared = Prepared::new((self.declare)(input)?, probing);
        if let Some(timeout) = self.timeout {
            prepared = prepared.with_timeout(timeout);
        }
        if let Some(timeout) = self.idle_timeout {
            prepared = prepared.with_idle_timeout(timeout);
        }
        Ok(if self.repeatable { prepared.repeatable() } else { prepared })
    }
}

struct Probing {
    input: Value,
    show: Arc<Show>,
    run: Arc<Run>,
}

#[async_trait]
impl Action for Probing {
    async fn preview(&self) -> Preview {
        (self.show)(&self.input).await
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        (self.run)(self.input, cx).await
    }
}

pub(crate) fn registry(probes: impl IntoIterator<Item = Probe>) -> ToolRegistry {
    ToolRegistry::of(probes.into_iter().map(|probe| Arc::new(probe) as Arc<dyn Tool>)).unwrap()
}

/// Starts an executor that permits everything, and shows every update.
pub(crate) fn permissive(probes: impl IntoIterator<Item = Probe>) -> LocalExecutorBuilder {
    let limits = Limits { update_interval: Duration::ZERO, ..Limits::default() };
    LocalExecutor::builder(registry(probes)).policy(anything()).limits(limits)
}

/// Executes a batch that nobody has to approve; how long it took is left out.
pub(crate) async fn replies(executor: &LocalExecutor, calls: Vec<ToolCall>) -> Vec<ToolReply> {
    let outcome = executor.execute_batch(Batch::new(scope(), calls)).await;
    let mut replies = outcome.into_replies().unwrap();
    for reply in &mut replies {
        reply.duration = Duration::ZERO;
    }
    replies
}

/// Executes one call that nobody has to approve.
pub(crate) async fn reply(executor: &LocalExecutor, name: &str, input: Value) -> ToolReply {
    replies(executor, vec![call("c1", name, input)]).await.remove(0)
}

/// Prints how a call ended, as a status and what the model reads.
pub(crate) fn outline(reply: &ToolReply) -> String {
    format!("{}\n{}", reply.status, reply.output.to_text())
}

/// Prints how calls ended, each on a line.
pub(crate) fn outlines<'a>(replies: impl IntoIterator<Item = &'a ToolReply>) -> String {
    let line =
        |reply: &ToolReply| format!("{} {}: {}\n", reply.call_id, reply.status, reply.output.to_text());
    replies.into_iter().map(line).collect()
}

/// Executes a batch that nobody has to approve, and prints how its calls ended.
pub(crate) async fn ended(executor: &LocalExecutor, batch: Batch) -> String {
    outlines(&executor.execute_batch(batch).await.into_replies().unwrap())
}

/// Is a tool that touches what the input says (`read` or `write` a printed resource, or nothing) and takes so many `ms`.
pub(crate) fn work() -> Probe {
    let declare = |input: &Value| {
        let of = |name: &str| input[name].as_str();
        Ok(of("read").map(read).into_iter().chain(of("write").map(write)).collect::<Accesses>())
    };
    Probe::new("work").declare(declare).run(|input, cx| async move {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(input["ms"].as_u64().unwrap_or(10))) => Ok("done".into()),
            () = cx.cancellation().cancelled() => Err(ToolError::cancelled("stopped half-way")),
        }
    })
}

/// Numbers calls of `work` from `c1`.
pub(crate) fn works(inputs: impl IntoIterator<Item = Value>) -> Vec<ToolCall> {
    (1..).zip(inputs).map(|(place, input)| call(&format!("c{place}"), "work", input)).collect()
}

/// Keeps lines of text in the order in which they came.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    pub(crate) fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    /// Takes the lines there are.
    pub(crate) fn take(&self) -> String {
        self.0.lock().unwrap().drain(..).map(|line| line + "\n").collect()
    }
}

/// Is a value that says when it is dropped.
pub(crate) struct Dropped(pub(crate) Arc<Mutex<Vec<&'static str>>>, pub(crate) &'static str);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(self.1);
    }
}

/// Keeps every event.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Event>>>);

impl Log {
    pub(crate) fn events(&self) -> Events {
        Events::new([Arc::new(self.clone()) as Arc<dyn Observer>])
    }

    pub(crate) fn all(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    /// Prints each event on a line: the call it is about and what happened.
    pub(crate) fn outline(&self) -> String {
        self.all()
            .iter()
            .map(|event| format!("{} {}\n", call_of(event), happened(&event.kind)))
            .collect::<Vec<_>>()
            .concat()
    }
}

impl Observer for Log {
    fn observe(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

pub(crate) fn call_of(event: &Event) -> String {
    event.call.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string)
}

fn happened(kind: &EventKind) -> String {
    match kind {
        EventKind::Started { name, input } => format!("started {name} {input}"),
        EventKind::Decided { decision, reason } => format!("decided {decision}: {reason}"),
        EventKind::ApprovalRequested { accesses, preview } => format!("asked {accesses:?} {preview:?}"),
        EventKind::Updated { output } => format!("updated {}", output.to_text()),
        EventKind::Progressed { progress } => format!("progressed {progress:?}"),
        EventKind::Finished { reply } => format!("finished {}: {}", reply.status, reply.output.to_text()),
        other => format!("{other:?}"),
    }
}

/// Goes on with a call that waited, which must then be answered.
pub(crate) async fn resume(executor: &LocalExecutor, pending: PendingCall, approval: Approval) -> ToolReply {
    match executor.resume(Resumption::new(scope(), pending, approval)).await.unwrap() {
        CallOutcome::Replied(reply) => reply,
        CallOutcome::Pending(pending) => panic!("the call waits again: {pending:?}"),
        CallOutcome::Held(held) => panic!("a call by itself is held: {held:?}"),
    }
}
