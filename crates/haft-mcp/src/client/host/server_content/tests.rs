#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use super::*;
use crate::client::host::resource_tools;
use crate::{PromptRole, ServerName};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::{ToolCall, ToolName};
use haft_tools_core::{AllowAll, Batch, CallScope, LocalExecutor, ToolExecutor as _, ToolRegistry};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Is a server that answers each request by a function, and keeps what it was asked.
struct Fake {
    name: ServerName,
    era: Era,
    /// How often it is not there when it is asked for its era, after the first time.
    away: AtomicUsize,
    asked: Mutex<Vec<String>>,
    answer: fn(&str, &Value) -> Result<Value, ServerRequestError>,
}

#[async_trait]
impl Requester for Fake {
    fn server(&self) -> &ServerName {
        &self.name
    }

    async fn era(&self) -> Result<Era, ServerRequestError> {
        let was_asked = !self.asked.lock().unwrap().is_empty();
        if was_asked && self.away.fetch_update(SeqCst, SeqCst, |away| away.checked_sub(1)).is_ok() {
            self.asked.lock().unwrap().push("away".to_owned());
            return Err(away());
        }
        Ok(self.era)
    }

    async fn tells_of_resources(&self) -> Result<bool, ServerRequestError> {
        Ok(true)
    }

    fn missed(&self, uri: &str) {
        self.asked.lock().unwrap().push(format!("missed {uri}"));
    }

    async fn request(
        &self,
        method: &'static str,
        params: Value,
        _: Option<&CallContext>,
    ) -> Result<Value, ServerRequestError> {
        self.asked.lock().unwrap().push(format!("{method} {params}"));
        (self.answer)(method, &params)
    }

    async fn hold(&self, method: &'static str, params: Value) -> Result<Value, ServerRequestError> {
        self.request(method, params, None).await
    }
}

fn fake(answer: fn(&str, &Value) -> Result<Value, ServerRequestError>) -> Arc<Fake> {
    let (away, asked) = (AtomicUsize::new(0), Mutex::default());
    Arc::new(Fake { name: "files".parse().unwrap(), era: Era::Legacy, away, asked, answer })
}

fn away() -> ServerRequestError {
    ServerRequestError::Unreachable { reason: "it is gone".to_owned() }
}

fn content(fake: &Arc<Fake>) -> ServerContent {
    ServerContent::new(Arc::clone(fake) as Arc<dyn Requester>)
}

/// Has two pages of resources, one template and one file.
fn library(method: &str, params: &Value) -> Result<Value, ServerRequestError> {
    match (method, params.get("cursor").or(params.get("uri")).and_then(Value::as_str)) {
        ("resources/list", None) => Ok(json!({
            "resources": [
                { "uri": "file:///a", "name": "a", "mimeType": "text/plain", "description": "First\nof all\u{202e}", "size": 3 },
                { "name": "without" },
            ],
            "nextCursor": "2",
        })),
        ("resources/list", Some("2")) => Ok(json!({ "resources": [{ "uri": "file:///b" }] })),
        ("resources/templates/list", None) => {
            Ok(json!({ "resourceTemplates": [{ "uriTemplate": "file:///{name}", "name": "any" }] }))
        }
        ("resources/read", Some("file:///a")) => Ok(json!({ "contents": [
            { "uri": "file:///a", "mimeType": "text/plain", "text": "abc" },
            { "uri": "file:///a#", "blob": "AAEC" },
            { "uri": "file:///a?" },
        ] })),
        ("resources/read", _) => Err(ServerRequestError::refused(-32_002, "no such\u{1b} thing")),
        ("resources/subscribe" | "resources/unsubscribe", _) => Ok(json!({})),
        ("prompts/list", _) => Ok(json!({ "prompts": [
            { "name": "greet", "arguments": [{ "name": "who", "required": true }, { "description": "nameless" }] },
        ] })),
        ("prompts/get", _) => Ok(json!({ "description": "Greets.", "messages": [
            { "role": "user", "content": { "type": "text", "text": "Hello Ada" } },
            { "role": "assistant", "content": { "type": "hologram" } },
        ] })),
        ("completion/complete", _) => {
            Ok(json!({ "completion": { "values": ["Ada", "Adam", 3], "total": 7, "hasMore": true } }))
        }
        (method, _) => Err(ServerRequestError::refused(-32_601, method)),
    }
}

/// Calls a tool of the server's resources, and writes what the model is told.
async fn called(
    tool: &str,
    input: Value,
    answer: fn(&str, &Value) -> Result<Value, ServerRequestError>,
) -> String {
    let requester = fake(answer) as Arc<dyn Requester>;
    let tools = resource_tools(&requester, crate::ServerLimits::default());
    let registry =
        tools.into_iter().try_fold(ToolRegistry::new(), |registry, tool| registry.with(tool)).unwrap();
    let executor = LocalExecutor::builder(registry).approver(AllowAll).build();
    let call = ToolCall::new("c1".parse().unwrap(), tool, input);
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
    let replies = executor.execute_batch(batch).await.into_replies().unwrap();
    format!("{:?}: {}", replies[0].status, replies[0].output.to_text())
}

async fn check(tool: &str, input: Value, expected: Expect) {
    expected.assert_eq(&called(tool, input, library).await);
}

#[tokio::test]
async fn resources_are_listed_and_read_by_tools() {
    check(
        "files__list_resources",
        json!({}),
        expect![[r#"
        Ok: file:///a a (text/plain): First\nof all\u{202e}
        file:///b
        Patterns of addresses, to be filled in:
        file:///{name} any
        [left out: a resource has no `uri`]
    "#]],
    )
    .await;
    check(
        "files__read_resource",
        json!({ "uri": "file:///a" }),
        expect![[r#"
        Ok: abc
        file:///a#
        [a part was left out: its document has neither text nor data]"#]],
    )
    .await;
    check("files__read_resource", json!({ "uri": "file:///z" }), expect![[r#"Error(NotFound): the server `files` does not have `file:///z`: no such\u{1b} thing; list what there is with `files__list_resources`"#]]).await;
    let none = called("files__list_resources", json!({}), |method, _| {
        Err(ServerRequestError::refused(-32_601, method))
    });
    expect!["Ok: The server has no resources."].assert_eq(&none.await);
}

#[test]
fn the_tools_say_what_they_touch() {
    let requester = fake(library) as Arc<dyn Requester>;
    let mut told = String::new();
    for tool in resource_tools(&requester, crate::ServerLimits::default()) {
        let prepared =
            tool.prepare(&json!({ "uri": "file:///a" }), &CallScope::new("run-1".parse().unwrap())).unwrap();
        let accesses: Vec<String> = prepared.accesses().iter().map(ToString::to_string).collect();
        writeln!(told, "{} {} {accesses:?}", tool.spec().name(), tool.spec().origin()).unwrap();
        assert!(tool.spec().name().as_str().parse::<ToolName>().is_ok());
    }
    expect![[r#"
        files__list_resources mcp:files/resources/list ["call mcp:files/resources"]
        files__read_resource mcp:files/resources/read ["call mcp:files/resource:file:///a"]
    "#]]
    .assert_eq(&told);
}

#[tokio::test]
async fn lists_end_whatever_a_server_does() {
    let circle = fake(|_, _| Ok(json!({ "resources": [{ "uri": "a:b" }], "nextCursor": "again" })));
    let listed = content(&circle).resources().await.unwrap();
    assert_eq!(
        (listed.items.len(), listed.left_out),
        (2, vec!["the list goes in a circle; it was read up to where it repeats itself".to_owned()])
    );

    let endless = fake(|_, params| {
        let next = params["cursor"].as_str().unwrap_or("0").parse::<u64>().unwrap() + 1;
        Ok(json!({ "resources": [], "nextCursor": next.to_string() }))
    });
    let listed = content(&endless).resources().await.unwrap();
    assert_eq!(listed.left_out, ["the list has more than 1000 pages; the rest was left out"]);

    let many = fake(|_, _| {
        let resources: Vec<Value> =
            (0..10_001).map(|number| json!({ "uri": format!("a:{number}") })).collect();
        Ok(json!({ "resources": resources }))
    });
    assert_eq!(content(&many).resources().await.unwrap().items.len(), 10_000);

    let none = content(&fake(|_, _| Ok(json!({ "resources": "none" })))).resources().await;
    assert_eq!(
        none.unwrap_err().to_string(),
        "the server gave no answer that can be used: its answer to `resources/list` has no list `resources`"
    );
}

#[tokio::test]
async fn prompts_are_listed_filled_in_and_completed() {
    let content = content(&fake(library));
    let prompts = content.prompts().await.unwrap();
    assert_eq!((prompts.items[0].name.as_str(), prompts.items[0].arguments.len()), ("greet", 1));
    let arguments = BTreeMap::from([("who".to_owned(), "Ada".to_owned())]);
    let prompt = content.prompt("greet", &arguments).await.unwrap();
    let said: Vec<_> =
        prompt.messages.iter().map(|said| (said.role, said.content.as_text().unwrap())).collect();
    assert_eq!(
        said,
        [
            (PromptRole::User, "Hello Ada"),
            (PromptRole::Assistant, "[a part `hologram` was left out: its kind is not known here]")
        ]
    );
    let of = CompletionOf::Prompt("greet".to_owned());
    let completion = content.complete(&of, "who", "A", &BTreeMap::new()).await.unwrap();
    assert_eq!(
        completion,
        Completion { values: vec!["Ada".to_owned(), "Adam".to_owned()], total: Some(7), has_more: true }
    );
}

#[tokio::test]
async fn a_server_is_told_what_to_watch_in_its_own_era() {
    let legacy = fake(library);
    let watch = content(&legacy).watch_resource("file:///a").await.unwrap();
    content(&legacy).unwatch_resource(watch).await.unwrap();
    assert_eq!(
        *legacy.asked.lock().unwrap(),
        ["resources/subscribe {\"uri\":\"file:///a\"}", "resources/unsubscribe {\"uri\":\"file:///a\"}"]
    );

    let modern = Fake { era: Era::Modern, ..Arc::into_inner(fake(library)).unwrap() };
    let modern = Arc::new(modern);
    let watch = content(&modern).watch_resource("file:///a").await.unwrap();
    tokio::task::yield_now().await;
    assert_eq!(
        *modern.asked.lock().unwrap(),
        ["subscriptions/listen {\"notifications\":{\"resourceSubscriptions\":[\"file:///a\"]}}"]
    );
    drop(watch);
}

#[tokio::test(start_paused = true)]
async fn a_change_is_told_only_when_a_server_that_was_away_is_there_again() {
    let gone = Arc::into_inner(fake(|_, _| Err(away()))).unwrap();
    let gone = Arc::new(Fake { era: Era::Modern, away: AtomicUsize::new(2), ..gone });
    let _watch = content(&gone).watch_resource("file:///a").await.unwrap();
    // The pauses are of 1 s, 2 s, 4 s and 8 s.
    sleep(Duration::from_secs(10)).await;
    let listens = "subscriptions/listen {\"notifications\":{\"resourceSubscriptions\":[\"file:///a\"]}}";
    assert_eq!(*gone.asked.lock().unwrap(), [listens, "away", "away", "missed file:///a", listens]);
}
