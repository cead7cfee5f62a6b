use crate::fixture::{Log, Probe, anything, call, registry, scope};
use haft_core::{ToolError, ToolOutput};
use haft_tools_core::{
    Access, Batch, Journal, LocalExecutor, LocalOutputs, MemoryJournal, Redactor, Resource, ToolExecutor as _,
};
use serde_json::json;
use std::sync::Arc;

const SECRET: &str = "hunter2-hunter2";

/// Runs a tool that has a secret wherever one can be, and gives all that anybody is told, as JSON.
async fn told(redactor: Redactor) -> [String; 3] {
    let careless = Probe::new("t")
        .declare(|_| Ok(Access::read(Resource::exact(crate::fixture::FILE, format!("dir/{SECRET}"))).into()))
        .run(|_, cx| async move {
            cx.update(|| ToolOutput::text(format!("logging in with {SECRET}, then hunter2-h")));
            cx.progress(format!("sent {SECRET}"));
            if cx.outputs().is_none() {
                return Err(ToolError::failed(format!("no store for {SECRET}")));
            }
            Ok(ToolOutput::text(format!("token: {SECRET}")).with_details(json!({ SECRET: SECRET })))
        });
    let (log, journal) = (Log::default(), Arc::new(MemoryJournal::new(10)));
    let executor = LocalExecutor::builder(registry([careless]))
        .policy(anything())
        .events(log.events())
        .journal(Journal::new(Arc::clone(&journal) as _))
        .outputs(Arc::new(LocalOutputs::in_memory()))
        .redactor(redactor)
        .build();
    let calls = vec![
        call("c1", "t", json!({ "password": SECRET })),
        call("c2", &format!("tool-{SECRET}"), json!({})),
    ];
    let replies = executor.execute_batch(Batch::new(scope(), calls)).await.into_replies().unwrap();
    [
        replies.iter().map(|reply| serde_json::to_string(&reply.output).unwrap()).collect(),
        serde_json::to_string(&log.all()).unwrap(),
        serde_json::to_string(&journal.records()).unwrap(),
    ]
}

#[tokio::test]
async fn a_registered_secret_is_told_to_nobody() {
    for told in told(Redactor::new()).await {
        assert!(told.contains(SECRET), "the test shows nothing: {told}");
    }
    let redactor = Redactor::new();
    redactor.add(SECRET).unwrap();
    for told in told(redactor).await {
        assert!(!told.contains("hunter2"), "{told}");
        assert!(told.contains("[redacted]"), "{told}");
    }
}

#[tokio::test]
async fn a_secret_over_the_edge_of_a_repair_that_is_cut_is_replaced_first() {
    let redactor = Redactor::new();
    redactor.add(SECRET).unwrap();
    let log = Log::default();
    let probe = Probe::new("t")
        .schema(json!({ "properties": { "a": { "type": "array" }, "b": { "type": "array" } } }));
    let executor = LocalExecutor::builder(registry([probe]))
        .policy(anything())
        .events(log.events())
        .redactor(redactor)
        .build();
    let over = |edge: usize| format!("{}{SECRET}", "x".repeat(edge - 8));
    let input = json!({ "a": over(80), "b": over(200) });
    let outcome = executor.execute_batch(Batch::new(scope(), vec![call("c1", "t", input)])).await;
    let reply = outcome.into_replies().unwrap().remove(0);
    assert_eq!(reply.repairs.len(), 2);
    for told in [serde_json::to_string(&reply).unwrap(), serde_json::to_string(&log.all()).unwrap()] {
        assert!(!told.contains("hunt") && told.contains("[redac"), "{told}");
    }
}
