use super::outgoing::Outgoing;
use super::serving::SessionName;
use super::sessions::SENDER;
use super::speaker::Origin;
use crate::server::caller::Principal;
use futures_util::Stream;
use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, ErrorData,
    GetExtensions as _, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// After what time a session ends that nobody uses.
const IDLE: Duration = Duration::from_mins(30);

/// For how long a client has to come back for the answer that it went away from.
const GRACE: Duration = Duration::from_secs(10);

/// How many requests of one session are answered at once, and how many messages wait for the session to take them.
const MOST_IN_FLIGHT: usize = 256;
const MOST_WAITING: usize = 1024;

/// The number of the stream that belongs to no request.
const COMMON: u64 = 0;

/// Is one session: what its client sends on its way in, and what it is told on its way out.
#[derive(Debug)]
pub(super) struct HttpSession {
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

impl HttpSession {
    pub(super) fn new(id: SessionId, owner: Option<Principal>) -> Self {
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
    pub(super) fn is_of_sender(&self) -> bool {
        SENDER.try_with(|sender| self.owner.as_ref() == Some(sender)).unwrap_or(true)
    }

    /// Whose it is, where that is known.
    pub(super) fn owner(&self) -> Option<&Principal> {
        self.owner.as_ref()
    }

    /// Since when it does nothing, if it does nothing.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        state.answering.is_empty().then_some(state.used)
    }

    /// Withdraws requests that nobody waits for; true if nobody has used the session for long.
    pub(super) fn sweep(&self, now: Instant) -> bool {
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
    pub(super) fn close(&self) {
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
    pub(super) fn let_in(self: &Arc<Self>, mut message: ClientJsonRpcMessage) -> io::Result<Option<Reader>> {
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

    /// Lets somebody hear what belongs to no request, from now on.
    pub(super) fn listen(self: &Arc<Self>) -> Reader {
        let mut state = self.state();
        state.used = Instant::now();
        let next = state.streams.entry(COMMON).or_default().sent;
        self.reader(&mut state, COMMON, next)
    }

    /// Lets somebody go on behind an event; `None` if there is no such stream any more.
    pub(super) fn resume(self: &Arc<Self>, event: &str) -> Option<Reader> {
        let (number, last) = event.split_once('-')?;
        let (number, last): (u64, u64) = (number.parse().ok()?, last.parse().ok()?);
        let mut state = self.state();
        state.used = Instant::now();
        state.streams.contains_key(&number).then(|| self.reader(&mut state, number, last.saturating_add(1)))
    }

    /// Ends the stream that belongs to no request.
    pub(super) fn let_listeners_go(&self) {
        let common = self.state().streams.remove(&COMMON);
        if let Some(waker) = common.and_then(|common| common.waker) {
            waker.wake();
        }
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
        self.streams.insert(self.last, Outgoing::to(request));
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

fn origin(extensions: &rmcp::model::Extensions) -> Option<&RequestId> {
    extensions.get::<Origin>().map(|origin| &origin.0)
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
pub(super) struct Reader {
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
                stream.forget_before(reader.next);
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
pub(super) struct SessionTransport(pub(super) Arc<HttpSession>);

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
