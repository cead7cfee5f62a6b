use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_agent::{Agent, Phase, RunEnd, RunState, StateKeeper};
use haft_core::{Event, EventKind, Message, ToolError};
use haft_model::{Model, ScriptedModel, Session};
use haft_tools_core::{
    Access, Accesses, Approval, CallContext, CallScope, Events, LocalExecutor, Observer, PendingCall, Policy,
    Redactor, Resource, Rule, Scheme, Strategy, ToolRegistry, approver_fn, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

const THING: Scheme = Scheme::new("thing");

#[derive(Deserialize, JsonSchema)]
struct Named {
    /// The thing.
    name: String,
}

fn registry() -> ToolRegistry {
    let read = |input: &Named| Ok(Accesses::from(Access::read(Resource::exact(THING, input.name.as_str()))));
    let look = tool_fn("look", "Looks at a thing.", read, |input: Named, _: CallContext| async move {
        Ok::<_, ToolError>(format!("a {}", input.name))
    })
    .unwrap();
    let write =
        |input: &Named| Ok(Accesses::from(Access::write(Resource::exact(THING, input.name.as_str()))));
    let make = tool_fn("make", "Makes a thing.", write, |input: Named, _: CallContext| async move {
        Ok::<_, ToolError>(format!("made {}", input.name))
    })
    .unwrap();
    ToolRegistry::new().with(look).unwrap().with(make).unwrap()
}

fn executor(events: Events) -> LocalExecutor {
    LocalExecutor::builder(registry())
        .policy(Policy::new().allow(Rule::tools("look".parse().unwrap())))
        .approver(approver_fn(|call: &PendingCall| match call.call.input["name"].as_str() {
            Some("later") => Approval::Later,
            _ => Approval::Approve,
        }))
        .strategy(Strategy::Parallel)
        .events(events)
        .build()
}

pub(crate) fn model(session: &str) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new(Session::parse(session, "test.jsonl").unwrap()))
}

pub(crate) fn scope() -> CallScope {
    CallScope::new("run-1".parse().unwrap())
}

pub(crate) fn transcript(state: &RunState) -> String {
    let mut lines = Vec::new();
    for message in state.messages() {
        match &**message {
            Message::Tool { replies } => lines.extend(
                replies
                    .iter()
                    .map(|reply| format!("{} {}: {}", reply.call_id, reply.status, reply.output.to_text())),
            ),
            Message::Assistant { .. } => lines.push(format!("model: {}", message.assistant_text())),
            _ => lines.push("person".to_owned()),
        }
    }
    lines.push(format!("{:?}", state.end()));
    lines.join("\n")
}

async fn check(session: &str, expected: Expect) {
    let agent = Agent::new(model(session), executor(Events::default()));
    expected.assert_eq(&transcript(&agent.run(scope(), "go").await));
}

const TWO_TURNS: &str = r#"
{"text":"Two at once.","calls":[{"id":"c1","name":"look","input":{"name":"cup"}},{"id":"c2","name":"make","input":{"name":"pot"}}]}
{"text":"Done.","after":{"c1":"ok","c2":"ok"}}
"#;

#[tokio::test]
async fn plays_a_session_to_its_end() {
    check(
        TWO_TURNS,
        expect![[r"
            person
            model: Two at once.
            c1 ok: a cup
            c2 ok: made pot
            model: Done.
            Some(Completed)"]],
    )
    .await;
}

#[tokio::test]
async fn a_call_that_fails_is_answered_and_the_run_goes_on() {
    check(
        r#"
{"calls":[{"id":"c1","name":"lok","input":{"name":"cup"}},{"id":"c2","name":"look","input":{"name":"cup"}}]}
{"text":"I see.","after":{"c1":{"error":"unknown_tool"},"c2":"ok"}}
"#,
        expect![[r"
            person
            model: 
            c1 error: unknown tool: there is no tool `lok`; did you mean `look`?
            c2 ok: a cup
            model: I see.
            Some(Completed)"]],
    )
    .await;
}

#[tokio::test]
async fn a_session_that_diverges_ends_the_run_with_the_report() {
    let session = r#"
{"calls":[{"id":"c1","name":"look","input":{"name":"cup"}}]}
{"text":"It failed.","after":{"c1":{"error":"failed"}}}
"#;
    let state = Agent::new(model(session), executor(Events::default())).run(scope(), "go").await;
    let Some(RunEnd::Failed { reason }) = state.end() else { panic!("{state:?}") };
    assert!(reason.contains("c1"), "{reason}");
}

#[tokio::test]
async fn events_of_the_model_and_of_its_calls_are_numbered_together() {
    let seen: Arc<Mutex<Vec<Event>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let observer: Arc<dyn Observer> = Arc::new(move |event: &Event| sink.lock().unwrap().push(event.clone()));
    let events = Events::new([observer]);
    let agent = Agent::new(model(TWO_TURNS), executor(events.clone())).events(events);
    agent.run(scope(), "go").await;

    let seen = seen.lock().unwrap();
    assert!(seen.iter().enumerate().all(|(place, event)| event.sequence == place as u64));
    let count = |wanted: fn(&EventKind) -> bool| seen.iter().filter(|event| wanted(&event.kind)).count();
    assert_eq!(count(|kind| matches!(kind, EventKind::TurnStarted { .. })), 2);
    assert_eq!(count(|kind| matches!(kind, EventKind::Started { .. })), 2);
    assert_eq!(count(|kind| matches!(kind, EventKind::Finished { .. })), 2);
    let text: String = seen
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::TextDelta { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, "Two at once.Done.");
}

const WAITS: &str = r#"
{"calls":[{"id":"c1","name":"make","input":{"name":"later"}},{"id":"c2","name":"look","input":{"name":"cup"}}]}
{"text":"Both done.","after":{"c1":"ok","c2":"ok"}}
"#;

#[tokio::test]
async fn a_run_that_waits_is_stored_and_resumed_in_another_agent() {
    let model = model(WAITS);
    let first = Agent::new(Arc::clone(&model), executor(Events::default()));
    let state = first.run(scope(), "go").await;
    assert!(matches!(state.phase(), Phase::Waiting { .. }));
    let waiting: Vec<String> = state.pending().map(|pending| pending.call.id.to_string()).collect();
    assert_eq!(waiting, ["c1"]);

    let stored = serde_json::to_string(&state).unwrap();
    let restored: RunState = serde_json::from_str(&stored).unwrap();
    let second = Agent::new(model, executor(Events::default()));
    let call = "c1".parse().unwrap();
    let state = second.resume(scope(), restored, &call, Approval::Approve).await.unwrap();
    expect![[r"
        person
        model: 
        c1 ok: made later
        c2 ok: a cup
        model: Both done.
        Some(Completed)"]]
    .assert_eq(&transcript(&state));

    let error = second.resume(scope(), state, &call, Approval::Approve).await.unwrap_err();
    expect!["no call `c1` waits in this run; it was answered before, or it never asked"]
        .assert_eq(&error.to_string());
}

#[tokio::test]
async fn cancelling_ends_the_run_with_every_call_answered() {
    let token = CancellationToken::new();
    token.cancel();
    let agent = Agent::new(model(TWO_TURNS), executor(Events::default())).cancelled_by(token);
    let state = agent.run(scope(), "go").await;
    assert_eq!(state.end(), Some(&RunEnd::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn a_stored_run_goes_on_where_it_stood() {
    let model = model(TWO_TURNS);
    let state = Agent::new(Arc::clone(&model), executor(Events::default())).run(scope(), "go").await;
    assert_eq!(model.remaining(), 0);
    let agent = Agent::new(Arc::clone(&model) as Arc<dyn Model>, executor(Events::default()));
    let unchanged = agent.go_on(scope(), state.clone()).await;
    assert_eq!(unchanged, state);
    assert!(agent.prompt(scope(), RunState::new(), "again").await.is_ok());
}

#[tokio::test]
async fn a_secret_that_the_model_writes_is_told_to_nobody() {
    // It is told word by word.
    let session = r#"{"reasoning":"Is it open sesame?","text":"Say open sesame to open"}"#;
    let seen: Arc<Mutex<Vec<Event>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let observer: Arc<dyn Observer> = Arc::new(move |event: &Event| sink.lock().unwrap().push(event.clone()));
    let (events, redactor) = (Events::new([observer]), Redactor::new());
    let executor =
        LocalExecutor::builder(registry()).events(events.clone()).redactor(redactor.clone()).build();
    redactor.add("open sesame").unwrap();
    Agent::new(model(session), executor).events(events).run(scope(), "go").await;
    let written = seen
        .lock()
        .unwrap()
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::TextDelta { text } => Some(format!("{text}|")),
            EventKind::ReasoningDelta { text } => Some(format!("({text})")),
            _ => None,
        })
        .collect::<String>();
    assert_eq!(written, "(Is )(it )([redacted]?)Say |[redacted] |to |open|");
}

/// Keeps states as JSON, as many as it has room for.
struct Room {
    left: usize,
    kept: Mutex<Vec<String>>,
}

#[async_trait]
impl StateKeeper for Room {
    async fn keep(
        &self,
        _: &CallScope,
        state: &RunState,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let mut kept = self.kept.lock().unwrap();
        if kept.len() == self.left {
            return Err("the disk is full".into());
        }
        kept.push(serde_json::to_string(state)?);
        Ok(())
    }
}

/// Plays a session with room for so many states.
async fn kept(session: &str, room: usize) -> (RunState, Vec<RunState>) {
    let room = Arc::new(Room { left: room, kept: Mutex::default() });
    let agent = Agent::new(model(session), executor(Events::default()))
        .kept_by(Arc::clone(&room) as Arc<dyn StateKeeper>);
    let state = agent.run(scope(), "go").await;
    let kept = room.kept.lock().unwrap().iter().map(|json| serde_json::from_str(json).unwrap()).collect();
    (state, kept)
}

#[tokio::test]
async fn a_run_can_be_gone_on_with_from_each_state_that_was_kept() {
    let (state, kept) = kept(TWO_TURNS, usize::MAX).await;
    assert_eq!(serde_json::to_value(kept.last()).unwrap(), serde_json::to_value(&state).unwrap());
    let phases: Vec<&str> = kept
        .iter()
        .map(|state| match state.phase() {
            Phase::Acting { .. } => "acting",
            Phase::Thinking => "thinking",
            Phase::Ended { .. } => "ended",
            _ => "other",
        })
        .collect();
    assert_eq!(phases, ["thinking", "acting", "thinking", "ended"]);
    let calls = TWO_TURNS.trim().lines().next().unwrap();
    let told = r#"{"text":"So be it.","after":{"c1":{"error":"failed"},"c2":{"error":"failed"}}}"#;
    let session = Session::parse(&format!("{calls}\n{told}"), "test.jsonl").unwrap();
    let model = ScriptedModel::new(session).after_turns(1);
    let agent = Agent::new(model, executor(Events::default()));
    let state = agent.go_on(scope(), kept[1].clone()).await;
    expect![[r"
        person
        model: Two at once.
        c1 error: failed: the program ended while this call was due, so whether it had its effect is not known; look before you repeat it
        c2 error: failed: the program ended while this call was due, so whether it had its effect is not known; look before you repeat it
        model: So be it.
        Some(Completed)"]].assert_eq(&transcript(&state));
}

#[tokio::test]
async fn a_run_that_cannot_be_kept_does_nothing_more() {
    let (state, _) = kept(TWO_TURNS, 1).await;
    expect![[r#"
        person
        model: Two at once.
        c1 cancelled: the run was cancelled before this call was done
        c2 cancelled: the run was cancelled before this call was done
        Some(Failed { reason: "the run cannot be kept: the disk is full" })"#]]
    .assert_eq(&transcript(&state));
}
