//! A key is shown nowhere.

use crate::server::{Answer, Server};
use crate::wire::{ALL, KEY, capabilities, service, take_turn};
use haft_core::Message;
use haft_http::{AddressPolicy, HttpClient};
use haft_model::ModelRequest;
use haft_providers::{AnthropicModel, ApiKey, Service, ServiceError};
use haft_testkit::LogCapture;
use std::fmt::Write as _;

#[tokio::test]
async fn a_key_is_in_no_error_and_in_nothing_that_is_logged_or_printed() {
    let log = LogCapture::default();
    let _listening = log.listen();
    for wire in ALL {
        let echo = format!(
            r#"{{"error":{{"type":"x","message":"Incorrect API key provided: {KEY}, or sk-te*******6789."}}}}"#
        );
        let refusals = [
            Answer::new(401, "content-type: application/json\r\n", &echo),
            Answer::new(503, "", &echo),
            Answer::new(200, &format!("content-type: {KEY}\r\n"), ""),
            Answer::events(format!("data: {echo}\n\n")),
            Answer::events(format!("data: {{\"type\":\"error\",\"message\":\"{KEY}\"}}\n\n")),
        ];
        for refusal in refusals {
            let mut server = Server::start([refusal]).await;
            let model = wire.model(server.address);
            let mut printed = format!("{:?}", service(server.address));
            let (_, turn) = take_turn(&*model, ModelRequest::new([Message::user("Go on.")])).await;
            let error = turn.unwrap_err();
            write!(printed, "{error:?} {error} {}", crate::wire::told(&error)).unwrap();
            assert!(!printed.contains("Topsecret") && !printed.contains("6789"), "{printed}");
            assert!(server.requests()[0].head.contains(KEY));
        }
    }
    let log = log.text();
    assert!(log.contains("a model is asked again") && !log.contains("Topsecret"), "{log}");
}

#[test]
fn what_names_a_service_is_checked() {
    let http = HttpClient::new(AddressPolicy::public()).unwrap();
    for (url, reason) in [
        ("api.example.org/v1", "it is not an absolute URL"),
        ("file:///v1", "it is neither `http` nor `https`"),
        ("https://me:word@api.example.org/v1", "it holds a user or a password; give the key apart from it"),
        ("https://api.example.org/v1?key=1", "it has a query or a fragment; give a query apart from it"),
    ] {
        assert_eq!(Service::new(http.clone(), url).unwrap_err(), ServiceError::BaseUrl(reason));
    }
    for key in ["", " \n", "two words", "sk-\u{fc}"] {
        assert_eq!(ApiKey::new(key).unwrap_err(), ServiceError::Key);
    }
    assert!(ApiKey::new("sk-1\n").is_ok());
    let service = Service::new(http, "https://api.example.org/v1").unwrap();
    assert!(service.clone().header("no header", "x").is_err());
    assert!(service.header("x-a", "line\nend").is_err());
}

#[tokio::test]
async fn what_a_service_repeats_of_a_secret_header_is_not_shown() {
    let echo =
        r#"{"error":{"type":"x","message":"neither 'Basic YW5uOmh1bnRlcjI=' nor YW5uOmh1bnRlcjI= will do"}}"#;
    let mut server = Server::start([Answer::new(401, "content-type: application/json\r\n", echo)]).await;
    let http = HttpClient::new(AddressPolicy::public().loopback()).unwrap();
    let service = Service::new(http, &format!("http://{}/v1", server.address)).unwrap();
    let service = service.secret_header("authorization", "Basic YW5uOmh1bnRlcjI=").unwrap();
    let model = AnthropicModel::new(service, capabilities());
    let (_, turn) = take_turn(&model, ModelRequest::new([Message::user("Go on.")])).await;
    let told = crate::wire::told(&turn.unwrap_err());
    assert!(told.contains("neither '[redacted]' nor [redacted] will do"), "{told}");
    assert!(server.requests()[0].head.contains("authorization: Basic YW5uOmh1bnRlcjI="));
}
