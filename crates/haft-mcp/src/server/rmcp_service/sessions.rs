use super::handler::SessionName;
use crate::server::caller::Principal;
use crate::server::serve::session;
use futures_util::Stream;
use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, ErrorData,
    GetExtensions as _, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::OriginatingRequestId;
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, interval};

/// How many sessions there are at most; the one that was idle longest makes room for a new one.
const MOST_SESSIONS: usize = 10_000;

/// After what time a session ends that nobody uses.
const IDLE: Duration = Duration::from_mins(30);

/// For how long a client has to come back for the answer that it went away from.
const GRACE: Duration = Duration::from_secs(10);

/// How often sessions and answers are looked for whose time is over.
const SWEEP: Duration = Duration::from_secs(2);

/// How many messages of one stream are kept for whoever comes back, and how many bytes of them.
const MOST_KEPT: usize = 256;
const MOST_KEPT_BYTES: usize = 1024 * 1024;

/// How many requests of one session are answered at once, and how many messages wait for the session to take them.
const MOST_IN_FLIGHT: usize = 256;
const MOST_WAITING: usize = 1024;

/// The number of the stream that belongs to no request.
const COMMON: u64 = 0;

tokio::task_local! {
    /// Who sends the request that is being served: a session is there for its owner alone.
    pub(super) static SENDER: Principal;
}

/// Keeps the sessions of the older era, bounded in number, time and size.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    known: Mutex<HashMap<SessionId, Arc<HttpSession>>>,
}

impl Sessions {
    /// Ends what has been waited for long enough, for as long as it is awaited.
    pub(super) async fn sweep(&self) {
        let mut ticks = interval(SWEEP);
        loop {
            ticks.tick().await;
            let now = Instant::now();
            let sessions: Vec<_> =
                self.known().iter().map(|(id, session)| (id.clone(), session.clone())).collect();
            for (id, session) in sessions {
                if session.sweep(now) {
                    self.close(&id);
                }
            }
        }
    }

    /// Ends the streams that belong to no request.
    pub(super) fn let_listeners_go(&self) {
        let sessions: Vec<_> = self.known().values().cloned().collect();
        for session in sessions {
            let common = session.state().streams.remove(&COMMON);
            if let Some(waker) = common.and_then(|common| common.waker) {
                waker.wake();
            }
        }
    }

    /// Finds a session, if it is that of whoever asks.
    fn find(&self, id: &SessionId) -> Result<Arc<HttpSession>, io::Error> {
        let found = self.known().get(id).filter(|session| session.is_of_sender()).cloned();
        found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no such session"))
    }

    fn close(&self, id: &SessionId) {
        let closed = self.known().remove(id);
        if let Some(session) = closed {
            session.close();
        }
    }

    /// Makes room for one more; false if all are in use.
    fn make_room(&self) -> bool {
        let known = self.known();
        if known.len() < MOST_SESSIONS {
            return true;
        }
        let idle = known.iter().filter_map(|(id, session)| Some((session.idle_since()?, id)));
        let oldest = idle.min().map(|(_, id)| id.clone());
        drop(known);
        oldest.map(|id| self.close(&id)).is_some()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<HttpSession>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Is one session: what its client sends on its way in, and what it is told on its way out.
#[derive(Debug)]
struct HttpSession {
    id: SessionId,
    owner: Option<Principal>,
    arrived: Notify,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    arriving: VecDeque<ClientJsonRpcMessage>,
    /// The streams by their numbers.
    streams: HashMap<u64, Outgoing>,
    /// The streams of requests that are being answered.
    answering: HashMap<RequestId, u64>,
    last: u64,
    used: Instant,
    is_closed: bool,
}

/// Is what is told on one stream.
#[derive(Debug, Default)]
struct Outgoing {
    /// The request that it answers; none for the common one.
    request: Option<RequestId>,
    kept: VecDeque<Kept>,
    bytes: usize,
    /// How many messages were put on it.
    sent: u64,
    /// The reader that counts; one that came before gets nothing more.
    reader: u64,
    waker: Option<Waker>,
    /// Since when nobody reads it.
    left: Option<Instant>,
    is_answered: bool,
}

#[derive(Debug)]
struct Kept {
    number: u64,
    bytes: usize,
    message: Arc<ServerJsonRpcMessage>,
}

impl HttpSession {
    fn new(id: SessionId, owner: Option<Principal>) -> Self {
        let state = State {
            arriving: VecDeque::new(),
            streams: HashMap::new(),
            answering: HashMap::new(),
            last: COMMON,
            used: Instant::now(),
            is_closed: false,
        };
        Self { id, owner, arrived: Notify::new(), state: Mutex::new(state) }
    }

    /// Outside of a request it is the server itself that asks.
    fn is_of_sender(&self) -> bool {
        SENDER.try_with(|sender| self.owner.as_ref() == Some(sender)).unwrap_or(true)
    }

    /// Since when it does nothing, if it does nothing.
    fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        state.answering.is_empty().then_some(state.used)
    }

    /// Withdraws requests that nobody waits for; true if nobody has used the session for long.
    fn sweep(&self, now: Instant) -> bool {
        let mut state = self.state();
        let is_over = |left: Option<Instant>| left.is_some_and(|left| now.duration_since(left) >= GRACE);
        let gone: Vec<u64> = state
            .streams
            .iter()
            .filter(|(_, stream)| is_over(stream.left))
            .map(|(number, _)| *number)
            .collect();
        for number in gone {
            let stream = state.streams.remove(&number);
            if let Some(request) = stream.and_then(|stream| stream.request)
                && state.answering.remove(&request).is_some()
            {
                state.arriving.push_back(cancelled(request));
                self.arrived.notify_one();
            }
        }
        let has_reader = state.streams.get(&COMMON).is_some_and(|common| common.left.is_none());
        state.answering.is_empty() && !has_reader && now.duration_since(state.used) >= IDLE
    }

    /// Ends it: what is being answered is cancelled, and then there is nothing more.
    fn close(&self) {
        let mut state = self.state();
        let open: Vec<RequestId> = state.answering.drain().map(|(request, _)| request).collect();
        state.arriving.extend(open.into_iter().map(cancelled));
        state.is_closed = true;
        let wakers: Vec<Waker> = state.streams.drain().filter_map(|(_, stream)| stream.waker).collect();
        drop(state);
        self.arrived.notify_one();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Lets a message in; a request gets a stream for its answer.
    fn let_in(self: &Arc<Self>, mut message: ClientJsonRpcMessage) -> io::Result<Option<Reader>> {
        let mut state = self.state();
        if state.is_closed || state.arriving.len() >= MOST_WAITING {
            return Err(io::Error::other("the session takes nothing more"));
        }
        state.used = Instant::now();
        let reader = if let ClientJsonRpcMessage::Request(request) = &mut message {
            let id = request.id.clone();
            if state.answering.contains_key(&id) {
                return Ok(Some(self.refusal(&mut state, id, "a request of this id is being answered")));
            }
            if state.answering.len() >= MOST_IN_FLIGHT {
                return Ok(Some(self.refusal(&mut state, id, "too many requests are being answered")));
            }
            request.request.extensions_mut().insert(SessionName(self.id.clone()));
            let number = state.open(Some(id.clone()));
            state.answering.insert(id, number);
            Some(self.reader(&mut state, number, 0))
        } else {
            if let Some(id) = withdrawn(&message)
                && let Some(number) = state.answering.remove(id)
                && let Some(stream) = state.streams.remove(&number)
                && let Some(waker) = stream.waker
            {
                // There will be no answer.
                waker.wake();
            }
            None
        };
        state.arriving.push_back(message);
        drop(state);
        self.arrived.notify_one();
        Ok(reader)
    }

    fn refusal(self: &Arc<Self>, state: &mut State, id: RequestId, text: &'static str) -> Reader {
        let number = state.open(None);
        let error = ErrorData::invalid_request(text, None);
        if let Some(stream) = state.streams.get_mut(&number) {
            stream.put(ServerJsonRpcMessage::error(error, Some(id)));
        }
        self.reader(state, number, 0)
    }

    /// Lets somebody read a stream from a message on, in the place of whoever has read it before.
    fn reader(self: &Arc<Self>, state: &mut State, number: u64, next: u64) -> Reader {
        let mut reader = Reader { session: self.clone(), stream: number, next, own: 0 };
        if let Some(stream) = state.streams.get_mut(&number) {
            stream.reader += 1;
            stream.left = None;
            reader.own = stream.reader;
            if let Some(before) = stream.waker.take() {
                before.wake();
            }
        }
        reader
    }

    /// Puts a message on the stream that it belongs to.
    fn tell(&self, message: ServerJsonRpcMessage) {
        let mut state = self.state();
        let number = match &message {
            ServerJsonRpcMessage::Response(response) => state.answering.remove(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref().and_then(|id| state.answering.remove(id)),
            ServerJsonRpcMessage::Request(request) => state.way_of(origin(request.request.extensions())),
            ServerJsonRpcMessage::Notification(notification) => {
                state.way_of(origin(notification.notification.extensions()))
            }
        };
        state.used = Instant::now();
        // What belongs to a stream that is gone is of no use to anybody.
        let Some(stream) = number.and_then(|number| state.streams.get_mut(&number)) else { return };
        stream.put(message);
        let waker = stream.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn open(&mut self, request: Option<RequestId>) -> u64 {
        self.last += 1;
        self.streams.insert(self.last, Outgoing { request, ..Outgoing::default() });
        self.last
    }

    /// Which stream a message of ours goes, which is no answer.
    fn way_of(&self, origin: Option<&RequestId>) -> Option<u64> {
        match origin {
            Some(origin) => self.answering.get(origin).copied(),
            None => Some(COMMON),
        }
    }
}

impl Outgoing {
    fn put(&mut self, message: ServerJsonRpcMessage) {
        self.is_answered |=
            matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_));
        let bytes = size(&message);
        self.kept.push_back(Kept { number: self.sent, bytes, message: Arc::new(message) });
        self.sent += 1;
        self.bytes += bytes;
        while (self.kept.len() > MOST_KEPT || self.bytes > MOST_KEPT_BYTES)
            && let Some(spared) = self.kept.iter().position(Kept::can_be_spared)
        {
            self.bytes -= self.kept.remove(spared).map_or(0, |spared| spared.bytes);
        }
    }

    /// Is the next message at or after a number.
    fn next(&self, number: u64) -> Option<&Kept> {
        // Those before were read, and are kept for whoever comes back.
        let place = self.kept.partition_point(|kept| kept.number < number);
        self.kept.get(place)
    }
}

impl Kept {
    fn can_be_spared(&self) -> bool {
        matches!(*self.message, ServerJsonRpcMessage::Notification(_))
    }
}

/// Counts the bytes that a message is written as.
fn size(message: &ServerJsonRpcMessage) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    if !matches!(message, ServerJsonRpcMessage::Notification(_)) {
        // It is kept whatever its size.
        return 0;
    }
    let mut count = Count(0);
    // Messages can always be written.
    let _ = serde_json::to_writer(&mut count, message);
    count.0
}

fn origin(extensions: &rmcp::model::Extensions) -> Option<&RequestId> {
    extensions.get::<OriginatingRequestId>().map(|origin| &origin.0)
}

/// The request that a client does not want answered any more.
fn withdrawn(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    let ClientJsonRpcMessage::Notification(message) = message else { return None };
    let ClientNotification::CancelledNotification(message) = &message.notification else { return None };
    message.params.request_id.as_ref()
}

fn cancelled(request: RequestId) -> ClientJsonRpcMessage {
    let params = CancelledNotificationParam::new(Some(request), Some("the client is gone".to_owned()));
    let message = ClientNotification::CancelledNotification(CancelledNotification::new(params));
    ClientJsonRpcMessage::notification(message)
}

/// Reads one stream.
struct Reader {
    session: Arc<HttpSession>,
    stream: u64,
    next: u64,
    own: u64,
}

impl Stream for Reader {
    type Item = ServerSseMessage;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let reader = self.get_mut();
        let mut state = reader.session.state();
        let Some(stream) = state.streams.get_mut(&reader.stream) else { return Poll::Ready(None) };
        if stream.reader != reader.own {
            return Poll::Ready(None);
        }
        if let Some(kept) = stream.next(reader.next) {
            reader.next = kept.number + 1;
            let mut message = ServerSseMessage::default();
            message.event_id = Some(format!("{}-{}", reader.stream, kept.number));
            message.message = Some(kept.message.clone());
            if reader.stream == COMMON {
                // It lasts, so what was read is kept for a while only.
                while stream.kept.len() > MOST_KEPT / 4 && stream.kept[0].number < reader.next {
                    stream.bytes -= stream.kept.pop_front().map_or(0, |read| read.bytes);
                }
            }
            return Poll::Ready(Some(message));
        }
        if stream.is_answered {
            state.streams.remove(&reader.stream);
            return Poll::Ready(None);
        }
        stream.waker = Some(task.waker().clone());
        Poll::Pending
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.session.state();
        let Some(stream) = state.streams.get_mut(&self.stream) else { return };
        if stream.reader == self.own {
            stream.waker = None;
            stream.left = Some(Instant::now());
        }
        state.used = Instant::now();
    }
}

/// Is the server's end of a session.
pub(super) struct SessionTransport(Arc<HttpSession>);

impl Transport<RoleServer> for SessionTransport {
    type Error = Infallible;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        self.0.tell(message);
        ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            {
                let mut state = self.0.state();
                if let Some(message) = state.arriving.pop_front() {
                    return Some(message);
                }
                if state.is_closed {
                    return None;
                }
                state.arriving.shrink_to(4);
            }
            self.0.arrived.notified().await;
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl SessionManager for Sessions {
    type Error = io::Error;
    type Transport = SessionTransport;

    async fn create_session(&self) -> Result<(SessionId, SessionTransport), io::Error> {
        if !self.make_room() {
            return Err(io::Error::other("there are too many sessions"));
        }
        let id: SessionId = session();
        let owner = SENDER.try_with(Clone::clone).ok();
        let session = Arc::new(HttpSession::new(id.clone(), owner));
        self.known().insert(id.clone(), session.clone());
        Ok((id, SessionTransport(session)))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, io::Error> {
        use futures_util::StreamExt as _;
        let closed = || io::Error::other("the session was closed");
        let mut reader = self.find(id)?.let_in(message)?.ok_or_else(closed)?;
        let answer = reader.next().await.and_then(|answer| answer.message).ok_or_else(closed)?;
        // It was read to its end, so nothing of it is left.
        let _ = reader.next().await;
        drop(reader);
        Ok(Arc::unwrap_or_clone(answer))
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, io::Error> {
        Ok(self.find(id).is_ok())
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), io::Error> {
        if self.find(id).is_ok() {
            self.close(id);
        }
        Ok(())
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, io::Error> {
        let reader = self.find(id)?.let_in(message)?;
        reader.ok_or_else(|| io::Error::other("it is no request"))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), io::Error> {
        self.find(id)?.let_in(message).map(drop)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, io::Error> {
        let session = self.find(id)?;
        let mut state = session.state();
        state.used = Instant::now();
        let next = state.streams.entry(COMMON).or_default().sent;
        Ok(session.reader(&mut state, COMMON, next))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, io::Error> {
        let session = self.find(id)?;
        let unknown = || io::Error::new(io::ErrorKind::NotFound, "there is no such stream");
        let (number, last) = last_event_id.split_once('-').ok_or_else(unknown)?;
        let (number, last): (u64, u64) =
            (number.parse().map_err(|_| unknown())?, last.parse().map_err(|_| unknown())?);
        let mut state = session.state();
        if !state.streams.contains_key(&number) {
            return Err(unknown());
        }
        state.used = Instant::now();
        Ok(session.reader(&mut state, number, last.saturating_add(1)))
    }
}
