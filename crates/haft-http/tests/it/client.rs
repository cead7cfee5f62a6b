use crate::fixture::Fixture;
use bytes::Bytes;
use haft_http::{AddressPolicy, Error, Exchange, HttpClient};

pub(crate) const HELLO: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";

pub(crate) fn client(policy: AddressPolicy) -> HttpClient {
    HttpClient::new(policy).unwrap()
}

pub(crate) fn get(url: &str) -> http::Request<Bytes> {
    http::Request::get(url).header("authorization", "Bearer t").body(Bytes::new()).unwrap()
}

/// Asks a server that gives these answers and tells the status and the body, or the error.
pub(crate) async fn check(
    answers: &[&str],
    exchange: Exchange,
    expected: Result<(u16, &str), &str>,
) -> Fixture {
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
async fn says_that_a_connection_broke() {
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello";
    check(&[cut, HELLO], Exchange::default(), Err("the connection to `127.0.0.1` broke")).await;
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
