use super::task::TaskHandle;
use super::watch::CallWatch;
use crate::client::server::Connection;
use crate::client::session::{Ask, Counterpart as _, Fault, Request, Watch};
use crate::shown::line;
use crate::{Era, McpServer};
use haft_core::ToolError;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// How often a server may want something more before it answers one request.
const MOST_ROUNDS: u32 = 10;

/// The most that a server may want at once.
const MOST_INPUTS: usize = 32;

/// How long is waited before a request is sent again of which the server wanted nothing; doubled up to the longest.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// The most bytes of what a server says of itself in one word.
const MOST_WORD_BYTES: usize = 60;

/// Why there is no result of a request.
pub(crate) enum Halt {
    /// Of the connection or the server's refusal.
    Fault(Fault),
    /// Of the server, once it worked on the request: something may have been done.
    Begun(Fault),
    /// Of something else, that the model is told.
    Told(ToolError),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Is what becomes of one request of a call, over one connection.
pub(super) struct Exchange<'a> {
    pub(super) server: &'a McpServer,
    pub(super) connection: &'a Connection,
    pub(super) watch: &'a Arc<CallWatch>,
}

impl<'a> Exchange<'a> {
    pub(super) fn new(server: &'a McpServer, connection: &'a Connection, watch: &'a Arc<CallWatch>) -> Self {
        Self { server, connection, watch }
    }

    /// Sends a request, gives the server what it wants besides, waits for a task that it makes of it, and gives the result.
    ///
    /// The params are made as often as the request is sent.
    pub(super) async fn complete(
        &self,
        method: &'static str,
        params: impl Fn() -> Value,
    ) -> Result<Value, Halt> {
        let mut more = Map::new();
        for round in 0.. {
            let mut params = params();
            if let Value::Object(params) = &mut params {
                params.append(&mut more);
            }
            let request = Request { method, params };
            let mut result = match round {
                0 => self.connection.request(request, Some(self.watch())).await?,
                _ => self.send(request).await?,
            };
            match Kind::of(&result, self.era()) {
                Kind::Complete => return Ok(result),
                Kind::Task => return TaskHandle::new(self, result)?.result().await,
                Kind::Unknown(kind) => {
                    return Err(told(&format!("the server answered with `{kind}`, which is not known here")));
                }
                Kind::InputRequired => {}
            }
            if round == MOST_ROUNDS {
                return Err(asks_too_much().into());
            }
            let wanted = result.get_mut("inputRequests").map(Value::take);
            let state = result.get_mut("requestState").map(Value::take).filter(|state| !state.is_null());
            let wants_nothing =
                wanted.as_ref().is_none_or(|wanted| wanted.as_object().is_none_or(Map::is_empty));
            match (wants_nothing, &state) {
                (true, None) => {
                    return Err(told("the server wants something more, and does not say what"));
                }
                (true, Some(_)) => {
                    let pause = SHORTEST_PAUSE.saturating_mul(1 << round.min(8)).min(LONGEST_PAUSE);
                    tokio::time::sleep(pause).await;
                }
                (false, _) => {
                    let answers = self.answers(wanted.unwrap_or_default()).await?;
                    more.insert("inputResponses".to_owned(), answers.into());
                }
            }
            // Given back as it came: what it says is the server's business.
            more.extend(state.map(|state| ("requestState".to_owned(), state)));
        }
        unreachable!("the rounds are bounded")
    }

    /// Answers what a server wants to know before it goes on, one after the other.
    pub(super) async fn answers(&self, wanted: Value) -> Result<Map<String, Value>, Halt> {
        let mut answers = Map::new();
        let Value::Object(wanted) = wanted else { return Ok(answers) };
        if wanted.len() > MOST_INPUTS {
            let count = wanted.len();
            return Err(told(&format!(
                "the server asks for {count} things at once; {MOST_INPUTS} are answered at most"
            )));
        }
        for (key, mut ask) in wanted {
            let method = match ask.get("method") {
                Some(Value::String(method)) => method.clone(),
                _ => return Err(told("the server asks for something without saying what it is")),
            };
            let params = ask.get_mut("params").map(Value::take).unwrap_or_default();
            let ear = &self.server.shared().ear;
            let answer = ear.answer(Ask { method: method.clone(), params }, Some(self.watch())).await;
            let answer = answer.map_err(|refused| {
                if self.watch.was_asked_too_much() {
                    return asks_too_much().into();
                }
                let (method, message) = (line(&method, MOST_WORD_BYTES), line(&refused.message, 500));
                told(&format!(
                    "the server asks for `{method}` before it goes on, and does not get it: {message}"
                ))
            })?;
            answers.insert(key, answer);
        }
        Ok(answers)
    }

    /// Sends a request that goes on with what was begun: even if it is not taken, something may have been done.
    pub(super) async fn send(&self, request: Request) -> Result<Value, Halt> {
        let result = self.connection.request(request, Some(self.watch())).await;
        result.map_err(|fault| match fault {
            Fault::Untaken(farewell) | Fault::Ended(farewell) => Halt::Fault(Fault::Ended(farewell)),
            fault => Halt::Begun(fault),
        })
    }

    fn watch(&self) -> Arc<dyn Watch> {
        Arc::clone(self.watch) as Arc<dyn Watch>
    }

    pub(super) fn era(&self) -> Era {
        self.connection.session.server().era
    }
}

/// Says what a result is.
enum Kind {
    Complete,
    InputRequired,
    Task,
    Unknown(String),
}

impl Kind {
    fn of(result: &Value, era: Era) -> Self {
        match era {
            // A result of this era has `task` only if it was asked for as one.
            Era::Legacy if result.get("task").is_some_and(|task| task.get("taskId").is_some()) => Self::Task,
            Era::Legacy => Self::Complete,
            Era::Modern => match result.get("resultType") {
                None | Some(Value::Null) => Self::Complete,
                Some(Value::String(kind)) => match &**kind {
                    "complete" => Self::Complete,
                    "input_required" => Self::InputRequired,
                    "task" => Self::Task,
                    kind => Self::Unknown(line(kind, MOST_WORD_BYTES)),
                },
                Some(_) => Self::Unknown("a kind of result that is not text".to_owned()),
            },
        }
    }
}

pub(super) fn asks_too_much() -> ToolError {
    ToolError::failed("the server asked for more and more before it would answer; go on without this call")
}

impl From<ToolError> for Halt {
    fn from(error: ToolError) -> Self {
        Self::Told(error)
    }
}

pub(super) fn told(text: &str) -> Halt {
    Halt::Told(ToolError::failed(format!("{text}; go on without this call")))
}
