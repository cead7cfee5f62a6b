use crate::fixture::{Place, run};
use haft_core::{ReplyStatus, ToolCall, ToolReply};
use haft_store::{RecordFilter, SqliteStore};
use haft_tools_core::{CallScope, Journal};
use serde_json::json;
use std::sync::Arc;

/// Records the end of a call.
pub(crate) fn record(journal: &Journal, run: &str, call: &str) {
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
