use super::answers::read_answer;
use crate::LogLevel;
use crate::server::ask::{Ask, ClientAskError};
use crate::server::caller::{Ability, Caller};
use crate::server::line::Line;
use async_trait::async_trait;
use futures_util::future::join_all;
use haft_core::Progress;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

/// The most questions that may be put for one call.
const MOST_QUESTIONS: usize = 8;

/// The most bytes of a key.
const MOST_KEY_BYTES: usize = 128;

/// How the keys begin that only questions of ours have.
pub(super) const RESERVED: &str = "approval";

/// For how long more questions are waited for after one was put, so that they go out together.
const SETTLING: Duration = Duration::from_millis(2);

/// Is the line of a call, which may outlive the request that began it: another request takes its place.
///
/// Where questions end the request, they are gathered here until the round is over, and answered by the next one.
pub(super) struct Relay {
    caller: Caller,
    asks_in_rounds: bool,
    token: CancellationToken,
    asked: Notify,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The request that is served now; none while the call waits between two.
    line: Option<Arc<dyn Line>>,
    /// What was asked and not answered.
    open: Vec<Open>,
    /// What was answered before it was asked.
    given: BTreeMap<String, Value>,
    /// What was answered and counted, as it came.
    answered: BTreeMap<String, Value>,
    questions: usize,
    needs: Option<Ability>,
}

struct Open {
    ask: Ask,
    whose: Whose,
    sender: oneshot::Sender<Result<Value, ClientAskError>>,
}

/// Says who puts a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// A tool, which may be answered beforehand, and again where its call is begun anew.
    Tool,
    /// The approver, who is answered once, by whoever was asked.
    Ours,
}

/// Says how a question is put.
enum Put {
    Known(Result<Value, ClientAskError>),
    Asked(oneshot::Receiver<Result<Value, ClientAskError>>),
}

impl Relay {
    /// Begins with the request that a call came by, and what was answered already.
    pub(super) fn new(line: Arc<dyn Line>, given: BTreeMap<String, Value>) -> Arc<Self> {
        let asks_in_rounds = line.asks_in_rounds();
        // Between two rounds a call goes on that has nobody's request behind it.
        let token = if asks_in_rounds { CancellationToken::new() } else { line.cancellation().clone() };
        let caller = line.caller().clone();
        let state = Mutex::new(State { line: Some(line), given, ..State::default() });
        Arc::new(Self { caller, asks_in_rounds, token, asked: Notify::new(), state })
    }

    /// Goes on with the next request, and hands out what it answers; what is no answer stays asked.
    pub(super) fn go_on(&self, line: Arc<dyn Line>, given: BTreeMap<String, Value>) {
        self.state().line = Some(line);
        self.answer(given);
    }

    /// Goes on without a request.
    pub(super) fn leave(&self) {
        self.state().line = None;
    }

    /// What is asked and not answered.
    pub(super) fn open(&self) -> Vec<Ask> {
        let mut state = self.state();
        state.open.retain(|open| !open.sender.is_closed());
        state.open.iter().map(|open| open.ask.clone()).collect()
    }

    /// Hands out what was answered; what is no answer stays asked.
    pub(super) fn answer(&self, mut given: BTreeMap<String, Value>) {
        let mut state = self.state();
        for Open { ask, whose, sender } in std::mem::take(&mut state.open) {
            let answer = given.remove(&ask.key).and_then(|raw| Some((read_answer(&ask.kind, &raw)?, raw)));
            match answer {
                Some((answer, raw)) => {
                    if whose == Whose::Tool {
                        state.answered.insert(ask.key, raw);
                    }
                    // Whoever asked may have given up.
                    let _ = sender.send(answer);
                }
                None => state.open.push(Open { ask, whose, sender }),
            }
        }
        if !state.open.is_empty() {
            self.asked.notify_one();
        }
    }

    /// Waits until something was asked, and for a moment more.
    pub(super) async fn is_asked(&self) {
        // Whoever waited before may have been told, and have done something else.
        if self.open().is_empty() {
            self.asked.notified().await;
        }
        for _ in 0..2 {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(SETTLING).await;
    }

    /// Ends the request: gives what is asked, of which nobody is told more until the next one comes.
    ///
    /// `None` if nothing is asked any more.
    pub(super) fn end_round(&self) -> Option<Vec<Ask>> {
        let asks = self.open();
        if asks.is_empty() {
            return None;
        }
        self.leave();
        Some(asks)
    }

    /// What was answered so far, by key.
    pub(super) fn answered(&self) -> BTreeMap<String, Value> {
        self.state().answered.clone()
    }

    /// What the call cannot be served without, if the client lacks it.
    pub(super) fn missing(&self) -> Option<Ability> {
        self.state().needs
    }

    /// Puts a question of ours, which no tool can put, and no answer is given to beforehand.
    pub(super) async fn ask_ours(&self, ask: Ask) -> Result<Value, ClientAskError> {
        let key = ask.key.clone();
        let mut answers = self.ask_keyed(vec![(key.clone(), ask)], Whose::Ours).await;
        answers.remove(&key).unwrap_or_else(gone)
    }

    async fn ask_keyed(
        &self,
        asks: Vec<(String, Ask)>,
        whose: Whose,
    ) -> BTreeMap<String, Result<Value, ClientAskError>> {
        if !self.asks_in_rounds {
            return self.ask_at_once(asks).await;
        }
        let put: Vec<_> = asks.into_iter().map(|(key, ask)| (key, self.put(ask, whose))).collect();
        if put.iter().any(|(_, put)| matches!(put, Put::Asked(_))) {
            self.asked.notify_one();
        }
        let answers = put.into_iter().map(|(key, put)| async move {
            let answer = match put {
                Put::Known(answer) => answer,
                Put::Asked(receiver) => receiver.await.unwrap_or_else(|_| gone()),
            };
            (key, answer)
        });
        join_all(answers).await.into_iter().collect()
    }

    /// Puts one question: it is known already, refused, or asked in this round.
    fn put(&self, mut ask: Ask, whose: Whose) -> Put {
        let mut state = self.state();
        if let Some(refused) = self.refuses(&mut state, &ask) {
            return Put::Known(Err(refused));
        }
        let is_known = |state: &State, key: &str| {
            state.open.iter().any(|open| open.ask.key == key) || state.answered.contains_key(key)
        };
        // Two questions of one name cannot be told apart by their answers.
        let wanted = ask.key.clone();
        let mut number = 2;
        while is_known(&state, &ask.key) {
            ask.key = format!("{wanted}-{number}");
            number += 1;
        }
        if whose == Whose::Tool
            && let Some(raw) = state.given.remove(&ask.key)
            && let Some(answer) = read_answer(&ask.kind, &raw)
        {
            state.answered.insert(ask.key, raw);
            return Put::Known(answer);
        }
        let (sender, receiver) = oneshot::channel();
        state.open.push(Open { ask, whose, sender });
        Put::Asked(receiver)
    }

    async fn ask_at_once(&self, asks: Vec<(String, Ask)>) -> BTreeMap<String, Result<Value, ClientAskError>> {
        let (mut answers, mut asked) = (BTreeMap::new(), Vec::new());
        let line = {
            let mut state = self.state();
            for (key, ask) in asks {
                match self.refuses(&mut state, &ask) {
                    Some(refused) => drop(answers.insert(key, Err(refused))),
                    None => asked.push((key, ask)),
                }
            }
            state.line.clone()
        };
        if let Some(line) = line.filter(|_| !asked.is_empty()) {
            let mut answered = line.ask(asked.iter().map(|(_, ask)| ask.clone()).collect()).await;
            let told = asked.into_iter().map(|(key, ask)| {
                let answer = answered.remove(&ask.key).unwrap_or_else(gone);
                (key, answer)
            });
            answers.extend(told);
        }
        answers
    }

    /// Counts a question; says why it is not put.
    fn refuses(&self, state: &mut State, ask: &Ask) -> Option<ClientAskError> {
        let ability = ask.ability();
        if !self.caller.can.have(ability) {
            return Some(ClientAskError::Unable(ability));
        }
        state.questions += 1;
        let is_too_much = state.questions > MOST_QUESTIONS;
        is_too_much.then(|| ClientAskError::Broken(format!("a call puts {MOST_QUESTIONS} questions at most")))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Line for Relay {
    fn caller(&self) -> &Caller {
        &self.caller
    }

    fn asks_in_rounds(&self) -> bool {
        self.asks_in_rounds
    }

    async fn ask(&self, asks: Vec<Ask>) -> BTreeMap<String, Result<Value, ClientAskError>> {
        let keyed = asks.into_iter().map(|ask| (ask.key.clone(), Ask { key: plain(&ask.key), ..ask }));
        self.ask_keyed(keyed.collect(), Whose::Tool).await
    }

    fn needs(&self, ability: Ability) {
        self.state().needs.get_or_insert(ability);
    }

    fn progress(&self, progress: &Progress) {
        let line = self.state().line.clone();
        if let Some(line) = line {
            line.progress(progress);
        }
    }

    fn log(&self, level: LogLevel, logger: &str, data: &Value) {
        let line = self.state().line.clone();
        if let Some(line) = line {
            line.log(level, logger, data);
        }
    }

    fn cancellation(&self) -> &CancellationToken {
        &self.token
    }
}

/// Makes a key of a tool's that is none of ours.
fn plain(key: &str) -> String {
    let key = &key[..key.floor_char_boundary(MOST_KEY_BYTES)];
    if key.starts_with(RESERVED) || key.is_empty() { format!("q-{key}") } else { key.to_owned() }
}

fn gone<T>() -> Result<T, ClientAskError> {
    Err(ClientAskError::Broken("it went away".to_owned()))
}
