use crate::approvals::answers;
use crate::fixture::{Probe, call, outline, registry, reply, scope, write};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_tools_core::{
    Approval, Approver, AskedQuestion, Batch, LocalExecutor, Mode, ModeSwitch, PendingCall, Policy,
    QuestionOutcome, Rule, ToolExecutor as _, ToolRegistry, request_mode,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Is a person who confirms or not, and remembers what they were asked.
#[derive(Clone)]
struct Confirms(Value, Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Approver for Confirms {
    async fn approve(&self, _: &PendingCall) -> Approval {
        Approval::Nobody
    }

    async fn answer(&self, asked: &AskedQuestion) -> QuestionOutcome {
        self.1.lock().unwrap().push(asked.question.text.clone());
        QuestionOutcome::Answered { answer: self.0.clone() }
    }
}

async fn check(from: Mode, input: Value, approver: impl Approver, expect: Expect) -> Mode {
    let switch = ModeSwitch::new(from);
    let tools = ToolRegistry::of([Arc::new(request_mode(&switch)) as _]).unwrap();
    let policy = Policy::new().allow(Rule::tools("request_mode".parse().unwrap()));
    let executor = LocalExecutor::builder(tools).mode(&switch).policy(policy).approver(approver).build();
    expect.assert_eq(&outline(&reply(&executor, "request_mode", input).await));
    switch.get()
}

#[tokio::test]
async fn a_model_can_narrow_the_mode_by_itself() {
    let nobody = || answers(Approval::Nobody);
    let mode = check(
        Mode::Auto,
        json!({ "mode": "plan" }),
        nobody(),
        expect![[r#"
        ok
        the mode is `plan` now"#]],
    )
    .await;
    assert_eq!(mode, Mode::Plan);
    let mode = check(
        Mode::Default,
        json!({ "mode": "default" }),
        nobody(),
        expect![[r#"
        ok
        the mode is `default` now"#]],
    )
    .await;
    assert_eq!(mode, Mode::Default);
}

#[tokio::test]
async fn only_a_person_widens_the_mode() {
    let mode = check(
        Mode::Plan,
        json!({ "mode": "auto" }),
        answers(Approval::Approve),
        expect![[r#"
            denied
            the mode stays `plan`: nobody can be asked here; go on without the answer"#]],
    )
    .await;
    assert_eq!(mode, Mode::Plan);
    let no = Confirms(json!(false), Arc::default());
    let mode = check(
        Mode::Plan,
        json!({ "mode": "default" }),
        no,
        expect![[r#"
        denied
        the mode stays `plan`: the user does not want that; go on without it"#]],
    )
    .await;
    assert_eq!(mode, Mode::Plan);
    let yes = Confirms(json!(true), Arc::default());
    let input = json!({ "mode": "accept_edits", "reason": "to rename\u{202e} the\ntype" });
    let mode = check(
        Mode::Default,
        input,
        yes.clone(),
        expect![[r#"
        ok
        the mode is `accept_edits` now"#]],
    )
    .await;
    assert_eq!(mode, Mode::AcceptEdits);
    expect![[r#"The model asks for the mode `accept_edits`; it is `default` now. It says: to rename\u{202e} the\ntype"#]].assert_eq(&yes.1.lock().unwrap().join("\n"));
}

#[tokio::test]
async fn a_mode_that_no_model_may_ask_for_is_refused() {
    let switch = ModeSwitch::new(Mode::DenyUnknown);
    let tools = ToolRegistry::of([Arc::new(request_mode(&switch)) as _]).unwrap();
    let executor = LocalExecutor::builder(tools).mode(&switch).build();
    let reply = reply(&executor, "request_mode", json!({ "mode": "deny_unknown" })).await;
    assert!(!reply.status.is_ok());
}

#[tokio::test]
async fn a_mode_counts_from_when_it_is_set() {
    let switch = ModeSwitch::default();
    let edit = Probe::new("edit").declare(|_| Ok(write("file:a").into())).says("done");
    let policy = Policy::new().allow(Rule::tools("edit".parse().unwrap()));
    let executor = LocalExecutor::builder(registry([edit])).mode(&switch).policy(policy).build();
    assert!(reply(&executor, "edit", json!({})).await.status.is_ok());
    switch.set(Mode::Plan);
    expect![[r#"
        denied
        `edit` is not permitted to do this (write file:a: deny, the mode plan lets nothing write, execute, connect or call); do not try it again, find another way or say what you would need"#]].assert_eq(&outline(&reply(&executor, "edit", json!({})).await));
}

#[tokio::test]
async fn a_run_that_was_given_a_mode_is_told_that_it_holds() {
    let switch = ModeSwitch::new(Mode::Auto);
    let tools = ToolRegistry::of([Arc::new(request_mode(&switch)) as _]).unwrap();
    let policy = Policy::new().allow(Rule::tools("request_mode".parse().unwrap()));
    let executor = LocalExecutor::builder(tools).mode(&switch).policy(policy).build();
    let scope = scope().with_mode(Mode::Plan).child("run-2".parse().unwrap());
    let batch = Batch::new(scope, vec![call("c1", "request_mode", json!({ "mode": "default" }))]);
    let replies = executor.execute_batch(batch).await.into_replies().unwrap();
    expect![[r#"
        ok
        the mode is `default` now, but this run was given the mode `plan`, which goes on to hold for it"#]]
    .assert_eq(&outline(&replies[0]));
}
