//! Takes connections, each of which is bounded in time and size, and answers what they ask.

use super::Pages;
use super::gate::{Answer, Change, Wanted, json, refused};
use bytes::Bytes;
use http::header::{LOCATION, SET_COOKIE};
use http::{HeaderValue, Request, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The most connections; a page needs two.
const MOST_CONNECTIONS: usize = 32;

/// How long the head of a request may take, how long its body, and how long a connection lasts, whatever it is used for.
const HEAD: Duration = Duration::from_secs(5);
const BODY: Duration = Duration::from_secs(5);
const CONNECTION: Duration = Duration::from_secs(90);

/// The most bytes of the head of a request, and of its body: arguments of 64 KiB that a person has edited, as JSON.
const MOST_HEAD: usize = 16 << 10;
const MOST_BODY: usize = 256 << 10;

/// How long is waited after the system refused a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers requests until it is told to stop.
pub(super) async fn serve(listener: TcpListener, pages: Arc<Pages>, stop: CancellationToken) {
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(MOST_HEAD);
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        if connections.len() >= MOST_CONNECTIONS {
            continue;
        }
        // A connection that cannot be told to send at once works all the same.
        stream.set_nodelay(true).ok();
        let pages = Arc::clone(&pages);
        let service = service_fn(move |request| {
            let pages = Arc::clone(&pages);
            async move { Ok::<_, Infallible>(pages.answer(request).await) }
        });
        connections.spawn(timeout(CONNECTION, protocol.serve_connection(TokioIo::new(stream), service)));
    }
}

impl Pages {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        match self.gate.pass(&head) {
            None => refused(),
            Some(Wanted::Cookie(cookie)) => self.let_in(&cookie),
            Some(Wanted::Page) => self.page.answer(),
            Some(Wanted::Live { seen }) => self.live.answer(&seen).await,
            Some(Wanted::Change(change)) => self.change(change, body).await,
        }
    }

    /// Sends a browser on to the page, by an address that holds no secret.
    fn let_in(&self, cookie: &str) -> Answer {
        errln!("The console was opened. For another browser: {}", self.gate.address());
        let mut response = refused();
        let Ok(cookie) = HeaderValue::from_str(&self.gate.cookie(cookie)) else { return response };
        *response.status_mut() = StatusCode::SEE_OTHER;
        response.headers_mut().insert(LOCATION, HeaderValue::from_static("/"));
        response.headers_mut().insert(SET_COOKIE, cookie);
        *response.body_mut() = Bytes::new().into();
        response
    }

    async fn change(&self, change: Change, body: Incoming) -> Answer {
        let body = match timeout(BODY, Limited::new(body, MOST_BODY).collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(_)) => {
                return said(StatusCode::PAYLOAD_TOO_LARGE, "what was sent is too long, or broke off");
            }
            Err(_) => return said(StatusCode::REQUEST_TIMEOUT, "what was sent did not come in time"),
        };
        let (status, text) = match self.live.change(change, &body).await {
            Ok(told) => (StatusCode::OK, told),
            Err(refusal) => (StatusCode::CONFLICT, refusal),
        };
        said(status, &self.live.toolsets.places().redactor.redact(&text))
    }
}

/// Says in a sentence what became of a request.
fn said(status: StatusCode, text: &str) -> Answer {
    json(status, &json!({ "said": text }))
}
