#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use super::*;
use crate::client::answer::tests::Echo;
use crate::client::answer::{Root, SamplingTool};
use expect_test::{Expect, expect};
use haft_core::{ToolCall, ToolError};
use haft_tools_core::{
    Accesses, Approval, Approver, AskedQuestion, Batch, CallContext, CallScope, LocalExecutor, PendingCall,
    Policy, QuestionOutcome, Rule, ToolExecutor as _, ToolRegistry, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Mutex;

/// Is a call that a server works on.
struct Called(CallContext);

impl Watch for Called {
    fn progress(&self, _: f64, _: Option<f64>, _: Option<&str>) {}

    fn call(&self) -> Option<&CallContext> {
        Some(&self.0)
    }
}

/// Is a person who gives one answer to everything, and keeps what they were shown.
struct Person {
    response: QuestionOutcome,
    approves: bool,
    shown: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, call: &PendingCall) -> Approval {
        self.shown.lock().unwrap().push(call.preview.as_text().to_owned());
        if self.approves { Approval::Approve } else { Approval::Deny { reason: String::new() } }
    }

    async fn answer(&self, asked: &AskedQuestion) -> QuestionOutcome {
        self.shown.lock().unwrap().push(asked.question.text.clone());
        self.response.clone()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn server() -> ServerName {
    "files".parse().unwrap()
}

fn host() -> HostAnswers {
    let roots = vec![Root::directory("/work/a b").unwrap()];
    HostAnswers::default().asking_people().roots(Arc::new(roots)).sampler(Arc::new(Echo))
}

/// Has a server ask while it works on a call, and writes what the person was shown and what the server was answered.
async fn asked(method: &'static str, params: Value, response: QuestionOutcome, approves: bool) -> String {
    let (shown, told) = (Arc::default(), Arc::new(Mutex::new(String::new())));
    let person = Person { response, approves, shown: Arc::clone(&shown) };
    let answered = Arc::clone(&told);
    let tool = tool_fn(
        "work",
        "Works.",
        |_: &Nothing| Ok(Accesses::none()),
        move |_: Nothing, cx| {
            let (params, answered) = (params.clone(), Arc::clone(&answered));
            async move {
                let watch = Arc::new(Called(cx)) as Arc<dyn Watch>;
                let ask = Ask { method: method.to_owned(), params };
                let answer = host().answer(&server(), ask, Some(watch)).await;
                *answered.lock().unwrap() = match answer {
                    Ok(answer) => answer.to_string(),
                    Err(refused) => format!("{}: {}", refused.code, refused.message),
                };
                Ok::<_, ToolError>("done")
            }
        },
    );
    let registry = ToolRegistry::new().with(tool.unwrap()).unwrap();
    let registry = registry.with(SamplingTool::new(server(), Arc::new(Echo))).unwrap();
    let policy = Policy::new().allow(Rule::tools("work".parse().unwrap()));
    let executor = LocalExecutor::builder(registry).policy(policy).approver(person).build();
    let call = ToolCall::new("c1".parse().unwrap(), "work", json!({}));
    executor.execute_batch(Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call])).await;
    let shown = shown.lock().unwrap().join("\n---\n");
    format!("{shown}\n=> {}\n", told.lock().unwrap())
}

/// Has a server ask for each of these, and compares what came of all.
async fn check(asks: impl IntoIterator<Item = (&'static str, Value, QuestionOutcome)>, expected: Expect) {
    let mut all = String::new();
    for (method, params, response) in asks {
        all.push_str(&asked(method, params, response, true).await);
    }
    expected.assert_eq(&all);
}

/// Has a server ask for each of these of a person, and compares what came of all.
async fn check_questions(asks: impl IntoIterator<Item = (Value, QuestionOutcome)>, expected: Expect) {
    check(asks.into_iter().map(|(params, response)| ("elicitation/create", params, response)), expected)
        .await;
}

fn answered(answer: Value) -> QuestionOutcome {
    QuestionOutcome::Answered { answer }
}

fn form() -> Value {
    json!({
        "message": "Who\u{202e}?",
        "requestedSchema": { "type": "object", "required": ["name", "age"], "properties": {
            "name": { "type": "string", "title": "Your\u{200b} name", "default": "Ada" },
            "age": { "type": "integer", "minimum": 0, "default": 36 },
            "score": { "type": "number", "default": 9.5 },
            "state": { "type": "string", "enum": ["on", "off"], "default": "on" },
            "sure": { "type": "boolean", "default": true },
            "colours": { "type": "array", "items": { "anyOf": [{ "const": "r", "title": "red" }] }, "default": ["r"] },
            "note": { "type": "string", "pattern": "(a+)+$" }
        } }
    })
}

#[tokio::test]
async fn a_form_is_asked_and_what_is_left_out_has_its_default() {
    let responses = [
        answered(json!({ "age": 7 })),
        answered(json!({})),
        answered(json!({ "age": "x" })),
        QuestionOutcome::Declined,
        QuestionOutcome::Nobody,
        QuestionOutcome::TimedOut { after_ms: 5 },
    ];
    check_questions(responses.map(|response| (form(), response)), expect![[r#"
        The MCP server `files` asks:
        > Who\u{202e}?
        => {"action":"accept","content":{"age":7,"colours":["r"],"name":"Ada","score":9.5,"state":"on","sure":true}}
        The MCP server `files` asks:
        > Who\u{202e}?
        => {"action":"accept","content":{"age":36,"colours":["r"],"name":"Ada","score":9.5,"state":"on","sure":true}}
        The MCP server `files` asks:
        > Who\u{202e}?
        => {"action":"cancel"}
        The MCP server `files` asks:
        > Who\u{202e}?
        => {"action":"decline"}
        The MCP server `files` asks:
        > Who\u{202e}?
        => {"action":"decline"}
        The MCP server `files` asks:
        > Who\u{202e}?
        => {"action":"cancel"}
    "#]]).await;
}

#[tokio::test]
async fn a_form_that_hides_or_asks_too_much_is_not_asked() {
    let forms = [
        json!(1),
        json!({ "properties": { "a\u{200b}": { "type": "string" } } }),
        json!({ "properties": { "a": { "type": "object" } } }),
        json!({ "properties": { "a": { "$ref": "https://example.com" } } }),
        json!({ "properties": { "a": { "type": "string", "enum": ["x", "x\u{202e}"] } } }),
        json!({ "properties": { "a": { "type": "string", "title": "x".repeat(70_000) } } }),
        json!({ "properties": { "a": { "type": "integer", "default": "x" } } }),
        json!({ "properties": { "api_key": { "type": "string" } } }),
    ];
    let asks = forms.map(|form| (json!({ "message": "?", "requestedSchema": form }), answered(json!({}))));
    check_questions(asks, expect![[r#"

        => -32602: the form cannot be shown: a form is an object with `properties`

        => -32602: the form cannot be shown: a name or a choice is empty, too long, or holds characters that cannot be seen

        => -32602: the form cannot be shown: the field `a`: it is neither a text, a number, a yes or no nor a list of choices

        => -32602: the form cannot be shown: the field `a`: it is neither a text, a number, a yes or no nor a list of choices

        => -32602: the form cannot be shown: the field `a`: a name or a choice is empty, too long, or holds characters that cannot be seen

        => -32602: the form cannot be shown: a form has at most 64 KiB
        The MCP server `files` asks:
        > ?
        => -32602: the form cannot be shown: at `/a`: "x" is not an integer
        The MCP server `files` asks:
        > ?
        It asks for a secret, which a server must not do in this way: what you write goes to it.
        => {"action":"accept","content":{}}
    "#]]).await;
}

#[tokio::test]
async fn an_address_is_shown_with_its_host_and_never_opened() {
    let asks = [
        ("https://exämple.com/a?b", true),
        ("https://example.com/", false),
        ("javascript:alert(1)", true),
        ("https://github.com@example.com", true),
    ];
    let ask = |(url, answer)| {
        let params =
            json!({ "mode": "url", "url": url, "elicitationId": "1", "message": "Log in.\u{1b}[2J" });
        (params, answered(json!(answer)))
    };
    check_questions(
        asks.map(ask),
        expect![[r#"
        The MCP server `files` wants you to open an address of `xn--exmple-cua.com`:
        https://xn--exmple-cua.com/a?b
        > Log in.\u{1b}[2J
        It is not opened for you. Open it yourself if you know the host; is it yes?
        => {"action":"accept"}
        The MCP server `files` wants you to open an address of `example.com`:
        https://example.com/
        > Log in.\u{1b}[2J
        It is not opened for you. Open it yourself if you know the host; is it yes?
        => {"action":"decline"}

        => -32602: an address is `https`, or `http` on this machine, and names no user

        => -32602: an address is `https`, or `http` on this machine, and names no user
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_turn_of_the_model_is_permitted_like_a_call() {
    let params = json!({
        "systemPrompt": "Be brief.", "maxTokens": 100,
        "messages": [{ "role": "user", "content": { "type": "text", "text": "Hi\u{202e}" } }]
    });
    let asks = [params.clone(), json!({ "messages": [] })];
    let asks = asks.map(|params| ("sampling/createMessage", params, QuestionOutcome::Nobody));
    check(asks, expect![[r#"
        The MCP server `files` wants a turn of the model of up to 100 tokens, for which it would be told:
        system: Be brief.
        user: Hi\u{202e}

        => {"content":{"text":"1 messages, 100 tokens","type":"text"},"model":"echo","role":"assistant","stopReason":"endTurn"}

        => -32602: there are 1 to 200 messages
    "#]]).await;
    let denied = asked("sampling/createMessage", params, QuestionOutcome::Nobody, false).await;
    expect![[r#"
        -1: the user does not allow it
    "#]]
    .assert_eq(denied.rsplit("=> ").next().unwrap());
}

#[tokio::test]
async fn directories_and_signs_of_life_need_no_person() {
    let methods = ["roots/list", "ping", "no/such"];
    check(
        methods.map(|method| (method, json!({}), QuestionOutcome::Nobody)),
        expect![[r#"

        => {"roots":[{"name":"a b","uri":"file:///work/a%20b"}]}

        => {}

        => -32601: there is no `no/such` here
    "#]],
    )
    .await;
}

#[tokio::test]
async fn servers_are_told_of_what_there_is_and_refused_the_rest() {
    assert_eq!(HostAnswers::default().capabilities(&server()), json!({}));
    assert_eq!(
        host().capabilities(&server()),
        json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
    );
    for method in ["elicitation/create", "sampling/createMessage", "roots/list"] {
        let ask = Ask { method: method.to_owned(), params: form() };
        assert_eq!(HostAnswers::default().answer(&server(), ask, None).await.unwrap_err().code, NO_METHOD);
    }
    // Outside of a call there is nobody to ask.
    let ask = Ask { method: "elicitation/create".to_owned(), params: form() };
    assert_eq!(host().answer(&server(), ask, None).await.unwrap(), json!({ "action": "decline" }));
}

#[tokio::test]
async fn changes_are_told_to_whoever_listens() {
    let host = host();
    host.hear(&server(), &News::PromptsChanged);
    let mut events = host.events();
    host.hear(&server(), &News::ToolsChanged);
    host.hear(&server(), &News::ResourceUpdated("file:///a".to_owned()));
    let kind = McpEventKind::ResourceUpdated { uri: "file:///a".to_owned() };
    assert_eq!(events.next().await, Some(McpEvent { server: server(), kind }));
    drop(host);
    assert_eq!(events.next().await, None);
}
