use super::OAuth;
use crate::client::auth::{
    Authorizer as _, Challenge, CredentialStore, FileCredentials, LoginConfig, MemoryCredentials,
    RegisteredClient,
};
use crate::client::rmcp_session::{HttpDial, Opening, host_of};
use crate::client::service::{Heard, Say, Service, key};
use crate::client::session::{
    Ask, AskRefused, Counterpart, Dial as _, DialError, Fault, News, Request, Watch,
};
use crate::{
    LoginError, McpServers, MemoryEras, RemoteServer, ServerConfig, ServerLimits, ServerState, Transport,
};
use async_trait::async_trait;
use bytes::Bytes;
use haft_http::{AddressPolicy, Exchange, HttpClient};
use haft_testkit::LogCapture;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// What no log and no error may hold.
const SECRETS: [&str; 5] = ["Secret-code", "Secret-access", "Secret-refresh", "Secret-client", "Secret-id"];

/// A server and its authorization server in one: tokens last as long as is said, and are numbered.
struct Stage {
    service: Service,
}

impl Stage {
    async fn open(expires_in: u64) -> Self {
        let issued = AtomicU32::new(0);
        let service =
            Service::start_knowing(|url| move |heard: &Heard| say(heard, &url, expires_in, &issued)).await;
        Self { service }
    }

    fn oauth(&self, store: Arc<dyn CredentialStore>) -> OAuth {
        self.oauth_as(LoginConfig::default(), store)
    }

    fn oauth_as(&self, config: LoginConfig, store: Arc<dyn CredentialStore>) -> OAuth {
        let url = format!("{}/mcp", self.service.url);
        let host = host_of(&url).unwrap();
        OAuth::new(url, host, &[], config, store).unwrap()
    }

    /// How often the authorization server was asked for a token in this way.
    fn tokens(&self, grant: &str) -> usize {
        let wanted = format!("grant_type={grant}");
        let is_wanted = |heard: &&Heard| heard.path == "/token" && heard.body.to_string().contains(&wanted);
        self.service.heard().iter().filter(is_wanted).count()
    }
}

fn say(heard: &Heard, url: &str, expires_in: u64, issued: &AtomicU32) -> Say {
    match heard.path.split('?').next().unwrap() {
        "/.well-known/oauth-protected-resource/mcp" => Say::json(&json!({
            "resource": format!("{url}/mcp"), "authorization_servers": [url], "scopes_supported": ["read"]
        })),
        "/.well-known/oauth-authorization-server" => Say::json(&json!({
            "issuer": url, "authorization_endpoint": format!("{url}/authorize"), "token_endpoint": format!("{url}/token"),
            "registration_endpoint": format!("{url}/register"), "code_challenge_methods_supported": ["S256"],
            "response_types_supported": ["code"]
        })),
        "/register" => Say::json(&json!({
            "client_id": "c", "client_secret": "Secret-client", "redirect_uris": heard.body["redirect_uris"]
        })),
        "/authorize" => {
            let query = |name: &str| {
                let (_, query) = heard.path.split_once('?').unwrap();
                let part = query.split('&').find_map(|part| part.strip_prefix(&format!("{name}=")));
                part.unwrap().replace("%3A", ":").replace("%2F", "/")
            };
            let to = format!("{}?code=Secret-code&state={}", query("redirect_uri"), query("state"));
            Say::status(302).with("location", to)
        }
        "/token" => {
            let number = issued.fetch_add(1, Ordering::Relaxed) + 1;
            Say::json(&json!({
                "access_token": format!("Secret-access-{number}"), "token_type": "Bearer", "expires_in": expires_in,
                "refresh_token": format!("Secret-refresh-{number}"), "id_token": "Secret-id"
            }))
        }
        "/mcp" if heard.method == "POST" => serve(heard),
        _ => Say::status(404),
    }
}

/// Is the server itself: it speaks the modern era to who has a token.
fn serve(heard: &Heard) -> Say {
    if !heard.header("authorization").starts_with("Bearer Secret-access-") {
        return Say::status(401).with("www-authenticate", "Bearer");
    }
    match heard.rpc() {
        "server/discover" => Say::json(&heard.result(&json!({
            "supportedVersions": ["2026-07-28"], "capabilities": {}, "serverInfo": { "name": "s", "version": "1" }
        }))),
        _ => Say::json(&heard.result(&json!({ "done": true }))),
    }
}

const CHALLENGED: Challenge<'_> = Challenge { status: 401, header: "Bearer", tried: None };

/// Begins a login and gives where the person is sent.
async fn begin(oauth: &OAuth) -> String {
    match oauth.challenged(CHALLENGED).await {
        Err(Fault::Unauthorized { url: Some(url) }) => url,
        other => panic!("{other:?}"),
    }
}

async fn get(url: &str) -> http::Response<haft_http::Body> {
    let client = HttpClient::new(AddressPolicy::public().loopback()).unwrap();
    let request = http::Request::get(url).body(Bytes::new()).unwrap();
    client.send(request, Exchange::default()).await.unwrap()
}

/// Goes through a login as a person does, and gives the page at its end.
async fn log_in(url: &str) -> (u16, String) {
    let answer = get(url).await;
    let back = answer.headers()["location"].to_str().unwrap().to_owned();
    page(&back).await
}

async fn page(url: &str) -> (u16, String) {
    let answer = get(url).await;
    let status = answer.status().as_u16();
    (status, String::from_utf8(answer.into_body().bytes().await.unwrap().to_vec()).unwrap())
}

async fn token(oauth: &OAuth) -> Option<String> {
    let token = oauth.token().await.unwrap()?;
    Some(token.header().to_str().unwrap().to_owned())
}

struct Nobody;

#[async_trait]
impl Counterpart for Nobody {
    fn capabilities(&self) -> Value {
        json!({})
    }

    async fn answer(&self, _ask: Ask, _of: Option<Arc<dyn Watch>>) -> Result<Value, AskRefused> {
        Err(AskRefused { code: -32_601, message: String::new() })
    }

    fn hear(&self, _news: News) {}
}

#[tokio::test]
async fn logs_in_and_logs_nothing_of_it() {
    let log = LogCapture::default();
    let _listening = log.listen();
    tracing::trace!("something is logged");

    let stage = Stage::open(3600).await;
    let oauth = Arc::new(stage.oauth(Arc::new(MemoryCredentials::default())));
    assert_eq!(token(&oauth).await, None);
    let opening = Opening {
        era: None,
        limits: ServerLimits::default(),
        log_level: None,
        memory: Arc::new(MemoryEras::default()),
        key: key(),
    };
    let server = RemoteServer::new(format!("{}/mcp", stage.service.url));
    let dial = HttpDial::new(&server, Some(oauth.clone()), opening).unwrap();
    let Err(DialError::Refused(Fault::Unauthorized { url: Some(url) })) = dial.dial(Arc::new(Nobody)).await
    else {
        panic!("a login is wanted");
    };
    assert_eq!(begin(&oauth).await, url, "one login is under way");
    let (status, page) = log_in(&url).await;
    assert_eq!((status, page.as_str()), (200, "You are logged in. This page can be closed."));
    assert_eq!(token(&oauth).await.as_deref(), Some("Bearer Secret-access-1"));

    let session = dial.dial(Arc::new(Nobody)).await.unwrap();
    let request = Request { method: "tools/call", params: json!({ "name": "a", "arguments": {} }) };
    assert_eq!(session.request(request, None).await.unwrap(), json!({ "done": true }));
    session.close().await;

    // The server refuses the token: it is replaced without a person.
    let tried = oauth.token().await.unwrap();
    oauth.challenged(Challenge { tried: tried.as_ref(), ..CHALLENGED }).await.unwrap();
    assert_eq!(token(&oauth).await.as_deref(), Some("Bearer Secret-access-2"));
    // Whoever tried the old one just tries again.
    oauth.challenged(Challenge { tried: tried.as_ref(), ..CHALLENGED }).await.unwrap();
    assert_eq!(stage.tokens("refresh_token"), 1);

    let exchange =
        stage.service.heard().into_iter().find(|heard| heard.path == "/token").unwrap().body.to_string();
    for part in ["code_verifier=", "resource=http", "redirect_uri=http%3A%2F%2F127.0.0.1"] {
        assert!(exchange.contains(part), "{part}: {exchange}");
    }
    for part in ["code_challenge_method=S256", "resource=http", "scope=read", "state="] {
        assert!(url.contains(part), "{part}: {url}");
    }
    let log = log.text() + &format!("{oauth:?} {tried:?}");
    assert!(log.contains("something is logged"));
    for secret in SECRETS {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

#[tokio::test]
async fn a_server_is_connected_to_once_a_person_has_logged_in() {
    let mut stage = Stage::open(3600).await;
    let transport = Transport::Http(RemoteServer::new(format!("{}/mcp", stage.service.url)));
    let servers =
        McpServers::builder().server(ServerConfig::new("s".parse().unwrap(), transport)).build().unwrap();
    let failed = servers.get("s").unwrap().start().await.unwrap_err();
    let status = failed.status();
    assert_eq!(status.state, ServerState::NeedsLogin);
    log_in(status.login_url.as_ref().unwrap()).await;
    let listed = stage.service.next(|heard| heard.rpc() == "tools/list").await;
    assert_eq!(listed.header("authorization"), "Bearer Secret-access-1");
    servers.stop().await;
}

#[tokio::test]
async fn a_person_logs_in_and_out_of_a_server() {
    let stage = Stage::open(3600).await;
    let service = RemoteServer::new(format!("{}/mcp", stage.service.url));
    let mut keyed = service.clone();
    keyed.headers.insert("authorization".to_owned(), "Bearer Secret-access-0".to_owned());
    let config = |name: &str, service| ServerConfig::new(name.parse().unwrap(), Transport::Http(service));
    let directory = tempfile::tempdir().unwrap();
    let servers = McpServers::builder()
        .credentials(FileCredentials::new(directory.path()))
        .server(config("s", service))
        .server(config("keyed", keyed))
        .server(crate::client::fake::config("program"))
        .build()
        .unwrap();
    let server = servers.get("s").unwrap();
    let url = server.start().await.unwrap_err().status().login_url.clone().unwrap();
    assert_eq!(server.log_in().await.as_ref(), Ok(&url), "one login is under way");
    log_in(&url).await;
    let status = server.wait_for(|status| status.state == ServerState::Ready).await;
    assert_eq!(status.name.as_str(), "s");
    server.stop().await;

    server.log_out().await.unwrap();
    let failed = server.start().await.unwrap_err();
    let status = failed.status();
    assert_eq!(status.state, ServerState::NeedsLogin);
    assert_ne!(status.login_url.as_ref().unwrap(), &url);
    for name in ["keyed", "program"] {
        let server = servers.get(name).unwrap();
        let error = server.log_in().await.unwrap_err();
        assert_eq!(error, LoginError::NoLogin(server.name().clone()));
        assert_eq!(server.log_out().await, Err(error));
    }
    servers.stop().await;
}

#[tokio::test]
async fn a_token_is_refreshed_once_for_all_processes() {
    let directory = tempfile::tempdir().unwrap();
    let files = || Arc::new(FileCredentials::new(directory.path()));
    let stage = Stage::open(3600).await;
    let first = stage.oauth(files());
    log_in(&begin(&first).await).await;
    let second = stage.oauth(files());
    assert_eq!(token(&second).await.as_deref(), Some("Bearer Secret-access-1"));

    let old = first.token().await.unwrap();
    let challenge = Challenge { tried: old.as_ref(), ..CHALLENGED };
    let (one, other) = tokio::join!(first.challenged(challenge), second.challenged(challenge));
    one.and(other).unwrap();
    assert_eq!(stage.tokens("refresh_token"), 1);
    for oauth in [&first, &second] {
        assert_eq!(token(oauth).await.as_deref(), Some("Bearer Secret-access-2"));
    }
    // What the client was given when it registered is kept, too: the refresh is authenticated.
    let refresh = stage.service.heard().into_iter().rfind(|heard| heard.path == "/token").unwrap();
    assert!(refresh.header("authorization").starts_with("Basic "), "{refresh:?}");
}

#[tokio::test]
async fn a_token_is_replaced_before_it_ends() {
    let stage = Stage::open(20).await;
    let oauth = stage.oauth(Arc::new(MemoryCredentials::default()));
    log_in(&begin(&oauth).await).await;
    assert_eq!(token(&oauth).await.as_deref(), Some("Bearer Secret-access-2"));
}

#[tokio::test]
async fn who_refreshes_tokens_is_found_out_once_unless_the_server_refuses_one() {
    let stage = Stage::open(20).await;
    let oauth = stage.oauth(Arc::new(MemoryCredentials::default()));
    log_in(&begin(&oauth).await).await;
    let asked = || {
        let heard = stage.service.heard();
        let of = |path: &str| heard.iter().filter(|heard| heard.path.starts_with(path)).count();
        [of("/.well-known/oauth-protected-resource"), of("/.well-known/oauth-authorization-server")]
    };
    let before = asked();
    for number in 2..5 {
        assert_eq!(token(&oauth).await, Some(format!("Bearer Secret-access-{number}")));
    }
    assert_eq!(asked(), before.map(|count| count + 1), "it is found out once");
    let sent = stage.service.heard().into_iter().filter(|heard| heard.path == "/token");
    assert!(
        sent.skip(1).all(|heard| heard.body.to_string().contains("resource=")),
        "tokens are for the server"
    );

    let tried = oauth.token().await.unwrap();
    oauth.challenged(Challenge { tried: tried.as_ref(), ..CHALLENGED }).await.unwrap();
    assert_eq!(asked(), before.map(|count| count + 2), "it may be another");
}

#[tokio::test]
async fn a_login_is_for_its_server_and_its_authorization_server_only() {
    let stage = Stage::open(3600).await;
    let store = Arc::new(MemoryCredentials::default());
    let oauth = stage.oauth(store.clone());
    log_in(&begin(&oauth).await).await;
    let key = format!("{}/mcp", stage.service.url);
    let kept: Value = serde_json::from_str(&store.load(&key).unwrap().unwrap()).unwrap();

    let mut other = kept.clone();
    other["resource"] = "https://elsewhere.example/".into();
    store.save(&key, &other.to_string()).unwrap();
    assert_eq!(token(&stage.oauth(store.clone())).await, None);

    let mut other = kept;
    other["stored"]["issuer"] = "https://elsewhere.example/".into();
    store.save(&key, &other.to_string()).unwrap();
    let oauth = stage.oauth(store.clone());
    let tried = oauth.token().await.unwrap();
    let fault = oauth.challenged(Challenge { tried: tried.as_ref(), ..CHALLENGED }).await.unwrap_err();
    assert!(matches!(fault, Fault::Unauthorized { url: Some(_) }), "{fault}");
    assert_eq!(stage.tokens("refresh_token"), 0);
    assert_eq!(store.load(&key).unwrap(), None);
    let registered = stage.service.heard().iter().filter(|heard| heard.path == "/register").count();
    assert_eq!(registered, 2);
}

#[tokio::test]
async fn a_page_of_another_login_changes_nothing() {
    let stage = Stage::open(3600).await;
    let oauth = stage.oauth(Arc::new(MemoryCredentials::default()));
    let url = begin(&oauth).await;
    let back = get(&url).await.headers()["location"].to_str().unwrap().to_owned();
    let (forged, _) = back.split_once("&state=").unwrap();
    for forged in [forged.to_owned(), format!("{forged}&state=x")] {
        assert_eq!(page(&forged).await, (400, "This is not the login that was begun.".to_owned()));
        assert_eq!(token(&oauth).await, None);
    }
    assert_eq!(page(&back).await.0, 200);
    assert!(token(&oauth).await.is_some());
}

#[tokio::test]
async fn a_login_that_is_refused_is_over() {
    let stage = Stage::open(3600).await;
    let oauth = stage.oauth(Arc::new(MemoryCredentials::default()));
    let url = begin(&oauth).await;
    let back = get(&url).await.headers()["location"].to_str().unwrap().to_owned();
    let refused = back.replace("code=Secret-code", "error=access_denied");
    let text = "The login failed: the authorization server says \"access_denied\".";
    assert_eq!(page(&refused).await, (400, text.to_owned()));
    assert_eq!(oauth.login_failed().await, "the authorization server says \"access_denied\"");
    assert_ne!(begin(&oauth).await, url);
}

#[tokio::test]
async fn whoever_waits_for_a_login_is_told_why_it_was_refused() {
    let stage = Stage::open(3600).await;
    let transport = Transport::Http(RemoteServer::new(format!("{}/mcp", stage.service.url)));
    let servers =
        McpServers::builder().server(ServerConfig::new("s".parse().unwrap(), transport)).build().unwrap();
    let server = servers.get("s").unwrap();
    let url = server.start().await.unwrap_err().status().login_url.clone().unwrap();
    let back = get(&url).await.headers()["location"].to_str().unwrap().to_owned();
    let said = format!("error=access_denied&error_description=No%0A%1B%5B31m{}", "n".repeat(5000));
    let back = back.replace("code=Secret-code", &said);
    let (failed, (status, _)) = tokio::join!(server.login_failed(), page(&back));
    assert_eq!(status, 400);
    let LoginError::Failed { reason, .. } = failed else { panic!("{failed}") };
    let (text, rest) = reason.split_once("nnn").unwrap();
    expect_test::expect![[r#"the authorization server says "access_denied": "No\n\u{1b}[31m"#]]
        .assert_eq(text);
    assert!(rest.len() < 1100, "{rest}");
    servers.stop().await;
}

#[tokio::test]
async fn a_secret_is_given_to_the_authorization_server_that_it_is_of() {
    let stage = Stage::open(3600).await;
    let own = stage.service.url.clone();
    let login = |issuer: Option<&str>| {
        let mut client = RegisteredClient::new("registered");
        (client.secret, client.issuer) = (Some("Secret-client".to_owned()), issuer.map(str::to_owned));
        let config = LoginConfig { client: Some(client), ..LoginConfig::default() };
        stage.oauth_as(config, Arc::new(MemoryCredentials::default()))
    };
    for (issuer, refused) in [
        (
            None,
            "nothing says of which authorization server the secret of the client `registered` is; write its `issuer`",
        ),
        (
            Some("https://login.example.com"),
            "the server names the authorization server `OWN`, and the client `registered` is registered with \
             `https://login.example.com`; if the server is to be believed, register a client there",
        ),
    ] {
        let fault = login(issuer).challenged(CHALLENGED).await.unwrap_err();
        let begun = "the server needs a login, and none can be begun: ";
        assert_eq!(fault.to_string(), format!("{begun}{}", refused.replace("OWN", &own)));
    }
    assert_eq!(stage.service.heard().iter().filter(|heard| heard.path == "/token").count(), 0);
    for issuer in [own.clone(), format!("{own}/")] {
        let oauth = login(Some(&issuer));
        log_in(&begin(&oauth).await).await;
        assert!(token(&oauth).await.is_some());
    }
    let heard = stage.service.heard();
    assert!(heard.iter().all(|heard| heard.path != "/register"));
    let exchange = heard.iter().find(|heard| heard.path == "/token").unwrap();
    assert!(exchange.header("authorization").starts_with("Basic "), "{exchange:?}");
}

#[tokio::test]
async fn people_come_back_to_the_port_that_is_configured() {
    let port = haft_testkit::free_port();
    let taken = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let stage = Stage::open(3600).await;
    let config = LoginConfig { redirect_port: Some(port), ..LoginConfig::default() };
    let oauth = stage.oauth_as(config, Arc::new(MemoryCredentials::default()));
    let fault = oauth.challenged(CHALLENGED).await.unwrap_err().to_string();
    let text = format!(
        "none can be begun: the port {port}, at which people come back from logins, cannot be listened at"
    );
    assert!(fault.contains(&text), "{fault}");
    drop(taken);
    let url = begin(&oauth).await;
    let redirect = format!("redirect_uri=http%3A%2F%2F127.0.0.1%3A{port}%2Fcallback");
    assert!(url.contains(&redirect), "{url}");
    // Another login in its place comes back there, too.
    let header = "Bearer scope=\"write\"";
    let fault = oauth.challenged(Challenge { header, ..CHALLENGED }).await.unwrap_err();
    let Fault::Unauthorized { url: Some(other) } = fault else { panic!("{fault}") };
    assert!(other != url && other.contains(&redirect), "{other}");
}

#[tokio::test]
async fn what_is_wanted_more_is_asked_for_a_few_times() {
    let stage = Stage::open(3600).await;
    let oauth = stage.oauth(Arc::new(MemoryCredentials::default()));
    log_in(&begin(&oauth).await).await;
    for wanted in ["write", "admin"] {
        let header = format!("Bearer error=\"insufficient_scope\", scope=\"{wanted}\"");
        let tried = oauth.token().await.unwrap();
        let challenge = Challenge { status: 403, header: &header, tried: tried.as_ref() };
        match oauth.challenged(challenge).await.unwrap_err() {
            Fault::Unauthorized { url: Some(url) } => {
                assert!(
                    url.contains(&format!(
                        "scope=read+{}",
                        if wanted == "write" { "write" } else { "write+admin" }
                    )),
                    "{url}"
                );
                log_in(&url).await;
            }
            other => panic!("{other}"),
        }
    }
    let tried = oauth.token().await.unwrap();
    let challenge = Challenge {
        status: 403,
        header: "Bearer error=\"insufficient_scope\", scope=\"all\"",
        tried: tried.as_ref(),
    };
    let fault = oauth.challenged(challenge).await.unwrap_err();
    assert!(matches!(fault, Fault::Unauthorized { url: None }), "{fault}");
}

#[tokio::test]
async fn no_page_is_made_up_for_a_server_that_names_none() {
    let service = Service::start(|_| Say::status(404)).await;
    let url = format!("{}/mcp", service.url);
    let host = host_of(&url).unwrap();
    let oauth =
        OAuth::new(url, host, &[], LoginConfig::default(), Arc::new(MemoryCredentials::default())).unwrap();
    let fault = oauth.challenged(CHALLENGED).await.unwrap_err();
    assert_eq!(
        fault.to_string(),
        "the server needs a login, and none can be begun: the server does not say where to log in"
    );
}
