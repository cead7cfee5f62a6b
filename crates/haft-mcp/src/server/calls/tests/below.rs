//! Calls that wait for calls they have made, for a client that cannot be asked.

use super::super::fixture::{Paper, Probe, Stage, Told};
use super::super::{ParkedLimits, refusal};
use crate::server::ask::Ask;
use crate::server::line::Served;
use async_trait::async_trait;
use expect_test::expect;
use haft_core::{RunId, ToolCall};
use haft_tools_core::{
    Approval, Batch, CallOutcome, Claim, MemoryPending, PendingCall, PendingId, PendingStore, Resumption,
    StoreError, ToolExecutor, Wants,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// What calls are executed by, and where they wait.
type House = (Arc<dyn ToolExecutor>, Arc<dyn PendingStore>);

/// Is a server with a tool that has `write` called in a run of its own.
fn stage() -> Stage {
    stage_over(Arc::new(MemoryPending::new()))
}

fn stage_over(store: Arc<dyn PendingStore>) -> Stage {
    let house: Arc<OnceLock<House>> = Arc::default();
    let waiting: Arc<Mutex<Option<PendingCall>>> = Arc::default();
    let made = Arc::clone(&house);
    let delegate = Probe::new("delegate", move |_, cx| {
        let (house, waiting) = (Arc::clone(&made), Arc::clone(&waiting));
        async move {
            let (executor, store) = house.get().unwrap();
            let scope = cx.scope().child("child".parse().unwrap()).with_agent("explorer");
            let known = waiting.lock().unwrap().take();
            let outcome = if let Some(pending) = known {
                let answer = store.answer_to(&pending.id).await.unwrap().unwrap();
                executor.resume(Resumption::new(scope, pending, answer).made_by(&cx)).await.unwrap()
            } else {
                let call = ToolCall::new("t".parse().unwrap(), "write", json!({ "path": "a" }));
                let batch = Batch::new(scope, vec![call]).made_by(&cx);
                executor.execute_batch(batch).await.into_outcomes().remove(0)
            };
            match outcome {
                CallOutcome::Replied(reply) => Ok(reply.output),
                CallOutcome::Pending(pending) => {
                    *waiting.lock().unwrap() = Some((*pending).clone());
                    Err(cx.wait_for(vec![*pending]))
                }
                CallOutcome::Held(_) => unreachable!("it is by itself"),
            }
        }
    });
    let look = Probe::new("look", |_, _| async { Ok("seen".into()) }).idempotent();
    let stage = Stage::instance([delegate, look], ParkedLimits::default(), store);
    assert!(house.set((Arc::clone(&stage.toolset.executor), Arc::clone(&stage.store))).is_ok());
    stage
}

const FIRST: (Option<&str>, Value) = (None, Value::Null);

#[tokio::test]
async fn a_call_that_has_begun_is_gone_on_with_when_it_is_repeated() {
    for legacy in [false, true] {
        let server = stage();
        let line = || {
            let paper = if legacy { Paper::legacy(|_: &Ask| None) } else { Paper::modern("ada") };
            Arc::new(paper.mute())
        };
        let call = async |input: Value| server.call(line(), "delegate", input, FIRST).await;
        let Ok(Served::Waits(outer)) = call(json!({})).await else { panic!("it waits") };
        let told = refusal(&outer);
        let leaf = outer.leaves().next().unwrap();
        let text = told.to_text().replace(leaf.id.as_str(), "ID");
        expect![[r"
            `delegate` has begun, and waits for calls that it has made: they need an approval, and this client cannot ask for one.
            - `write` of explorer: `haft approvals approve ID`
            Ask the user to answer these, then repeat the very same call: it goes on where it is."]]
        .assert_eq(&text);
        let structured = told.structured.unwrap();
        assert_eq!(structured["error"], "approval_required");
        assert_eq!(structured["waits_for"][0]["pending"], json!(leaf.id));
        // Repeated before anybody has answered, it is neither begun anew nor gone on with.
        assert_eq!(Told::from(call(json!({})).await), Told::Waits(outer.id.to_string()));
        assert_eq!(server.store.waiting().await.unwrap().len(), 2);
        assert!(server.store.answer(&leaf.id, &Approval::Approve).await.unwrap());
        assert_eq!(Told::from(call(json!({})).await).reply(), "ok: written");
        assert_eq!(server.ran.all(), [json!({ "path": "a" })]);
        assert!(server.store.waiting().await.unwrap().is_empty());
        // From then on it is a call of its own.
        assert!(matches!(Told::from(call(json!({})).await), Told::Waits(id) if id != outer.id.to_string()));
    }
}

#[tokio::test]
async fn a_person_can_end_a_call_that_has_begun() {
    let server = stage();
    let call =
        async || server.call(Arc::new(Paper::modern("ada").mute()), "delegate", json!({}), FIRST).await;
    let Ok(Served::Waits(outer)) = call().await else { panic!("it waits") };
    let no = Approval::Deny { reason: "no".to_owned() };
    assert!(server.store.answer(&outer.id, &no).await.unwrap());
    assert!(Told::from(call().await).reply().starts_with("denied: this call was not approved: no;"));
    assert!(server.store.waiting().await.unwrap().is_empty());
    assert!(server.ran.all().is_empty());
}

/// Counts how often all that waits is listed, and breaks when it is told to.
#[derive(Default)]
struct Counted {
    kept: MemoryPending,
    listed: AtomicUsize,
    cannot_read: AtomicBool,
    cannot_claim: AtomicBool,
    /// Has whatever is claimed claimed by somebody else a moment before.
    is_late: AtomicBool,
}

impl Counted {
    fn broken(is_so: &AtomicBool) -> Result<(), StoreError> {
        let fault = || StoreError::new("read the pending calls", std::io::Error::other("no connection"));
        if is_so.load(Ordering::SeqCst) { Err(fault()) } else { Ok(()) }
    }
}

#[async_trait]
impl PendingStore for Counted {
    async fn put(&self, pending: &PendingCall) -> Result<(), StoreError> {
        self.kept.put(pending).await
    }

    async fn claim(&self, pending: &PendingCall) -> Result<Claim, StoreError> {
        Self::broken(&self.cannot_claim)?;
        if self.is_late.load(Ordering::SeqCst) {
            self.kept.claim(pending).await?;
        }
        self.kept.claim(pending).await
    }

    async fn waiting(&self) -> Result<Vec<PendingCall>, StoreError> {
        self.listed.fetch_add(1, Ordering::SeqCst);
        self.kept.waiting().await
    }

    async fn waiting_of(&self, run: &RunId) -> Result<Vec<PendingCall>, StoreError> {
        Self::broken(&self.cannot_read)?;
        self.kept.waiting_of(run).await
    }

    async fn answer(&self, id: &PendingId, approval: &Approval) -> Result<bool, StoreError> {
        self.kept.answer(id, approval).await
    }

    async fn answer_to(&self, id: &PendingId) -> Result<Option<Approval>, StoreError> {
        self.kept.answer_to(id).await
    }
}

#[tokio::test]
async fn a_call_that_waits_for_nobody_is_served_without_a_list_of_all_that_wait() {
    let store = Arc::new(Counted::default());
    let free = Probe::new("look", |_, _| async { Ok("seen".into()) });
    let server =
        Stage::instance([free], ParkedLimits::default(), Arc::clone(&store) as Arc<dyn PendingStore>);
    for _ in 0..10 {
        let line = Arc::new(Paper::modern("ada").mute());
        let told: Told = server.call(line, "look", json!({}), (None, Value::Null)).await.into();
        assert_eq!(told.reply(), "ok: seen");
    }
    assert_eq!(store.listed.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_call_is_not_begun_twice_where_nobody_knows_whether_it_waits() {
    let store = Arc::new(Counted::default());
    let server = stage_over(Arc::clone(&store) as Arc<dyn PendingStore>);
    let line = || Arc::new(Paper::modern("ada").mute());
    let call = async |tool: &str| -> Told { server.call(line(), tool, json!({}), FIRST).await.into() };
    let Ok(Served::Waits(outer)) = server.call(line(), "delegate", json!({}), FIRST).await else {
        panic!("it waits")
    };
    store.cannot_read.store(true, Ordering::SeqCst);
    expect![
        "error: unavailable: whether this call waits already cannot be told now, so nothing was done; repeat the very same call later"
    ]
    .assert_eq(call("delegate").await.reply());
    // What may be done twice is done.
    assert_eq!(call("look").await.reply(), "ok: seen");
    store.cannot_read.store(false, Ordering::SeqCst);
    assert_eq!(server.store.waiting().await.unwrap().len(), 2);
    assert_eq!(call("delegate").await, Told::Waits(outer.id.to_string()));
}

#[tokio::test]
async fn whoever_cannot_go_on_with_a_call_is_told_why() {
    let store = Arc::new(Counted::default());
    let server = stage_over(Arc::clone(&store) as Arc<dyn PendingStore>);
    let line = || Arc::new(Paper::modern("ada").mute());
    let Ok(Served::Waits(outer)) = server.call(line(), "delegate", json!({}), FIRST).await else {
        panic!("it waits")
    };
    let leaf = outer.leaves().next().unwrap();
    assert!(server.store.answer(&leaf.id, &Approval::Approve).await.unwrap());
    let call = async || -> Told { server.call(line(), "delegate", json!({}), FIRST).await.into() };
    store.cannot_claim.store(true, Ordering::SeqCst);
    expect![
        "error: unavailable: whether this call waits already cannot be told now, so nothing was done; repeat the very same call later"
    ]
    .assert_eq(call().await.reply());
    store.cannot_claim.store(false, Ordering::SeqCst);
    store.is_late.store(true, Ordering::SeqCst);
    expect![
        "error: failed: another request goes on with this call already and is told how it ends; look at what it has done before you call it again"
    ]
    .assert_eq(call().await.reply());
    assert!(server.ran.all().is_empty());
}

#[tokio::test]
async fn a_call_goes_on_when_what_it_waits_for_has_expired() {
    let store = Arc::new(MemoryPending::new());
    let server = stage_over(Arc::clone(&store) as Arc<dyn PendingStore>);
    let line = || Arc::new(Paper::modern("ada").mute());
    let Ok(Served::Waits(mut outer)) = server.call(line(), "delegate", json!({}), FIRST).await else {
        panic!("it waits")
    };
    let Wants::Below { calls } = &mut outer.wants else { panic!("it waits below") };
    calls[0].expires_at_ms = Some(1);
    let later = Arc::new(MemoryPending::new());
    later.put(&outer).await.unwrap();
    let server = stage_over(Arc::clone(&later) as Arc<dyn PendingStore>);
    // Gone on with, it asks anew, and is another call that waits.
    let told: Told = server.call(line(), "delegate", json!({}), FIRST).await.into();
    assert!(matches!(&told, Told::Waits(id) if *id != outer.id.to_string()), "{told:?}");
    assert!(!later.waits(&outer.id).await.unwrap());
}
