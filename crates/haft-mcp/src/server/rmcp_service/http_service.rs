use super::direct::{self, DirectCall};
use super::handler::Handler;
use super::serving::{Serving, Whose};
use super::sessions::{SENDER, Sessions};
use super::written_page::WrittenPage;
use crate::server::caller::{Caller, Principal};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use rmcp::model::Extensions;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio_util::sync::CancellationToken;
use tower_service::Service;

/// Is what an answer is made of.
pub(crate) type HttpBody = BoxBody<Bytes, Infallible>;

/// Answers requests whose sender is known: each carries its [`Principal`] as an extension.
#[derive(Clone)]
pub(crate) struct HttpService(Arc<Answering>);

struct Answering {
    serving: Arc<Serving>,
    inner: StreamableHttpService<Handler, Sessions>,
    sessions: Arc<Sessions>,
    over: CancellationToken,
    #[cfg(test)]
    answers_directly: bool,
}

/// Serves the protocol over HTTP; hosts, origins, sizes and senders are looked at by whoever calls it.
///
/// [`HttpService::keep`] has to be awaited beside it: it tells of changes and ends sessions whose time is over. `over` ends
/// all sessions.
pub(crate) fn http_service(serving: &Arc<Serving>, over: CancellationToken) -> HttpService {
    let sessions = Arc::<Sessions>::default();
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(usize::MAX)
        // A stream is begun only where something is told before the answer.
        .with_json_response(true)
        // Each event of a stream that can be resumed says so itself.
        .with_sse_retry(None)
        .with_cancellation_token(over.clone());
    let made_of = serving.clone();
    let make = move || Ok(Handler::new(made_of.clone(), Whose::OfRequest(sender)));
    let inner = StreamableHttpService::new(make, sessions.clone(), config);
    HttpService(Arc::new(Answering {
        serving: serving.clone(),
        inner,
        sessions,
        over,
        #[cfg(test)]
        answers_directly: true,
    }))
}

impl HttpService {
    /// Does what has to be done beside the requests, for as long as it is awaited.
    pub(crate) async fn keep(&self) {
        tokio::join!(self.0.sessions.sweep(), self.0.serving.tell_of_changes());
    }

    /// Ends the streams on which clients only listen.
    pub(crate) fn let_listeners_go(&self) {
        self.0.sessions.let_listeners_go();
    }

    /// Leaves all requests to the library.
    #[cfg(test)]
    pub(super) fn without_direct_calls(&self) -> Self {
        let Answering { serving, inner, sessions, over, .. } = &*self.0;
        Self(Arc::new(Answering {
            serving: serving.clone(),
            inner: inner.clone(),
            sessions: sessions.clone(),
            over: over.clone(),
            answers_directly: false,
        }))
    }
}

impl Answering {
    /// Looks at the tools of whoever calls one that nobody has seen, so that the headers of the call can be checked.
    async fn look(&self, principal: &Principal, tool: Option<&str>) {
        let shared = &self.serving.shared;
        let Some(tool) = tool else { return };
        if shared.shelf.with(tool).is_some() {
            return;
        }
        if let Ok(toolset) = shared.toolbox.toolset(&Caller::new(principal.clone()), None).await {
            shared.shelf.of(&toolset);
        }
    }
}

impl Answering {
    /// Reads a call that can be answered without the library.
    fn direct(&self, request: &Request<Bytes>) -> Option<DirectCall> {
        #[cfg(test)]
        if !self.answers_directly {
            return None;
        }
        DirectCall::read(&self.serving, request)
    }

    async fn answer(&self, request: Request<Bytes>) -> Response<HttpBody> {
        let sender = request.extensions().get::<Principal>().cloned();
        let Some(sender) = sender else { return Box::pin(self.inner.handle(request.map(Full::new))).await };
        let tool = request.headers().get("mcp-name").and_then(|name| name.to_str().ok());
        let method = request.headers().get("mcp-method").map(HeaderValue::as_bytes);
        let (is_call, is_list) = (method == Some(b"tools/call"), method == Some(b"tools/list"));
        self.look(&sender, tool.filter(|_| is_call)).await;
        if let Some(call) = self.direct(&request) {
            return tokio::select! {
                biased;
                answer = call.answered(self.serving.clone(), sender) => answer,
                () = self.over.cancelled() => direct::unanswered(),
            };
        }
        let mut request = request.map(Full::new);
        // What is answered in a session goes other ways.
        if !is_list || request.headers().contains_key("mcp-session-id") {
            return Box::pin(SENDER.scope(sender, self.inner.handle(request))).await;
        }
        let page = WrittenPage::default();
        request.extensions_mut().insert(page.clone());
        let response = Box::pin(SENDER.scope(sender, self.inner.handle(request))).await;
        if page.is_taken() { with_page(response, &page).await } else { response }
    }
}

impl Service<Request<Bytes>> for HttpService {
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _task: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let service = self.0.clone();
        Box::pin(async move { Ok(service.answer(request).await) })
    }
}

/// Puts a page into the answer that was made for it.
async fn with_page(response: Response<HttpBody>, page: &WrittenPage) -> Response<HttpBody> {
    let (mut head, body) = response.into_parts();
    let Ok(answer) = body.collect().await;
    let body = page.within(&answer.to_bytes()).unwrap_or_else(|| {
        tracing::error!("the answer to a request for tools has no list of them");
        head.status = StatusCode::INTERNAL_SERVER_ERROR;
        Bytes::new()
    });
    Response::from_parts(head, Full::new(body).boxed())
}

/// Finds the sender in what was found out of a request before.
fn sender(extensions: &Extensions) -> Option<Principal> {
    extensions.get::<http::request::Parts>()?.extensions.get::<Principal>().cloned()
}
