//! Which redirects are followed, and what goes along.

use crate::client::{HELLO, check, client, get};
use crate::fixture::Fixture;
use haft_http::{AddressPolicy, Error, Exchange, Redirects};
use http::HeaderValue;

const TO_B: &str = "HTTP/1.1 302 Found\r\nlocation: /b\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

fn to(place: &str) -> String {
    format!("HTTP/1.1 307 Away\r\nlocation: {place}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

#[tokio::test]
async fn follows_redirects_only_when_told_to() {
    check(&[TO_B], Exchange::default(), Ok((302, ""))).await;
    let same = Exchange::default().redirects(Redirects::SameOrigin(1));
    let mut fixture = check(&[TO_B, HELLO], same, Ok((200, "hello"))).await;
    fixture.heard.recv().await;
    assert!(fixture.heard.recv().await.unwrap().starts_with("GET /b HTTP/1.1\r\n"));
    let too_often = Err("`127.0.0.1` redirects, and that is not followed: it did so too often");
    check(&[TO_B, TO_B], same, too_often).await;
}

#[tokio::test]
async fn follows_no_more_than_five_whatever_is_asked_for() {
    let many = Exchange::default().redirects(Redirects::Anywhere(u8::MAX));
    check(&[TO_B, TO_B, TO_B, TO_B, TO_B, HELLO], many, Ok((200, "hello"))).await;
    let too_often = Err("`127.0.0.1` redirects, and that is not followed: it did so too often");
    check(&[TO_B, TO_B, TO_B, TO_B, TO_B, TO_B, HELLO], many, too_often).await;
}

#[tokio::test]
async fn each_step_is_held_to_the_policy() {
    let anywhere = Exchange::default().redirects(Redirects::Anywhere(1));
    for (place, host, address) in [
        ("http://10.0.0.1/", "10.0.0.1", "10.0.0.1"),
        ("//168.63.129.16/machine", "168.63.129.16", "168.63.129.16"),
        ("http://0xa9fea9fe/latest/meta-data/", "169.254.169.254", "169.254.169.254"),
        ("http://[::ffff:169.254.169.254]/", "169.254.169.254", "169.254.169.254"),
        ("http://[64:ff9b::a00:1]/", "[64:ff9b::a00:1]", "64:ff9b::a00:1"),
    ] {
        let refused = format!(
            "refused to connect to `{host}`: {address} is not an address of the public internet, and is not permitted"
        );
        check(&[&to(place)], anywhere, Err(&refused)).await;
    }
    for place in ["http://user:word@127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/"] {
        let fixture = Fixture::start(&[to(place)]).await;
        let url = format!("http://{}/", fixture.address);
        let client = client(AddressPolicy::public().loopback());
        let error = client.send(get(&url), anywhere).await.unwrap_err();
        assert!(matches!(error, Error::Url(_)), "{error}");
    }
    // A name that leads to this machine is looked up when it is its turn.
    let fixture = Fixture::start(&[to("http://localhost:1/")]).await;
    let only_this = AddressPolicy::public().host("127.0.0.1".parse().unwrap());
    let url = format!("http://{}/", fixture.address);
    let error = client(only_this).send(get(&url), anywhere).await.unwrap_err();
    assert!(matches!(&error, Error::Address { host, .. } if host == "localhost"), "{error}");
}

#[tokio::test]
async fn a_step_inwards_is_refused_however_many_come_before_it() {
    let anywhere = Exchange::default().redirects(Redirects::Anywhere(5));
    let refused = "refused to connect to `10.0.0.1`: 10.0.0.1 is not an address of the public internet, and is not permitted";
    for before in 0..5 {
        let steps: Vec<&str> = std::iter::repeat_n(TO_B, before).collect();
        let inwards = to("http://[::ffff:10.0.0.1]/");
        let answers: Vec<&str> = steps.into_iter().chain([inwards.as_str()]).collect();
        check(&answers, anywhere, Err(refused)).await;
    }
}

/// Asks one server which leads to another (or to itself), and gives what the last one heard.
async fn led(to_another: bool) -> String {
    let mut second = Fixture::start(&[HELLO]).await;
    let place = if to_another { format!("http://{}/c", second.address) } else { "/c".to_owned() };
    let mut first = Fixture::start(&[to(&place), HELLO.to_owned()]).await;
    let mut request = get(&format!("http://{}/a", first.address));
    let mut key = HeaderValue::from_static("Secret");
    key.set_sensitive(true);
    request.headers_mut().insert("x-company-key", key);
    request.headers_mut().insert("cookie", HeaderValue::from_static("session=Secret"));
    request.headers_mut().insert("proxy-authorization", HeaderValue::from_static("Basic Secret"));
    request.headers_mut().insert("host", HeaderValue::from_static("first.example"));
    request.headers_mut().insert("accept", HeaderValue::from_static("text/plain"));
    let exchange = Exchange::default().redirects(Redirects::Anywhere(2));
    let answer = client(AddressPolicy::public().loopback()).send(request, exchange).await.unwrap();
    assert_eq!(answer.status(), 200);
    let first_heard = first.heard.recv().await.unwrap();
    assert!(first_heard.contains("Secret"), "{first_heard}");
    if to_another { second.heard.recv().await.unwrap() } else { first.heard.recv().await.unwrap() }
}

#[tokio::test]
async fn what_is_meant_for_one_origin_stays_there() {
    let same = led(false).await;
    assert!(same.contains("Bearer t") && same.matches("Secret").count() == 3, "{same}");
    // Another port is another origin.
    let other = led(true).await;
    assert!(
        !other.contains("Secret") && !other.contains("Bearer") && !other.contains("first.example"),
        "{other}"
    );
    assert!(other.contains("accept: text/plain") && !other.contains("referer"), "{other}");
}
