use super::rounds::{Played, Rounds, Sent};
use crate::server::calls::random;
use crate::server::catalog::{Resolved, Shelf};
use crate::server::line::{CallRequest, Calls, Fault, Line, Served};
use crate::server::round::{Binding, Seal};
use crate::server::toolbox::Bench;
use async_trait::async_trait;
use haft_core::{CallId, Event, EventKind, ToolCall};
use haft_tools_core::{Batch, CallOutcome, Observer};
use std::sync::Arc;

/// Calls tools with the bench's executor alone, anew in each round.
pub(crate) struct DirectCalls {
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) seal: Arc<dyn Seal>,
}

struct Watch(Arc<dyn Line>);

impl Observer for Watch {
    fn observe(&self, event: &Event) {
        if let EventKind::Progressed { progress } = &event.kind {
            self.0.progress(progress);
        }
    }
}

#[async_trait]
impl Calls for DirectCalls {
    async fn call(
        &self,
        bench: &Arc<Bench>,
        call: CallRequest,
        line: Arc<dyn Line>,
    ) -> Result<Served, Fault> {
        let CallRequest { tool, input, answers, state, is_watched } = call;
        let id = random::<12>().map(|byte| format!("{byte:02x}")).concat();
        let broken = |text: String| Fault { code: -32603, message: text, data: None };
        let id: CallId = id.parse().map_err(|error| broken(format!("{error}")))?;
        let tools = self.shelf.of(bench);
        let (name, input) = match tools.resolve(&id, &tool, input).await {
            Resolved::Reply(reply) => return Ok(Served::Reply(reply)),
            Resolved::Call { name, input } => (name, input),
        };
        let principal = line.caller().principal.clone();
        let binding = Binding {
            principal: &principal,
            run: bench.scope.run(),
            method: "tools/call",
            tool: &tool,
            input: &input,
        };
        let rounds = Rounds { seal: &*self.seal, binding };
        let call = ToolCall::new(id, name, input.clone());
        let cancellation = line.cancellation().clone();
        let begin = |client| {
            let watch = line.clone();
            async move {
                let scope = bench.scope.clone().with_extension::<crate::CallingClient>(client);
                let mut batch = Batch::new(scope, vec![call])
                    .with_registry(tools.registry().clone())
                    .cancelled_by(cancellation);
                if is_watched {
                    batch = batch.observed_by(Arc::new(Watch(watch)));
                }
                bench.executor.execute_batch(batch).await.into_outcomes().pop()
            }
        };
        match rounds.play(line.clone(), Sent { answers, state }, begin).await? {
            Played::Done(Some(CallOutcome::Replied(reply))) => Ok(Served::Reply(Box::new(reply))),
            Played::Done(Some(CallOutcome::Pending(pending))) => Ok(Served::Waits(pending)),
            Played::Done(_) => Err(broken("the call was not answered".to_owned())),
            Played::Asks { asks, state } => Ok(Served::Asks { asks, state }),
        }
    }
}
