use crate::fixture::{Kept, Whole, each, run};
use haft_core::{ReplyStatus, ToolCall, ToolReply};
use haft_store::RecordFilter;
use haft_tools_core::{CallScope, Journal, JournalRecord, JournalSink};
use serde_json::json;
use std::sync::Arc;

/// Records the end of a call.
pub(crate) fn record(journal: &Journal, run: &str, call: &str) {
    let scope = CallScope::new(run.parse().unwrap());
    let call = ToolCall::new(call.parse().unwrap(), "note", json!({}));
    let reply = ToolReply::new(call.id.clone(), "note", ReplyStatus::Denied, "no".into());
    journal.call(&scope, &call).ended(&reply).unwrap();
}

pub(crate) fn journal(kept: &Kept) -> Journal {
    /// Is a sink of the size that a journal takes.
    struct Shared(Arc<dyn Whole>);

    impl JournalSink for Shared {
        fn write(&self, record: &JournalRecord) -> std::io::Result<()> {
            self.0.write(record)
        }
    }

    Journal::new(Arc::new(Shared(Arc::clone(&kept.store))))
}

async fn check(store: &dyn Whole, filter: RecordFilter, expected: &[&str]) {
    let records = store.records(&filter).await.unwrap();
    let found: Vec<String> = records.iter().map(|record| format!("{} {}", record.run, record.call)).collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn records_are_found_by_run_call_and_time() {
    each(async |kept| {
        let journal = journal(kept);
        for (run, call) in [("run-1", "c1"), ("run-2", "c1"), ("run-1", "c2")] {
            record(&journal, run, call);
        }
        let store = &*kept.store;
        let all = RecordFilter::new;
        check(store, all(), &["run-1 c1", "run-2 c1", "run-1 c2"]).await;
        check(store, all().run(run("run-1")), &["run-1 c1", "run-1 c2"]).await;
        check(store, all().call("c1".parse().unwrap()), &["run-1 c1", "run-2 c1"]).await;
        check(store, all().run(run("run-2")).call("c1".parse().unwrap()), &["run-2 c1"]).await;
        check(store, all().most(1), &["run-1 c2"]).await;
        check(store, all().since_ms(u64::MAX), &[]).await;
        assert_eq!(store.records(&all()).await.unwrap()[2].sequence, 2);
    })
    .await;
}

/// Records the end of a call of a run that another one started.
fn record_below(journal: &Journal, parent: &str, run: &str, call: &str) {
    let scope = CallScope::new(parent.parse().unwrap()).child(run.parse().unwrap());
    let call = ToolCall::new(call.parse().unwrap(), "note", json!({}));
    let reply = ToolReply::new(call.id.clone(), "note", ReplyStatus::Denied, "no".into());
    journal.call(&scope, &call).ended(&reply).unwrap();
}

#[tokio::test]
async fn records_are_found_by_tree() {
    each(async |kept| {
        let journal = journal(kept);
        record(&journal, "run-1", "c1");
        record_below(&journal, "run-1", "run-2", "c1");
        record(&journal, "other", "c1");
        record_below(&journal, "run-2", "run-3", "c1");
        record_below(&journal, "other", "run-4", "c1");
        record(&journal, "run-1", "c2");
        let store = &*kept.store;
        let tree = async |root: &str| {
            let entries = store.record_entries_of_tree(&run(root)).await.unwrap();
            let records = entries.into_iter().map(|entry| entry.value.unwrap());
            records.map(|record| format!("{} {}", record.run, record.call)).collect::<Vec<_>>()
        };
        assert_eq!(tree("run-1").await, ["run-1 c1", "run-2 c1", "run-3 c1", "run-1 c2"]);
        assert_eq!(tree("run-2").await, ["run-2 c1", "run-3 c1"]);
        assert!(tree("gone").await.is_empty());

        let runs = store.recorded_runs(4).await.unwrap();
        let listed: Vec<_> = runs.iter().map(|run| (run.run.as_str(), run.parent.as_deref())).collect();
        assert_eq!(
            listed,
            [("run-1", None), ("run-4", Some("other")), ("run-3", Some("run-2")), ("other", None)]
        );
        assert!(runs.iter().all(|run| run.at_ms > 0));
    })
    .await;
}

#[tokio::test]
async fn a_record_that_cannot_be_read_hides_no_other() {
    each(async |kept| {
        let journal = journal(kept);
        record(&journal, "run-1", "c1");
        record(&journal, "run-1", "c2");
        kept.change("UPDATE journal SET body = '{' WHERE call = 'c1'").await;
        let store = &*kept.store;
        let entries = store.record_entries_of_tree(&run("run-1")).await.unwrap();
        assert_eq!(entries.iter().map(|entry| entry.value.is_ok()).collect::<Vec<_>>(), [false, true]);
        assert_eq!(store.recorded_runs(9).await.unwrap().len(), 1);
    })
    .await;
}
