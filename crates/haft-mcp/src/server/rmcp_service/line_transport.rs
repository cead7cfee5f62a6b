use super::handler::Handler;
use super::line_writer::LineWriter;
use super::serving::{Serving, Whose};
use crate::lines::{Found, Lines, TopLevel};
use crate::server::caller::Principal;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetExtensions as _, GetMeta as _, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{ServerInitializeError, ServiceExt as _};
use rmcp::transport::Transport;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};
use tokio_util::future::FutureExt as _;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// The longest line that is read, in bytes.
const MOST_LINE: usize = 16 * 1024 * 1024;

/// How many requests are answered at once; beyond them no more is read.
const MOST_IN_FLIGHT: u32 = 256;

/// How much is read while no more is answered, in bytes: as much as tells that the input has ended.
const MOST_AHEAD: usize = 64 * 1024;

/// After how many lines in a row that are passed over whoever else shares the task has a turn.
const PATIENCE: u32 = 32;

/// For how long subscriptions have to end in peace.
const PEACE: Duration = Duration::from_millis(50);

/// For how long calls may go on that were asked for before the input ended: whoever writes its requests and closes its side
/// gets what is done at once.
const AFTER_INPUT: Duration = Duration::from_millis(150);

/// For how long calls have to end that were cancelled, and a client to read the last lines.
const GRACE: Duration = Duration::from_millis(400);

const INVALID_REQUEST: i32 = -32600;
const PARSE_ERROR: i32 = -32700;

/// Says how the lines of a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// The client has closed its side.
    Closed,
    /// The server was told to stop.
    Stopped,
}

/// Serves one client over lines of JSON until it closes its side, or `stop` is cancelled.
///
/// # Cancel safety
///
/// Dropping the future cancels what is running.
pub(crate) async fn serve_lines<R, W>(
    serving: &Arc<Serving>,
    (read, write): (R, W),
    (principal, session): (Principal, Arc<str>),
    stop: &CancellationToken,
) -> LineEnd
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let over = CancellationToken::new();
    // Whoever drops this cancels what is running.
    let _over = over.clone().drop_guard();
    let transport = LineTransport::new(read, write, over.clone());
    let handler = Handler::new(serving.clone(), Whose::Known(principal, session));
    // What it waits with is large, and is let go of when the connection is open.
    let mut run = Box::pin(async {
        match handler.serve_with_ct(transport, over.clone()).await {
            Ok(running) => drop(running.waiting().await),
            Err(error) => told(&error),
        }
    });
    tokio::select! {
        biased;
        () = &mut run => return LineEnd::Closed,
        () = over.cancelled() => {
            // Its input has ended, and what was asked before and is not answered yet was cancelled.
            let _ = timeout(GRACE, &mut run).await;
            return LineEnd::Closed;
        }
        () = stop.cancelled() => {}
    }
    serving.stopping.cancel();
    if timeout(PEACE, &mut run).await.is_err() {
        over.cancel();
        let _ = timeout(GRACE, &mut run).await;
    }
    LineEnd::Stopped
}

/// Says why nothing was served at all; never what the client sent.
fn told(error: &ServerInitializeError) {
    let reason = match error {
        ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled => return,
        ServerInitializeError::InitializeFailed(_) => "the client was refused",
        ServerInitializeError::TransportError { .. } => "the client does not read",
        _ => "the client does not open the connection as the protocol wants it",
    };
    tracing::warn!(reason, "a connection was not opened");
}

/// Carries messages as lines of JSON, and answers what is no message itself.
struct LineTransport<R, W> {
    read: R,
    lines: Lines,
    writer: Arc<LineWriter<W>>,
    /// Whether something has to be written before more is read.
    has_unsent: bool,
    /// What waits for room.
    held: Option<ClientJsonRpcMessage>,
    room: Arc<Semaphore>,
    in_flight: Arc<Mutex<HashSet<RequestId>>>,
    /// Whether the era is known: before, what is no request is passed over.
    is_open: bool,
    is_ended: bool,
    /// Ends what is being answered some time after the input has ended.
    ending: Option<AbortOnDropHandle<()>>,
    /// How much was read ahead of what was understood, in bytes.
    ahead: usize,
    /// Cancelled when the client has closed its side and was waited for.
    over: CancellationToken,
}

/// Is a request that is being answered; it is let go with all that is known of the request.
struct Flight {
    id: RequestId,
    others: Arc<Mutex<HashSet<RequestId>>>,
    _room: OwnedSemaphorePermit,
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.others.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin> LineTransport<R, W> {
    fn new(read: R, write: W, over: CancellationToken) -> Self {
        Self {
            read,
            lines: Lines::new(MOST_LINE),
            writer: Arc::new(LineWriter::new(write)),
            has_unsent: false,
            held: None,
            room: Arc::new(Semaphore::new(MOST_IN_FLIGHT as usize)),
            in_flight: Arc::default(),
            is_open: false,
            is_ended: false,
            ending: None,
            ahead: 0,
            over,
        }
    }

    fn refuse(&mut self, id: Option<&Value>, code: i32, text: &str) {
        let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text } });
        self.writer.put(error.to_string().as_bytes());
        self.has_unsent = true;
    }

    /// What a line says, if it is a message for whoever serves.
    fn understand(&mut self, found: Found) -> Option<ClientJsonRpcMessage> {
        let line = match found {
            Found::Oversize { request, bytes, .. } => {
                let text = format!("the message has {bytes} bytes, and {MOST_LINE} are read at most");
                self.refuse(request.as_ref(), INVALID_REQUEST, &text);
                return None;
            }
            Found::Line(line) => self.lines.line(line),
        };
        match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
            Ok(message) => self.let_in(message),
            Err(_) if line.trim_ascii().is_empty() => None,
            Err(_) => {
                let is_json =
                    serde_json::from_slice::<IgnoredAny>(line).is_ok() && str::from_utf8(line).is_ok();
                let mut top_level = TopLevel::default();
                top_level.pass(line);
                let (id, answered) = (top_level.asked(), top_level.answered());
                if !is_json {
                    self.refuse(None, PARSE_ERROR, "the line is not JSON in UTF-8");
                } else if answered.is_none() {
                    self.refuse(id.as_ref(), INVALID_REQUEST, "the line is not a message of JSON-RPC 2.0");
                }
                // To an answer that cannot be read there is none.
                None
            }
        }
    }

    fn let_in(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        let ClientJsonRpcMessage::Request(request) = &message else {
            return self.is_open.then_some(message);
        };
        let is_new = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner).insert(request.id.clone());
        if !is_new {
            let id = request.id.clone().into_json_value();
            self.refuse(Some(&id), INVALID_REQUEST, "a request of this id is being answered");
            return None;
        }
        self.is_open |= opens(&request.request);
        Some(message)
    }

    /// Marks a request as being answered, once there is room.
    async fn with_flight(&mut self) -> Option<ClientJsonRpcMessage> {
        let permit = if matches!(self.held, Some(ClientJsonRpcMessage::Request(_))) {
            let room = self.room.clone().acquire_owned();
            self.read_ahead_while(room).await.ok()
        } else {
            None
        };
        let mut message = self.held.take()?;
        if let (ClientJsonRpcMessage::Request(request), Some(permit)) = (&mut message, permit) {
            let flight = Flight { id: request.id.clone(), others: self.in_flight.clone(), _room: permit };
            request.request.extensions_mut().insert(Arc::new(flight));
        }
        Some(message)
    }

    /// Writes what waits.
    ///
    /// Whoever does not read what is wrong is not read any more; that it is gone is noticed where it is read.
    async fn write(&mut self) {
        let writer = self.writer.clone();
        let _ = self.read_ahead_while(async move { writer.flush().await }).await;
    }

    /// Takes note that the input has ended; soon after it, what is being answered does.
    fn end(&mut self) {
        self.lines.end();
        self.is_ended = true;
        let over = self.over.clone();
        self.ending = Some(AbortOnDropHandle::new(tokio::spawn(async move {
            sleep(AFTER_INPUT).await;
            over.cancel();
        })));
    }

    /// Waits, and meanwhile reads a little ahead: what is being answered ends soon after the input does.
    async fn read_ahead_while<T>(&mut self, awaited: impl Future<Output = T>) -> T {
        let mut awaited = pin!(awaited);
        loop {
            tokio::select! {
                biased;
                done = &mut awaited => return done,
                read = self.read.read_buf(self.lines.room()), if self.ahead < MOST_AHEAD && !self.is_ended => {
                    match read {
                        Ok(read) if read > 0 => self.ahead += read,
                        _ => self.end(),
                    }
                }
            }
        }
    }
}

/// Tells whether a request begins an era, and is not answered before one.
fn opens(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        // In the order in which they are sent, whoever is the first to write.
        let put = serde_json::to_vec(&message).map(|line| self.writer.put(&line));
        let writer = self.writer.clone();
        async move {
            put?;
            writer.flush().await
        }
    }

    /// Cancel safe, since it is begun anew whenever anything else happens.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut passed = 0_u32;
        loop {
            if self.has_unsent || self.writer.is_full() {
                self.write().await;
                self.has_unsent = false;
            }
            if self.held.is_some() {
                return self.with_flight().await;
            }
            if let Some(found) = self.lines.find() {
                self.held = self.understand(found);
                passed += 1;
                if passed.is_multiple_of(PATIENCE) {
                    yield_now().await;
                }
            } else if self.is_ended {
                let all_answered = self.room.acquire_many(MOST_IN_FLIGHT);
                let _ = all_answered.with_cancellation_token(&self.over).await;
                self.over.cancel();
                return None;
            } else {
                self.ahead = 0;
                let read = self.read.read_buf(self.lines.room()).await;
                if matches!(read, Ok(0) | Err(_)) {
                    self.end();
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        // What is written is written by whoever holds the other end; this one is dropped with the rest.
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{AFTER_INPUT, LineTransport};
    use futures_util::FutureExt as _;
    use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
    use rmcp::transport::Transport as _;
    use std::time::Duration;
    use tokio::io::{
        AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf,
        WriteHalf,
    };
    use tokio::time::{Instant, sleep};
    use tokio_util::sync::CancellationToken;

    type Halves = LineTransport<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>;

    fn transport() -> (Halves, CancellationToken, DuplexStream) {
        let (near, far) = tokio::io::duplex(1024);
        let (read, write) = tokio::io::split(near);
        let over = CancellationToken::new();
        (LineTransport::new(read, write, over.clone()), over, far)
    }

    #[tokio::test]
    async fn who_does_not_read_is_read_no_more() {
        let (mut transport, _, mut far) = transport();
        far.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.unwrap();
        let unread = vec![b'x'; 5 * 1024 * 1024];
        transport.writer.put(&unread);
        assert!(transport.receive().now_or_never().is_none());
        let mut read = vec![0; unread.len() + 1];
        let (message, _) =
            tokio::join!(transport.receive(), async { far.read_exact(&mut read).await.unwrap() });
        assert!(message.is_some());
    }

    #[tokio::test]
    async fn the_end_of_the_input_is_seen_though_nobody_reads() {
        let (mut transport, over, far) = transport();
        let (_far, mut write) = tokio::io::split(far);
        transport.writer.put(&[b'x'; 2048]);
        transport.has_unsent = true;
        write.shutdown().await.unwrap();
        tokio::select! {
            _ = transport.receive() => panic!("nobody reads"),
            () = over.cancelled() => {}
        }
    }

    #[tokio::test]
    async fn lines_go_out_in_the_order_in_which_they_are_sent() {
        let (mut transport, _, far) = transport();
        let [one, two] = [1, 2].map(|id| {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
            transport.send(serde_json::from_str::<ServerJsonRpcMessage>(&line).unwrap()).boxed()
        });
        two.await.unwrap();
        one.await.unwrap();
        let mut lines = BufReader::new(far).lines();
        for id in ["\"id\":1", "\"id\":2"] {
            let line = lines.next_line().await.unwrap().unwrap();
            assert!(line.contains(id), "{line}");
        }
    }

    const CALL: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

    /// Is a connection whose client has asked for something and then closed its side, while that is being answered.
    async fn asked_and_ended() -> (Halves, CancellationToken, DuplexStream, ClientJsonRpcMessage) {
        let (mut transport, over, mut far) = transport();
        far.write_all(CALL).await.unwrap();
        let being_answered = transport.receive().await.unwrap();
        far.shutdown().await.unwrap();
        assert!(transport.receive().now_or_never().is_none());
        (transport, over, far, being_answered)
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_asked_for_before_the_input_ends_has_a_moment() {
        let (mut transport, over, _far, being_answered) = asked_and_ended().await;
        sleep(AFTER_INPUT / 2).await;
        assert!(transport.receive().now_or_never().is_none() && !over.is_cancelled());
        sleep(AFTER_INPUT).await;
        assert!(over.is_cancelled());
        assert!(transport.receive().await.is_none());
        drop(being_answered);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_ends_when_all_is_answered_and_nothing_more_comes() {
        let (mut transport, over, _far, being_answered) = asked_and_ended().await;
        drop(being_answered);
        let began = Instant::now();
        assert!(transport.receive().await.is_none() && over.is_cancelled());
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
