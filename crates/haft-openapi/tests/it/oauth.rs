use crate::fixture::{Api, Heard, Say, call, named, read, registry, say, say_json};
use async_trait::async_trait;
use haft_openapi::{ClientCredentials, Credential, OpenApiTools, Secret, TokenError, TokenSource};
use haft_tools_core::{CallScope, Tool as _};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Gives tokens at `/token`, and takes those at `/a` that are not refused.
async fn api(token: impl Fn(usize) -> Say + Send + Sync + 'static, refused: &'static [&'static str]) -> Api {
    let count = AtomicUsize::new(0);
    Api::start(move |heard| match heard.target.as_str() {
        "/token" => token(count.fetch_add(1, Ordering::Relaxed) + 1),
        _ if refused
            .iter()
            .any(|token| heard.header("authorization") == Some(&format!("Bearer {token}"))) =>
        {
            say(401, "www-authenticate: Bearer error=\"invalid_token\"", "")
        }
        _ => say(204, "", ""),
    })
    .await
}

fn numbered(number: usize, expires_in: &Value) -> Say {
    say_json(
        &json!({ "access_token": format!("token-{number}"), "token_type": "bearer", "expires_in": expires_in }),
    )
}

fn tools(api: &Api, token_url: &str, client: ClientCredentials) -> OpenApiTools {
    let scheme = json!({ "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": token_url, "scopes": {} } } });
    let members = json!({
        "components": { "securitySchemes": { "oauth": scheme } },
        "paths": { "/a": { "post": named(&json!({ "security": [{ "oauth": ["write", "read"] }] })) } },
    });
    let credentials = BTreeMap::from([("oauth".to_owned(), Credential::from(client))]);
    api.tools(&members).credentials(credentials).allow_origin(api.origin().parse().unwrap()).build()
}

fn client() -> ClientCredentials {
    ClientCredentials::new("my id", "client/s3cret")
}

fn asked(heard: &[Heard]) -> Vec<String> {
    let shown = |heard: &Heard| match heard.target.as_str() {
        "/token" => "token".to_owned(),
        _ => heard.header("authorization").unwrap_or("nothing").to_owned(),
    };
    heard.iter().map(shown).collect()
}

#[tokio::test]
async fn a_token_is_fetched_once_and_kept() {
    let api = api(|number| numbered(number, &json!(3600)), &[]).await;
    let tools = tools(&api, &format!("{}/token", api.origin()), client());
    for _ in 0..2 {
        assert_eq!(read(&call(&tools, json!({})).await), "HTTP 204: it was done; the reply is empty");
    }
    let heard = api.heard();
    assert_eq!(asked(&heard), ["token", "Bearer token-1", "Bearer token-1"]);
    let headers = ["authorization", "content-type"];
    let expected = "POST /token\nauthorization: Basic bXkraWQ6Y2xpZW50JTJGczNjcmV0\ncontent-type: application/x-www-form-urlencoded";
    assert_eq!(heard[0].shown(&headers), expected);
    assert_eq!(heard[0].body, "grant_type=client_credentials&scope=read+write");
}

#[tokio::test]
async fn calls_at_once_fetch_one_token() {
    let api = api(|number| numbered(number, &json!("3600")), &[]).await;
    let tools = tools(&api, &format!("{}/token", api.origin()), client());
    let registry = registry(&tools);
    let call = || haft_testkit::call(&registry, "api__op", json!({}));
    tokio::join!(call(), call(), call());
    assert_eq!(asked(&api.heard()).iter().filter(|what| *what == "token").count(), 1);
}

#[tokio::test]
async fn a_token_that_is_over_is_fetched_anew() {
    let api = api(|number| numbered(number, &json!(0)), &[]).await;
    let tools = tools(&api, &format!("{}/token", api.origin()), client());
    call(&tools, json!({})).await;
    call(&tools, json!({})).await;
    assert_eq!(asked(&api.heard()), ["token", "Bearer token-1", "token", "Bearer token-2"]);
}

#[tokio::test]
async fn a_token_that_is_refused_is_fetched_anew_once() {
    let api1 = api(|number| numbered(number, &Value::Null), &["token-1"]).await;
    let first = tools(&api1, &format!("{}/token", api1.origin()), client());
    assert_eq!(read(&call(&first, json!({})).await), "HTTP 204: it was done; the reply is empty");
    assert_eq!(asked(&api1.heard()), ["token", "Bearer token-1", "token", "Bearer token-2"]);

    let api2 = api(|number| numbered(number, &Value::Null), &["token-1", "token-2"]).await;
    let second = tools(&api2, &format!("{}/token", api2.origin()), client());
    let reply = read(&call(&second, json!({})).await);
    assert!(reply.starts_with("Error(Unauthenticated): the API answered `api__op` with HTTP 401"), "{reply}");
    assert!(reply.contains("HTTP 401 (Bearer error=\"invalid_token\") and nothing else"), "{reply}");
    assert_eq!(api2.heard().len(), 4);
}

#[tokio::test]
async fn a_token_that_is_not_given_is_said_to_be_so() {
    for (answer, expected) in [
        (
            r#"{"error":"invalid_client","error_description":"client/s3cret is wrong"}"#,
            "Error(Unauthenticated): the token for `oauth` was not given: its server answered 400 and `invalid_client`; \
             nothing was done, ask the person who set this API up to look at the client's credentials",
        ),
        (
            // What it was sent.
            r#"{"error":"bXkraWQ6Y2xpZW50JTJGczNjcmV0"}"#,
            "Error(Unauthenticated): the token for `oauth` was not given: its server answered 400; nothing was done, \
             ask the person who set this API up to look at the client's credentials",
        ),
        (
            "<html>",
            "Error(Unauthenticated): the token for `oauth` was not given: its server answered 400; nothing was done, \
             ask the person who set this API up to look at the client's credentials",
        ),
    ] {
        let api = api(move |_| say(400, "content-type: application/json", answer), &[]).await;
        let tools = tools(&api, &format!("{}/token", api.origin()), client());
        assert_eq!(read(&call(&tools, json!({})).await), expected);
        assert_eq!(api.heard().len(), 1);
    }
    for answer in ["{}", "[1]", r#"{"access_token":"abcd","token_type":"mac"}"#] {
        let api = api(move |_| say(200, "", answer), &[]).await;
        let tools = tools(&api, &format!("{}/token", api.origin()), client());
        let reply = read(&call(&tools, json!({})).await);
        assert!(
            reply.starts_with("Error(Unauthenticated): the token for `oauth` was not given: it"),
            "{reply}"
        );
    }
}

#[tokio::test]
async fn a_client_shows_its_secret_where_the_host_says_and_nowhere_else() {
    let collector = Api::start(|_| numbered(1, &Value::Null)).await;
    let api = api(|number| numbered(number, &Value::Null), &[]).await;
    let stolen = tools(&api, &format!("{}/token", collector.origin()), client());
    let reply = read(&call(&stolen, json!({})).await);
    let told = "`oauth`, which cannot be used: it is not said by the host where its tokens are fetched, and where the \
                document says is not an allowed origin";
    assert!(reply.contains(told), "{reply}");
    assert_eq!((api.heard().len(), collector.heard().len()), (0, 0));

    let named = client().token_url(format!("{}/token", api.origin())).unwrap().scopes(["own"]).in_body(true);
    let tools = tools(&api, &format!("{}/token", collector.origin()), named);
    let scope = CallScope::new("r".parse().unwrap());
    let prepared = tools.tools()[0].prepare(&json!({}), &scope).unwrap();
    let accesses: Vec<String> = prepared.accesses().iter().map(ToString::to_string).collect();
    assert_eq!(accesses, [format!("connect net:{}", api.address), "call openapi:api/op".to_owned()]);
    call(&tools, json!({})).await;
    let body = "grant_type=client_credentials&scope=own&client_id=my+id&client_secret=client%2Fs3cret";
    assert_eq!(api.heard()[0].body, body);
    assert_eq!(collector.heard().len(), 0);
}

#[tokio::test]
async fn where_a_token_is_fetched_is_declared() {
    let tokens = Api::start(|_| numbered(1, &Value::Null)).await;
    let api = api(|_| say(500, "", ""), &[]).await;
    let named = client().token_url(format!("{}/token", tokens.origin())).unwrap();
    let tools = tools(&api, "https://elsewhere.example/", named);
    let prepared = tools.tools()[0].prepare(&json!({}), &CallScope::new("r".parse().unwrap())).unwrap();
    let accesses: Vec<String> = prepared.accesses().iter().map(ToString::to_string).collect();
    let expected = [
        format!("connect net:{}", api.address),
        format!("connect net:{}", tokens.address),
        "call openapi:api/op".to_owned(),
    ];
    assert_eq!(accesses, expected);
}

#[tokio::test]
async fn where_a_credential_is_optional_none_is_sent_if_no_token_can_be_had() {
    let flows = json!({ "clientCredentials": { "tokenUrl": "https://a.example/", "scopes": {} } });
    let members = json!({
        "components": { "securitySchemes": { "oauth": { "type": "oauth2", "flows": flows } } },
        "paths": { "/a": { "post": named(&json!({ "security": [{ "oauth": [] }, {}] })) } },
    });
    let told = async |token: fn(usize) -> Say, refused: &'static [&'static str]| {
        let api = api(token, refused).await;
        let client = client().token_url(format!("{}/token", api.origin())).unwrap();
        let credentials = BTreeMap::from([("oauth".to_owned(), Credential::from(client))]);
        let tools = api.tools(&members).credentials(credentials).allow_origin(api.origin().parse().unwrap());
        let reply = read(&call(&tools.build(), json!({})).await);
        (reply, asked(&api.heard()))
    };
    let done = "HTTP 204: it was done; the reply is empty".to_owned();
    let (reply, asked) = told(|_| say(500, "", ""), &[]).await;
    assert_eq!((reply, asked), (done.clone(), vec!["token".to_owned(), "nothing".to_owned()]));

    // The first token is refused, and there is no other.
    let once = |number| if number == 1 { numbered(1, &Value::Null) } else { say(500, "", "") };
    let (reply, asked) = told(once, &["token-1"]).await;
    assert_eq!(reply, done);
    assert_eq!(asked, ["token", "Bearer token-1", "token", "nothing"]);
}

/// Gives these tokens, one after the other as they are refused, and then wants a login.
struct Person {
    left: Mutex<Vec<&'static str>>,
    refused: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl TokenSource for Person {
    async fn token(&self, refused: Option<&Secret>) -> Result<Secret, TokenError> {
        let mut left = self.left.lock().unwrap();
        if let Some(refused) = refused {
            self.refused.lock().unwrap().push(refused.expose().to_owned());
            left.remove(0);
        }
        let token = left.first().copied();
        token.map(Secret::new).ok_or_else(|| TokenError::login("https://id.example/login?state=1"))
    }
}

async fn with_person(left: Vec<&'static str>) -> (String, Vec<String>, Vec<String>) {
    let api = api(|number| numbered(number, &Value::Null), &["old-token"]).await;
    let refused = Arc::default();
    let person = Person { left: Mutex::new(left), refused: Arc::clone(&refused) };
    let flows = json!({ "authorizationCode": { "authorizationUrl": "https://id.example/a", "tokenUrl": "https://id.example/t", "scopes": {} } });
    let members = json!({
        "components": { "securitySchemes": { "oauth": { "type": "oauth2", "flows": flows } } },
        "paths": { "/a": { "post": named(&json!({ "security": [{ "oauth": [] }] })) } },
    });
    let credentials = BTreeMap::from([("oauth".to_owned(), Credential::tokens(person))]);
    let tools =
        api.tools(&members).credentials(credentials).allow_origin(api.origin().parse().unwrap()).build();
    let prepared = tools.tools()[0].prepare(&json!({}), &CallScope::new("r".parse().unwrap())).unwrap();
    let cx =
        haft_tools_core::CallContext::detached("c".parse().unwrap(), CallScope::new("r".parse().unwrap()));
    let told = match prepared.run(cx).await {
        Ok(output) => output.to_text(),
        Err(error) => format!("{} {:?}", error.message(), error.authentication_url()),
    };
    let refused = refused.lock().unwrap().clone();
    (told, asked(&api.heard()), refused)
}

#[tokio::test]
async fn the_tokens_of_a_person_are_the_hosts_affair() {
    let (told, asked, refused) = with_person(vec!["old-token", "new-token"]).await;
    assert_eq!(told, "HTTP 204: it was done; the reply is empty");
    assert_eq!(asked, ["Bearer old-token", "Bearer new-token"]);
    assert_eq!(refused, ["old-token"]);

    let (told, asked, _) = with_person(vec!["old-token"]).await;
    let expected = "the API of `api__op` needs a login for `oauth` first; nothing was sent, ask the user to log in, then \
                    call it again Some(\"https://id.example/login?state=1\")";
    assert_eq!(told, expected);
    assert_eq!(asked, ["Bearer old-token"]);
}
