//! Calls that are made again when their process ended while they were executed.

use crate::driver::{model, scope, transcript};
use crate::fixture::{call, executed, held, last_replies, name, pending, prompted, reply, turn};
use expect_test::expect;
use haft_agent::{Agent, Effect, RunEvent, RunState};
use haft_core::{AssistantPart, StopReason, ToolCall, ToolError, Usage};
use haft_model::{ModelTurn, ScriptedModel};
use haft_tools_core::{
    Accesses, AllowAll, Approval, CallContext, LocalExecutor, MemoryPending, PendingCall, PendingStore,
    ToolRegistry, approver_fn, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json, to_value};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// A turn with a call of `look` and one of `delegate`, which is made again.
fn acting() -> RunState {
    let delegate = ToolCall::new("c2".parse().unwrap(), "delegate", json!({}));
    let parts = [call("c1"), delegate, call("c3")].map(|call| AssistantPart::ToolCall { call });
    let turn = ModelTurn::new(parts.to_vec(), Usage::default(), StopReason::ToolCalls);
    let mut state = RunState::new().made_again(["delegate"]);
    state.step(prompted()).unwrap();
    state.step(RunEvent::ModelAnswered { turn }).unwrap();
    state
}

fn stored(state: &RunState) -> RunState {
    let log = state.log_from(0).map(|entry| to_value(entry).unwrap()).collect();
    RunState::restore(to_value(state.head()).unwrap(), log).unwrap()
}

fn names(effects: &[Effect]) -> Vec<String> {
    effects.iter().map(name).collect()
}

#[test]
fn calls_that_are_made_again_are_and_the_others_are_lost() {
    let mut state = stored(&acting());
    // However often the process ends.
    for _ in 0..3 {
        assert_eq!(names(&state.step(RunEvent::Interrupted).unwrap()), ["persist", "execute held c2"]);
        state = stored(&state);
    }
    let effects = state.step(executed(&["c2"])).unwrap();
    assert_eq!(names(&effects)[0], "persist");
    assert_eq!(last_replies(&state), ["c1 error: failed", "c2 ok", "c3 error: failed"]);
}

#[test]
fn a_call_that_is_made_again_can_wait_for_a_person() {
    let mut state = acting();
    state.step(RunEvent::Interrupted).unwrap();
    let effects = state.step(RunEvent::BatchExecuted { outcomes: vec![pending("c2")] }).unwrap();
    assert_eq!(names(&effects), ["persist", "await approval"]);
    assert_eq!(state.pending().count(), 1);
    state.step(RunEvent::Interrupted).unwrap();
    state.step(RunEvent::CallAnswered { outcome: reply("c2") }).unwrap();
    assert_eq!(last_replies(&state), ["c1 error: failed", "c2 ok", "c3 error: failed"]);
}

#[test]
fn calls_that_were_held_back_are_made_again_as_well() {
    let mut state = RunState::new().made_again(["look"]);
    for event in [
        prompted(),
        turn("", &["c1", "c2"], StopReason::ToolCalls),
        RunEvent::BatchExecuted { outcomes: vec![pending("c1"), held("c2", &["c1"])] },
        RunEvent::CallAnswered { outcome: reply("c1") },
    ] {
        state.step(event).unwrap();
    }
    assert_eq!(names(&state.step(RunEvent::Interrupted).unwrap()), ["persist", "execute held c2"]);
    state.step(executed(&["c2"])).unwrap();
    assert_eq!(last_replies(&state), ["c1 ok", "c2 ok"]);
}

#[test]
fn a_pause_holds_back_what_is_made_again() {
    let mut state = acting();
    state.step(RunEvent::Paused).unwrap();
    assert_eq!(names(&state.step(RunEvent::Interrupted).unwrap()), ["persist"]);
    assert!(state.is_paused());
    assert_eq!(names(&stored(&state).step(RunEvent::Unpaused).unwrap()).last().unwrap(), "execute held c2");
}

#[test]
fn a_run_that_was_concluded_when_its_process_ended_ends_with_that() {
    let mut state = acting();
    state.step(RunEvent::Concluded { text: "Reported.".to_owned() }).unwrap();
    let mut state = stored(&state);
    state.step(RunEvent::Interrupted).unwrap();
    state.step(executed(&["c2"])).unwrap();
    assert_eq!(state.last_text(), "Reported.");
    assert_eq!(names(&state.outstanding()), ["done"]);
}

#[test]
fn a_head_that_knows_of_nothing_made_again_is_read() {
    let head = json!({
        "version": 2, "entries": 2,
        "phase": { "phase": "acting", "calls": [call("c1")] },
        "turns": 1, "usage": { "input": 10, "output": 2 },
        "account": {
            "budget": {},
            "spent": { "turns": 1, "calls": 1, "tokens": 12, "wall_ms": 0, "cost_nanos": 0 },
            "reserved": { "turns": 0, "calls": 0, "tokens": 0, "wall_ms": 0, "cost_nanos": 0 },
        },
        "context": 12,
    });
    let log = vec![
        json!({ "message": { "role": "user", "content": [{ "type": "text", "text": "go" }] } }),
        json!({ "message": { "role": "assistant", "parts": [{ "type": "tool_call", "call": call("c1") }] } }),
    ];
    let mut state = RunState::restore(head.clone(), log).unwrap();
    // What is new is only written where it is used.
    assert_eq!(to_value(state.head()).unwrap()["phase"], head["phase"]);
    assert!(to_value(state.head()).unwrap().get("made_again").is_none());
    state.step(RunEvent::Interrupted).unwrap();
    assert_eq!(last_replies(&state), ["c1 error: failed"]);
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Makes a tool that hangs the first time that it is called.
fn delegate(made: &Arc<Mutex<u32>>, hangs: &Arc<Notify>) -> ToolRegistry {
    let (made, hangs) = (Arc::clone(made), Arc::clone(hangs));
    let delegate = tool_fn("delegate", "Delegates.", Accesses::none(), move |_: Nothing, _: CallContext| {
        let (made, hangs) = (Arc::clone(&made), Arc::clone(&hangs));
        async move {
            let times = {
                let mut made = made.lock().unwrap();
                *made += 1;
                *made
            };
            if times == 1 {
                hangs.notify_one();
                std::future::pending::<()>().await;
            }
            Ok::<_, ToolError>(format!("made {times} times"))
        }
    });
    ToolRegistry::new().with(delegate.unwrap()).unwrap()
}

const SESSION: &str = r#"
{"calls":[{"id":"c1","name":"delegate","input":{}}]}
{"text":"Done."}
"#;

#[tokio::test]
async fn a_call_is_made_again_when_the_run_goes_on() {
    let (made, hangs) = (Arc::default(), Arc::new(Notify::new()));
    let disk: Arc<Mutex<Value>> = Arc::default();
    let executor = || LocalExecutor::builder(delegate(&made, &hangs)).approver(AllowAll).build();
    let model = model(SESSION);
    let first = Agent::new(Arc::clone(&model), executor()).kept_by(Arc::new(Disk(Arc::clone(&disk))));
    tokio::select! {
        _ = first.run(scope(), "go") => panic!("it hangs"),
        () = hangs.notified() => {}
    }
    let state = RunState::restore(disk.lock().unwrap().clone(), Vec::new()).unwrap();
    let state = Agent::new(model, executor()).made_again(["delegate"]).go_on(scope(), state).await;
    expect![[r"
        person
        model: 
        c1 ok: made 2 times
        model: Done.
        Some(Completed)"]]
    .assert_eq(&transcript(&state));
}

/// Keeps a run in one.
struct Disk(Arc<Mutex<Value>>);

#[async_trait::async_trait]
impl haft_agent::StateKeeper for Disk {
    async fn keep(
        &self,
        _: &haft_tools_core::CallScope,
        state: &RunState,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        *self.0.lock().unwrap() = to_value(state)?;
        Ok(())
    }
}

#[tokio::test]
async fn a_call_that_was_gone_on_with_is_made_again_when_its_process_ended_meanwhile() {
    let (made, hangs) = (Arc::default(), Arc::new(Notify::new()));
    let pending: Arc<dyn PendingStore> = Arc::new(MemoryPending::default());
    let asked: Arc<Mutex<u32>> = Arc::default();
    let executor = || {
        let asked = Arc::clone(&asked);
        let later = approver_fn(move |_: &PendingCall| {
            let mut asked = asked.lock().unwrap();
            *asked += 1;
            // The first answer is given later.
            if *asked == 1 { Approval::Later } else { Approval::Approve }
        });
        LocalExecutor::builder(delegate(&made, &hangs)).approver(later).pending(Arc::clone(&pending)).build()
    };
    let model = model(SESSION);
    let state = Agent::new(Arc::clone(&model), executor()).run(scope(), "go").await;
    let call = "c1".parse().unwrap();
    let second = Agent::new(Arc::clone(&model), executor()).made_again(["delegate"]);
    tokio::select! {
        _ = second.resume(scope(), state.clone(), &call, Approval::Approve) => panic!("it hangs"),
        () = hangs.notified() => {}
    }
    let other = Agent::new(Arc::clone(&model), executor());
    assert!(other.resume(scope(), state.clone(), &call, Approval::Approve).await.is_err());
    let third = Agent::new(model, executor()).made_again(["delegate"]);
    assert!(
        third
            .resume(scope(), state.clone(), &call, Approval::Deny { reason: "no".to_owned() })
            .await
            .is_err()
    );
    let state = third.resume(scope(), state, &call, Approval::Approve).await.unwrap();
    assert_eq!((state.last_text().as_str(), last_replies(&state)), ("Done.", vec!["c1 ok".to_owned()]));
}

#[derive(Deserialize, JsonSchema)]
struct Task {
    /// What is to be done.
    task: String,
}

/// Is a call that a person is asked about, and whose process ended after they had answered.
struct Answered {
    made: Arc<Mutex<Vec<String>>>,
    asked: Arc<Mutex<u32>>,
    pending: Arc<MemoryPending>,
    disk: Arc<Mutex<Value>>,
    model: Arc<ScriptedModel>,
    before: RunState,
}

impl Answered {
    /// Answers the call, and ends the process as soon as it has begun.
    async fn with(approval: Approval) -> Self {
        let session = r#"
{"calls":[{"id":"c1","name":"delegate","input":{"task":"a"}}]}
{"text":"Done."}
"#;
        let scene = Self {
            made: Arc::default(),
            asked: Arc::default(),
            pending: Arc::default(),
            disk: Arc::default(),
            model: model(session),
            before: RunState::new(),
        };
        let before = scene.agent().run(scope(), "go").await;
        let (agent, call) = (scene.agent(), "c1".parse().unwrap());
        let begun = async {
            while scene.made.lock().unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = agent.resume(scope(), before.clone(), &call, approval) => {
                panic!("it hangs")
            }
            () = begun => {}
        }
        Self { before, ..scene }
    }

    fn agent(&self) -> Agent {
        let (made, asked) = (Arc::clone(&self.made), Arc::clone(&self.asked));
        let delegate =
            tool_fn("delegate", "Delegates.", Accesses::none(), move |input: Task, _: CallContext| {
                let times = {
                    let mut made = made.lock().unwrap();
                    made.push(input.task);
                    made.len()
                };
                async move {
                    if times == 1 {
                        std::future::pending::<()>().await;
                    }
                    Ok::<_, ToolError>("made")
                }
            });
        let later = approver_fn(move |_: &PendingCall| {
            *asked.lock().unwrap() += 1;
            Approval::Later
        });
        let executor = LocalExecutor::builder(ToolRegistry::new().with(delegate.unwrap()).unwrap());
        let executor = executor.approver(later).pending(Arc::clone(&self.pending) as Arc<dyn PendingStore>);
        let agent = Agent::new(Arc::clone(&self.model), executor.build()).made_again(["delegate"]);
        agent.kept_by(Arc::new(Disk(Arc::clone(&self.disk))))
    }

    fn kept(&self) -> RunState {
        RunState::restore(self.disk.lock().unwrap().clone(), Vec::new()).unwrap()
    }

    /// Checks that the call was made twice, with this input, and that nobody was asked about it a second time.
    fn check(&self, state: &RunState, task: &str) {
        assert_eq!(*self.made.lock().unwrap(), [task, task]);
        assert_eq!((state.last_text().as_str(), last_replies(state)), ("Done.", vec!["c1 ok".to_owned()]));
        assert_eq!(*self.asked.lock().unwrap(), 1);
    }
}

fn edited() -> Approval {
    Approval::Edit { input: json!({ "task": "b" }) }
}

#[tokio::test]
async fn a_call_that_was_edited_is_made_again_as_it_was_edited() {
    let scene = Answered::with(edited()).await;
    let call = "c1".parse().unwrap();
    let state = scene.agent().resume(scope(), scene.before.clone(), &call, edited()).await.unwrap();
    scene.check(&state, "b");
}

#[tokio::test]
async fn a_run_that_goes_on_makes_the_call_again_that_was_approved() {
    for (approval, task) in [(Approval::Approve, "a"), (edited(), "b")] {
        let scene = Answered::with(approval).await;
        let state = scene.agent().go_on(scope(), scene.kept()).await;
        scene.check(&state, task);
    }
}

#[tokio::test]
async fn a_run_that_was_paused_makes_the_call_again_that_was_approved() {
    for (approval, task) in [(Approval::Approve, "a"), (edited(), "b")] {
        let scene = Answered::with(approval).await;
        let mut kept = scene.kept();
        kept.step(RunEvent::Paused).unwrap();
        assert!(kept.is_paused());
        let state = scene.agent().unpause(scope(), kept).await.unwrap();
        scene.check(&state, task);
    }
}

#[tokio::test]
async fn a_call_that_was_approved_and_not_claimed_is_gone_on_with() {
    let scene = Answered::with(Approval::Approve).await;
    // Nobody has claimed it there.
    let elsewhere = Answered { pending: Arc::default(), ..scene };
    let state = elsewhere.agent().go_on(scope(), elsewhere.kept()).await;
    elsewhere.check(&state, "a");
    assert_eq!(elsewhere.pending.waiting().await.unwrap(), []);
}

#[tokio::test]
async fn an_approval_that_was_refused_is_not_kept() {
    let scene = Answered::with(Approval::Approve).await;
    let elsewhere = Answered { pending: Arc::default(), ..scene };
    elsewhere.pending.put(elsewhere.before.pending().next().unwrap()).await.unwrap();
    let mut other = to_value(&elsewhere.before).unwrap();
    other["phase"]["outcomes"][0]["digest"] = json!("0".repeat(64));
    let other: RunState = serde_json::from_value(other).unwrap();
    let call = "c1".parse().unwrap();
    let refused = elsewhere.agent().resume(scope(), other, &call, Approval::Approve).await.unwrap_err();
    assert!(refused.to_string().contains("its digest is another"), "{refused}");
    assert_eq!((elsewhere.kept().approved(), elsewhere.kept().pending().count()), (None, 1));
}

#[tokio::test]
async fn a_call_that_was_denied_is_not_made_again() {
    let scene = Answered::with(Approval::Approve).await;
    let denied = Approval::Deny { reason: "no".to_owned() };
    let call = "c1".parse().unwrap();
    assert!(scene.agent().resume(scope(), scene.kept(), &call, denied).await.is_err());
    let state = scene.agent().go_on(scope(), scene.before.clone()).await;
    assert_eq!((state.pending().count(), scene.made.lock().unwrap().len()), (1, 1));
}
