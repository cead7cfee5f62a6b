use super::flights::{Flights, Watched, number};
use super::message::notification_parts;
use super::opening::FIRST_ID;
use crate::client::link::Ending;
use crate::client::session::{Counterpart, Farewell, News};
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions as _, GetMeta as _,
    JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::transport::Transport;
use serde_json::Value;
use std::sync::Arc;
use tokio::task::yield_now;

/// After how many messages in a row whoever else shares the task has a turn.
const PATIENCE: u32 = 32;

/// The longest text of a server that is passed on as news, in bytes.
const MOST_TEXT: usize = 8 * 1024;

/// How many messages that fit nothing are told of.
const MOST_TOLD: u64 = 100;

/// Stands between a transport and the library: knows which requests are under way, and hears what is no answer.
///
/// So notifications keep their order and cost no task each, and answers that nobody waits for end here.
pub(super) struct Tap<T> {
    transport: T,
    flights: Arc<Flights>,
    ending: Arc<Ending>,
    counterpart: Arc<dyn Counterpart>,
    odd: u64,
    is_open: bool,
}

impl<T: Transport<RoleClient> + 'static> Tap<T> {
    pub(super) fn new(
        transport: T,
        flights: Arc<Flights>,
        ending: Arc<Ending>,
        counterpart: Arc<dyn Counterpart>,
    ) -> Self {
        Self { transport, flights, ending, counterpart, odd: 0, is_open: false }
    }

    /// Says that the opening is over: what still comes of it is late.
    pub(super) fn opened(&mut self) {
        self.flights.clear();
        self.is_open = true;
    }

    fn tell(&mut self, text: impl FnOnce() -> String) {
        self.odd += 1;
        if self.odd <= MOST_TOLD {
            self.counterpart.hear(News::Odd(text()));
        }
    }

    /// Tells whether an answer is waited for; one that is not is counted and goes no further.
    fn lands(&mut self, id: &RequestId) -> bool {
        let number = number(id);
        let is_waited_for = number.is_some_and(|number| self.flights.arrive(number));
        if !is_waited_for {
            let count = self.flights.stray();
            if self.is_open && number.is_some_and(|number| number >= FIRST_ID) {
                // What opens a connection of the other era may be answered when it is no longer needed.
                return false;
            }
            let id: String = id.to_string().chars().take(40).collect();
            self.tell(|| format!("an answer that nobody waits for, with the id {id}; {count} so far"));
        }
        is_waited_for
    }

    /// Takes what a server tells unasked; gives back what the library has to know.
    fn hear(&mut self, notification: ServerNotification) -> Option<ServerNotification> {
        if let ServerNotification::CancelledNotification(cancelled) = &notification {
            if let Some(id) = cancelled.params.request_id.as_ref().and_then(number) {
                self.flights.cancelled_by_server(id);
            }
            return Some(notification);
        }
        let (method, params) = notification_parts(notification);
        let news = match method.as_str() {
            "notifications/progress" => {
                self.progress(&params);
                return None;
            }
            "notifications/message" => log(&params),
            "notifications/tools/list_changed" => News::ToolsChanged,
            "notifications/prompts/list_changed" => News::PromptsChanged,
            "notifications/resources/list_changed" => News::ResourcesChanged,
            "notifications/resources/updated" => News::ResourceUpdated(text(params.get("uri"))),
            "notifications/subscriptions/acknowledged"
            | "notifications/tasks"
            | "notifications/tasks/status"
            | "notifications/elicitation/complete" => return None,
            _ => {
                self.tell(|| format!("a notification that haft does not know: {}", cut(&method, 100)));
                return None;
            }
        };
        self.counterpart.hear(news);
        None
    }

    fn progress(&self, params: &Value) {
        let token = match params.get("progressToken") {
            Some(Value::Number(token)) => token.as_i64(),
            Some(Value::String(token)) => token.parse().ok(),
            _ => None,
        };
        // What comes after the answer, or for a request that is not watched, is for nobody.
        let Some(watch) = token.and_then(|token| self.flights.watch_of_token(token)) else { return };
        let done = params.get("progress").and_then(Value::as_f64).unwrap_or_default();
        let total = params.get("total").and_then(Value::as_f64);
        let message = params.get("message").and_then(Value::as_str).map(|message| cut(message, MOST_TEXT));
        watch.progress(done, total, message);
    }
}

fn log(params: &Value) -> News {
    let text = match params.get("data") {
        Some(Value::String(data)) => cut(data, MOST_TEXT).to_owned(),
        Some(data) => cut(&data.to_string(), MOST_TEXT).to_owned(),
        None => String::new(),
    };
    let level = params.get("level").and_then(Value::as_str).unwrap_or("info");
    News::Log { level: cut(level, 20).to_owned(), text }
}

fn text(value: Option<&Value>) -> String {
    cut(value.and_then(Value::as_str).unwrap_or_default(), MOST_TEXT).to_owned()
}

/// The beginning of a text, of at most so many bytes.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for Tap<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let mut departed = None;
        match &message {
            JsonRpcMessage::Request(request) => {
                if let RequestId::Number(id) = request.id {
                    let watched = request.request.extensions().get::<Watched>();
                    let token = request.request.get_meta().0.0.get("progressToken").and_then(Value::as_i64);
                    // Before it is sent, since news of it can come at once.
                    let watch = watched.map(|Watched(watch)| watch.clone());
                    let is_subscription =
                        matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
                    self.flights.depart(id, token, watch, is_subscription);
                    departed = Some(id);
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = cancelled.params.request_id.as_ref().and_then(number)
                {
                    self.flights.arrive(id);
                }
            }
            _ => {}
        }
        let sending = self.transport.send(message);
        let flights = self.flights.clone();
        async move {
            let sent = sending.await;
            if let (Err(_), Some(id)) = (&sent, departed) {
                flights.arrive(id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let mut passed = 0_u32;
        loop {
            let Some(message) = self.transport.receive().await else {
                let how = "it closed the connection".to_owned();
                self.ending.finish(Farewell { how, ..Farewell::default() });
                return None;
            };
            match message {
                JsonRpcMessage::Response(response) => {
                    if self.lands(&response.id) {
                        return Some(JsonRpcMessage::Response(response));
                    }
                }
                JsonRpcMessage::Error(error) => match &error.id {
                    Some(id) => {
                        if self.lands(id) {
                            return Some(JsonRpcMessage::Error(error));
                        }
                    }
                    None if !self.is_open => return Some(JsonRpcMessage::Error(error)),
                    None => self.tell(|| {
                        format!("an error that answers nothing: {}", cut(&error.error.message, MOST_TEXT))
                    }),
                },
                JsonRpcMessage::Notification(notification) => {
                    if let Some(known) = self.hear(notification.notification) {
                        return Some(JsonRpcMessage::notification(known));
                    }
                }
                JsonRpcMessage::Request(request) => return Some(JsonRpcMessage::Request(request)),
            }
            passed += 1;
            if passed.is_multiple_of(PATIENCE) {
                yield_now().await;
            }
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        let closed = self.transport.close().await;
        self.ending.finish(Farewell { how: "it was closed".to_owned(), ..Farewell::default() });
        closed
    }
}

impl<T> Drop for Tap<T> {
    fn drop(&mut self) {
        // Nobody waits for ever, whatever became of the task that had it.
        self.ending.finish(Farewell { how: "it was dropped".to_owned(), ..Farewell::default() });
    }
}
