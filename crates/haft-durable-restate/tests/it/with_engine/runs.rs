use super::{Bench, until};
use crate::agents::{calls, says, script};
use crate::processes::{WorkerProcess, decided_elsewhere};
use crate::proxy::Proxy;
use haft_agent::{RunEnd, RunState};
use haft_core::{BudgetKind, Message};
use haft_durable_restate::{DurableRun, Error, RunRequest, RunStanding};
use haft_tools_core::{CallScope, PendingCall};
use serde_json::json;
use std::path::Path;

/// Pays, signs and pays at once, and says that it is done.
fn errand() -> String {
    script(&[
        calls(&[("c1", "pay", json!({ "to": "first", "waits": true }))]),
        calls(&[("c2", "sign", json!({ "to": "second" })), ("c3", "pay", json!({ "to": "third" }))]),
        says("Done."),
    ])
}

pub(super) async fn begun(bench: &Bench, agent: &str, run: &str, task: &str) -> DurableRun {
    let scope = CallScope::new(run.parse().unwrap());
    let request = RunRequest::new(&scope, task).unwrap();
    bench.executor.runs(agent.parse().unwrap()).begin(&request).await.unwrap()
}

pub(super) async fn waiting(run: &DurableRun) -> Vec<PendingCall> {
    match run.standing().await.unwrap() {
        RunStanding::Waits(calls) => calls,
        other => panic!("it does not wait: {other:?}"),
    }
}

pub(super) async fn ended(run: &DurableRun) -> RunState {
    match run.standing().await.unwrap() {
        RunStanding::Ended(state) => *state,
        other => panic!("it has not ended: {other:?}"),
    }
}

/// Writes what was said, one line each, without what differs from one time to the other.
pub(super) fn said(state: &RunState) -> Vec<String> {
    let line = |message: &std::sync::Arc<Message>| match &**message {
        Message::Tool { replies } => {
            let replies = replies
                .iter()
                .map(|reply| format!("{} {}: {}", reply.call_id, reply.status, reply.output.to_text()));
            replies.collect::<Vec<_>>().join("; ")
        }
        Message::Assistant { .. } => {
            let calls: Vec<String> =
                message.tool_calls().map(|call| format!("{} {}", call.name, call.input)).collect();
            format!("{}{}", message.assistant_text(), calls.join("; "))
        }
        _ => "asked".to_owned(),
    };
    state.messages().iter().map(line).collect()
}

const ERRAND: [&str; 6] = [
    "asked",
    r#"pay {"to":"first","waits":true}"#,
    "c1 ok: paid",
    r#"sign {"to":"second"}; pay {"to":"third"}"#,
    "c2 ok: paid; c3 ok: paid",
    "Done.",
];

const EFFECTS: [&str; 3] = ["run-1/1/c1:0", "run-1/2/c2:1", "run-1/2/c3:0"];

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_run_ends_for_whoever_asks_and_waits_for_a_person_meanwhile() {
    let bench = Bench::start().await;
    bench.ledger.let_go();
    let run = begun(&bench, "lead", "run-1", &errand()).await;
    let pending = waiting(&run).await;
    assert_eq!(pending.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["tools/run-1/2/c2:0"]);
    assert_eq!(said(&run.state().await.unwrap().unwrap()), ERRAND[..4]);
    decided_elsewhere(&bench.engine.ingress(), &pending[0], bench.directory.path()).await;
    // Somebody else, who knows the name only.
    let other = bench.engine.executor("tools").runs("lead".parse().unwrap()).get("run-1".parse().unwrap());
    let state = ended(&other).await;
    assert_eq!(
        (said(&state), state.end(), state.last_text().as_str()),
        (ERRAND.map(str::to_owned).to_vec(), Some(&RunEnd::Completed), "Done.")
    );
    assert_eq!((bench.ledger.effects(), state.turns()), (EFFECTS.map(str::to_owned).to_vec(), 3));
    let asked: Vec<String> = bench.ledger.asked().into_iter().map(|(turn, _)| turn).collect();
    assert_eq!(asked, ["lead 0", "lead 1", "lead 2"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn another_run_of_the_same_name_is_told_apart() {
    let bench = Bench::start().await;
    let first = begun(&bench, "lead", "run-1", &script(&[says("First.")])).await;
    let same = begun(&bench, "lead", "run-1", &script(&[says("First.")])).await;
    let second = begun(&bench, "lead", "run-1", &script(&[says("Second.")])).await;
    assert_eq!(ended(&first).await, ended(&same).await);
    assert!(matches!(second.standing().await, Err(Error::OtherRun { .. })));
    assert_eq!(bench.ledger.asked().len(), 1);
}

/// Is two workers behind one address.
struct Two {
    workers: Vec<WorkerProcess>,
    _proxy: Proxy,
}

impl Two {
    async fn start(bench: &Bench) -> Self {
        let directory = bench.directory.path();
        let workers = vec![WorkerProcess::start(directory).await, WorkerProcess::start(directory).await];
        let proxy = Proxy::start(workers.iter().map(|worker| worker.port).collect()).await;
        bench.engine.knows(proxy.port).await;
        Self { workers, _proxy: proxy }
    }

    /// Kills a worker, and starts another one in its place.
    async fn kill(&mut self, process: u32, directory: &Path) {
        let place = self.workers.iter().position(|worker| worker.id() == process).unwrap();
        self.workers[place].kill();
        self.workers[place] = WorkerProcess::start_at(directory, self.workers[place].port).await;
    }

    async fn kill_all(&mut self, directory: &Path) {
        for place in 0..self.workers.len() {
            self.kill(self.workers[place].id(), directory).await;
        }
    }
}

/// Says where a run is when its worker is killed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum At {
    /// The model is asked for the turn of this number.
    Turn(usize),
    /// The first call is made.
    Call,
    /// It waits for a person.
    Waiting,
}

/// Has the worker killed at one step, and looks at what becomes of the run.
async fn killed(at: At) {
    let bench = Bench::start().await;
    let mut two = Two::start(&bench).await;
    let (ledger, directory) = (&bench.ledger, bench.directory.path());
    if let At::Turn(turn) = at {
        ledger.hold("lead", turn);
    }
    if at != At::Call {
        ledger.let_go();
    }
    let run = begun(&bench, "lead", "run-1", &errand()).await;
    let kill_in_turn = async |two: &mut Two, turn: usize| {
        let name = format!("lead {turn}");
        until("the model is asked", || ledger.asked().iter().any(|(asked, _)| *asked == name)).await;
        let process = ledger.asked().into_iter().find(|(asked, _)| *asked == name).unwrap().1;
        two.kill(process, directory).await;
        ledger.release("lead", turn);
    };
    match at {
        At::Turn(turn @ (0 | 1)) => kill_in_turn(&mut two, turn).await,
        At::Call => {
            until("the call has begun", || !ledger.begun().is_empty()).await;
            two.kill(ledger.begun()[0].1, directory).await;
            ledger.let_go();
        }
        At::Turn(_) | At::Waiting => {}
    }
    let pending = waiting(&run).await;
    if at == At::Waiting {
        two.kill_all(directory).await;
    }
    decided_elsewhere(&bench.engine.ingress(), &pending[0], directory).await;
    if let At::Turn(turn @ 2) = at {
        kill_in_turn(&mut two, turn).await;
    }
    let state = ended(&run).await;
    assert_eq!(
        (said(&state), state.end()),
        (ERRAND.map(str::to_owned).to_vec(), Some(&RunEnd::Completed)),
        "{at:?}"
    );
    assert_eq!(ledger.effects(), EFFECTS, "{at:?}");
    for turn in 0..3 {
        let name = format!("lead {turn}");
        let asked = ledger.asked().iter().filter(|(asked, _)| *asked == name).count();
        // Only the answer that was lost with its worker is asked for again.
        assert_eq!(asked, if at == At::Turn(turn) { 2 } else { 1 }, "{at:?}: {name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_run_whose_worker_is_killed_at_any_step_ends_on_another_as_if_it_were_not() {
    for at in [At::Turn(0), At::Call, At::Turn(1), At::Waiting, At::Turn(2)] {
        killed(at).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn the_engine_is_killed_while_a_run_waits_and_while_its_model_answers() {
    let mut bench = Bench::start().await;
    bench.ledger.let_go();
    bench.ledger.hold("lead", 2);
    let run = begun(&bench, "lead", "run-1", &errand()).await;
    let pending = waiting(&run).await;
    bench.engine.kill();
    bench.engine.start_again().await;
    decided_elsewhere(&bench.engine.ingress(), &pending[0], bench.directory.path()).await;
    until("the model is asked", || bench.ledger.asked().iter().any(|(turn, _)| turn == "lead 2")).await;
    bench.engine.kill();
    bench.ledger.release("lead", 2);
    bench.engine.start_again().await;
    assert_eq!(said(&ended(&run).await), ERRAND);
    assert_eq!(bench.ledger.effects(), EFFECTS);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_run_that_is_cancelled_ends_wherever_it_is() {
    let bench = Bench::start().await;
    let hang = script(&[calls(&[("c1", "hang", json!({ "to": "x" }))]), says("Not said.")]);
    let hanging = begun(&bench, "lead", "hangs", &hang).await;
    until("the program runs", || !bench.ledger.started().is_empty()).await;
    let program = bench.ledger.started()[0];
    hanging.cancel().await.unwrap();
    let state = ended(&hanging).await;
    assert_eq!(state.end(), Some(&RunEnd::Cancelled));
    assert!(said(&state)[2].starts_with("c1 cancelled: "), "{:?}", said(&state));
    until("the program has ended", || !Path::new(&format!("/proc/{program}")).exists()).await;

    let sign = script(&[calls(&[("c1", "sign", json!({ "to": "x" }))]), says("Not said.")]);
    let waits = begun(&bench, "lead", "waits", &sign).await;
    let pending = waiting(&waits).await;
    waits.cancel().await.unwrap();
    let state = ended(&waits).await;
    assert_eq!(
        (state.end(), said(&state)[2].as_str()),
        (
            Some(&RunEnd::Cancelled),
            "c1 cancelled: the call was cancelled while it waited for an approval; it was not run, so nothing was done"
        )
    );
    let late = super::approved(&bench.executor, pending[0].clone()).await;
    assert!(late.is_err(), "{late:?}");

    bench.ledger.hold("lead", 0);
    let thinks = begun(&bench, "lead", "thinks", &script(&[says("Not said.")])).await;
    until("the model is asked", || bench.ledger.asked().len() == 3).await;
    thinks.cancel().await.unwrap();
    let state = ended(&thinks).await;
    assert_eq!((said(&state), state.end()), (vec!["asked".to_owned()], Some(&RunEnd::Cancelled)));
    assert_eq!(bench.ledger.effects(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_run_ends_when_its_budget_is_spent() {
    let bench = Bench::start().await;
    let pay = |id: &str| calls(&[(id, "pay", json!({ "to": id }))]);
    let task = script(&[pay("c1"), pay("c2"), says("That is how far I got.")]);
    let request = RunRequest::new(&CallScope::new("run-1".parse().unwrap()), task).unwrap();
    let request = request.budget(haft_agent::Budget::default().turns(2));
    let run = bench.executor.runs("lead".parse().unwrap()).begin(&request).await.unwrap();
    let state = ended(&run).await;
    assert_eq!(
        (state.end(), state.last_text().as_str()),
        (Some(&RunEnd::BudgetSpent { which: BudgetKind::Turns }), "That is how far I got.")
    );
    assert_eq!(bench.ledger.effects(), ["run-1/1/c1:0", "run-1/2/c2:0"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn calls_are_told_to_stop_when_the_time_of_their_run_is_over() {
    let bench = Bench::start().await;
    let hang = script(&[calls(&[("c1", "hang", json!({ "to": "x" }))]), says("It took too long.")]);
    let run = begun(&bench, "hurried-agent", "run-1", &hang).await;
    let state = ended(&run).await;
    assert_eq!(
        (state.end(), state.last_text().as_str()),
        (Some(&RunEnd::BudgetSpent { which: BudgetKind::WallTime }), "It took too long.")
    );
    assert!(said(&state)[2].starts_with("c1 cancelled: "), "{:?}", said(&state));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_run_goes_on_elsewhere_when_its_worker_is_told_to_stop() {
    let bench = Bench::start().await;
    let two = Two::start(&bench).await;
    let (ledger, directory) = (&bench.ledger, bench.directory.path());
    ledger.let_go();
    ledger.hold("lead", 1);
    let run = begun(&bench, "lead", "run-1", &errand()).await;
    until("the model is asked", || ledger.asked().len() == 2).await;
    let process = ledger.asked()[1].1;
    let Two { workers, _proxy } = two;
    let (draining, mut others): (Vec<_>, Vec<_>) =
        workers.into_iter().partition(|worker| worker.id() == process);
    let drained = tokio::spawn(draining.into_iter().next().unwrap().drain());
    ledger.release("lead", 1);
    drained.await.unwrap();
    let pending = waiting(&run).await;
    decided_elsewhere(&bench.engine.ingress(), &pending[0], directory).await;
    assert_eq!(said(&ended(&run).await), ERRAND);
    // The turn that was taken meanwhile is not taken again.
    let asked: Vec<String> = ledger.asked().into_iter().map(|(turn, _)| turn).collect();
    assert_eq!(asked, ["lead 0", "lead 1", "lead 2"]);
    assert_eq!(
        (ledger.asked()[2].1, ledger.effects()),
        (others.remove(0).id(), EFFECTS.map(str::to_owned).to_vec())
    );
}
