//! The tools that the suite calls, and what it sees of them.

use super::Subject;
use crate::EffectKey;
use haft_core::{ReplyStatus, RunId, ToolCall, ToolError, ToolOutput};
use haft_tools_core::{
    Access, AccessMode, Accesses, Approval, Batch, BatchOutcome, CallContext, CallOutcome, CallScope, Limits,
    LocalExecutor, PendingCall, Policy, RawOutput, Resource, Resumption, ResumptionError, Rule, Scheme,
    ToolExecutor, ToolRegistry, now_ms, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

const NOTE: Scheme = Scheme::new("note");

/// Counts runs, so that none of a process has the name of another.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// Holds the executor, and sees what its tools do.
pub(super) struct Bench {
    executor: Arc<dyn ToolExecutor>,
    registry: ToolRegistry,
    seen: Arc<Seen>,
}

/// Is what took effect, and what has begun.
#[derive(Default)]
struct Seen {
    effects: Mutex<Vec<Effect>>,
    waits: Notify,
}

#[derive(Clone)]
struct Effect {
    run: RunId,
    place: String,
    text: String,
    key: String,
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    place: String,
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Look {
    place: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

impl Seen {
    fn of(&self, run: &RunId) -> Vec<Effect> {
        let effects = self.effects.lock().unwrap_or_else(PoisonError::into_inner);
        effects.iter().filter(|effect| effect.run == *run).cloned().collect()
    }

    fn note(&self, note: Note, cx: &CallContext) -> ToolOutput {
        let key = EffectKey::of(cx).to_string();
        let output = ToolOutput::text(format!("noted {}", note.text))
            .with_structured(json!({ "place": note.place }))
            .with_details(json!({ "key": key }));
        let run = cx.scope().run().clone();
        let effect = Effect { run, place: note.place, text: note.text, key };
        self.effects.lock().unwrap_or_else(PoisonError::into_inner).push(effect);
        output
    }
}

/// Makes the tools; none of them can be wrong.
fn tools(seen: &Arc<Seen>) -> ToolRegistry {
    let write = |note: &Note| {
        Ok::<Accesses, ToolError>(Access::write(Resource::exact(NOTE, note.place.as_str())).into())
    };
    let read = |look: &Look| {
        Ok::<Accesses, ToolError>(Access::read(Resource::exact(NOTE, look.place.as_str())).into())
    };
    let registry = || -> Result<ToolRegistry, Box<dyn std::error::Error>> {
        let (notes, looks, waits) = (Arc::clone(seen), Arc::clone(seen), Arc::clone(seen));
        let note = tool_fn("note", "Notes a text.", write, move |note: Note, cx: CallContext| {
            let seen = Arc::clone(&notes);
            async move { Ok::<_, ToolError>(RawOutput::from(seen.note(note, &cx))) }
        })?;
        let look = tool_fn("look", "Tells what is noted.", read, move |look: Look, cx: CallContext| {
            let seen = Arc::clone(&looks);
            async move {
                let there = seen.of(cx.scope().run());
                let there = there.into_iter().filter(|effect| effect.place == look.place);
                Ok::<_, ToolError>(there.map(|effect| effect.text).collect::<Vec<_>>().join(","))
            }
        })?;
        let wait = tool_fn(
            "wait",
            "Waits until it is stopped.",
            Accesses::none(),
            move |_: Nothing, cx: CallContext| {
                let seen = Arc::clone(&waits);
                async move {
                    seen.waits.notify_one();
                    cx.cancellation().cancelled().await;
                    Err::<RawOutput, _>(ToolError::cancelled("stopped as told"))
                }
            },
        )?;
        let broken = tool_fn("break", "Breaks.", Accesses::none(), |_: Nothing, _: CallContext| async {
            panic!("broken on purpose");
            #[expect(unreachable_code, reason = "says what the tool would give")]
            Ok::<RawOutput, ToolError>(RawOutput::from(ToolOutput::default()))
        })?;
        let nest = tool_fn(
            "nest",
            "Notes through another call.",
            Accesses::none(),
            |note: Look, cx: CallContext| async move {
                let id = "inner".parse().map_err(|_| ToolError::failed("no id"))?;
                let call = ToolCall::new(id, "note", json!({ "place": note.place, "text": "nested" }));
                let reply = cx.call(call).await;
                Ok::<_, ToolError>(format!("{}: {}", reply.status, reply.output.to_text()))
            },
        )?;
        let registry = ToolRegistry::new().with(note)?.with(look)?.with(wait)?.with(broken)?.with(nest)?;
        Ok(registry)
    };
    registry().unwrap_or_else(|error| panic!("the suite's own tools cannot be made: {error}"))
}

fn policy() -> Policy {
    let named = |name: &str| Rule::tools(name.parse().unwrap_or_else(|_| panic!("{name} is a selector")));
    let within = |place| Rule::access(AccessMode::Write, Resource::exact(NOTE, place));
    ["look", "wait", "break", "nest"]
        .into_iter()
        .fold(Policy::new(), |policy, name| policy.allow(named(name)))
        .allow(Rule::access(AccessMode::Read, Resource::subtree(NOTE, "")))
        .allow(within("open"))
        .allow(within("other"))
        .deny(within("closed"))
}

impl Bench {
    pub(super) async fn new(subject: &dyn Subject, limits: Limits) -> Self {
        let seen = Arc::new(Seen::default());
        let registry = tools(&seen);
        let builder = LocalExecutor::builder(registry.clone()).policy(policy()).limits(limits);
        Self { executor: subject.executor(builder).await, registry, seen }
    }

    pub(super) fn batch(&self, scope: &CallScope, calls: Vec<ToolCall>) -> Batch {
        Batch::new(scope.clone(), calls).with_registry(self.registry.clone())
    }

    pub(super) async fn execute(&self, batch: Batch) -> BatchOutcome {
        self.executor.execute_batch(batch).await
    }

    /// Makes calls, and gives how each ended and what its model reads.
    pub(super) async fn replies(
        &self,
        scope: &CallScope,
        calls: Vec<ToolCall>,
    ) -> Vec<(ReplyStatus, String)> {
        let outcome = self.execute(self.batch(scope, calls)).await;
        outcome.into_outcomes().iter().map(replied).collect()
    }

    /// Makes one call that comes to wait.
    pub(super) async fn asked(&self, scope: &CallScope, call: ToolCall) -> PendingCall {
        match self.execute(self.batch(scope, vec![call])).await.into_outcomes().pop() {
            Some(CallOutcome::Pending(pending)) => *pending,
            other => panic!("the call does not wait: {other:?}"),
        }
    }

    pub(super) async fn answer(
        &self,
        scope: &CallScope,
        pending: &PendingCall,
        approval: Approval,
    ) -> Result<CallOutcome, ResumptionError> {
        let resumption = Resumption::new(scope.clone(), pending.clone(), approval);
        self.executor.resume(resumption.with_registry(self.registry.clone())).await
    }

    pub(super) async fn give_up(&self, pending: &PendingCall) {
        self.executor.give_up(std::slice::from_ref(pending)).await;
    }

    /// Waits until a call of the tool `wait` has begun.
    pub(super) async fn begun(&self) {
        self.seen.waits.notified().await;
    }

    /// What took effect in a run, in order.
    pub(super) fn effects(&self, scope: &CallScope) -> Vec<String> {
        self.seen.of(scope.run()).into_iter().map(|effect| effect.text).collect()
    }

    /// By which keys it took effect.
    pub(super) fn keys(&self, scope: &CallScope) -> Vec<String> {
        self.seen.of(scope.run()).into_iter().map(|effect| effect.key).collect()
    }
}

/// Makes the scope of a run that no other case has.
pub(super) fn new_scope() -> CallScope {
    let name = format!("conformance-{}-{}", now_ms(), RUNS.fetch_add(1, Ordering::Relaxed));
    CallScope::new(name.parse().unwrap_or_else(|_| panic!("{name} is the name of a run"))).with_turn(1)
}

pub(super) fn call(id: &str, tool: &str, input: Value) -> ToolCall {
    ToolCall::new(id.parse().unwrap_or_else(|_| panic!("{id} is an id")), tool, input)
}

pub(super) fn note(id: &str, place: &str, text: &str) -> ToolCall {
    call(id, "note", json!({ "place": place, "text": text }))
}

/// Gives how a call ended, and what its model reads.
pub(super) fn replied(outcome: &CallOutcome) -> (ReplyStatus, String) {
    match outcome {
        CallOutcome::Replied(reply) => (reply.status, reply.output.to_text()),
        other => panic!("the call is not answered: {other:?}"),
    }
}

/// Makes a pair to compare with.
pub(super) fn ok(text: &str) -> (ReplyStatus, String) {
    (ReplyStatus::Ok, text.to_owned())
}
