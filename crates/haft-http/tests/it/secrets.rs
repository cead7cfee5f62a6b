use crate::fixture::Fixture;
use bytes::Bytes;
use haft_http::{AddressPolicy, Exchange, HttpClient};
use haft_testkit::LogCapture;
use std::fmt::Write as _;

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

    let fixture = Fixture::start(&["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello", "x"]).await;
    let client = HttpClient::new(AddressPolicy::public().loopback()).unwrap();
    let mut printed = format!("{client:?}");
    for _ in 0..3 {
        let request = http::Request::post(format!("http://{}/?key=Secret1", fixture.address))
            .header("authorization", "Bearer Secret2")
            .header("x-key", "Secret3")
            .body(Bytes::from_static(b"Secret4"))
            .unwrap();
        match client.send(request, Exchange::default()).await {
            Ok(answer) => {
                let error = answer.into_body().bytes().await.unwrap_err();
                write!(printed, "{error} {error:?}").unwrap();
            }
            Err(error) => write!(printed, "{error} {error:?}").unwrap(),
        }
    }
    let log = log.text();
    assert!(log.contains("something is logged") && log.contains("reqwest"), "{log}");
    assert!(!log.contains("Secret"), "{log}");
    assert!(printed.contains("broke") && !printed.contains("Secret"), "{printed}");
}
