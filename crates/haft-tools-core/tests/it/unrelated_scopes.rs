//! Whatever scope a tool makes for the agent that it runs, that agent stays below the call which runs it.

use crate::fixture::{Probe, call, outline, registry, scope, write};
use crate::policy_layers::layer;
use expect_test::{Expect, expect};
use haft_core::{ToolError, ToolOutput};
use haft_tools_core::{AgentPolicy, Batch, CallContext, CallScope, LocalExecutor, Policy, ToolExecutor as _};
use serde_json::json;
use std::sync::{Arc, OnceLock};

fn policy() -> Policy {
    Policy::layered([layer("user", &["allow *"])])
        .agent("reader", AgentPolicy::new([layer("user", &["allow delegate", "allow read(a/**)"])]))
        .agent("wide", AgentPolicy::new([layer("user", &["allow *"])]))
}

/// Runs an agent in a scope that its tool makes, below the agent `reader` or bounded in code, and has it write.
async fn check(
    caller: CallScope,
    make: impl Fn(&CallContext) -> CallScope + Copy + Send + Sync + 'static,
    expect: Expect,
) {
    let below: Arc<OnceLock<LocalExecutor>> = Arc::default();
    let executor = Arc::clone(&below);
    let delegate = Probe::new("delegate").run(move |_, cx| {
        let executor = executor.get().unwrap().clone();
        async move {
            let batch = Batch::new(make(&cx), vec![call("below", "edit", json!({}))]).made_by(&cx);
            let replies = executor.execute_batch(batch).await.into_replies();
            let replies = replies.map_err(|pending| ToolError::failed(pending.to_string()))?;
            Ok(ToolOutput::text(outline(&replies[0])))
        }
    });
    let edit = Probe::new("edit").declare(|_| Ok(write("file:a").into())).says("edited");
    let executor = LocalExecutor::builder(registry([delegate])).policy(policy()).build();
    let child = LocalExecutor::builder(registry([edit])).policy(policy()).in_tree_of(&executor).build();
    below.set(child).unwrap();
    let batch = Batch::new(caller, vec![call("c1", "delegate", json!({}))]);
    let replies = executor.execute_batch(batch).await.into_replies().unwrap();
    expect.assert_eq(&outline(&replies[0]));
}

fn reader() -> CallScope {
    scope().with_agent("reader")
}

/// The agent `helper`, which `reader` started.
fn helper() -> CallScope {
    reader().child("run-2".parse().unwrap()).with_agent("wide")
}

#[tokio::test]
async fn a_child_is_bounded() {
    let child = |cx: &CallContext| cx.scope().child("run-9".parse().unwrap()).with_agent("wide");
    check(reader(), child, expect![[r#"
        ok
        denied
        this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need"#]]).await;
    check(
        scope(),
        child,
        expect![[r#"
        ok
        ok
        edited"#]],
    )
    .await;
}

#[tokio::test]
async fn a_scope_of_its_own_is_bounded() {
    let own = |_: &CallContext| CallScope::new("run-9".parse().unwrap()).with_agent("wide");
    check(reader(), own, expect![[r#"
        ok
        denied
        this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need"#]]).await;
    check(helper(), own, expect![[r#"
        ok
        denied
        this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need"#]]).await;
}

#[tokio::test]
async fn a_scope_that_is_made_of_the_callers_run_and_agent_is_bounded() {
    let forged = |cx: &CallContext| CallScope::new(cx.scope().run().clone()).with_agent("wide");
    check(helper(), forged, expect![[r#"
        ok
        denied
        this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need"#]]).await;
    let child = |cx: &CallContext| {
        CallScope::new(cx.scope().run().clone()).with_agent("wide").child("run-9".parse().unwrap())
    };
    check(helper(), child, expect![[r#"
        ok
        denied
        this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need"#]]).await;
}

#[tokio::test]
async fn a_ceiling_in_code_is_not_replaced_by_a_wider_one() {
    let bounded = scope().with_ceiling(Policy::layered([layer("host", &["allow delegate"])]));
    let wide = || Policy::layered([layer("host", &["allow *"])]);
    check(bounded.clone(), move |cx| cx.scope().clone().with_ceiling(wide()), expect![[r#"
        ok
        denied
        this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need"#]]).await;
    check(
        bounded.clone(),
        move |cx| cx.scope().child("run-9".parse().unwrap()).with_ceiling(wide()),
        expect![[r#"
            ok
            denied
            this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need"#]],
    )
    .await;
    check(bounded, |cx| CallScope::new(cx.scope().run().clone()), expect![[r#"
        ok
        denied
        this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need"#]]).await;
}
