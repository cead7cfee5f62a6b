//! Who attends to a single batch: an approver and an observer of its own.

use crate::approvals::{answers, asking, deny};
use crate::fixture::{Log, Probe, call, outline, permissive, registry, scope};
use async_trait::async_trait;
use expect_test::expect;
use haft_core::ToolOutput;
use haft_tools_core::{
    Approval, Approver, AskedQuestion, Batch, CallContext, LocalExecutor, MemoryPending, PendingCall,
    PendingId, PendingStore, Question, QuestionOutcome, Resumption, Rule, ToolExecutor as _,
};
use serde_json::json;
use std::sync::Arc;

/// Approves all, and answers each question with a word.
struct Person(&'static str);

#[async_trait]
impl Approver for Person {
    async fn approve(&self, _: &PendingCall) -> Approval {
        Approval::Approve
    }

    async fn answer(&self, _: &AskedQuestion) -> QuestionOutcome {
        QuestionOutcome::Answered { answer: self.0.into() }
    }
}

fn asks() -> Probe {
    Probe::new("asks").run(|_, cx: CallContext| async move {
        let answer = cx.ask(Question::text("Who?")).await;
        Ok(ToolOutput::text(answer.map_or_else(|none| none.to_string(), |answer| answer.to_string())))
    })
}

/// Is a tool that calls the one that asks.
fn relay() -> Probe {
    Probe::new("relay").run(|_, cx: CallContext| async move {
        Ok(ToolOutput::text(outline(&cx.call(call("inner", "asks", json!({}))).await)))
    })
}

fn batch(name: &str) -> Batch {
    Batch::new(scope(), vec![call("c1", name, json!({ "path": "a" }))])
}

#[tokio::test]
async fn a_batch_is_asked_about_through_its_own_approver() {
    let executor = asking(answers(deny("not by the executor's"))).build();
    let own = executor.execute_batch(batch("edit").asked_through(Arc::new(Person("x")))).await;
    assert!(own.into_replies().unwrap()[0].status.is_ok());
    let other = executor.execute_batch(batch("edit")).await.into_replies().unwrap();
    assert_eq!(
        other[0].output.to_text(),
        "this call was not approved: not by the executor's; do not repeat it, find another way or say what you would need"
    );
}

#[tokio::test]
async fn calls_that_a_call_makes_are_attended_to_by_the_same() {
    let executor = LocalExecutor::builder(registry([asks(), relay()]))
        .policy(haft_tools_core::Policy::new().allow(Rule::tools("relay".parse().unwrap())))
        .build();
    let log = Log::default();
    let batch = batch("relay").asked_through(Arc::new(Person("Ada"))).observed_by(Arc::new(log.clone()));
    let replies = executor.execute_batch(batch).await.into_replies().unwrap();
    expect![[r#"
        ok
        ok
        "Ada""#]]
    .assert_eq(&outline(&replies[0]));
    let finished = log.outline().lines().filter(|line| line.contains("finished")).count();
    assert_eq!(finished, 2);
}

#[tokio::test]
async fn a_batch_of_its_own_takes_over_whom_it_does_not_bring() {
    let inner = permissive([asks()]).build();
    let observed = Log::default();
    let (executor, log) = (inner.clone(), observed.clone());
    let outer = Probe::new("outer").run(move |_, cx: CallContext| {
        let (executor, log) = (executor.clone(), log.clone());
        async move {
            let child = cx.scope().child("run-2".parse().unwrap());
            let calls = vec![call("inner", "asks", json!({}))];
            let batch = Batch::new(child, calls).made_by(&cx).observed_by(Arc::new(log));
            Ok(ToolOutput::text(outline(&executor.execute_batch(batch).await.into_replies().unwrap()[0])))
        }
    });
    let executor = permissive([outer]).in_tree_of(&inner).build();
    let replies = executor.execute_batch(batch("outer").asked_through(Arc::new(Person("Ada")))).await;
    expect![[r#"
        ok
        ok
        "Ada""#]]
    .assert_eq(&outline(&replies.into_replies().unwrap()[0]));
    assert!(!observed.all().is_empty());
}

#[tokio::test]
async fn an_observer_of_a_batch_sees_its_events_beside_those_of_the_executor() {
    let (all, own) = (Log::default(), Log::default());
    let executor = permissive([Probe::new("t").run(|_, cx: CallContext| async move {
        cx.progress("half");
        Ok("done".into())
    })])
    .events(all.events())
    .build();
    executor.execute_batch(batch("t")).await;
    executor.execute_batch(batch("t").observed_by(Arc::new(own.clone()))).await;
    assert_eq!(all.all()[4..], own.all());
    assert_eq!(own.all().len(), 4, "started, decided, progressed, finished");
}

#[tokio::test]
async fn a_resumed_call_is_attended_to_as_well() {
    let executor = LocalExecutor::builder(registry([asks()])).approver(answers(Approval::Later)).build();
    let waiting = executor.execute_batch(batch("asks")).await.into_replies().unwrap_err();
    let pending = waiting.iter().next().unwrap().clone();
    let log = Log::default();
    let resumption = Resumption::new(scope(), pending, Approval::Approve)
        .asked_through(Arc::new(Person("Ada")))
        .observed_by(Arc::new(log.clone()));
    let outcome = executor.resume(resumption).await.unwrap();
    assert!(format!("{outcome:?}").contains("Ada"), "{outcome:?}");
    assert!(log.outline().contains("finished"));
}

#[tokio::test]
async fn a_call_that_is_kept_already_is_not_put_in_again() {
    let store = Arc::new(MemoryPending::new());
    let kept = Approval::KeptAs { id: PendingId::new("known") };
    let executor = asking(answers(kept)).pending(Arc::clone(&store) as Arc<dyn PendingStore>).build();
    let waiting = executor.execute_batch(batch("edit")).await.into_replies().unwrap_err();
    let pending = waiting.iter().next().unwrap().clone();
    assert_eq!(pending.id, PendingId::new("known"));
    assert_eq!(store.waiting().await.unwrap(), []);
    // Whoever keeps it can have it gone on with, once.
    let resumption = Resumption::new(scope(), pending.clone(), Approval::Approve);
    executor.resume(resumption.clone()).await.unwrap();
    assert!(executor.resume(resumption).await.is_err());
}
