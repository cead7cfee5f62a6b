use super::{Watch, guarded, write_file};
use crate::fixture::{
    Lines, Log, Probe, call, ended, outline, outlines, permissive, registry, reply, resume, scope, work,
    works,
};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::{ReplyStatus, ToolCall, ToolOutput};
use haft_tools_core::{
    AllowAll, Approval, Batch, Before, CallContext, Layer, LayerAnswer, LayerCall, Limits, LocalExecutor,
    PendingCall, Steer, ToolExecutor as _, approver_fn,
};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Is a tool that ends as the input says.
fn ends() -> Probe {
    Probe::new("ends").timeout(Duration::from_secs(1)).run(|input: Value, _| async move {
        if input["wait"].is_u64() {
            sleep(Duration::from_secs(input["wait"].as_u64().unwrap())).await;
        }
        assert_ne!(input["ends"], "panics", "the tool breaks");
        Ok("done".into())
    })
}

#[tokio::test(start_paused = true)]
async fn each_layer_that_let_a_call_go_on_sees_its_end() {
    let seen = Lines::default();
    let executor = permissive([ends()]).layer(Watch::new("layer", &seen)).build();
    reply(&executor, "ends", json!({ "wait": 5 })).await;
    reply(&executor, "ends", json!({ "ends": "panics" })).await;
    reply(&executor, "ends", json!({ "ends": "panics", "wait": 0 })).await;
    let token = CancellationToken::new();
    let batch =
        Batch::new(scope(), vec![call("c2", "ends", json!({ "wait": 5 }))]).cancelled_by(token.clone());
    let cancel = async {
        sleep(Duration::from_millis(10)).await;
        token.cancel();
    };
    tokio::join!(executor.execute_batch(batch), cancel);
    let skipping = |_: &ToolCall| Steer::skip("something new");
    executor
        .execute_batch(Batch::new(scope(), vec![call("c3", "ends", json!({}))]).steered_by(skipping))
        .await;
    expect![[r#"
        layer before c1 {"wait":5} []
        layer after c1 {"wait":5} []: timed out `ends` was stopped after 1 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit
        layer before c1 {"ends":"panics"} []
        layer after c1 {"ends":"panics"} []: error: panicked `ends` broke while handling this call; this is a fault of the tool, so try another way
        layer before c1 {"ends":"panics","wait":0} []
        layer after c1 {"ends":"panics","wait":0} []: error: panicked `ends` broke while handling this call; this is a fault of the tool, so try another way
        layer before c2 {"wait":5} []
        layer after c2 {"wait":5} []: cancelled the call was cancelled before it was done; see what it has done so far before you repeat it
        layer before c3 {} []
        layer after c3 {} []: skipped not run: something new
    "#]].assert_eq(&seen.take());
}

/// Takes its time, or breaks, where a test wants it to.
struct Slow {
    before: Duration,
    after: Option<Duration>,
}

#[async_trait]
impl Layer for Slow {
    async fn before(&self, _: &LayerCall<'_>) -> Before {
        sleep(self.before).await;
        Before::proceed()
    }

    async fn after(&self, _: &LayerCall<'_>, answer: LayerAnswer) -> LayerAnswer {
        sleep(self.after.expect("the layer breaks")).await;
        answer
    }
}

#[tokio::test(start_paused = true)]
async fn a_layer_that_hangs_or_breaks_does_not_hold_the_call_up() {
    let check = async |before: u64, after: Option<u64>, cancelled: u64, took: u64, expect: Expect| {
        let (seen, started) = (Lines::default(), Instant::now());
        let slow = Slow { before: Duration::from_secs(before), after: after.map(Duration::from_secs) };
        let limits = Limits { timeout: Duration::from_secs(100), ..Limits::default() };
        let executor =
            permissive([ends()]).limits(limits).layer(Watch::new("outer", &seen)).layer(slow).build();
        let token = CancellationToken::new();
        let batch = Batch::new(scope(), vec![call("c1", "ends", json!({}))]).cancelled_by(token.clone());
        let ended = async {
            let ended = ended(&executor, batch).await;
            (ended, started.elapsed().as_secs())
        };
        let cancel = async {
            sleep(Duration::from_secs(cancelled)).await;
            token.cancel();
        };
        let ((ended, elapsed), ()) = tokio::join!(ended, cancel);
        expect.assert_eq(&format!("{ended}{}", seen.take()));
        assert_eq!(elapsed, took);
    };
    // Longer than a call may take.
    check(1_000, Some(0), 500, 100, expect![[r#"
        c1 timed out: the host took more than 100 s to look at this call, which was not run; try it again later
        outer before c1 {} []
        outer after c1 {} []: timed out the host took more than 100 s to look at this call, which was not run; try it again later
    "#]]).await;
    check(0, Some(1_000), 500, 100, expect![[r#"
        c1 error: failed: the host broke while it looked at how this call ended, which is withheld; see what the call has done, if anything, before you repeat it
        outer before c1 {} []
        outer after c1 {} []: error: failed the host broke while it looked at how this call ended, which is withheld; see what the call has done, if anything, before you repeat it
    "#]]).await;
    // Until the call is cancelled, and a grace longer.
    check(
        1_000,
        Some(0),
        50,
        50,
        expect![[r#"
        c1 cancelled: the call was cancelled before it was started; nothing was done
        outer before c1 {} []
        outer after c1 {} []: cancelled the call was cancelled before it was started; nothing was done
    "#]],
    )
    .await;
    check(0, Some(1_000), 50, 52, expect![[r#"
        c1 error: failed: the host broke while it looked at how this call ended, which is withheld; see what the call has done, if anything, before you repeat it
        outer before c1 {} []
        outer after c1 {} []: error: failed the host broke while it looked at how this call ended, which is withheld; see what the call has done, if anything, before you repeat it
    "#]]).await;
    check(0, None, 500, 0, expect![[r#"
        c1 error: panicked: the host broke while it looked at how this call ended, which is withheld; see what the call has done, if anything, before you repeat it
        outer before c1 {} []
        outer after c1 {} []: error: panicked the host broke while it looked at how this call ended, which is withheld; see what the call has done, if anything, before you repeat it
    "#]]).await;
    // Neither is too long.
    check(
        90,
        Some(90),
        500,
        180,
        expect![[r#"
        c1 ok: done
        outer before c1 {} []
        outer after c1 {} []: ok done
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_layer_that_breaks_after_a_call_that_did_not_run_does_not_say_that_it_ran() {
    let broken = Slow { before: Duration::ZERO, after: None };
    let executor = LocalExecutor::builder(registry([write_file()]))
        .policy(guarded())
        .layer(broken)
        .layer(Watch::new("inner", &Lines::default()).replaces(json!({ "path": "locked" })))
        .build();
    expect![[r#"
        error: panicked
        the host broke while it looked at how this call ended, which is withheld; see what the call has done, if anything, before you repeat it
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"locked"})]"#]].assert_eq(&outline(&reply(&executor, "write", json!({ "path": "a" })).await));
}

#[tokio::test(start_paused = true)]
async fn a_replaced_input_waits_for_what_it_conflicts_with() {
    let seen = Lines::default();
    let told = seen.clone();
    let traced = work().run(move |input: Value, _| {
        let told = told.clone();
        async move {
            told.add(format!("begins {}", input["write"]));
            sleep(Duration::from_millis(10)).await;
            told.add(format!("ends {}", input["write"]));
            Ok("done".into())
        }
    });
    let redirect =
        Watch::new("layer", &Lines::default()).says(|input: &Value| match input["write"].as_str() {
            Some("file:b") => Before::replace_input(json!({ "write": "file:a" })),
            _ => Before::proceed(),
        });
    let executor = permissive([traced]).layer(redirect).build();
    let files = ["file:a", "file:b", "file:c"].map(|file| json!({ "write": file }));
    ended(&executor, Batch::new(scope(), works(files))).await;
    expect![[r#"
        begins "file:a"
        begins "file:c"
        ends "file:a"
        ends "file:c"
        begins "file:a"
        ends "file:a"
    "#]]
    .assert_eq(&seen.take());
    // Two calls that each turn into the other do not wait for each other for good.
    let swap = Watch::new("layer", &Lines::default()).says(|input: &Value| {
        let other = if input["write"] == "file:a" { "file:b" } else { "file:a" };
        Before::replace_input(json!({ "write": other }))
    });
    let executor = permissive([work()]).layer(swap).build();
    let files = ["file:a", "file:b"].map(|file| json!({ "write": file }));
    expect![[r#"
        c1 ok: done
        [the arguments were changed: the whole: changed by the host before the call ran ({"write":"file:a"} → {"write":"file:b"})]
        c2 ok: done
        [the arguments were changed: the whole: changed by the host before the call ran ({"write":"file:b"} → {"write":"file:a"})]
    "#]].assert_eq(&ended(&executor, Batch::new(scope(), works(files))).await);
}

/// Is asked late, with a layer that has seen the call and told the model something.
fn later(seen: &Lines) -> LocalExecutor {
    let replaces = |input: &Value| {
        if input["path"] == "a" {
            Before::replace_input(json!({ "path": "asked" })).with_context("took another file")
        } else {
            Before::proceed()
        }
    };
    LocalExecutor::builder(registry([write_file()]))
        .policy(guarded())
        .approver(approver_fn(|_: &PendingCall| Approval::Later))
        .layer(Watch::new("outer", seen).says(replaces))
        .layer(Watch::new("inner", seen))
        .build()
}

#[tokio::test]
async fn a_call_that_goes_on_is_not_shown_again_to_the_layer_that_made_its_input() {
    let check = async |approval: Approval, expect: Expect| {
        let seen = Lines::default();
        let executor = later(&seen);
        let batch = Batch::new(scope(), vec![call("c1", "write", json!({ "path": "a" }))]);
        let waiting = executor.execute_batch(batch).await.into_replies().unwrap_err();
        let pending = waiting.iter().next().unwrap().clone();
        let pending: PendingCall = serde_json::from_str(&serde_json::to_string(&pending).unwrap()).unwrap();
        seen.add("goes on");
        let reply = resume(&executor, pending, approval).await;
        expect.assert_eq(&format!("{}\n\n{}", outline(&reply), seen.take()));
    };
    check(Approval::Approve, expect![[r#"
        ok
        {"path":"asked"}
        took another file
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"asked"})]

        outer before c1 {"path":"a"} ["write file:a"]
        goes on
        inner before c1 {"path":"asked"} ["write file:asked"]
        inner after c1 {"path":"asked"} ["write file:asked"]: ok {"path":"asked"}
        outer after c1 {"path":"asked"} ["write file:asked"]: ok {"path":"asked"}
    "#]]).await;
    check(Approval::Deny { reason: "no".to_owned() }, expect![[r#"
        denied
        this call was not approved: no; do not repeat it, find another way or say what you would need
        took another file
        [the arguments were changed: the whole: changed by the host before the call ran ({"path":"a"} → {"path":"asked"})]

        outer before c1 {"path":"a"} ["write file:a"]
        goes on
        outer after c1 {"path":"asked"} ["write file:asked"]: denied this call was not approved: no; do not repeat it, find another way or say what you would need
    "#]]).await;
    check(Approval::Edit { input: json!({ "path": "b" }) }, expect![[r#"
        ok
        {"path":"b"}
        took another file
        [the arguments were changed: the whole: edited by the user, who then approved the call ({"path":"asked"} → {"path":"b"})]

        outer before c1 {"path":"a"} ["write file:a"]
        goes on
        outer before c1 {"path":"b"} ["write file:b"]
        inner before c1 {"path":"b"} ["write file:b"]
        inner after c1 {"path":"b"} ["write file:b"]: ok {"path":"b"}
        outer after c1 {"path":"b"} ["write file:b"]: ok {"path":"b"}
    "#]]).await;
    check(Approval::Edit { input: json!({ "path": "locked" }) }, expect![[r#"
        denied
        `write` is not permitted to do this (write file:locked: deny by the rule write(file:locked)); do not try it again, find another way or say what you would need
        took another file
        [the arguments were changed: the whole: edited by the user, who then approved the call ({"path":"asked"} → {"path":"locked"})]

        outer before c1 {"path":"a"} ["write file:a"]
        goes on
        outer after c1 {"path":"locked"} ["write file:locked"]: denied `write` is not permitted to do this (write file:locked: deny by the rule write(file:locked)); do not try it again, find another way or say what you would need
    "#]]).await;
}

#[tokio::test]
async fn a_layer_cannot_be_used_to_carry_an_approval_over_to_another_input() {
    // The first layer replaces what a person approved: that is asked about anew.
    let asked = Lines::default();
    let sink = asked.clone();
    let approver = approver_fn(move |pending: &PendingCall| {
        sink.add(pending.call.input.to_string());
        Approval::Approve
    });
    let executor = LocalExecutor::builder(registry([write_file()]))
        .policy(haft_tools_core::Policy::new())
        .approver(approver)
        .layer(Watch::new("layer", &Lines::default()).replaces(json!({ "path": "b" })))
        .build();
    reply(&executor, "write", json!({ "path": "a" })).await;
    assert_eq!(asked.take(), "{\"path\":\"a\"}\n{\"path\":\"b\"}\n");
}

#[tokio::test]
async fn calls_made_by_tools_go_through_the_layers_too() {
    let relay = Probe::new("relay").run(|_, cx: CallContext| async move {
        Ok(outlines([&cx.call(call("inner", "write", json!({ "path": "a" }))).await]).into())
    });
    let seen = Lines::default();
    let executor = LocalExecutor::builder(registry([relay, write_file()]))
        .policy(guarded())
        .approver(AllowAll)
        .layer(Watch::new("layer", &seen))
        .build();
    reply(&executor, "relay", json!({})).await;
    expect![[r#"
        layer before c1 {} []
        layer before inner {"path":"a"} ["write file:a"]
        layer after inner {"path":"a"} ["write file:a"]: ok {"path":"a"}
        layer after c1 {} []: ok inner ok: {"path":"a"}

    "#]]
    .assert_eq(&seen.take());
}

/// Does something to updates.
struct Updates(Lines, &'static str);

impl Layer for Updates {
    fn before_update(&self, cx: &CallContext, update: ToolOutput) -> Option<ToolOutput> {
        let text = update.to_text();
        self.0.add(format!("{} before {} {text}", self.1, cx.call_id()));
        assert_ne!(text, "broken", "the layer breaks");
        (text != "secret").then(|| ToolOutput::text(format!("{} {text}", self.1)))
    }

    fn after_update(&self, _: &CallContext, update: &ToolOutput) {
        self.0.add(format!("{} after {}", self.1, update.to_text()));
        panic!("the layer breaks");
    }
}

#[tokio::test]
async fn updates_can_be_changed_and_suppressed() {
    let updates = Probe::new("updates").run(|_, cx: CallContext| async move {
        for text in ["plain", "secret", "broken", "last"] {
            cx.update(|| text.into());
        }
        Ok("done".into())
    });
    let (seen, log) = (Lines::default(), Log::default());
    let executor = permissive([updates])
        .events(log.events())
        .layer(Updates(seen.clone(), "outer"))
        .layer(Updates(seen.clone(), "inner"))
        .build();
    reply(&executor, "updates", json!({})).await;
    expect![[r#"
        outer before c1 plain
        inner before c1 outer plain
        outer after inner outer plain
        inner after inner outer plain
        outer before c1 secret
        outer before c1 broken
        outer before c1 last
        inner before c1 outer last
        outer after inner outer last
        inner after inner outer last

        c1 started updates {}
        c1 decided allow: allow by the rule *
        c1 updated inner outer plain
        c1 updated inner outer last
        c1 finished ok: done
    "#]]
    .assert_eq(&format!("{}\n{}", seen.take(), log.outline()));
}

/// Replaces every output.
struct Stamp;

#[async_trait]
impl Layer for Stamp {
    async fn after(&self, _: &LayerCall<'_>, mut answer: LayerAnswer) -> LayerAnswer {
        answer.status = ReplyStatus::Ok;
        answer.output = ToolOutput::text("x".repeat(100_000));
        answer
    }
}

#[tokio::test]
async fn an_output_that_a_layer_replaced_is_bounded_like_any() {
    let reply = reply(&permissive([ends()]).layer(Stamp).build(), "ends", json!({ "ends": "panics" })).await;
    assert_eq!(reply.status, ReplyStatus::Ok);
    assert!(reply.truncation.is_some() && reply.output.to_text().len() < 34_000);
}
