use super::super::{AuthorizationServer, Introspection, JwtBearer};
use super::id_server::IdServer;
use super::signer::Signer;
use crate::server::authenticator::{AuthenticationError, Authenticator};
use crate::server::caller::Principal;
use haft_testkit::LogCapture;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

const RESOURCE: &str = "https://mcp.example.org/mcp";

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn claims(server: &IdServer) -> Value {
    json!({ "iss": server.issuer, "sub": "alice", "aud": RESOURCE, "exp": now() + 600, "scope": "tools" })
}

fn named(server: &IdServer) -> AuthorizationServer {
    AuthorizationServer::new(&server.issuer, RESOURCE).unwrap().scope("tools")
}

async fn check(
    authenticator: &dyn Authenticator,
    token: &str,
    expected: Result<String, AuthenticationError>,
) {
    assert_eq!(authenticator.check(Some(token)).await, expected.map(Principal::new));
}

fn unknown(why: &str) -> Result<String, AuthenticationError> {
    Err(AuthenticationError::Unknown(why.to_owned()))
}

#[tokio::test]
async fn knows_callers_by_tokens_that_are_signed_for_here() {
    let (server, signer) = (IdServer::new().await, Signer::p256());
    server.say("/keys", json!({ "keys": [signer.jwk("a")] }));
    let bearer = JwtBearer::new(named(&server));
    let header = json!({ "alg": "ES256", "kid": "a", "typ": "at+jwt" });
    let alice = format!("{}#alice", server.issuer);
    for _ in 0..3 {
        check(&bearer, &signer.token(&header, &claims(&server)), Ok(alice.clone())).await;
    }
    check(&bearer, &signer.token(&json!({ "alg": "ES256" }), &claims(&server)), Ok(alice)).await;
    // They are fetched once.
    assert_eq!(server.asked("/keys").len(), 1);
    let mut other = claims(&server);
    other["aud"] = json!("https://other.example.org");
    check(&bearer, &signer.token(&header, &other), unknown("the token is not for this server")).await;
    let mut other = claims(&server);
    other["scope"] = json!("read");
    check(&bearer, &signer.token(&header, &other), Err(AuthenticationError::Scope("tools".into()))).await;
    let forged = Signer::p256().token(&header, &claims(&server));
    check(&bearer, &forged, unknown("the token's signature is wrong")).await;
    check(&bearer, "a.b.c", unknown("the token is not well formed")).await;
    assert_eq!(bearer.check(None).await, Err(AuthenticationError::Unknown("there is no token".into())));
    assert_eq!(
        bearer.metadata(),
        Some(&json!({
            "resource": RESOURCE,
            "authorization_servers": [server.issuer],
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["tools"],
        }))
    );
}

#[tokio::test]
async fn keys_that_are_not_known_do_not_make_it_ask_again_and_again() {
    let (server, signer) = (IdServer::new().await, Signer::ed25519());
    server.say("/keys", json!({ "keys": [signer.jwk("a")] }));
    let bearer = JwtBearer::new(named(&server));
    for number in 0..50 {
        let token = signer.token(&json!({ "alg": "EdDSA", "kid": format!("k{number}") }), &claims(&server));
        check(&bearer, &token, unknown("the token is signed with a key that is not known")).await;
    }
    assert_eq!(server.asked("/keys").len(), 1);
}

#[tokio::test]
async fn says_that_it_cannot_tell_where_there_are_no_keys() {
    let (server, signer) = (IdServer::new().await, Signer::ed25519());
    let token = signer.token(&json!({ "alg": "EdDSA" }), &claims(&server));
    let unavailable =
        |why: &str| Err(AuthenticationError::Unavailable(format!("no keys to check tokens with: {why}")));
    check(&JwtBearer::new(named(&server)), &token, unavailable("it answered 404")).await;
    server.say("/keys", json!("no keys"));
    check(&JwtBearer::new(named(&server)), &token, unavailable("what it answered is not a set of keys"))
        .await;
    // A document that names another issuer would have its tokens count here.
    server.say(
        "/.well-known/oauth-authorization-server",
        json!({ "issuer": "https://evil.example", "jwks_uri": format!("{}/keys", server.issuer) }),
    );
    let other = "the authorization server's metadata names another issuer";
    check(&JwtBearer::new(named(&server)), &token, unavailable(other)).await;
    server.unsay("/.well-known/oauth-authorization-server");
    let none = "the authorization server has no metadata: it answered 404";
    check(&JwtBearer::new(named(&server)), &token, unavailable(none)).await;
    // Keys that are asked for in the clear could be anybody's.
    server.say(
        "/.well-known/openid-configuration",
        json!({ "issuer": server.issuer, "jwks_uri": "http://id.example/keys" }),
    );
    let clear = "the authorization server's metadata has no `jwks_uri`";
    check(&JwtBearer::new(named(&server)), &token, unavailable(clear)).await;
}

#[tokio::test]
async fn asks_what_a_token_is_and_remembers_it() {
    let server = IdServer::new().await;
    let introspection = Introspection::new(named(&server), "haft:1", "s3cret&");
    let mut said = claims(&server);
    said["active"] = json!(true);
    server.say("/introspect", said.clone());
    let alice = format!("{}#alice", server.issuer);
    for _ in 0..3 {
        check(&introspection, "opaque token/+", Ok(alice.clone())).await;
    }
    let asked = server.asked("/introspect");
    assert_eq!(asked.len(), 1);
    // RFC 6749, section 2.3.1: each half is encoded as a form's value before they are joined.
    assert!(asked[0].contains("authorization: Basic aGFmdCUzQTE6czNjcmV0JTI2\r\n"), "{}", asked[0]);
    assert!(asked[0].ends_with("token=opaque+token%2F%2B&token_type_hint=access_token"), "{}", asked[0]);

    let check_said = async |number: u32, change: &dyn Fn(&mut Value), expected| {
        let mut changed = said.clone();
        change(&mut changed);
        server.say("/introspect", changed);
        check(&introspection, &format!("token {number}"), expected).await;
    };
    let nobody = "the authorization server does not know the token";
    check_said(1, &|said| said["active"] = json!(false), unknown(nobody)).await;
    check_said(2, &|said| said["active"] = json!("true"), unknown(nobody)).await;
    check_said(
        3,
        &|said| said["aud"] = json!("https://other.example"),
        unknown("the token is not for this server"),
    )
    .await;
    check_said(4, &|said| _ = said["aud"].take(), unknown("the token is not for this server")).await;
    check_said(5, &|said| said["exp"] = json!(1), unknown("the token has expired")).await;
    check_said(6, &|said| said["scope"] = json!(""), Err(AuthenticationError::Scope("tools".into()))).await;
    check_said(7, &|said| _ = said["iss"].take(), Ok(alice.clone())).await;
    check_said(
        8,
        &|said| said["iss"] = json!("https://evil.example"),
        unknown("the token is of another issuer"),
    )
    .await;
    // One that ends at once is asked about each time.
    check_said(9, &|said| said["exp"] = json!(now() - 30), Ok(alice.clone())).await;
    server.unsay("/introspect");
    let down =
        Err(AuthenticationError::Unavailable("the token cannot be asked about: it answered 404".into()));
    check(&introspection, "token 9", down).await;
    check(&introspection, "opaque token/+", Ok(alice)).await;
    let debug = format!("{introspection:?}");
    assert!(!debug.contains("s3cret") && !debug.contains("czNjcmV0"), "{debug}");
}

#[tokio::test]
async fn no_token_is_logged_on_its_way_to_the_authorization_server() {
    let log = LogCapture::default();
    let _listening = log.listen();
    tracing::trace!("something is logged");
    let (server, signer) = (IdServer::new().await, Signer::p256());
    server.say("/keys", json!({ "keys": [signer.jwk("a")] }));
    let mut said = claims(&server);
    said["active"] = json!(true);
    server.say("/introspect", said);
    let introspection = Introspection::new(named(&server), "haft", "Secret-of-ours");
    let token = signer.token(&json!({ "alg": "ES256", "kid": "a" }), &claims(&server));
    introspection.check(Some(&token)).await.unwrap();
    introspection.check(Some("Secret-opaque")).await.unwrap();
    JwtBearer::new(named(&server)).check(Some(&token)).await.unwrap();
    JwtBearer::new(named(&server)).check(Some("Secret.opaque.token")).await.unwrap_err();
    let logged = log.text();
    assert!(logged.contains("something is logged"));
    for secret in ["Secret", &token, "aGFmdDpTZWNyZXQtb2Ytb3Vycw"] {
        assert!(!logged.contains(secret), "{logged}");
    }
}
