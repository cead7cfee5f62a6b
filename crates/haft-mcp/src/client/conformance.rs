//! The client that the conformance suite of the protocol runs: a test that is one scenario, told by the environment.
//!
//! `cargo xtask mcp-conformance` runs it. It drives connections as the layers above do, logs in where a server wants that,
//! and plays the person: it visits the page of a login and comes back from it.

use crate::client::auth::{CredentialsInProcess, LoginConfig, RegisteredClient};
use crate::client::rmcp_session::{HttpDial, OAuth, Opening, host_of};
use crate::client::session::{
    Ask, AskRefused, Counterpart, Dial as _, DialError, Fault, News, Request, Session, Watch,
};
use crate::{Era, EraMemoryInProcess, HttpServer, ServerLimits};
use async_trait::async_trait;
use bytes::Bytes;

use haft_http::{AddressPolicy, Exchange, HttpClient};
use serde_json::{Map, Value, json};
use std::env;
use std::sync::Arc;
use tokio::time::{Duration, timeout};

/// How often a login is gone through for one request.
const MOST_LOGINS: u32 = 4;

/// How often one request is asked again with what the server wanted to know.
const MOST_ROUNDS: u32 = 10;

#[tokio::test]
#[ignore = "run by `cargo xtask mcp-conformance`"]
async fn client() {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let url = variable("HAFT_MCP_CONFORMANCE_URL");
    let scenario = variable("MCP_CONFORMANCE_SCENARIO");
    let context: Value = serde_json::from_str(&variable("MCP_CONFORMANCE_CONTEXT")).unwrap_or_default();
    let era =
        if variable("MCP_CONFORMANCE_PROTOCOL_VERSION") == "2026-07-28" { Era::Modern } else { Era::Legacy };
    let played = play(&url, &scenario, &context, era);
    timeout(Duration::from_secs(25), played)
        .await
        .expect("the scenario ends")
        .expect("the scenario goes well");
}

async fn play(url: &str, scenario: &str, context: &Value, era: Era) -> Result<(), String> {
    let stage = Stage::open(url, context, era).await?;
    let tools = stage.list("tools/list", "tools").await?;
    match scenario {
        "initialize" | "json-schema-ref-no-deref" | "request-metadata" => {}
        "tools_call" => {
            stage.call("add_numbers", json!({ "a": 5, "b": 3 })).await?;
        }
        "sep-2322-client-request-state" => {
            let (echoed, unrelated) = tokio::join!(
                stage.call("test_mrtr_echo_state", json!({})),
                stage.call("test_mrtr_unrelated", json!({}))
            );
            echoed.and(unrelated)?;
            for tool in ["test_mrtr_no_state", "test_mrtr_no_result_type"] {
                stage.call(tool, json!({})).await?;
            }
        }
        "http-custom-headers" => {
            for call in context["toolCalls"].as_array().into_iter().flatten() {
                let name = call["name"].as_str().unwrap_or_default();
                // What a server says to a header is its affair; that it was sent is what counts.
                let _ = stage.call(name, call["arguments"].clone()).await;
            }
        }
        "http-standard-headers" => {
            for tool in &tools {
                stage.call(name_of(tool), sample(tool)).await?;
            }
            for resource in stage.list("resources/list", "resources").await? {
                stage.ask("resources/read", json!({ "uri": resource["uri"] })).await?;
            }
            for prompt in stage.list("prompts/list", "prompts").await? {
                stage.ask("prompts/get", json!({ "name": prompt["name"] })).await?;
            }
        }
        _ => {
            for tool in &tools {
                stage.call(name_of(tool), sample(tool)).await?;
            }
        }
    }
    stage.session.close().await;
    Ok(())
}

struct Stage {
    session: Arc<dyn Session>,
    person: Person,
}

impl Stage {
    async fn open(url: &str, context: &Value, era: Era) -> Result<Self, String> {
        let text = |name: &str| context[name].as_str().map(str::to_owned);
        let client = text("client_id").map(|id| {
            let mut client = RegisteredClient::new(id);
            client.secret = text("client_secret");
            client
        });
        let config = LoginConfig {
            client,
            client_metadata_url: Some("https://conformance-test.local/client-metadata.json".to_owned()),
            scopes: Vec::new(),
        };
        let host = host_of(url).map_err(|error| error.to_string())?;
        let oauth = OAuth::new(url.to_owned(), host, config, Arc::new(CredentialsInProcess::default()));
        let oauth = Arc::new(oauth.map_err(|error| error.to_string())?);
        let opening = Opening {
            era: Some(era),
            limits: ServerLimits::default(),
            memory: Arc::new(EraMemoryInProcess::default()),
            key: crate::client::service::key(),
        };
        let dial =
            HttpDial::new(&HttpServer::new(url), Some(oauth), opening).map_err(|error| error.to_string())?;
        let person =
            Person(HttpClient::new(AddressPolicy::public().loopback()).map_err(|error| error.to_string())?);
        for _ in 0..MOST_LOGINS {
            match dial.dial(Arc::new(Stand)).await {
                Ok(session) => return Ok(Self { session, person }),
                Err(DialError::Refused(Fault::Unauthorized { url: Some(url) })) => {
                    person.log_in(&url).await?;
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        Err("too many logins".to_owned())
    }

    /// Makes a request, with the logins it needs and the answers that the server asks for.
    async fn ask(&self, method: &'static str, params: Value) -> Result<Value, String> {
        let mut params = params;
        let mut rounds = 0;
        let mut logins = 0;
        loop {
            let request = Request { method, params: params.clone() };
            match self.session.request(request, Some(Arc::new(Stand))).await {
                Ok(result) if result["resultType"] == "input_required" && rounds < MOST_ROUNDS => {
                    rounds += 1;
                    let mut answers = Map::new();
                    for (key, asked) in result["inputRequests"].as_object().into_iter().flatten() {
                        let method = asked["method"].as_str().unwrap_or_default().to_owned();
                        let ask = Ask { method, params: asked["params"].clone() };
                        let answer = Stand.answer(ask, None).await.map_err(|refused| refused.message)?;
                        answers.insert(key.clone(), answer);
                    }
                    let object = params.as_object_mut().ok_or("the params are no object")?;
                    object.remove("requestState");
                    object.remove("inputResponses");
                    if !answers.is_empty() {
                        object.insert("inputResponses".to_owned(), answers.into());
                    }
                    if let Some(state) = result.get("requestState") {
                        object.insert("requestState".to_owned(), state.clone());
                    }
                }
                Ok(result) => return Ok(result),
                Err(Fault::Unauthorized { url: Some(url) }) if logins < MOST_LOGINS => {
                    logins += 1;
                    self.person.log_in(&url).await?;
                }
                Err(fault) => return Err(format!("{method}: {fault}")),
            }
        }
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Value, String> {
        self.ask("tools/call", json!({ "name": name, "arguments": arguments })).await
    }

    async fn list(&self, method: &'static str, of: &str) -> Result<Vec<Value>, String> {
        let result = self.ask(method, json!({})).await?;
        Ok(result[of].as_array().cloned().unwrap_or_default())
    }
}

fn name_of(tool: &Value) -> &str {
    tool["name"].as_str().unwrap_or_default()
}

/// Arguments that a tool takes: one of the right kind for each that it requires.
fn sample(tool: &Value) -> Value {
    let schema = &tool["inputSchema"];
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let of = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    };
    required.map(|name| (name.to_owned(), of(name))).collect::<Map<_, _>>().into()
}

/// Follows the page of a login back to where it was begun.
struct Person(HttpClient);

impl Person {
    async fn log_in(&self, url: &str) -> Result<(), String> {
        let mut url = url.to_owned();
        for _ in 0..5 {
            let request = http::Request::get(&url).body(Bytes::new()).map_err(|error| error.to_string())?;
            let answer =
                self.0.send(request, Exchange::default()).await.map_err(|error| error.to_string())?;
            match answer.headers().get("location").and_then(|to| to.to_str().ok()) {
                Some(to) => to.clone_into(&mut url),
                None if answer.status().is_success() => return Ok(()),
                None => {
                    let page = answer.into_body().bytes().await.map_err(|error| error.to_string())?;
                    return Err(String::from_utf8_lossy(&page).into_owned());
                }
            }
        }
        Err("the login leads nowhere".to_owned())
    }
}

/// Stands in for the layers above a connection.
struct Stand;

#[async_trait]
impl Counterpart for Stand {
    fn capabilities(&self) -> Value {
        json!({ "elicitation": { "form": { "applyDefaults": true } } })
    }

    async fn answer(&self, ask: Ask, _of: Option<Arc<dyn Watch>>) -> Result<Value, AskRefused> {
        if ask.method != "elicitation/create" {
            return Err(AskRefused { code: -32_601, message: format!("nobody answers {}", ask.method) });
        }
        let properties = ask.params["requestedSchema"]["properties"].as_object();
        let content: Map<String, Value> = properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| (name.clone(), schema.get("default").cloned().unwrap_or(json!("text"))))
            .collect();
        Ok(json!({ "action": "accept", "content": content }))
    }

    fn hear(&self, news: News) {
        println!("{news:?}");
    }
}

impl Watch for Stand {
    fn progress(&self, _done: f64, _total: Option<f64>, _text: Option<&str>) {}

    fn call(&self) -> Option<&haft_tools_core::CallContext> {
        None
    }
}
