//! A loop that knows nothing of `haft-agent`: it asks a model, makes the calls, and asks again.

use async_trait::async_trait;
use haft::agent::Spent;
use haft::core::Message;
use haft::model::{Model, ModelRequest, assemble};
use haft::subagents::{ChildOutcome, ChildResult, ChildRun, Runner};
use haft::{Batch, LocalExecutor, ToolCall, ToolExecutor as _};
use std::sync::Arc;

/// Finds the model of a run by its path.
type Choose = dyn Fn(&str) -> Option<Arc<dyn Model>> + Send + Sync;

/// Drives runs with a model and an executor.
pub(crate) struct PlainLoop {
    pub(crate) executor: LocalExecutor,
    pub(crate) model: Box<Choose>,
}

#[async_trait]
impl Runner for PlainLoop {
    async fn run(&self, child: ChildRun) -> ChildOutcome {
        ChildOutcome::Ended(match self.turns(&child).await {
            Ok(text) => ChildResult::done(text),
            // The one is for the model of the run above, the other for people.
            Err(detail) => {
                ChildResult::failed("it could not go on; do the task yourself").with_detail(detail)
            }
        })
    }
}

impl PlainLoop {
    /// Has the model take turns until one is without calls, and gives what it said in that.
    async fn turns(&self, child: &ChildRun) -> Result<String, String> {
        let model = (self.model)(&child.path).ok_or("there is no model for it")?;
        // Of what the executor has, the run gets what its agent chooses.
        let tools = self.executor.registry().filtered(&child.spec.tools);
        let mut messages = child.messages.clone();
        messages.push(Arc::new(Message::user(child.task.clone())));
        let mut spent = Spent::default();
        loop {
            if child.budget.turns.is_some_and(|most| spent.turns >= most) {
                return Err("its budget of turns is spent".to_owned());
            }
            let request = ModelRequest::new(messages.iter().cloned())
                .system(Arc::clone(&child.spec.instructions))
                .tools(tools.direct_specs());
            let stream = model.stream(request, child.cancellation.clone()).await;
            let turn = assemble(stream.map_err(|error| error.to_string())?, |_| {}).await;
            let turn = turn.map_err(|error| error.to_string())?;
            spent.turns += 1;
            let calls: Vec<ToolCall> = turn.message.tool_calls().cloned().collect();
            spent.calls += calls.len() as u64;
            // What is recorded here is taken from the budget of the run above.
            child.meter.record(spent);
            let text = turn.message.assistant_text();
            messages.push(Arc::new(turn.message));
            if calls.is_empty() {
                return Ok(text);
            }
            // In this scope, and in no other, the calls of the run are decided.
            let mut batch = Batch::new(child.scope.clone(), calls)
                .with_registry(tools.clone())
                .cancelled_by(child.cancellation.clone());
            if let Some(caller) = &child.caller {
                batch = batch.made_by(caller);
            }
            let replies = self.executor.execute_batch(batch).await.into_replies();
            // This loop cannot wait for a later answer, and says so; one that can gives `ChildOutcome::Waiting`.
            let replies = replies.map_err(|error| error.to_string())?;
            messages.push(Arc::new(Message::Tool { replies }));
        }
    }
}
