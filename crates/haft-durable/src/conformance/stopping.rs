//! Calls that are told to stop.

use super::Case;
use super::bench::{Bench, call, new_scope, note, ok, replied};
use futures_util::FutureExt as _;
use haft_core::{ReplyStatus, ToolCall};
use haft_tools_core::Steer;
use serde_json::json;
use tokio_util::sync::CancellationToken;

pub(super) const CASES: &[Case] = &[
    ("a batch that was cancelled before starts nothing", |bench| before(bench).boxed()),
    ("a running call learns that it is cancelled, and is answered", |bench| running(bench).boxed()),
    ("what steering skips is not run", |bench| skipped(bench).boxed()),
];

async fn before(bench: &Bench) {
    let (scope, stop) = (new_scope(), CancellationToken::new());
    stop.cancel();
    let batch = bench.batch(&scope, vec![note("a", "open", "1"), note("b", "other", "2")]).cancelled_by(stop);
    let outcome = bench.execute(batch).await;
    let cancelled = "the call was cancelled before it was started; nothing was done".to_owned();
    let cancelled = (ReplyStatus::Cancelled, cancelled);
    let replies: Vec<_> = outcome.outcomes().iter().map(replied).collect();
    assert_eq!(replies, [cancelled.clone(), cancelled]);
    assert_eq!(bench.effects(&scope), [""; 0]);
}

async fn running(bench: &Bench) {
    let (scope, stop) = (new_scope(), CancellationToken::new());
    let batch = bench.batch(&scope, vec![call("a", "wait", json!({}))]).cancelled_by(stop.clone());
    let (outcome, ()) = tokio::join!(bench.execute(batch), async {
        bench.begun().await;
        stop.cancel();
    });
    let replies: Vec<ReplyStatus> = outcome.outcomes().iter().map(|outcome| replied(outcome).0).collect();
    assert_eq!(replies, [ReplyStatus::Cancelled]);
}

async fn skipped(bench: &Bench) {
    let scope = new_scope();
    let calls = vec![note("a", "open", "1"), note("b", "open", "2"), note("c", "open", "3")];
    let steering = |next: &ToolCall| {
        if next.id.as_str() == "a" { Steer::Continue } else { Steer::skip("the user wrote something new") }
    };
    let outcome = bench.execute(bench.batch(&scope, calls).steered_by(steering)).await;
    let skipped = (ReplyStatus::Skipped, "not run: the user wrote something new".to_owned());
    let replies: Vec<_> = outcome.outcomes().iter().map(replied).collect();
    assert_eq!(replies, [ok("noted 1"), skipped.clone(), skipped]);
    assert_eq!(bench.effects(&scope), ["1"]);
}
