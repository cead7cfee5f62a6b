//! Calls that reach the run they belong to.

use crate::driver::{model, scope, transcript};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_agent::{Agent, RunHandle, RunState, StateKeeper, SteerWhen, Transcript};
use haft_core::{Message, ToolError};
use haft_tools_core::{
    Accesses, AllowAll, Approval, CallContext, CallScope, LocalExecutor, PendingCall, ToolRegistry,
    approver_fn, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::error::Error;
use std::sync::{Arc, Mutex};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// What to do.
    what: String,
}

/// Makes a tool that does to its run what its input says, and leaves its handle and the transcript behind.
fn reach(left: &Arc<Mutex<Option<(RunHandle, Transcript)>>>) -> ToolRegistry {
    let left = Arc::clone(left);
    let reach = tool_fn("reach", "Reaches.", Accesses::none(), move |input: Input, cx: CallContext| {
        let run = RunHandle::of(cx.scope()).unwrap().clone();
        assert_eq!(run.run(), cx.scope().run());
        match input.what.split_once(' ') {
            Some(("report", text)) => run.conclude(text).unwrap(),
            Some(("say", text)) => run.steer(text, SteerWhen::AfterTurn).unwrap(),
            _ => {}
        }
        let messages = run.transcript().unwrap();
        let said = format!("{} of {}", input.what, messages.len());
        *left.lock().unwrap() = Some((run, messages));
        async move { Ok::<_, ToolError>(said) }
    });
    ToolRegistry::new().with(reach.unwrap()).unwrap()
}

fn executor(left: &Arc<Mutex<Option<(RunHandle, Transcript)>>>) -> LocalExecutor {
    LocalExecutor::builder(reach(left)).approver(AllowAll).build()
}

/// One turn for each list of what is to be done, and one in which the model says that it is done.
fn session(turns: &[&[&str]]) -> String {
    let call = |turn: usize, place: usize, what: &str| {
        format!(r#"{{"id":"c{turn}-{place}","name":"reach","input":{{"what":"{what}"}}}}"#)
    };
    let turn = |(turn, acts): (usize, &&[&str])| {
        let calls: Vec<String> =
            acts.iter().enumerate().map(|(place, what)| call(turn, place, what)).collect();
        format!("{{\"calls\":[{}]}}", calls.join(","))
    };
    let mut lines: Vec<String> = turns.iter().enumerate().map(turn).collect();
    lines.push(r#"{"text":"Done."}"#.to_owned());
    lines.join("\n")
}

async fn check(turns: &[&[&str]], expected: Expect) -> RunState {
    let agent = Agent::new(model(&session(turns)), executor(&Arc::default()));
    let state = agent.run(scope(), "go").await;
    expected.assert_eq(&transcript(&state));
    state
}

#[tokio::test]
async fn a_call_concludes_its_run_once_the_others_of_the_turn_are_answered() {
    let model = model(&session(&[&["look"], &["report All is well.", "look"]]));
    let agent = Agent::new(model, executor(&Arc::default()));
    let state = agent.run(scope(), "go").await;
    expect![[r"
        person
        model: 
        c0-0 ok: look of 2
        model: 
        c1-0 ok: report All is well. of 4
        c1-1 ok: look of 4
        Some(Completed)"]]
    .assert_eq(&transcript(&state));
    let stored: RunState = serde_json::from_value(serde_json::to_value(&state).unwrap()).unwrap();
    assert_eq!((stored.last_text().as_str(), stored.turns()), ("All is well.", 2));
    // It goes on like any other that was completed.
    let state = agent.prompt(scope(), stored, "And now?").await.unwrap();
    assert_eq!(state.last_text(), "Done.");
}

#[tokio::test]
async fn of_several_conclusions_the_last_one_counts() {
    let state = check(
        &[&["report One.", "report Two."]],
        expect![[r"
            person
            model: 
            c0-0 ok: report One. of 2
            c0-1 ok: report Two. of 2
            Some(Completed)"]],
    )
    .await;
    assert!(state.queue().is_empty());
}

#[tokio::test]
async fn a_run_that_is_told_something_before_it_has_ended_goes_on_with_that() {
    check(
        &[&["report One.", "say Wait."]],
        expect![[r"
            person
            model: 
            c0-0 ok: report One. of 2
            c0-1 ok: say Wait. of 2
            person
            model: Done.
            Some(Completed)"]],
    )
    .await;
}

#[tokio::test]
async fn a_call_that_waited_for_a_person_reaches_its_run_in_another_process() {
    let later = |left: &Arc<Mutex<Option<_>>>| {
        LocalExecutor::builder(reach(left)).approver(approver_fn(|_: &PendingCall| Approval::Later)).build()
    };
    let model = model(&session(&[&["report Here it is."]]));
    let state = Agent::new(Arc::clone(&model), later(&Arc::default())).run(scope(), "go").await;
    let stored: RunState = serde_json::from_value(serde_json::to_value(&state).unwrap()).unwrap();
    let agent = Agent::new(model, later(&Arc::default()));
    let call = "c0-0".parse().unwrap();
    let state = agent.resume(scope(), stored, &call, Approval::Approve).await.unwrap();
    assert_eq!(state.last_text(), "Here it is.");
}

#[tokio::test]
async fn a_handle_reaches_its_run_whenever_it_is_driven_and_says_when_it_is_not() {
    let left = Arc::default();
    let agent = Agent::new(model(&session(&[&["look"], &["look"]])), executor(&left));
    let state = agent.run(scope(), "go").await;
    let (run, messages) = left.lock().unwrap().take().unwrap();
    assert_eq!(messages[..], state.messages()[..4]);
    let refused = [
        run.steer("Late.", SteerWhen::Now).unwrap_err(),
        run.conclude("Late.").unwrap_err(),
        run.transcript().unwrap_err(),
    ];
    expect!["the run `run-1` is not at work; it has ended, waits, or is driven elsewhere"]
        .assert_eq(&refused[0].to_string());
    assert!(refused.iter().all(|error| error == &refused[0]));
}

#[test]
fn the_scope_of_a_run_that_nobody_drives_has_no_handle_of_it() {
    assert!(RunHandle::of(&scope()).is_none());
}

#[tokio::test]
async fn the_scope_of_a_run_below_has_no_handle_of_it_before_it_is_driven() {
    let seen: Arc<Mutex<Vec<bool>>> = Arc::default();
    let note = Arc::clone(&seen);
    let look = tool_fn("reach", "Looks.", Accesses::none(), move |_: Input, cx: CallContext| {
        let child = cx.scope().child("run-2".parse().unwrap());
        let handles = [RunHandle::of(cx.scope()), RunHandle::of(&child), child.extension::<RunHandle>()];
        *note.lock().unwrap() = handles.iter().map(Option::is_some).collect();
        async { Ok::<_, ToolError>("seen") }
    });
    let executor =
        LocalExecutor::builder(ToolRegistry::new().with(look.unwrap()).unwrap()).approver(AllowAll).build();
    Agent::new(model(&session(&[&["look"]])), executor).run(scope(), "go").await;
    assert_eq!(*seen.lock().unwrap(), [true, false, true]);
}

/// Keeps what a run would be told when it is steered by whoever keeps it, at the last time that it is kept.
struct SaysAtTheEnd {
    agent: Mutex<Option<Arc<Agent>>>,
    said: Mutex<Vec<bool>>,
}

#[async_trait]
impl StateKeeper for SaysAtTheEnd {
    async fn keep(&self, scope: &CallScope, state: &RunState) -> Result<(), Box<dyn Error + Send + Sync>> {
        if state.end().is_some() && self.said.lock().unwrap().len() < 2 {
            let agent = self.agent.lock().unwrap().clone().unwrap();
            let is_said = agent.steer(scope.run(), "One more.", SteerWhen::AfterTurn).is_ok();
            self.said.lock().unwrap().push(is_said);
        }
        Ok(())
    }
}

#[tokio::test]
async fn what_is_said_to_a_run_that_has_not_completed_is_kept_for_the_next_prompt_or_refused() {
    let keeper = Arc::new(SaysAtTheEnd { agent: Mutex::default(), said: Mutex::default() });
    let agent = Agent::new(model(r#"{"text":"I was","stop":"max_tokens"}"#), executor(&Arc::default()));
    let agent = Arc::new(agent.kept_by(Arc::clone(&keeper) as Arc<dyn StateKeeper>));
    *keeper.agent.lock().unwrap() = Some(Arc::clone(&agent));
    let state = agent.run(scope(), "go").await;
    let said = keeper.said.lock().unwrap();
    assert_eq!((said.as_slice(), state.queue().len()), ([true, true].as_slice(), 2));
    assert!(agent.steer(scope().run(), "Too late.", SteerWhen::Now).is_err());
    keeper.agent.lock().unwrap().take();
}

#[test]
fn what_is_kept_of_a_transcript_stays_as_it_was() {
    let mut state = RunState::from_part_of([Arc::new(Message::user("one"))]);
    let before = state.transcript();
    let first = Arc::as_ptr(&state.messages()[0]);
    state.step(haft_agent::RunEvent::Prompted { text: "two".to_owned() }).unwrap();
    assert_eq!((before.len(), state.messages().len()), (1, 2));
    assert_eq!(Arc::as_ptr(&state.messages()[0]), first);
}
