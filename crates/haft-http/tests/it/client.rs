use crate::fixture::Fixture;
use bytes::Bytes;
use haft_http::{AddressPolicy, Error, Exchange, HttpClient, Redirects};
use std::time::Duration;

const HELLO: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";

fn client(policy: AddressPolicy) -> HttpClient {
    HttpClient::new(policy).unwrap()
}

fn get(url: &str) -> http::Request<Bytes> {
    http::Request::get(url).header("authorization", "Bearer t").body(Bytes::new()).unwrap()
}

/// Asks a server that gives these answers and tells the status and the body, or the error.
async fn check(answers: &[&str], exchange: Exchange, expected: Result<(u16, &str), &str>) -> Fixture {
    let fixture = Fixture::start(answers).await;
    let url = format!("http://{}/a?secret=s", fixture.address);
    let found = async {
        let answer = client(AddressPolicy::public().loopback()).send(get(&url), exchange).await?;
        let status = answer.status().as_u16();
        let body = answer.into_body().bytes().await?;
        Ok::<_, Error>((status, String::from_utf8(body.to_vec()).unwrap()))
    };
    let found = found.await.map_err(|error| error.to_string());
    let expected = expected.map(|(status, body)| (status, body.to_owned())).map_err(str::to_owned);
    assert_eq!(found, expected);
    fixture
}

#[tokio::test]
async fn reads_an_answer() {
    let mut fixture = check(&[HELLO], Exchange::default(), Ok((200, "hello"))).await;
    let heard = fixture.heard.recv().await.unwrap();
    assert!(heard.starts_with("GET /a?secret=s HTTP/1.1\r\n"), "{heard}");
    assert!(heard.contains("authorization: Bearer t\r\n"), "{heard}");
    assert!(heard.contains(concat!("user-agent: haft/", env!("CARGO_PKG_VERSION"))), "{heard}");
}

#[tokio::test]
async fn refuses_addresses_that_are_not_permitted() {
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::1]", "0x7f.1", "169.254.169.254", "0"] {
        let url = format!("http://{host}:1/");
        let error = client(AddressPolicy::public()).send(get(&url), Exchange::default()).await.unwrap_err();
        assert!(matches!(error, Error::Address { .. }), "{host}: {error}");
    }
}

#[tokio::test]
async fn a_name_that_is_permitted_leads_anywhere() {
    let fixture = Fixture::start(&[HELLO]).await;
    let url = format!("http://localhost:{}/", fixture.address.port());
    let policy = AddressPolicy::public().host("localhost".parse().unwrap());
    assert!(client(policy).send(get(&url), Exchange::default()).await.is_ok());
}

#[tokio::test]
async fn refuses_urls_that_cannot_be_asked() {
    for url in ["ftp://example.org/", "http://user@example.org/", "http://user:word@example.org/", "/path"] {
        let error = client(AddressPolicy::public()).send(get(url), Exchange::default()).await.unwrap_err();
        assert!(matches!(error, Error::Url(_)), "{url}: {error}");
    }
}

#[tokio::test]
async fn takes_no_more_than_it_was_told_to() {
    let small = Exchange::default().most_bytes(4);
    let refused = Err("the answer is larger than the 4 bytes that are taken");
    check(&[HELLO], small, refused).await;
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    check(&[chunked], small, refused).await;
    check(&[chunked], Exchange::default().most_bytes(5), Ok((200, "abcde"))).await;
}

#[tokio::test]
async fn does_not_wait_for_an_answer_that_does_not_begin() {
    let exchange = Exchange::default().first_byte(Duration::from_millis(50));
    check(&[""], exchange, Err("`127.0.0.1` did not answer within 0.05 s")).await;
}

#[tokio::test]
async fn says_that_a_connection_broke() {
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello";
    check(&[cut, HELLO], Exchange::default(), Err("the connection to `127.0.0.1` broke")).await;
}

#[tokio::test]
async fn follows_redirects_only_when_told_to() {
    const TO_B: &str = "HTTP/1.1 302 Found\r\nlocation: /b\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    check(&[TO_B], Exchange::default(), Ok((302, ""))).await;
    let same = Exchange::default().redirects(Redirects::SameOrigin(1));
    let mut fixture = check(&[TO_B, HELLO], same, Ok((200, "hello"))).await;
    fixture.heard.recv().await;
    assert!(fixture.heard.recv().await.unwrap().starts_with("GET /b HTTP/1.1\r\n"));
    let too_often = Err("`127.0.0.1` redirects, and that is not followed: it did so too often");
    check(&[TO_B, TO_B], same, too_often).await;
    let away = "HTTP/1.1 302 Found\r\nlocation: http://10.0.0.1/\r\ncontent-length: 0\r\n\r\n";
    let refused = "refused to connect to `10.0.0.1`: 10.0.0.1 is no address of the public internet, and is not permitted";
    check(&[away], Exchange::default().redirects(Redirects::Anywhere(1)), Err(refused)).await;
}

#[tokio::test]
async fn ends_the_connection_when_the_body_is_dropped() {
    let mut fixture =
        Fixture::start(&["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"]).await;
    let url = format!("http://{}/", fixture.address);
    let client = client(AddressPolicy::public().loopback());
    let answer = client.send(get(&url), Exchange::default()).await.unwrap();
    let mut body = answer.into_body();
    assert_eq!(body.next().await.unwrap().unwrap(), "abc");
    drop(body);
    fixture.heard.recv().await;
    assert_eq!(fixture.heard.recv().await.unwrap(), "gone");
}

#[tokio::test]
async fn ends_the_connection_when_the_request_is_dropped() {
    let mut fixture = Fixture::start(&[""]).await;
    let url = format!("http://{}/", fixture.address);
    let client = client(AddressPolicy::public().loopback());
    {
        let send = client.send(get(&url), Exchange::default());
        tokio::select! {
            answer = send => panic!("{answer:?}"),
            _ = fixture.heard.recv() => {}
        }
    }
    assert_eq!(fixture.heard.recv().await.unwrap(), "gone");
}
