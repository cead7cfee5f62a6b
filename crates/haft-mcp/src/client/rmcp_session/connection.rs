use super::desk::Desk;
use super::flights::{Flights, Watched, number};
use super::opening::{Opening, Refusal, hello};
use super::tap::Tap;
use super::{Posts, listening, local_fault, message};
use crate::client::link::Ending;
use crate::client::session::{
    Counterpart, DialError, Farewell, Fault, News, Request, ServerInfo, Session, Watch,
};
use crate::{Era, LogLevel};
use async_trait::async_trait;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, CustomRequest, ServerCapabilities, ServerPeerInfo, ServerResult,
    SubscriptionsListenRequest, SubscriptionsListenRequestParams,
};
use rmcp::service::{
    Peer, PeerRequestOptions, RequestHandle, RunningService, ServiceError, serve_directly_with_ct,
};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// What a server is told when nobody waits for an answer any more.
const ABANDONED: &str = "nobody waits for it any more";

/// Opens a connection over a transport, whichever that is.
///
/// `ending` is where the transport says how it ended, before its `receive` gives nothing more, and `posts` where it says
/// what it sends, if it can tell what was not taken.
///
/// # Cancel safety
///
/// Dropping the future drops the transport.
pub(crate) async fn open<T>(
    transport: T,
    ending: Arc<Ending>,
    posts: Arc<Posts>,
    opening: &Opening,
    counterpart: Arc<dyn Counterpart>,
) -> Result<Arc<Connection>, DialError>
where
    T: Transport<RoleClient> + 'static,
{
    let flights = Arc::<Flights>::default();
    let hello = hello(counterpart.as_ref());
    let mut tap = Tap::new(transport, flights.clone(), ending.clone(), counterpart.clone());
    let opened = match timeout(opening.limits.start_timeout, opening.run(&mut tap, &hello)).await {
        Ok(Ok(opened)) => opened,
        failed => {
            ending.make_haste();
            // It is gone either way, and the reason is known.
            let _ = tap.close().await;
            let farewell = ending.farewell().cloned();
            return Err(match failed {
                Ok(Err(Refusal::Fault(fault))) => DialError::Refused(fault),
                Ok(Err(Refusal::Ended)) => DialError::Ended(farewell.unwrap_or_default()),
                _ => DialError::Silent { seconds: opening.limits.start_timeout.as_secs(), farewell },
            });
        }
    };
    tap.opened();

    let peer_info = ServerPeerInfo::new(opened.revision, ServerCapabilities::default());
    let desk = Desk::new(hello, flights.clone(), ending.clone(), counterpart.clone());
    let running = serve_directly_with_ct(desk, tap, Some(peer_info), CancellationToken::new());
    let peer = running.peer().clone();
    let errands = Errands::here();
    let log_level = opening.log_level.filter(|_| opened.server.capabilities.get("logging").is_some());
    if opened.server.era == Era::Legacy
        && let Some(level) = log_level
    {
        // It is sent before anything else, and nothing waits for its answer.
        let request = CustomRequest::new("logging/setLevel", Some(json!({ "level": level.as_str() })));
        let request = ClientRequest::CustomRequest(request);
        let sent = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        if let Ok(handle) = sent {
            let counterpart = counterpart.clone();
            errands.run(async move {
                if let Ok(Err(ServiceError::McpError(error))) = handle.rx.await {
                    let text = format!("it refuses to log from the level `{level}` on: {}", error.message);
                    counterpart.hear(News::Odd(text));
                }
            });
        }
    }
    if opened.server.era == Era::Modern
        && let Some(filter) = listening::filter(&opened.server)
    {
        errands.run(listening::listen(peer.clone(), filter, ending.clone(), counterpart));
    }
    Ok(Arc::new(Connection {
        asks_for_log: log_level.filter(|_| opened.server.era == Era::Modern),
        server: opened.server,
        peer,
        ending,
        posts,
        errands,
        #[cfg(test)]
        flights,
        running: Mutex::new(Some(running)),
    }))
}

/// Is one connection, open.
pub(crate) struct Connection {
    server: ServerInfo,
    /// The level that every request says.
    asks_for_log: Option<LogLevel>,
    peer: Peer<RoleClient>,
    ending: Arc<Ending>,
    posts: Arc<Posts>,
    errands: Errands,
    #[cfg(test)]
    pub(super) flights: Arc<Flights>,
    /// Dropped, it closes the connection.
    running: Mutex<Option<RunningService<RoleClient, Desk>>>,
}

impl Connection {
    fn over(&self) -> Fault {
        Fault::Ended(self.farewell().unwrap_or_default())
    }

    fn untaken(&self) -> Fault {
        Fault::Untaken(self.farewell().unwrap_or_default())
    }

    /// Waits until nothing is answered any more.
    async fn silent(&self) {
        self.ending.over().cancelled().await;
        self.posts.settled().await;
    }

    /// What an answer says; `None` if there is none, because the connection ended.
    fn read(answer: Result<ServerResult, ServiceError>) -> Option<Result<Value, Fault>> {
        match answer {
            Ok(result) => {
                Some(message::result_value(result).map_err(|error| Fault::Broken(error.to_string())))
            }
            Err(error) => local_fault::of_service(error).map(Err),
        }
    }
}

#[async_trait]
impl Session for Connection {
    fn server(&self) -> &ServerInfo {
        &self.server
    }

    async fn request(&self, request: Request, watch: Option<Arc<dyn Watch>>) -> Result<Value, Fault> {
        let Request { method, mut params } = request;
        if let Some(level) = self.asks_for_log {
            say_level(&mut params, level);
        }
        let request = made(method, params, watch);
        let over = self.ending.over();
        let sent = tokio::select! {
            biased;
            () = over.cancelled() => return Err(self.untaken()),
            sent = self.peer.send_request_with_option(request, PeerRequestOptions::no_options()) => sent,
        };
        let Ok(handle) = sent else {
            over.cancelled().await;
            return Err(self.untaken());
        };
        let id = number(&handle.id);
        let mut pending = Pending { handle: Some(handle), errands: &self.errands };
        let answer = tokio::select! {
            biased;
            answer = pending.answer() => answer,
            () = self.silent() => None,
        };
        // Answered or over: there is nothing to cancel.
        pending.handle = None;
        if let Some(read) = answer.and_then(Self::read) {
            return read;
        }
        over.cancelled().await;
        Err(if id.is_some_and(|id| self.posts.was_untaken(id)) { self.untaken() } else { self.over() })
    }

    fn ended(&self) -> &CancellationToken {
        self.ending.over()
    }

    fn farewell(&self) -> Option<Farewell> {
        self.ending.farewell().cloned()
    }

    async fn close(&self) {
        if self.ending.over().is_cancelled() {
            self.posts.settled().await;
        }
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(running) = running {
            // If its task has failed, it has dropped all it had.
            let _ = running.cancel().await;
        }
        self.ending.over().cancelled().await;
    }
}

/// Makes a request as the library sends it: one of its own only where it has to know what it is.
fn made(method: &str, params: Value, watch: Option<Arc<dyn Watch>>) -> ClientRequest {
    if method == "subscriptions/listen"
        && let Ok(params) = serde_json::from_value::<SubscriptionsListenRequestParams>(params.clone())
    {
        // A server ends it by cancelling it, which otherwise only who asks can.
        let mut listen = SubscriptionsListenRequest::new(params);
        if let Some(watch) = watch {
            listen.extensions.insert(Watched(watch));
        }
        return ClientRequest::SubscriptionsListenRequest(listen);
    }
    let mut custom = CustomRequest::new(method, Some(params));
    if let Some(watch) = watch {
        custom.extensions.insert(Watched(watch));
    }
    ClientRequest::CustomRequest(custom)
}

/// Says with a request which messages of the server's log are wanted while it works on it.
fn say_level(params: &mut Value, level: LogLevel) {
    const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    let Value::Object(params) = params else { return };
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    if let Value::Object(meta) = meta {
        meta.insert(LOG_LEVEL.to_owned(), level.as_str().into());
    }
}

/// Is a request that waits for its answer; dropped before, it is cancelled.
struct Pending<'a> {
    handle: Option<RequestHandle<RoleClient>>,
    errands: &'a Errands,
}

impl Pending<'_> {
    /// Waits for the answer; `None` if there will be none.
    async fn answer(&mut self) -> Option<Result<ServerResult, ServiceError>> {
        (&mut self.handle.as_mut()?.rx).await.ok()
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            self.errands.run(async {
                // It fails only where the connection has ended, and the request with it.
                let _ = handle.cancel(Some(ABANDONED.to_owned())).await;
            });
        }
    }
}

/// Holds the tasks of a connection, which end with it.
struct Errands {
    tasks: Mutex<JoinSet<()>>,
    runtime: Handle,
}

impl Errands {
    fn here() -> Self {
        Self { tasks: Mutex::default(), runtime: Handle::current() }
    }

    fn run(&self, errand: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn_on(errand, &self.runtime);
    }
}
