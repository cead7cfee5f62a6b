use super::runs::{begun, ended, said, waiting};
use super::{Bench, until};
use crate::agents::{calls, delegates, says, script};
use crate::processes::{WorkerProcess, decided_elsewhere};
use crate::proxy::Proxy;
use haft_agent::RunEnd;
use serde_json::json;

/// Pays and says so.
fn paying(id: &str) -> String {
    script(&[calls(&[(id, "pay", json!({ "to": id }))]), says(&format!("Paid {id}."))])
}

/// Leaves out the names of runs, which are digests.
pub(super) fn nameless(text: &str) -> String {
    text.split('`').enumerate().filter(|(place, _)| place % 2 == 0).map(|(_, part)| part).collect()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_run_with_three_below_it_loses_its_worker_and_ends_on_the_other() {
    let mut bench = Bench::start().await;
    let mut second = WorkerProcess::start(bench.directory.path()).await;
    let proxy = Proxy::start(vec![bench.worker.port, second.port]).await;
    bench.engine.knows(proxy.port).await;
    bench.ledger.hold("helper", 1);
    let tasks = ["a", "b", "c"].map(paying);
    let run = begun(&bench, "lead", "run-1", &script(&[delegates("d", &tasks), says("All paid.")])).await;
    let last = || bench.ledger.asked().into_iter().filter(|(turn, _)| turn == "helper 1").collect::<Vec<_>>();
    until("the three have paid", || last().len() == 3).await;
    let killed = last()[0].1;
    if killed == second.id() {
        second.kill();
    } else {
        bench.worker.kill();
    }
    bench.ledger.release("helper", 1);
    let state = ended(&run).await;
    let said = said(&state);
    assert_eq!(
        (nameless(&said[2]).as_str(), said[3].as_str(), state.end()),
        (
            "d ok: [1 of 3]  done:\nPaid a.\n[2 of 3]  done:\nPaid b.\n[3 of 3]  done:\nPaid c.",
            "All paid.",
            Some(&RunEnd::Completed)
        )
    );
    // No call that was answered is made again.
    assert_eq!((bench.ledger.effects().len(), bench.ledger.begun().len()), (3, 3));
    let first: Vec<_> = bench.ledger.asked().into_iter().filter(|(turn, _)| turn == "helper 0").collect();
    assert_eq!(first.len(), 3);
    assert_eq!(state.counted().len(), 3);
    assert_eq!(state.spent().turns, 2 + 3 * 2);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn what_a_run_below_asks_is_asked_at_the_top_and_answered_from_anywhere() {
    let bench = Bench::start().await;
    let task = script(&[calls(&[("s", "sign", json!({ "to": "s" }))]), says("Signed.")]);
    let run = begun(&bench, "lead", "run-1", &script(&[delegates("d", &[task]), says("Done.")])).await;
    let pending = waiting(&run).await;
    assert_eq!((pending.len(), pending[0].call.name.as_str()), (1, "sign"));
    assert_eq!(pending[0].scope().depth(), 1);
    decided_elsewhere(&bench.engine.ingress(), &pending[0], bench.directory.path()).await;
    let state = ended(&run).await;
    assert_eq!((said(&state)[2].as_str(), state.last_text().as_str()), ("d ok: Signed.", "Done."));
    assert_eq!(bench.ledger.effects().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_run_below_begins_none_where_that_is_too_deep() {
    let bench = Bench::start().await;
    let deeper = script(&[delegates("e", &[paying("a")]), says("I did it myself.")]);
    let run = begun(&bench, "lead", "run-1", &script(&[delegates("d", &[deeper]), says("Done.")])).await;
    assert_eq!(said(&ended(&run).await)[2], "d ok: I did it myself.");
    // The one that was too deep was never begun.
    let asked: Vec<String> = bench.ledger.asked().into_iter().map(|(turn, _)| turn).collect();
    assert_eq!(asked, ["lead 0", "helper 0", "helper 1", "lead 1"]);
    assert_eq!(bench.ledger.effects(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn runs_below_spend_what_the_one_above_has_left() {
    let bench = Bench::start().await;
    // Of four turns one is taken, so each of the two below has one, and none is left for the one above.
    let tasks = ["a", "b"].map(paying);
    let run = begun(&bench, "poor", "run-1", &script(&[delegates("d", &tasks), says("That is all.")])).await;
    let state = ended(&run).await;
    assert_eq!(
        nameless(&said(&state)[2]),
        "d ok: [1 of 2]  stopped: its budget of model turns is spent\nWhat it said last:\nPaid a.\n[2 of 2]  stopped: its budget of \
         model turns is spent\nWhat it said last:\nPaid b."
    );
    assert!(state.spent().turns >= 4, "{:?}", state.spent());
    assert_eq!(state.last_text(), "That is all.");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_run_that_is_cancelled_ends_those_below() {
    let bench = Bench::start().await;
    let hang = script(&[calls(&[("h", "hang", json!({ "to": "x" }))]), says("Not said.")]);
    let run = begun(&bench, "lead", "run-1", &script(&[delegates("d", &[hang]), says("Not said.")])).await;
    until("the program runs", || !bench.ledger.started().is_empty()).await;
    run.cancel().await.unwrap();
    let state = ended(&run).await;
    assert_eq!(state.end(), Some(&RunEnd::Cancelled));
    assert_eq!(nameless(&said(&state)[2]), "d cancelled:  cancelled:");
    let program = bench.ledger.started()[0];
    until("the program has ended", || !std::path::Path::new(&format!("/proc/{program}")).exists()).await;
}
