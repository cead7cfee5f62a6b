//! How deep runs may lie one below the other, and what a run begins with.

use crate::driver::{model, scope, transcript};
use crate::fixture::{pending, prompted, turn};
use expect_test::expect;
use haft_agent::{Agent, RunEvent, RunLimits, RunState};
use haft_core::{AssistantPart, Message, ReplyStatus, StopReason, ToolCall, ToolOutput, ToolReply};
use haft_tools_core::{Approval, CallScope, LocalExecutor, ToolRegistry};
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::Arc;

/// A scope with so many runs above it, of which the first has the limits.
fn below(depth: u32, limits: RunLimits) -> CallScope {
    let mut scope = scope().with_extension(limits);
    for place in 0..depth {
        scope = scope.child(format!("run-1-{place}").parse().unwrap());
    }
    scope
}

fn agent() -> Agent {
    Agent::new(model(r#"{"text":"Done."}"#), LocalExecutor::builder(ToolRegistry::new()).build())
}

#[tokio::test]
async fn a_run_that_is_too_deep_ends_before_the_model_is_asked() {
    let limits = RunLimits::new().depth(1);
    assert_eq!(agent().run(below(1, limits), "go").await.last_text(), "Done.");
    let state = agent().run(below(2, limits), "go").await;
    expect![[r#"
        person
        Some(Failed { reason: "this run has 2 runs above it, and at most 1 are allowed; have a run above it do the work" })"#]]
    .assert_eq(&transcript(&state));
    assert_eq!(state.turns(), 0);
}

#[tokio::test]
async fn a_run_below_cannot_widen_what_one_above_it_allows() {
    let wide = below(1, RunLimits::new().depth(1)).with_extension(RunLimits::new().depth(9));
    let deep = wide.child("run-3".parse().unwrap()).with_extension(RunLimits::new());
    assert_eq!(RunLimits::of(&deep).depth, Some(1));
    assert!(agent().run(deep, "go").await.turns() == 0);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_too_deep_is_not_gone_on_with() {
    let too_deep = || below(1, RunLimits::new().depth(0));
    let mut state = RunState::new();
    state.step(prompted()).unwrap();
    assert_eq!(agent().go_on(too_deep(), state.clone()).await.turns(), 0);
    state.step(turn("", &["c1"], StopReason::ToolCalls)).unwrap();
    state.step(RunEvent::BatchExecuted { outcomes: vec![pending("c1")] }).unwrap();
    let ended = agent().resume(too_deep(), state, &"c1".parse().unwrap(), Approval::Approve).await.unwrap();
    expect![[r#"
        person
        model: 
        c1 cancelled: the run was cancelled before this call was done
        Some(Failed { reason: "this run has 1 runs above it, and at most 0 are allowed; have a run above it do the work" })"#]]
    .assert_eq(&transcript(&ended));
    // One that has ended stays as it is.
    let state = agent().run(scope(), "go").await;
    assert_eq!(agent().go_on(too_deep(), state.clone()).await, state);
}

#[tokio::test]
async fn a_run_begins_with_messages_of_another() {
    let said = [Message::user("The build fails."), Message::Assistant { parts: vec![made(1)] }];
    let state = agent().run_from(scope(), said.map(Arc::new), "Find out why.").await;
    expect![[r"
        person
        person
        model: Done.
        Some(Completed)"]]
    .assert_eq(&transcript(&state));
}

fn made(id: u8) -> AssistantPart {
    AssistantPart::ToolCall {
        call: ToolCall::new(format!("c{id}").parse().unwrap(), "look", serde_json::json!({})),
    }
}

/// Makes whole exchanges: something is said, calls are made and answered.
fn exchanges() -> impl Strategy<Value = Vec<Arc<Message>>> {
    vec(0..4_u8, 0..12).prop_map(|turns| {
        let mut messages = Vec::new();
        let mut id = 0;
        for calls in turns {
            if calls == 0 {
                messages.push(Message::user("said"));
                continue;
            }
            let ids: Vec<u8> = (id..id + calls - 1).collect();
            id += calls;
            let text = AssistantPart::Text { text: "thought".to_owned() };
            let parts = [text].into_iter().chain(ids.iter().map(|id| made(*id))).collect();
            messages.push(Message::Assistant { parts });
            if !ids.is_empty() {
                let reply = |id: &u8| {
                    let id = format!("c{id}").parse().unwrap();
                    ToolReply::new(id, "look", ReplyStatus::Ok, ToolOutput::text("seen"))
                };
                messages.push(Message::Tool { replies: ids.iter().map(reply).collect() });
            }
        }
        messages.into_iter().map(Arc::new).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_part_of_what_was_said_is_cut_so_that_calls_and_replies_are_together(
        whole in exchanges(),
        kept in vec(any::<bool>(), 40),
        from in 0..40_usize,
        to in 0..40_usize,
    ) {
        let begins = |messages: &[Arc<Message>]| {
            let state = RunState::from_part_of(messages.iter().cloned());
            // It is whole, and what is whole stays as it is.
            let again = RunState::from_transcript(state.messages().iter().cloned()).unwrap();
            prop_assert_eq!(&again, &state);
            let mut left = messages.iter();
            prop_assert!(state.messages().iter().all(|message| left.any(|other| Arc::ptr_eq(message, other))));
            Ok(state.messages().len())
        };
        prop_assert_eq!(begins(&whole)?, whole.len());
        // A part from some place to another loses a message at each end at most.
        let part = &whole[from.min(whole.len())..];
        let part = &part[..to.min(part.len())];
        prop_assert!(begins(part)? + 2 >= part.len());
        // Whatever is left out.
        let some: Vec<_> = whole.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(one, _)| Arc::clone(one)).collect();
        begins(&some)?;
        let turned: Vec<_> = whole.iter().rev().cloned().collect();
        begins(&turned)?;
    }
}
