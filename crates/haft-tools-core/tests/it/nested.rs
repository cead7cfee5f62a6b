use crate::fixture::{Log, Probe, anything, call, outline, permissive, registry, reply, scope};
use expect_test::{Expect, expect};
use haft_core::{ReplyStatus, ToolOutput};
use haft_tools_core::{
    Approval, Batch, CallContext, CallScope, Limits, LocalExecutor, PendingCall, Rule, ToolExecutor as _,
    approver_fn,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Is a tool that makes the call it is given, and says how that ended.
fn relay() -> Probe {
    Probe::new("relay").run(|input: Value, cx: CallContext| async move {
        let inner = call("inner", input["name"].as_str().unwrap(), input["input"].clone());
        let reply = cx.call(inner).await;
        Ok(ToolOutput::text(format!("{} said {}", reply.name, outline(&reply))))
    })
}

fn inner() -> Probe {
    Probe::new("inner").schema(json!({ "properties": { "n": { "type": "integer" } }, "required": ["n"] }))
}

async fn check(executor: &LocalExecutor, name: &str, input: Value, expect: Expect) {
    expect.assert_eq(&outline(&reply(executor, "relay", json!({ "name": name, "input": input })).await));
}

#[tokio::test]
async fn a_call_made_by_a_tool_passes_every_stage() {
    let log = Log::default();
    let policy = anything().deny(Rule::tools("secret".parse().unwrap()));
    let executor = LocalExecutor::builder(registry([relay(), inner(), Probe::new("secret")]))
        .policy(policy)
        .events(log.events())
        .build();
    check(
        &executor,
        "inner",
        json!({ "n": "5" }),
        expect![[r#"
        ok
        inner said ok
        {"n":5}
        [the arguments were changed: /n: took a string as the value it spells ("5" → 5)]"#]],
    )
    .await;
    expect![[r#"
        c1 started relay {"input":{"n":"5"},"name":"inner"}
        c1 decided allow: allow by the rule *
        inner started inner {"n":"5"}
        inner decided allow: allow by the rule *
        inner finished ok: {"n":5}
        [the arguments were changed: /n: took a string as the value it spells ("5" → 5)]
        c1 finished ok: inner said ok
        {"n":5}
        [the arguments were changed: /n: took a string as the value it spells ("5" → 5)]
    "#]]
    .assert_eq(&log.outline());
    check(
        &executor,
        "inner",
        json!({}),
        expect![[r#"
        ok
        inner said error: invalid input
        the arguments do not fit `inner`:
        - at the top: the property `n` is missing
        correct them and call the tool again"#]],
    )
    .await;
    check(
        &executor,
        "iner",
        json!({ "n": 5 }),
        expect![[r#"
        ok
        iner said error: unknown tool
        there is no tool `iner`; did you mean `inner`?"#]],
    )
    .await;
    check(&executor, "secret", json!({}), expect![[r#"
        ok
        secret said denied
        `secret` is not permitted to do this (deny by the rule secret); do not try it again, find another way or say what you would need"#]]).await;
}

#[tokio::test]
async fn a_permitted_call_permits_none_of_those_it_makes() {
    let tools = registry([relay(), inner()]);
    let only_relay = haft_tools_core::Policy::new().allow(Rule::tools("relay".parse().unwrap()));
    let executor = LocalExecutor::builder(tools.clone()).policy(only_relay.clone()).build();
    check(&executor, "inner", json!({ "n": 5 }), expect![[r#"
        ok
        inner said denied
        this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need"#]]).await;
    let later = approver_fn(|_: &PendingCall| Approval::Later);
    let executor = LocalExecutor::builder(tools).policy(only_relay).approver(later).build();
    check(&executor, "inner", json!({ "n": 5 }), expect![[r#"
        ok
        inner said denied
        this call needs an approval that comes later, which a call made by a tool cannot wait for; make it yourself"#]]).await;
}

#[tokio::test]
async fn hidden_tools_can_be_called_by_others() {
    let tools = registry([relay(), inner()]).hidden(&"inner".parse().unwrap());
    let executor = LocalExecutor::builder(tools).policy(anything()).build();
    check(
        &executor,
        "inner",
        json!({ "n": 5 }),
        expect![[r#"
        ok
        inner said ok
        {"n":5}"#]],
    )
    .await;
}

#[tokio::test]
async fn calls_nest_as_deep_as_the_limit_and_no_deeper() {
    let check = async |nesting: u32, expect: Expect| {
        let deepest = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&deepest);
        let again = Probe::new("again").run(move |input: Value, cx: CallContext| {
            let depth = input["depth"].as_u64().unwrap();
            let mut deepest = counted.lock().unwrap();
            *deepest = depth.max(*deepest);
            async move {
                let next = call(&format!("d{depth}"), "again", json!({ "depth": depth + 1 }));
                Ok(cx.call(next).await.output)
            }
        });
        let limits = Limits { nesting, ..Limits::default() };
        let executor = permissive([again]).limits(limits).build();
        expect.assert_eq(&outline(&reply(&executor, "again", json!({ "depth": 0 })).await));
        assert_eq!(*deepest.lock().unwrap(), u64::from(nesting));
    };
    check(
        0,
        expect![[r#"
        ok
        calls made by tools may nest 0 deep at most; make this call yourself"#]],
    )
    .await;
    check(
        1,
        expect![[r#"
        ok
        calls made by tools may nest 1 deep at most; make this call yourself"#]],
    )
    .await;
    check(
        8,
        expect![[r#"
        ok
        calls made by tools may nest 8 deep at most; make this call yourself"#]],
    )
    .await;
}

#[tokio::test]
async fn one_that_breaks_does_not_break_the_one_that_called_it() {
    let breaks = Probe::new("breaks").run(|_, _| async {
        tokio::task::yield_now().await;
        panic!("inside")
    });
    check(
        &permissive([relay(), breaks]).build(),
        "breaks",
        json!({}),
        expect![[r#"
        ok
        breaks said error: panicked
        `breaks` broke while handling this call; this is a fault of the tool, so try another way"#]],
    )
    .await;
}

/// Waits until it is told to stop.
fn waits(stopped: &Arc<Mutex<Vec<Duration>>>) -> Probe {
    let stopped = Arc::clone(stopped);
    Probe::new("waits").timeout(Duration::from_secs(1_000)).run(move |_, cx: CallContext| {
        let (stopped, started) = (Arc::clone(&stopped), Instant::now());
        async move {
            cx.cancellation().cancelled().await;
            stopped.lock().unwrap().push(started.elapsed());
            Ok("stopped".into())
        }
    })
}

#[tokio::test(start_paused = true)]
async fn what_stops_a_call_stops_those_it_made() {
    let stopped = Arc::default();
    let executor = permissive([relay().timeout(Duration::from_secs(7)), waits(&stopped)]).build();
    // Its own time is over.
    check(
        &executor,
        "waits",
        json!({}),
        expect![[r#"
        ok
        waits said ok
        stopped"#]],
    )
    .await;
    // A person cancels the batch.
    let token = CancellationToken::new();
    let batch = Batch::new(scope(), vec![call("c1", "relay", json!({ "name": "waits", "input": {} }))]);
    let cancel = async {
        sleep(Duration::from_secs(3)).await;
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(executor.execute_batch(batch.cancelled_by(token.clone())), cancel);
    assert_eq!(outcome.into_replies().unwrap()[0].status, ReplyStatus::Ok);
    assert_eq!(*stopped.lock().unwrap(), [Duration::from_secs(7), Duration::from_secs(3)]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_no_longer_waited_for_is_told_to_stop() {
    let (stopped, log) = (Arc::default(), Log::default());
    let impatient = Probe::new("impatient").run(|_, cx: CallContext| async move {
        let inner = cx.call(call("inner", "waits", json!({})));
        let waited = timeout(Duration::from_secs(5), inner).await;
        Ok(ToolOutput::text(format!("gave up: {}", waited.is_err())))
    });
    let executor = permissive([impatient, waits(&stopped)]).events(log.events()).build();
    expect![[r#"
        ok
        gave up: true"#]]
    .assert_eq(&outline(&reply(&executor, "impatient", json!({})).await));
    expect![[r#"
        c1 started impatient {}
        c1 decided allow: allow by the rule *
        inner started waits {}
        inner decided allow: allow by the rule *
        inner finished cancelled: the call was abandoned: nothing waits for it any more
        c1 finished ok: gave up: true
    "#]]
    .assert_eq(&log.outline());
}

#[tokio::test]
async fn a_context_without_an_executor_denies_every_call() {
    let cx = CallContext::detached("c1".parse().unwrap(), CallScope::new("run-1".parse().unwrap()));
    expect![[r#"
        denied
        no other tools can be called here; go on without this call"#]]
    .assert_eq(&outline(&cx.call(call("inner", "t", json!({}))).await));
}
