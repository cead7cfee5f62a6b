use super::super::fixture::{Dropped, Paper, Probe, Stage, Told};
use crate::server::ask::Ask;
use futures_util::FutureExt as _;
use haft_core::ToolError;
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
async fn an_unknown_tool_is_answered_with_those_that_are_near() {
    let server = Stage::new([]);
    let told = server.round("writ", json!({}), FIRST).await;
    assert_eq!(told.reply(), "error: unknown tool: there is no tool `writ`; did you mean `write`?");
}
