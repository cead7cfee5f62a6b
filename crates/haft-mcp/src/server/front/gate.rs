use super::access_log::AccessLog;
use super::body;
use super::challenge::Challenge;
use super::config::{HttpConfig, HttpLimits};
use super::doors::{Doors, Origin, Shut};
use super::envelope::Envelope;
use super::owners::{Owners, SessionKey};
use super::passage::Passage;
use super::rates::{Place, Rates};
use super::reply::{Notice, Reply};
use crate::server::authenticator::Authenticator;
use crate::server::caller::Principal;
use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, AUTHORIZATION, CONTENT_LENGTH,
    CONTENT_TYPE, COOKIE, HOST, HeaderValue, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode, request};
use http_body::Body;
use hyper::body::Incoming;
use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower_service::Service;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The first version without sessions.
const SESSIONLESS: &str = "2026-07-28";
/// The headers that say one thing, of which two would say two.
const SINGLE: [HeaderName; 7] = [HOST, ORIGIN, AUTHORIZATION, CONTENT_TYPE, CONTENT_LENGTH, SESSION, VERSION];

/// Lets requests through to the protocol, or answers them itself.
pub(super) struct Gate {
    doors: Doors,
    authenticator: Option<Arc<dyn Authenticator>>,
    challenge: Challenge,
    rates: Arc<Rates>,
    served: Arc<Semaphore>,
    owners: Owners,
    limits: HttpLimits,
    log: Option<Arc<dyn AccessLog>>,
}

/// Is the gate for the requests of one connection.
pub(super) struct Connection<S> {
    pub(super) gate: Arc<Gate>,
    pub(super) inner: S,
    pub(super) peer: SocketAddr,
}

/// Is a service of the protocol, which takes requests that are read already.
pub(crate) trait Inner:
    Service<Request<Bytes>, Response = Response<Self::Body>, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static;
}

impl<S, B> Inner for S
where
    S: Service<Request<Bytes>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    type Body = B;
}

/// Says what a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    Protocol,
    Health,
    Metadata,
    Nothing,
}

impl Gate {
    pub(super) fn new(address: SocketAddr, config: HttpConfig) -> Self {
        let HttpConfig { hosts, origins, authenticator, limits, rates, log, .. } = config;
        Self {
            doors: Doors::new(address, hosts, origins),
            challenge: Challenge::new(authenticator.as_deref().and_then(Authenticator::metadata)),
            authenticator,
            rates: Arc::new(Rates::new(limits.rate, rates)),
            served: Arc::new(Semaphore::new(limits.at_once.min(Semaphore::MAX_PERMITS))),
            owners: Owners::default(),
            limits,
            log,
        }
    }

    async fn answer<S: Inner>(
        &self,
        inner: S,
        peer: SocketAddr,
        request: Request<Incoming>,
    ) -> Response<Reply<S::Body>> {
        let (head, body) = request.into_parts();
        let mut passage = Passage::begin(self.log.as_ref(), peer, &head.method);
        let origin = self.come_in(&head);
        let page = match origin {
            Ok(Origin::Named) => head.headers.get(ORIGIN).cloned(),
            _ => None,
        };
        let answered = match origin {
            Ok(origin) => self.go_through(inner, head, body, origin, &mut passage).await,
            Err(notice) => Err(notice),
        };
        let mut response = answered.unwrap_or_else(|notice| {
            if let Some(reason) = &notice.reason {
                passage.refused(reason);
            }
            notice.into_response()
        });
        if let Some(page) = page {
            tell_page(response.headers_mut(), page);
        }
        passage.answered(response.status());
        response.map(|reply| reply.over(passage))
    }

    /// Looks at what is asked for, and from where.
    fn come_in(&self, head: &request::Parts) -> Result<Origin, Notice> {
        if SINGLE.iter().any(|name| head.headers.get_all(name).iter().nth(1).is_some()) {
            return Err(Notice::refusal(
                StatusCode::BAD_REQUEST,
                "a header stands twice that may stand once",
            ));
        }
        let is_open = Route::of(head.uri.path()) == Route::Health;
        self.doors.pass(&head.uri, &head.headers, is_open).map_err(|shut| {
            Notice::refusal(
                StatusCode::FORBIDDEN,
                match shut {
                    Shut::Host => "the host that the request is for is not served here",
                    Shut::Origin => "pages of this origin may not ask here",
                },
            )
        })
    }

    async fn go_through<S: Inner>(
        &self,
        inner: S,
        mut head: request::Parts,
        body: Incoming,
        origin: Origin,
        passage: &mut Passage,
    ) -> Result<Response<Reply<S::Body>>, Notice> {
        let route = Route::of(head.uri.path());
        if let Some(notice) = self.own(route, &head, origin) {
            return Err(notice);
        }
        let principal = self.know(&head.headers).await?;
        passage.is_of(&principal);
        self.place(&principal, passage)?;
        let body = match head.method {
            Method::POST => body::read(body, self.limits.body_bytes, self.limits.body_timeout).await?,
            _ => Bytes::new(),
        };
        if head.method == Method::POST {
            let envelope = Envelope::read(&body).map_err(|fault| Notice::fault(fault.code, fault.message))?;
            passage.is_about(&envelope);
            if envelope.is_listening() {
                passage.listens();
            }
        } else if head.method == Method::GET {
            passage.listens();
        }
        let session = self.session(&mut head.headers, &principal, passage)?;
        let is_end = head.method == Method::DELETE;
        strip(&mut head.headers);
        head.extensions.insert(principal.clone());
        let mut response = call(inner, Request::from_parts(head, body)).await;
        // The session is gone, and some clients take "accepted" for a failure.
        if is_end && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::OK;
        }
        if let Some(session) = response.headers().get(SESSION) {
            self.owners.remember(SessionKey::of(session.as_bytes()), &principal);
        }
        if let (Some(session), true, true) = (session, is_end, response.status().is_success()) {
            self.owners.forget(session);
        }
        Ok(response.map(Reply::inner))
    }

    /// Answers what is no affair of the protocol.
    fn own(&self, route: Route, head: &request::Parts, origin: Origin) -> Option<Notice> {
        let is_read = matches!(head.method, Method::GET | Method::HEAD);
        match route {
            Route::Nothing => {
                Some(Notice::refusal(StatusCode::NOT_FOUND, "there is nothing here; ask `/mcp`"))
            }
            Route::Health if is_read => Some(Notice::json(Bytes::from_static(b"{\"status\":\"ok\"}"))),
            Route::Metadata if is_read => Some(match self.challenge.document() {
                Some(document) => Notice::json(document),
                None => Notice::refusal(StatusCode::NOT_FOUND, "no authorization server is named here"),
            }),
            Route::Health | Route::Metadata => Some(not_allowed("GET, HEAD")),
            Route::Protocol if head.method == Method::OPTIONS && origin == Origin::Named => Some(preflight()),
            Route::Protocol if matches!(head.method, Method::POST | Method::GET | Method::DELETE) => None,
            Route::Protocol => Some(not_allowed("POST, GET, DELETE")),
        }
    }

    /// Finds out who asks.
    async fn know(&self, headers: &HeaderMap) -> Result<Principal, Notice> {
        let Some(authenticator) = &self.authenticator else { return Ok(Principal::anyone()) };
        let bearer = bearer(headers);
        authenticator.check(bearer).await.map_err(|denied| self.challenge.answer(denied, bearer.is_some()))
    }

    /// Takes a place among what is served.
    fn place(&self, principal: &Principal, passage: &mut Passage) -> Result<(), Notice> {
        let place: Place = self.rates.take(principal).map_err(|wait| {
            Notice::refusal(StatusCode::TOO_MANY_REQUESTS, "you ask too often; wait, then ask again")
                .after(wait)
        })?;
        let permit: OwnedSemaphorePermit = Arc::clone(&self.served).try_acquire_owned().map_err(|_| {
            Notice::refusal(StatusCode::SERVICE_UNAVAILABLE, "too much is being served; ask again")
                .after(Duration::from_secs(1))
        })?;
        passage.hold(permit, place);
        Ok(())
    }

    /// Checks that the session is of whoever names it; takes it away where there are none.
    fn session(
        &self,
        headers: &mut HeaderMap,
        principal: &Principal,
        passage: &mut Passage,
    ) -> Result<Option<SessionKey>, Notice> {
        let Some(named) = headers.get(SESSION) else { return Ok(None) };
        let session = SessionKey::of(named.as_bytes());
        passage.is_in(session);
        if self.owners.is_of(session, principal) {
            return Ok(Some(session));
        }
        if headers.get(VERSION).is_some_and(|version| is_sessionless(version.as_bytes())) {
            headers.remove(SESSION);
            return Ok(None);
        }
        Err(Notice::refusal(StatusCode::NOT_FOUND, "there is no such session; begin a new one"))
    }
}

impl<S: Inner> hyper::service::Service<Request<Incoming>> for Connection<S> {
    type Response = Response<Reply<S::Body>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let (gate, inner, peer) = (Arc::clone(&self.gate), self.inner.clone(), self.peer);
        Box::pin(async move { Ok(gate.answer(inner, peer, request).await) })
    }
}

impl Route {
    fn of(path: &str) -> Self {
        match path {
            "/mcp" | "/mcp/" => Self::Protocol,
            "/health" => Self::Health,
            // What follows is the path of the resource, which may be another before a proxy (RFC 9728, section 3.1).
            _ if path
                .strip_prefix("/.well-known/oauth-protected-resource")
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) =>
            {
                Self::Metadata
            }
            _ => Self::Nothing,
        }
    }
}

async fn call<S: Inner>(mut inner: S, request: Request<Bytes>) -> Response<S::Body> {
    let Ok(()) = std::future::poll_fn(|cx| inner.poll_ready(cx)).await;
    let Ok(response) = inner.call(request).await;
    response
}

/// Reads `Authorization: Bearer TOKEN` (RFC 6750, section 2.1); whatever else stands there is no token.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim_matches(' ');
    let is_token = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
    };
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && token.bytes().all(is_token))
        .then_some(token)
}

/// Takes away what authenticated the request, and what is the affair of proxies.
fn strip(headers: &mut HeaderMap) {
    let secret: Vec<HeaderName> = headers
        .keys()
        .filter(|name| **name == AUTHORIZATION || **name == COOKIE || name.as_str().starts_with("proxy-"))
        .cloned()
        .collect();
    for name in secret {
        headers.remove(name);
    }
}

/// Tells whether a version, which is a date, is one without sessions.
fn is_sessionless(version: &[u8]) -> bool {
    version.len() == SESSIONLESS.len()
        && version.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-')
        && version >= SESSIONLESS.as_bytes()
}

fn not_allowed(methods: &'static str) -> Notice {
    Notice::refusal(StatusCode::METHOD_NOT_ALLOWED, "this method is not served here")
        .header(ALLOW, HeaderValue::from_static(methods))
}

/// Answers a browser that asks what a page of a named origin may send.
fn preflight() -> Notice {
    Notice::empty(StatusCode::NO_CONTENT)
        .header(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, DELETE"))
        .header(
            ACCESS_CONTROL_ALLOW_HEADERS,
            HeaderValue::from_static(
                "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, \
                 mcp-session-id",
            ),
        )
        .header(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"))
}

/// Tells the browser that a page of this origin may read the answer.
fn tell_page(headers: &mut HeaderMap, page: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, page);
    headers.append(VARY, HeaderValue::from_static("origin"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("mcp-session-id, mcp-protocol-version, retry-after, www-authenticate"),
    );
}
