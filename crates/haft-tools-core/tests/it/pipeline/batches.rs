use crate::fixture::{Probe, call, outline, permissive, replies, scope};
use expect_test::expect;
use haft_core::{ReplyStatus, ToolCall};
use haft_tools_core::{Batch, BatchOutcome, Strategy, ToolExecutor as _, Widths};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};

fn naps() -> Probe {
    Probe::new("nap").run(|input: Value, _| async move {
        sleep(Duration::from_millis(input["ms"].as_u64().unwrap())).await;
        Ok(input["n"].to_string().into())
    })
}

fn nap(place: usize, milliseconds: u64) -> ToolCall {
    call(&format!("c{place}"), "nap", json!({ "n": place, "ms": milliseconds }))
}

/// Runs a future with time paused, in a runtime of its own.
fn paused<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn replies_come_in_the_order_of_the_calls(
        naps_of in prop::collection::vec(0u64..50, 0..12),
        parallel in any::<bool>(),
        width in 0usize..5,
    ) {
        let strategy = if parallel { Strategy::Parallel } else { Strategy::Sequential };
        let executor = permissive([naps()]).strategy(strategy).widths(&Widths { read: width, ..Widths::default() }).build();
        let calls = naps_of.iter().enumerate().map(|(place, ms)| nap(place, *ms)).collect();
        let replies = paused(replies(&executor, calls));
        let got: Vec<String> = replies.iter().map(|reply| format!("{} {}", reply.call_id, reply.output.to_text())).collect();
        let expected: Vec<String> = (0..naps_of.len()).map(|place| format!("c{place} {place}")).collect();
        prop_assert_eq!(got, expected);
    }
}

/// Says how long naps take together.
async fn time(strategy: Strategy, width: usize, naps_of: &[u64]) -> Duration {
    let executor =
        permissive([naps()]).strategy(strategy).widths(&Widths { read: width, ..Widths::default() }).build();
    let started = Instant::now();
    replies(&executor, naps_of.iter().enumerate().map(|(place, ms)| nap(place, *ms)).collect()).await;
    started.elapsed()
}

#[tokio::test(start_paused = true)]
async fn sequential_calls_wait_for_each_other_and_parallel_ones_do_not() {
    assert_eq!(time(Strategy::Sequential, 8, &[10, 20, 30]).await, Duration::from_millis(60));
    assert_eq!(time(Strategy::Parallel, 8, &[10, 20, 30]).await, Duration::from_millis(30));
    assert_eq!(time(Strategy::Parallel, 1, &[10, 20, 30]).await, Duration::from_millis(60));
    assert_eq!(time(Strategy::Parallel, 0, &[10, 20, 30]).await, Duration::from_millis(60));
    assert_eq!(time(Strategy::Parallel, 2, &[100, 10, 10, 10]).await, Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_run_at_once_than_the_width_allows() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counts = (Arc::clone(&now), Arc::clone(&most));
    let probe = Probe::new("nap").run(move |input: Value, _| {
        let (now, most) = (Arc::clone(&counts.0), Arc::clone(&counts.1));
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(Duration::from_millis(input["ms"].as_u64().unwrap())).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok("".into())
        }
    });
    let widths = Widths { read: 3, ..Widths::default() };
    let executor = permissive([probe]).strategy(Strategy::Parallel).widths(&widths).build();
    replies(&executor, (0..20).map(|place| nap(place, 1 + place as u64 % 7)).collect()).await;
    assert_eq!((now.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (0, 3));
}

#[tokio::test]
async fn a_sequential_call_sees_what_the_one_before_it_did() {
    let steps = Arc::new(AtomicUsize::new(0));
    let (prepared, ran) = (Arc::clone(&steps), Arc::clone(&steps));
    let probe = Probe::new("step")
        .declare(move |input| {
            assert_eq!(
                prepared.load(Ordering::SeqCst),
                usize::try_from(input["n"].as_u64().unwrap()).unwrap()
            );
            Ok(haft_tools_core::Accesses::none())
        })
        .run(move |_, _| {
            let ran = Arc::clone(&ran);
            async move {
                tokio::task::yield_now().await;
                ran.fetch_add(1, Ordering::SeqCst);
                Ok("".into())
            }
        });
    let calls = (0..3).map(|n| call(&format!("c{n}"), "step", json!({ "n": n }))).collect();
    let replies = replies(&permissive([probe]).strategy(Strategy::Sequential).build(), calls).await;
    assert!(replies.iter().all(|reply| reply.status.is_ok()), "{replies:?}");
}

#[tokio::test]
async fn an_empty_batch_has_no_replies() {
    let executor = permissive([]).build();
    for strategy in [Strategy::Sequential, Strategy::Parallel] {
        let executor = permissive([]).strategy(strategy).build();
        assert_eq!(executor.execute_batch(Batch::new(scope(), vec![])).await, BatchOutcome::new(vec![]));
    }
    assert!(replies(&executor, vec![]).await.is_empty());
}

#[tokio::test]
async fn a_repeated_id_is_refused_and_its_first_call_runs() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let probe = Probe::new("t").run(move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        std::future::ready(Ok("ran".into()))
    });
    let executor = permissive([probe]).strategy(Strategy::Parallel).build();
    let calls = ["a", "b", "a", "a"].map(|id| call(id, "t", json!({})));
    let replies = replies(&executor, calls.into()).await;
    let ids: Vec<_> = replies.iter().map(|reply| (reply.call_id.as_str(), reply.status.is_ok())).collect();
    assert_eq!(
        (ids, runs.load(Ordering::SeqCst)),
        (vec![("a", true), ("b", true), ("a", false), ("a", false)], 2)
    );
    expect![[r#"
        error: invalid input
        an earlier call of this message has the id `a` too; give each call an id of its own"#]]
    .assert_eq(&outline(&replies[2]));
}

#[tokio::test]
async fn a_call_that_makes_no_sense_keeps_its_siblings_replies() {
    let probe =
        Probe::new("t").schema(json!({ "properties": { "n": { "type": "integer" } }, "required": ["n"] }));
    for strategy in [Strategy::Sequential, Strategy::Parallel] {
        let executor = permissive([probe.clone()]).strategy(strategy).build();
        let calls = vec![
            call("c1", "t", json!({ "n": 1 })),
            call("c2", "t", json!("{\"n\": ")),
            call("c3", "t", json!({ "n": 3 })),
        ];
        let replies = replies(&executor, calls).await;
        let ended: Vec<_> = replies.iter().map(|reply| (reply.status, reply.output.to_text())).collect();
        assert_eq!(
            (ended[0].clone(), ended[2].clone()),
            ((ReplyStatus::Ok, r#"{"n":1}"#.into()), (ReplyStatus::Ok, r#"{"n":3}"#.into()))
        );
        assert!(!ended[1].0.is_ok());
    }
}
