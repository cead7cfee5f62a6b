use super::CallOutcome;
use super::control::Control;
use super::course::{Ahead, Course};
use super::frame::Frame;
use crate::CallContext;
use crate::admission::Turn;
use haft_core::{ReplyStatus, ToolCall, ToolOutput, ToolReply};
use std::sync::{Arc, OnceLock};

/// Lets a running tool call another through the executor that runs it.
pub(crate) async fn call_nested(caller: &CallContext, outer: &Frame, call: ToolCall) -> ToolReply {
    let frame = Arc::new(Frame {
        shared: Arc::clone(&outer.shared),
        registry: outer.registry.clone(),
        scope: outer.scope.clone(),
        control: Control::new(Some(caller.calls_token().clone()), None),
        caller: Some(caller.clone()),
        attended: outer.attended.clone(),
        nesting: outer.nesting + 1,
        may_wait: false,
        left: OnceLock::new(),
    });
    let (id, name) = (call.id.clone(), call.name.clone());
    // The future of a call holds the future of the tool that makes it, so one of them has to be on the heap.
    let course = Box::pin(async {
        let turn = Turn::beside(&frame.shared.admission, caller.place());
        Course::from(Ahead::begin(&frame, call, turn)).await
    });
    match caller.room().lend_while(course).await {
        CallOutcome::Replied(reply) => reply,
        // A call made by a tool is never left to wait; were it, it would not have run.
        CallOutcome::Pending(_) | CallOutcome::Held(_) => {
            let text =
                "this call would have to wait, which a call made by a tool cannot; have the model make it";
            ToolReply::new(id, name, ReplyStatus::Denied, ToolOutput::text(text))
        }
    }
}
