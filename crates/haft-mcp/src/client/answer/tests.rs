//! What servers ask and change, seen from a call of one of their tools through the whole executor.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use super::{Sampled, Sampler, SamplingRequest};
use crate::client::fake::{Asked, FakeServer, builder, call, catalog, config, executor, text_result, tool};
use crate::client::session::{Ask, Fault, News, Watch};
use crate::{Era, MemoryPins, PinStore, ServerIdentity};
use async_trait::async_trait;
use expect_test::expect;
use haft_core::ToolError;
use haft_tools_core::{
    Approval, Approver, AskedQuestion, CallContext, LocalExecutor, PendingCall, Policy, QuestionOutcome,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Is a person who answers forms and permits everything.
struct Willing;

#[async_trait]
impl Approver for Willing {
    async fn approve(&self, _: &PendingCall) -> Approval {
        Approval::Approve
    }

    async fn answer(&self, asked: &AskedQuestion) -> QuestionOutcome {
        assert!(asked.question.text.starts_with("The MCP server `s` asks:\n> Who?"));
        QuestionOutcome::Answered { answer: json!({}) }
    }
}

/// Is a model that says what it was asked for.
pub(super) struct Echo;

#[async_trait]
impl Sampler for Echo {
    async fn sample(&self, request: SamplingRequest, _: &CallContext) -> Result<Sampled, ToolError> {
        let text = format!("{} messages, {} tokens", request.messages.len(), request.max_tokens);
        Ok(Sampled::new(text, "echo"))
    }
}

/// Asks for something while it works on a call, as it is done in the era, and tells what it was answered.
fn asking(era: Era, method: &'static str, params: Value) -> FakeServer {
    FakeServer::new(era, json!([tool("work")]), move |asked: Asked| {
        let ask = Ask { method: method.to_owned(), params: params.clone() };
        async move {
            let answered = match (era, asked.params.pointer("/inputResponses/q")) {
                (Era::Modern, Some(answer)) => answer.to_string(),
                (Era::Modern, None) => {
                    let requests = json!({ "q": { "method": ask.method, "params": ask.params } });
                    return Ok(json!({ "resultType": "input_required", "inputRequests": requests }));
                }
                (Era::Legacy, _) => {
                    let counterpart = asked.session.counterpart();
                    match counterpart.answer(ask, asked.watch as Option<Arc<dyn Watch>>).await {
                        Ok(answer) => answer.to_string(),
                        Err(refused) => refused.message,
                    }
                }
            };
            Ok(text_result(&answered))
        }
    })
}

fn form() -> Value {
    json!({ "message": "Who?", "requestedSchema": {
        "type": "object", "properties": { "name": { "type": "string", "default": "Ada" } }, "required": ["name"],
    } })
}

fn turn() -> Value {
    json!({ "maxTokens": 7, "messages": [{ "role": "user", "content": { "type": "text", "text": "Hi" } }] })
}

#[tokio::test]
async fn both_eras_get_the_same_answers() {
    for (method, params, expected) in [
        (
            "elicitation/create",
            form(),
            expect![[r#"
            ok
            {"action":"accept","content":{"name":"Ada"}}"#]],
        ),
        (
            "sampling/createMessage",
            turn(),
            expect![[r#"
                ok
                {"content":{"text":"1 messages, 7 tokens","type":"text"},"model":"echo","role":"assistant","stopReason":"endTurn"}"#]],
        ),
        (
            "roots/list",
            json!({}),
            expect![[r#"
            ok
            {"roots":[{"name":"work","uri":"file:///work"}]}"#]],
        ),
    ] {
        let answered = async |era| {
            let fake = asking(era, method, params.clone());
            let roots = vec![super::Root::directory("/work").unwrap()];
            let servers = builder([(config("s"), &fake)]).asking_people().sampler(Echo).roots(roots);
            let servers = servers.build().unwrap();
            let executor = executor(&servers).await.approver(Willing).build();
            call(&executor, "s__work", json!({})).await
        };
        let legacy = answered(Era::Legacy).await;
        assert_eq!(legacy, answered(Era::Modern).await);
        expected.assert_eq(&legacy);
    }
}

#[tokio::test]
async fn a_server_gets_nothing_where_the_host_says_nothing() {
    for era in [Era::Legacy, Era::Modern] {
        let fake = asking(era, "elicitation/create", form());
        let servers = builder([(config("s"), &fake)]).build().unwrap();
        let executor = executor(&servers).await.approver(Willing).build();
        let told = call(&executor, "s__work", json!({})).await;
        assert!(told.contains("there is no `elicitation/create` here"), "{told}");
        assert_eq!(fake.counterpart().capabilities(), json!({}));
    }
}

#[tokio::test]
async fn a_wildcard_permits_no_turn_of_the_model() {
    let fake = asking(Era::Modern, "sampling/createMessage", turn());
    let servers = builder([(config("s"), &fake)]).sampler(Echo).build().unwrap();
    let executor = executor(&servers).await.build();
    expect![[r#"
        error: failed
        the server asks for `sampling/createMessage` before it goes on, and does not get it: the user does not allow it; go on without this call"#]].assert_eq(&call(&executor, "s__work", json!({})).await);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_changed_denies_every_call_until_it_is_accepted() {
    let fake = FakeServer::saying(json!([tool("echo")]), "hello");
    let (store, identity) = (Arc::new(MemoryPins::default()), ServerIdentity::of(&config("s")));
    let servers = builder([(config("s"), &fake)]).pins(Arc::clone(&store)).build().unwrap();
    let catalog = catalog(&servers).await;
    let run = async || {
        catalog.refresh().await;
        let policy = Policy::new().allow(haft_tools_core::Rule::tools("*".parse().unwrap()));
        let executor = LocalExecutor::builder(catalog.snapshot()).policy(policy).build();
        call(&executor, "s__echo", json!({})).await
    };
    let changed = async || {
        let mut changes = store.read(&identity).unwrap().unwrap();
        while changes.waiting().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            changes = store.read(&identity).unwrap().unwrap();
        }
        changes.waiting()["echo"].digest
    };
    expect![[r#"
        ok
        hello"#]]
    .assert_eq(&run().await);
    fake.list(
        json!([{ "name": "echo", "description": "Sends it on.", "inputSchema": { "type": "object" } }]),
    );
    fake.tell(News::ToolsChanged);
    let digest = changed().await;
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    expect![[r#"
        denied
        `s__echo` cannot be called: its description changed since it was accepted; go on without it until the user has looked at it and accepted it with `haft mcp accept s`"#]].assert_eq(&run().await);
    assert!(store.accept(&identity, "echo", digest).unwrap());
    servers.get("s").unwrap().refresh();
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    expect![[r#"
        denied
        `s__echo` cannot be called: its description changed since it was accepted; go on without it until the user has looked at it and accepted it with `haft mcp accept s`"#]]
    .assert_eq(&run().await);
}

#[tokio::test]
async fn resources_are_tools_where_that_is_wanted() {
    let fake = FakeServer::new(Era::Legacy, json!([tool("read_resource")]), |asked: Asked| async move {
        match asked.method {
            "resources/list" => Ok(json!({ "resources": [{ "uri": "file:///a", "name": "a" }] })),
            method => Err(Fault::Refused { code: -32_601, message: method.to_owned(), data: None }),
        }
    });
    let mut config = config("s");
    config.resource_tools = true;
    let servers = builder([(config, &fake)]).build().unwrap();
    let executor = executor(&servers).await.build();
    expect![[r#"
        ok
        file:///a a
    "#]]
    .assert_eq(&call(&executor, "s__list_resources", json!({})).await);
    // The server's own tool of the name stays what it is.
    assert_eq!(catalog(&servers).await.snapshot().len(), 2);
    assert_eq!(servers.get("s").unwrap().content().resources().await.unwrap().items.len(), 1);
}
