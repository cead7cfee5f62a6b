//! Calls that waited for others and do not go on.

use super::world::{World, delegate, gone_on, waits};
use crate::approvals::deny;
use crate::fixture::outline;
use crate::held::Full;
use expect_test::{Expect, expect};
use haft_core::{ReplyStatus, ToolReply};
use haft_tools_core::{Approval, PendingCall, ResumptionError};
use serde_json::json;
use std::sync::Arc;

async fn waiting(world: &World) -> PendingCall {
    let input = json!({ "tasks": [{ "tasks": ["file:a"] }, "file:b"], "touches": "file:x" });
    waits(&world.run(vec![delegate("c1", input)]).await[0])
}

/// Checks that the tool was told, that nothing below can go on, and what was answered.
async fn check(world: &World, outer: &PendingCall, reply: ToolReply, expect: Expect) {
    expect.assert_eq(&outline(&reply));
    assert_eq!(world.given_up(), ["c1"]);
    assert!(world.waiting().await.is_empty());
    for leaf in outer.leaves() {
        assert!(!world.is_open(leaf).await);
        let refused = world.try_resume(leaf, Approval::Approve).await;
        assert!(matches!(refused, Err(ResumptionError::ResumedBefore { .. })), "{refused:?}");
    }
    assert!(world.wrote().is_empty());
}

#[tokio::test]
async fn one_that_is_denied_is_given_up_with_all_that_is_below_it() {
    let world = World::new(true);
    let outer = waiting(&world).await;
    let reply = gone_on(&world.resume(&outer, deny("no more")).await);
    check(&world, &outer, reply, expect![[r#"
        denied
        this call was not approved: no more; do not repeat it, find another way or say what you would need"#]])
    .await;
}

#[tokio::test]
async fn one_that_is_cancelled_before_it_goes_on_is_given_up() {
    let world = World::new(true);
    let outer = waiting(&world).await;
    let reply = gone_on(&world.resume_cancelled(&outer).await);
    assert_eq!(reply.status, ReplyStatus::Cancelled);
    check(
        &world,
        &outer,
        reply,
        expect![[r#"
        cancelled
        the call was cancelled before it was started; nothing was done"#]],
    )
    .await;
}

#[tokio::test]
async fn one_that_a_rule_denies_by_now_is_given_up() {
    let first = World::new(true);
    let outer = waiting(&first).await;
    let strict = World::denying().over(&first);
    let reply = gone_on(&strict.resume(&outer, Approval::Approve).await);
    check(&strict, &outer, reply, expect![[r#"
        denied
        `delegate` is not permitted to do this (write file:x: deny by the rule delegate); do not try it again, find another way or say what you would need"#]])
    .await;
}

#[tokio::test]
async fn one_that_is_asked_about_again_keeps_what_it_waited_for_until_that_is_answered() {
    for approves in [true, false] {
        let first = World::new(true);
        let outer = waiting(&first).await;
        let later = World::asking(Approval::Later).over(&first);
        let asked = match later.resume(&outer, Approval::Approve).await {
            haft_tools_core::CallOutcome::Pending(asked) => asked,
            other => panic!("it is asked about: {other:?}"),
        };
        assert!(!asked.waits_below() && asked.has_begun());
        assert!(later.given_up().is_empty());
        for leaf in outer.leaves() {
            first.answer(leaf, Approval::Approve).await;
        }
        if approves {
            let reply = gone_on(&later.resume(&asked, Approval::Approve).await);
            assert_eq!(reply.output.to_text(), "wrote file:a\nwrote file:b");
            assert!(later.given_up().is_empty());
            continue;
        }
        let edited = later.try_resume(&asked, Approval::Edit { input: json!({}) }).await;
        assert!(matches!(edited, Err(ResumptionError::Begun { .. })));
        let reply = gone_on(&later.resume(&asked, deny("")).await);
        check(
            &later,
            &outer,
            reply,
            expect![[r#"
            denied
            this call was not approved; do not repeat it, find another way or say what you would need"#]],
        )
        .await;
    }
}

#[tokio::test]
async fn one_that_its_approver_would_have_edited_is_given_up() {
    let first = World::new(true);
    let outer = waiting(&first).await;
    let edits = World::asking(Approval::Edit { input: json!({}) }).over(&first);
    let reply = gone_on(&edits.resume(&outer, Approval::Approve).await);
    check(&edits, &outer, reply, expect![[r#"
        denied
        the user wants this call with other arguments, and it has begun with these; what it had begun was given up, so see what it has done, and ask the user which arguments they want"#]])
    .await;
}

#[tokio::test]
async fn one_that_cannot_be_kept_is_given_up() {
    let below = World::new(true);
    let world = World::new(true).over_with(&below, |builder| builder.pending(Arc::new(Full)));
    let reply = gone_on(&world.run(vec![delegate("c1", json!({ "tasks": ["file:a"] }))]).await[0]);
    expect![[r#"
        denied
        calls below this one need an approval, and the host cannot keep calls at the moment; what it had begun was given up, so say so and stop"#]]
    .assert_eq(&outline(&reply));
    assert_eq!(world.given_up(), ["c1"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_for_ever_to_give_up_holds_nobody_up() {
    let world = World::new(true);
    let outer = waiting(&world).await;
    world.give_up_never();
    assert_eq!(gone_on(&world.resume(&outer, deny("")).await).status, ReplyStatus::Denied);
    assert!(world.waiting().await.is_empty());
}

#[tokio::test]
async fn a_tool_that_breaks_when_it_gives_up_breaks_nothing_else() {
    let world = World::new(true);
    let outer = waiting(&world).await;
    world.break_next();
    assert_eq!(gone_on(&world.resume(&outer, deny("")).await).status, ReplyStatus::Denied);
    assert!(world.waiting().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn one_that_is_cancelled_as_it_comes_to_wait_does_not_wait() {
    for in_grace in [true, false] {
        let world = World::new(false);
        let reply = gone_on(&world.cancelled_as_it_waits(in_grace).await);
        assert_eq!(reply.status, ReplyStatus::Cancelled);
        assert_eq!(world.given_up(), ["c1"]);
        assert!(world.waiting().await.is_empty());
    }
}
