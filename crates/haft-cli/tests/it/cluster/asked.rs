//! A client that shows its person what it is asked.

use super::engine::PATIENCE;
use async_trait::async_trait;
use haft::mcp::{Era, McpServers, RemoteServer, ServerConfig, ServerState, Transport};
use haft::tools_core::{
    Approval, Approver, AskedQuestion, CallOutcome, Catalog, PendingCall, QuestionOutcome,
};
use haft::{Batch, CallScope, LocalExecutor, Policy, Rule, ToolCall, ToolExecutor as _};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::time::timeout;

/// Answers each question with one of the choices.
struct Person {
    answer: &'static str,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, _: &PendingCall) -> Approval {
        Approval::Approve
    }

    async fn answer(&self, asked: &AskedQuestion) -> QuestionOutcome {
        self.asked.lock().unwrap().push(asked.question.text.clone());
        QuestionOutcome::Answered { answer: json!({ "answer": self.answer, "reason": "not here" }) }
    }
}

/// Has a client of an era make one call, whose person answers so; gives the reply and what was asked.
pub(crate) async fn call(
    address: &str,
    era: Era,
    answer: &'static str,
    (tool, input): (&str, Value),
) -> (String, Vec<String>) {
    let http = RemoteServer::new(format!("http://{address}/mcp"));
    let mut config = ServerConfig::new("front".parse().unwrap(), Transport::Http(http));
    config.era = Some(era);
    let servers = McpServers::builder().server(config).asking_people().build().unwrap();
    let catalog = Catalog::builder().build().unwrap();
    for source in servers.sources() {
        catalog.attach(source).unwrap();
    }
    catalog.refresh().await;
    let status = servers.statuses().remove(0);
    assert_eq!(status.state, ServerState::Ready, "{:?}", status.reason);
    let policy = Policy::new().allow(Rule::tools("*".parse().unwrap()));
    let executor = LocalExecutor::builder(catalog.snapshot()).policy(policy).build();
    let person = Arc::new(Person { answer, asked: Mutex::default() });
    let call = ToolCall::new("c1".parse().unwrap(), format!("front__{tool}"), input);
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call])
        .with_registry(catalog.snapshot())
        .asked_through(Arc::clone(&person) as Arc<dyn Approver>);
    let outcome = timeout(PATIENCE, executor.execute_batch(batch)).await.unwrap().into_outcomes().remove(0);
    servers.stop().await;
    let CallOutcome::Replied(reply) = outcome else { panic!("no reply: {outcome:?}") };
    let asked = std::mem::take(&mut *person.asked.lock().unwrap());
    (format!("{}: {}", reply.status, reply.output.to_text()), asked)
}
