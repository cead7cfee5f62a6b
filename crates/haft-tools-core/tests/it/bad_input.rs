use crate::fixture::{
    Log, Probe, anything, call, ended, outline, outlines, permissive, registry, replies, reply, scope, spec,
};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::{EventKind, ReplyStatus, ToolCall, ToolError, ToolOutput, ToolSpec};
use haft_tools_core::{
    Accesses, Action, Approval, Batch, Before, CallContext, CallScope, Layer, LayerCall, Limits,
    LocalExecutor, PendingCall, Policy, Prepared, Strategy, Tool, ToolExecutor as _, ToolRegistry, Widths,
    approver_fn, tool_fn,
};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Breaks where it is told to.
struct Breaks {
    spec: ToolSpec,
    at: &'static str,
}

impl Breaks {
    fn at(at: &'static str) -> Self {
        Self { spec: spec("breaks"), at }
    }
}

impl Tool for Breaks {
    fn spec(&self) -> &ToolSpec {
        assert_ne!(self.at, "spec", "the tool breaks");
        &self.spec
    }

    fn prepare(&self, _: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        assert_ne!(self.at, "prepare", "the tool breaks");
        Ok(Prepared::new(Accesses::none(), Breaking { at: self.at, _drops: OnDrop(self.at == "drop") }))
    }
}

struct OnDrop(bool);

impl Drop for OnDrop {
    fn drop(&mut self) {
        assert!(!self.0 || std::thread::panicking(), "the tool breaks when it is dropped");
    }
}

struct Breaking {
    at: &'static str,
    _drops: OnDrop,
}

#[async_trait]
impl Action for Breaking {
    async fn run(self: Box<Self>, _: CallContext) -> Result<ToolOutput, ToolError> {
        assert_ne!(self.at, "run", "the tool breaks");
        if self.at == "later" {
            tokio::task::yield_now().await;
            panic!("the tool breaks");
        }
        Ok("done".into())
    }
}

fn breaking(at: &'static str) -> ToolRegistry {
    registry([Probe::new("fine")]).with(Breaks::at(at)).unwrap()
}

/// Calls a tool that breaks between two that do not.
async fn check(executor: &LocalExecutor, expect: Expect) {
    let calls =
        vec![call("c1", "fine", json!({})), call("c2", "breaks", json!({})), call("c3", "fine", json!({}))];
    expect.assert_eq(&outlines(&replies(executor, calls).await));
    executor.idle().await;
}

#[tokio::test]
async fn a_tool_that_breaks_costs_no_other_its_reply() {
    let of = |at: &'static str| LocalExecutor::builder(breaking(at)).policy(anything()).build();
    check(&of("prepare"), expect![[r#"
        c1 ok: {}
        c2 error: panicked: `breaks` broke while handling this call; this is a fault of the tool, so try another way
        c3 ok: {}
    "#]]).await;
    check(&of("run"), expect![[r#"
        c1 ok: {}
        c2 error: panicked: `breaks` broke while handling this call; this is a fault of the tool, so try another way
        c3 ok: {}
    "#]]).await;
    check(&of("later"), expect![[r#"
        c1 ok: {}
        c2 error: panicked: `breaks` broke while handling this call; this is a fault of the tool, so try another way
        c3 ok: {}
    "#]]).await;
    check(&of("drop"), expect![[r#"
        c1 ok: {}
        c2 error: panicked: `breaks` broke while handling this call; this is a fault of the tool, so try another way
        c3 ok: {}
    "#]]).await;
}

#[tokio::test]
async fn a_tool_that_breaks_when_it_is_not_run_costs_no_other_its_reply() {
    // Prepared, and dropped without having run: denied, not approved, left to wait, replaced, prepared again.
    let fine = || Policy::new().allow(haft_tools_core::Rule::tools("fine".parse().unwrap()));
    let of = || LocalExecutor::builder(breaking("drop"));
    let denied = fine().deny(haft_tools_core::Rule::tools("breaks".parse().unwrap()));
    check(&of().policy(denied).build(), expect![[r#"
        c1 ok: {}
        c2 denied: `breaks` is not permitted to do this (deny by the rule breaks); do not try it again, find another way or say what you would need
        c3 ok: {}
    "#]]).await;
    check(&of().policy(fine()).build(), expect![[r#"
        c1 ok: {}
        c2 denied: this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need
        c3 ok: {}
    "#]]).await;
    let later = of().policy(fine()).approver(approver_fn(|_: &PendingCall| Approval::Later)).build();
    let batch = Batch::new(scope(), vec![call("c1", "breaks", json!({})), call("c2", "fine", json!({}))]);
    assert_eq!(later.execute_batch(batch).await.outcomes().len(), 2);
    let edited = approver_fn(|_: &PendingCall| Approval::Edit { input: json!({ "a": 1 }) });
    check(&of().policy(fine()).approver(edited).build(), expect![[r#"
        c1 ok: {}
        c2 error: panicked: `breaks` broke while handling this call; this is a fault of the tool, so try another way
        [the arguments were changed: the whole: edited by the user, who then approved the call ({} → {"a":1})]
        c3 ok: {}
    "#]]).await;
    check(&of().policy(anything()).layer(Replaces).build(), expect![[r#"
        c1 ok: {"a":2}
        [the arguments were changed: the whole: changed by the host before the call ran ({} → {"a":2})]
        c2 error: panicked: `breaks` broke while handling this call; this is a fault of the tool, so try another way
        [the arguments were changed: the whole: changed by the host before the call ran ({} → {"a":2})]
        c3 ok: {"a":2}
        [the arguments were changed: the whole: changed by the host before the call ran ({} → {"a":2})]
    "#]]).await;
    let token = tokio_util::sync::CancellationToken::new();
    let steering = |_: &ToolCall| haft_tools_core::Steer::Cancel;
    let batch =
        Batch::new(scope(), vec![call("c1", "breaks", json!({}))]).cancelled_by(token).steered_by(steering);
    expect![[r#"
        c1 cancelled: the call was cancelled before it was started; nothing was done
    "#]]
    .assert_eq(&ended(&of().policy(anything()).build(), batch).await);
}

/// Gives every call another input.
struct Replaces;

#[async_trait]
impl Layer for Replaces {
    async fn before(&self, _: &LayerCall<'_>) -> Before {
        Before::replace_input(json!({ "a": 2 }))
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_cost_no_other_its_reply() {
    // A path of bytes that are no UTF-8 has no form as a string of JSON.
    let gives = tool_fn("breaks", "Gives it.", Accesses::none(), |_: Nothing, _: CallContext| async {
        Ok::<_, ToolError>(PathBuf::from(OsString::from_vec(b"caf\xe9".to_vec())))
    });
    let tools = registry([Probe::new("fine")]).with(gives.unwrap()).unwrap();
    check(&LocalExecutor::builder(tools).policy(anything()).build(), expect![[r#"
        c1 ok: {}
        c2 error: failed: the tool's result cannot be written as JSON; this is a fault of the tool, so try another way
        c3 ok: {}
    "#]]).await;
    // Nor has half a pair of surrogates, and arguments that have one are none.
    let executor = permissive([Probe::new("fine")]).build();
    let half = r#"{"a": "\ud800"}"#;
    expect![[r#"
        error: invalid input
        the arguments of `fine` are not valid JSON: unexpected end of hex escape at line 1 column 14; send them again as one JSON object"#]].assert_eq(&outline(&reply(&executor, "fine", json!(half)).await));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[test]
fn a_tool_that_breaks_when_it_is_registered_is_refused() {
    let refused = ToolRegistry::new().with(Breaks::at("spec")).unwrap_err();
    expect![[r#"
        a tool cannot be used, because it panicked when it was asked to describe itself: assertion `left != right` failed: the tool breaks
          left: "spec"
         right: "spec""#]].assert_eq(&refused.to_string());
    let refused = ToolRegistry::of([Arc::new(Breaks::at("spec")) as Arc<dyn Tool>]).unwrap_err();
    expect![[r#"
        a tool cannot be used, because it panicked when it was asked to describe itself: assertion `left != right` failed: the tool breaks
          left: "spec"
         right: "spec""#]].assert_eq(&refused.to_string());
}

#[test]
fn a_tool_that_cannot_be_registered_leaves_the_others_as_they_are() {
    let others = registry([Probe::new("fine")]);
    assert!(others.with(Probe::new("bad").schema(json!({ "required": "a" }))).is_err());
    assert_eq!(others.names().collect::<Vec<_>>(), ["fine"]);
}

#[tokio::test]
async fn a_tool_that_calls_itself_meets_the_limit() {
    let again = Probe::new("again").run(|_, cx: CallContext| async move {
        let mut replies = Vec::new();
        for place in 0..2 {
            replies.push(cx.call(call(&format!("n{place}"), "again", json!({}))).await);
        }
        let denied = replies.iter().filter(|reply| reply.status == ReplyStatus::Denied).count();
        Ok(ToolOutput::text(if denied == 2 { "the limit" } else { "above" }))
    });
    let widths = Widths { read: 1, ..Widths::default() };
    let limits = Limits { nesting: 5, ..Limits::default() };
    let log = Log::default();
    let executor = permissive([again]).limits(limits).widths(&widths).events(log.events()).build();
    expect![[r#"
        ok
        above"#]]
    .assert_eq(&outline(&reply(&executor, "again", json!({})).await));
    let started = log.all().iter().filter(|event| matches!(event.kind, EventKind::Started { .. })).count();
    let finished = log.all().iter().filter(|event| matches!(event.kind, EventKind::Finished { .. })).count();
    assert_eq!((started, finished), (127, 127));
}

#[tokio::test]
async fn a_context_that_is_dropped_at_once_or_kept_for_good_harms_nothing() {
    let kept: Arc<Mutex<Vec<CallContext>>> = Arc::default();
    let keeps = Arc::clone(&kept);
    let drops = Probe::new("drops").run(|_, cx| {
        drop(cx);
        async { Ok("done".into()) }
    });
    let keeps = Probe::new("keeps").run(move |_, cx| {
        keeps.lock().unwrap().push(cx);
        std::future::ready(Ok("done".into()))
    });
    let log = Log::default();
    let widths = Widths { read: 1, ..Widths::default() };
    let executor = permissive([drops, keeps]).widths(&widths).events(log.events()).build();
    let calls = ["drops", "keeps", "keeps", "drops"].into_iter().zip(["c1", "c2", "c3", "c4"]);
    expect![[r#"
        c1 ok: done
        c2 ok: done
        c3 ok: done
        c4 ok: done
    "#]]
    .assert_eq(&outlines(
        &replies(&executor, calls.map(|(name, id)| call(id, name, json!({}))).collect()).await,
    ));
    let told = log.all().len();
    let contexts = std::mem::take(&mut *kept.lock().unwrap());
    for cx in &contexts {
        cx.update(|| "late".into());
        cx.progress(0.5);
    }
    assert_eq!(log.all().len(), told);
    let late = contexts[0].call(call("late", "drops", json!({}))).await;
    assert_eq!(late.status, ReplyStatus::Denied);
    assert!(reply(&executor, "drops", json!({})).await.status.is_ok());
}

#[tokio::test]
async fn ids_that_repeat_and_calls_that_are_malformed_cost_no_other_its_reply() {
    let check = async |strategy: Strategy| {
        let executor = permissive([Probe::new("fine")]).strategy(strategy).build();
        let calls = vec![
            call("c1", "fine", json!({})),
            call("c2", "fine", json!("{\"a\": ")),
            call("c2", "fine", json!({})),
            call("c3", "", json!(null)),
            call("c1", "\u{0}\n\u{202e}", json!({})),
            call("c4", "fine", json!([1])),
            call("c5", "fine", json!({ "a": "\u{0}\u{fffd}" })),
        ];
        let ended = outlines(&replies(&executor, calls).await);
        assert_eq!(replies(&executor, Vec::new()).await, []);
        ended
    };
    let by_access = check(Strategy::ByAccess).await;
    expect![[r#"
        c1 ok: {}
        c2 error: invalid input: the arguments of `fine` are not valid JSON: EOF while parsing a value at line 1 column 6; send them again as one JSON object
        c2 error: invalid input: an earlier call of this message has the id `c2` too; give each call an id of its own
        c3 error: unknown tool: the call names no tool; the only tool is `fine`
        c1 error: invalid input: an earlier call of this message has the id `c1` too; give each call an id of its own
        c4 error: invalid input: the arguments do not fit `fine`:
        - at the top: [1] is not an object
        correct them and call the tool again
        c5 ok: {"a":"\u0000�"}
    "#]].assert_eq(&by_access);
    let batched = Strategy::Batched { size: NonZeroUsize::MIN };
    for strategy in [Strategy::Sequential, Strategy::Parallel, batched] {
        assert_eq!(check(strategy).await, by_access);
    }
}

#[tokio::test]
async fn ten_thousand_calls_are_answered_in_order() {
    let executor = permissive([crate::fixture::work().run(|_, _| async {
        tokio::task::yield_now().await;
        Ok("done".into())
    })])
    .build();
    for strategy in ["file:same", "file:other"] {
        let calls = (0..10_000).map(|place| {
            let file =
                if strategy == "file:same" { strategy.to_owned() } else { format!("{strategy}/{place}") };
            call(&format!("c{place}"), "work", json!({ "write": file }))
        });
        let replies = replies(&executor, calls.collect()).await;
        assert!(
            (0..)
                .zip(&replies)
                .all(|(place, reply)| reply.call_id.as_str() == format!("c{place}") && reply.status.is_ok())
        );
        assert_eq!(replies.len(), 10_000);
    }
    assert_eq!(executor.task_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_never_returns_is_given_up() {
    let never = Probe::new("never").run(|_, _| std::future::pending());
    let executor = permissive([never]).build();
    expect![[r#"
        timed out
        `never` was stopped after 120 s and may have done a part of its work; ask for less at once, or for more time if the tool takes a time limit"#]].assert_eq(&outline(&reply(&executor, "never", json!({})).await));
    executor.idle().await;
    assert_eq!(executor.task_count(), 0);
    let started = tokio::time::Instant::now();
    let calls: Vec<ToolCall> = (0..100).map(|place| call(&format!("c{place}"), "never", json!({}))).collect();
    replies(&executor, calls).await;
    assert!(started.elapsed() < Duration::from_secs(4 * 123));
}
