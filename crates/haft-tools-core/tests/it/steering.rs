use crate::fixture::{
    Lines, Probe, anything, call, ended, outlines, permissive, registry, scope, work, works,
};
use expect_test::{Expect, expect};
use haft_core::ToolCall;
use haft_tools_core::{
    Approval, Approver, Batch, CallContext, LocalExecutor, LocalExecutorBuilder, PendingCall, Policy, Rule,
    Steer, Steering, Strategy, ToolExecutor as _, Widths,
};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Asks for something else from the given call on, and keeps which calls it was asked about.
fn from(id: &'static str, steer: Steer, asked: &Lines) -> impl Steering {
    let asked = asked.clone();
    move |next: &ToolCall| {
        asked.add(next.id.as_str());
        if next.id.as_str() == id { steer.clone() } else { Steer::Continue }
    }
}

fn skip() -> Steer {
    Steer::skip("the user wrote something new; read it first")
}

/// Executes calls of `work`, steered; prints the replies and which calls the steering was asked about.
async fn check(
    executor: LocalExecutorBuilder,
    inputs: impl IntoIterator<Item = Value>,
    (id, steer): (&'static str, Steer),
    expect: Expect,
) {
    let asked = Lines::default();
    let batch = Batch::new(scope(), works(inputs)).steered_by(from(id, steer, &asked));
    let executor = executor.build();
    let ended = ended(&executor, batch).await;
    expect.assert_eq(&format!("{ended}asked about: {}", asked.take().replace('\n', " ")));
    assert_eq!(executor.task_count(), 0);
}

fn working() -> LocalExecutorBuilder {
    permissive([work()])
}

fn one_file(count: usize) -> Vec<Value> {
    vec![json!({ "write": "file:a" }); count]
}

#[tokio::test(start_paused = true)]
async fn what_has_not_begun_is_skipped_in_every_strategy() {
    let batched = Strategy::Batched { size: NonZeroUsize::new(2).unwrap() };
    check(
        working(),
        one_file(4),
        ("c1", skip()),
        expect![[r#"
        c1 skipped: not run: the user wrote something new; read it first
        c2 skipped: not run: the user wrote something new; read it first
        c3 skipped: not run: the user wrote something new; read it first
        c4 skipped: not run: the user wrote something new; read it first
        asked about: c1 "#]],
    )
    .await;
    check(
        working(),
        one_file(4),
        ("c3", skip()),
        expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 skipped: not run: the user wrote something new; read it first
        c4 skipped: not run: the user wrote something new; read it first
        asked about: c1 c2 c3 "#]],
    )
    .await;
    check(
        working().strategy(Strategy::Sequential),
        one_file(4),
        ("c3", skip()),
        expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 skipped: not run: the user wrote something new; read it first
        c4 skipped: not run: the user wrote something new; read it first
        asked about: c1 c2 c3 "#]],
    )
    .await;
    check(
        working().strategy(batched),
        one_file(5),
        ("c3", skip()),
        expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 skipped: not run: the user wrote something new; read it first
        c4 skipped: not run: the user wrote something new; read it first
        c5 skipped: not run: the user wrote something new; read it first
        asked about: c1 c2 c3 "#]],
    )
    .await;
    check(
        working().strategy(batched),
        one_file(5),
        ("c4", skip()),
        expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 ok: done
        c4 skipped: not run: the user wrote something new; read it first
        c5 skipped: not run: the user wrote something new; read it first
        asked about: c1 c2 c3 c4 "#]],
    )
    .await;
    check(
        working().strategy(Strategy::Parallel),
        one_file(3),
        ("c2", skip()),
        expect![[r#"
        c1 ok: done
        c2 skipped: not run: the user wrote something new; read it first
        c3 skipped: not run: the user wrote something new; read it first
        asked about: c1 c2 "#]],
    )
    .await;
    check(
        working(),
        one_file(1),
        ("c1", skip()),
        expect![[r#"
        c1 skipped: not run: the user wrote something new; read it first
        asked about: c1 "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn those_that_run_are_finished() {
    let inputs = [
        json!({ "write": "file:a", "ms": 50 }),
        json!({ "write": "file:b", "ms": 10 }),
        json!({ "write": "file:b" }),
        json!({ "write": "file:a" }),
    ];
    let started = Instant::now();
    check(
        working(),
        inputs,
        ("c3", skip()),
        expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 skipped: not run: the user wrote something new; read it first
        c4 skipped: not run: the user wrote something new; read it first
        asked about: c1 c2 c3 "#]],
    )
    .await;
    assert_eq!(started.elapsed().as_millis(), 50);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_room_is_skipped() {
    let widths = Widths { write: 1, ..Widths::default() };
    let inputs = [json!({ "write": "file:a" }), json!({ "write": "file:b" }), json!({ "write": "file:c" })];
    check(
        working().widths(&widths),
        inputs,
        ("c2", skip()),
        expect![[r#"
        c1 ok: done
        c2 skipped: not run: the user wrote something new; read it first
        c3 skipped: not run: the user wrote something new; read it first
        asked about: c1 c2 "#]],
    )
    .await;
}

/// Never answers.
struct Silent;

#[async_trait::async_trait]
impl Approver for Silent {
    async fn approve(&self, _: &PendingCall) -> Approval {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_person_is_skipped_or_cancelled() {
    let policy = || {
        anything()
            .ask(Rule::access(haft_tools_core::AccessMode::Read, crate::fixture::resource("file:secret")))
    };
    let inputs = || {
        let asked = json!({ "read": "file:secret" });
        [asked, json!({ "write": "file:a" }), json!({ "write": "file:a" })]
    };
    check(
        working().policy(policy()).approver(Silent),
        inputs(),
        ("c3", skip()),
        expect![[r#"
        c1 skipped: not run: the user wrote something new; read it first
        c2 ok: done
        c3 skipped: not run: the user wrote something new; read it first
        asked about: c2 c3 "#]],
    )
    .await;
    check(
        working().policy(policy()).approver(Silent),
        inputs(),
        ("c3", Steer::Cancel),
        expect![[r#"
        c1 cancelled: the call was cancelled before it was started; nothing was done
        c2 ok: done
        c3 cancelled: the call was cancelled before it was started; nothing was done
        asked about: c2 c3 "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_cancelled_with_what_runs() {
    let inputs = || {
        [
            json!({ "ms": 500 }),
            json!({ "write": "file:a" }),
            json!({ "write": "file:a" }),
            json!({ "write": "file:a" }),
        ]
    };
    check(
        working(),
        inputs(),
        ("c3", Steer::Cancel),
        expect![[r#"
        c1 cancelled: stopped half-way
        c2 ok: done
        c3 cancelled: the call was cancelled before it was started; nothing was done
        c4 cancelled: the call was cancelled before it was started; nothing was done
        asked about: c1 c2 c3 "#]],
    )
    .await;
    check(
        working().strategy(Strategy::Sequential),
        inputs(),
        ("c3", Steer::Cancel),
        expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 cancelled: the call was cancelled before it was started; nothing was done
        c4 cancelled: the call was cancelled before it was started; nothing was done
        asked about: c1 c2 c3 "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn steering_that_panics_cancels_the_batch() {
    let steering = |next: &ToolCall| {
        assert_ne!(next.id.as_str(), "c2", "it breaks");
        Steer::Continue
    };
    let batch = Batch::new(scope(), works(one_file(3))).steered_by(steering);
    expect![[r#"
        c1 ok: done
        c2 cancelled: the call was cancelled before it was started; nothing was done
        c3 cancelled: the call was cancelled before it was started; nothing was done
    "#]]
    .assert_eq(&ended(&working().build(), batch).await);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_refused_is_refused_also_when_the_rest_is_skipped() {
    let calls = vec![
        call("c1", "work", json!({})),
        call("c2", "wrok", json!({})),
        call("c3", "work", json!("{")),
        call("c1", "work", json!({})),
        call("c5", "secret", json!({})),
    ];
    let policy = anything().deny(Rule::tools("secret".parse().unwrap()));
    let asked = Lines::default();
    let batch = Batch::new(scope(), calls).steered_by(from("c1", skip(), &asked));
    let executor = LocalExecutor::builder(registry([work(), Probe::new("secret")])).policy(policy).build();
    expect![[r#"
        c1 skipped: not run: the user wrote something new; read it first
        c2 error: unknown tool: there is no tool `wrok`; did you mean `work`?
        c3 error: invalid input: the arguments of `work` are not valid JSON: EOF while parsing an object at line 1 column 1; send them again as one JSON object
        c1 error: invalid input: an earlier call of this message has the id `c1` too; give each call an id of its own
        c5 denied: `secret` is not permitted to do this (deny by the rule secret); do not try it again, find another way or say what you would need
    "#]].assert_eq(&ended(&executor, batch).await);
    assert_eq!(asked.take(), "c1\n");
}

#[tokio::test(start_paused = true)]
async fn a_steered_batch_cancels_itself_and_no_other() {
    let executor = working().build();
    let token = tokio_util::sync::CancellationToken::new();
    let asked = Lines::default();
    let steered = Batch::new(scope(), works(one_file(2))).cancelled_by(token.clone()).steered_by(from(
        "c1",
        Steer::Cancel,
        &asked,
    ));
    let other = Batch::new(scope(), works([json!({ "ms": 50 })])).cancelled_by(token.clone());
    let (steered, other) = tokio::join!(ended(&executor, steered), ended(&executor, other));
    expect![[r#"
        c1 cancelled: the call was cancelled before it was started; nothing was done
        c2 cancelled: the call was cancelled before it was started; nothing was done
        c1 ok: done
    "#]]
    .assert_eq(&format!("{steered}{other}"));
    assert!(!token.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_batch_is_not_steered() {
    let (asked, token) = (Lines::default(), tokio_util::sync::CancellationToken::new());
    token.cancel();
    let batch =
        Batch::new(scope(), works(one_file(2))).cancelled_by(token).steered_by(from("c1", skip(), &asked));
    expect![[r#"
        c1 cancelled: the call was cancelled before it was started; nothing was done
        c2 cancelled: the call was cancelled before it was started; nothing was done
    "#]]
    .assert_eq(&ended(&working().build(), batch).await);
    assert_eq!(asked.take(), "");
}

#[tokio::test(start_paused = true)]
async fn calls_made_by_a_tool_are_not_steered_but_end_with_the_one_that_makes_them() {
    let outer = Probe::new("outer").run(|_, cx: CallContext| async move {
        sleep(Duration::from_millis(20)).await;
        let reply = cx.call(call("inner", "work", json!({ "ms": 20 }))).await;
        Ok(outlines([&reply]).into())
    });
    let calls = || {
        vec![
            call("c1", "outer", json!({})),
            call("c2", "work", json!({ "write": "file:a" })),
            call("c3", "work", json!({ "write": "file:a" })),
        ]
    };
    let executor = permissive([outer, work()]).build();
    let check = async |steer: Steer, expect: Expect| {
        let asked = Lines::default();
        let batch = Batch::new(scope(), calls()).steered_by(from("c3", steer, &asked));
        expect.assert_eq(&ended(&executor, batch).await);
        assert_eq!(asked.take(), "c1\nc2\nc3\n");
    };
    check(
        skip(),
        expect![[r#"
        c1 ok: inner ok: done

        c2 ok: done
        c3 skipped: not run: the user wrote something new; read it first
    "#]],
    )
    .await;
    // The call in which it is made is cancelled, and with it what it makes then.
    check(
        Steer::Cancel,
        expect![[r#"
        c1 ok: inner cancelled: the call was cancelled before it was started; nothing was done

        c2 ok: done
        c3 cancelled: the call was cancelled before it was started; nothing was done
    "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_first_message_is_the_one_that_is_told() {
    let count = Arc::new(Mutex::new(0));
    let steering = move |_: &ToolCall| {
        let mut count = count.lock().unwrap();
        *count += 1;
        Steer::skip(format!("message {count}"))
    };
    let batch = Batch::new(scope(), works(vec![json!({}); 3])).steered_by(steering);
    expect![[r#"
        c1 skipped: not run: message 1
        c2 skipped: not run: message 1
        c3 skipped: not run: message 1
    "#]]
    .assert_eq(&ended(&working().build(), batch).await);
}

#[tokio::test(start_paused = true)]
async fn a_skipped_call_needs_no_answer_of_a_person() {
    // Nothing is asked after the batch was told to skip, since the call would not run anyway.
    let asked = Lines::default();
    let approver = haft_tools_core::approver_fn(|pending: &PendingCall| {
        assert_ne!(pending.call.id.as_str(), "c2", "nobody should be asked");
        Approval::Approve
    });
    let executor = LocalExecutor::builder(registry([work()]))
        .policy(Policy::new())
        .approver(approver)
        .strategy(Strategy::Sequential)
        .build();
    let batch = Batch::new(scope(), works(one_file(2))).steered_by(from("c1", skip(), &asked));
    expect![[r#"
        c1 skipped: not run: the user wrote something new; read it first
        c2 skipped: not run: the user wrote something new; read it first
    "#]]
    .assert_eq(&ended(&executor, batch).await);
    let outcome = executor
        .execute_batch(Batch::new(scope(), Vec::new()).steered_by(|_: &ToolCall| Steer::Cancel))
        .await;
    assert_eq!(outcome.outcomes(), []);
}
