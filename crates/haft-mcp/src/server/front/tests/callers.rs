use super::super::{HttpConfig, HttpListener, Rate, ServeError};
use super::stage::{Stage, post};
use crate::server::authenticator::{AuthenticationError, Authenticator};
use crate::server::caller::Principal;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;

/// Knows callers by their tokens, which are their names.
struct Names(Value);

#[async_trait]
impl Authenticator for Names {
    async fn check(&self, bearer: Option<&str>) -> Result<Principal, AuthenticationError> {
        match bearer {
            Some("narrow") => Err(AuthenticationError::Scope("tools:call".into())),
            Some("unclear") => Err(AuthenticationError::Unavailable("the server of tokens is down".into())),
            Some(name) if name.len() < 9 => Ok(Principal::new(name)),
            _ => Err(AuthenticationError::Unknown("no such name".into())),
        }
    }

    fn metadata(&self) -> Option<&Value> {
        Some(&self.0)
    }
}

async fn stage() -> Stage {
    let names = Names(json!({ "resource": "https://mcp.example.org/mcp" }));
    Stage::with(|config| {
        config.authenticator(Arc::new(names)).rate(Principal::new("slow"), Rate::new(0.001, 1.0))
    })
    .await
}

fn from(name: &str, more: &str, body: &str) -> String {
    post(&format!("authorization: Bearer {name}\r\n{more}"), body)
}

#[tokio::test]
async fn asks_who_it_is_before_anything_is_read() {
    let stage = stage().await;
    let check = async |authorization: &str, status: u16, challenge: Option<&str>| {
        let answer = stage.ask(post(authorization, "{")).await;
        assert_eq!(
            (answer.status, answer.header("www-authenticate")),
            (status, challenge),
            "{authorization}"
        );
    };
    let at = "resource_metadata=\"https://mcp.example.org/.well-known/oauth-protected-resource/mcp\"";
    let nobody = format!("Bearer {at}");
    let invalid = format!("Bearer error=\"invalid_token\", {at}");
    check("", 401, Some(&nobody)).await;
    check("authorization: Basic YTpi\r\n", 401, Some(&nobody)).await;
    check("authorization: Bearer \r\n", 401, Some(&nobody)).await;
    check("authorization: Bearer a b\r\n", 401, Some(&nobody)).await;
    check("authorization: Bearer nobody-known\r\n", 401, Some(&invalid)).await;
    let scope = format!("Bearer error=\"insufficient_scope\", scope=\"tools:call\", {at}");
    check("authorization: Bearer narrow\r\n", 403, Some(&scope)).await;
    check("authorization: Bearer unclear\r\n", 503, None).await;
    check("authorization: bearer alice\r\n", 400, None).await;
    check("authorization: Bearer alice\r\nauthorization: Bearer bob\r\n", 400, None).await;
    assert_eq!(stage.calls(), 0);
    let answer = stage.ask(from("alice", "", r#"{"method":"echo"}"#)).await;
    assert!(
        answer.body.contains(r#""principal":"alice""#) && !answer.body.contains("authorization"),
        "{}",
        answer.body
    );
    let lines = stage.log().await;
    for secret in ["nobody-known", "Bearer", "YTpi"] {
        assert!(!lines.contains(secret), "{lines}");
    }
}

#[tokio::test]
async fn says_where_tokens_are_to_be_had_to_anybody() {
    let stage = stage().await;
    for path in ["", "/mcp", "/behind/a/proxy"] {
        let request = format!(
            "GET /.well-known/oauth-protected-resource{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        );
        assert_eq!(stage.ask(request).await.body, r#"{"resource":"https://mcp.example.org/mcp"}"#);
    }
}

#[tokio::test]
async fn a_session_is_served_to_whoever_began_it() {
    let stage = stage().await;
    let begun = stage.ask(from("alice", "", r#"{"method":"initialize"}"#)).await;
    let session = format!("mcp-session-id: {}\r\n", begun.header("mcp-session-id").unwrap());
    let status = async |name: &str, more: &str| {
        let session = format!("{session}{more}");
        stage.ask(from(name, &session, r#"{"method":"echo"}"#)).await.status
    };
    assert_eq!(status("alice", "").await, 200);
    assert_eq!(status("bob", "").await, 404);
    let get = from("bob", &session, "").replace("POST", "GET");
    assert_eq!(stage.ask(get).await.status, 404);
    let delete = |name| from(name, &session, "").replace("POST", "DELETE");
    assert_eq!(stage.ask(delete("bob")).await.status, 404);
    assert_eq!(stage.ask(delete("alice")).await.status, 200);
    assert_eq!(status("alice", "").await, 404);
}

#[tokio::test]
async fn a_session_of_another_is_not_seen_where_there_are_none() {
    let stage = stage().await;
    let check = async |version: &str, status: u16| {
        let headers = format!("mcp-session-id: another\r\nmcp-protocol-version: {version}\r\n");
        let answer = stage.ask(from("bob", &headers, r#"{"method":"echo"}"#)).await;
        assert_eq!(answer.status, status, "{version}");
        assert!(!answer.body.contains("mcp-session-id"));
    };
    check("2026-07-28", 200).await;
    check("2025-11-25", 404).await;
    check("9999-zz-28", 404).await;
    check("zzzz", 404).await;
}

#[tokio::test]
async fn each_caller_may_ask_as_often_as_was_said_for_them() {
    let stage = stage().await;
    let echo = r#"{"method":"echo"}"#;
    assert_eq!(stage.ask(from("slow", "", echo)).await.status, 200);
    let refused = stage.ask(from("slow", "", echo)).await;
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!(refused.status == 429 && (900..=1_000).contains(&wait), "{}: {wait}", refused.status);
    assert_eq!(stage.ask(from("alice", "", echo)).await.status, 200);
}

#[tokio::test]
async fn is_not_served_to_other_machines_without_asking_who_calls() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let refused = HttpListener::bind(HttpConfig::new(address.parse().unwrap())).await.unwrap_err();
        assert!(matches!(refused, ServeError::Unguarded { .. }));
        assert_eq!(
            refused.to_string(),
            format!(
                "refused to serve at {address}, where other machines can call every tool, without asking who calls; \
                 give it tokens or an authorization server to check them with, or serve at 127.0.0.1"
            )
        );
    }
    let config = HttpConfig::new("0.0.0.0:0".parse().unwrap()).authenticator(Arc::new(Names(Value::Null)));
    HttpListener::bind(config).await.unwrap();
}
