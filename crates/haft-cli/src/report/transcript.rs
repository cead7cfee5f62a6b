//! What the transcript of a run says of its calls: their arguments, and what they were answered with.

use haft::agent::{Phase, RunState};
use haft::core::{CallId, Message};
use haft::tools_core::CallOutcome;
use haft::{ToolCall, ToolReply};

/// Is a call as its run has it.
pub(super) struct Told {
    pub(super) id: CallId,
    /// The call, where it is kept.
    pub(super) call: Option<ToolCall>,
    pub(super) turn: Option<u32>,
    pub(super) reply: Option<ToolReply>,
    /// When a person was asked, in milliseconds since the Unix epoch, where it waits for one.
    pub(super) asked_at_ms: Option<u64>,
}

/// Lists the calls of a run, in the order in which its model made them.
pub(super) fn of_run(state: &RunState) -> Vec<Told> {
    let mut calls: Vec<Told> = Vec::new();
    let mut turn = 0;
    for message in state.messages() {
        match &**message {
            Message::Assistant { .. } => {
                turn += 1;
                calls.extend(message.tool_calls().map(|call| Told {
                    id: call.id.clone(),
                    call: Some(call.clone()),
                    turn: Some(turn),
                    reply: None,
                    asked_at_ms: None,
                }));
            }
            Message::Tool { replies } => replies.iter().for_each(|reply| answer(&mut calls, reply)),
            _ => {}
        }
    }
    if let Phase::Waiting { outcomes, .. } = state.phase() {
        for outcome in outcomes {
            take(&mut calls, outcome);
        }
    }
    calls
}

/// Takes what became of a call that was made for the command line.
pub(super) fn of_call(outcome: CallOutcome) -> Told {
    match outcome {
        CallOutcome::Replied(reply) => {
            Told { id: reply.call_id.clone(), call: None, turn: None, reply: Some(reply), asked_at_ms: None }
        }
        CallOutcome::Pending(pending) => Told {
            id: pending.call.id.clone(),
            asked_at_ms: Some(pending.asked_at_ms),
            call: Some(pending.call),
            turn: None,
            reply: None,
        },
        CallOutcome::Held(held) => Told {
            id: held.call.id.clone(),
            call: Some(held.call),
            turn: None,
            reply: None,
            asked_at_ms: None,
        },
    }
}

fn take(calls: &mut [Told], outcome: &CallOutcome) {
    match outcome {
        CallOutcome::Replied(reply) => answer(calls, reply),
        CallOutcome::Pending(pending) => {
            if let Some(call) = open(calls, &pending.call.id) {
                call.asked_at_ms = Some(pending.asked_at_ms);
            }
        }
        CallOutcome::Held(_) => {}
    }
}

fn answer(calls: &mut [Told], reply: &ToolReply) {
    if let Some(call) = open(calls, &reply.call_id) {
        call.reply = Some(reply.clone());
    }
}

/// Finds the latest call of an id that has no answer.
fn open<'c>(calls: &'c mut [Told], id: &CallId) -> Option<&'c mut Told> {
    calls.iter_mut().rev().find(|call| call.reply.is_none() && call.id == *id)
}
