//! The client that the protocol's conformance suite runs (`cargo xtask mcp-conformance`): it plays one scenario, told by its
//! argument and the environment, with the tools of a server called through the whole executor.
//!
//! It also plays the person: it visits the page of a login and comes back from it, and takes every form as it is.
#![expect(clippy::print_stderr, reason = "the suite shows what its client says")]

use async_trait::async_trait;
use bytes::Bytes;
use haft_core::{ToolCall, ToolSpec};
use haft_http::{AddressPolicy, Exchange, HttpClient};
use haft_mcp::{
    Era, McpServer, McpServers, RegisteredClient, RemoteServer, ServerConfig, ServerState, Transport,
};
use haft_tools_core::{
    Approval, Approver, AskedQuestion, Batch, CallOutcome, CallScope, Catalog, LocalExecutor, PendingCall,
    Policy, QuestionOutcome, Rule, ToolExecutor as _, ToolRegistry, Wants,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::env;

/// How often a person logs in before the tools are known.
const MOST_LOGINS: u32 = 4;

type Anyhow<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Anyhow<()> {
    let url = env::args().nth(1).ok_or("the address of the server is missing")?;
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let context: Value = serde_json::from_str(&variable("MCP_CONFORMANCE_CONTEXT")).unwrap_or_default();
    let era =
        if variable("MCP_CONFORMANCE_PROTOCOL_VERSION") == "2026-07-28" { Era::Modern } else { Era::Legacy };
    let config = config(&url, &context, era).await?;
    let servers = McpServers::builder().server(config).asking_people().build()?;
    let played = play(&servers, &variable("MCP_CONFORMANCE_SCENARIO"), &context).await;
    servers.stop().await;
    played
}

/// Says where the server is, and as whom to log in.
async fn config(url: &str, context: &Value, era: Era) -> Anyhow<ServerConfig> {
    let text = |name: &str| context[name].as_str().map(str::to_owned);
    let mut server = RemoteServer::new(url);
    server.login.client = match (text("client_id").map(RegisteredClient::new), text("client_secret")) {
        (Some(client), Some(secret)) => Some(client.with_secret(secret, issuer(url).await?)),
        (client, _) => client,
    };
    server.login.client_metadata_url = Some("https://conformance-test.local/client-metadata.json".to_owned());
    let mut config = ServerConfig::new("suite".parse()?, Transport::Http(server));
    config.era = Some(era);
    Ok(config)
}

/// Finds out which authorization server the suite has registered its client with; a person knows.
async fn issuer(url: &str) -> Anyhow<String> {
    let url: http::Uri = url.parse()?;
    let authority = url.authority().ok_or("the address of the server has no host")?;
    let metadata = format!("http://{authority}/.well-known/oauth-protected-resource{}", url.path());
    let client = HttpClient::new(AddressPolicy::public().loopback())?;
    let request = http::Request::get(metadata).body(Bytes::new())?;
    let answer = client.send(request, Exchange::default()).await?.into_body().bytes().await?;
    let answer: Value = serde_json::from_slice(&answer)?;
    let issuer = answer["authorization_servers"][0].as_str();
    Ok(issuer.ok_or("the server names no authorization server")?.to_owned())
}

async fn play(servers: &McpServers, scenario: &str, context: &Value) -> Anyhow<()> {
    let server = servers.get("suite").ok_or("the server was added")?;
    let tools = connect(servers, server).await?;
    let specs: Vec<ToolSpec> = tools.iter().cloned().collect();
    let policy = Policy::new().allow(Rule::tools("*".parse()?));
    let stage = Stage(LocalExecutor::builder(tools).policy(policy).approver(Person::new()?).build());
    match scenario {
        "json-schema-ref-no-deref" => {}
        "tools_call" => stage.call("suite__add_numbers", json!({ "a": 5, "b": 3 })).await?,
        "sep-2322-client-request-state" => {
            let (echoed, unrelated) = tokio::join!(
                stage.call("suite__test_mrtr_echo_state", json!({})),
                stage.call("suite__test_mrtr_unrelated", json!({}))
            );
            echoed.and(unrelated)?;
            stage.call("suite__test_mrtr_no_state", json!({})).await?;
            stage.call("suite__test_mrtr_no_result_type", json!({})).await?;
        }
        "http-custom-headers" => {
            for call in context["toolCalls"].as_array().into_iter().flatten() {
                let name = call["name"].as_str().unwrap_or_default();
                stage.call(&format!("suite__{name}"), call["arguments"].clone()).await?;
            }
        }
        _ => {
            for spec in &specs {
                stage.call(spec.name().as_str(), sample(&serde_json::to_value(spec.input_schema())?)).await?;
            }
        }
    }
    if scenario == "http-standard-headers" {
        let offered = server.content();
        for resource in offered.resources().await?.items {
            offered.read_resource(&resource.uri).await?;
        }
        for prompt in offered.prompts().await?.items {
            offered.prompt(&prompt.name, &BTreeMap::new()).await?;
        }
    }
    Ok(())
}

/// Reads the tools, with the logins that the server wants for that.
async fn connect(servers: &McpServers, server: &McpServer) -> Anyhow<ToolRegistry> {
    let catalog = Catalog::builder().build()?;
    for source in servers.sources() {
        catalog.attach(source)?;
    }
    let person = Person::new()?;
    for _ in 0..MOST_LOGINS {
        let started = server.start().await;
        if started.is_ok() {
            catalog.refresh().await;
        }
        let status = server.status();
        match (status.state, status.login_url) {
            (ServerState::NeedsLogin, Some(url)) => person.log_in(&url).await?,
            _ if started.is_ok() => return Ok(catalog.snapshot()),
            _ => return Err(status.reason.unwrap_or_default().into()),
        }
    }
    Err("too many logins".into())
}

struct Stage(LocalExecutor);

impl Stage {
    /// Calls a tool; what it says is its affair, and that it says something is ours.
    async fn call(&self, tool: &str, input: Value) -> Anyhow<()> {
        let call = ToolCall::new("c1".parse()?, tool, input);
        let batch = Batch::new(CallScope::new("run-1".parse()?), vec![call]);
        match self.0.execute_batch(batch).await.into_outcomes().pop() {
            Some(CallOutcome::Replied(reply)) => {
                eprintln!("{tool}: {:?} {}", reply.status, reply.output.to_text());
                Ok(())
            }
            other => Err(format!("{tool}: {other:?}").into()),
        }
    }
}

/// Arguments that a tool takes: one of the right kind for each that it requires.
fn sample(schema: &Value) -> Value {
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

/// Logs in wherever that is wanted, and takes every form as it is.
struct Person(HttpClient);

impl Person {
    fn new() -> Anyhow<Self> {
        Ok(Self(HttpClient::new(AddressPolicy::public().loopback())?))
    }

    /// Follows the page of a login back to where it was begun.
    async fn log_in(&self, url: &str) -> Anyhow<()> {
        let mut url = url.to_owned();
        for _ in 0..5 {
            let request = http::Request::get(&url).body(Bytes::new())?;
            let answer = self.0.send(request, Exchange::default()).await?;
            match answer.headers().get("location") {
                Some(to) => to.to_str()?.clone_into(&mut url),
                None if answer.status().is_success() => return Ok(()),
                None => {
                    let page = answer.into_body().bytes().await?;
                    return Err(String::from_utf8_lossy(&page).into());
                }
            }
        }
        Err("the login leads nowhere".into())
    }
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, call: &PendingCall) -> Approval {
        let refused = match &call.wants {
            Wants::Authentication { url } => self.log_in(url).await.err().map(|error| error.to_string()),
            _ => None,
        };
        refused.map_or(Approval::Approve, |reason| Approval::Deny { reason })
    }

    async fn answer(&self, _question: &AskedQuestion) -> QuestionOutcome {
        QuestionOutcome::Answered { answer: json!({}) }
    }
}
