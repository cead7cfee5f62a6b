//! What goes wrong, and what is told of it.

use crate::fixture::{GEMINI, GROQ, KEY, WHOLE, ask, model};
use crate::server::{Answer, Server};
use crate::turns::{quick, take_turn, told};
use expect_test::{Expect, expect};
use haft_core::Message;
use haft_http::{AddressPolicy, HttpClient};
use haft_model::{Model as _, ModelCapabilities, ModelError, ModelRequest};
use haft_providers::{ApiKey, GenaiModel};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn request() -> ModelRequest {
    ModelRequest::new([Message::user("Go on.")])
}

#[tokio::test]
async fn what_may_pass_is_asked_again() {
    for (adapter, whole) in WHOLE {
        let wait = "retry-after: 0\r\ncontent-type: application/json\r\n";
        let mut server = Server::start([
            Answer::new(429, wait, r#"{"error":{"message":"slow down"}}"#),
            Answer::new(503, "content-type: text/plain\r\n", "busy"),
            Answer::events(whole),
        ])
        .await;
        let (_, turn) = take_turn(&model(adapter, server.address), request()).await;
        assert!(turn.is_ok(), "{adapter}: {turn:?}");
        assert_eq!(server.requests().len(), 3, "{adapter}");
    }
}

async fn check(adapter: &str, answer: Answer, expected: Expect) {
    let error = ask(adapter, answer).await.1.unwrap_err();
    let told = told(&error);
    assert!(!told.contains("Topsecret"), "{told}");
    expected.assert_eq(&told);
}

#[tokio::test]
async fn what_does_not_pass_is_told_with_the_next_step_and_without_the_key() {
    let json = "content-type: application/json\r\n";
    let said =
        format!(r#"{{"error":{{"code":401,"message":"no such key: {KEY}","status":"UNAUTHENTICATED"}}}}"#);
    check("gemini", Answer::new(401, json, said), expect!["the model's provider refused the request: the service said 401 UNAUTHENTICATED: no such key: [redacted]; check the API key and what it may be used for"]).await;
    let said = r#"{"error":"model 'test-model' not found"}"#;
    check("ollama", Answer::new(404, json, said), expect!["the model's provider refused the request: the service said 404: model 'test-model' not found; check the name of the model and the base URL"]).await;
    check(
        "groq",
        Answer::new(429, "retry-after: 7200\r\n", "{}"),
        expect!["the model's provider limits the rate of requests; wait 7200 s, then ask again"],
    )
    .await;
    check("groq", Answer::events("data: no JSON\n\n"), expect!["the model's answer is malformed: an event is not JSON; ask again, or choose another model or service if it stays so"]).await;
    let wrong = GROQ.replacen("data: {\"choices\":[{\"index\":0,\"delta\":{\"tool", "data: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool", 1);
    check("groq", Answer::events(wrong), expect!["the model is not available: the service said overloaded_error: busy; try again later, or choose another model"]).await;
}

#[tokio::test]
async fn an_answer_that_stands_still_ends() {
    let server = Server::start([Answer::events(&GEMINI[..GEMINI.len() / 2]).then_still()]).await;
    let model = model("gemini", server.address).patience(quick().idle_timeout(Duration::from_millis(200)));
    let (_, turn) = take_turn(&model, request()).await;
    expect!["the model is not available: 127.0.0.1: model response body read timed out; ask again, or wait longer for this model"].assert_eq(&told(&turn.unwrap_err()));
}

#[tokio::test]
async fn cancelling_ends_a_request_and_its_connection() {
    let mut server = Server::start([Answer::silence()]).await;
    let (model, cancel) = (model("gemini", server.address), CancellationToken::new());
    let stop = async {
        server.heard.recv().await.unwrap();
        cancel.cancel();
    };
    let (stream, ()) = tokio::join!(model.stream(request(), cancel.clone()), stop);
    assert!(matches!(stream.unwrap_err(), ModelError::Cancelled));
    server.gone.recv().await.unwrap();
}

#[tokio::test]
async fn an_address_that_the_policy_does_not_permit_is_not_asked() {
    let mut server = Server::start([Answer::events(GEMINI)]).await;
    let port = server.address.port();
    let http = HttpClient::new(AddressPolicy::public()).unwrap();
    for host in ["127.0.0.1", "localhost"] {
        let model = GenaiModel::new(http.clone(), "gemini", ModelCapabilities::new("test-model")).unwrap();
        let model =
            model.key(ApiKey::new(KEY).unwrap()).base_url(&format!("http://{host}:{port}/v1/")).unwrap();
        let (_, turn) = take_turn(&model.patience(quick()), request()).await;
        let told = told(&turn.unwrap_err());
        assert!(told.contains("permit it in the client's address policy"), "{told}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn nobody_listening_is_told() {
    // Nobody listens there, and nobody else can have it meanwhile.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    let (_, turn) = take_turn(&model("groq", address), request()).await;
    let error = turn.unwrap_err();
    assert!(error.can_retry());
    assert!(told(&error).contains("check that the service runs, and the base URL"), "{}", told(&error));
}

#[tokio::test]
async fn what_says_which_model_is_checked() {
    let http = HttpClient::new(AddressPolicy::public()).unwrap();
    let new = |adapter: &str| GenaiModel::new(http.clone(), adapter, ModelCapabilities::new("test-model"));
    expect![[r#"there is no adapter `Gemini\u{1b}[31m`; those there are, `GenaiModel::adapters` lists"#]]
        .assert_eq(&new("Gemini\u{1b}[31m").unwrap_err().to_string());
    expect!["cannot use the base URL: it holds a user or a password; give the key apart from it; write one as in `https://api.example.org/v1`"].assert_eq(&new("gemini").unwrap().base_url("http://a:b@example.org").unwrap_err().to_string());
    expect!["there is no reasoning effort `a lot`; write `zero`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, or a number of tokens"].assert_eq(&new("gemini").unwrap().reasoning_effort("a lot").unwrap_err().to_string());
    for adapter in ["zai", "baidu"] {
        let error = new(adapter).unwrap().base_url("http://127.0.0.1:1/").unwrap_err().to_string();
        assert!(error.contains("asks its own service alone"), "{error}");
    }
    // A key is never looked for in the environment.
    let (_, turn) = take_turn(&new("gemini").unwrap(), request()).await;
    expect!["the model's provider refused the request: the adapter `gemini` wants an API key; give it one, or any word where the service asks for none"].assert_eq(&told(&turn.unwrap_err()));
    assert!(GenaiModel::adapters().all(|adapter| new(adapter).is_ok()));
}
