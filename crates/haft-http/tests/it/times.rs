//! Each of the times that bound an exchange, against a server that takes its time.

use crate::client::{HELLO, check, get};
use crate::fixture::head;
use haft_http::{AddressPolicy, Error, Exchange, HttpClient};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_mins(10);

/// Answers a request with this, and then with one letter after the other, for as long as it is listened to.
async fn dribble(first: &'static str) -> (SocketAddr, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        head(&mut stream).await;
        let mut piece = first;
        while stream.write_all(piece.as_bytes()).await.is_ok() {
            piece = "x";
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    });
    (address, tasks)
}

async fn ask(address: SocketAddr, exchange: Exchange) -> Error {
    let client = HttpClient::new(AddressPolicy::public().loopback()).unwrap();
    match client.send(get(&format!("http://{address}/")), exchange).await {
        Ok(answer) => answer.into_body().bytes().await.unwrap_err(),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_connection_that_is_never_made_is_given_up() {
    // Whoever listens and says nothing makes no connection with TLS.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let client =
        HttpClient::builder(AddressPolicy::public().loopback()).connect_timeout(SHORT).build().unwrap();
    let exchange = Exchange::default().first_byte_timeout(LONG).timeout(LONG);
    let error = client.send(get(&url), exchange).await.unwrap_err();
    assert!(matches!(error, Error::Connect { .. }), "{error}");
    assert_eq!(error.to_string(), "cannot connect to `127.0.0.1`");
}

#[tokio::test]
async fn an_answer_that_does_not_begin_is_given_up() {
    check(
        &[""],
        Exchange::default().first_byte_timeout(SHORT),
        Err("`127.0.0.1` did not answer within 0.05 s"),
    )
    .await;
}

#[tokio::test]
async fn a_head_that_comes_letter_by_letter_is_given_up() {
    let (address, _tasks) = dribble("HTTP/1.1 200 OK\r\nx: ").await;
    let error =
        ask(address, Exchange::default().first_byte_timeout(SHORT).idle_timeout(LONG).timeout(LONG)).await;
    assert_eq!(error.to_string(), "`127.0.0.1` did not answer within 0.05 s");
}

#[tokio::test]
async fn a_body_that_does_not_go_on_is_given_up() {
    let begun = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello";
    let exchange = Exchange::default().first_byte_timeout(LONG).idle_timeout(SHORT).timeout(LONG);
    check(&[begun], exchange, Err("`127.0.0.1` sent nothing more for 0.05 s")).await;
    check(&[HELLO], exchange, Ok((200, "hello"))).await;
}

#[tokio::test]
async fn a_body_that_comes_letter_by_letter_is_given_up() {
    let (address, _tasks) = dribble("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await;
    let error =
        ask(address, Exchange::default().first_byte_timeout(LONG).idle_timeout(LONG).timeout(SHORT)).await;
    assert_eq!(error.to_string(), "`127.0.0.1` took longer than the 0.05 s that are waited");
}

#[tokio::test]
async fn the_whole_time_counts_before_the_body_too() {
    let (address, _tasks) = dribble("HTTP/1.1 200 OK\r\nx: ").await;
    let error =
        ask(address, Exchange::default().first_byte_timeout(LONG).idle_timeout(LONG).timeout(SHORT)).await;
    assert!(matches!(error, Error::Late { .. }) && error.can_retry(), "{error}");
}
