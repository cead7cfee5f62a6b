//! Modes that are given to runs: they bound what is below them, and no run gets out of one.

use crate::approvals::answers;
use crate::fixture::{Probe, call, outline, read, registry, scope, spec, write};
use crate::policy_layers::{layer, rules};
use expect_test::{Expect, expect};
use haft_core::{Decision, ToolError, ToolOutput};
use haft_tools_core::{
    Access, Accesses, Approval, Batch, CallContext, CallOutcome, CallScope, LocalExecutor, Mode, ModeSwitch,
    PendingCall, Policy, ToolExecutor as _,
};
use proptest::prelude::*;
use serde_json::json;
use std::sync::{Arc, OnceLock};

fn policy() -> Policy {
    Policy::layered([layer("user", &["allow read(a/**)", "allow delegate", "allow write(a/**)"])])
        .accept_edits(rules(&["allow write(b/**)"]))
        .auto(rules(&["allow write(b/**)", "allow exec(make)"]))
}

/// Makes the scope of the last of these runs, below the others, each with its mode if it has one.
fn chain(modes: &[Option<Mode>]) -> CallScope {
    let given = |scope: CallScope, depth: usize| match modes[depth] {
        Some(mode) => scope.with_mode(mode).with_agent(format!("agent-{depth}")),
        None => scope.with_agent(format!("agent-{depth}")),
    };
    (1..modes.len()).fold(given(scope(), 0), |scope, depth| {
        given(scope.child(format!("child-{depth}").parse().unwrap()), depth)
    })
}

fn check(scope: &CallScope, mode: Mode, access: Access, expect: Expect) {
    let (policy, tool, accesses) = (policy(), spec("t"), Accesses::from(access));
    expect.assert_eq(&policy.decide_in(scope, mode, &tool, &accesses).to_string());
}

#[test]
fn a_child_in_a_wider_mode_stays_in_its_parents() {
    use Mode::{AcceptEdits, Auto, Plan};
    for wide in [AcceptEdits, Auto] {
        check(
            &chain(&[Some(Plan), Some(wide)]),
            wide,
            write("file:b/x"),
            expect![
                "write file:b/x: deny, the mode plan of the agent agent-0 lets nothing write, execute, connect or call"
            ],
        );
        check(
            &chain(&[None, Some(wide)]),
            Plan,
            write("file:b/x"),
            expect!["write file:b/x: deny, the mode plan lets nothing write, execute, connect or call"],
        );
    }
    check(
        &chain(&[None, Some(Auto)]),
        Mode::Default,
        write("file:b/x"),
        expect!["write file:b/x: ask, no rule speaks of it"],
    );
    check(
        &chain(&[None, Some(Auto)]),
        AcceptEdits,
        Access::execute("exec:make".parse().unwrap()),
        expect!["exec exec:make: ask, no rule speaks of it"],
    );
}

#[test]
fn so_does_a_grandchild() {
    use Mode::{Auto, Plan};
    let denied = |expect| check(&chain(&[Some(Plan), None, Some(Auto)]), Auto, write("file:a/x"), expect);
    denied(expect![
        "write file:a/x: deny, the mode plan of the agent agent-0 lets nothing write, execute, connect or call"
    ]);
    check(
        &chain(&[Some(Auto), Some(Plan), Some(Auto)]),
        Auto,
        write("file:a/x"),
        expect![
            "write file:a/x: deny, the mode plan of the agent agent-1 lets nothing write, execute, connect or call"
        ],
    );
}

#[test]
fn a_mode_does_not_reach_a_sibling_or_the_run_above() {
    let root = chain(&[None]);
    let _planning = root.child("child-1".parse().unwrap()).with_mode(Mode::Plan);
    let sibling = root.child("child-2".parse().unwrap());
    for scope in [root, sibling] {
        let allowed = expect!["write file:a/x: allow by the rule write(a/**)"];
        check(&scope, Mode::Default, write("file:a/x"), allowed);
    }
}

#[test]
fn modes_of_a_chain_hold_each_in_its_own_way() {
    use Mode::{Auto, DenyUnknown, Plan};
    // A plan would ask about what nobody has to be asked about below `deny_unknown`.
    check(
        &chain(&[Some(DenyUnknown), Some(Plan)]),
        Auto,
        read("file:b"),
        expect![
            "read file:b: deny, the mode deny_unknown of the agent agent-0 denies what would have to be asked about"
        ],
    );
    // And `deny_unknown` would let what a rule allows be written.
    check(
        &chain(&[Some(Plan), Some(DenyUnknown)]),
        Auto,
        write("file:a/x"),
        expect![
            "write file:a/x: deny, the mode plan of the agent agent-0 lets nothing write, execute, connect or call"
        ],
    );
}

#[test]
fn a_mode_that_was_given_is_not_taken_back() {
    let planning = scope().with_mode(Mode::Plan).with_mode(Mode::Auto);
    assert_eq!(planning.modes().collect::<Vec<_>>(), [Mode::Plan, Mode::Auto]);
    check(
        &planning,
        Mode::Auto,
        write("file:a/x"),
        expect![
            "write file:a/x: deny, the mode plan of the agent run-1 lets nothing write, execute, connect or call"
        ],
    );
}

#[test]
fn what_would_change_it_is_not_the_persons_mode() {
    let (policy, tool, accesses) = (policy(), spec("t"), Accesses::from(write("file:a/x")));
    let change = |scope: &CallScope, mode| {
        let verdict = policy.decide_in(scope, mode, &tool, &accesses);
        verdict.explain(policy.rule_language()).change.unwrap()
    };
    expect!["nothing that `agent-0` or what it starts does; it was given the mode `plan`"]
        .assert_eq(&change(&chain(&[Some(Mode::Plan)]), Mode::Auto));
    expect!["a person can change the mode, which is `plan`"]
        .assert_eq(&change(&chain(&[Some(Mode::Auto)]), Mode::Plan));
}

/// Runs an agent in a scope that its tool makes, whose own executor is in the mode `auto`, and has it write.
async fn delegate(
    switch: &ModeSwitch,
    caller: CallScope,
    make: impl Fn(&CallContext) -> CallScope + Copy + Send + Sync + 'static,
    meanwhile: impl Fn() + Clone + Send + Sync + 'static,
    expect: Expect,
) {
    let below: Arc<OnceLock<LocalExecutor>> = Arc::default();
    let executor = Arc::clone(&below);
    let delegate = Probe::new("delegate").run(move |_, cx| {
        let (executor, meanwhile) = (executor.get().unwrap().clone(), meanwhile.clone());
        async move {
            let mut said = Vec::new();
            for id in ["first", "second"] {
                let batch = Batch::new(make(&cx), vec![call(id, "edit", json!({}))]).made_by(&cx);
                let replies = executor.execute_batch(batch).await.into_replies();
                let replies = replies.map_err(|pending| ToolError::failed(pending.to_string()))?;
                said.push(outline(&replies[0]));
                meanwhile();
            }
            Ok(ToolOutput::text(said.join("\n")))
        }
    });
    let edit = Probe::new("edit").declare(|_| Ok(write("file:a/x").into())).says("edited");
    let executor = LocalExecutor::builder(registry([delegate])).policy(policy()).mode(switch).build();
    let auto = ModeSwitch::new(Mode::Auto);
    let child = LocalExecutor::builder(registry([edit])).policy(policy()).mode(&auto).in_tree_of(&executor);
    below.set(child.build()).unwrap();
    let batch = Batch::new(caller, vec![call("c1", "delegate", json!({}))]);
    let replies = executor.execute_batch(batch).await.into_replies().unwrap();
    expect.assert_eq(&outline(&replies[0]));
}

fn child(cx: &CallContext) -> CallScope {
    cx.scope().child("run-2".parse().unwrap()).with_agent("wide").with_mode(Mode::Auto)
}

#[tokio::test]
async fn the_mode_of_the_first_executor_holds_for_those_below_it_at_once() {
    let switch = ModeSwitch::new(Mode::Default);
    let plan = switch.clone();
    delegate(&switch, scope(), child, move || plan.set(Mode::Plan), expect![[r#"
        ok
        ok
        edited
        denied
        `edit` is not permitted to do this (write file:a/x: deny, the mode plan lets nothing write, execute, connect or call); do not try it again, find another way or say what you would need"#]]).await;
    let open = switch.clone();
    delegate(&switch, scope(), child, move || open.set(Mode::Default), expect![[r#"
        ok
        denied
        `edit` is not permitted to do this (write file:a/x: deny, the mode plan lets nothing write, execute, connect or call); do not try it again, find another way or say what you would need
        ok
        edited"#]]).await;
}

#[tokio::test]
async fn a_scope_that_a_tool_makes_of_its_own_does_not_get_out_of_a_mode() {
    let planning = || scope().with_agent("lead").with_mode(Mode::Plan);
    let makes: [fn(&CallContext) -> CallScope; 5] = [
        child,
        |cx| CallScope::new(cx.scope().run().clone()),
        |cx| CallScope::new(cx.scope().run().clone()).with_agent("lead"),
        |cx| CallScope::new(cx.scope().run().clone()).with_agent("lead").with_mode(Mode::Auto),
        |cx| cx.scope().clone().with_mode(Mode::Auto),
    ];
    for make in makes {
        delegate(&ModeSwitch::default(), planning(), make, || (), expect![[r#"
            ok
            denied
            `edit` is not permitted to do this (write file:a/x: deny, the mode plan of the agent lead lets nothing write, execute, connect or call); do not try it again, find another way or say what you would need
            denied
            `edit` is not permitted to do this (write file:a/x: deny, the mode plan of the agent lead lets nothing write, execute, connect or call); do not try it again, find another way or say what you would need"#]])
        .await;
    }
}

/// Has a call wait that reads what no rule speaks of.
async fn waiting(scope: CallScope) -> PendingCall {
    let look = Probe::new("look").declare(|_| Ok(read("file:b").into()));
    let executor =
        LocalExecutor::builder(registry([look])).policy(policy()).approver(answers(Approval::Later)).build();
    let batch = Batch::new(scope, vec![call("c1", "look", json!({}))]);
    match executor.execute_batch(batch).await.into_outcomes().remove(0) {
        CallOutcome::Pending(pending) => *pending,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_call_that_waits_keeps_the_modes_it_was_made_in() {
    let scope = chain(&[Some(Mode::Plan), None, Some(Mode::Auto)]);
    let stored = serde_json::to_string(&waiting(scope.clone()).await).unwrap();
    let pending: PendingCall = serde_json::from_str(&stored).unwrap();
    let modes = |scope: &CallScope| scope.chain().map(|link| link.modes().collect()).collect::<Vec<Vec<_>>>();
    assert_eq!(modes(&pending.scope()), modes(&scope));
    // What is approved in one mode is not approved in another, and where none was given the digest is that of before.
    let without = waiting(chain(&[None, None, None])).await;
    assert_ne!(pending.digest, without.digest);
    assert!(without.modes.is_empty() && !serde_json::to_string(&without).unwrap().contains("modes"));
}

fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(Mode::ALL.to_vec())
}

fn access() -> impl Strategy<Value = Access> {
    let files = prop::sample::select(vec!["file:a/x", "file:b/x", "file:c"]);
    (files, 0..3_u8).prop_map(|(file, kind)| match kind {
        0 => read(file),
        1 => write(file),
        _ => Access::opaque("eval"),
    })
}

proptest! {
    #[test]
    fn a_decision_is_the_strictest_of_those_in_each_mode_of_the_chain(
        modes in prop::collection::vec(prop::option::of(mode()), 1..5),
        first in mode(),
        accesses in prop::collection::vec(access(), 0..3),
    ) {
        let (policy, tool, accesses) = (policy(), spec("t"), Accesses::from_iter(accesses));
        let decide = |scope: &CallScope, mode| policy.decide_in(scope, mode, &tool, &accesses).decision();
        let alone = chain(&modes.iter().map(|_| None).collect::<Vec<_>>());
        let each = modes.iter().flatten().chain([&first]).map(|mode| decide(&alone, *mode));
        let strictest: Decision = each.max().unwrap();
        prop_assert_eq!(decide(&chain(&modes), first), strictest);
    }
}
