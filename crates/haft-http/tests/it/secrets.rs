use crate::fixture::Fixture;
use bytes::Bytes;
use haft_http::{AddressPolicy, Exchange, HttpClient};
use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex};

/// Keeps all that is logged, by either of the two ways in which libraries do so.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl log::Log for Log {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let line = format!("{} {}\n", record.target(), record.args());
        self.0.lock().unwrap().extend_from_slice(line.as_bytes());
    }

    fn flush(&self) {}
}

#[tokio::test]
async fn neither_logs_nor_prints_what_a_request_holds() {
    let log = Log::default();
    log::set_boxed_logger(Box::new(log.clone())).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
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
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("something is logged") && log.contains("reqwest"), "{log}");
    assert!(!log.contains("Secret"), "{log}");
    assert!(printed.contains("broke") && !printed.contains("Secret"), "{printed}");
}
