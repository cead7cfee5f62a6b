use super::{Attended, attend, settled};
use crate::keeper::Keeper;
use crate::kept_state::KeptState;
use crate::policy_setup::PolicyOptions;
use crate::task::{Task, What};
use crate::work::{OneCall, Work};
use async_trait::async_trait;
use haft::core::{Digest, Schema, ToolOutput, ToolSpec};
use haft::tools_core::{
    Action, Approval, CallOutcome, PendingCall, PendingId, PendingStore, Prepared, Resumption, Wants,
    approver_fn,
};
use haft::{
    Accesses, Batch, CallContext, CallScope, LocalExecutor, Policy, Rule, Tool, ToolCall, ToolError,
    ToolExecutor as _, ToolRegistry,
};
use haft_testkit::Tree;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Has two calls made below it, and says what became of them.
#[derive(Default)]
struct Below {
    house: OnceLock<(LocalExecutor, Arc<KeptState>)>,
    runs: Mutex<BTreeMap<String, Result<String, PendingCall>>>,
    given_up: Mutex<Vec<String>>,
    /// Whether it goes on with calls that are answered.
    is_stuck: bool,
}

struct Delegate(ToolSpec, Arc<Below>);
struct Note(ToolSpec);
struct Delegating(Arc<Below>);
struct Noting;

fn spec(name: &str) -> ToolSpec {
    ToolSpec::new(name.parse().unwrap(), "Does it.", Schema::empty())
}

#[async_trait]
impl Tool for Delegate {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn prepare(&self, _: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        Ok(Prepared::new(Accesses::none(), Delegating(Arc::clone(&self.1))))
    }

    async fn given_up(&self, waited: &PendingCall, _: &CallScope) {
        self.1.given_up.lock().unwrap().push(waited.call.id.to_string());
    }
}

impl Tool for Note {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn prepare(&self, _: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        Ok(Prepared::new(Accesses::none(), Noting))
    }
}

#[async_trait]
impl Action for Noting {
    async fn run(self: Box<Self>, _: CallContext) -> Result<ToolOutput, ToolError> {
        Ok("noted".into())
    }
}

#[async_trait]
impl Action for Delegating {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let (house, state) = self.0.house.get().unwrap();
        let (mut waiting, mut texts) = (Vec::new(), Vec::new());
        for name in ["first", "second"] {
            let scope = cx.scope().child(name.parse().unwrap());
            let known = self.0.runs.lock().unwrap().get(name).cloned();
            let outcome = match known {
                None => {
                    let call = ToolCall::new("t".parse().unwrap(), "note", json!({}));
                    house
                        .execute_batch(Batch::new(scope, vec![call]).made_by(&cx))
                        .await
                        .into_outcomes()
                        .remove(0)
                }
                Some(Ok(text)) => {
                    texts.push(text);
                    continue;
                }
                Some(Err(pending)) => match state.answer_to(&pending.id).await.unwrap() {
                    Some(answer) if !self.0.is_stuck => {
                        house.resume(Resumption::new(scope, pending, answer).made_by(&cx)).await.unwrap()
                    }
                    _ => CallOutcome::Pending(Box::new(pending)),
                },
            };
            let told = match outcome {
                CallOutcome::Replied(reply) => Ok(reply.status.to_string()),
                CallOutcome::Pending(pending) => Err(*pending),
                CallOutcome::Held(_) => panic!("it is by itself"),
            };
            match &told {
                Ok(text) => texts.push(text.clone()),
                Err(pending) => waiting.push(pending.clone()),
            }
            self.0.runs.lock().unwrap().insert(name.to_owned(), told);
        }
        if waiting.is_empty() { Ok(texts.join(", ").into()) } else { Err(cx.wait_for(waiting)) }
    }
}

/// Is a call that waits for two others, as the command line has made it.
struct Scene {
    work: Work,
    keeper: Arc<Keeper>,
    state: Arc<KeptState>,
    below: Arc<Below>,
    _tree: Tree,
}

impl Scene {
    async fn new(is_stuck: bool, lifetime: Option<Duration>) -> Self {
        let tree = Tree::new();
        let state = KeptState::at(tree.path().join("haft.db"));
        let below = Arc::new(Below { is_stuck, ..Below::default() });
        let registry = ToolRegistry::new()
            .with(Delegate(spec("delegate"), Arc::clone(&below)))
            .unwrap()
            .with(Note(spec("note")))
            .unwrap();
        let limits =
            haft::tools_core::Limits { approval_lifetime: lifetime, ..haft::tools_core::Limits::default() };
        let executor = LocalExecutor::builder(registry)
            .policy(Policy::new().allow(Rule::tools("delegate".parse().unwrap())))
            .approver(approver_fn(|_: &PendingCall| Approval::Later))
            .limits(limits)
            .pending(Arc::clone(&state) as Arc<dyn PendingStore>)
            .build();
        assert!(below.house.set((executor.clone(), Arc::clone(&state))).is_ok());
        let scope = CallScope::new("run-1".parse().unwrap());
        let call = ToolCall::new("cli".parse().unwrap(), "delegate", json!({}));
        let outcome =
            executor.execute_batch(Batch::new(scope.clone(), vec![call])).await.into_outcomes().remove(0);
        let task =
            Task::new(What::Call { tool: "delegate".to_owned() }, tree.path(), &PolicyOptions::default())
                .unwrap();
        let keeper = Keeper::new(Arc::clone(&state), scope.run().clone(), &task).unwrap();
        let token = CancellationToken::new();
        let work = Work::Call(Box::new(OneCall { executor, scope, outcome, token }));
        Self { work, keeper, state, below, _tree: tree }
    }

    fn outer(&self) -> PendingCall {
        self.work.waiting().remove(0)
    }

    fn leaves(&self) -> Vec<PendingCall> {
        self.outer().leaves().cloned().collect()
    }

    async fn answer(&self, call: &PendingCall, approval: Approval) {
        assert!(self.state.answer(&call.id, &approval).await.unwrap());
    }

    async fn attend(&mut self) -> anyhow::Result<()> {
        attend(&mut self.work, &self.keeper, &Attended::Nobody, &CancellationToken::new()).await
    }

    fn said(&self) -> String {
        let Work::Call(call) = &self.work else { panic!("it is one call") };
        match &call.outcome {
            CallOutcome::Replied(reply) => format!("{}: {}", reply.status, reply.output.to_text()),
            other => panic!("it is not answered: {other:?}"),
        }
    }
}

fn deny() -> Approval {
    Approval::Deny { reason: String::new() }
}

#[tokio::test]
async fn a_call_goes_on_as_those_below_it_are_answered() {
    let mut scene = Scene::new(false, None).await;
    let before = scene.outer();
    scene.attend().await.unwrap();
    assert_eq!(scene.outer(), before, "nobody has answered anything");
    let [first, second] = scene.leaves().try_into().unwrap();
    scene.answer(&second, deny()).await;
    scene.attend().await.unwrap();
    assert_eq!(scene.leaves(), std::slice::from_ref(&first));
    scene.answer(&first, Approval::Approve).await;
    scene.attend().await.unwrap();
    assert_eq!(scene.said(), "ok: ok, denied");
    assert!(scene.state.waiting().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_call_that_does_nothing_with_answers_is_not_gone_on_with_for_ever() {
    let mut scene = Scene::new(true, None).await;
    for leaf in scene.leaves() {
        scene.answer(&leaf, Approval::Approve).await;
    }
    scene.attend().await.unwrap();
    assert_eq!(scene.leaves().len(), 2);
}

#[tokio::test]
async fn a_call_that_is_denied_itself_is_given_up() {
    let mut scene = Scene::new(false, None).await;
    scene.answer(&scene.outer(), deny()).await;
    scene.attend().await.unwrap();
    assert!(scene.said().starts_with("denied: "), "{}", scene.said());
    assert_eq!(*scene.below.given_up.lock().unwrap(), ["cli"]);
    assert!(scene.state.waiting().await.unwrap().is_empty());
}

#[tokio::test]
async fn an_approval_below_that_comes_too_late_is_refused_and_a_denial_is_not() {
    let mut scene = Scene::new(false, Some(Duration::ZERO)).await;
    let [first, second] = scene.leaves().try_into().unwrap();
    scene.answer(&first, Approval::Approve).await;
    let refused = scene.attend().await.unwrap_err().to_string().replace(first.id.as_str(), "ID");
    assert_eq!(
        refused,
        "the call `ID` has waited too long to be approved; run `haft approvals deny ID`, then `haft resume run-1`"
    );
    scene.answer(&first, deny()).await;
    scene.answer(&second, deny()).await;
    scene.attend().await.unwrap();
    assert_eq!(scene.said(), "ok: denied, denied");
}

#[tokio::test]
async fn nobody_is_asked_about_what_lies_below_a_call_that_is_denied() {
    let scene = Scene::new(false, None).await;
    let call = |id: &str, calls: Vec<PendingCall>| {
        let call = ToolCall::new(id.parse().unwrap(), "note", json!({}));
        let scope = CallScope::new("run-1".parse().unwrap());
        let mut pending = PendingCall::new(PendingId::new(id), call, &scope, Digest::of(&json!(id)));
        if !calls.is_empty() {
            pending.wants = Wants::Below { calls };
        }
        pending
    };
    // What was approved too late is below the denied call, too, and keeps nothing from going on.
    let mut late = call("late", Vec::new());
    late.expires_at_ms = Some(0);
    let denied = call("denied", vec![late.clone(), call("never", Vec::new())]);
    let outer = call("outer", vec![denied.clone(), call("asked", Vec::new())]);
    for pending in [&outer, &denied].into_iter().chain(outer.leaves()) {
        scene.state.put(pending).await.unwrap();
    }
    scene.answer(&late, Approval::Approve).await;
    let names = |open: Vec<&PendingCall>| open.iter().map(|call| call.id.to_string()).collect::<Vec<_>>();
    let mut open = Vec::new();
    assert!(settled(&outer, &mut open, &BTreeSet::new(), &scene.keeper).await.is_err());

    scene.answer(&denied, deny()).await;
    let mut open = Vec::new();
    let reasons = settled(&outer, &mut open, &BTreeSet::new(), &scene.keeper).await.unwrap();
    assert!(reasons.contains(&denied.id));
    assert_eq!(names(open), ["asked"]);
    // They stay left out once the call above was gone on with.
    let mut open = Vec::new();
    let handed_on = reasons.into_iter().collect();
    assert!(settled(&outer, &mut open, &handed_on, &scene.keeper).await.unwrap().is_empty());
    assert_eq!(names(open), ["asked"]);
}
