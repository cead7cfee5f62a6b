use crate::fixture::{Api, Say, named, read, registry, say_json};
use async_trait::async_trait;
use haft_core::{Event, EventKind, ReplyStatus, ToolCall, ToolReply};
use haft_openapi::{Credential, OpenApiTools, Secret, TokenError, TokenSource};
use haft_tools_core::{
    AccessMode, Approval, Batch, CallOutcome, CallScope, LocalExecutor, Policy, Resource, Resumption, Rule,
    Scheme, ToolExecutor as _, Wants, approver_fn,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

fn tools(api: &Api) -> OpenApiTools {
    let paths = json!({ "paths": { "/pets": {
        "get": { "operationId": "pets/list" }, "post": { "operationId": "pets/add" }, "delete": { "operationId": "pets/drop" },
    } } });
    api.tools(&paths).build()
}

fn connect(api: &Api) -> Rule {
    Rule::access(AccessMode::Connect, Resource::exact(Scheme::new("net"), api.address.to_string()))
}

fn calls(selector: &str) -> Rule {
    Rule::calls(selector.parse().unwrap())
}

/// Makes calls in one batch, with nobody to ask.
async fn run(
    tools: &OpenApiTools,
    policy: Policy,
    names: &[&str],
    cancelled: &CancellationToken,
) -> Vec<ToolReply> {
    let executor = LocalExecutor::builder(registry(tools)).policy(policy).build();
    let calls = names.iter().enumerate().map(|(number, name)| {
        ToolCall::new(format!("c{number}").parse().unwrap(), *name, Value::Object(serde_json::Map::new()))
    });
    let batch = Batch::new(CallScope::new("r".parse().unwrap()), calls.collect());
    let outcome = executor.execute_batch(batch.cancelled_by(cancelled.clone())).await;
    outcome.into_replies().unwrap()
}

#[tokio::test]
async fn a_policy_decides_by_operation_and_host() {
    let api = Api::start(|heard| say_json(&json!({ "did": heard.method }))).await;
    let tools = tools(&api);
    let never = CancellationToken::new();
    let names = ["api__pets_list", "api__pets_add", "api__pets_drop"];
    let policy =
        Policy::new().allow(connect(&api)).allow(calls("@api/pets/*")).deny(calls("@openapi/pets/drop"));
    let replies = run(&tools, policy, &names, &never).await;
    let read: Vec<String> = replies.iter().map(read).collect();
    assert_eq!(read[..2], [r#"{"did":"GET"}"#, r#"{"did":"POST"}"#]);
    assert_eq!(replies[2].status, ReplyStatus::Denied);

    // Whoever may call may not therefore connect, nor the other way round.
    for policy in [Policy::new().allow(calls("@api/*")), Policy::new().allow(connect(&api))] {
        let replies = run(&tools, policy, &names[..1], &never).await;
        assert_eq!(replies[0].status, ReplyStatus::Denied);
    }
    let by_name = Resource::exact(Scheme::new("openapi"), "api/pets_list");
    let policy = Policy::new().allow(connect(&api)).allow(Rule::access(AccessMode::Call, by_name));
    let replies = run(&tools, policy, &names[..2], &never).await;
    assert_eq!((replies[0].status, replies[1].status), (ReplyStatus::Ok, ReplyStatus::Denied));
    assert_eq!(api.heard().len(), 3);
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_its_request() {
    let cancel = CancellationToken::new();
    let asked = cancel.clone();
    let api = Api::start(move |_| {
        asked.cancel();
        Say::Open(Vec::new())
    })
    .await;
    let policy =
        Policy::new().allow(Rule::tools("*".parse().unwrap())).allow(connect(&api)).allow(calls("*"));
    let replies = run(&tools(&api), policy, &["api__pets_add"], &cancel).await;
    assert_eq!(replies[0].status, ReplyStatus::Cancelled);
}

#[tokio::test]
async fn events_are_shown_while_the_stream_goes_on() {
    let api = Api::start(|heard| {
        let key = heard.header("x-key").unwrap_or_default();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        Say::Open(format!("{head}event: step\ndata: 1 {key}\n\n").into_bytes())
    })
    .await;
    let tools = api.operation("get", &json!({})).header(http::HeaderName::from_static("x-key"), "s3cret-key");
    let tools = tools.allow_origin(api.origin().parse().unwrap()).build();
    let (cancel, shown) = (CancellationToken::new(), Arc::new(Mutex::new(Vec::new())));
    let (seen, all) = (cancel.clone(), Arc::clone(&shown));
    let observer = move |event: &Event| {
        if let EventKind::Updated { output } = &event.kind {
            all.lock().unwrap().push(output.to_text());
            seen.cancel();
        }
    };
    let policy = Policy::new().allow(calls("@api/op")).allow(connect(&api));
    let executor = LocalExecutor::builder(registry(&tools)).policy(policy).build();
    let call = ToolCall::new("c".parse().unwrap(), "api__op", json!({}));
    let batch = Batch::new(CallScope::new("r".parse().unwrap()), vec![call]);
    let outcome = executor.execute_batch(batch.cancelled_by(cancel).observed_by(Arc::new(observer))).await;
    assert_eq!(outcome.into_replies().unwrap()[0].status, ReplyStatus::Cancelled);
    assert_eq!(*shown.lock().unwrap(), ["step: 1 [redacted]\n"]);
}

/// Has a token once a person has logged in.
struct Login(Arc<AtomicBool>);

#[async_trait]
impl TokenSource for Login {
    async fn token(&self, _: Option<&Secret>) -> Result<Secret, TokenError> {
        if self.0.load(Ordering::Relaxed) {
            Ok(Secret::new("token-of-a-person"))
        } else {
            Err(TokenError::login("https://id.example/authorize?state=1"))
        }
    }
}

#[tokio::test]
async fn a_call_waits_until_a_person_has_logged_in() {
    let api = Api::start(|heard| say_json(&json!(heard.header("authorization")))).await;
    let code = json!({ "authorizationUrl": "https://id.example/a", "tokenUrl": "https://id.example/t", "scopes": {} });
    let members = json!({
        "components": { "securitySchemes": { "person": { "type": "oauth2", "flows": { "authorizationCode": code } } } },
        "paths": { "/a": { "post": named(&json!({ "security": [{ "person": [] }] })) } },
    });
    let is_known = Arc::new(AtomicBool::new(false));
    let credentials =
        BTreeMap::from([("person".to_owned(), Credential::tokens(Login(Arc::clone(&is_known))))]);
    let tools =
        api.tools(&members).credentials(credentials).allow_origin(api.origin().parse().unwrap()).build();
    let policy = Policy::new().allow(calls("@api/op")).allow(connect(&api));
    let executor = LocalExecutor::builder(registry(&tools)).policy(policy);
    let executor = executor.approver(approver_fn(|_| Approval::Later)).build();

    let scope = || CallScope::new("r".parse().unwrap());
    let call = ToolCall::new("c".parse().unwrap(), "api__op", json!({}));
    let outcome = executor.execute_batch(Batch::new(scope(), vec![call])).await;
    let [outcome] = outcome.into_outcomes().try_into().unwrap();
    let CallOutcome::Pending(pending) = outcome else { panic!("{outcome:?}") };
    assert_eq!(
        pending.wants,
        Wants::Authentication { url: "https://id.example/authorize?state=1".to_owned() }
    );
    assert_eq!(api.heard().len(), 0);

    is_known.store(true, Ordering::Relaxed);
    let outcome = executor.resume(Resumption::new(scope(), *pending, Approval::Approve)).await.unwrap();
    let CallOutcome::Replied(reply) = outcome else { panic!("{outcome:?}") };
    assert_eq!((reply.status, api.heard().len()), (ReplyStatus::Ok, 1));
    // The tools replace what was sent by themselves.
    assert_eq!(read(&reply), "\"Bearer [redacted]\"");
}
