//! Runs that are gone on with by an answer after their process ended.

use crate::driver::scope;
use crate::fixture::{held, last_replies, name, pending, prompted, reply, turn};
use async_trait::async_trait;
use haft_agent::{Agent, RunEnd, RunEvent, RunState};
use haft_core::StopReason;
use haft_model::{ScriptedModel, Session};
use haft_tools_core::{
    Approval, Batch, BatchOutcome, CallOutcome, Resumption, ResumptionError, ToolExecutor,
};
use std::sync::{Arc, Mutex};

/// Answers each call, and notes which were executed; gives no outcome of the calls named.
#[derive(Default)]
struct Answers {
    executed: Mutex<Vec<String>>,
    forgets: Option<&'static str>,
}

#[async_trait]
impl ToolExecutor for Answers {
    async fn execute_batch(&self, batch: Batch) -> BatchOutcome {
        let calls = batch.calls().iter().map(|call| call.id.to_string());
        let calls: Vec<String> =
            calls.filter(|call| self.forgets.is_none_or(|forgotten| call != forgotten)).collect();
        self.executed.lock().unwrap().extend(calls.iter().cloned());
        BatchOutcome::new(calls.iter().map(|call| reply(call)).collect())
    }

    async fn resume(&self, _: Resumption) -> Result<CallOutcome, ResumptionError> {
        Ok(reply("c3"))
    }
}

/// A run that was stored while `c2` was executed, which `c1` had held back; `c3` waits, and holds `c4` back.
fn interrupted() -> RunState {
    let mut state = RunState::new();
    let outcomes = vec![pending("c1"), held("c2", &["c1"]), pending("c3"), held("c4", &["c3"])];
    for event in [
        prompted(),
        turn("I look.", &["c1", "c2", "c3", "c4"], StopReason::ToolCalls),
        RunEvent::BatchExecuted { outcomes },
        RunEvent::CallAnswered { outcome: reply("c1") },
    ] {
        state.step(event).unwrap();
    }
    assert_eq!(state.outstanding().iter().map(name).collect::<Vec<_>>(), ["execute held c2"]);
    serde_json::from_value(serde_json::to_value(&state).unwrap()).unwrap()
}

/// The model of that run, which has one more turn to take.
fn plays() -> ScriptedModel {
    let calls = ["c1", "c2", "c3", "c4"].map(|id| format!(r#"{{"id":"{id}","name":"look","input":{{}}}}"#));
    let session = format!("{{\"text\":\"I look.\",\"calls\":[{}]}}\n{{\"text\":\"Done.\"}}", calls.join(","));
    ScriptedModel::new(Session::parse(&session, "interrupted.jsonl").unwrap()).after_turns(1)
}

/// Answers the call that waits, in two ways, and looks what was executed and how the calls were answered.
async fn check(made_again: &[&str], executed: &[&str], replies: &[&str]) {
    for by_resuming in [true, false] {
        let answers = Arc::new(Answers::default());
        let executor = Arc::clone(&answers) as Arc<dyn ToolExecutor>;
        let agent =
            Agent::from_executor(plays(), executor, Arc::new([])).made_again(made_again.iter().copied());
        let state = if by_resuming {
            let call = "c3".parse().unwrap();
            agent.resume(scope(), interrupted(), &call, Approval::Approve).await.unwrap()
        } else {
            let event = RunEvent::CallAnswered { outcome: reply("c3") };
            agent.step(scope(), interrupted(), event).await.unwrap()
        };
        assert_eq!(*answers.executed.lock().unwrap(), executed);
        assert_eq!(last_replies(&state), replies);
        assert_eq!(state.end(), Some(&RunEnd::Completed));
    }
}

#[tokio::test]
async fn a_call_that_was_being_executed_is_lost_and_the_run_goes_on() {
    check(&[], &["c4"], &["c1 ok", "c2 error: failed", "c3 ok", "c4 ok"]).await;
}

#[tokio::test]
async fn a_call_that_was_being_executed_is_made_again_with_those_that_go_on() {
    check(&["look"], &["c2", "c4"], &["c1 ok", "c2 ok", "c3 ok", "c4 ok"]).await;
}

#[tokio::test]
async fn an_executor_that_forgets_a_call_ends_the_run_and_leaves_nothing_waiting() {
    let answers = Answers { forgets: Some("c4"), ..Answers::default() };
    let agent = Agent::from_executor(plays(), Arc::new(answers), Arc::new([]));
    let call = "c3".parse().unwrap();
    let state = agent.resume(scope(), interrupted(), &call, Approval::Approve).await.unwrap();
    let Some(RunEnd::Failed { reason }) = state.end() else { panic!("{state:?}") };
    assert_eq!(reason, "the executor gave 0 outcomes of 1 calls");
    assert_eq!(last_replies(&state), ["c1 ok", "c2 error: failed", "c3 ok", "c4 cancelled"]);
}
