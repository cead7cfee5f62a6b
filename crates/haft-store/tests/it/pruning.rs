//! What is removed after a time, and what never is.

use crate::fixture::{Whole, each, pending_with, run};
use crate::journal::{journal, record};
use haft_core::Decision;
use haft_store::{Pruned, RunLease, RunStatus, StoredRun};
use haft_tools_core::{Approval, Claim, Grant, GrantPlace, PendingCall};
use serde_json::json;
use std::time::{Duration, SystemTime};

#[tokio::test]
async fn what_is_old_goes_and_what_keeps_a_call_from_running_again_stays() {
    each(async |kept| {
        let store = &*kept.store;
        record(&journal(kept), "run-1", "c1");
        let mut ended = StoredRun::new(run("ended"));
        ended.status = RunStatus::Ended;
        store.save(&mut ended).await.unwrap();
        let _running = at_work(store, "running").await;
        let expired = pending_with("expired", &json!({}), &json!({ "expires_at_ms": 1 }));
        let claimed = pending_with("claimed", &json!({}), &json!({ "expires_at_ms": 1 }));
        let (claimed_too, waits) =
            (pending_with("kept", &json!({}), &json!({})), pending_with("waits", &json!({}), &json!({})));
        for pending in [&expired, &claimed, &claimed_too, &waits] {
            store.put(pending).await.unwrap();
        }
        for pending in [&claimed, &claimed_too] {
            store.claim(pending).await.unwrap();
        }
        let grant = |place| Grant::new(Decision::Allow, "read(a)", None, place);
        let (always, running) = (grant(GrantPlace::Always), grant(GrantPlace::Run(run("running"))));
        let old = [grant(GrantPlace::Always).expires_at_ms(1), grant(GrantPlace::Run(run("ended")))];
        for grant in [&always, &running, &old[0], &old[1]] {
            store.add(grant).await.unwrap();
        }
        let counted = async |older_than: Duration| {
            let Pruned { records, pending, runs, grants, .. } = store.prune(older_than).await.unwrap();
            (records, pending, runs, grants)
        };
        assert_eq!(counted(Duration::from_hours(1)).await, (0, 2, 0, 1));
        tick().await;
        assert_eq!(counted(Duration::ZERO).await, (1, 0, 1, 1));
        assert_eq!(store.claim(&claimed_too).await.unwrap(), Claim::TakenBefore);
        assert_eq!(store.waiting().await.unwrap(), [waits]);
        assert_eq!(store.list_runs().await.unwrap()[0].run, run("running"));
        let held: Vec<Grant> =
            store.list_grants().await.unwrap().iter().map(|grant| (**grant).clone()).collect();
        assert_eq!(held, [always, running]);
    })
    .await;
}

fn now_ms() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()
}

/// Keeps a run that goes on, and takes it.
async fn at_work(store: &dyn Whole, name: &str) -> RunLease {
    store.save(&mut StoredRun::new(run(name))).await.unwrap();
    store.take(&run(name)).await.unwrap()
}

/// Keeps a call of a run that waits.
async fn waiting(store: &dyn Whole, id: &str, run: &str, above: &str) -> PendingCall {
    let call = pending_with(id, &json!({}), &json!({ "run": run, "above": [{ "run": above }] }));
    store.put(&call).await.unwrap();
    call
}

/// Waits until what was written is older than nothing.
async fn tick() {
    let written = now_ms();
    while now_ms() == written {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_run_that_a_process_left_behind_goes_unless_something_waits_in_it() {
    each(async |kept| {
        let store = &*kept.store;
        let _lease = at_work(store, "at work").await;
        drop(at_work(store, "left").await);
        drop(at_work(store, "waits").await);
        drop(at_work(store, "waits below").await);
        waiting(store, "1", "waits", "other").await;
        waiting(store, "2", "child", "waits below").await;
        let claimed = waiting(store, "3", "left", "other").await;
        store.claim(&claimed).await.unwrap();
        tick().await;
        let Pruned { pending, runs, .. } = store.prune(Duration::ZERO).await.unwrap();
        assert_eq!((pending, runs), (1, 1));
        let mut left: Vec<String> =
            store.list_runs().await.unwrap().iter().map(|run| run.run.to_string()).collect();
        left.sort();
        assert_eq!(left, ["at work", "waits", "waits below"]);
    })
    .await;
}

#[tokio::test]
async fn what_is_left_of_a_claimed_call_goes_with_its_run() {
    each(async |kept| {
        let store = &*kept.store;
        let mut ended = StoredRun::new(run("ended"));
        ended.status = RunStatus::Ended;
        store.save(&mut ended).await.unwrap();
        let call = waiting(store, "1", "ended", "other").await;
        store.answer(&call.id, &Approval::Approve).await.unwrap();
        store.claim(&call).await.unwrap();
        assert_eq!(store.prune(Duration::from_hours(1)).await.unwrap(), Pruned::default());
        tick().await;
        let Pruned { pending, runs, .. } = store.prune(Duration::ZERO).await.unwrap();
        assert_eq!((pending, runs), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn it_is_done_once_in_a_while_whoever_asks() {
    each(async |kept| {
        let (one, other) = (&*kept.store, kept.again().await);
        let hour = Duration::from_hours(1);
        let old = pending_with("1", &json!({}), &json!({ "expires_at_ms": 1 }));
        one.put(&old).await.unwrap();
        assert_eq!(one.prune_if_due(hour, hour).await.unwrap().unwrap().pending, 1);
        one.put(&old).await.unwrap();
        assert_eq!(one.prune_if_due(hour, hour).await.unwrap(), None);
        assert_eq!(other.prune_if_due(hour, hour).await.unwrap(), None);
        tick().await;
        assert_eq!(other.prune_if_due(hour, Duration::ZERO).await.unwrap().unwrap().pending, 1);
    })
    .await;
}
