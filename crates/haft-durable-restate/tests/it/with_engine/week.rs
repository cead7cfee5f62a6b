//! A week until somebody answers, or nobody does.
//!
//! Real are the server, its worker and who answers, each a process of its own, what they keep in files, the timer that the
//! server keeps of a call, its time as `Limits::default()` has it, and that worker and server die and are started again.
//! Simulated is that time goes by: whatever is started later is started with its wall clock so much further ahead, the
//! server's too. So nothing is said about a process that lives through the week, only about what is kept through it.

use super::{Bench, call, made, said};
use crate::clock;
use crate::engine::PATIENCE;
use crate::processes::{WorkerProcess, decided_ahead};
use haft_tools_core::{CallOutcome, PendingCall};
use std::time::{Duration, Instant, SystemTime};

const DAY: Duration = Duration::from_hours(24);

/// For how long a call waits.
const WEEK: Duration = Duration::from_hours(7 * 24);

/// For how long a call waits that is still to be answered; what is left is more than a test takes.
const NEARLY_A_WEEK: Duration = Duration::from_mins((7 * 24 * 60) - 10);

/// How much a clock may differ from what it should be, for as long as it takes to start everything.
const DIFFERENCE: Duration = Duration::from_mins(5);

impl Bench {
    /// Ends worker and server as if their machines had lost their power, and starts both so long after now.
    async fn begins_again(&mut self, ahead: Duration) {
        self.worker.kill();
        self.engine.kill();
        self.engine.start_again_ahead(ahead).await;
        self.worker = WorkerProcess::start_ahead(self.directory.path(), self.worker.port, ahead).await;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap() + ahead;
        let apart = self.engine.time().await.abs_diff(now.as_secs());
        assert!(apart < DIFFERENCE.as_secs(), "the server's clock is {apart} s from where it should be");
    }

    async fn approved_after(&self, pending: &PendingCall, ahead: Duration) -> Result<CallOutcome, String> {
        decided_ahead(&self.engine.ingress(), pending, self.directory.path(), ahead).await
    }
}

/// Says on machines whose clocks cannot be moved that nothing is shown there.
#[expect(clippy::print_stderr, reason = "whoever runs the test is told that it shows nothing")]
fn is_skipped() -> bool {
    let is_skipped = !clock::is_movable();
    if is_skipped {
        eprintln!("skipped: the wall clock of a process can be moved on Linux on x86-64 only");
    }
    is_skipped
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_call_that_is_approved_at_the_end_of_a_week_takes_effect_once() {
    if is_skipped() {
        return;
    }
    let mut bench = Bench::start().await;
    let pending = bench.asked("c").await;
    for ahead in [DAY, 4 * DAY, NEARLY_A_WEEK] {
        bench.begins_again(ahead).await;
        let waits = made(&bench.executor, call("c", "sign")).await;
        assert_eq!(waits, CallOutcome::Pending(Box::new(pending.clone())), "after {ahead:?}");
    }
    assert_eq!(bench.ledger.begun(), []);

    let outcome = bench.approved_after(&pending, NEARLY_A_WEEK).await.unwrap();
    assert_eq!(said(&outcome), "ok: paid");
    // What came of it is there for days more, and so is that it was answered.
    bench.begins_again(WEEK + 4 * DAY).await;
    assert_eq!(made(&bench.executor, call("c", "sign")).await, outcome);
    let begun: Vec<_> = bench.ledger.begun().into_iter().map(|(key, _)| key).collect();
    assert_eq!((begun, bench.ledger.effects()), (vec!["r/1/c:1".to_owned()], vec!["r/1/c:1".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn a_call_that_nobody_answers_for_a_week_has_expired() {
    if is_skipped() {
        return;
    }
    let mut bench = Bench::start().await;
    let pending = bench.asked("c").await;
    bench.begins_again(NEARLY_A_WEEK).await;
    let waits = made(&bench.executor, call("c", "sign")).await;
    assert_eq!(waits, CallOutcome::Pending(Box::new(pending.clone())));

    let late = WEEK + Duration::from_secs(1);
    bench.begins_again(late).await;
    let start = Instant::now();
    let ended = loop {
        match made(&bench.executor, call("c", "sign")).await {
            CallOutcome::Pending(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            ended => break ended,
        }
        assert!(start.elapsed() < PATIENCE, "it waits on");
    };
    assert_eq!(
        said(&ended),
        "denied: nobody answered within 604800 s whether this call may run, so it was not run; go on without it, or ask \
         again later"
    );
    let refused = bench.approved_after(&pending, late).await.unwrap_err();
    assert!(refused.contains("expired"), "{refused}");
    assert_eq!(bench.ledger.begun(), []);
}
