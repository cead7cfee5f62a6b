//! What is done when a service fails, and what is told of it.

use crate::server::{Answer, Server};
use crate::wire::{ALL, Wire, ask, capabilities, quick, take_turn, told};
use expect_test::{Expect, expect};
use haft_core::Message;
use haft_http::{AddressPolicy, HttpClient};
use haft_model::{Delta, ModelError, ModelRequest};
use haft_providers::{OpenAiChatModel, Patience, Service};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const JSON: &str = "content-type: application/json\r\n";

fn go_on() -> ModelRequest {
    ModelRequest::new([Message::user("Go on.")])
}

/// Answers with a status and body each time, and tells how often was asked and what came of it.
async fn refused(wire: Wire, status: u16, headers: &str, body: &str) -> String {
    let mut server = Server::start([Answer::new(status, &format!("{JSON}{headers}"), body)]).await;
    let (_, turn) = ask(&server, wire).await;
    let error = turn.unwrap_err();
    let asked = server.requests().len();
    let wait = error.retry_after().map(|wait| format!(", after {wait:?}")).unwrap_or_default();
    format!("{status} asked {asked} times, again: {}{wait}\n{}\n", error.can_retry(), told(&error))
}

async fn check(wire: Wire, answers: &[(u16, &str, &str)], expected: &Expect) {
    let mut all = String::new();
    for (status, headers, body) in answers {
        write!(all, "{}", refused(wire, *status, headers, body).await).unwrap();
    }
    expected.assert_eq(&all);
}

#[tokio::test]
async fn what_may_pass_is_asked_again_and_what_may_not_is_told_with_the_next_step() {
    let anthropic = |kind: &str, message: &str| {
        format!(
            r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}},"request_id":"req_1"}}"#
        )
    };
    check(
        Wire::Anthropic,
        &[
            (400, "", &anthropic("invalid_request_error", "messages.0: roles must alternate")),
            (
                400,
                "",
                &anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
            ),
            (401, "", &anthropic("authentication_error", "invalid x-api-key")),
            (403, "", &anthropic("permission_error", "no")),
            (404, "", &anthropic("not_found_error", "model: claude-9")),
            (413, "", &anthropic("request_too_large", "Request exceeds the maximum size")),
            (429, "retry-after: 0\r\n", &anthropic("rate_limit_error", "slow down")),
            (429, "retry-after: 3600\r\n", &anthropic("rate_limit_error", "slow down")),
            (429, "x-should-retry: false\r\n", &anthropic("rate_limit_error", "slow down")),
            (500, "", &anthropic("api_error", "Internal server error")),
            (503, "retry-after-ms: 1\r\n", ""),
            (524, "", ""),
            (529, "", &anthropic("overloaded_error", "Overloaded")),
            (301, "location: https://elsewhere.example/\r\n", ""),
        ],
        &expect![[r"
            400 asked 1 times, again: false
            the model's provider refused the request: the service said 400 invalid_request_error: messages.0: roles must alternate; change the request or the settings of the model as it says
            400 asked 1 times, again: false
            the model's provider refused the request: the service said 400 invalid_request_error: prompt is too long: 210000 tokens > 200000 maximum; shorten the transcript, or take large images and documents out of it
            401 asked 1 times, again: false
            the model's provider refused the request: the service said 401 authentication_error: invalid x-api-key; check the API key and what it may be used for
            403 asked 1 times, again: false
            the model's provider refused the request: the service said 403 permission_error: no; check the API key and what it may be used for
            404 asked 1 times, again: false
            the model's provider refused the request: the service said 404 not_found_error: model: claude-9; check the name of the model and the base URL
            413 asked 1 times, again: false
            the model's provider refused the request: the service said 413 request_too_large: Request exceeds the maximum size; shorten the transcript, or take large images and documents out of it
            429 asked 3 times, again: true, after 0ns
            the model's provider limits the rate of requests; wait, then ask again
            429 asked 1 times, again: true, after 3600s
            the model's provider limits the rate of requests; wait 3600 s, then ask again
            429 asked 1 times, again: true
            the model's provider limits the rate of requests; wait, then ask again
            500 asked 3 times, again: true
            the model is not available: the service said 500 api_error: Internal server error; try again later, or choose another model
            503 asked 3 times, again: true, after 1ms
            the model is not available: the service said 503; try again later, or choose another model
            524 asked 3 times, again: true
            the model is not available: the service said 524; try again later, or choose another model
            529 asked 3 times, again: true
            the model is not available: the service said 529 overloaded_error: Overloaded; try again later, or choose another model
            301 asked 1 times, again: false
            the model's provider refused the request: the service said 301; set the base URL to where the service is
        "]],
    )
    .await;
    check(
        Wire::Chat,
        &[
            (429, "", r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#),
            (429, "", r#"{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}"#),
            (400, "", r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#),
            (404, "", r#"{"error":"model 'qwen9' not found"}"#),
            (400, "", r#"[{"error":{"code":400,"message":"Function name is invalid.","status":"INVALID_ARGUMENT"}}]"#),
            (422, "", r#"{"detail":"field required"}"#),
            (402, "", "<html>pay</html>"),
            (502, "", "<html><body>Bad Gateway</body></html>"),
            (500, "", "data: {\"error\": {\"message\": \"the stream did not start\"}}\n\ndata: [DONE]\n\n"),
        ],
        &expect![[r"
            429 asked 1 times, again: false
            the model's provider refused the request: the service said 429 insufficient_quota: You exceeded your current quota; add credit or raise the limit at the provider, or choose another model
            429 asked 3 times, again: true
            the model's provider limits the rate of requests; wait, then ask again
            400 asked 1 times, again: false
            the model's provider refused the request: the service said 400 invalid_request_error context_length_exceeded: This model's maximum context length is 8192 tokens; shorten the transcript, or take large images and documents out of it
            404 asked 1 times, again: false
            the model's provider refused the request: the service said 404: model 'qwen9' not found; check the name of the model and the base URL
            400 asked 1 times, again: false
            the model's provider refused the request: the service said 400 INVALID_ARGUMENT: Function name is invalid; change the request or the settings of the model as it says
            422 asked 1 times, again: false
            the model's provider refused the request: the service said 422: field required; change the request or the settings of the model as it says
            402 asked 1 times, again: false
            the model's provider refused the request: the service said 402: <html>pay</html>; add credit or raise the limit at the provider, or choose another model
            502 asked 3 times, again: true
            the model is not available: the service said 502: <html><body>Bad Gateway</body></html>; try again later, or choose another model
            500 asked 3 times, again: true
            the model is not available: the service said 500: the stream did not start; try again later, or choose another model
        "]],
    )
    .await;
}

#[tokio::test]
async fn a_turn_comes_after_what_passed() {
    for wire in ALL {
        let text = wire.transcript("text");
        let overloaded = Answer::new(529, "", "");
        let limited = Answer::new(429, "retry-after-ms: 1\r\n", "{}");
        let mut server = Server::start([limited, overloaded, Answer::events(&text)]).await;
        let (_, turn) = ask(&server, wire).await;
        assert_eq!(turn.unwrap().message.assistant_text(), "Done.", "{wire:?}");
        let requests = server.requests();
        assert_eq!(requests.len(), 3);
        assert!(requests.iter().all(|request| request.body == requests[0].body));

        let broken = Answer::events("").then_broken();
        let mut server = Server::start([broken, Answer::events(""), Answer::events(&text)]).await;
        let (_, turn) = ask(&server, wire).await;
        assert_eq!(turn.unwrap().message.assistant_text(), "Done.", "{wire:?}");
        assert_eq!(server.requests().len(), 3);
    }
}

#[tokio::test]
async fn who_waits_is_told_that_it_is_asked_again() {
    for wire in ALL {
        let told = Arc::new(Mutex::new(Vec::new()));
        let tells = Arc::clone(&told);
        let request = go_on().on_retry(move |error, pause| {
            tells.lock().unwrap().push((error.to_string(), pause));
        });
        let limited = Answer::new(429, "retry-after-ms: 2\r\n", "{}");
        let server = Server::start([limited, Answer::events(wire.transcript("text"))]).await;
        let (_, turn) = take_turn(&*wire.model(server.address), request).await;
        assert!(turn.is_ok(), "{wire:?}: {turn:?}");
        let error = "the model's provider limits the rate of requests; wait 1 s, then ask again".to_owned();
        assert_eq!(*told.lock().unwrap(), [(error, Duration::from_millis(2))], "{wire:?}");
    }
}

#[tokio::test]
async fn an_error_ahead_of_all_content_is_asked_again() {
    let first = Answer::events(Wire::Anthropic.transcript("overloaded-at-once"));
    let second = Answer::events(Wire::Anthropic.transcript("text"));
    let mut server = Server::start([first, second]).await;
    let (deltas, turn) = ask(&server, Wire::Anthropic).await;
    assert_eq!(turn.unwrap().usage.input, 9);
    assert_eq!(deltas.iter().filter(|delta| matches!(delta, Delta::Text(_))).count(), 1);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn an_answer_that_has_begun_is_never_asked_for_again() {
    for wire in ALL {
        let mut server = Server::start([Answer::events(wire.transcript("overloaded"))]).await;
        let (deltas, turn) = ask(&server, wire).await;
        assert!(deltas.contains(&Delta::Text("Half".into())), "{wire:?}: {deltas:?}");
        assert!(turn.unwrap_err().can_retry());
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_may_take_its_time_between_events_and_in_all() {
    for wire in ALL {
        let transcript = wire.transcript("text");
        let piece = transcript.len() / 8 + 1;
        // Eight pauses of two minutes are shorter each than it is waited, and longer together than other answers may take.
        let answer = Answer::events(&transcript).in_pieces(piece).pausing(Duration::from_mins(2));
        let server = Server::start([answer]).await;
        let model = wire.patient_model(server.address, Patience::default().retries(0));
        let (_, turn) = take_turn(&*model, go_on()).await;
        assert!(turn.is_ok(), "{wire:?}: {turn:?}");
    }
}

#[tokio::test]
async fn an_answer_that_stands_still_ends() {
    for wire in ALL {
        let transcript = wire.transcript("overloaded");
        let half = transcript.find("Half").unwrap();
        let server = Server::start([Answer::events(&transcript[..half]).then_still()]).await;
        let patience = quick().idle_timeout(Duration::from_millis(50));
        let model = wire.patient_model(server.address, patience);
        let (_, turn) = take_turn(&*model, go_on()).await;
        let error = turn.unwrap_err();
        assert_eq!(
            told(&error),
            "the model is not available: the service sent nothing for 0.05 s; try again, or wait longer for this model"
        );
    }
}

#[tokio::test]
async fn an_answer_of_another_kind_is_told() {
    for wire in ALL {
        let server =
            Server::start([Answer::new(200, "content-type: text/html; charset=utf-8\r\n", "<html>")]).await;
        let (_, turn) = ask(&server, wire).await;
        assert_eq!(
            told(&turn.unwrap_err()),
            "the model's answer is malformed: it is `text/html` and no stream of events; check the base URL, and that the service can stream"
        );
    }
}

#[tokio::test]
async fn nobody_listening_is_told() {
    // Nobody listens there, and nobody else can have it meanwhile.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    for wire in ALL {
        let (_, turn) = take_turn(&*wire.model(address), go_on()).await;
        let error = turn.unwrap_err();
        assert!(matches!(error, ModelError::Unavailable { .. }) && error.can_retry(), "{error:?}");
        let expected = "the model is not available: cannot connect to `127.0.0.1`; check that the service runs, and the base URL";
        assert!(told(&error).starts_with(expected), "{}", told(&error));
    }
}

#[tokio::test]
async fn what_the_client_refuses_is_told_with_the_next_step() {
    let server = Server::start([Answer::events("")]).await;
    let http = HttpClient::new(AddressPolicy::public()).unwrap();
    let service = Service::new(http, &format!("http://{}/v1", server.address)).unwrap();
    let model = OpenAiChatModel::new(service, capabilities());
    let error = take_turn(&model, go_on()).await.1.unwrap_err();
    expect![[r"
        the model request failed: refused to connect to `127.0.0.1`: 127.0.0.1 is not an address of the public internet, and is not permitted; permit it in the client's address policy, or change the base URL"]]
    .assert_eq(&told(&error));
    assert!(!error.can_retry());
}

#[tokio::test]
async fn a_service_that_does_not_begin_to_answer_is_asked_once() {
    for wire in ALL {
        let mut server = Server::start([Answer::silence()]).await;
        let patience = quick().first_byte_timeout(Duration::from_millis(50));
        let model = wire.patient_model(server.address, patience);
        let error = take_turn(&*model, go_on()).await.1.unwrap_err();
        assert_eq!(
            told(&error),
            "the model is not available: `127.0.0.1` did not answer within 0.05 s; ask again, or wait longer for this model"
        );
        assert!(server.requests().len() <= 1 && error.can_retry());
    }
}

#[tokio::test]
async fn cancelling_ends_a_request_a_pause_and_an_answer() {
    for wire in ALL {
        let transcript = wire.transcript("overloaded");
        let half = &transcript[..transcript.find("\n\n").unwrap() + 2];
        for answer in [
            Answer::events("").then_still(),
            Answer::new(429, "retry-after: 50\r\n", ""),
            Answer::events(half).then_still(),
        ] {
            let mut server = Server::start([answer]).await;
            let model = wire.model(server.address);
            let cancel = CancellationToken::new();
            let asked = async {
                let mut stream = model.stream(go_on(), cancel.clone()).await?;
                while let Some(delta) = stream.next().await {
                    delta?;
                }
                Ok::<_, ModelError>(())
            };
            let cancelled = async {
                server.heard.recv().await.unwrap();
                cancel.cancel();
            };
            let (asked, ()) = tokio::join!(asked, cancelled);
            assert!(matches!(asked, Err(ModelError::Cancelled)), "{wire:?}: {asked:?}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_was_begun_ends_when_it_is_cancelled() {
    for wire in ALL {
        let transcript = wire.transcript("overloaded");
        let before = transcript.rfind("\n\n").unwrap();
        let before = transcript[..before].rfind("\n\n").unwrap() + 2;
        let server = Server::start([Answer::events(&transcript[..before]).then_still()]).await;
        let model = wire.model(server.address);
        let cancel = CancellationToken::new();
        let mut stream = model.stream(go_on(), cancel.clone()).await.unwrap();
        while !matches!(stream.next().await.unwrap().unwrap(), Delta::Text(_)) {}
        cancel.cancel();
        assert!(matches!(stream.next().await, Some(Err(ModelError::Cancelled))), "{wire:?}");
        assert!(stream.next().await.is_none());
    }
}

#[tokio::test]
async fn dropping_the_stream_ends_the_connection() {
    for wire in ALL {
        let transcript = wire.transcript("overloaded");
        let before = transcript[..transcript.rfind("\n\n").unwrap()].rfind("\n\n").unwrap() + 2;
        let mut server = Server::start([Answer::events(&transcript[..before]).then_still()]).await;
        let stream = wire.model(server.address).stream(go_on(), CancellationToken::new()).await.unwrap();
        drop(stream);
        server.gone.recv().await.unwrap();
    }
}
