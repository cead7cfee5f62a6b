//! Resources that are watched at a server of the library's own, in the modern era.

use super::stage::SOON;
use crate::{McpEvent, McpEventKind, McpEvents, McpServers, ServerConfig, Transport};
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ErrorData, ServerCapabilities, ServerConfig as About,
    ServerNotification, SubscriptionFilter,
};
use rmcp::service::SubscriptionContext;
use rmcp::{ServerHandler, ServiceExt as _};
use std::net::Shutdown;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// What a server is told to do with those who listen.
#[derive(Debug, Clone)]
enum Order {
    Update(&'static str),
    /// It ends the subscription with its result.
    End,
    /// It cancels the subscription.
    Cancel,
}

/// Says what happens at the server.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Listening(Vec<String>),
    Over,
}

#[derive(Clone)]
struct Library {
    tells: bool,
    seen: mpsc::UnboundedSender<Seen>,
    orders: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<Order>>>,
}

impl ServerHandler for Library {
    fn get_info(&self) -> About {
        let capabilities = ServerCapabilities::builder().enable_resources();
        About::new(if self.tells {
            capabilities.enable_resources_subscribe().build()
        } else {
            capabilities.build()
        })
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let accepted = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let _ = self.seen.send(Seen::Listening(accepted));
        loop {
            let order = async { self.orders.lock().await.recv().await };
            tokio::select! {
                () = context.cancelled() => {
                    let _ = self.seen.send(Seen::Over);
                    return Ok(());
                }
                order = order => match order {
                    Some(Order::Update(uri)) => context.sink().notify_resource_updated(uri).await.unwrap(),
                    Some(Order::Cancel) => {
                        let id = context.sink().id().clone();
                        let cancelled = CancelledNotificationParam::new(Some(id), None);
                        let cancelled = CancelledNotification::new(cancelled);
                        let cancelled = ServerNotification::CancelledNotification(cancelled);
                        context.request_context().peer.send_notification(cancelled).await.unwrap();
                        // The library would answer a request that it has cancelled.
                        std::future::pending::<()>().await;
                    }
                    Some(Order::End) | None => return Ok(()),
                },
            }
        }
    }
}

/// Is a server, and the host that knows it as `s`.
struct Stage {
    servers: McpServers,
    events: McpEvents,
    orders: mpsc::UnboundedSender<Order>,
    seen: mpsc::UnboundedReceiver<Seen>,
    /// The connections that the server has, which are ended when they are aborted.
    connections: Arc<Mutex<JoinSet<()>>>,
    /// Their sockets, which stay open as long as they are here.
    sockets: Arc<Mutex<Vec<std::os::unix::net::UnixStream>>>,
    _listening: JoinSet<()>,
    _directory: TempDir,
}

impl Stage {
    fn new(tells: bool) -> Self {
        let directory = TempDir::new().unwrap();
        let socket = directory.path().join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        let (tell, seen) = mpsc::unbounded_channel();
        let (orders, told) = mpsc::unbounded_channel();
        let library = Library { tells, seen: tell, orders: Arc::new(tokio::sync::Mutex::new(told)) };
        let connections = Arc::<Mutex<JoinSet<()>>>::default();
        let mut listening = JoinSet::new();
        let sockets = Arc::<Mutex<Vec<_>>>::default();
        let (accepted, opened) = (connections.clone(), sockets.clone());
        listening.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let stream = stream.into_std().unwrap();
                opened.lock().unwrap().push(stream.try_clone().unwrap());
                let (stream, library) = (UnixStream::from_std(stream).unwrap(), library.clone());
                accepted.lock().unwrap().spawn(async move {
                    let _ = library.serve(stream).await.unwrap().waiting().await;
                });
            }
        });
        let builder = McpServers::builder();
        let events = builder.events();
        let config = ServerConfig::new("s".parse().unwrap(), Transport::Unix(socket));
        let servers = builder.server(config).build().unwrap();
        Self {
            servers,
            events,
            orders,
            seen,
            connections,
            sockets,
            _listening: listening,
            _directory: directory,
        }
    }

    async fn sees(&mut self, expected: Seen) {
        let seen = timeout(SOON, self.seen.recv()).await.expect("something happens in time");
        assert_eq!(seen, Some(expected));
    }

    async fn hears_of(&mut self, uri: &str) {
        let heard = timeout(SOON, self.events.next()).await.expect("something is told in time");
        let kind = McpEventKind::ResourceUpdated { uri: uri.to_owned() };
        assert_eq!(heard, Some(McpEvent { server: "s".parse().unwrap(), kind }));
    }

    fn order(&self, order: Order) {
        self.orders.send(order).unwrap();
    }
}

fn listening() -> Seen {
    Seen::Listening(vec!["file:///a".to_owned()])
}

#[tokio::test]
async fn a_resource_is_watched_until_its_watch_is_dropped() {
    let mut stage = Stage::new(true);
    let content = stage.servers.get("s").unwrap().content();
    let watch = content.watch_resource("file:///a").await.unwrap();
    stage.sees(listening()).await;
    for _ in 0..2 {
        stage.order(Order::Update("file:///a"));
        stage.hears_of("file:///a").await;
    }
    drop(watch);
    stage.sees(Seen::Over).await;
    let watch = content.watch_resource("file:///a").await.unwrap();
    stage.sees(listening()).await;
    content.unwatch_resource(watch).await.unwrap();
    stage.sees(Seen::Over).await;
}

#[tokio::test]
async fn a_resource_is_watched_on_when_the_server_has_ended_that() {
    let mut stage = Stage::new(true);
    let content = stage.servers.get("s").unwrap().content();
    let _watch = content.watch_resource("file:///a").await.unwrap();
    stage.sees(listening()).await;
    for order in [Some(Order::End), Some(Order::Cancel), None] {
        if let Some(order) = order {
            stage.order(order);
        } else {
            stage.sockets.lock().unwrap().clear();
            stage.connections.lock().unwrap().abort_all();
            stage.sees(Seen::Over).await;
        }
        stage.sees(listening()).await;
        // It may have changed meanwhile.
        stage.hears_of("file:///a").await;
    }
    stage.order(Order::Update("file:///a"));
    stage.hears_of("file:///a").await;
}

#[tokio::test]
async fn a_resource_is_watched_on_when_the_server_has_crashed() {
    let mut stage = Stage::new(true);
    let content = stage.servers.get("s").unwrap().content();
    let _watch = content.watch_resource("file:///a").await.unwrap();
    stage.sees(listening()).await;
    // Nothing is said of how it ends.
    let socket = stage.sockets.lock().unwrap().pop().unwrap();
    socket.shutdown(Shutdown::Both).unwrap();
    stage.sees(listening()).await;
    stage.hears_of("file:///a").await;
}

#[tokio::test]
async fn what_a_server_does_not_tell_of_cannot_be_watched() {
    let stage = Stage::new(false);
    let error = stage.servers.get("s").unwrap().content().watch_resource("file:///a").await.unwrap_err();
    let said = "the server gave no answer that can be used: it does not tell of changes of single resources";
    assert_eq!(error.to_string(), said);
}
