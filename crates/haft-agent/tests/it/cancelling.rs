//! Runs that are stopped while calls of theirs wait for a person, or while they are paused.

use crate::driver::{model, scope};
use crate::fixture::last_replies;
use haft_agent::{Agent, Phase, RunEnd, RunState};
use haft_core::ToolError;
use haft_tools_core::{
    Access, Accesses, Approval, CallContext, LocalExecutor, PendingCall, Resource, Scheme, Strategy,
    ToolRegistry, approver_fn, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

const THING: Scheme = Scheme::new("thing");

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The thing that is made.
    name: String,
}

/// Makes an executor whose calls say that they run, and then go on until they are cancelled; about those whose name begins
/// with `later`, a person is asked who answers later.
fn executor(runs: &Arc<Notify>) -> LocalExecutor {
    let touches =
        |input: &Input| Ok(Accesses::from(Access::write(Resource::exact(THING, input.name.as_str()))));
    let runs = Arc::clone(runs);
    let make = tool_fn("make", "Makes a thing.", touches, move |_: Input, cx: CallContext| {
        let runs = Arc::clone(&runs);
        async move {
            runs.notify_one();
            cx.cancellation().cancelled().await;
            Err::<String, _>(ToolError::cancelled("it was stopped"))
        }
    });
    LocalExecutor::builder(ToolRegistry::new().with(make.unwrap()).unwrap())
        .approver(approver_fn(|call: &PendingCall| match call.call.input["name"].as_str() {
            Some(name) if name.starts_with("later") => Approval::Later,
            _ => Approval::Approve,
        }))
        .strategy(Strategy::Parallel)
        .build()
}

/// One turn with calls of these names, and one more.
fn session(names: &[&str]) -> String {
    let call = |(place, name): (usize, &&str)| {
        format!(r#"{{"id":"c{place}","name":"make","input":{{"name":"{name}"}}}}"#)
    };
    let calls: Vec<String> = names.iter().enumerate().map(call).collect();
    format!("{{\"calls\":[{}]}}\n{{\"text\":\"Done.\"}}", calls.join(","))
}

/// Says who stops a run.
#[derive(Debug, Clone, Copy)]
enum By {
    Agent,
    Token,
}

/// Has a run driven by `drive`, stops it once a call runs, and looks how it has ended.
async fn check(
    (by, names): (By, &[&str]),
    drive: impl AsyncFnOnce(&Agent) -> RunState,
    meanwhile: impl FnOnce(&Agent),
    expected: &[&str],
) {
    let (runs, token) = (Arc::new(Notify::new()), CancellationToken::new());
    let executor = executor(&runs);
    let pending = Arc::clone(executor.pending());
    let agent = Agent::new(model(&session(names)), executor).cancelled_by(token.clone());
    let stops = async {
        runs.notified().await;
        meanwhile(&agent);
        match by {
            By::Agent => agent.cancel(scope().run()).unwrap(),
            By::Token => token.cancel(),
        }
    };
    let (state, ()) = tokio::join!(drive(&agent), stops);
    assert_eq!(state.end(), Some(&RunEnd::Cancelled), "{by:?}");
    assert_eq!(last_replies(&state), expected, "{by:?}");
    assert_eq!(state.pending().count(), 0);
    assert_eq!(
        pending.waiting().await.unwrap(),
        [],
        "somebody would be asked about a call of a run that has ended"
    );
    assert!(agent.cancel(scope().run()).is_err());
}

#[tokio::test(start_paused = true)]
async fn a_run_is_stopped_whose_call_waits_for_a_person_while_another_runs() {
    for by in [By::Agent, By::Token] {
        let drive = async |agent: &Agent| agent.run(scope(), "go").await;
        check((by, &["later", "cup"]), drive, |_| {}, &["c0 cancelled", "c1 cancelled"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_is_stopped_whose_call_waits_while_one_that_was_answered_runs() {
    for by in [By::Agent, By::Token] {
        let drive = async |agent: &Agent| {
            let state = agent.run(scope(), "go").await;
            assert!(matches!(state.phase(), Phase::Waiting { .. }));
            let call = "c0".parse().unwrap();
            agent.resume(scope(), state, &call, Approval::Approve).await.unwrap()
        };
        check((by, &["later", "later too"]), drive, |_| {}, &["c0 cancelled", "c1 cancelled"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_is_stopped_that_is_about_to_stand_still() {
    for by in [By::Agent, By::Token] {
        let drive = async |agent: &Agent| agent.run(scope(), "go").await;
        check((by, &["cup"]), drive, |agent| agent.pause(scope().run()).unwrap(), &["c0 cancelled"]).await;
    }
}

#[tokio::test]
async fn a_run_that_waits_stays_as_it_is_and_says_that_it_is_not_at_work() {
    let agent = Agent::new(model(&session(&["later"])), executor(&Arc::default()));
    let state = agent.run(scope(), "go").await;
    assert!(agent.cancel(scope().run()).is_err());
    assert_eq!((state.end(), state.pending().count()), (None, 1));
}
