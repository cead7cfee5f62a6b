//! Which requests are made again.

use crate::client::{HELLO, client};
use crate::fixture::Fixture;
use bytes::Bytes;
use haft_http::{AddressPolicy, Error, Exchange, Redirects, Retries};
use http::Method;
use std::time::Duration;

const BUSY: &str = "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const COME_BACK: &str =
    "HTTP/1.1 429 Slow\r\nretry-after: 0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const MUCH_LATER: &str =
    "HTTP/1.1 503 Busy\r\nretry-after: 3600\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const BROKEN: &str = "";

fn retries() -> Retries {
    Retries::default().delay(Duration::from_millis(2))
}

/// Makes a request to a server that gives these answers; tells the status, if there is an answer, and how many it heard.
async fn check(method: Method, answers: &[&str], exchange: Exchange, expected: (Option<u16>, usize)) {
    let mut fixture = Fixture::start(answers).await;
    let mut request = http::Request::new(Bytes::from_static(b"body"));
    if method == Method::GET {
        *request.body_mut() = Bytes::new();
    }
    *request.method_mut() = method.clone();
    *request.uri_mut() = format!("http://{}/", fixture.address).parse().unwrap();
    let answer = client(AddressPolicy::public().loopback()).send(request, exchange).await;
    let status = answer.ok().map(|answer| answer.status().as_u16());
    assert_eq!((status, fixture.heard_so_far().len()), expected, "{method} {answers:?}");
}

#[tokio::test]
async fn an_idempotent_request_is_made_again() {
    let exchange = Exchange::default().retries(retries());
    check(Method::GET, &[BUSY, HELLO], exchange, (Some(200), 2)).await;
    check(Method::GET, &[BROKEN, COME_BACK, HELLO], exchange, (Some(200), 3)).await;
    check(Method::PUT, &[BROKEN, HELLO], exchange, (Some(200), 2)).await;
    check(Method::DELETE, &[BUSY, HELLO], exchange, (Some(200), 2)).await;
}

#[tokio::test]
async fn any_other_is_made_again_only_when_the_answer_says_when() {
    let exchange = Exchange::default().retries(retries());
    check(Method::POST, &[BROKEN, HELLO], exchange, (None, 1)).await;
    check(Method::POST, &[BUSY, HELLO], exchange, (Some(503), 1)).await;
    check(Method::POST, &[COME_BACK, HELLO], exchange, (Some(200), 2)).await;
    check(Method::PATCH, &[COME_BACK, BROKEN, HELLO], exchange, (None, 2)).await;
}

#[tokio::test]
async fn no_request_is_made_again_unless_that_is_asked_for() {
    check(Method::GET, &[BUSY, HELLO], Exchange::default(), (Some(503), 1)).await;
    check(Method::GET, &[BROKEN, HELLO], Exchange::default(), (None, 1)).await;
}

#[tokio::test]
async fn attempts_end() {
    let exchange = Exchange::default().retries(retries());
    check(Method::GET, &[BUSY, BUSY, BUSY, HELLO], exchange, (Some(503), 3)).await;
    check(Method::GET, &[MUCH_LATER, HELLO], exchange, (Some(503), 1)).await;
    let long = Exchange::default()
        .timeout(Duration::from_secs(20))
        .retries(Retries::default().delay(Duration::from_mins(1)).longest_delay(Duration::from_mins(1)));
    check(Method::GET, &[BUSY, HELLO], long, (Some(503), 1)).await;
    // One count for all steps of a redirect.
    let to = "HTTP/1.1 302 Found\r\nlocation: /b\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let redirects = exchange.redirects(Redirects::SameOrigin(3));
    check(Method::GET, &[BUSY, to, BUSY, HELLO], redirects, (Some(200), 4)).await;
    check(Method::GET, &[BUSY, to, BUSY, BUSY, HELLO], redirects, (Some(503), 4)).await;
}

#[tokio::test]
async fn what_nobody_answers_in_time_is_asked_again() {
    let mut fixture = Fixture::start(&[BROKEN]).await;
    // The server listens on, and answers nobody else.
    let request = http::Request::get(format!("http://{}/", fixture.address)).body(Bytes::new()).unwrap();
    let exchange = Exchange::default().first_byte_timeout(Duration::from_secs(2)).retries(retries().most(1));
    let error = client(AddressPolicy::public().loopback()).send(request, exchange).await.unwrap_err();
    assert!(error.can_retry(), "{error}");
    assert_eq!(fixture.heard_so_far().len(), 1);
}

#[tokio::test]
async fn what_is_refused_is_not_asked_again() {
    let request = http::Request::get("http://127.0.0.1:1/").body(Bytes::new()).unwrap();
    let exchange = Exchange::default().retries(Retries::default().delay(Duration::from_hours(1)));
    let error = client(AddressPolicy::public()).send(request, exchange).await.unwrap_err();
    assert!(matches!(error, Error::Address { .. }) && !error.can_retry(), "{error}");
}
