use crate::fixture::Fixture;
use bytes::Bytes;
use haft_http::{AddressPolicy, Exchange, HttpClient, Redirects, Retries};
use haft_testkit::LogCapture;
use std::fmt::Write as _;
use std::time::Duration;

/// Keeps what libraries log that do not do so by `tracing`.
struct Plain(LogCapture);

impl log::Log for Plain {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        self.0.push(&format!("{} {}", record.target(), record.args()));
    }

    fn flush(&self) {}
}

#[tokio::test]
async fn neither_logs_nor_prints_what_a_request_holds() {
    let log = LogCapture::default();
    log::set_boxed_logger(Box::new(Plain(log.clone()))).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
    let _listening = log.listen();
    tracing::info!("something is logged");

    let redirect = "HTTP/1.1 307 Away\r\nlocation: /next?key=Secret5\r\nset-cookie: a=Secret6\r\ncontent-length: 0\r\n\
                    connection: close\r\n\r\n";
    let cut = "HTTP/1.1 200 OK\r\nset-cookie: a=Secret6\r\ncontent-length: 9\r\n\r\nhello";
    // A redirect that is not followed, one that is and breaks off, one whose next step breaks at once and is made again.
    let fixture = Fixture::start(&[redirect, redirect, cut, redirect, "", cut, "x"]).await;
    let client = HttpClient::new(AddressPolicy::public().loopback()).unwrap();
    let mut printed = format!("{client:?}");
    let follow = Exchange::default().redirects(Redirects::Anywhere(1));
    let insist = follow.retries(Retries::default().delay(Duration::from_millis(1)));
    let url = format!("http://{}/?key=Secret1", fixture.address);
    let user = format!("http://Secret7:Secret8@{}/", fixture.address);
    let mut key = http::HeaderValue::from_static("Secret3");
    key.set_sensitive(true);
    for (url, exchange) in
        [(&url, Exchange::default()), (&url, follow), (&url, insist), (&url, follow), (&user, follow)]
    {
        let request = http::Request::get(url)
            .header("authorization", "Bearer Secret2")
            .header("x-key", key.clone())
            .body(Bytes::from_static(b"Secret4"))
            .unwrap();
        match client.send(request, exchange).await {
            Ok(answer) => {
                write!(printed, "{answer:?}").unwrap();
                match answer.into_body().bytes().await {
                    Ok(body) => write!(printed, "{body:?}").unwrap(),
                    Err(error) => write!(printed, "{}", all(&error)).unwrap(),
                }
            }
            Err(error) => write!(printed, "{}", all(&error)).unwrap(),
        }
    }
    let log = log.text();
    assert!(log.contains("something is logged") && log.contains("reqwest"), "{log}");
    assert!(!log.contains("Secret"), "{log}");
    assert!(printed.contains("broke") && printed.contains("307"), "{printed}");
    assert!(printed.contains("it holds a user or a password"), "{printed}");
    assert!(!printed.contains("Secret"), "{printed}");
}

/// Prints an error in each way, and what it comes from.
fn all(error: &dyn std::error::Error) -> String {
    let mut printed = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(error) = source {
        write!(printed, " {error} {error:?}").unwrap();
        source = error.source();
    }
    printed
}
