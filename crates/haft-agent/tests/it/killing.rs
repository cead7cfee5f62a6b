//! Runs whose process ends at every place where something was kept, and while calls run: nothing is done twice.

use crate::fixture::told_by_user;
use async_trait::async_trait;
use haft_agent::{Agent, LogEntry, ResumeError, RunEnd, RunEvent, RunState, StateKeeper};
use haft_core::{Message, ToolError};
use haft_model::{DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest, ScriptedModel, Session};
use haft_tools_core::{
    Access, Accesses, Approval, CallContext, CallOutcome, CallScope, LocalExecutor, MemoryPending,
    PendingCall, PendingStore, Resource, Scheme, ToolRegistry, approver_fn, tool_fn,
};
use proptest::collection::vec;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, to_value};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

const THING: Scheme = Scheme::new("thing");

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// Names the call.
    id: String,
    /// The thing that is changed.
    thing: String,
    /// Whether a person has to be asked.
    asks: bool,
    /// Whether the process ends while the call runs.
    dies: bool,
}

/// Is one call of a script: what it changes, whether a person is asked, whether the process ends meanwhile, and whether it
/// is made again then.
#[derive(Debug, Clone)]
struct Made {
    thing: u8,
    asks: bool,
    dies: bool,
    again: bool,
}

impl Made {
    fn tool(&self) -> &'static str {
        if self.again { "redo" } else { "make" }
    }
}

/// What outlives the process.
#[derive(Default)]
struct Disk {
    head: Mutex<Value>,
    log: Mutex<Vec<Value>>,
    pending: Arc<MemoryPending>,
    /// How often each call had its effect.
    effects: Mutex<BTreeMap<String, u32>>,
    /// How often the process ended when something was to be kept.
    killed: Mutex<u32>,
}

/// Says where the process ends when something is to be kept.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Dies {
    Before,
    /// When the log was written, and the head was not.
    Between,
    After,
}

/// Keeps a run, and ends its process at one of the times that something is kept.
struct Keeper {
    disk: Arc<Disk>,
    left: Mutex<usize>,
    dies: Dies,
    dead: Arc<Notify>,
}

#[async_trait]
impl StateKeeper for Keeper {
    async fn keep(&self, _: &CallScope, state: &RunState) -> Result<(), Box<dyn Error + Send + Sync>> {
        let is_last = {
            let mut left = self.left.lock().unwrap();
            *left = left.saturating_sub(1);
            *left == 0
        };
        if !is_last || self.dies != Dies::Before {
            let mut log = self.disk.log.lock().unwrap();
            // What is in the log beyond the head is of a process that ended.
            let entries = self.disk.head.lock().unwrap()["entries"].as_u64().unwrap_or_default();
            log.truncate(usize::try_from(entries)?);
            let added: Vec<LogEntry> = state.log_from(log.len()).collect();
            log.extend(added.iter().map(|entry| to_value(entry).unwrap()));
            if !is_last || self.dies == Dies::After {
                *self.disk.head.lock().unwrap() = to_value(state.head())?;
            }
        }
        if is_last {
            *self.disk.killed.lock().unwrap() += 1;
            self.dead.notify_one();
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

fn executor(disk: &Arc<Disk>, dead: &Arc<Notify>) -> LocalExecutor {
    let touches = |input: &Input| {
        let thing = Resource::exact(THING, format!("{}{}", input.thing, if input.asks { "?" } else { "" }));
        Ok(Accesses::from(Access::write(thing)))
    };
    let tool = |name: &str| {
        let (effects, dead) = (Arc::clone(disk), Arc::clone(dead));
        let tool = tool_fn(name, "Makes.", touches, move |input: Input, _: CallContext| {
            let times = {
                let mut effects = effects.effects.lock().unwrap();
                let times = effects.entry(input.id).or_default();
                *times += 1;
                *times
            };
            let dead = Arc::clone(&dead);
            async move {
                if input.dies && times == 1 {
                    dead.notify_one();
                    std::future::pending::<()>().await;
                }
                Ok::<_, ToolError>("made")
            }
        });
        tool.unwrap()
    };
    LocalExecutor::builder(ToolRegistry::new().with(tool("make")).unwrap().with(tool("redo")).unwrap())
        .approver(approver_fn(|call: &PendingCall| match call.call.input["asks"].as_bool() {
            Some(true) => Approval::Later,
            _ => Approval::Approve,
        }))
        .pending(Arc::clone(&disk.pending) as Arc<dyn PendingStore>)
        .build()
}

/// What is asked for, one after the other; the first half of a script is what the model does for the first.
const PROMPTS: [&str; 2] = ["go", "go on"];

/// Is a model that is told nothing but what was kept.
struct Forgetful {
    plays: ScriptedModel,
    disk: Arc<Disk>,
}

#[async_trait]
impl Model for Forgetful {
    fn capabilities(&self) -> &ModelCapabilities {
        self.plays.capabilities()
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError> {
        let entries = self.disk.head.lock().unwrap()["entries"].as_u64().unwrap_or_default();
        let log = self.disk.log.lock().unwrap().clone();
        let kept =
            log[..usize::try_from(entries).unwrap()].iter().filter(|entry| entry["message"].is_object());
        assert_eq!(request.messages.len(), kept.count(), "the model is told what would be lost");
        self.plays.stream(request, cancel).await
    }
}

fn session(script: &[Vec<Made>]) -> Session {
    let mut lines = String::new();
    for (turn, calls) in script.iter().enumerate() {
        if turn == script.len() / 2 {
            lines.push_str("{\"text\":\"So far.\"}\n");
        }
        let calls: Vec<Value> = calls
            .iter()
            .enumerate()
            .map(|(place, made)| {
                let (id, thing) = (format!("c{turn}-{place}"), format!("t{}", made.thing));
                let input =
                    serde_json::json!({ "id": id, "thing": thing, "asks": made.asks, "dies": made.dies });
                serde_json::json!({ "id": id, "name": made.tool(), "input": input })
            })
            .collect();
        lines.push_str(&serde_json::json!({ "calls": calls }).to_string());
        lines.push('\n');
    }
    lines.push_str(r#"{"text":"Done."}"#);
    Session::parse(&lines, "script.jsonl").unwrap()
}

/// Plays a script until it ends or the process does, from where it was kept.
async fn live(script: &[Vec<Made>], disk: &Arc<Disk>, dies: (usize, Dies)) -> Option<RunState> {
    let dead = Arc::new(Notify::new());
    let keeper =
        Keeper { disk: Arc::clone(disk), left: Mutex::new(dies.0), dies: dies.1, dead: Arc::clone(&dead) };
    let scope = || CallScope::new("run-1".parse().unwrap());
    let head = disk.head.lock().unwrap().clone();
    let log = disk.log.lock().unwrap().clone();
    let kept = (!head.is_null()).then(|| RunState::restore(head, log).unwrap());
    let turns = kept.as_ref().map_or(0, RunState::turns) as usize;
    let plays = ScriptedModel::new(session(script)).after_turns(turns);
    let agent = Agent::new(Forgetful { plays, disk: Arc::clone(disk) }, executor(disk, &dead))
        .made_again(["redo"])
        .kept_by(Arc::new(keeper));
    let work = async {
        let mut state = match kept {
            None => agent.run(scope(), PROMPTS[0]).await,
            Some(state) => agent.go_on(scope(), state).await,
        };
        loop {
            let waiting = state.pending().next().cloned();
            let Some(pending) = waiting else {
                match PROMPTS.get(told_by_user(&state).len()) {
                    Some(prompt) => state = agent.prompt(scope(), state, *prompt).await.unwrap(),
                    None => return state,
                }
                continue;
            };
            let before = state.clone();
            state = match agent.resume(scope(), state, &pending.call.id, Approval::Approve).await {
                Ok(state) => state,
                // A process that has ended went on with it.
                Err(ResumeError::Refused(_)) => {
                    let event = RunEvent::CallAnswered { outcome: CallOutcome::lost(&pending.call) };
                    agent.step(scope(), before, event).await.unwrap()
                }
                Err(other) => panic!("{other}"),
            };
        }
    };
    tokio::select! {
        biased;
        state = work => Some(state),
        () = dead.notified() => None,
    }
}

/// Checks that a run which goes on each time that its process ends comes to its end, and does nothing twice; gives whether
/// its process ended.
async fn check(script: &[Vec<Made>], deaths: &[(usize, Dies)]) -> bool {
    let disk = Arc::new(Disk::default());
    let mut deaths = deaths.iter();
    let mut lives = 0;
    let state = loop {
        let death = deaths.next().copied();
        lives += 1;
        assert!(lives < 100, "it never ends");
        if let Some(state) = live(script, &disk, death.unwrap_or((usize::MAX, Dies::After))).await {
            break state;
        }
    };
    assert_eq!(state.end(), Some(&RunEnd::Completed));
    assert_eq!(told_by_user(&state), PROMPTS);
    let effects = disk.effects.lock().unwrap();
    let replies: Vec<(String, String)> = state
        .messages()
        .iter()
        .flat_map(|message| match &**message {
            Message::Tool { replies } => replies.as_slice(),
            _ => &[],
        })
        .map(|reply| (reply.call_id.to_string(), reply.status.to_string()))
        .collect();
    let calls: Vec<(String, &Made)> = script
        .iter()
        .enumerate()
        .flat_map(|(turn, calls)| {
            calls.iter().enumerate().map(move |(place, made)| (format!("c{turn}-{place}"), made))
        })
        .collect();
    assert!(replies.iter().map(|(id, _)| id).eq(calls.iter().map(|(id, _)| id)), "{replies:?}");
    for ((id, status), (_, made)) in replies.iter().zip(&calls) {
        let times = effects.get(id).copied().unwrap_or_default();
        if made.again {
            // It is made until it is done.
            assert!(status == "ok" && times >= 1, "{id} {status} {times}");
        } else {
            // What is said to be done was done once; what is said to be lost was done, or not.
            assert!(times <= 1 && (status != "ok" || times == 1), "{id} {status} {times}");
        }
    }
    let killed = *disk.killed.lock().unwrap();
    killed > 0
}

fn script() -> impl Strategy<Value = Vec<Vec<Made>>> {
    let made = (0..3_u8, prop::bool::weighted(0.3), prop::bool::weighted(0.1), prop::bool::weighted(0.3));
    let made = made.prop_map(|(thing, asks, dies, again)| Made { thing, asks, dies, again });
    vec(vec(made, 1..4), 1..4)
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(work)
}

/// How many scripts are tried; with `HAFT_CRASHES=all` as many as take a minute.
fn cases() -> u32 {
    if std::env::var("HAFT_CRASHES").is_ok_and(|said| said == "all") { 1_000 } else { 24 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_that_is_killed_wherever_something_is_kept_does_nothing_twice(script in script()) {
        block_on(async {
            for dies in [Dies::Before, Dies::Between, Dies::After] {
                // Until there is no such place any more.
                for place in 1..100 {
                    if !check(&script, &[(place, dies)]).await {
                        break;
                    }
                }
            }
        });
    }

    #[test]
    fn a_run_that_is_killed_again_and_again_does_nothing_twice(
        script in script(),
        deaths in vec((1..6_usize, prop_oneof![Just(Dies::Before), Just(Dies::Between), Just(Dies::After)]), 1..8),
    ) {
        block_on(async { check(&script, &deaths).await });
    }
}
