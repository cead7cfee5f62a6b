use crate::child::{say, stay};
use async_trait::async_trait;
use haft_core::{RunId, ToolCall, ToolError};
use haft_store::{RunStatus, RunStore as _, SqliteStore, StoredRun};
use haft_tools_core::{
    Access, Accesses, AgentPolicy, Approval, Batch, CallContext, CallOutcome, CallScope, Claim, Grants,
    HeldCall, Journal, Limits, LocalExecutor, PendingCall, PendingId, PendingStore, Policy, PolicyLayer,
    Resource, Resumption, ResumptionError, Rule, Rules, Scheme, StoreError, ToolExecutor as _, ToolRegistry,
    approver_fn, tool_fn,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const NOTE: Scheme = Scheme::new("note");

/// Is an agent at work in a directory: what it does is seen there, and what it waits for is in the database there.
///
/// It can `append` a line to a file, which a person is asked about, and `look` at one, which notes down what it saw.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) directory: PathBuf,
    /// How many runs are above the one that makes the calls.
    pub(crate) depth: u32,
    pub(crate) calls: Vec<ToolCall>,
    /// Whether nobody has time to approve anything.
    pub(crate) expires: bool,
}

/// Says how far a process gets with going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Until {
    /// To the end.
    End,
    /// To when a call is claimed, and it stays there.
    Claimed,
    /// To when the tool has done its work, and it stays there.
    Done,
}

impl Session {
    pub(crate) fn store(&self) -> SqliteStore {
        SqliteStore::open(self.directory.join("haft.db")).unwrap()
    }

    /// Names the run that makes the calls.
    fn run(&self) -> RunId {
        format!("run-{}", self.depth).parse().unwrap()
    }

    fn scope(&self) -> CallScope {
        let root = CallScope::new("run-0".parse().unwrap());
        (1..=self.depth).fold(root, |scope, level| {
            scope.child(format!("run-{level}").parse().unwrap()).with_agent(format!("level-{level}"))
        })
    }

    /// Makes an executor over what is in the database, as each process does for itself.
    pub(crate) fn executor(&self, until: Until) -> LocalExecutor {
        let store = self.store();
        let limits = if self.expires {
            Limits { approval_lifetime: Some(Duration::ZERO), ..Limits::default() }
        } else {
            Limits::default()
        };
        let pending: Arc<dyn PendingStore> = match until {
            Until::Claimed => Arc::new(StaysOnceClaimed(store.clone())),
            Until::End | Until::Done => Arc::new(store.clone()),
        };
        LocalExecutor::builder(tools(&self.directory, until))
            .policy(policy())
            .approver(approver_fn(|_: &PendingCall| Approval::Later))
            .limits(limits)
            .grants(Grants::kept_in(Arc::new(store.clone())))
            .pending(pending)
            .journal(Journal::new(Arc::new(store)))
            .build()
    }

    /// Makes the calls, and stores where the run stands.
    pub(crate) async fn ask(&self, executor: &LocalExecutor) {
        let outcome = executor.execute_batch(Batch::new(self.scope(), self.calls.clone())).await;
        let mut run = StoredRun::new(self.run());
        run.status = RunStatus::Waiting;
        run.state = serde_json::to_value(outcome.outcomes()).unwrap();
        self.store().save(&mut run).await.unwrap();
    }

    /// Goes on with the calls that have an answer, from nothing but what is in the database; says how each stands then.
    pub(crate) async fn answer(&self, executor: &LocalExecutor) -> Vec<String> {
        let store = self.store();
        let _lease = store.take(&self.run()).await.unwrap();
        let mut run = store.load(&self.run()).await.unwrap().unwrap();
        let mut outcomes: Vec<CallOutcome> = serde_json::from_value(run.state.take()).unwrap();
        let (mut refused, others) = (Vec::new(), self.executor(Until::End));
        for pending in waiting_in(&outcomes) {
            let Some(answer) = store.answer_to(&pending.id).await.unwrap() else { continue };
            // A call that was claimed by a process that was killed waits no more.
            let kept = store.waiting().await.unwrap().into_iter().find(|kept| kept.id == pending.id).unwrap();
            assert_eq!(kept, pending);
            match executor.resume(Resumption::new(kept.scope(), kept.clone(), answer.clone())).await {
                Ok(outcome) => replace(&mut outcomes, outcome),
                Err(error) => {
                    refused.push(refusal(&error).to_owned());
                    continue;
                }
            }
            // Whatever the answer is, and whoever gives it.
            for again in [answer, Approval::Approve, Approval::Deny { reason: String::new() }] {
                let late = self.expires && !again.denies();
                let again = Resumption::new(kept.scope(), kept.clone(), again);
                let error = others.resume(again).await.unwrap_err();
                assert_eq!(refusal(&error), if late { "expired" } else { "resumed before" });
            }
        }
        let ready = ready(&outcomes);
        if !ready.is_empty() {
            let executed = executor.execute_batch(Batch::of_held(self.scope(), ready)).await;
            executed.into_outcomes().into_iter().for_each(|outcome| replace(&mut outcomes, outcome));
        }
        run.state = serde_json::to_value(&outcomes).unwrap();
        store.save(&mut run).await.unwrap();
        outcomes.iter().map(stands).chain(refused).collect()
    }

    pub(crate) async fn ask_in_child(self, stays: bool) {
        self.ask(&self.executor(Until::End)).await;
        say("waits");
        if stays {
            stay()
        }
    }

    pub(crate) async fn answer_in_child(self, until: Until) {
        for line in self.answer(&self.executor(until)).await {
            say(&line);
        }
    }

    /// Tries to go on with a call that was claimed, as a process does that knows of it from the run.
    pub(crate) async fn try_again(&self) -> String {
        let run = self.store().load(&self.run()).await.unwrap().unwrap();
        let outcomes: Vec<CallOutcome> = serde_json::from_value(run.state).unwrap();
        let pending = waiting_in(&outcomes).remove(0);
        let resumption = Resumption::new(pending.scope(), pending, Approval::Approve);
        refusal(&self.executor(Until::End).resume(resumption).await.unwrap_err()).to_owned()
    }

    /// Answers the call of this name, as another process does; the one that has the run reads it.
    pub(crate) async fn reply(&self, call: &str, answer: &Approval) {
        let store = self.store();
        let waiting = store.waiting().await.unwrap();
        let asked = waiting.iter().find(|pending| pending.call.id.as_str() == call).unwrap();
        assert!(store.answer(&asked.id, answer).await.unwrap());
    }

    /// Reads what a file of the directory has become; empty where there is none.
    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.directory.join(name)).unwrap_or_default()
    }
}

/// What `level-1` starts may do no more than it, and it has to ask; the levels below it are allowed everything.
fn policy() -> Policy {
    let tools = |name: &str| Rule::tools(name.parse().unwrap());
    let layer = |rules| [PolicyLayer::new("agent", rules)];
    Policy::new()
        .allow(tools("*"))
        .agent("level-1", AgentPolicy::new(layer(Rules::new().ask(tools("append")))))
        .agent("level-2", AgentPolicy::new(layer(Rules::new().allow(tools("*")))))
        .agent("level-3", AgentPolicy::new(layer(Rules::new().allow(tools("*")))))
}

#[derive(Deserialize, JsonSchema)]
struct Append {
    file: String,
    line: String,
}

#[derive(Deserialize, JsonSchema)]
struct Look {
    file: String,
}

fn tools(directory: &Path, until: Until) -> ToolRegistry {
    let place = directory.to_owned();
    let touches = |input: &Append| Ok(Accesses::from(Access::write(Resource::exact(NOTE, &*input.file))));
    let append = tool_fn("append", "Appends a line.", touches, move |input: Append, _: CallContext| {
        append_line(&place.join(input.file), &input.line);
        async move {
            if until == Until::Done {
                say("done");
                stay()
            }
            Ok::<_, ToolError>("appended")
        }
    });
    let place = directory.to_owned();
    let touches = |input: &Look| Ok(Accesses::from(Access::read(Resource::exact(NOTE, &*input.file))));
    let look = tool_fn("look", "Looks at a file.", touches, move |input: Look, _: CallContext| {
        let seen = fs::read_to_string(place.join(input.file)).unwrap_or_default();
        append_line(&place.join("seen"), seen.trim_end());
        async { Ok::<_, ToolError>("looked") }
    });
    ToolRegistry::new().with(append.unwrap()).unwrap().with(look.unwrap()).unwrap()
}

/// Appends by a single write, so that each run of the tool can be counted.
fn append_line(path: &Path, line: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

pub(crate) fn call(id: &str, name: &str, input: Value) -> ToolCall {
    ToolCall::new(id.parse().unwrap(), name, input)
}

pub(crate) fn append(id: &str, file: &str) -> ToolCall {
    call(id, "append", json!({ "file": file, "line": "as shown" }))
}

fn waiting_in(outcomes: &[CallOutcome]) -> Vec<PendingCall> {
    let waiting = outcomes.iter().filter_map(|outcome| match outcome {
        CallOutcome::Pending(pending) => Some((**pending).clone()),
        CallOutcome::Replied(_) | CallOutcome::Held(_) => None,
    });
    waiting.collect()
}

/// Lists the calls that were held back by others which are answered now.
fn ready(outcomes: &[CallOutcome]) -> Vec<HeldCall> {
    let is_answered = |id| {
        outcomes.iter().any(|outcome| outcome.call_id() == id && matches!(outcome, CallOutcome::Replied(_)))
    };
    let held = outcomes.iter().filter_map(|outcome| match outcome {
        CallOutcome::Held(held) => Some(&**held),
        CallOutcome::Replied(_) | CallOutcome::Pending(_) => None,
    });
    held.filter(|held| held.behind.iter().all(is_answered)).cloned().collect()
}

fn replace(outcomes: &mut [CallOutcome], outcome: CallOutcome) {
    let place = outcomes.iter_mut().find(|known| known.call_id() == outcome.call_id()).unwrap();
    *place = outcome;
}

fn stands(outcome: &CallOutcome) -> String {
    match outcome {
        CallOutcome::Replied(reply) => format!("{} {}", reply.call_id, reply.status),
        CallOutcome::Pending(pending) => format!("{} waits", pending.call.id),
        CallOutcome::Held(held) => format!("{} is held", held.call.id),
    }
}

fn refusal(error: &ResumptionError) -> &'static str {
    match error {
        ResumptionError::ResumedBefore { .. } => "resumed before",
        ResumptionError::Expired { .. } => "expired",
        other => panic!("{other:?}"),
    }
}

/// Says that it claimed a call, and never gets further.
struct StaysOnceClaimed(SqliteStore);

#[async_trait]
impl PendingStore for StaysOnceClaimed {
    async fn put(&self, pending: &PendingCall) -> Result<(), StoreError> {
        self.0.put(pending).await
    }

    async fn claim(&self, pending: &PendingCall) -> Result<Claim, StoreError> {
        assert_eq!(self.0.claim(pending).await?, Claim::Taken);
        say("claimed");
        stay()
    }

    async fn waiting(&self) -> Result<Vec<PendingCall>, StoreError> {
        self.0.waiting().await
    }

    async fn answer(&self, id: &PendingId, approval: &Approval) -> Result<bool, StoreError> {
        self.0.answer(id, approval).await
    }

    async fn answer_to(&self, id: &PendingId) -> Result<Option<Approval>, StoreError> {
        self.0.answer_to(id).await
    }
}
