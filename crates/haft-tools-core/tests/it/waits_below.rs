//! Calls that wait for calls they have made below them.

mod generated;
mod given_up;
mod world;

use self::world::{World, delegate, gone_on, kept, waits};
use crate::fixture::{Probe, call, outline, reply, scope};
use expect_test::{Expect, expect};
use haft_core::ToolError;
use haft_tools_core::{
    Approval, CallContext, CallOutcome, JournalEntry, PendingCall, PendingStore as _, ResumptionError,
    Strategy, Wants,
};
use serde_json::json;

#[tokio::test]
async fn a_call_waits_for_what_it_made_and_goes_on_with_the_answer() {
    for in_place in [true, false] {
        let world = World::new(in_place);
        let outer = waits(&world.run(vec![delegate("c1", json!({ "tasks": ["file:a"] }))]).await[0]);
        let leaves: Vec<_> = outer.leaves().collect();
        assert_eq!(leaves.len(), 1);
        assert_eq!((leaves[0].call.name.as_str(), &leaves[0].wants), ("write", &Wants::Approval));
        let chain: Vec<String> = leaves[0].scope().chain().map(|link| link.run().to_string()).collect();
        assert_eq!(chain, ["run-1/c1/0", "run-1"]);
        assert_eq!(world.asked(), ["write"], "nobody is asked about the outer call");
        world.answer(leaves[0], Approval::Approve).await;
        expect![[r#"
            ok
            wrote file:a"#]]
        .assert_eq(&outline(&gone_on(&world.resume(&outer, Approval::Approve).await)));
        assert_eq!(world.wrote(), ["file:a"]);
        assert!(world.waiting().await.is_empty());
        expect![[r#"
            c1 started delegate {"tasks":["file:a"]}
            c1 decided allow: opaque (a task): allow by the rule delegate
            t started write {"path":"file:a"}
            t decided ask: write file:a: ask, no rule speaks of it
            t asked ["write file:a"] ""
            c1 WaitsBelow { calls: 1 }
            c1 decided allow: opaque (a task): allow by the rule delegate
            t decided ask: write file:a: ask, no rule speaks of it
            t decided allow: approved
            t finished ok: wrote file:a
            c1 finished ok: wrote file:a
        "#]]
        .assert_eq(&world.events.outline());
        let entries: Vec<String> = world
            .journal()
            .into_iter()
            .filter(|record| record.call.as_str() == "c1")
            .map(|record| match &record.entry {
                JournalEntry::Ended { status, ran, .. } => format!("ended {status}, ran: {ran}"),
                entry => format!("{entry:?}"),
            })
            .collect();
        assert_eq!(entries, ["Begun", "Waiting", "Begun", "ended ok, ran: true"]);
    }
}

#[tokio::test]
async fn it_waits_again_for_what_is_not_answered_and_repeats_nothing() {
    let world = World::new(false);
    let mut outer =
        waits(&world.run(vec![delegate("c1", json!({ "tasks": ["file:a", "file:b", "file:c"] }))]).await[0]);
    for left in [3, 2, 1] {
        let leaves: Vec<PendingCall> = outer.leaves().cloned().collect();
        assert_eq!(leaves.len(), left);
        world.answer(&leaves[0], Approval::Approve).await;
        let outcome = world.resume(&outer, Approval::Approve).await;
        if left == 1 {
            assert_eq!(gone_on(&outcome).output.to_text(), "wrote file:a\nwrote file:b\nwrote file:c");
        } else {
            outer = waits(&outcome);
        }
    }
    assert_eq!(world.wrote(), ["file:a", "file:b", "file:c"]);
    assert_eq!(world.asked().len(), 3);
}

#[tokio::test]
async fn two_levels_down_the_leaf_is_what_is_answered() {
    let world = World::new(true);
    let input = json!({ "tasks": [{ "tasks": ["file:a", "file:b"] }, "file:c"] });
    let outer = waits(&world.run(vec![delegate("c1", input)]).await[0]);
    let shown: Vec<String> = outer
        .leaves()
        .map(|leaf| format!("{} in {} at depth {}", leaf.call.input, leaf.run, leaf.scope().depth()))
        .collect();
    assert_eq!(
        shown,
        [
            r#"{"path":"file:a"} in run-1/c1/0/t/0 at depth 2"#,
            r#"{"path":"file:b"} in run-1/c1/0/t/1 at depth 2"#,
            r#"{"path":"file:c"} in run-1/c1/1 at depth 1"#,
        ]
    );
    for leaf in outer.leaves() {
        world.answer(leaf, Approval::Approve).await;
    }
    let reply = gone_on(&world.resume(&kept(&outer), Approval::Approve).await);
    assert_eq!(reply.output.to_text(), "wrote file:a\nwrote file:b\nwrote file:c");
    assert!(world.waiting().await.is_empty());
}

#[tokio::test]
async fn it_holds_back_only_the_later_calls_that_conflict_with_it() {
    for strategy in [Strategy::ByAccess, Strategy::Sequential] {
        let world = World::built(false, |builder| builder.strategy(strategy));
        let outcomes = world
            .run(vec![
                call("c0", "note", json!({ "path": "file:x" })),
                delegate("c1", json!({ "tasks": ["file:a"], "touches": "file:x" })),
                call("c2", "note", json!({ "path": "file:y" })),
                call("c3", "note", json!({ "path": "file:x" })),
            ])
            .await;
        let told: Vec<String> = outcomes
            .iter()
            .map(|outcome| match outcome {
                CallOutcome::Replied(reply) => format!("{} {}", reply.call_id, reply.status),
                CallOutcome::Pending(pending) => format!("{} waits", pending.call.id),
                CallOutcome::Held(held) => format!("{} behind {:?}", held.call.id, held.behind),
            })
            .collect();
        assert_eq!(told, ["c0 ok", "c1 waits", "c2 ok", r#"c3 behind [CallId("c1")]"#]);
    }
}

#[tokio::test]
async fn of_many_who_go_on_with_it_one_does() {
    let world = World::new(false);
    let outer = waits(&world.run(vec![delegate("c1", json!({ "tasks": ["file:a"] }))]).await[0]);
    world.answer(outer.leaves().next().unwrap(), Approval::Approve).await;
    let all = (0..16).map(|_| world.try_resume(&outer, Approval::Approve));
    let ended: Vec<_> = futures_util::future::join_all(all).await;
    assert_eq!(ended.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert_eq!(world.wrote(), ["file:a"]);
}

#[tokio::test]
async fn one_that_begins_cannot_be_given_other_arguments() {
    let world = World::new(true);
    let outer = waits(&world.run(vec![delegate("c1", json!({ "tasks": ["file:a"] }))]).await[0]);
    let refused =
        world.try_resume(&outer, Approval::Edit { input: json!({ "tasks": [] }) }).await.unwrap_err();
    assert!(matches!(refused, ResumptionError::Begun { .. }));
    expect!["the pending call `ID` has begun with its arguments, so it cannot be given others; go on with it, or deny it and have it called anew"]
        .assert_eq(&refused.to_string().replace(outer.id.as_str(), "ID"));
    assert_eq!(waits(&world.resume(&outer, Approval::Later).await), outer, "nothing is used up");
    assert!(world.given_up().is_empty());
}

#[tokio::test]
async fn who_was_asked_before_it_began_is_not_asked_again() {
    let world = World::asking_about_delegates();
    let input = json!({ "tasks": ["file:a"], "touches": "file:x" });
    let outer = waits(&world.run(vec![delegate("c1", input)]).await[0]);
    assert_eq!(world.asked(), ["delegate", "write"]);
    let outer = waits(&world.resume(&outer, Approval::Approve).await);
    world.answer(outer.leaves().next().unwrap(), Approval::Approve).await;
    assert!(gone_on(&world.resume(&outer, Approval::Approve).await).status.is_ok());
    assert_eq!(world.asked(), ["delegate", "write"]);
    let decided: Vec<String> = world
        .journal()
        .iter()
        .filter(|record| record.call.as_str() == "c1" && record.entry == JournalEntry::Begun)
        .map(|record| serde_json::to_string(&record.decided).unwrap())
        .collect();
    expect![[r#"
        {"by":"person","answer":"approved"}
        {"by":"person","answer":"approved","reason":"before it waited for calls below it"}
        {"by":"person","answer":"approved","reason":"before it waited for calls below it"}"#]]
    .assert_eq(&decided.join("\n"));
}

#[tokio::test]
async fn what_was_only_allowed_before_is_asked_about_where_it_no_longer_is() {
    let first = World::new(true);
    let outer = waits(&first.run(vec![delegate("c1", json!({ "tasks": ["file:a"] }))]).await[0]);
    let tight = World::asking_about_delegates().over(&first);
    first.answer(outer.leaves().next().unwrap(), Approval::Approve).await;
    assert!(gone_on(&tight.resume(&outer, Approval::Approve).await).status.is_ok());
    let asked = tight.shown();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].waited_for.len(), 1);
    assert_eq!(asked[0].leaves().collect::<Vec<_>>(), [&asked[0]]);
    expect!["it has begun, and what it does now was not approved when it began"]
        .assert_eq(asked[0].again.as_deref().unwrap());
    assert_eq!(first.wrote(), ["file:a"]);
}

#[tokio::test]
async fn a_call_that_a_tool_makes_cannot_wait() {
    let world = World::new(true);
    let reply = gone_on(&world.run(vec![call("c1", "calls", json!({ "tasks": ["file:a"] }))]).await[0]);
    expect!["denied: calls below this one need an approval that comes later, which a call made by a tool cannot wait for; what it had begun was given up, so see what it has done, and make it yourself"]
        .assert_eq(&reply.output.to_text());
    assert_eq!(world.given_up(), ["n1"]);
    assert!(world.waiting().await.is_empty(), "what was begun below cannot be gone on with");
}

#[tokio::test]
async fn what_breaks_when_it_goes_on_is_answered_like_any_call_that_breaks() {
    let world = World::new(false);
    let outer = waits(&world.run(vec![delegate("c1", json!({ "tasks": ["file:a"] }))]).await[0]);
    world.break_next();
    let reply = gone_on(&world.resume(&outer, Approval::Approve).await);
    expect![[r#"
        error: panicked
        `delegate` broke while handling this call; this is a fault of the tool, so try another way"#]]
    .assert_eq(&outline(&reply));
    assert!(world.given_up().is_empty(), "it ran, so what it keeps is its own");
    assert!(matches!(
        world.try_resume(&outer, Approval::Approve).await,
        Err(ResumptionError::ResumedBefore { .. })
    ));
}

/// Runs a tool that waits for what is given.
async fn check_fault(calls: Vec<PendingCall>, expect: &Expect) {
    let tool = Probe::new("work").run(move |_, cx: CallContext| {
        let error = cx.wait_for(calls.clone());
        std::future::ready(Err(error))
    });
    let executor = crate::fixture::permissive([tool]).build();
    expect.assert_eq(&outline(&reply(&executor, "work", json!({})).await));
}

#[tokio::test]
async fn what_cannot_be_waited_for_is_a_fault() {
    check_fault(
        Vec::new(),
        &expect![[r#"
            error: failed
            `work` said that it waits for other calls, and named none; this is a fault of the tool, so try another way"#]],
    )
    .await;
    let world = World::new(true);
    let outer = waits(&world.run(vec![delegate("c1", json!({ "tasks": ["file:a"] }))]).await[0]);
    let leaf = outer.leaves().next().unwrap().clone();
    let too_much = expect![[r#"
        error: failed
        more waits for an approval below this call of `work` than can be kept at once; ask for less with one call"#]];
    check_fault(vec![leaf.clone(); 257], &too_much).await;
    check_fault(vec![outer.clone(); 129], &too_much).await;
    let mut large = leaf.clone();
    large.call.input = json!("x".repeat(17 << 20));
    check_fault(vec![large], &too_much).await;
    let mut deep = leaf;
    for _ in 0..60 {
        deep.call.input = json!([deep.call.input]);
    }
    for _ in 0..20 {
        let mut above = outer.clone();
        above.wants = Wants::Below { calls: vec![deep] };
        deep = above;
    }
    check_fault(vec![deep], &too_much).await;
}

#[tokio::test]
async fn what_can_be_waited_for_can_be_stored_and_read() {
    let world = World::new(true);
    let input = json!({ "tasks": [{ "tasks": ["file:a"] }] });
    let outer = waits(&world.run(vec![delegate("c1", input)]).await[0]);
    assert_eq!(kept(&outer), outer);
    let mut value = serde_json::to_value(&outer).unwrap();
    assert_eq!(value["version"], 1);
    assert_eq!(value["wants"]["kind"], "below");
    assert_eq!(value["wants"]["calls"][0]["wants"]["calls"][0]["wants"], json!({ "kind": "approval" }));
    value["wants"] = json!({ "kind": "later_kind" });
    expect!["unknown variant `later_kind`, expected one of `approval`, `authentication`, `below`"]
        .assert_eq(&serde_json::from_value::<PendingCall>(value).unwrap_err().to_string());
}

#[tokio::test]
async fn outside_an_executor_it_says_what_it_lacks() {
    let world = World::new(true);
    let outer = waits(&world.run(vec![delegate("c1", json!({ "tasks": ["file:a"] }))]).await[0]);
    let cx = CallContext::detached("c1".parse().unwrap(), scope());
    let error: ToolError = cx.wait_for(vec![outer]);
    expect!["calls below this one need an approval that comes later, which cannot be waited for here; go on without them, or say what you would need"]
        .assert_eq(error.message());
}

#[tokio::test]
async fn a_call_that_is_found_again_is_not_one_that_has_begun() {
    let world = World::asking_about_delegates();
    let input = json!({ "tasks": ["file:a"], "touches": "file:x" });
    let outer = waits(&world.run(vec![delegate("c1", input)]).await[0]);
    assert_eq!(world.store().waiting_as(&outer.digest).await.unwrap(), None);
    let leaf = outer.leaves().next().unwrap();
    assert_eq!(world.store().waiting_as(&leaf.digest).await.unwrap(), Some((leaf.id.clone(), None)));
}
