use crate::fixture::{Log, Probe, call, outline, read, registry, scope, spec, write};
use async_trait::async_trait;
use haft_core::{CallId, ToolCall, ToolError, ToolOutput, ToolReply, ToolSpec};
use haft_tools_core::{
    Access, Accesses, Action, Approval, Batch, CallContext, CallOutcome, CallScope, Claim, Journal,
    JournalRecord, LocalExecutor, LocalExecutorBuilder, MemoryJournal, MemoryPending, PendingCall,
    PendingStore, Policy, Prepared, Resumption, ResumptionError, Rule, Tool, ToolExecutor as _, ToolRegistry,
    approver_fn,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Is a house with a tool `delegate` that has calls made in runs below its own: `write`, which a person is asked about
/// later, or `delegate` again.
pub(super) struct World {
    pub(super) events: Log,
    journal: Arc<MemoryJournal>,
    shown: Arc<Mutex<Vec<PendingCall>>>,
    kept: Arc<Kept>,
    executor: LocalExecutor,
    policy: Policy,
    answer: Approval,
}

/// Is what outlives one call.
#[derive(Default)]
struct Kept {
    house: OnceLock<LocalExecutor>,
    pending: Arc<MemoryPending>,
    /// What became of the calls below, by their runs.
    below: Mutex<BTreeMap<String, Below>>,
    wrote: Mutex<Vec<String>>,
    given_up: Mutex<Vec<String>>,
    breaks: AtomicBool,
    gives_up_never: AtomicBool,
    /// What the next call that comes to wait cancels, and whether it then takes some time.
    cancels: Mutex<Option<(CancellationToken, bool)>>,
    in_place: bool,
}

#[derive(Clone)]
enum Below {
    /// As it was stored.
    Waits(String),
    Ended(String),
}

impl World {
    /// Makes a house that lets `delegate` run; a call of it ends at its first go, or later.
    pub(super) fn new(in_place: bool) -> Self {
        Self::built(in_place, |builder| builder)
    }

    pub(super) fn built(
        in_place: bool,
        build: impl FnOnce(LocalExecutorBuilder) -> LocalExecutorBuilder,
    ) -> Self {
        let policy = Policy::new()
            .allow(Rule::tools("delegate".parse().unwrap()))
            .allow(Rule::tools("calls".parse().unwrap()))
            .allow(Rule::tools("note".parse().unwrap()));
        let kept = Arc::new(Kept { in_place, ..Kept::default() });
        Self::over_kept(kept, policy, Approval::Approve, build)
    }

    /// Makes a house that asks before `delegate` runs, which is approved at once.
    pub(super) fn asking_about_delegates() -> Self {
        Self::asking(Approval::Approve)
    }

    /// Makes a house that asks before `delegate` runs, which is answered like this.
    pub(super) fn asking(answer: Approval) -> Self {
        Self::over_kept(Arc::default(), Policy::new(), answer, |builder| builder)
    }

    /// Makes a house in which `delegate` may not run.
    pub(super) fn denying() -> Self {
        let policy = Policy::new().deny(Rule::tools("delegate".parse().unwrap()));
        Self::over_kept(Arc::default(), policy, Approval::Approve, |builder| builder)
    }

    /// Has this house go on with what another began.
    pub(super) fn over(self, other: &Self) -> Self {
        self.over_with(other, |builder| builder)
    }

    /// Has this house go on with what another began, which still makes the calls below.
    pub(super) fn over_with(
        self,
        other: &Self,
        build: impl FnOnce(LocalExecutorBuilder) -> LocalExecutorBuilder,
    ) -> Self {
        Self::over_kept(Arc::clone(&other.kept), self.policy, self.answer, build)
    }

    fn over_kept(
        kept: Arc<Kept>,
        policy: Policy,
        answer: Approval,
        build: impl FnOnce(LocalExecutorBuilder) -> LocalExecutorBuilder,
    ) -> Self {
        let (events, journal) = (Log::default(), Arc::new(MemoryJournal::default()));
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (sink, said) = (Arc::clone(&shown), answer.clone());
        let approver = approver_fn(move |pending: &PendingCall| {
            sink.lock().unwrap().push(pending.clone());
            if pending.call.name == "delegate" { said.clone() } else { Approval::Later }
        });
        let builder = LocalExecutor::builder(tools(&kept))
            .policy(policy.clone())
            .approver(approver)
            .pending(Arc::clone(&kept.pending) as Arc<dyn PendingStore>)
            .journal(Journal::new(Arc::clone(&journal) as _))
            .events(events.events());
        let executor = build(builder).build();
        // A house over what another keeps has that one make the calls below.
        let _ = kept.house.set(executor.clone());
        Self { events, journal, shown, kept, executor, policy, answer }
    }

    pub(super) fn store(&self) -> &MemoryPending {
        &self.kept.pending
    }

    pub(super) async fn run(&self, calls: Vec<ToolCall>) -> Vec<CallOutcome> {
        self.executor.execute_batch(Batch::new(scope(), calls)).await.into_outcomes()
    }

    /// Keeps an answer to a leaf, as a person gives it.
    pub(super) async fn answer(&self, leaf: &PendingCall, approval: Approval) {
        assert!(self.kept.pending.answer(&leaf.id, &approval).await.unwrap(), "it waits: {leaf:?}");
    }

    pub(super) async fn try_resume(
        &self,
        outer: &PendingCall,
        approval: Approval,
    ) -> Result<CallOutcome, ResumptionError> {
        self.executor.resume(Resumption::new(outer.scope(), outer.clone(), approval)).await
    }

    pub(super) async fn resume(&self, outer: &PendingCall, approval: Approval) -> CallOutcome {
        self.try_resume(outer, approval).await.unwrap()
    }

    pub(super) async fn resume_cancelled(&self, outer: &PendingCall) -> CallOutcome {
        let token = CancellationToken::new();
        token.cancel();
        let resumption = Resumption::new(outer.scope(), outer.clone(), Approval::Approve).cancelled_by(token);
        self.executor.resume(resumption).await.unwrap()
    }

    /// What is waiting, in the store.
    pub(super) async fn waiting(&self) -> Vec<PendingCall> {
        self.kept.pending.waiting().await.unwrap()
    }

    /// Whether somebody could still go on with a call.
    pub(super) async fn is_open(&self, call: &PendingCall) -> bool {
        self.kept.pending.claim(call).await.unwrap() == Claim::Taken
    }

    /// What people were asked about, by the tools' names.
    pub(super) fn asked(&self) -> Vec<String> {
        self.shown().into_iter().map(|pending| pending.call.name).collect()
    }

    pub(super) fn shown(&self) -> Vec<PendingCall> {
        self.shown.lock().unwrap().clone()
    }

    pub(super) fn wrote(&self) -> Vec<String> {
        let mut wrote = self.kept.wrote.lock().unwrap().clone();
        wrote.sort();
        wrote
    }

    /// The calls whose tool was told that they do not go on.
    pub(super) fn given_up(&self) -> Vec<String> {
        self.kept.given_up.lock().unwrap().clone()
    }

    pub(super) fn journal(&self) -> Vec<Arc<JournalRecord>> {
        self.journal.records()
    }

    /// Has the next run of `delegate`, or the next time that it is told to give up, break.
    pub(super) fn break_next(&self) {
        self.kept.breaks.store(true, Ordering::Relaxed);
    }

    /// Has `delegate` never come to an end when it is told to give up.
    pub(super) fn give_up_never(&self) {
        self.kept.gives_up_never.store(true, Ordering::Relaxed);
    }

    /// Runs a call that is cancelled as it comes to wait, and may take some of its grace to do so.
    pub(super) async fn cancelled_as_it_waits(&self, in_grace: bool) -> CallOutcome {
        let token = CancellationToken::new();
        *self.kept.cancels.lock().unwrap() = Some((token.clone(), in_grace));
        let batch = Batch::new(scope(), vec![delegate("c1", json!({ "tasks": ["file:a"] }))]);
        self.executor.execute_batch(batch.cancelled_by(token)).await.into_outcomes().remove(0)
    }
}

fn tools(kept: &Arc<Kept>) -> ToolRegistry {
    let declare = |input: &Value| Ok(write(input["path"].as_str().unwrap()).into());
    let wrote = Arc::clone(kept);
    let writing = Probe::new("write").declare(declare).run(move |input, _| {
        let path = input["path"].as_str().unwrap().to_owned();
        wrote.wrote.lock().unwrap().push(path.clone());
        std::future::ready(Ok(format!("wrote {path}").into()))
    });
    let calls = Probe::new("calls").run(|input, cx| async move {
        let reply = cx.call(call("n1", "delegate", input)).await;
        Ok(outline(&reply).replacen('\n', ": ", 1).into())
    });
    let note = Probe::new("note").declare(|input| Ok(read(input["path"].as_str().unwrap()).into()));
    let delegate = Delegate { spec: spec("delegate"), kept: Arc::clone(kept) };
    registry([writing, calls, note]).with(delegate).unwrap()
}

struct Delegate {
    spec: ToolSpec,
    kept: Arc<Kept>,
}

#[async_trait]
impl Tool for Delegate {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let accesses: Accesses = match input["touches"].as_str() {
            Some(path) => write(path).into(),
            None => Access::opaque("a task").into(),
        };
        let tasks = input["tasks"].as_array().cloned().unwrap_or_default();
        Ok(Prepared::new(accesses, Delegating { tasks, kept: Arc::clone(&self.kept) }))
    }

    async fn given_up(&self, waited: &PendingCall, scope: &CallScope) {
        assert_eq!((scope.run(), waited.has_begun()), (&waited.run, true));
        self.kept.given_up.lock().unwrap().push(waited.call.id.to_string());
        assert!(!self.kept.breaks.swap(false, Ordering::Relaxed), "it was told to break");
        if self.kept.gives_up_never.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    }
}

struct Delegating {
    tasks: Vec<Value>,
    kept: Arc<Kept>,
}

#[async_trait]
impl Action for Delegating {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        if !self.kept.in_place {
            tokio::task::yield_now().await;
        }
        assert!(!self.kept.breaks.swap(false, Ordering::Relaxed), "it was told to break");
        let (mut waiting, mut texts) = (Vec::new(), Vec::new());
        for (place, task) in self.tasks.iter().enumerate() {
            let run = format!("{}/{}/{place}", cx.scope().run(), cx.call_id());
            match self.step(&cx, run, task).await {
                Below::Waits(pending) => waiting.push(serde_json::from_str(&pending).unwrap()),
                Below::Ended(text) => texts.push(text),
            }
        }
        let cancels = self.kept.cancels.lock().unwrap().take();
        if let Some((token, in_grace)) = cancels {
            token.cancel();
            if in_grace {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        if waiting.is_empty() { Ok(texts.join("\n").into()) } else { Err(cx.wait_for(waiting)) }
    }
}

impl Delegating {
    /// Gets the call of a task as far as it gets.
    async fn step(&self, cx: &CallContext, run: String, task: &Value) -> Below {
        let known = self.kept.below.lock().unwrap().get(&run).cloned();
        let house = self.kept.house.get().unwrap();
        let scope = cx.scope().child(run.parse().unwrap());
        let outcome = match known {
            Some(ended @ Below::Ended(_)) => return ended,
            Some(Below::Waits(stored)) => {
                let pending: PendingCall = serde_json::from_str(&stored).unwrap();
                let Some(answer) = self.answer_to(&pending).await else { return Below::Waits(stored) };
                house.resume(Resumption::new(scope, pending, answer).made_by(cx)).await.unwrap()
            }
            None => {
                let id: CallId = "t".parse().unwrap();
                let call = match task.as_str() {
                    Some(path) => ToolCall::new(id, "write", json!({ "path": path })),
                    None => ToolCall::new(id, "delegate", task.clone()),
                };
                let batch = Batch::new(scope, vec![call]).made_by(cx);
                house.execute_batch(batch).await.into_outcomes().remove(0)
            }
        };
        let below = match outcome {
            CallOutcome::Replied(reply) if reply.status.is_ok() => Below::Ended(reply.output.to_text()),
            CallOutcome::Replied(reply) => Below::Ended(reply.status.to_string()),
            CallOutcome::Pending(pending) => Below::Waits(serde_json::to_string(&pending).unwrap()),
            CallOutcome::Held(held) => panic!("a call by itself is held: {held:?}"),
        };
        self.kept.below.lock().unwrap().insert(run, below.clone());
        below
    }

    /// What was answered to a call, or, to one that waits for others, that it can go on as soon as one of these can.
    async fn answer_to(&self, pending: &PendingCall) -> Option<Approval> {
        if pending.waits_below() {
            return Some(Approval::Approve);
        }
        self.kept.pending.answer_to(&pending.id).await.unwrap()
    }
}

/// Calls `delegate`.
pub(super) fn delegate(id: &str, input: Value) -> ToolCall {
    call(id, "delegate", input)
}

/// The call that waits.
pub(super) fn waits(outcome: &CallOutcome) -> PendingCall {
    let CallOutcome::Pending(pending) = outcome else { panic!("it does not wait: {outcome:?}") };
    assert!(pending.waits_below(), "{pending:?}");
    kept(pending)
}

/// What it is answered with.
pub(super) fn gone_on(outcome: &CallOutcome) -> ToolReply {
    let CallOutcome::Replied(reply) = outcome else { panic!("it is not answered: {outcome:?}") };
    reply.clone()
}

/// Stores a call, and reads it again.
pub(super) fn kept(pending: &PendingCall) -> PendingCall {
    serde_json::from_str(&serde_json::to_string(pending).unwrap()).unwrap()
}
