use crate::fixture::{Dropped, Log, Probe, call, call_of, permissive, replies, scope};
use expect_test::expect;
use haft_core::EventKind;
use haft_tools_core::{Batch, LocalExecutor, Strategy, ToolExecutor as _};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// Drops a batch of two calls that wait, and returns what was dropped, how many were told to stop, and the events.
async fn drop_batch(strategy: Strategy) -> (Vec<&'static str>, usize, Log) {
    let (dropped, tokens) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let (running, log) = (Arc::new(Notify::new()), Log::default());
    let waits = |name: &'static str| {
        let (dropped, tokens, running) = (Arc::clone(&dropped), Arc::clone(&tokens), Arc::clone(&running));
        Probe::new(name).run(move |_, cx| {
            let guard = Dropped(Arc::clone(&dropped), name);
            tokens.lock().unwrap().push(cx.clone());
            let running = Arc::clone(&running);
            async move {
                let _guard = guard;
                tokio::task::yield_now().await;
                running.notify_one();
                std::future::pending().await
            }
        })
    };
    let executor = permissive([waits("a"), waits("b")]).strategy(strategy).events(log.events()).build();
    let batch = Batch::new(scope(), vec![call("c1", "a", json!({})), call("c2", "b", json!({}))]);
    tokio::select! {
        _ = executor.execute_batch(batch) => panic!("nothing ends these calls"),
        () = running.notified() => {}
    }
    // What a call says after its batch was dropped goes nowhere.
    for cx in tokens.lock().unwrap().iter() {
        cx.progress("still here");
        cx.update(|| panic!("nobody is told of this"));
    }
    // An aborted task is dropped by the runtime when it comes to it.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    let cancelled = tokens.lock().unwrap().iter().filter(|cx| cx.cancellation().is_cancelled()).count();
    let mut names = dropped.lock().unwrap().clone();
    names.sort_unstable();
    (names, cancelled, log)
}

#[tokio::test]
async fn dropping_a_batch_drops_its_calls_and_finishes_each_that_was_started() {
    let (dropped, cancelled, log) = drop_batch(Strategy::Sequential).await;
    assert_eq!((dropped, cancelled), (vec!["a"], 1));
    expect![[r#"
        c1 started a {}
        c1 decided allow: allow by the rule *
        c1 finished cancelled: the call was abandoned: nothing waits for it any more
    "#]]
    .assert_eq(&log.outline());
    let (dropped, cancelled, log) = drop_batch(Strategy::Parallel).await;
    assert_eq!((dropped, cancelled), (vec!["a", "b"], 2));
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for event in log.all() {
        let (started, finished) = counts.entry(call_of(&event)).or_default();
        match event.kind {
            EventKind::Started { .. } => *started += 1,
            EventKind::Finished { .. } => *finished += 1,
            _ => {}
        }
    }
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [(1, 1), (1, 1)]);
}

#[tokio::test]
async fn one_that_breaks_costs_its_siblings_nothing() {
    let probes = [
        Probe::new("ok").says("fine"),
        Probe::new("panics").run(|_, _| async { panic!("here") }),
        Probe::new("breaks").declare(|_| panic!("there")),
        Probe::new("strict").schema(json!({ "required": ["a"] })),
    ];
    let calls = || {
        let names = ["ok", "panics", "ok", "breaks", "missing", "strict", "ok"];
        (1..).zip(names).map(|(n, name)| call(&format!("c{n}"), name, json!({}))).collect()
    };
    for strategy in [Strategy::Sequential, Strategy::Parallel] {
        let executor: LocalExecutor = permissive(probes.clone()).strategy(strategy).build();
        let statuses: Vec<String> =
            replies(&executor, calls()).await.iter().map(|reply| reply.status.to_string()).collect();
        assert_eq!(
            statuses,
            [
                "ok",
                "error: panicked",
                "ok",
                "error: panicked",
                "error: unknown tool",
                "error: invalid input",
                "ok"
            ]
        );
    }
}
