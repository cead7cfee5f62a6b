use crate::fixture::{call, ended, permissive, scope, work};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_tools_core::{Batch, Before, Layer, LayerAnswer, LayerCall, LayerTime, Limits};
use serde_json::json;
use std::panic::panic_any;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Has a time of its own, and takes another.
struct Timed {
    time: LayerTime,
    before: u64,
    after: u64,
}

#[async_trait]
impl Layer for Timed {
    fn time(&self) -> LayerTime {
        self.time
    }

    async fn before(&self, _: &LayerCall<'_>) -> Before {
        sleep(Duration::from_secs(self.before)).await;
        Before::proceed()
    }

    async fn after(&self, _: &LayerCall<'_>, answer: LayerAnswer) -> LayerAnswer {
        sleep(Duration::from_secs(self.after)).await;
        answer
    }
}

/// Compares how a call ends whose layer takes so many seconds, and after how many it does; cancels it after 5,000.
async fn check(time: LayerTime, before: u64, after: u64, took: u64, expect: Expect) {
    let limits = Limits { timeout: Duration::from_secs(100), ..Limits::default() };
    let executor = permissive([work()]).limits(limits).layer(Timed { time, before, after }).build();
    let token = CancellationToken::new();
    let batch = Batch::new(scope(), vec![call("c1", "work", json!({}))]).cancelled_by(token.clone());
    let started = Instant::now();
    let ended = async {
        let ended = ended(&executor, batch).await;
        (ended, started.elapsed().as_secs())
    };
    let cancel = async {
        sleep(Duration::from_secs(5_000)).await;
        token.cancel();
    };
    let ((ended, elapsed), ()) = tokio::join!(ended, cancel);
    expect.assert_eq(&ended);
    assert_eq!(elapsed, took);
}

#[tokio::test(start_paused = true)]
async fn a_layer_has_the_time_it_says_it_needs() {
    check(
        LayerTime::Own,
        1_000,
        1_000,
        2_000,
        expect![[r#"
        c1 ok: done
    "#]],
    )
    .await;
    check(
        LayerTime::Own,
        9_000,
        0,
        5_000,
        expect![[r#"
        c1 cancelled: the call was cancelled before it was started; nothing was done
    "#]],
    )
    .await;
    check(LayerTime::Own, 0, 9_000, 5_002, expect![[r#"
        c1 error: failed: the host broke while it looked at how this call ended, which is withheld; see what the call has done, if anything, before you repeat it
    "#]]).await;
    check(
        LayerTime::AtMost(Duration::from_mins(5)),
        299,
        299,
        598,
        expect![[r#"
        c1 ok: done
    "#]],
    )
    .await;
    check(
        LayerTime::AtMost(Duration::from_secs(3)),
        4,
        0,
        3,
        expect![[r#"
        c1 timed out: the host took more than 3 s to look at this call, which was not run; try it again later
    "#]],
    )
    .await;
    check(LayerTime::AtMost(Duration::from_secs(3)), 0, 4, 3, expect![[r#"
        c1 error: failed: the host broke while it looked at how this call ended, which is withheld; see what the call has done, if anything, before you repeat it
    "#]]).await;
}

/// Breaks with something that breaks again when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the payload breaks");
    }
}

struct Breaks(&'static str);

#[async_trait]
impl Layer for Breaks {
    fn name(&self) -> &str {
        panic_any(Bomb)
    }

    fn time(&self) -> LayerTime {
        panic_any(Bomb)
    }

    async fn before(&self, _: &LayerCall<'_>) -> Before {
        if self.0 == "before" { panic_any(Bomb) } else { Before::proceed() }
    }

    async fn after(&self, _: &LayerCall<'_>, answer: LayerAnswer) -> LayerAnswer {
        if self.0 == "after" { panic_any(Bomb) } else { answer }
    }
}

#[tokio::test]
async fn what_a_panic_carries_may_break_too() {
    let check = async |at: &'static str, expect: Expect| {
        let executor = permissive([work()]).layer(Breaks(at)).build();
        expect.assert_eq(&ended(&executor, Batch::new(scope(), vec![call("c1", "work", json!({}))])).await);
    };
    check("before", expect![[r#"
        c1 error: panicked: the host broke while it looked at this call, which was not run; this is a fault of the host, so say so
    "#]]).await;
    check("after", expect![[r#"
        c1 error: panicked: the host broke while it looked at how this call ended, which is withheld; see what the call has done, if anything, before you repeat it
    "#]]).await;
    check(
        "never",
        expect![[r#"
        c1 ok: done
    "#]],
    )
    .await;
}
