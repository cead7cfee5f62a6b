#![expect(clippy::needless_pass_by_value, reason = "a snapshot is written where it is used")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use super::report;
use crate::AgentSpec;
use expect_test::{Expect, expect};
use haft_agent::Agent;
use haft_core::{Message, Schema};
use haft_model::{ScriptedModel, Session};
use haft_tools_core::{
    Batch, CallScope, LocalExecutor, Policy, Rule, Tool as _, ToolExecutor as _, ToolRegistry,
};
use serde_json::{Value, json};

fn text() -> AgentSpec {
    AgentSpec::new("reader".parse().unwrap(), "Finds things.")
}

fn data() -> AgentSpec {
    let schema = json!({ "properties": { "count": { "type": "integer" } }, "required": ["count"] });
    text().output(Schema::new(schema).unwrap())
}

fn executor(spec: &AgentSpec) -> LocalExecutor {
    let tools = ToolRegistry::new().with(report(spec)).unwrap();
    LocalExecutor::builder(tools).policy(Policy::new().allow(Rule::tools("report".parse().unwrap()))).build()
}

/// Has an agent report this, and after that say that it goes on, if it is asked.
async fn check(spec: &AgentSpec, input: Value, expect: Expect) {
    let session = format!(
        "{}\n{}\n",
        json!({ "calls": [{ "id": "c1", "name": "report", "input": input }] }),
        json!({ "text": "I go on." })
    );
    let model = ScriptedModel::new(Session::parse(&session, "report.jsonl").unwrap());
    let scope = CallScope::new("run-1".parse().unwrap());
    let state = Agent::new(model, executor(spec)).run(scope, "Count them.").await;
    let replies = state.messages().iter().filter_map(|message| match &**message {
        Message::Tool { replies, .. } => {
            Some(replies.iter().map(|reply| reply.output.to_text()).collect::<String>())
        }
        _ => None,
    });
    let replies: Vec<String> = replies.collect();
    expect.assert_eq(&format!("{:?} {}\n{}", state.end(), state.last_text(), replies.join("\n")));
}

#[tokio::test]
async fn a_result_ends_the_run() {
    check(&text(), json!({ "result": "There are five." }), expect![[r#""#]]).await;
    check(&data(), json!({ "count": 5 }), expect![[r#""#]]).await;
}

#[tokio::test]
async fn what_is_no_result_ends_nothing() {
    check(&text(), json!({ "result": "  " }), expect![[r#""#]]).await;
    check(&text(), json!({ "result": 5, "more": 1 }), expect![[r#""#]]).await;
    check(&data(), json!({ "count": "many" }), expect![[r#""#]]).await;
}

#[tokio::test]
async fn where_no_agent_drives_the_run_the_result_is_to_be_said() {
    let call = haft_core::ToolCall::new("c1".parse().unwrap(), "report", json!({ "result": "five" }));
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
    let replies = executor(&text()).execute_batch(batch).await.into_replies().unwrap();
    expect![[r#""#]].assert_eq(&replies[0].output.to_text());
}

#[test]
fn what_the_model_is_told_of_it() {
    for (spec, expect) in [(text(), expect![[r#""#]]), (data(), expect![[r#""#]])] {
        expect.assert_eq(&serde_json::to_string_pretty(report(&spec).spec()).unwrap());
    }
}
