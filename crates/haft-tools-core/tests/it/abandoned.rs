use crate::fixture::{Probe, call, permissive, scope, write};
use haft_core::ReplyStatus;
use haft_tools_core::{Batch, Limits, ToolExecutor as _};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tokio::sync::Notify;

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn what_a_call_touches_is_kept_from_others_until_it_is_really_over() {
    let (release, released) = mpsc::channel::<()>();
    let released = Arc::new(Mutex::new(released));
    let is_over = Arc::new(AtomicBool::new(false));
    let (over, is_stuck) = (Arc::clone(&is_over), Arc::new(Notify::new()));
    let begun = Arc::clone(&is_stuck);
    let stuck = Probe::new("stuck").declare(|_| Ok(write("file:a").into())).run(move |_, _| {
        let (released, over, begun) = (Arc::clone(&released), Arc::clone(&over), Arc::clone(&begun));
        async move {
            tokio::task::yield_now().await;
            begun.notify_one();
            // Never looks at its token, and never waits for anything that could be dropped.
            let _ = released.lock().unwrap().recv();
            over.store(true, Ordering::SeqCst);
            Ok("late".into())
        }
    });
    let over = Arc::clone(&is_over);
    let next = Probe::new("next").declare(|_| Ok(write("file:a").into())).run(move |_: Value, _| {
        let was_over = over.load(Ordering::SeqCst);
        async move { Ok(format!("{was_over}").as_str().into()) }
    });
    let limits =
        Limits { timeout: Duration::from_secs(5), grace: Duration::from_millis(1), ..Limits::default() };
    let executor = permissive([stuck, next]).limits(limits).build();
    let token = tokio_util::sync::CancellationToken::new();
    let stuck = Batch::new(scope(), vec![call("c1", "stuck", json!({}))]).cancelled_by(token.clone());
    let (first, ()) = tokio::join!(executor.execute_batch(stuck), async {
        // One that is cancelled before could still be dropped.
        is_stuck.notified().await;
        token.cancel();
    });
    assert_eq!(first.into_replies().unwrap()[0].status, ReplyStatus::Cancelled);
    let next = executor.execute_batch(Batch::new(scope(), vec![call("c2", "next", json!({}))]));
    let (second, ()) = tokio::join!(next, async {
        assert_eq!(executor.task_count(), 2, "the call and who waits for its end");
        release.send(()).unwrap();
    });
    assert_eq!(second.into_replies().unwrap()[0].output.to_text(), "true");
    executor.idle().await;
}
