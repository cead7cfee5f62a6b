use super::config::HttpConfig;
use super::gate::{Connection, Gate, Inner};
use super::open_files;
use super::stalling::Stalling;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How many bytes of a connection are kept in memory, in each direction, and how long the head of a request may be.
const BUFFER: usize = 16 << 10;

/// How long is waited after the system refused a connection, as it does when too many files are open.
const PAUSE: Duration = Duration::from_millis(50);

/// How long calls that are cancelled may take to end, and what is written then to be read.
const CANCELLING: Duration = Duration::from_millis(400);
const LAST_WORDS: Duration = Duration::from_millis(50);

/// What is answered where there is no room for a connection.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Listens for HTTP, and lets through what may reach the tools.
///
/// ```
/// use haft_mcp::{HttpConfig, HttpListener};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let listener = HttpListener::bind(HttpConfig::new(([127, 0, 0, 1], 0).into())).await?;
/// assert_ne!(listener.address().port(), 0);
/// # Ok(())
/// # }
/// ```
pub struct HttpListener {
    listener: TcpListener,
    address: SocketAddr,
    config: HttpConfig,
}

/// Says why nothing is served.
///
/// ```
/// use haft_mcp::{HttpConfig, HttpListener, ServeError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // To be reached by others, it has to know who calls.
/// let refused = HttpListener::bind(HttpConfig::new(([0, 0, 0, 0], 0).into())).await;
/// assert!(matches!(refused, Err(ServeError::Unguarded { .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Others than this machine could reach it, and nobody would be asked who they are.
    #[error(
        "refused to serve at {address}, where other machines can call every tool, without asking who calls; give it \
         tokens or an authorization server to check them with, or serve at 127.0.0.1"
    )]
    Unguarded {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("cannot listen at {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}

impl HttpListener {
    /// Begins to listen.
    ///
    /// # Errors
    ///
    /// [`ServeError::Unguarded`] off this machine without an authenticator; [`ServeError::Listen`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn bind(config: HttpConfig) -> Result<Self, ServeError> {
        let address = config.address;
        if !address.ip().is_loopback() && config.authenticator.is_none() {
            return Err(ServeError::Unguarded { address });
        }
        let refused = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Self { listener, address, config })
    }

    /// The address, with the port that the system chose if it was to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until it is stopped, and then for as long as what is being served may go on; what still does is cancelled by
    /// `cancel`, which ends when it has ended. Dropping the future ends everything at once.
    pub(crate) async fn serve<S: Inner>(
        self,
        inner: S,
        stop: CancellationToken,
        cancel: impl Future<Output = ()>,
    ) {
        let Self { listener, address, config } = self;
        let limits = config.limits.clone();
        let most = open_files::room_for(limits.connections);
        let gate = Arc::new(Gate::new(address, config));
        let mut protocol = http1::Builder::new();
        protocol.timer(TokioTimer::new()).header_read_timeout(limits.head_timeout).max_buf_size(BUFFER);
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(_) = connections.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, peer)) = accepted else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            if connections.len() >= most {
                turn_away(&stream);
                continue;
            }
            // A connection that cannot be told to send at once works all the same.
            stream.set_nodelay(true).ok();
            let service = Connection { gate: Arc::clone(&gate), inner: inner.clone(), peer };
            let stream = TokioIo::new(Stalling::new(stream, limits.unread_timeout));
            let (served, stop) = (protocol.serve_connection(stream, service), stop.clone());
            connections.spawn(async move {
                let mut served = pin!(served);
                let ended = tokio::select! {
                    ended = served.as_mut() => Some(ended),
                    () = stop.cancelled() => None,
                };
                if ended.is_none() {
                    served.as_mut().graceful_shutdown();
                    // How a connection ended is of no interest any more.
                    served.await.ok();
                }
            });
        }
        drop(listener);
        let is_over = {
            let mut all = pin!(async { while connections.join_next().await.is_some() {} });
            let is_over = timeout(limits.ending, &mut all).await.is_ok();
            // A call may go on behind a client that is gone.
            let _ = timeout(CANCELLING, cancel).await;
            is_over || timeout(LAST_WORDS, all).await.is_ok()
        };
        if !is_over {
            connections.shutdown().await;
        }
    }
}

/// Answers a connection for which there is no room, as far as that goes without waiting.
fn turn_away(stream: &TcpStream) {
    stream.try_write(FULL).ok();
}

impl fmt::Debug for HttpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpListener")
            .field("address", &self.address)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
