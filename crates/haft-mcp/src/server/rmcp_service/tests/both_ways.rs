//! One server that is asked the same both ways: with and without the direct way.

use super::super::direct::DirectCall;
use super::super::http_service::{HttpService, http_service};
use super::super::serving::Serving;
use super::stage::{Host, meta};
use crate::server::caller::Principal;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

/// The same server, with and without the direct way.
pub(super) struct Stage {
    pub(super) host: Host,
    pub(super) serving: Arc<Serving>,
    pub(super) direct: HttpService,
    pub(super) library: HttpService,
}

/// A request, as it can be sent several times.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) who: &'static str,
    pub(super) method: Method,
    pub(super) headers: Vec<(String, Vec<u8>)>,
    pub(super) body: String,
}

#[derive(Debug, PartialEq)]
pub(super) struct Told {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
}

impl Stage {
    /// Serves some tools, which somebody has seen.
    pub(super) async fn new() -> Self {
        let host = Host::new();
        for tool in ["headed", "need"] {
            host.add(tool);
        }
        let serving = Serving::new(host.server().shared, CancellationToken::new());
        let direct = http_service(&serving, CancellationToken::new());
        let library = direct.without_direct_calls();
        let stage = Self { host, serving, direct, library };
        stage.tell(&stage.library, &Sent::echo()).await;
        stage
    }

    pub(super) async fn tell(&self, service: &HttpService, sent: &Sent) -> Told {
        let asked = timeout(Duration::from_mins(1), service.clone().call(sent.request()));
        let (head, body) = asked.await.expect("it is answered soon").unwrap().into_parts();
        let body = timeout(Duration::from_mins(1), body.collect()).await.expect("it ends soon").unwrap();
        let text = String::from_utf8(body.to_bytes().to_vec()).unwrap();
        let headers = head.headers.iter();
        let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        let body = serde_json::from_str(&text).map_or(Value::String(text), |mut body: Value| {
            // What is made anew each time.
            for once in ["requestState", "taskId", "createdAt", "lastUpdatedAt"] {
                if let Some(made) = body["result"].get_mut(once) {
                    *made = "made".into();
                }
            }
            body
        });
        Told { status: head.status.as_u16(), headers: headers.collect(), body }
    }

    pub(super) fn is_direct(&self, sent: &Sent) -> bool {
        DirectCall::read(&self.serving, &sent.request()).is_some()
    }

    /// Sends the same both ways; tells of the answer when it is the same.
    pub(super) async fn both(&self, sent: &Sent) -> Told {
        let (direct, library) = (self.tell(&self.direct, sent).await, self.tell(&self.library, sent).await);
        assert_eq!(direct, library, "{sent:?}");
        direct
    }

    pub(super) async fn check(&self, is_direct: bool, status: u16, says: &str, sent: &Sent) {
        assert_eq!(self.is_direct(sent), is_direct, "{sent:?}");
        let told = self.both(sent).await;
        assert_eq!(told.status, status, "{sent:?}: {told:?}");
        assert!(told.body.to_string().contains(says), "{sent:?}: {told:?}");
    }
}

impl Sent {
    pub(super) fn call(params: Value, capabilities: Value) -> Self {
        let mut params = params;
        params["_meta"] = meta(capabilities);
        let header = |name: &str, value: &str| (name.to_owned(), value.as_bytes().to_vec());
        Self {
            who: "ada",
            method: Method::POST,
            headers: vec![
                header("host", "localhost"),
                header("accept", "application/json, text/event-stream"),
                header("content-type", "application/json"),
                header("mcp-protocol-version", "2026-07-28"),
                header("mcp-method", "tools/call"),
                header("mcp-name", params["name"].as_str().unwrap()),
            ],
            body: json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string(),
        }
    }

    pub(super) fn echo() -> Self {
        Self::call(json!({ "name": "echo", "arguments": { "text": "hello" } }), json!({}))
    }

    pub(super) fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    pub(super) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    pub(super) fn saying(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).with(name, value)
    }

    pub(super) fn by(mut self, who: &'static str) -> Self {
        self.who = who;
        self
    }

    /// Changes the text of the body.
    pub(super) fn body(mut self, from: &str, to: &str) -> Self {
        assert!(self.body.contains(from), "{}", self.body);
        self.body = self.body.replacen(from, to, 1);
        self
    }

    pub(super) fn request(&self) -> Request<Bytes> {
        let mut request = Request::new(Bytes::from(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = "/mcp".parse().unwrap();
        for (name, value) in &self.headers {
            let (name, value): (HeaderName, _) =
                (name.parse().unwrap(), HeaderValue::from_bytes(value).unwrap());
            request.headers_mut().append(name, value);
        }
        request.extensions_mut().insert(Principal::new(self.who));
        request
    }
}
