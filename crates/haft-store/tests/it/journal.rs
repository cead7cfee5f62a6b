use crate::fixture::{Place, pending_with, run};
use haft_core::{Decision, ReplyStatus, ToolCall, ToolReply};
use haft_store::{Pruned, RecordFilter, RunStatus, RunStore, SqliteStore, StoredRun};
use haft_tools_core::{CallScope, Claim, Grant, GrantPlace, GrantStore, Journal, PendingStore as _};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Records the end of a call.
fn record(journal: &Journal, run: &str, call: &str) {
    let scope = CallScope::new(run.parse().unwrap());
    let call = ToolCall::new(call.parse().unwrap(), "note", json!({}));
    let reply = ToolReply::new(call.id.clone(), "note", ReplyStatus::Denied, "no".into());
    journal.call(&scope, &call).ended(&reply).unwrap();
}

async fn check(store: &SqliteStore, filter: RecordFilter, expected: &[&str]) {
    let records = store.records(&filter).await.unwrap();
    let found: Vec<String> = records.iter().map(|record| format!("{} {}", record.run, record.call)).collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn records_are_found_by_run_call_and_time() {
    let place = Place::new();
    let journal = Journal::new(Arc::new(place.store()));
    for (run, call) in [("run-1", "c1"), ("run-2", "c1"), ("run-1", "c2")] {
        record(&journal, run, call);
    }
    let store = place.store();
    let all = RecordFilter::new;
    check(&store, all(), &["run-1 c1", "run-2 c1", "run-1 c2"]).await;
    check(&store, all().run(run("run-1")), &["run-1 c1", "run-1 c2"]).await;
    check(&store, all().call("c1".parse().unwrap()), &["run-1 c1", "run-2 c1"]).await;
    check(&store, all().run(run("run-2")).call("c1".parse().unwrap()), &["run-2 c1"]).await;
    check(&store, all().most(1), &["run-1 c2"]).await;
    check(&store, all().since_ms(u64::MAX), &[]).await;
    assert_eq!(store.records(&all()).await.unwrap()[2].sequence, 2);
}

#[tokio::test]
async fn what_is_old_goes_and_what_keeps_a_call_from_running_again_stays() {
    let store = SqliteStore::in_memory().unwrap();
    record(&Journal::new(Arc::new(store.clone())), "run-1", "c1");
    let mut ended = StoredRun::new(run("ended"));
    ended.status = RunStatus::Ended;
    store.save(&mut ended).await.unwrap();
    store.save(&mut StoredRun::new(run("running"))).await.unwrap();
    let expired = pending_with("expired", &json!({}), &json!({ "expires_at_ms": 1 }));
    let claimed = pending_with("claimed", &json!({}), &json!({ "expires_at_ms": 1 }));
    let (kept, waits) =
        (pending_with("kept", &json!({}), &json!({})), pending_with("waits", &json!({}), &json!({})));
    for pending in [&expired, &claimed, &kept, &waits] {
        store.put(pending).await.unwrap();
    }
    for pending in [&claimed, &kept] {
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
    // What was written in this very millisecond is not older than nothing.
    let written = now_ms();
    while now_ms() == written {
        tokio::task::yield_now().await;
    }
    assert_eq!(counted(Duration::ZERO).await, (1, 0, 1, 1));
    assert_eq!(store.claim(&kept).await.unwrap(), Claim::TakenBefore);
    assert_eq!(store.waiting().await.unwrap(), [waits]);
    assert_eq!(RunStore::list(&store).await.unwrap()[0].run, run("running"));
    let held: Vec<Grant> =
        GrantStore::list(&store).await.unwrap().iter().map(|grant| (**grant).clone()).collect();
    assert_eq!(held, [always, running]);
}

fn now_ms() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()
}
