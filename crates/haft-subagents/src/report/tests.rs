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
    check(
        &text(),
        json!({ "result": "There are five." }),
        expect![[r#"
        Some(Completed) There are five.
        reported"#]],
    )
    .await;
    check(
        &data(),
        json!({ "count": 5 }),
        expect![[r#"
        Some(Completed) {"count":5}
        reported"#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_no_result_ends_nothing() {
    check(
        &text(),
        json!({ "result": "  " }),
        expect![[r#"
        Some(Completed) I go on.
        the result is empty; say what came out, or why nothing did"#]],
    )
    .await;
    check(
        &text(),
        json!({ "result": 5, "more": 1 }),
        expect![[r#"
        Some(Completed) I go on.
        the arguments do not fit `report`:
        - at `/result`: 5 is not a string
        - at the top: unknown property `more`; it takes `result`
        Correct them and call the tool again."#]],
    )
    .await;
    check(
        &data(),
        json!({ "count": "many" }),
        expect![[r#"
        Some(Completed) I go on.
        the arguments do not fit `report`:
        - at `/count`: "many" is not an integer
        Correct them and call the tool again."#]],
    )
    .await;
}

#[tokio::test]
async fn where_no_agent_drives_the_run_the_result_is_to_be_said() {
    let call = haft_core::ToolCall::new("c1".parse().unwrap(), "report", json!({ "result": "five" }));
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
    let replies = executor(&text()).execute_batch(batch).await.into_replies().unwrap();
    expect!["this run is not ended by a call; say the result as your last message"]
        .assert_eq(&replies[0].output.to_text());
}

#[test]
fn what_the_model_is_told_of_it() {
    for (spec, expect) in [
        (
            text(),
            expect![[r#"
        {
          "name": "report",
          "title": "Report",
          "description": "Gives the result of your task and ends it. Call it once, when you are done, and nothing beside it; whoever gave you the task reads nothing else of what you did.",
          "input_schema": {
            "additionalProperties": false,
            "properties": {
              "result": {
                "description": "The result, in full.",
                "minLength": 1,
                "type": "string"
              }
            },
            "required": [
              "result"
            ],
            "type": "object"
          },
          "hints": {
            "read_only": true,
            "destructive": false,
            "idempotent": false,
            "open_world": false,
            "streaming": false
          },
          "origin": {
            "kind": "builtin"
          },
          "exposure": "direct",
          "explicit": false
        }"#]],
        ),
        (
            data(),
            expect![[r#"
        {
          "name": "report",
          "title": "Report",
          "description": "Gives the result of your task and ends it: the arguments are the result. Call it once, when you are done, and nothing beside it.",
          "input_schema": {
            "properties": {
              "count": {
                "type": "integer"
              }
            },
            "required": [
              "count"
            ],
            "type": "object"
          },
          "hints": {
            "read_only": true,
            "destructive": false,
            "idempotent": false,
            "open_world": false,
            "streaming": false
          },
          "origin": {
            "kind": "builtin"
          },
          "exposure": "direct",
          "explicit": false
        }"#]],
        ),
    ] {
        expect.assert_eq(&serde_json::to_string_pretty(report(&spec).spec()).unwrap());
    }
}
