use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::{Origin, Schema, ToolCall, ToolError, ToolHints, ToolOutput, ToolSpec};
use haft_durable::{CallCourse, CallRequest, EffectKey, Next, Performer, Redo};
use haft_tools_core::{
    Accesses, Action, Approval, CallContext, CallOutcome, CallScope, LocalExecutor, PendingCall, Policy,
    Prepared, Rule, Tool, ToolRegistry,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// A tool that tells what it sees of its round.
struct Probe {
    spec: ToolSpec,
    told: Arc<Mutex<Vec<String>>>,
    /// Whether it waits for a call below it.
    waits: bool,
}

struct Look {
    told: Arc<Mutex<Vec<String>>>,
    waits: bool,
}

#[async_trait]
impl Tool for Probe {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, _input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        Ok(Prepared::new(Accesses::none(), Look { told: Arc::clone(&self.told), waits: self.waits }))
    }

    async fn given_up(&self, waited: &PendingCall, _scope: &CallScope) {
        self.told.lock().unwrap().push(format!("gives up {}", waited.call.id));
    }
}

#[async_trait]
impl Action for Look {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let host = cx.scope().extension::<&str>().copied().unwrap_or("nothing");
        self.told.lock().unwrap().push(format!("{} with {host}", EffectKey::of(&cx)));
        if self.waits { Err(cx.wait_for(vec![below()])) } else { Ok(ToolOutput::text("seen")) }
    }
}

fn below() -> PendingCall {
    let digest = haft_core::Digest::of(&json!("below"));
    serde_json::from_value(json!({
        "version": 1, "id": "below", "call": { "id": "b", "name": "probe", "input": {} }, "run": "s",
        "accesses": [], "unmet": [], "preview": { "kind": "arguments" }, "asked_at_ms": 0, "digest": digest,
    }))
    .unwrap()
}

struct Bench {
    performer: Performer,
    told: Arc<Mutex<Vec<String>>>,
}

fn bench(hints: ToolHints, origin: Origin, waits: bool, policy: Policy) -> Bench {
    let told = Arc::new(Mutex::new(Vec::new()));
    let spec = ToolSpec::new("probe".parse().unwrap(), "Probes.", Schema::empty());
    let probe = Probe { spec: spec.with_hints(hints).with_origin(origin), told: Arc::clone(&told), waits };
    let registry = ToolRegistry::new().with(probe).unwrap();
    let performer = Performer::new(LocalExecutor::builder(registry).policy(policy))
        .scoped_by(|scope| scope.with_extension("what the host adds"));
    Bench { performer, told }
}

fn course(tool: &str) -> CallCourse {
    let scope = CallScope::new("r".parse().unwrap()).with_turn(1);
    CallCourse::new(CallRequest::new(&scope, ToolCall::new("c".parse().unwrap(), tool, json!({}))).unwrap())
}

fn allowed() -> Policy {
    Policy::new().allow(Rule::tools("probe".parse().unwrap()))
}

impl Bench {
    async fn perform(&self, course: &mut CallCourse) {
        course.performed(self.performer.perform(course, CancellationToken::new()).await);
    }

    fn told(&self) -> String {
        self.told.lock().unwrap().join("; ")
    }
}

fn check(course: &CallCourse, expected: &Expect) {
    let Next::Ended(reply) = course.next() else { panic!("{course:?}") };
    expected.assert_eq(&format!("{}: {}", reply.status, reply.output.to_text()));
}

#[tokio::test]
async fn a_round_that_is_performed_again_has_the_same_key_and_the_next_another() {
    let bench = bench(ToolHints::default(), Origin::Host, false, Policy::new());
    let mut course = course("probe");
    bench.perform(&mut course).await;
    course.answer(Approval::Approve);
    let mut again = course.clone();
    bench.perform(&mut course).await;
    bench.perform(&mut again).await;
    check(&again, &expect!["ok: seen"]);
    assert_eq!(bench.told(), "r/1/c:1 with what the host adds; r/1/c:1 with what the host adds");
}

#[tokio::test]
async fn the_model_reads_that_nobody_answered_in_time() {
    let bench = bench(ToolHints::default(), Origin::Host, false, Policy::new());
    let mut course = course("probe");
    bench.perform(&mut course).await;
    course.expired();
    bench.perform(&mut course).await;
    check(
        &course,
        &expect![
            "denied: nobody answered within 604800 s whether this call may run, so it was not run; go on without it, or ask again later"
        ],
    );
    assert_eq!(bench.told(), "");
}

#[tokio::test]
async fn a_call_that_would_wait_for_calls_below_it_is_denied_and_its_tool_told() {
    let bench = bench(ToolHints::default(), Origin::Host, true, allowed());
    let mut course = course("probe");
    bench.perform(&mut course).await;
    check(
        &course,
        &expect![
            "denied: this call was not approved: it waits for calls of its own, and those cannot be approved where it runs; do not repeat it, find another way or say what you would need"
        ],
    );
    assert_eq!(bench.told(), "r/1/c:0 with what the host adds; gives up c");
}

#[test]
fn only_what_may_be_done_twice_is_performed_again() {
    let may = |hints, origin, redo: Redo, tool| {
        bench(hints, origin, false, Policy::new()).performer.redo(redo).may_perform_again(&course(tool))
    };
    let none = ToolHints::default();
    let read = ToolHints { read_only: true, ..none };
    let same = ToolHints { idempotent: true, ..none };
    let theirs = || Origin::Mcp { server: "shop".into(), tool: "probe".into() };
    assert!(!may(none, Origin::Host, Redo::by_hints(), "probe"));
    assert!(may(read, Origin::Host, Redo::by_hints(), "probe"));
    assert!(may(same, Origin::Builtin, Redo::by_hints(), "probe"));
    assert!(!may(read, theirs(), Redo::by_hints(), "probe"));
    assert!(may(none, theirs(), Redo::nothing().and("@shop".parse().unwrap()), "probe"));
    assert!(may(none, Origin::Host, Redo::nothing(), "nobody_knows"));
}

#[tokio::test]
async fn a_denial_runs_nothing_and_may_be_made_again() {
    let bench = bench(ToolHints::default(), Origin::Host, false, Policy::new());
    let mut course = course("probe");
    bench.perform(&mut course).await;
    let mut approved = course.clone();
    approved.answer(Approval::Approve);
    assert!(!bench.performer.may_perform_again(&approved));
    course.answer(Approval::Deny { reason: "no".to_owned() });
    assert!(bench.performer.may_perform_again(&course));
}

#[tokio::test]
async fn a_call_that_is_cancelled_says_so() {
    let bench = bench(ToolHints::default(), Origin::Host, false, allowed());
    let stop = CancellationToken::new();
    stop.cancel();
    let outcome = bench.performer.perform(&course("probe"), stop).await;
    assert!(matches!(outcome, CallOutcome::Replied(reply) if reply.status.to_string() == "cancelled"));
}
