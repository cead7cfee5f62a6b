use super::answer::{Fallible, broken, challenge, failure, is_of_type, refused, sent, shown, status_text};
use super::carry::{Asked, carry};
use super::events::{Event, EventReader};
use crate::client::auth::{Authorizer, Challenge};
use crate::client::link::{Ending, TopLevel};
use crate::client::rmcp_session::Posts;
use crate::client::rmcp_session::flights::number;
use crate::client::rmcp_session::local_fault::{self, SendFault};
use crate::client::rmcp_session::message;
use crate::client::session::{Counterpart, Farewell, Fault, News};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use haft_http::{Body, Exchange, HttpClient};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// How often a request is tried again because a server wants to know who asks.
const MOST_CHALLENGES: u32 = 2;

/// How many events that cannot be read are told of.
const MOST_TOLD: u64 = 100;

/// Makes the requests of one connection: with what the person has configured, the token of a login, and bounds.
#[derive(Clone)]
pub(super) struct Client(Arc<Inner>);

/// Is what a connection has besides the way to make requests.
pub(super) struct Line {
    pub(super) ending: Arc<Ending>,
    pub(super) posts: Arc<Posts>,
    pub(super) counterpart: Arc<dyn Counterpart>,
}

struct Inner {
    http: HttpClient,
    /// What each request is given; secrets.
    headers: HeaderMap,
    authorizer: Option<Arc<dyn Authorizer>>,
    line: Line,
    most: usize,
    odd: AtomicU64,
    asked: Mutex<Asked>,
}

impl Client {
    pub(super) fn new(
        http: HttpClient,
        headers: HeaderMap,
        authorizer: Option<Arc<dyn Authorizer>>,
        line: Line,
        most: usize,
    ) -> Self {
        Self(Arc::new(Inner {
            http,
            headers,
            authorizer,
            line,
            most,
            odd: AtomicU64::new(0),
            asked: Mutex::default(),
        }))
    }

    async fn post(
        &self,
        url: &str,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Fallible<StreamableHttpPostResponse> {
        let mut body = Vec::new();
        message::encode(&message, &mut body)
            .map_err(|error| broken(format!("the request cannot be written: {error}")))?;
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request),
            _ => None,
        };
        let id = request.and_then(|request| number(&request.id));
        if let Some(request) = request {
            self.0.asked().ask(&request.id, &request.request);
        }
        // Whatever the server says, it has said it when this is done.
        let _post = match &session {
            Some(_) => Some(self.0.line.posts.begin(id).ok_or_else(forgotten)?),
            None => None,
        };
        let has_session = session.is_some();
        let mut headers = self.0.headers_with(headers, session.as_deref())?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let answer = self.0.ask(Method::POST, url, &headers, body.into()).await?;

        let status = answer.status();
        if status == StatusCode::NOT_FOUND && has_session {
            self.0.line.posts.forgotten(id);
            self.0.line.ending.finish(farewell());
            return Err(forgotten());
        }
        if !status.is_success() {
            let text = failure(answer).await;
            let is_discover =
                request.is_some_and(|request| matches!(request.request, ClientRequest::DiscoverRequest(_)));
            return match request {
                Some(request) => refused(status, &text, &request.id, is_discover),
                None => Err(broken(status_text(status, &text))),
            };
        }
        let Some(request) = request else { return Ok(StreamableHttpPostResponse::Accepted) };
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let session = answer.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if is_of_type(&answer, EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(self.events(answer.into_body()), session));
        }
        if !is_of_type(&answer, JSON) {
            return Err(broken("the server's answer is neither JSON nor a stream of events".to_owned()));
        }
        let body = self.0.whole(answer.into_body()).await?;
        let message = message::decode(&body).unwrap_or_else(|error| {
            local_fault::broken(request.id.clone(), format!("the server's answer cannot be read: {error}"))
        });
        Ok(StreamableHttpPostResponse::Json(self.0.carried(message), session))
    }

    /// Reads events as they come; what each says is put into the shape in which the library passes it on.
    fn events(&self, body: Body) -> BoxStream<'static, Result<Sse, SseError>> {
        let reading = Reading {
            body: Some(body),
            left: Bytes::new(),
            reader: EventReader::new(self.0.most),
            inner: self.0.clone(),
        };
        stream::unfold(reading, |mut reading| async move {
            let event = reading.next().await?;
            Some((event, reading))
        })
        .boxed()
    }
}

struct Reading {
    body: Option<Body>,
    left: Bytes,
    reader: EventReader,
    inner: Arc<Inner>,
}

impl Reading {
    async fn next(&mut self) -> Option<Result<Sse, SseError>> {
        loop {
            let (event, rest) = self.reader.read(&self.left);
            self.left = self.left.slice_ref(rest);
            if let Some(event) = event {
                return Some(Ok(self.inner.shaped(event)));
            }
            match self.body.as_mut()?.next().await {
                Ok(Some(piece)) => self.left = piece,
                Ok(None) => self.body = None,
                Err(error) => {
                    self.body = None;
                    return Some(Err(SseError::Body(Box::new(error))));
                }
            }
        }
    }
}

impl Inner {
    /// Puts together what a request is given; what the protocol says stands over what is configured.
    fn headers_with(
        &self,
        more: HashMap<HeaderName, HeaderValue>,
        session: Option<&str>,
    ) -> Fallible<HeaderMap> {
        let mut headers = self.headers.clone();
        for (name, value) in more {
            headers.insert(name, value);
        }
        if let Some(session) = session {
            let session = HeaderValue::from_str(session);
            headers.insert(
                SESSION,
                session.map_err(|_| broken("the server's session id is not a header".to_owned()))?,
            );
        }
        Ok(headers)
    }

    /// Asks, and asks again where a login or a new token helps.
    async fn ask(
        &self,
        method: Method,
        url: &str,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Fallible<Response<Body>> {
        let mut challenges = 0;
        loop {
            let mut request = http::Request::new(body.clone());
            *request.method_mut() = method.clone();
            *request.uri_mut() =
                url.parse().map_err(|_| broken("the server's URL cannot be asked".to_owned()))?;
            *request.headers_mut() = headers.clone();
            let token = match &self.authorizer {
                Some(authorizer) => authorizer.token().await.map_err(sent)?,
                None => None,
            };
            if let Some(token) = &token {
                request.headers_mut().insert(AUTHORIZATION, token.header());
            }
            // How long an answer may take is known where it is waited for, and so is how long a stream may be.
            let exchange = Exchange::default().patient().endless();
            let answer = self
                .http
                .send(request, exchange)
                .await
                .map_err(|error| broken(haft_core::with_causes(&error)))?;
            let Some(header) = challenge(&answer) else { return Ok(answer) };
            let Some(authorizer) = &self.authorizer else {
                return Err(sent(Fault::Unauthorized { url: None }));
            };
            if challenges == MOST_CHALLENGES {
                return Err(sent(Fault::Unauthorized { url: None }));
            }
            challenges += 1;
            let challenge = Challenge { status: answer.status().as_u16(), header, tried: token.as_ref() };
            authorizer.challenged(challenge).await.map_err(sent)?;
        }
    }

    /// Reads the whole of an answer, as far as it is taken.
    async fn whole(&self, body: Body) -> Fallible<Bytes> {
        let most = u64::try_from(self.most).unwrap_or(u64::MAX);
        let bytes = body.length().filter(|length| *length > most).unwrap_or(most.saturating_add(1));
        let whole = async { body.most_bytes(most)?.bytes().await };
        whole.await.map_err(|error| match error {
            haft_http::Error::TooLarge { .. } => sent(Fault::Oversize { bytes, most: self.most }),
            other => broken(haft_core::with_causes(&other)),
        })
    }

    fn carried(&self, message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
        let answers = self.asked().answered(&message);
        carry(message, answers)
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an event into its shape; one that says nothing still has its id.
    fn shaped(&self, event: Event) -> Sse {
        let (mut sse, message) = match event {
            Event::Whole(mut sse) => {
                let is_message = matches!(sse.event.as_deref(), None | Some("" | "message"));
                let data = sse.data.take().filter(|data| is_message && !data.trim().is_empty());
                let message = data.and_then(|data| self.decoded(&data));
                (sse, message)
            }
            Event::Oversize { sse, answers, bytes } => {
                let id = answers.and_then(message::request_id);
                if id.is_none() {
                    self.tell(|| format!("a message of {bytes} bytes, which was not kept"));
                }
                (sse, id.map(|id| local_fault::oversize(id, bytes, self.most)))
            }
        };
        // What was read as JSON can be written as such.
        sse.data = message.and_then(|message| serde_json::to_string(&self.carried(message)).ok());
        sse
    }

    fn decoded(&self, data: &str) -> Option<ServerJsonRpcMessage> {
        let error = match message::decode(data.as_bytes()) {
            Ok(message) => return Some(message),
            Err(error) => error,
        };
        let mut top_level = TopLevel::default();
        top_level.pass(data.as_bytes());
        let id = top_level.answered().and_then(message::request_id);
        if id.is_none() {
            self.tell(|| format!("an event that is not a message ({error}): {}", shown(data)));
        }
        id.map(|id| local_fault::broken(id, format!("the server's answer cannot be read: {error}")))
    }

    fn tell(&self, text: impl FnOnce() -> String) {
        if self.odd.fetch_add(1, Ordering::Relaxed) < MOST_TOLD {
            self.line.counterpart.hear(News::Odd(text()));
        }
    }
}

/// How a session ends that the server does not know any more.
fn farewell() -> Farewell {
    Farewell { how: "it does not know the session any more".to_owned(), ..Farewell::default() }
}

fn forgotten() -> StreamableHttpError<SendFault> {
    sent(Fault::Untaken(farewell()))
}

impl StreamableHttpClient for Client {
    type Error = SendFault;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Fallible<StreamableHttpPostResponse> {
        self.post(&uri, message, session_id, custom_headers).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        _max_sse_event_size: usize,
    ) -> Fallible<StreamableHttpPostResponse> {
        self.post(&uri, message, session_id, custom_headers).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Fallible<()> {
        if self.0.line.posts.is_forgotten() {
            return Ok(());
        }
        let headers = self.0.headers_with(custom_headers, Some(&session_id))?;
        // Whether the server keeps a session that nobody uses any more is its own affair.
        self.0.ask(Method::DELETE, &uri, &headers, Bytes::new()).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Fallible<BoxStream<'static, Result<Sse, SseError>>> {
        let mut headers = self.0.headers_with(custom_headers, session_id.as_deref())?;
        headers.insert(ACCEPT, HeaderValue::from_static(EVENTS));
        if let Some(id) = last_event_id {
            let id = HeaderValue::from_bytes(id.as_bytes());
            headers.insert(LAST_EVENT, id.map_err(|_| broken("an event's id is not a header".to_owned()))?);
        }
        let answer = self.0.ask(Method::GET, &uri, &headers, Bytes::new()).await?;
        match answer.status() {
            status if status.is_success() && is_of_type(&answer, EVENTS) => {
                Ok(self.events(answer.into_body()))
            }
            status if status.is_server_error() => Err(broken(status_text(status, ""))),
            // Trying again does not help. Many services that have no such stream do not know the method at all, so that this
            // says nothing about the session.
            _ => Err(StreamableHttpError::ServerDoesNotSupportSse),
        }
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        _max_sse_event_size: usize,
    ) -> Fallible<BoxStream<'static, Result<Sse, SseError>>> {
        self.get_stream(uri, session_id, last_event_id, auth_header, custom_headers).await
    }
}
