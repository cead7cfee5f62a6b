use super::message;
use crate::server::ask::{Ask, LogLevel, Unasked};
use crate::server::caller::{Ability, Caller};
use crate::server::calls::random;
use crate::server::line::{Fault, Line};
use crate::server::round::{Binding, Round, Seal};
use crate::server::toolbox::CallingClient;
use async_trait::async_trait;
use haft_core::Progress;
use serde_json::Value;
use std::collections::BTreeMap;
use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio_util::sync::CancellationToken;

/// How often one request is begun anew.
const MOST_ROUNDS: u32 = 10;

/// How many questions one round asks.
const MOST_ASKS: usize = 8;

/// Plays a request that changes nothing in rounds: it is begun anew in each, with all that was answered so far.
pub(super) struct Rounds<'a> {
    pub(super) seal: &'a dyn Seal,
    pub(super) binding: Binding<'a>,
}

/// Is what a client sent with the request of one round.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) answers: BTreeMap<String, Value>,
    pub(super) state: Option<String>,
}

/// Says how a round ended.
#[derive(Debug)]
pub(super) enum Played<T> {
    Done(T),
    Asks { asks: Vec<Ask>, state: String },
}

impl Rounds<'_> {
    /// Plays one round, or the whole where the client is asked by requests.
    pub(super) async fn play<T, F>(
        &self,
        line: Arc<dyn Line>,
        sent: Sent,
        begin: impl FnOnce(CallingClient) -> F,
    ) -> Result<Played<T>, Fault>
    where
        F: Future<Output = T>,
    {
        if !line.asks_in_rounds() {
            return Ok(Played::Done(begin(CallingClient(line)).await));
        }
        let before = self.before(&sent)?;
        let (number, answers) = self.answered(before, sent.answers);
        let line = Arc::new(RoundLine { line, answers, asks: Mutex::default(), asked: Notify::new() });
        let mut work = pin!(begin(CallingClient(line.clone())));
        tokio::select! {
            biased;
            done = &mut work => return Ok(Played::Done(done)),
            () = line.asked.notified() => {}
        }
        // What is asked side by side is asked in one round.
        for _ in 0..2 {
            tokio::select! {
                biased;
                done = &mut work => return Ok(Played::Done(done)),
                () = yield_now() => {}
            }
        }
        let mut asks = std::mem::take(&mut *line.asks.lock().unwrap_or_else(PoisonError::into_inner));
        asks.truncate(MOST_ASKS);
        if number > MOST_ROUNDS {
            return Err(invalid("the client was asked too often"));
        }
        let round = Round {
            number,
            nonce: random(),
            approval: None,
            asked: asks.iter().map(|ask| ask.key.clone()).collect(),
            answers: line.answers.clone(),
            parked: None,
        };
        let state = self.seal.seal(&round, &self.binding);
        Ok(Played::Asks { asks, state })
    }

    fn before(&self, sent: &Sent) -> Result<Option<Round>, Fault> {
        let Some(state) = sent.state.as_deref().filter(|state| !state.is_empty()) else { return Ok(None) };
        let opened = self.seal.open(state, &self.binding);
        opened.map(Some).ok_or_else(|| invalid("the request state is not of this request, or too old"))
    }

    /// Puts together what was answered so far; of what was asked before only that counts.
    fn answered(
        &self,
        before: Option<Round>,
        sent: BTreeMap<String, Value>,
    ) -> (u32, BTreeMap<String, Value>) {
        let sent = sent.into_iter().filter(|(_, answer)| !answer.is_null());
        match before {
            None => (1, sent.take(MOST_ASKS).collect()),
            Some(Round { number, asked, mut answers, .. }) => {
                answers.extend(sent.filter(|(key, _)| asked.contains(key)));
                (number.saturating_add(1), answers)
            }
        }
    }
}

fn invalid(text: &str) -> Fault {
    Fault { code: -32602, message: text.to_owned(), data: None }
}

/// Is the line of one round: what was answered is answered at once, and what was not ends the round.
struct RoundLine {
    line: Arc<dyn Line>,
    answers: BTreeMap<String, Value>,
    asks: Mutex<Vec<Ask>>,
    asked: Notify,
}

#[async_trait]
impl Line for RoundLine {
    fn caller(&self) -> &Caller {
        self.line.caller()
    }

    fn asks_in_rounds(&self) -> bool {
        true
    }

    async fn ask(&self, asks: Vec<Ask>) -> BTreeMap<String, Result<Value, Unasked>> {
        let can = self.caller().can;
        let mut answers = BTreeMap::new();
        let mut open = Vec::new();
        for ask in asks {
            let read = || self.answers.get(&ask.key).map(|answer| message::read_answer(&ask.kind, answer));
            match message::able(&ask, can).map_or_else(|unable| Some(Err(unable)), |()| read()) {
                // What is no answer to this is asked again.
                None | Some(Err(Unasked::Broken(_))) => open.push(ask),
                Some(answer) => drop(answers.insert(ask.key, answer)),
            }
        }
        if open.is_empty() {
            return answers;
        }
        self.asks.lock().unwrap_or_else(PoisonError::into_inner).extend(open);
        self.asked.notify_one();
        // The round ends, and this with it.
        pending().await
    }

    fn needs(&self, ability: Ability) {
        self.line.needs(ability);
    }

    fn progress(&self, progress: &Progress) {
        self.line.progress(progress);
    }

    fn log(&self, level: LogLevel, logger: &str, data: &Value) {
        self.line.log(level, logger, data);
    }

    fn cancellation(&self) -> &CancellationToken {
        self.line.cancellation()
    }
}
