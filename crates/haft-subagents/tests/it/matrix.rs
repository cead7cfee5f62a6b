//! Delegation at each depth, in each way, with each answer of a person, in one process and over several: the guarded tool runs
//! once or not at all, as the person said, and the run at the top comes to its end.

use crate::fixture::{Disk, Process, Setup, later, scope, transcript};
use async_trait::async_trait;
use haft_agent::{Agent, RunEnd, RunEvent, RunState, StateKeeper};
use haft_subagents::{ChildRecord, ChildStore, SpawnLimits};
use haft_tools_core::{
    Approval, CallOutcome, CallScope, Claim, PendingCall, PendingId, PendingStore, StoreError,
};
use serde_json::{Value, json, to_value};
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Foreground,
    Parallel,
    Background,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Said {
    Approve,
    Deny,
    Edit,
    /// One of two questions is answered, and the other one later.
    Partial,
    TimedOut,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Life {
    /// One process sees it all.
    Same,
    /// The run waits as JSON, and another process goes on with it.
    Reloaded,
    /// The process ends at the place of this number where something is kept.
    Killed(usize),
}

/// Writes a session in which runs delegate down to this depth, and the deepest make what has to be asked about.
fn session(depth: u32, way: Way) -> String {
    let mut lines = Vec::new();
    write_run(&mut lines, "", depth, way);
    lines.join("\n")
}

fn write_run(lines: &mut Vec<String>, path: &str, depth: u32, way: Way) {
    let run = |mut turn: Value| {
        if !path.is_empty() {
            turn["run"] = json!(path);
        }
        turn.to_string()
    };
    if depth == 0 {
        let thing = path.replace('/', "-");
        lines.push(run(json!({ "calls": [
            { "id": "m1", "name": "make", "input": { "name": thing } },
            { "id": "m2", "name": "make", "input": { "name": format!("{thing}-2") } },
        ] })));
        lines.push(run(json!({ "text": "Made." })));
        return;
    }
    let count = if way == Way::Parallel { 2 } else { 1 };
    let tasks: Vec<Value> =
        (0..count).map(|place| json!({ "agent": "helper", "task": format!("Task {place}.") })).collect();
    let background = way == Way::Background;
    lines.push(run(json!({ "calls": [
        { "id": "d", "name": "delegate", "input": { "tasks": tasks, "background": background } },
    ] })));
    for place in 0..count {
        let below = if path.is_empty() { format!("d/{place}") } else { format!("{path}/d/{place}") };
        write_run(lines, &below, depth - 1, way);
    }
    if background {
        lines.push(run(json!({ "calls": [{ "id": "w", "name": "wait_agents", "input": {} }] })));
    }
    lines.push(run(json!({ "text": "All done." })));
}

/// Ends the process when something was kept so often.
#[derive(Default)]
struct Death {
    left: AtomicUsize,
    dead: Notify,
}

impl Death {
    fn at(place: usize) -> Arc<Self> {
        Arc::new(Self { left: place.into(), dead: Notify::new() })
    }

    /// Counts one time that something was kept; the process does nothing more after the last.
    async fn kept(&self) {
        let left = self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
        if left == Ok(1) || left.is_err() {
            self.dead.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

/// Keeps the run at the top, as JSON.
struct Top {
    kept: Arc<Mutex<Option<String>>>,
    death: Arc<Death>,
}

#[async_trait]
impl StateKeeper for Top {
    async fn keep(&self, _: &CallScope, state: &RunState) -> Result<(), Box<dyn Error + Send + Sync>> {
        *self.kept.lock().unwrap() = Some(to_value(state)?.to_string());
        self.death.kept().await;
        Ok(())
    }
}

/// Keeps children in a store that outlives the process.
struct Dying {
    disk: Disk,
    death: Arc<Death>,
}

#[async_trait]
impl ChildStore for Dying {
    async fn put(&self, record: &ChildRecord) -> Result<(), StoreError> {
        // As JSON, since that is how another process reads it.
        let record = serde_json::from_value(to_value(record).unwrap()).unwrap();
        self.disk.children.put(&record).await?;
        self.death.kept().await;
        Ok(())
    }

    async fn get(&self, run: &haft_core::RunId) -> Result<Option<ChildRecord>, StoreError> {
        self.disk.children.get(run).await
    }

    async fn tree(&self, root: &haft_core::RunId) -> Result<Vec<ChildRecord>, StoreError> {
        self.disk.children.tree(root).await
    }

    async fn keep(
        &self,
        run: &haft_core::RunId,
        head: Value,
        from: usize,
        entries: Vec<Value>,
    ) -> Result<(), StoreError> {
        self.disk.children.keep(run, head, from, entries).await?;
        self.death.kept().await;
        Ok(())
    }

    async fn state(&self, run: &haft_core::RunId) -> Result<Option<(Value, Vec<Value>)>, StoreError> {
        self.disk.children.state(run).await
    }

    async fn forget(&self, root: &haft_core::RunId) -> Result<(), StoreError> {
        self.disk.children.forget(root).await
    }
}

/// Keeps the calls that wait in a store that outlives the process.
struct DyingPending {
    disk: Disk,
    death: Arc<Death>,
}

#[async_trait]
impl PendingStore for DyingPending {
    async fn put(&self, pending: &PendingCall) -> Result<(), StoreError> {
        self.disk.pending.put(pending).await?;
        self.death.kept().await;
        Ok(())
    }

    async fn claim(&self, pending: &PendingCall) -> Result<Claim, StoreError> {
        let claim = self.disk.pending.claim(pending).await?;
        self.death.kept().await;
        Ok(claim)
    }

    async fn waiting(&self) -> Result<Vec<PendingCall>, StoreError> {
        self.disk.pending.waiting().await
    }

    async fn answer(&self, id: &PendingId, approval: &Approval) -> Result<bool, StoreError> {
        self.disk.pending.answer(id, approval).await
    }

    async fn answer_to(&self, id: &PendingId) -> Result<Option<Approval>, StoreError> {
        self.disk.pending.answer_to(id).await
    }
}

/// Is one case, with what outlives its processes.
struct Case {
    setup: Setup,
    said: Said,
    top: Arc<Mutex<Option<String>>>,
}

impl Case {
    fn new(depth: u32, way: Way, said: Said) -> Self {
        let limits = SpawnLimits { depth, ..SpawnLimits::default() };
        let setup = Setup { limits, approver: later(), ..Setup::new(&session(depth, way)) };
        Self { setup, said, top: Arc::default() }
    }

    fn process(&self, death: &Arc<Death>) -> (Process, Agent) {
        let store = Dying { disk: self.setup.disk.clone(), death: Arc::clone(death) };
        let pending = DyingPending { disk: self.setup.disk.clone(), death: Arc::clone(death) };
        let (process, agent) = self.setup.process_over(Arc::new(store), Arc::new(pending));
        let keeper = Top { kept: Arc::clone(&self.top), death: Arc::clone(death) };
        (process, agent.kept_by(Arc::new(keeper)))
    }

    /// Answers what waits: all of it, or one of it.
    async fn answer(&self) {
        let pending = &self.setup.disk.pending;
        let leaves = pending.waiting().await.unwrap();
        let mut leaves: Vec<PendingCall> =
            leaves.into_iter().filter(|pending| !pending.waits_below()).collect();
        leaves.sort_by_key(|leaf| leaf.call.input.to_string());
        if self.said == Said::Partial {
            // What was asked when a process ended can be answered, and changes nothing.
            let mut open = Vec::new();
            for leaf in leaves {
                if pending.answer_to(&leaf.id).await.unwrap().is_none() {
                    open.push(leaf);
                }
            }
            leaves = open;
            leaves.truncate(1);
        }
        for leaf in leaves {
            let approval = match self.said {
                Said::Approve | Said::Partial => Approval::Approve,
                Said::Deny => Approval::Deny { reason: "not that".to_owned() },
                Said::TimedOut => Approval::TimedOut { after_ms: 1_000 },
                Said::Edit => {
                    let name = leaf.call.input["name"].as_str().unwrap();
                    Approval::Edit { input: json!({ "name": format!("{name}-edited") }) }
                }
            };
            assert!(pending.answer(&leaf.id, &approval).await.unwrap());
        }
    }

    /// Plays until the run at the top ends, or the process does.
    async fn live(&self, death: &Arc<Death>, reloads: bool) -> Option<RunState> {
        let (mut process, mut agent) = self.process(death);
        let kept = self.top.lock().unwrap().clone();
        let kept: Option<RunState> = kept.map(|kept| serde_json::from_str(&kept).unwrap());
        let work = async {
            process.supervisor.go_on_all(&scope()).await.unwrap();
            let mut state = match kept {
                None => agent.run(scope(), "go").await,
                Some(state) => agent.go_on(scope(), state).await,
            };
            let mut rounds = 0;
            loop {
                let Some(outer) = state.pending().next().cloned() else { return state };
                rounds += 1;
                assert!(rounds < 40, "it waits for ever:\n{}", transcript(&state));
                self.answer().await;
                if reloads {
                    (process, agent) = self.process(death);
                    process.supervisor.go_on_all(&scope()).await.unwrap();
                    let text = serde_json::to_string(&state).unwrap();
                    state = serde_json::from_str(&text).unwrap();
                }
                let before = state.clone();
                let resumed = agent.resume(scope(), state, &outer.call.id, Approval::Approve).await;
                state = match resumed {
                    Ok(state) => state,
                    Err(haft_agent::ResumeError::Refused(_)) => {
                        let lost = RunEvent::CallAnswered { outcome: CallOutcome::lost(&outer.call) };
                        agent.step(scope(), before, lost).await.unwrap()
                    }
                    Err(other) => panic!("{other}"),
                };
            }
        };
        tokio::select! {
            biased;
            () = death.dead.notified() => None,
            state = work => Some(state),
        }
    }
}

/// Plays one case; gives whether the process ended on the way.
async fn check(depth: u32, way: Way, said: Said, life: Life) -> bool {
    let case = Case::new(depth, way, said);
    let name = format!("depth {depth}, {way:?}, {said:?}, {life:?}");
    let (mut end, mut was_killed) = match life {
        Life::Killed(place) => (Death::at(place), false),
        _ => (Death::at(usize::MAX), false),
    };
    let state = loop {
        if let Some(state) = case.live(&end, life == Life::Reloaded).await {
            break state;
        }
        (end, was_killed) = (Death::at(usize::MAX), true);
    };
    let told = transcript(&state);
    assert_eq!(state.end(), Some(&RunEnd::Completed), "{name}:\n{told}");
    let made = case.setup.disk.made.lock().unwrap().clone();
    assert!(made.values().all(|times| *times == 1), "{name}: {made:?}\n{told}");
    let leaves = 2 * if way == Way::Parallel { 2_usize.pow(depth) } else { 1 };
    match said {
        Said::Deny | Said::TimedOut => assert!(made.is_empty(), "{name}: {made:?}"),
        Said::Edit => assert!(made.keys().all(|thing| thing.ends_with("-edited")), "{name}: {made:?}"),
        _ => {}
    }
    // The turn of each run at work when a process ended can be lost, and what people were asked about it just then; all else is
    // done, and nobody is asked in vain.
    let at_work = if way == Way::Parallel { SpawnLimits::default().width } else { 1 };
    let lost = if was_killed { 2 * at_work } else { 0 };
    if !matches!(said, Said::Deny | Said::TimedOut) {
        assert!(made.len() + lost >= leaves, "{name}: {made:?}\n{told}");
    }
    let waiting = case.setup.disk.pending.waiting().await.unwrap();
    let asked = waiting.iter().filter(|call| !call.waits_below()).count();
    assert!(asked <= lost, "{name}: {waiting:?}");
    was_killed
}

const WAYS: [Way; 3] = [Way::Foreground, Way::Parallel, Way::Background];
const ALL_SAID: [Said; 5] = [Said::Approve, Said::Deny, Said::Edit, Said::Partial, Said::TimedOut];

async fn check_all(depth: u32, life: Life) {
    for way in WAYS {
        for said in ALL_SAID {
            check(depth, way, said, life).await;
        }
    }
}

/// Ends the process at each place where something is kept, or at one of so many.
async fn check_killed(depth: u32, way: Way, one_of: usize) {
    for (turn, said) in ALL_SAID.into_iter().enumerate() {
        // Until there is no such place any more; each answer begins at another one.
        for place in (1 + 7 * turn % one_of..).step_by(one_of) {
            if !check(depth, way, said, Life::Killed(place)).await {
                break;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn in_one_process_at_depth_1() {
    check_all(1, Life::Same).await;
}

#[tokio::test(start_paused = true)]
async fn in_one_process_at_depth_2() {
    check_all(2, Life::Same).await;
}

#[tokio::test(start_paused = true)]
async fn in_one_process_at_depth_3() {
    check_all(3, Life::Same).await;
}

#[tokio::test(start_paused = true)]
async fn reloaded_at_depth_1() {
    check_all(1, Life::Reloaded).await;
}

#[tokio::test(start_paused = true)]
async fn reloaded_at_depth_2() {
    check_all(2, Life::Reloaded).await;
}

#[tokio::test(start_paused = true)]
async fn reloaded_at_depth_3() {
    check_all(3, Life::Reloaded).await;
}

#[tokio::test(start_paused = true)]
async fn killed_at_depth_1_in_the_foreground() {
    check_killed(1, Way::Foreground, 1).await;
}

#[tokio::test(start_paused = true)]
async fn killed_at_depth_1_in_parallel() {
    check_killed(1, Way::Parallel, 5).await;
}

#[tokio::test(start_paused = true)]
async fn killed_at_depth_1_in_the_background() {
    check_killed(1, Way::Background, 2).await;
}

#[tokio::test(start_paused = true)]
async fn killed_at_depth_2_in_the_foreground() {
    check_killed(2, Way::Foreground, 5).await;
}

#[tokio::test(start_paused = true)]
async fn killed_at_depth_2_in_parallel() {
    check_killed(2, Way::Parallel, 37).await;
}

#[tokio::test(start_paused = true)]
async fn killed_at_depth_2_in_the_background() {
    check_killed(2, Way::Background, 5).await;
}

#[tokio::test(start_paused = true)]
async fn killed_at_depth_3_in_the_foreground() {
    check_killed(3, Way::Foreground, 11).await;
}

#[tokio::test(start_paused = true)]
async fn killed_at_depth_3_in_parallel() {
    check_killed(3, Way::Parallel, 199).await;
}

#[tokio::test(start_paused = true)]
async fn killed_at_depth_3_in_the_background() {
    check_killed(3, Way::Background, 11).await;
}

#[ignore = "takes minutes"]
#[tokio::test(start_paused = true)]
async fn killed_at_every_place() {
    for depth in 1..=3 {
        for way in WAYS {
            check_killed(depth, way, 1).await;
        }
    }
}
