//! Calls that wait for a person, and those of their batch that wait with them.

use crate::approvals::answers;
use crate::fixture::{Log as Events, Probe, call, outline, read, registry, resource, scope, write};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::{Digest, ToolError};
use haft_tools_core::{
    Access, AccessMode, Accesses, Approval, Batch, BatchOutcome, CallOutcome, Claim, HeldCall, Journal,
    JournalEntry, Limits, LocalExecutor, LocalExecutorBuilder, MemoryJournal, MemoryPending, PendingCall,
    PendingId, PendingStore, Policy, Resumption, ResumptionError, Rule, StoreError, Strategy,
    ToolExecutor as _,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the tools were called with.
type Log = Arc<Mutex<Vec<String>>>;

/// A tool that writes down what it was called with: `asks` is asked about, the others are not.
fn work(log: &Log) -> LocalExecutorBuilder {
    let declared = |input: &Value| -> Result<Accesses, ToolError> {
        let of = |name: &str| input[name].as_str();
        Ok(match (of("read"), of("write")) {
            (Some(path), _) => read(path).into(),
            (None, Some(path)) => write(path).into(),
            (None, None) => Access::opaque("a script").into(),
        })
    };
    let tool = |name: &str| {
        let log = log.clone();
        Probe::new(name).declare(declared).run(move |input, _| {
            log.lock().unwrap().push(input.to_string());
            std::future::ready(Ok("done".into()))
        })
    };
    LocalExecutor::builder(registry([tool("asks"), tool("runs")]))
        .policy(Policy::new().allow(Rule::tools("runs*".parse().unwrap())))
        .approver(answers(Approval::Later))
}

/// Tells of each call what became of it.
fn told(outcome: &BatchOutcome) -> String {
    let lines = outcome.outcomes().iter().map(|outcome| match outcome {
        CallOutcome::Replied(reply) => format!("{}: {}\n", reply.call_id, outline(reply).replace('\n', ": ")),
        CallOutcome::Pending(pending) => format!("{}: waits for a person\n", pending.call.id),
        CallOutcome::Held(held) => format!("{}: behind {:?}\n", held.call.id, held.behind),
    });
    lines.collect()
}

fn held(outcome: BatchOutcome) -> Vec<HeldCall> {
    let held = outcome.into_outcomes().into_iter().filter_map(|outcome| match outcome {
        CallOutcome::Held(held) => Some(*held),
        _ => None,
    });
    held.collect()
}

fn pending(outcome: &BatchOutcome) -> Vec<PendingCall> {
    let pending = outcome.outcomes().iter().filter_map(|outcome| match outcome {
        CallOutcome::Pending(pending) => Some((**pending).clone()),
        _ => None,
    });
    pending.collect()
}

async fn run(executor: &LocalExecutor, calls: &[(&str, Value)]) -> BatchOutcome {
    let numbered = calls.iter().enumerate();
    let calls =
        numbered.map(|(place, (name, input))| call(&format!("c{place}"), name, input.clone())).collect();
    executor.execute_batch(Batch::new(scope(), calls)).await
}

async fn resume(
    executor: &LocalExecutor,
    pending: PendingCall,
    approval: Approval,
) -> Result<CallOutcome, ResumptionError> {
    executor.resume(Resumption::new(scope(), pending, approval)).await
}

#[tokio::test]
async fn only_what_conflicts_with_a_call_that_waits_waits_with_it() {
    for strategy in [Strategy::ByAccess, Strategy::Sequential] {
        let log = Log::default();
        let executor = work(&log).strategy(strategy).build();
        let outcome = run(
            &executor,
            &[
                ("runs", json!({ "write": "file:a" })),
                ("asks", json!({ "write": "file:a" })),
                ("runs", json!({ "read": "file:a" })),
                ("runs", json!({ "write": "file:b" })),
                ("asks", json!({ "write": "file:a" })),
            ],
        )
        .await;
        expect![[r#"
            c0: ok: done
            c1: waits for a person
            c2: behind [CallId("c1")]
            c3: ok: done
            c4: behind [CallId("c1"), CallId("c2")]
        "#]]
        .assert_eq(&told(&outcome));
        assert_eq!(*log.lock().unwrap(), [r#"{"write":"file:a"}"#, r#"{"write":"file:b"}"#]);
        let error = outcome.clone().into_replies().unwrap_err().to_string();
        assert_eq!(error, "waiting for an approval of asks; 2 calls are held back until then");
        let [waiting] = pending(&outcome).try_into().unwrap();
        resume(&executor, waiting, Approval::Approve).await.unwrap();
        let again = executor.execute_batch(Batch::of_held(scope(), held(outcome))).await;
        expect![[r#"
            c2: ok: done
            c4: waits for a person
        "#]]
        .assert_eq(&told(&again));
        let done = [
            r#"{"write":"file:a"}"#,
            r#"{"write":"file:b"}"#,
            r#"{"write":"file:a"}"#,
            r#"{"read":"file:a"}"#,
        ];
        assert_eq!(*log.lock().unwrap(), done);
    }
}

#[tokio::test]
async fn where_calls_are_not_ordered_none_is_held() {
    let executor = work(&Log::default()).strategy(Strategy::Parallel).build();
    let outcome =
        run(&executor, &[("asks", json!({ "write": "file:a" })), ("runs", json!({ "read": "file:a" }))])
            .await;
    expect![[r#"
        c0: waits for a person
        c1: ok: done
    "#]]
    .assert_eq(&told(&outcome));
}

#[tokio::test]
async fn a_call_that_cannot_be_prepared_yet_waits_for_all_that_wait() {
    // What it reads is only there once the call before it has run.
    let exists = Arc::new(Mutex::new(false));
    let (creator, looked) = (Arc::clone(&exists), Arc::clone(&exists));
    let make = Probe::new("make").declare(|_| Ok(write("file:new").into())).run(move |_, _| {
        *creator.lock().unwrap() = true;
        std::future::ready(Ok("made".into()))
    });
    let look = Probe::new("look").declare(move |_| {
        let exists = *looked.lock().unwrap();
        if exists { Ok(read("file:new").into()) } else { Err(ToolError::not_found("there is no file `new`")) }
    });
    let reads = Rule::access(AccessMode::Read, resource("file:**"));
    let executor = LocalExecutor::builder(registry([make, look.says("seen")]))
        .policy(Policy::new().allow(reads))
        .approver(answers(Approval::Later))
        .build();
    for approved in [true, false] {
        *exists.lock().unwrap() = false;
        let outcome = run(&executor, &[("make", json!({})), ("look", json!({}))]).await;
        expect![[r#"
            c0: waits for a person
            c1: behind [CallId("c0")]
        "#]]
        .assert_eq(&told(&outcome));
        let [waiting] = pending(&outcome).try_into().unwrap();
        let answer = if approved { Approval::Approve } else { Approval::Deny { reason: String::new() } };
        resume(&executor, waiting, answer).await.unwrap();
        let again = executor.execute_batch(Batch::of_held(scope(), held(outcome))).await;
        let expected = if approved {
            expect!["c1: ok: seen\n"]
        } else {
            expect!["c1: error: not found: there is no file `new`\n"]
        };
        expected.assert_eq(&told(&again));
    }
}

#[tokio::test]
async fn a_held_call_has_one_start_one_end_and_its_repairs() {
    let seen = Events::default();
    let schema = json!({ "properties": { "write": { "type": "string" }, "n": { "type": "integer" } } });
    let tool = Probe::new("runs").schema(schema).declare(|_| Ok(write("file:a").into())).says("done");
    let asks = Probe::new("asks").declare(|_| Ok(write("file:a").into())).says("asked");
    let executor = LocalExecutor::builder(registry([tool, asks]))
        .policy(Policy::new().allow(Rule::tools("runs*".parse().unwrap())))
        .approver(answers(Approval::Later))
        .events(seen.events())
        .build();
    let outcome = run(&executor, &[("asks", json!({})), ("runs", json!({ "n": "5" }))]).await;
    let [waiting] = pending(&outcome).try_into().unwrap();
    resume(&executor, waiting, Approval::Approve).await.unwrap();
    let again = executor.execute_batch(Batch::of_held(scope(), held(outcome))).await.into_replies().unwrap();
    assert_eq!(again[0].repairs.len(), 1);
    expect![[r#"
        c0 started asks {}
        c0 decided ask: write file:a: ask, no rule speaks of it
        c1 started runs {"n":"5"}
        c1 decided allow: write file:a: allow by the rule runs*
        c0 asked ["write file:a"] ""
        c0 decided ask: write file:a: ask, no rule speaks of it
        c0 decided allow: approved
        c0 finished ok: asked
        c1 decided allow: write file:a: allow by the rule runs*
        c1 finished ok: done
        [the arguments were changed: /n: took a string as the value it spells ("5" → 5)]
    "#]]
    .assert_eq(&seen.outline());
}

async fn waiting(executor: &LocalExecutor) -> PendingCall {
    let outcome = run(executor, &[("asks", json!({ "write": "file:a" }))]).await;
    pending(&outcome).remove(0)
}

fn refused(refused: Result<CallOutcome, ResumptionError>, id: &PendingId, expect: Expect) {
    expect.assert_eq(&refused.unwrap_err().to_string().replace(id.as_str(), "ID"));
}

#[tokio::test]
async fn a_call_goes_on_once_whatever_was_answered() {
    let deny = || Approval::Deny { reason: "no".to_owned() };
    let edit = || Approval::Edit { input: json!({ "write": "file:b" }) };
    for (first, ran) in [(Approval::Approve, 1), (deny(), 0), (edit(), 1)] {
        let log = Log::default();
        let executor = work(&log).build();
        let pending = waiting(&executor).await;
        resume(&executor, pending.clone(), first).await.unwrap();
        for second in [Approval::Approve, deny(), edit()] {
            refused(
                resume(&executor, pending.clone(), second).await,
                &pending.id,
                expect![
                    "the pending call `ID` was resumed before, and a call runs once at most; look at what it has done, and have it called again if that is still needed"
                ],
            );
        }
        assert_eq!(log.lock().unwrap().len(), ran);
    }
}

#[tokio::test]
async fn of_many_who_go_on_with_a_call_one_does() {
    let log = Log::default();
    let executor = work(&log).build();
    let pending = waiting(&executor).await;
    let all = (0..16).map(|_| resume(&executor, pending.clone(), Approval::Approve));
    let went_on = futures_util::future::join_all(all).await.into_iter().flatten().count();
    assert_eq!((went_on, log.lock().unwrap().len()), (1, 1));
}

#[tokio::test]
async fn an_approval_that_comes_too_late_does_not_count() {
    let log = Log::default();
    let executor =
        work(&log).limits(Limits { approval_lifetime: Some(Duration::ZERO), ..Limits::default() }).build();
    let pending = waiting(&executor).await;
    assert!(pending.is_expired());
    refused(
        resume(&executor, pending.clone(), Approval::Approve).await,
        &pending.id,
        expect!["the pending call `ID` has expired; deny it, and have it asked again"],
    );
    let denied = resume(&executor, pending, Approval::Deny { reason: String::new() }).await.unwrap();
    assert!(matches!(denied, CallOutcome::Replied(_)));
    assert!(log.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_pending_call_that_was_tampered_with_is_refused() {
    let log = Log::default();
    let executor = work(&log).build();
    let pending = waiting(&executor).await;
    let forged = |change: &dyn Fn(&mut PendingCall)| {
        let mut forged = pending.clone();
        change(&mut forged);
        forged
    };
    let other = forged(&|pending| pending.digest = Digest::of(&json!("other")));
    refused(
        resume(&executor, other, Approval::Approve).await,
        &pending.id,
        expect![
            "the pending call `ID` is not the one that was asked about: its digest is another; answer the one that is kept"
        ],
    );
    // What it says of itself is not what runs: the call is asked about as what it is.
    let other = forged(&|pending| pending.call.input = json!({ "write": "file:b" }));
    let outcome = resume(&executor, other, Approval::Approve).await.unwrap();
    let CallOutcome::Pending(again) = outcome else { panic!("{outcome:?}") };
    assert_ne!(again.id, pending.id);
    assert_eq!(again.again.as_deref(), Some("what it would do is no longer what was approved"));
    assert!(log.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_stored_call_names_its_version_and_rebuilds_its_scope() {
    let pending = waiting(&work(&Log::default()).build()).await;
    let mut stored = serde_json::to_value(&pending).unwrap();
    stored["version"] = json!(99);
    expect!["this pending call was stored in version 99 of its form; this program reads version 1"]
        .assert_eq(&serde_json::from_value::<PendingCall>(stored).unwrap_err().to_string());
    let top = scope().with_agent("lead");
    let below = top.child("run-2".parse().unwrap()).child("run-3".parse().unwrap()).with_agent("editor");
    let batch = Batch::new(below.clone(), vec![call("c1", "asks", json!({ "write": "file:a" }))]);
    let outcome = work(&Log::default()).build().execute_batch(batch).await;
    let rebuilt = pending_scope(&outcome);
    let named = |scope: &haft_tools_core::CallScope| {
        scope.chain().map(|link| format!("{}/{:?}", link.run(), link.agent())).collect::<Vec<_>>()
    };
    assert_eq!(named(&rebuilt), named(&below));
}

fn pending_scope(outcome: &BatchOutcome) -> haft_tools_core::CallScope {
    pending(outcome)[0].scope()
}

/// Is a store that keeps nothing.
pub(crate) struct Full;

#[async_trait]
impl PendingStore for Full {
    async fn put(&self, _: &PendingCall) -> Result<(), StoreError> {
        Err(StoreError::new("keep the pending call", "the disk is full"))
    }

    async fn claim(&self, _: &PendingCall) -> Result<Claim, StoreError> {
        Err(StoreError::new("claim the pending call", "the disk is full"))
    }

    async fn waiting(&self) -> Result<Vec<PendingCall>, StoreError> {
        Ok(Vec::new())
    }

    async fn answer(&self, _: &PendingId, _: &Approval) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn answer_to(&self, _: &PendingId) -> Result<Option<Approval>, StoreError> {
        Ok(None)
    }
}

/// Is a store that takes its time for the first call.
#[derive(Default)]
struct Slow(MemoryPending);

#[async_trait]
impl PendingStore for Slow {
    async fn put(&self, pending: &PendingCall) -> Result<(), StoreError> {
        if pending.call.id.as_str() == "c0" {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        self.0.put(pending).await
    }

    async fn claim(&self, pending: &PendingCall) -> Result<Claim, StoreError> {
        self.0.claim(pending).await
    }

    async fn waiting(&self) -> Result<Vec<PendingCall>, StoreError> {
        self.0.waiting().await
    }

    async fn answer(&self, id: &PendingId, approval: &Approval) -> Result<bool, StoreError> {
        self.0.answer(id, approval).await
    }

    async fn answer_to(&self, id: &PendingId) -> Result<Option<Approval>, StoreError> {
        self.0.answer_to(id).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_is_never_held_behind_a_later_one_however_long_keeping_takes() {
    let executor = work(&Log::default()).pending(Arc::new(Slow::default())).build();
    let calls = [
        ("asks", json!({ "write": "file:a" })),
        ("asks", json!({ "write": "file:b" })),
        ("runs", json!({ "read": "file:a" })),
        ("runs", json!({ "read": "file:b" })),
        ("runs", json!({ "write": "file:a" })),
    ];
    let outcome = run(&executor, &calls).await;
    expect![[r#"
        c0: waits for a person
        c1: waits for a person
        c2: behind [CallId("c0")]
        c3: behind [CallId("c1")]
        c4: behind [CallId("c0"), CallId("c2")]
    "#]]
    .assert_eq(&told(&outcome));
}

#[tokio::test]
async fn what_cannot_be_kept_does_not_wait_and_what_cannot_be_claimed_does_not_run() {
    let log = Log::default();
    let executor = work(&log).pending(Arc::new(Full)).build();
    let outcome = run(&executor, &[("asks", json!({ "write": "file:a" }))]).await;
    expect![[r#"
        c0: denied: this call needs an approval, and the host cannot keep calls at the moment; nothing was done, so say so and stop
    "#]].assert_eq(&told(&outcome));
    let pending = waiting(&work(&log).build()).await;
    refused(
        resume(&executor, pending.clone(), Approval::Approve).await,
        &pending.id,
        expect!["it cannot be told whether the pending call `ID` was resumed before"],
    );
    assert!(log.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_store_tells_what_waits_and_keeps_answers_to_it() {
    let store = Arc::new(MemoryPending::new());
    let executor = work(&Log::default()).pending(Arc::clone(&store) as Arc<dyn PendingStore>).build();
    let pending = waiting(&executor).await;
    assert_eq!(store.waiting().await.unwrap(), std::slice::from_ref(&pending));
    assert_eq!(store.answer_to(&pending.id).await.unwrap(), None);
    assert!(store.answer(&pending.id, &Approval::Approve).await.unwrap());
    assert_eq!(store.answer_to(&pending.id).await.unwrap(), Some(Approval::Approve));
    resume(&executor, pending.clone(), Approval::Approve).await.unwrap();
    assert!(store.waiting().await.unwrap().is_empty());
    assert!(!store.answer(&pending.id, &Approval::Approve).await.unwrap());
    assert!(!store.answer(&PendingId::new("unknown"), &Approval::Approve).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_held_back_ends_with_its_batch_where_that_is_dropped() {
    let (log, events) = (Log::default(), Events::default());
    let journal = Arc::new(MemoryJournal::default());
    let slow =
        Probe::new("runs_on").declare(|_| Ok(read("file:b").into())).run(|_, _| std::future::pending());
    let executor = work(&log).events(events.events()).journal(Journal::new(journal.clone())).build();
    let calls = [
        call("c0", "asks", json!({ "write": "file:a" })),
        call("c1", "runs", json!({ "read": "file:a" })),
        call("c2", "runs_on", json!({ "read": "file:b" })),
    ];
    let tools = executor.registry().with(slow).unwrap();
    let batch = Batch::new(scope(), calls.to_vec()).with_registry(tools);
    tokio::time::timeout(Duration::from_millis(10), executor.execute_batch(batch)).await.unwrap_err();
    expect![[r#"
        c0 started asks {"write":"file:a"}
        c0 decided ask: write file:a: ask, no rule speaks of it
        c1 started runs {"read":"file:a"}
        c1 decided allow: read file:a: allow by the rule runs*
        c2 started runs_on {"read":"file:b"}
        c2 decided allow: read file:b: allow by the rule runs*
        c0 asked ["write file:a"] ""
        c2 finished cancelled: the call was abandoned: nothing waits for it any more
        c1 finished cancelled: the call was abandoned: nothing waits for it any more
    "#]]
    .assert_eq(&events.outline());
    let ends = journal.find(|record| matches!(record.entry, JournalEntry::Ended { .. }));
    let ends: Vec<&str> = ends.iter().map(|record| record.call.as_str()).collect();
    assert_eq!(ends, ["c2", "c1"]);
    assert_eq!(executor.pending().waiting().await.unwrap().len(), 1, "a person can still answer the first");
}

#[tokio::test]
async fn that_a_call_was_claimed_is_known_until_it_has_expired() {
    let store = MemoryPending::new();
    let pending = waiting(&work(&Log::default()).build()).await;
    let mut expired = pending.clone();
    expired.id = PendingId::new("expired");
    expired.expires_at_ms = Some(1);
    for (call, again) in [(&pending, Claim::TakenBefore), (&expired, Claim::Taken)] {
        assert_eq!(store.claim(call).await.unwrap(), Claim::Taken);
        assert_eq!(store.claim(call).await.unwrap(), Claim::TakenBefore);
        let mut other = pending.clone();
        other.id = PendingId::new(format!("behind {}", call.id));
        store.put(&other).await.unwrap();
        assert_eq!(store.claim(call).await.unwrap(), again);
    }
}
