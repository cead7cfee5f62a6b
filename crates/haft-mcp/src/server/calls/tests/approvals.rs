use super::super::fixture::{Paper, Stage, Told, accept, approval, message, through};
use super::super::refusal;
use crate::server::ask::{Ask, ClientAskError};
use crate::server::line::Served;
use expect_test::expect;
use haft_tools_core::{Approval, MemoryPending, PendingId, PendingStore};
use serde_json::{Value, json};
use std::sync::Arc;

fn path() -> Value {
    json!({ "path": "a" })
}

const FIRST: (Option<&str>, Value) = (None, Value::Null);

/// Serves a person of the older era, who answers like this.
async fn check_legacy(answer: Result<Value, ClientAskError>, reply: &str, runs: usize) {
    let server = Stage::new([]);
    let line = Arc::new(Paper::legacy(move |_: &Ask| Some(answer.clone())));
    let told = Told::from(server.call(Arc::clone(&line), "write", path(), FIRST).await);
    assert_eq!(told.reply(), reply);
    assert_eq!(server.ran.all().len(), runs);
    assert_eq!(line.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn the_older_era_is_asked_by_a_request() {
    check_legacy(Ok(json!({ "answer": "once" })), "ok: written", 1).await;
    check_legacy(
        Ok(json!({ "answer": "deny", "reason": "not today" })),
        "denied: this call was not approved: not today; do not repeat it, find another way or say what you would need",
        0,
    )
    .await;
    check_legacy(
        Ok(json!({ "answer": "perhaps" })),
        "denied: this call was not approved: the answer is none of the choices; do not repeat it, find another way or say \
         what you would need",
        0,
    )
    .await;
    check_legacy(
        Err(ClientAskError::Declined),
        "denied: this call was not approved; do not repeat it, find another way or say what you would need",
        0,
    )
    .await;
}

#[tokio::test]
async fn a_session_remembers_what_it_was_told_for_itself() {
    let server = Stage::new([]);
    let line = Arc::new(Paper::legacy(|_: &Ask| Some(Ok(json!({ "answer": "session" })))));
    for _ in 0..2 {
        let told = Told::from(server.call(Arc::clone(&line), "write", path(), FIRST).await);
        assert_eq!(told.reply(), "ok: written");
    }
    assert_eq!(line.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn the_newer_era_answers_in_the_next_request() {
    let server = Stage::new([]);
    let Told::Asks(asks, state) = server.round("write", path(), FIRST).await else { panic!("it is asked") };
    expect![[r#"
        May the tool `write` run?
        > {"path":"a"}
        Not allowed yet:
        - write file:a"#]]
    .assert_eq(message(&asks[0]));
    assert_eq!(asks[0].key, "approval");
    assert!(server.ran.all().is_empty());
    assert_eq!(server.store.waiting().await.unwrap(), [], "the client keeps it");
    let told = server.round("write", path(), (Some(&state), approval("once"))).await;
    assert_eq!(told.reply(), "ok: written");
    assert_eq!(server.ran.all(), [path()]);
}

#[tokio::test]
async fn another_instance_takes_up_the_answer_and_only_one_does() {
    let store: Arc<dyn PendingStore> = Arc::new(MemoryPending::new());
    let [one, two] =
        [(); 2].map(|()| Stage::instance([], super::super::ParkedLimits::default(), Arc::clone(&store)));
    let (_, state) = one.round("write", path(), FIRST).await.asks();
    let told = two.round("write", path(), (Some(&state), approval("once"))).await;
    assert_eq!(told.reply(), "ok: written");
    let told = one.round("write", path(), (Some(&state), approval("once"))).await;
    assert_eq!(
        told.reply(),
        "denied: this call was not approved: this answer was used before; do not repeat it, find another way or say what \
         you would need"
    );
    assert_eq!((one.ran.all().len(), two.ran.all().len()), (0, 1));
}

#[tokio::test]
async fn an_answer_counts_once_and_for_its_own_request() {
    let server = Stage::new([]);
    let (_, state) = server.round("write", path(), FIRST).await.asks();
    let yes = || (Some(state.as_str()), approval("always"));
    // Of somebody else, for another input, and for another tool.
    assert_eq!(server.round_of("bob", "write", path(), yes()).await, Told::Fault(-32602));
    assert_eq!(server.round("write", json!({ "path": "b" }), yes()).await, Told::Fault(-32602));
    assert_eq!(server.round("other", path(), yes()).await, Told::Fault(-32602));
    let tampered = format!("{state}x");
    assert_eq!(server.round("write", path(), (Some(&tampered), approval("once"))).await, Told::Fault(-32602));
    assert!(server.ran.all().is_empty());
    assert_eq!(server.round("write", path(), yes()).await.reply(), "ok: written");
    let again = server.round("write", path(), yes()).await;
    assert_eq!(
        again.reply(),
        "error: failed: this answer was used before; begin anew if that is still needed"
    );
    assert_eq!(server.ran.all().len(), 1);
}

#[tokio::test]
async fn an_approval_is_not_given_before_it_is_asked_for() {
    let server = Stage::new([]);
    server.round("write", path(), (None, approval("once"))).await.asks();
    server.round("write", path(), (Some(""), approval("once"))).await.asks();
    assert!(server.ran.all().is_empty());
}

#[tokio::test]
async fn what_is_no_answer_is_asked_again() {
    let server = Stage::new([]);
    let (_, mut state) = server.round("write", path(), FIRST).await.asks();
    for answers in [
        json!({}),
        json!({ "approval": 12345 }),
        json!({ "approval": null }),
        json!({ "other": accept(json!({ "answer": "once" })) }),
        approval("session"),
        approval("perhaps"),
    ] {
        let (keys, next) = server.round("write", path(), (Some(&state), answers)).await.asks();
        assert_eq!(keys, ["approval"]);
        assert_ne!(next, state);
        state = next;
    }
    let told =
        server.round("write", path(), (Some(&state), json!({ "approval": { "action": "decline" } }))).await;
    assert_eq!(
        told.reply(),
        "denied: this call was not approved; do not repeat it, find another way or say what you would need"
    );
}

#[tokio::test]
async fn nobody_is_asked_without_end() {
    let server = Stage::new([]);
    let (_, mut state) = server.round("write", path(), FIRST).await.asks();
    for _ in 2..=10 {
        state = server.round("write", path(), (Some(&state), json!({}))).await.asks().1;
    }
    let told = server.round("write", path(), (Some(&state), json!({}))).await;
    assert_eq!(
        told.reply(),
        "error: failed: it was asked 10 times without an end; begin anew if that is still needed"
    );
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_told_what_would_allow_the_call() {
    let server = Stage::new([]);
    for legacy in [false, true] {
        let line = || {
            let paper = if legacy { Paper::legacy(|_: &Ask| None) } else { Paper::modern("ada") };
            Arc::new(paper.mute())
        };
        let Ok(Served::Waits(pending)) = server.call(line(), "write", path(), FIRST).await else {
            panic!("it waits")
        };
        // Repeated, it waits under the same name.
        let again = Told::from(server.call(line(), "write", path(), FIRST).await);
        assert_eq!(again, Told::Waits(pending.id.to_string()));
        assert_eq!(server.store.waiting().await.unwrap().len(), 1);
        let told = refusal(&pending);
        let text = told.to_text().replace(pending.id.as_str(), "ID");
        expect![[r#"
            `write` needs an approval, and this client cannot ask for one; nothing was done.
            - no rule speaks of it
            Ask the user to run `haft approvals approve ID`, or to add `allow = ["write(file:a)"]` to the policy of this server, then repeat the very same call."#]]
        .assert_eq(&text);
        let structured = told.structured.unwrap();
        assert_eq!(structured["error"], "approval_required");
        assert_eq!(structured["pending"], json!(pending.id));
        // What a person says elsewhere counts, once.
        assert!(server.store.answer(&pending.id, &Approval::Approve).await.unwrap());
        let before = server.ran.all().len();
        assert_eq!(Told::from(server.call(line(), "write", path(), FIRST).await).reply(), "ok: written");
        assert!(matches!(Told::from(server.call(line(), "write", path(), FIRST).await), Told::Waits(_)));
        assert_eq!(server.ran.all().len(), before + 1);
        let waiting = server.store.waiting().await.unwrap().remove(0);
        let no = Approval::Deny { reason: "no".to_owned() };
        server.store.answer(&waiting.id, &no).await.unwrap();
        let told = Told::from(server.call(line(), "write", path(), FIRST).await);
        assert!(told.reply().starts_with("denied: this call was not approved: no;"), "{told:?}");
    }
}

#[tokio::test]
async fn what_waits_for_nobody_is_bounded() {
    let server = Stage::new([]);
    let call = async |number: usize| {
        let line = Arc::new(Paper::modern("ada").mute());
        Told::from(server.call(line, "write", json!({ "path": format!("f{number}") }), FIRST).await)
    };
    for number in 0..100 {
        assert!(matches!(call(number).await, Told::Waits(_)));
    }
    assert_eq!(
        call(100).await.reply(),
        "denied: this call was not approved: too many calls wait for an approval already; have these answered first; do not \
         repeat it, find another way or say what you would need"
    );
    assert!(matches!(call(0).await, Told::Waits(_)), "one that waits already takes no more room");
}

#[tokio::test]
async fn a_call_that_a_call_makes_is_asked_about_while_that_waits() {
    let server = Stage::new([through()]);
    let input = json!({ "of": "a" });
    let (keys, state) = server.round("through", input.clone(), FIRST).await.asks();
    assert_eq!(keys, ["approval-1"]);
    let answers = json!({ "approval-1": accept(json!({ "answer": "once" })) });
    let told = server.round("through", input.clone(), (Some(&state), answers.clone())).await;
    assert_eq!(told.reply(), "ok: written");
    assert_eq!(server.ran.all(), [path()]);
    let again = server.round("through", input.clone(), (Some(&state), answers.clone())).await;
    assert!(again.reply().contains("used before"));
    // Without a state it is no answer.
    server.round("through", input, (None, answers)).await.asks();
    assert_eq!(server.ran.all().len(), 1);
}

#[tokio::test]
async fn what_a_tool_shows_cannot_pretend_to_be_ours() {
    let server = Stage::new([]);
    let input = json!({ "path": "a", "text": "\u{1b}[2J\u{202e}x" });
    let Told::Asks(asks, _) = server.round("write", input, FIRST).await else { panic!("it is asked") };
    let text = message(&asks[0]);
    assert!(text.contains(r"\u{202e}x") && !text.contains('\u{1b}'), "{text}");
    let input = json!({ "path": "a", "text": "x".repeat(100_000) });
    let Told::Asks(asks, state) = server.round("write", input, FIRST).await else { panic!("it is asked") };
    assert!(message(&asks[0]).len() < 4 * 1024 && state.len() < 1024);
}

#[tokio::test]
async fn an_approval_for_another_run_does_not_count() {
    let server = Stage::new([]);
    let line = Arc::new(Paper::modern("ada").mute());
    let Told::Waits(id) = Told::from(server.call(line, "write", path(), FIRST).await) else { panic!() };
    server.store.answer(&PendingId::new(id), &Approval::Approve).await.unwrap();
    let other = Stage::instance([], super::super::ParkedLimits::default(), Arc::clone(&server.store));
    let mut toolset = Arc::into_inner(other.toolset).unwrap();
    toolset.scope = haft_tools_core::CallScope::new("mcp-2".parse().unwrap());
    let other = Stage { toolset: Arc::new(toolset), ..other };
    let line = Arc::new(Paper::modern("bob").mute());
    assert!(matches!(Told::from(other.call(line, "write", path(), FIRST).await), Told::Waits(_)));
    assert!(other.ran.all().is_empty());
}

#[tokio::test]
async fn a_person_who_thinks_holds_nobody_back() {
    let server = Stage::new([]);
    let thinks = Arc::new(Paper::legacy(|_: &Ask| None));
    let answers = Arc::new(Paper::legacy(|_: &Ask| Some(Ok(json!({ "answer": "once" })))));
    let mut waits = std::pin::pin!(server.call(Arc::clone(&thinks), "write", path(), FIRST));
    let other = async {
        while thinks.asked.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        Told::from(server.call(answers, "write", path(), FIRST).await)
    };
    tokio::select! {
        _ = &mut waits => panic!("nobody has answered"),
        told = other => assert_eq!(told.reply(), "ok: written"),
    }
    thinks.token.cancel();
    assert_eq!(
        Told::from(waits.await).reply(),
        "cancelled: the call was cancelled before it began; nothing was done"
    );
    assert_eq!(server.ran.all().len(), 1);
}
