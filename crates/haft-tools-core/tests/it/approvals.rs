use crate::fixture::{Dropped, Log, Probe, call, outline, read, registry, reply, resource, scope, write};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_tools_core::{
    AccessMode, Accesses, AllowAll, Approval, Approver, Batch, CallScope, LocalExecutor,
    LocalExecutorBuilder, PendingCall, Policy, Preview, Rule, ToolExecutor as _, approver_fn,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// Is a tool that reads a file, writes another, and says what it was given.
pub(crate) fn edit() -> Probe {
    let schema = json!({ "properties": { "path": { "type": "string" }, "line": { "type": "integer" } }, "required": ["path"] });
    Probe::new("edit")
        .schema(schema)
        .declare(|input| {
            let path = input["path"].as_str().unwrap();
            Ok(Accesses::from([read("file:config"), write(&format!("file:{path}"))]))
        })
        .show(|input| std::future::ready(Preview::Diff(format!("+{}", input["path"]))))
}

pub(crate) fn reading() -> Policy {
    Policy::new().allow(Rule::access(AccessMode::Read, resource("file:**")))
}

pub(crate) fn asking(approver: impl Approver) -> LocalExecutorBuilder {
    LocalExecutor::builder(registry([edit()])).policy(reading()).approver(approver)
}

pub(crate) fn answers(approval: Approval) -> impl Approver {
    approver_fn(move |_: &PendingCall| approval.clone())
}

pub(crate) fn deny(reason: &str) -> Approval {
    Approval::Deny { reason: reason.to_owned() }
}

/// Calls `edit`, which is asked about.
async fn check(executor: &LocalExecutor, expect: Expect) {
    expect.assert_eq(&outline(&reply(executor, "edit", json!({ "path": "a" })).await));
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_answer_is_no() {
    check(&LocalExecutor::builder(registry([edit()])).policy(reading()).build(), expect![[r#"
        denied
        this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need"#]]).await;
}

#[tokio::test]
async fn a_shared_approver_is_the_approver_it_shares() {
    let shared: Arc<dyn Approver> = Arc::new(answers(deny("no")));
    check(
        &asking(Arc::clone(&shared)).build(),
        expect![[r#"
        denied
        this call was not approved: no; do not repeat it, find another way or say what you would need"#]],
    )
    .await;
}

#[tokio::test]
async fn the_answer_of_a_person_decides() {
    check(
        &asking(AllowAll).build(),
        expect![[r#"
        ok
        {"path":"a"}"#]],
    )
    .await;
    check(
        &asking(answers(Approval::Approve)).build(),
        expect![[r#"
        ok
        {"path":"a"}"#]],
    )
    .await;
    check(&asking(answers(deny("we release today"))).build(), expect![[r#"
        denied
        this call was not approved: we release today; do not repeat it, find another way or say what you would need"#]]).await;
    check(
        &asking(answers(deny(""))).build(),
        expect![[r#"
            denied
            this call was not approved; do not repeat it, find another way or say what you would need"#]],
    )
    .await;
}

#[tokio::test]
async fn a_person_is_not_asked_about_what_is_allowed_or_denied() {
    let asked = || approver_fn(|_: &PendingCall| panic!("nobody should be asked"));
    let writing = || Rule::access(AccessMode::Write, resource("file:**"));
    check(
        &asking(asked()).policy(reading().allow(writing())).build(),
        expect![[r#"
        ok
        {"path":"a"}"#]],
    )
    .await;
    check(&asking(asked()).policy(reading().deny(writing())).build(), expect![[r#"
        denied
        `edit` is not permitted to do this (write file:a: deny by the rule write(file:**)); do not try it again, find another way or say what you would need"#]]).await;
}

#[tokio::test]
async fn a_person_is_shown_all_of_the_call_and_what_no_rule_allows() {
    let shown = Arc::new(Mutex::new(None));
    let sink = Arc::clone(&shown);
    let executor = asking(approver_fn(move |pending: &PendingCall| {
        *sink.lock().unwrap() = Some(pending.clone());
        Approval::Approve
    }));
    let scope = CallScope::new("run-1".parse().unwrap()).with_agent("explorer");
    let batch = Batch::new(scope, vec![call("c1", "edit", json!({ "path": "a", "line": "5" }))]);
    executor.build().execute_batch(batch).await;
    let mut pending = serde_json::to_value(shown.lock().unwrap().take().unwrap()).unwrap();
    assert!(pending["digest"].take().is_string());
    assert_eq!(pending["id"].take().as_str().unwrap().len(), 16);
    let (asked, expires) = (pending["asked_at_ms"].take(), pending["expires_at_ms"].take());
    assert_eq!(expires.as_u64().unwrap() - asked.as_u64().unwrap(), 7 * 24 * 3600 * 1000);
    expect![[r#"
        {
          "accesses": [
            {
              "kind": "resource",
              "mode": "read",
              "order": "shared",
              "resource": "file:config"
            },
            {
              "kind": "resource",
              "mode": "write",
              "resource": "file:a"
            }
          ],
          "agent": "explorer",
          "asked_at_ms": null,
          "call": {
            "id": "c1",
            "input": {
              "line": 5,
              "path": "a"
            },
            "name": "edit"
          },
          "digest": null,
          "expires_at_ms": null,
          "id": null,
          "preview": {
            "kind": "diff",
            "text": "+\"a\""
          },
          "repairs": [
            {
              "from": "5",
              "note": "took a string as the value it spells",
              "pointer": "/line",
              "to": 5
            }
          ],
          "run": "run-1",
          "unmet": [
            {
              "access": {
                "kind": "resource",
                "mode": "write",
                "resource": "file:a"
              },
              "grant": "write(file:a)",
              "reason": "no rule speaks of it"
            }
          ],
          "version": 1,
          "wants": {
            "kind": "approval"
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&pending).unwrap());
}

#[tokio::test]
async fn an_edited_input_is_validated_and_decided_again() {
    let edited = |input: Value| asking(answers(Approval::Edit { input }));
    check(&edited(json!({ "path": "b" })).build(), expect![[r#"
        ok
        {"path":"b"}
        [the arguments were changed: the whole: edited by the user, who then approved the call ({"path":"a"} → {"path":"b"})]"#]]).await;
    check(&edited(json!({ "path": "b", "line": "5" })).build(), expect![[r#"
        ok
        {"line":5,"path":"b"}
        [the arguments were changed: the whole: edited by the user, who then approved the call ({"path":"a"} → {"line":"5","path":"b"}); /line: took a string as the value it spells ("5" → 5)]"#]]).await;
    check(&edited(json!({ "line": 5 })).build(), expect![[r#"
        error: invalid input
        the arguments do not fit `edit`:
        - at the top: the property `path` is missing
        correct them and call the tool again
        [the arguments were changed: the whole: edited by the user, who then approved the call ({"path":"a"} → {"line":5})]"#]]).await;
    let guarded = reading().deny(Rule::access(AccessMode::Write, resource("file:.env")));
    check(&edited(json!({ "path": ".env" })).policy(guarded).build(), expect![[r#"
        denied
        `edit` is not permitted to do this (write file:.env: deny by the rule write(file:.env)); do not try it again, find another way or say what you would need
        [the arguments were changed: the whole: edited by the user, who then approved the call ({"path":"a"} → {"path":".env"})]"#]]).await;
}

#[tokio::test]
async fn an_approver_that_breaks_has_not_approved() {
    check(&asking(approver_fn(|_: &PendingCall| panic!("the terminal is gone"))).build(), expect![[r#"
        denied
        this call was not approved: the question could not be put; do not repeat it, find another way or say what you would need"#]]).await;
}

#[tokio::test(start_paused = true)]
async fn a_preview_that_breaks_or_never_comes_costs_nobody_else_anything() {
    let breaks = edit().show(|_| async { panic!("no such diff") });
    let tools = || registry([breaks.clone()]);
    check(
        &LocalExecutor::builder(tools()).policy(reading()).approver(AllowAll).build(),
        expect![[r#"
        error: panicked
        `edit` broke while handling this call; this is a fault of the tool, so try another way"#]],
    )
    .await;
    let endless = registry([edit().show(|_| std::future::pending())]);
    let log = Log::default();
    let executor =
        LocalExecutor::builder(endless).policy(reading()).approver(AllowAll).events(log.events()).build();
    check(
        &executor,
        expect![[r#"
        ok
        {"path":"a"}"#]],
    )
    .await;
    expect![[r#"
        c1 started edit {"path":"a"}
        c1 decided ask: write file:a: ask, no rule speaks of it
        c1 asked ["write file:a"] ""
        c1 decided allow: approved
        c1 finished ok: {"path":"a"}
    "#]]
    .assert_eq(&log.outline());
}

/// Never answers, and says when its question is taken away.
struct Patient(Arc<Mutex<Vec<&'static str>>>);

#[async_trait]
impl Approver for Patient {
    async fn approve(&self, _call: &PendingCall) -> Approval {
        let _question = Dropped(Arc::clone(&self.0), "question");
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_goes_away_with_its_call() {
    let gone = Arc::new(Mutex::new(Vec::new()));
    let (executor, token) = (asking(Patient(Arc::clone(&gone))).build(), CancellationToken::new());
    let batch =
        Batch::new(scope(), vec![call("c1", "edit", json!({ "path": "a" }))]).cancelled_by(token.clone());
    // No time runs out while a person thinks.
    let cancel = async {
        sleep(Duration::from_hours(100)).await;
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(executor.execute_batch(batch), cancel);
    expect![[r#"
        cancelled
        the call was cancelled before it was started; nothing was done"#]]
    .assert_eq(&outline(&outcome.into_replies().unwrap()[0]));
    assert_eq!(*gone.lock().unwrap(), ["question"]);
}
