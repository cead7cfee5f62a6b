use super::super::fixture::{Dropped, Paper, Probe, Stage, Told};
use crate::server::ask::{Ask, AskKind};
use crate::server::toolbox::CallingClient;
use futures_util::FutureExt as _;
use haft_core::{ToolError, ToolOutput};
use haft_tools_core::Question;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const FIRST: (Option<&str>, Value) = (None, Value::Null);

/// Runs until it is cancelled, or dropped, after a question if it is told to ask one.
fn slow(dropped: &Arc<AtomicUsize>) -> Probe {
    let dropped = Arc::clone(dropped);
    Probe::new("slow", move |input: Value, cx| {
        let dropped = Dropped(Arc::clone(&dropped));
        async move {
            if input["asks"] == true {
                let _ = cx.ask(Question::text("Well?").keyed("well")).await;
            }
            cx.cancellation().cancelled().await;
            drop(dropped);
            Err(ToolError::cancelled("stopped"))
        }
    })
}

#[tokio::test]
async fn a_client_that_vanishes_cancels_its_call() {
    for modern in [true, false] {
        let dropped = Arc::default();
        let server = Stage::new([slow(&dropped)]);
        let line = Arc::new(if modern { Paper::modern("ada") } else { Paper::legacy(|_: &Ask| None) });
        let token = line.token.clone();
        let call = server.call(line, "slow", json!({}), FIRST);
        let vanish = async {
            tokio::task::yield_now().await;
            token.cancel();
        };
        let (told, ()) = tokio::join!(call, vanish);
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        assert!(Told::from(told).reply().starts_with("cancelled"));
    }
}

#[tokio::test]
async fn a_request_that_is_dropped_cancels_its_call() {
    let dropped = Arc::default();
    let server = Stage::new([slow(&dropped)]);
    let mut call = Box::pin(server.call(Arc::new(Paper::modern("ada")), "slow", json!({}), FIRST));
    for _ in 0..3 {
        assert!((&mut call).now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    drop(call);
    while dropped.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_end_of_a_request_that_asked_does_not_cancel_the_call_and_that_of_the_next_one_does() {
    let dropped = Arc::default();
    let server = Stage::new([slow(&dropped)]);
    let input = json!({ "asks": true });
    let line = Arc::new(Paper::modern("ada"));
    let token = line.token.clone();
    let (_, state) = Told::from(server.call(line, "slow", input.clone(), FIRST).await).asks();
    token.cancel();
    tokio::task::yield_now().await;
    assert_eq!(dropped.load(Ordering::SeqCst), 0);
    let line = Arc::new(Paper::modern("ada"));
    let token = line.token.clone();
    let answers = json!({ "well": { "action": "accept", "content": { "answer": "x" } } });
    let call = server.call(line, "slow", input, (Some(&state), answers));
    let vanish = async {
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };
    let (told, ()) = tokio::join!(call, vanish);
    assert!(Told::from(told).reply().starts_with("cancelled"));
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_call_that_waits_ends_by_itself_though_nobody_waits_for_its_end() {
    let ended = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ended);
    let tidy = Probe::new("tidy", move |_, cx| {
        let count = Arc::clone(&count);
        async move {
            let _ = cx.ask(Question::text("Well?").keyed("well")).await;
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            count.fetch_add(1, Ordering::SeqCst);
            Err(ToolError::cancelled("stopped"))
        }
    });
    let server = Stage::new([tidy]);
    server.round("tidy", json!({}), FIRST).await.asks();
    // Whoever stops it is gone at once, and another one waits.
    assert!(server.calls.stop().now_or_never().is_none());
    server.calls.stop().await;
    assert_eq!(ended.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_those_that_are_near() {
    let server = Stage::new([]);
    let told = server.round("writ", json!({}), FIRST).await;
    assert_eq!(told.reply(), "error: unknown tool: there is no tool `writ`; did you mean `write`?");
}

#[tokio::test]
async fn a_person_makes_themselves_known_at_an_address() {
    let known = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&known);
    let login = Probe::new("login", move |_, _| {
        let before = count.fetch_add(1, Ordering::SeqCst);
        async move {
            if before == 0 {
                return Err(ToolError::unauthenticated("https://example.com/login", "log in first"));
            }
            Ok(ToolOutput::text("in"))
        }
    });
    let server = Stage::new([login]);
    let Told::Asks(asks, state) = server.round("login", json!({}), FIRST).await else { panic!("it asks") };
    let [ask] = &*asks else { panic!("{asks:?}") };
    assert_eq!(
        ask.kind,
        AskKind::Address {
            message: "The tool `login` needs you to log in there.".to_owned(),
            url: "https://example.com/login".to_owned(),
        }
    );
    let answers = json!({ ask.key.as_str(): { "action": "accept" } });
    assert_eq!(server.round("login", json!({}), (Some(&state), answers)).await.reply(), "ok: in");
    assert_eq!(known.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_call_that_was_cancelled_is_not_kept_for_another_request() {
    // It asks the client and looks at nothing else.
    let stubborn = Probe::new("stubborn", |_, cx| async move {
        let client = cx.scope().extension::<CallingClient>().unwrap().clone();
        cx.cancellation().cancelled().await;
        client.ask(vec![Ask::roots("roots")]).await;
        Ok(ToolOutput::text("done"))
    });
    let server = Stage::new([stubborn]);
    let line = Arc::new(Paper::modern("ada"));
    line.token.cancel();
    tokio::time::pause();
    let told = Told::from(server.call(line, "stubborn", json!({}), FIRST).await);
    assert!(told.reply().starts_with("cancelled"), "{told:?}");
    assert_eq!(server.calls.parked.len(), 0);
}
