use crate::approvals::{answers, asking, deny, edit, reading};
use crate::fixture::{Probe, call, outline, read, registry, resource, resume, scope, write};
use expect_test::{Expect, expect};
use haft_core::ReplyStatus;
use haft_tools_core::{
    AccessMode, Accesses, AllowAll, Approval, Batch, CallOutcome, CallScope, LocalExecutor,
    LocalExecutorBuilder, PendingCall, Policy, Resumption, Rule, ToolExecutor as _,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Asks, and keeps what was pending.
async fn pending(executor: &LocalExecutor, input: Value) -> PendingCall {
    let batch = Batch::new(scope(), vec![call("c1", "edit", input)]);
    let waiting = executor.execute_batch(batch).await.into_replies().unwrap_err();
    assert_eq!(waiting.to_string(), "waiting for an approval of edit");
    let pending = waiting.iter().next().unwrap().clone();
    let json = serde_json::to_string(&pending).unwrap();
    assert_eq!(serde_json::from_str::<PendingCall>(&json).unwrap(), pending);
    pending
}

#[tokio::test]
async fn a_call_can_wait_and_go_on_with_the_answer() {
    let executor = asking(answers(Approval::Later)).build();
    let check = async |approval: Approval, expect: Expect| {
        let pending = pending(&executor, json!({ "path": "a" })).await;
        expect.assert_eq(&outline(&resume(&executor, pending, approval).await));
    };
    check(
        Approval::Approve,
        expect![[r#"
        ok
        {"path":"a"}"#]],
    )
    .await;
    check(
        deny("not now"),
        expect![[r#"
            denied
            this call was not approved: not now; do not repeat it, find another way or say what you would need"#]],
    )
    .await;
    check(Approval::Edit { input: json!({ "path": "b" }) }, expect![[r#"
        ok
        {"path":"b"}
        [the arguments were changed: the whole: edited by the user, who then approved the call ({"path":"a"} → {"path":"b"})]"#]]).await;
    let pending = pending(&executor, json!({ "path": "a" })).await;
    let again = executor.resume(Resumption::new(scope(), pending.clone(), Approval::Later)).await.unwrap();
    assert_eq!(again, CallOutcome::Pending(Box::new(pending)));
}

#[tokio::test]
async fn the_other_calls_of_the_batch_are_answered_meanwhile() {
    let executor = LocalExecutor::builder(registry([edit(), Probe::new("now")]))
        .policy(reading().allow(Rule::tools("now".parse().unwrap())))
        .approver(answers(Approval::Later))
        .build();
    let calls = ["now", "edit", "now"].into_iter().zip(["c1", "c2", "c3"]);
    let calls = calls.map(|(name, id)| call(id, name, json!({ "path": "a" }))).collect();
    let waiting = executor.execute_batch(Batch::new(scope(), calls)).await.into_replies().unwrap_err();
    let outcomes = waiting.into_outcome().into_outcomes();
    let ended: Vec<bool> = outcomes
        .iter()
        .map(|outcome| matches!(outcome, CallOutcome::Replied(reply) if reply.status.is_ok()))
        .collect();
    assert_eq!(ended, [true, false, true]);
}

/// Resumes with an approval after a change; an answer that no longer fits is asked for again.
async fn check_asked_again(
    change: impl FnOnce(&mut PendingCall),
    executor: LocalExecutorBuilder,
    scope: CallScope,
) {
    let first = asking(answers(Approval::Later)).build();
    let mut pending = pending(&first, json!({ "path": "a" })).await;
    change(&mut pending);
    let executor = executor.approver(answers(deny("asked again"))).build();
    let outcome = executor.resume(Resumption::new(scope, pending, Approval::Approve)).await.unwrap();
    let CallOutcome::Replied(reply) = outcome else { panic!("the approver answered: {outcome:?}") };
    assert_eq!(reply.status, ReplyStatus::Denied);
    assert!(reply.output.to_text().contains("asked again"), "{reply:?}");
}

#[tokio::test]
async fn an_approval_is_good_for_exactly_what_was_shown() {
    let same = || asking(AllowAll);
    let of = |probe: Probe| LocalExecutor::builder(registry([probe])).policy(reading());
    check_asked_again(|pending| pending.call.input = json!({ "path": "b" }), same(), scope()).await;
    check_asked_again(|pending| pending.call.input = json!({ "path": "a", "line": 1 }), same(), scope())
        .await;
    check_asked_again(|_| {}, same(), CallScope::new("run-2".parse().unwrap())).await;
    check_asked_again(|_| {}, same(), scope().with_agent("explorer")).await;
    check_asked_again(|_| {}, same(), scope().child("run-1".parse().unwrap())).await;
    let described = edit().spec(|spec| spec.with_title("Edit any file"));
    check_asked_again(|_| {}, of(described), scope()).await;
    let wider = edit().declare(|_| Ok(Accesses::from([read("file:config"), write("file:**")])));
    check_asked_again(|_| {}, of(wider), scope()).await;
    let detailed = edit()
        .declare(|_| Ok(Accesses::from([read("file:config"), write("file:a").with_detail("all of it")])));
    check_asked_again(|_| {}, of(detailed), scope()).await;
}

#[tokio::test]
async fn the_policy_of_now_counts_when_a_call_goes_on() {
    let pending = pending(&asking(answers(Approval::Later)).build(), json!({ "path": "a" })).await;
    let writing = || Rule::access(AccessMode::Write, resource("file:**"));
    let check = async |policy: Policy, approval: Approval, expect: Expect| {
        let executor = asking(AllowAll).policy(policy).build();
        expect.assert_eq(&outline(&resume(&executor, pending.clone(), approval).await));
    };
    // What a person denied stays denied, and what a rule denies cannot be approved.
    check(
        reading().allow(writing()),
        deny("no"),
        expect![[r#"
            denied
            this call was not approved: no; do not repeat it, find another way or say what you would need"#]],
    )
    .await;
    check(reading().deny(writing()), Approval::Approve, expect![[r#"
        denied
        `edit` is not permitted to do this (write file:a: deny by the rule write(file:**)); do not try it again, find another way or say what you would need"#]]).await;
    check(reading().deny(writing()), Approval::Edit { input: json!({ "path": "b" }) }, expect![[r#"
        denied
        `edit` is not permitted to do this (write file:a: deny by the rule write(file:**)); do not try it again, find another way or say what you would need"#]]).await;
    check(
        reading().allow(writing()),
        Approval::Approve,
        expect![[r#"
        ok
        {"path":"a"}"#]],
    )
    .await;
}

#[tokio::test]
async fn a_call_whose_tool_is_gone_is_answered_like_any_unknown_one() {
    let pending = pending(&asking(answers(Approval::Later)).build(), json!({ "path": "a" })).await;
    let executor = LocalExecutor::builder(registry([Probe::new("write")])).build();
    expect![[r#"
        error: unknown tool
        there is no tool `edit`; the only tool is `write`"#]]
    .assert_eq(&outline(&resume(&executor, pending, Approval::Approve).await));
}

#[tokio::test]
async fn a_call_that_was_cancelled_does_not_go_on() {
    let executor = asking(answers(Approval::Later)).build();
    let pending = pending(&executor, json!({ "path": "a" })).await;
    let token = CancellationToken::new();
    token.cancel();
    let resumption = Resumption::new(scope(), pending, Approval::Approve).cancelled_by(token);
    let CallOutcome::Replied(reply) = executor.resume(resumption).await.unwrap() else { panic!("it waits") };
    assert_eq!(reply.status, ReplyStatus::Cancelled);
}
