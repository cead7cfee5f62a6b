use crate::fixture::{Api, Say, call, named, read, registry, say};
use haft_openapi::{ClientCredentials, Credential, OpenApiTools, OperationLimits};
use haft_testkit::LogCapture;
use haft_tools_core::{CallContext, CallScope, Redactor};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;

/// Gives back everything that it was sent, wherever something can be given back.
fn echo(status: u16, headers: &'static str) -> impl Fn(&crate::fixture::Heard) -> Say {
    move |heard| {
        if heard.target == "/token" {
            return say(200, "content-type: application/json", r#"{"access_token":"TOKEN-Secret-5/x"}"#);
        }
        let mut body = heard.target.clone();
        for (name, value) in &heard.headers {
            let _ = write!(body, " {name}={value}");
        }
        let url = heard.target.replace('\n', "");
        say(status, &format!("{headers}\nlocation: https://x.example{url}\nlink: <{url}>; rel=next"), body)
    }
}

fn tools(api: &Api, redactor: Option<Redactor>) -> OpenApiTools {
    let members = json!({
        "components": { "securitySchemes": {
            "header": { "type": "apiKey", "in": "header", "name": "X-Key" },
            "query": { "type": "apiKey", "in": "query", "name": "key" },
            "cookie": { "type": "apiKey", "in": "cookie", "name": "session" },
            "basic": { "type": "http", "scheme": "basic" },
            "oauth": { "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": format!("{}/token", api.origin()), "scopes": {} } } },
        } },
        "paths": {
            "/a": { "get": named(&json!({ "security": [{ "header": [], "query": [], "cookie": [], "basic": [] }] })) },
            "/b": { "get": { "operationId": "b", "security": [{ "oauth": [], "query": [] }] } },
            "/c": { "get": { "operationId": "c", "security": [{ "missing": [] }] } },
        },
    });
    let credentials = BTreeMap::from([
        ("header".to_owned(), Credential::secret("Secret-1/x")),
        ("query".to_owned(), Credential::secret("Secret-2/x &")),
        ("cookie".to_owned(), Credential::secret("Secret-3/x")),
        ("basic".to_owned(), Credential::basic("user", "Secret-4/x")),
        ("oauth".to_owned(), ClientCredentials::new("id", "Secret-6/x").into()),
    ]);
    let builder = api.tools(&members).credentials(credentials).allow_origin(api.origin().parse().unwrap());
    let builder = builder.header(http::HeaderName::from_static("x-mine"), "Secret-7/x");
    match redactor {
        Some(redactor) => builder.redactor(redactor).build(),
        None => builder.build(),
    }
}

fn everything_of(error: &dyn Error) -> String {
    let mut all = String::new();
    let mut cause = Some(error);
    while let Some(error) = cause {
        let _ = write!(all, "{error} {error:?} ");
        cause = error.source();
    }
    all
}

#[tokio::test]
async fn a_secret_is_seen_nowhere_but_in_the_request() {
    let log = LogCapture::default();
    let _listening = log.listen();
    let mut seen = String::new();
    for (status, headers) in [
        (200, "content-type: text/plain"),
        (200, "content-type: application/json"),
        (200, "content-type: text/event-stream"),
        (200, "content-type: application/pdf"),
        (201, ""),
        (302, ""),
        (400, "content-type: text/plain"),
        (401, "www-authenticate: Bearer"),
        (500, ""),
    ] {
        let api = Api::start(echo(status, headers)).await;
        let tools = tools(&api, None);
        let _ = write!(seen, "{tools:?}");
        for tool in tools.tools() {
            let scope = || CallScope::new("r".parse().unwrap());
            let _ = write!(seen, "{:?}", tool.spec());
            let prepared = match tool.prepare(&json!({}), &scope()) {
                Ok(prepared) => prepared,
                Err(error) => {
                    seen.push_str(&everything_of(&error));
                    continue;
                }
            };
            let _ = write!(seen, "{prepared:?} {:?}", prepared.preview().await);
            match prepared.run(CallContext::detached("c".parse().unwrap(), scope())).await {
                Ok(output) => {
                    let _ = write!(
                        seen,
                        "{output:?} {} {}",
                        output.to_text(),
                        serde_json::to_string(&output).unwrap()
                    );
                }
                Err(error) => seen.push_str(&everything_of(&error)),
            }
        }
        let heard = format!("{:?}", api.heard());
        for number in [1, 2, 3, 5, 7] {
            assert!(heard.contains(&format!("Secret-{number}")), "{number} was not sent: {heard}");
        }
    }
    let (seen, log) = (seen.as_str(), log.text());
    assert!(seen.contains("[redacted]"), "{seen}");
    for (what, text) in [("what was given back", seen), ("the log", &log)] {
        // The secret of basic is `user:Secret-4/x` in base64.
        for secret in ["Secret-", "dXNlcjpTZWNyZXQ"] {
            let at = text.find(secret);
            assert!(at.is_none(), "in {what}: {}", &text[at.unwrap().saturating_sub(200)..][..400]);
        }
    }
}

#[tokio::test]
async fn the_executor_knows_the_secrets_too() {
    let api = Api::start(echo(200, "content-type: text/plain")).await;
    let redactor = Redactor::new();
    let tools = tools(&api, Some(redactor.clone()));
    call(&tools, Value::Object(serde_json::Map::new())).await;
    haft_testkit::call(&registry(&tools), "api__b", json!({})).await;
    for secret in [
        "Secret-1/x",
        "Secret-2/x &",
        "Secret-3/x",
        "Secret-4/x",
        "TOKEN-Secret-5/x",
        "Secret-6/x",
        "Secret-6%2Fx",
        // The client with its secret, in base64.
        "aWQ6U2VjcmV0LTYlMkZ4",
        "Secret-7/x",
    ] {
        assert_eq!(redactor.redact(secret), "[redacted]", "{secret}");
    }
}

/// Gives what a model reads of a reply that is cut, to a request with a secret.
async fn cut(method: &str, answer: impl Fn() -> Say + Send + Sync + 'static) -> String {
    let api = Api::start(move |_| answer()).await;
    let tools = api
        .operation(method, &json!({}))
        .allow_origin(api.origin().parse().unwrap())
        .header(http::HeaderName::from_static("x-mine"), "Secret-7/x")
        .limits(OperationLimits { most_bytes: 10, ..OperationLimits::default() });
    read(&call(&tools.build(), json!({})).await)
}

#[tokio::test]
async fn what_is_cut_does_not_end_with_the_beginning_of_a_secret() {
    let filling = "y".repeat((2 << 10) - 6);
    let header = format!("x-echo: {filling}Secret-7/x");
    let heads = cut("head", move || say(200, &header, "")).await;
    assert!(heads.contains("x-echo: yyy") && !heads.contains("Sec"), "{heads}");
    let location = format!("location: /{filling}Secret-7/x");
    let made = cut("post", move || say(201, &location, "")).await;
    assert!(made.contains("it is at /yyy") && !made.contains("Sec"), "{made}");
    let text = cut("get", || say(200, "content-type: text/plain", "it: Secret-7/x")).await;
    assert!(text.starts_with("it: \n[this is cut: the API goes on after these 10 bytes"), "{text}");
    let refused = cut("get", || {
        say(400, "content-type: text/plain", format!("{}Secret-7/x", "y".repeat((64 << 10) - 6)))
    })
    .await;
    assert!(refused.contains("yyy") && !refused.contains("Sec"), "{refused}");
}
