//! Agents whose model plays what its task says, and tells other processes what it was asked.

use crate::tools::{Ledger, registry};
use async_trait::async_trait;
use haft_agent::Budget;
use haft_core::Message;
use haft_durable::Routes;
use haft_durable_restate::{DurableAgent, Worker};
use haft_model::{DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest, ScriptedModel, Session};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Plays the session that the first message of a run is.
struct Playing {
    capabilities: ModelCapabilities,
    ledger: Ledger,
}

#[async_trait]
impl Model for Playing {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError> {
        let is_turn = |message: &&std::sync::Arc<Message>| matches!(***message, Message::Assistant { .. });
        let turn = request.messages.iter().filter(is_turn).count();
        let name = &self.capabilities.name;
        self.ledger.ask(name, turn);
        while self.ledger.holds(name, turn) {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(5)) => {}
                () = cancel.cancelled() => return Err(ModelError::Cancelled),
            }
        }
        let Some(Message::User { content }) = request.messages.first().map(|first| &**first) else {
            panic!("nobody asked: {request:?}")
        };
        let session = Session::parse(content[0].as_text().unwrap(), "task").unwrap();
        ScriptedModel::new(session).after_turns(turn).stream(request, cancel).await
    }
}

/// Makes an agent with all tools.
pub(crate) fn agent(name: &str, ledger: &Ledger) -> DurableAgent {
    let model = Playing { capabilities: ModelCapabilities::new(name), ledger: ledger.clone() };
    DurableAgent::new(model, registry(ledger), Routes::to("tools".parse().unwrap()))
}

/// Makes a worker of the agents that tests have.
pub(crate) fn with_agents(worker: Worker, ledger: &Ledger) -> Worker {
    let poor = agent("poor", ledger).set_up(|agent| agent.budget(Budget::default().turns(4)));
    let hurried = agent("hurried", ledger)
        .set_up(|agent| agent.budget(Budget::default().wall_time(Duration::from_secs(5))));
    worker
        .and("lead".parse().unwrap(), agent("lead", ledger))
        .and("helper".parse().unwrap(), agent("helper", ledger))
        .and("poor".parse().unwrap(), poor)
        .and("hurried-agent".parse().unwrap(), hurried)
}

/// Writes a session, which is a task.
pub(crate) fn script(turns: &[Value]) -> String {
    turns.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// Writes a turn with calls.
pub(crate) fn calls(calls: &[(&str, &str, Value)]) -> Value {
    let calls: Vec<Value> =
        calls.iter().map(|(id, name, input)| json!({ "id": id, "name": name, "input": input })).collect();
    json!({ "calls": calls })
}

/// Writes a turn that delegates tasks to the helper.
pub(crate) fn delegates(id: &str, tasks: &[String]) -> Value {
    let tasks: Vec<Value> = tasks.iter().map(|task| json!({ "agent": "helper", "task": task })).collect();
    calls(&[(id, "delegate", json!({ "tasks": tasks }))])
}

pub(crate) fn says(text: &str) -> Value {
    json!({ "text": text })
}
