//! Calls that stay open while somebody else than the client answers.

use super::super::fixture::{Paper, Stage, Told};
use crate::server::ask::{Ask, ClientAskError};
use haft_core::Digest;
use haft_tools_core::{Answered, Approval, Claim, PendingCall, PendingStore};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::yield_now;

const FIRST: (Option<&str>, Value) = (None, Value::Null);
const DENIED: &str = "denied: this call was not approved: not today; do not repeat it, find another way or say what you would need";

fn path() -> Value {
    json!({ "path": "a" })
}

fn stage() -> Arc<Stage> {
    let mut server = Stage::new([]);
    Arc::get_mut(&mut server.toolset).unwrap().attended = Some(Duration::from_mins(10));
    Arc::new(server)
}

/// Waits until a call waits in the store.
async fn waiting(store: &dyn PendingStore) -> PendingCall {
    loop {
        if let Some(pending) = store.waiting().await.unwrap().pop() {
            return pending;
        }
        yield_now().await;
    }
}

fn deny() -> Approval {
    Approval::Deny { reason: "not today".to_owned() }
}

/// Calls `write` as this client, and has it answered in the store; gives what the client is told.
async fn answered(line: Paper, approval: Approval) -> (Told, Arc<Stage>) {
    let server = stage();
    let (calling, line) = (Arc::clone(&server), Arc::new(line));
    let call = tokio::spawn(async move { Told::from(calling.call(line, "write", path(), FIRST).await) });
    let pending = waiting(&*server.store).await;
    let kept = server.store.answer_first(&pending.id, &pending.digest, &approval).await.unwrap();
    assert_eq!(kept, Answered::Kept);
    let told = call.await.unwrap();
    assert_eq!(server.store.waiting().await.unwrap(), [], "what was answered waits no more");
    assert_eq!(server.store.claim(&pending).await.unwrap(), Claim::TakenBefore);
    (told, server)
}

fn silent() -> Paper {
    Paper::legacy(|_: &Ask| None)
}

#[tokio::test(start_paused = true)]
async fn a_call_goes_on_when_somebody_else_answers_in_both_eras_and_with_forms_and_without() {
    for line in [|| Paper::modern("ada").mute(), || silent().mute(), silent] {
        let (told, server) = answered(line(), Approval::Approve).await;
        assert_eq!((told.reply(), server.ran.all()), ("ok: written", vec![path()]));
        let (told, server) = answered(line(), deny()).await;
        assert_eq!((told.reply(), server.ran.all()), (DENIED, vec![]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_answers_first_has_answered_and_nobody_can_after_it() {
    let server = stage();
    let line = Arc::new(Paper::legacy(|_: &Ask| Some(Ok(json!({ "answer": "once" })))));
    let told = Told::from(server.call(line, "write", path(), FIRST).await);
    assert_eq!((told.reply(), server.ran.all()), ("ok: written", vec![path()]));
    assert_eq!(server.store.waiting().await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_the_client_that_comes_second_does_not_count() {
    let server = stage();
    let store = Arc::clone(&server.store);
    let line = Paper::legacy(move |_: &Ask| {
        // Somebody has denied it while the form was shown.
        let denying = async {
            let pending = store.waiting().await.unwrap().pop().unwrap();
            store.answer_first(&pending.id, &pending.digest, &deny()).await.unwrap()
        };
        assert_eq!(futures_util::FutureExt::now_or_never(denying), Some(Answered::Kept));
        Some(Ok(json!({ "answer": "once" })))
    });
    let told = Told::from(server.call(Arc::new(line), "write", path(), FIRST).await);
    assert_eq!((told.reply(), server.ran.all()), (DENIED, vec![]));
}

#[tokio::test(start_paused = true)]
async fn what_the_client_cancels_cannot_be_approved_any_more() {
    let server = stage();
    let line = Arc::new(silent());
    let (calling, asked) = (Arc::clone(&server), Arc::clone(&line));
    let call = tokio::spawn(async move { Told::from(calling.call(asked, "write", path(), FIRST).await) });
    let pending = waiting(&*server.store).await;
    line.token.cancel();
    assert_eq!(
        call.await.unwrap().reply(),
        "cancelled: the call was cancelled before it began; nothing was done"
    );
    let late = server.store.answer_first(&pending.id, &pending.digest, &Approval::Approve).await.unwrap();
    assert_eq!((late, server.ran.all()), (Answered::Gone, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_be_asked_after_all_leaves_it_to_others() {
    let line =
        Paper::legacy(|_: &Ask| Some(Err(ClientAskError::Unable(crate::server::caller::Ability::Forms))));
    let (told, _) = answered(line, Approval::Approve).await;
    assert_eq!(told.reply(), "ok: written");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_answers_in_time_waits_on() {
    let server = stage();
    let told = Told::from(server.call(Arc::new(silent().mute()), "write", path(), FIRST).await);
    let pending = waiting(&*server.store).await;
    assert_eq!(told, Told::Waits(pending.id.to_string()));
}

#[tokio::test]
async fn an_answer_counts_once_and_for_exactly_what_was_shown() {
    let server = stage();
    let mut pending = super::super::fixture::pending(None);
    server.store.put(&pending).await.unwrap();
    let shown = pending.digest;
    pending.digest = Digest::of(&json!("another"));
    let store = &server.store;
    let mut told = Vec::new();
    for (digest, approval) in
        [(pending.digest, Approval::Approve), (shown, deny()), (shown, Approval::Approve)]
    {
        told.push(store.answer_first(&pending.id, &digest, &approval).await.unwrap());
    }
    assert_eq!(told, [Answered::OtherDigest, Answered::Kept, Answered::Before]);
    assert_eq!(store.answer_to(&pending.id).await.unwrap(), Some(deny()));
}
