use super::handler::Handler;
use super::serving::{Serving, Whose};
use super::sessions::{SENDER, Sessions};
use super::written_page::WrittenPage;
use crate::server::caller::{Caller, Principal};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use rmcp::model::Extensions;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio_util::sync::CancellationToken;
use tower_service::Service;

/// Is what an answer is made of.
pub(crate) type HttpBody = BoxBody<Bytes, Infallible>;

/// Answers requests whose sender is known: each carries its [`Principal`] as an extension.
#[derive(Clone)]
pub(crate) struct HttpService {
    serving: Arc<Serving>,
    inner: StreamableHttpService<Handler, Sessions>,
    sessions: Arc<Sessions>,
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
        .with_cancellation_token(over);
    let made_of = serving.clone();
    let make = move || Ok(Handler::new(made_of.clone(), Whose::OfRequest(sender)));
    let inner = StreamableHttpService::new(make, sessions.clone(), config);
    HttpService { serving: serving.clone(), inner, sessions }
}

impl HttpService {
    /// Does what has to be done beside the requests, for as long as it is awaited.
    pub(crate) async fn keep(&self) {
        tokio::join!(self.sessions.sweep(), self.serving.tell_of_changes());
    }

    /// Ends the streams on which clients only listen.
    pub(crate) fn let_listeners_go(&self) {
        self.sessions.let_listeners_go();
    }

    /// Looks at the tools of whoever calls one that nobody has seen, so that the headers of the call can be checked.
    async fn look(&self, principal: &Principal, tool: Option<&str>) {
        let shared = &self.serving.shared;
        let Some(tool) = tool else { return };
        if shared.shelf.with(tool).is_some() {
            return;
        }
        if let Ok(bench) = shared.toolbox.bench(&Caller::new(principal.clone()), None).await {
            shared.shelf.of(&bench);
        }
    }
}

impl<B> Service<Request<B>> for HttpService
where
    B: Body + Send + 'static,
    B::Error: Display,
    B::Data: Send + 'static,
{
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _task: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let mut service = self.clone();
        Box::pin(async move {
            let sender = request.extensions().get::<Principal>().cloned();
            let Some(sender) = sender else { return service.inner.call(request).await };
            let tool = request.headers().get("mcp-name").and_then(|name| name.to_str().ok());
            let method = request.headers().get("mcp-method").map(HeaderValue::as_bytes);
            let (is_call, is_list) = (method == Some(b"tools/call"), method == Some(b"tools/list"));
            service.look(&sender, tool.filter(|_| is_call)).await;
            // What is answered in a session goes other ways.
            if !is_list || request.headers().contains_key("mcp-session-id") {
                return SENDER.scope(sender, service.inner.call(request)).await;
            }
            let page = WrittenPage::default();
            request.extensions_mut().insert(page.clone());
            let response = SENDER.scope(sender, service.inner.call(request)).await?;
            Ok(if page.is_taken() { with_page(response, &page).await } else { response })
        })
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
