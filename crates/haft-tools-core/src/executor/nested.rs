use super::CallOutcome;
use super::course::{Course, Surroundings};
use super::local::Shared;
use crate::CallScope;
use crate::admission::{Lender, Turn};
use crate::order::Place;
use haft_core::{ReplyStatus, ToolCall, ToolOutput, ToolReply};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Lets a running tool call others through the executor that runs it.
pub(crate) struct NestedCalls {
    shared: Arc<Shared>,
    nesting: u32,
    /// The place of the running call in the order, which the calls it makes are beside of.
    place: Option<Place>,
    /// The room of the running call, lent to others while it waits for a call it makes.
    lender: Lender,
}

impl NestedCalls {
    pub(super) fn new(shared: Arc<Shared>, nesting: u32, place: Option<Place>, lender: Lender) -> Self {
        Self { shared, nesting, place, lender }
    }

    pub(crate) async fn call(
        &self,
        call: ToolCall,
        scope: &Arc<CallScope>,
        cancellation: &CancellationToken,
    ) -> ToolReply {
        let around = Surroundings { shared: &self.shared, scope, cancellation, nesting: self.nesting };
        let (id, name) = (call.id.clone(), call.name.clone());
        let turn = Turn::beside(&self.shared.admission, self.place);
        // The future of a call holds the future of the tool that makes it, so one of them has to be on the heap.
        let course = Box::pin(async { Course::begin(around, call, false).in_order(turn).finish().await });
        match self.lender.lend_while(course).await {
            CallOutcome::Replied(reply) => reply,
            // A call made by a tool is never left pending; were it, it would not have run.
            CallOutcome::Pending(_) => {
                ToolReply::new(id, name, ReplyStatus::Denied, ToolOutput::text("this call needs an approval"))
            }
        }
    }
}
