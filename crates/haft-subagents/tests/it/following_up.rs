//! What a run is told while nobody drives it, when its process ends at any place where something is kept: it is told once.

use crate::fixture::{Hesitant, KeptUntil, Process, Setup, later, policy, scope, slow};
use haft_agent::{Agent, LogEntry};
use haft_core::Message;
use haft_subagents::{ChildRecord, ChildStore as _};
use haft_tools_core::{Approval, PendingStore as _, Rule};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// For longer than a process lives here.
const FOR_EVER: Duration = Duration::from_hours(24);

/// A process that ends before it keeps something of its children for the time of this number, from 0 on.
fn process(setup: &Setup, kept: &Arc<Mutex<Option<String>>>, ends_at: usize) -> (Process, Agent) {
    let times = AtomicUsize::new(0);
    let store = Hesitant::new(&setup.disk, move |_| {
        if times.fetch_add(1, Ordering::AcqRel) < ends_at { Duration::ZERO } else { FOR_EVER }
    });
    let (process, agent) = setup.process_over(Arc::new(store), Arc::clone(&setup.disk.pending) as _);
    (process, agent.kept_by(Arc::new(KeptUntil { kept: Arc::clone(kept), last: None })))
}

/// The first run below, and how often it was told this.
async fn told(setup: &Setup, text: &str) -> (ChildRecord, usize) {
    let record = setup.disk.children.tree(scope().run()).await.unwrap().remove(0);
    let state = setup.disk.children.state(&record.run).await.unwrap();
    let log = state.map(|(_, log)| log).unwrap_or_default().into_iter();
    let times = log
        .filter_map(|entry| match serde_json::from_value(entry).unwrap() {
            LogEntry::Message(message) => Some(message),
            _ => None,
        })
        .filter_map(|message| match &*message {
            Message::User { content } => Some(content[0].as_text().unwrap().matches(text).count()),
            _ => None,
        })
        .sum();
    (record, times)
}

#[tokio::test(start_paused = true)]
async fn a_further_task_is_given_once() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Find the cup."},{"agent":"helper","task":"Wait."}]}}]}
{"run":"d/0","text":"It is on the table."}
{"run":"d/0","calls":[{"id":"m","name":"make","input":{"name":"pot"}}]}
{"run":"d/0","text":"The pot is made."}
{"run":"d/0","calls":[{"id":"m2","name":"make","input":{"name":"pot"}}]}
{"run":"d/0","text":"The pot is made again."}
{"run":"d/1","text":"I waited."}
{"calls":[{"id":"m","name":"send_agent","input":{"agent":"@1","message":"Make a pot."}}]}
{"calls":[{"id":"w","name":"wait_agents","input":{}}]}
{"text":"Done."}
"#;
    let (mut place, mut given) = (0, 0);
    loop {
        let setup =
            Setup { policy: policy().allow(Rule::tools("make".parse().unwrap())), ..Setup::new(session) };
        let kept = Arc::default();
        let (before, agent) = process(&setup, &kept, place);
        let run = tokio::time::timeout(Duration::from_mins(1), agent.run(scope(), "go")).await;
        drop((before, agent));
        let (after, agent) = process(&setup, &kept, usize::MAX);
        let state = serde_json::from_str(kept.lock().unwrap().as_ref().unwrap()).unwrap();
        after.supervisor.go_on_all(&scope()).await.unwrap();
        agent.go_on(scope(), state).await;
        after.supervisor.idle(scope().run()).await.unwrap();
        let (record, times) = told(&setup, "Make a pot.").await;
        let made = setup.disk.made.lock().unwrap().get("pot").copied().unwrap_or_default();
        assert!(times <= 1 && made <= 1, "killed at {place}: told {times} times, made {made} times");
        assert_eq!(record.inbox, [""; 0], "killed at {place}");
        given += times;
        if run.is_ok() {
            break;
        }
        place += 1;
    }
    assert!(place > 10 && given > 5, "{place} places, given at {given}");
}

#[tokio::test(start_paused = true)]
async fn what_is_said_twice_is_told_twice() {
    let session = r#"
{"calls":[{"id":"d","name":"delegate","input":{"tasks":[{"agent":"helper","task":"Make one."}],"background":true}}]}
{"run":"d/0","calls":[{"id":"m","name":"make","input":{"name":"one"}}]}
{"run":"d/0","calls":[{"id":"l","name":"look","input":{"name":"one"}}]}
{"run":"d/0","text":"Made one."}
{"calls":[{"id":"s","name":"slow","input":{}}]}
{"calls":[{"id":"m","name":"send_agent","input":{"agent":"@1","message":"A blue one."}},{"id":"n","name":"send_agent","input":{"agent":"@1","message":"A blue one."}}]}
{"text":"Done."}
"#;
    let mut place = 0;
    loop {
        let policy = policy().allow(Rule::tools("slow".parse().unwrap()));
        let setup = Setup { approver: later(), policy, tools: slow(), ..Setup::new(session) };
        let kept = Arc::default();
        let (asking, agent) = process(&setup, &kept, usize::MAX);
        agent.run(scope(), "go").await;
        let asked = setup.disk.pending.waiting().await.unwrap().remove(0);
        assert!(setup.disk.pending.answer(&asked.id, &Approval::Approve).await.unwrap());
        drop((asking, agent));
        assert_eq!(told(&setup, "A blue one.").await.0.inbox.len(), 2);
        // One process is killed, and so is the next one, a little later.
        for ends_at in [place, place + 1, usize::MAX] {
            let (process, _) = process(&setup, &kept, ends_at);
            process.supervisor.go_on_all(&scope()).await.unwrap();
            let idle = async { process.supervisor.idle(scope().run()).await };
            let _ = tokio::time::timeout(Duration::from_mins(1), idle).await;
        }
        let (record, times) = told(&setup, "A blue one.").await;
        assert_eq!((record.status.name(), times), ("done", 2), "killed at {place}");
        if place == 12 {
            break;
        }
        place += 1;
    }
}
