use crate::driver::scope;
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_agent::{Plan, ask_user, update_plan};
use haft_core::{Event, EventKind, ToolCall, ToolSpec};
use haft_tools_core::{
    Approval, Approver, AskedQuestion, Batch, Events, LocalExecutor, Observer, PendingCall, Policy, Question,
    QuestionOutcome, Rule, Tool, ToolExecutor as _, ToolRegistry,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Is a person who answers a question, and remembers what they were asked.
struct Person(QuestionOutcome, Arc<Mutex<Option<Question>>>);

#[async_trait]
impl Approver for Person {
    async fn approve(&self, _: &PendingCall) -> Approval {
        Approval::Nobody
    }

    async fn answer(&self, asked: &AskedQuestion) -> QuestionOutcome {
        *self.1.lock().unwrap() = Some(asked.question.clone());
        self.0.clone()
    }
}

/// Makes one call of a tool, and says what it is answered with.
async fn reply(tool: impl Tool, approver: impl Approver, events: Events, input: Value) -> String {
    let name = tool.spec().name().to_string();
    let executor = LocalExecutor::builder(ToolRegistry::new().with(tool).unwrap())
        .policy(Policy::new().allow(Rule::tools("*".parse().unwrap())))
        .approver(approver)
        .events(events)
        .build();
    let call = ToolCall::new("c1".parse().unwrap(), name, input);
    let replies = executor.execute_batch(Batch::new(scope(), vec![call])).await.into_replies().unwrap();
    let reply = &replies[0];
    let structured = reply.output.structured.as_ref().map(|value| format!("\n{value}")).unwrap_or_default();
    format!("{}: {}{structured}", reply.status, reply.output.to_text())
}

async fn asks(response: QuestionOutcome, input: Value, expected: Expect) {
    let question = Arc::new(Mutex::new(None));
    let person = Person(response, Arc::clone(&question));
    let replied = reply(ask_user(), person, Events::default(), input).await;
    let asked = question.lock().unwrap().take().map(|question| serde_json::to_string(&question).unwrap());
    expected.assert_eq(&format!("{}\n{replied}\n", asked.as_deref().unwrap_or("nobody was asked")));
}

fn answered(answer: impl Into<Value>) -> QuestionOutcome {
    QuestionOutcome::Answered { answer: answer.into() }
}

#[tokio::test]
async fn a_model_asks_for_a_text_a_choice_or_a_yes() {
    asks(
        answered("the blue one"),
        json!({ "question": "Which cup?" }),
        expect![[r#"
        {"text":"Which cup?","kind":{"kind":"text"}}
        ok: the user answers: the blue one
        {"answer":"the blue one"}
    "#]],
    )
    .await;
    let choice = json!({ "question": "Which database?", "options": ["staging", "production"] });
    asks(
        answered("staging"),
        choice.clone(),
        expect![[r#"
        {"text":"Which database?","kind":{"kind":"choice","options":["staging","production"]}}
        ok: the user answers: staging
        {"answer":"staging"}
    "#]],
    )
    .await;
    asks(answered("prod"), choice, expect![[r#"
        {"text":"Which database?","kind":{"kind":"choice","options":["staging","production"]}}
        error: unavailable: what the user answered does not fit the question; ask again, or go on without the answer
    "#]]).await;
    asks(
        answered(true),
        json!({ "question": "Shall I go on?", "yes_no": true }),
        expect![[r#"
        {"text":"Shall I go on?","kind":{"kind":"confirm"}}
        ok: the user says yes
        {"answer":true}
    "#]],
    )
    .await;
    asks(
        answered(false),
        json!({ "question": "Shall I go on?", "yes_no": true }),
        expect![[r#"
        {"text":"Shall I go on?","kind":{"kind":"confirm"}}
        ok: the user says no
        {"answer":false}
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_model_that_gets_no_answer_is_told_to_go_on_without() {
    let question = || json!({ "question": "Which cup?" });
    asks(
        QuestionOutcome::Declined,
        question(),
        expect![[r#"
        {"text":"Which cup?","kind":{"kind":"text"}}
        denied: the user does not want to answer; go on without the answer
    "#]],
    )
    .await;
    asks(
        QuestionOutcome::TimedOut { after_ms: 90_000 },
        question(),
        expect![[r#"
        {"text":"Which cup?","kind":{"kind":"text"}}
        error: unavailable: nobody answered within 90 s; go on without the answer, or ask again later
    "#]],
    )
    .await;
    asks(
        QuestionOutcome::Nobody,
        question(),
        expect![[r#"
        {"text":"Which cup?","kind":{"kind":"text"}}
        error: unavailable: nobody can be asked here; go on without the answer
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_question_that_cannot_be_put_is_sent_back() {
    asks(
        answered(""),
        json!({ "question": "  " }),
        expect![[r"
        nobody was asked
        error: invalid input: the question is empty; write what you want to know
    "]],
    )
    .await;
    asks(answered(""), json!({ "question": "Which?", "options": ["one"] }), expect![[r"
        nobody was asked
        error: invalid input: there are from 2 to 10 options to pick from; leave `options` out for an answer in words
    "]]).await;
    let both = json!({ "question": "Which?", "options": ["one", "two"], "yes_no": true });
    asks(answered(""), both, expect![[r"
        nobody was asked
        error: invalid input: a question has `options` or is answered by `yes_no`, not both; leave one of them out
    "]]).await;
}

#[tokio::test]
async fn a_question_shows_people_what_cannot_be_seen() {
    asks(
        answered("no"),
        json!({ "question": "Delete \u{202e}gpj.cup?" }),
        expect![[r#"
        {"text":"Delete \\u{202e}gpj.cup?","kind":{"kind":"text"}}
        ok: the user answers: no
        {"answer":"no"}
    "#]],
    )
    .await;
}

async fn plans(input: Value, expected: Expect) -> Vec<Plan> {
    let seen: Arc<Mutex<Vec<Plan>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let observer: Arc<dyn Observer> = Arc::new(move |event: &Event| {
        if let EventKind::Updated { output } = &event.kind {
            sink.lock().unwrap().push(serde_json::from_value(output.structured.clone().unwrap()).unwrap());
        }
    });
    let person = Person(QuestionOutcome::Nobody, Arc::default());
    let replied = reply(update_plan(), person, Events::new([observer]), input).await;
    expected.assert_eq(&replied);
    seen.lock().unwrap().clone()
}

#[tokio::test]
async fn a_plan_is_shown_to_those_who_watch() {
    let steps = json!({ "steps": [
        { "text": "Read the tests", "status": "done" },
        { "text": "Mend the build", "status": "in_progress" },
        { "text": "Run the tests", "status": "pending" },
    ]});
    let seen = plans(steps.clone(), expect![[r#"
        ok: the plan is set: 1 of 3 steps are done
        {"steps":[{"status":"done","text":"Read the tests"},{"status":"in_progress","text":"Mend the build"},{"status":"pending","text":"Run the tests"}]}"#]]).await;
    assert_eq!(serde_json::to_value(&seen).unwrap(), json!([steps]));
    let odd = json!({ "steps": [{ "text": "Do\u{1b}[2Jne\u{202e}", "status": "pending" }] });
    let seen = plans(
        odd,
        expect![[r#"
        ok: the plan is set: 0 of 1 steps are done
        {"steps":[{"status":"pending","text":"Do\\u{1b}[2Jne\\u{202e}"}]}"#]],
    )
    .await;
    assert!(!seen[0].steps[0].text.contains(['\u{1b}', '\u{202e}']));
    let two = json!({ "steps": [
        { "text": "one", "status": "in_progress" },
        { "text": "two", "status": "in_progress" },
    ]});
    assert_eq!(
        plans(
            two,
            expect!["error: invalid input: 2 steps are in progress; let all but one be `pending` or `done`"]
        )
        .await,
        []
    );
    assert_eq!(
        plans(
            json!({ "steps": [{ "text": "", "status": "doing" }] }),
            expect![[r#"
        error: invalid input: the arguments do not fit `update_plan`:
        - at `/steps/0/status`: "doing" is not "pending", "in_progress" or "done"
        - at `/steps/0/text`: "" is shorter than 1 character
        correct them and call the tool again"#]]
        )
        .await,
        []
    );
}

#[test]
fn what_a_model_is_told_of_ask_user() {
    expect![[r#"
        {
          "name": "ask_user",
          "title": "Ask the user",
          "description": "Asks the user a question and waits for the answer. Ask only what you cannot find out and what changes what you do, one thing at a time. With `options` the user picks one of them; with `yes_no` the answer is `true` or `false`; otherwise it is a text.",
          "input_schema": {
            "additionalProperties": false,
            "properties": {
              "options": {
                "default": [],
                "description": "The answers to pick from.",
                "items": {
                  "maxLength": 200,
                  "minLength": 1,
                  "type": "string"
                },
                "maxItems": 10,
                "type": "array"
              },
              "question": {
                "description": "The question, with what the user has to know to answer it.",
                "maxLength": 2000,
                "minLength": 1,
                "type": "string"
              },
              "yes_no": {
                "default": false,
                "description": "Whether the answer is yes or no.",
                "type": "boolean"
              }
            },
            "required": [
              "question"
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
        }"#]].assert_eq(&shown(ask_user().spec()));
}

#[test]
fn what_a_model_is_told_of_update_plan() {
    expect![[r##"
        {
          "name": "update_plan",
          "title": "Update the plan",
          "description": "Sets the checklist of this task, which the user watches. Give all steps each time, in their order; at most one is in progress. Use it for work of several steps: at the beginning, and whenever a step is done or the plan changes.",
          "input_schema": {
            "$defs": {
              "PlanStep": {
                "additionalProperties": false,
                "description": "Is one step of a plan.",
                "properties": {
                  "status": {
                    "$ref": "#/$defs/StepStatus",
                    "description": "How far it is."
                  },
                  "text": {
                    "description": "What is to be done, in a few words.",
                    "maxLength": 200,
                    "minLength": 1,
                    "type": "string"
                  }
                },
                "required": [
                  "text",
                  "status"
                ],
                "type": "object"
              },
              "StepStatus": {
                "description": "Says how far a step of a plan is.",
                "oneOf": [
                  {
                    "const": "pending",
                    "description": "Nobody has begun with it.",
                    "type": "string"
                  },
                  {
                    "const": "in_progress",
                    "description": "It is being done.",
                    "type": "string"
                  },
                  {
                    "const": "done",
                    "description": "It is done.",
                    "type": "string"
                  }
                ]
              }
            },
            "additionalProperties": false,
            "properties": {
              "steps": {
                "description": "The steps, in their order.",
                "items": {
                  "$ref": "#/$defs/PlanStep"
                },
                "maxItems": 50,
                "type": "array"
              }
            },
            "required": [
              "steps"
            ],
            "type": "object"
          },
          "hints": {
            "read_only": true,
            "destructive": false,
            "idempotent": true,
            "open_world": false,
            "streaming": false
          },
          "origin": {
            "kind": "builtin"
          },
          "exposure": "direct",
          "explicit": false
        }"##]].assert_eq(&shown(update_plan().spec()));
}

fn shown(spec: &ToolSpec) -> String {
    serde_json::to_string_pretty(spec).unwrap()
}
