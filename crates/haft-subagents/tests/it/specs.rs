//! What models are told of the tools.

use crate::fixture::{Setup, helper};
use expect_test::{Expect, expect};
use haft_core::{Schema, ToolSpec};
use haft_subagents::report;
use haft_tools_core::Tool as _;
use serde_json::json;

fn check(spec: &ToolSpec, expected: &Expect) {
    let schema = serde_json::to_string_pretty(spec.input_schema().as_value()).unwrap();
    expected.assert_eq(&format!("{}: {}\n{schema}", spec.name(), spec.description()));
}

fn check_tool(name: &str, expected: &Expect) {
    let setup =
        Setup { agents: vec![helper("explorer"), helper("writer")], ..Setup::new("{\"text\":\"Hi.\"}") };
    let tools = setup.process().supervisor.tools().unwrap();
    check(tools.get(name).unwrap(), expected);
}

#[test]
fn delegate() {
    check_tool(
        "delegate",
        &expect![[r#"
        delegate: Has agents work on tasks, each in a run of its own, and gives their results. Several tasks are worked on at once, so give those together that do not need each other's results. An agent knows nothing of this conversation but what its task says, unless its description says otherwise: write down what it needs to know and what it is to give back. With `background` you go on at once, and are told when an agent is done; `wait_agents` waits for it.

        The agents:
        - explorer: Is the explorer.
        - writer: Is the writer.
        {
          "additionalProperties": false,
          "properties": {
            "background": {
              "description": "Whether to go on without waiting for the results; false by default.",
              "type": "boolean"
            },
            "tasks": {
              "description": "The tasks, which are worked on at once.",
              "items": {
                "additionalProperties": false,
                "properties": {
                  "agent": {
                    "description": "The name of the agent.",
                    "type": "string"
                  },
                  "task": {
                    "description": "What it is to do, and all that it needs to know for that.",
                    "maxLength": 50000,
                    "minLength": 1,
                    "type": "string"
                  }
                },
                "required": [
                  "agent",
                  "task"
                ],
                "type": "object"
              },
              "maxItems": 16,
              "minItems": 1,
              "type": "array"
            }
          },
          "required": [
            "tasks"
          ],
          "type": "object"
        }"#]],
    );
}

#[test]
fn wait_agents() {
    check_tool(
        "wait_agents",
        &expect![[r#"
        wait_agents: Waits for agents that work in the background, and gives their results. Without `agents` it waits for all that you have not been told of. With `until` = `any` it comes back when the first of them is done.
        {
          "additionalProperties": false,
          "properties": {
            "agents": {
              "description": "Their names as `delegate` gave them, such as `explorer-0a1b2c3d4e5f`.",
              "items": {
                "type": "string"
              },
              "maxItems": 256,
              "type": "array"
            },
            "timeout_s": {
              "description": "How long to wait, in seconds; 600 by default, 0 to look only.",
              "maximum": 7200,
              "minimum": 0,
              "type": "integer"
            },
            "until": {
              "description": "Whether to wait for the first of them or for all; `all` by default.",
              "enum": [
                "any",
                "all"
              ],
              "type": "string"
            }
          },
          "type": "object"
        }"#]],
    );
}

#[test]
fn send_agent() {
    check_tool(
        "send_agent",
        &expect![[r#"
        send_agent: Says something to an agent that you have delegated to: a correction, or what it should know besides. One that has ended takes it up as a further task in the background, knowing all that it has done.
        {
          "additionalProperties": false,
          "properties": {
            "agent": {
              "description": "Its name as `delegate` gave it, such as `explorer-0a1b2c3d4e5f`.",
              "type": "string"
            },
            "message": {
              "description": "What it is told.",
              "maxLength": 50000,
              "minLength": 1,
              "type": "string"
            },
            "now": {
              "description": "Whether it leaves out what it was about to do; false by default.",
              "type": "boolean"
            }
          },
          "required": [
            "agent",
            "message"
          ],
          "type": "object"
        }"#]],
    );
}

#[test]
fn cancel_agent() {
    check_tool(
        "cancel_agent",
        &expect![[r#"
        cancel_agent: Cancels an agent that you have delegated to, with all that it has delegated itself. What it has done stays done.
        {
          "additionalProperties": false,
          "properties": {
            "agent": {
              "description": "Its name as `delegate` gave it, such as `explorer-0a1b2c3d4e5f`.",
              "type": "string"
            }
          },
          "required": [
            "agent"
          ],
          "type": "object"
        }"#]],
    );
}

#[test]
fn list_agents() {
    check_tool(
        "list_agents",
        &expect![[r#"
        list_agents: Lists the agents that you have delegated to, with how far each is.
        {
          "additionalProperties": false,
          "properties": {},
          "type": "object"
        }"#]],
    );
}

#[test]
fn report_of_an_agent_that_answers_in_text() {
    check(
        report(&helper("explorer")).spec(),
        &expect![[r#"
        report: Gives the result of your task and ends it: call it once, when all is done.
        {
          "additionalProperties": false,
          "properties": {
            "result": {
              "description": "The result.",
              "minLength": 1,
              "type": "string"
            }
          },
          "required": [
            "result"
          ],
          "type": "object"
        }"#]],
    );
}

#[test]
fn report_of_an_agent_that_answers_with_json() {
    let schema = json!({ "required": ["count"], "properties": { "count": { "type": "integer" } } });
    let counter = helper("counter").output(Schema::new(schema).unwrap());
    check(
        report(&counter).spec(),
        &expect![[r#"
        report: Gives the result of your task and ends it: call it once, when all is done.
        {
          "properties": {
            "count": {
              "type": "integer"
            }
          },
          "required": [
            "count"
          ],
          "type": "object"
        }"#]],
    );
}
