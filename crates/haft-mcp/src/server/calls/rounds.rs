use super::approver::USED;
use super::random::random;
use super::relay::{RESERVED, Relay};
use crate::server::ask::Ask;
use crate::server::caller::Ability;
use crate::server::line::{Fault, Line};
use crate::server::rmcp_service::seal::MOST_STATE_BYTES;
use crate::server::round::{Binding, Round, Seal, Spent};
use haft_core::Digest;
use haft_tools_core::PendingId;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most rounds of one request.
pub(super) const MOST_ROUNDS: u32 = 10;

/// JSON-RPC's code for parameters that cannot be used.
const BAD_PARAMS: i32 = -32602;

/// The key under which it is answered whether a call may run.
pub(super) const APPROVAL: &str = RESERVED;

/// Carries requests over several rounds: what one asks, the next one answers.
pub(crate) struct Rounds {
    seal: Arc<dyn Seal>,
    spent: Arc<dyn Spent>,
}

/// Is a request after what it echoes was looked at.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Opened {
    /// How many rounds there were before.
    number: u32,
    /// What was asked for, and what was answered to that.
    pub(super) approval: Option<(PendingId, Digest)>,
    pub(super) approval_answer: Option<Value>,
    /// What else was answered, in this round and before.
    pub(super) given: BTreeMap<String, Value>,
    pub(super) parked: Option<String>,
}

/// Why a request goes no further.
#[derive(Debug, PartialEq)]
pub(super) enum Stopped {
    /// What it echoes was not made by us for this, or has expired.
    Fault(Fault),
    /// It is told as a failure of the request.
    Told(String),
}

/// Is what a round asks.
pub(super) struct Asking {
    pub(super) asks: Vec<Ask>,
    pub(super) approval: Option<(PendingId, Digest)>,
    pub(super) answers: BTreeMap<String, Value>,
    pub(super) parked: Option<String>,
}

/// Says how a round of a request ended that is begun anew in each.
pub(crate) enum RoundEnd<T> {
    /// It is done.
    Done(T),
    /// It asks: `InputRequiredResult`.
    Asks { asks: Vec<Ask>, state: String },
    /// It cannot be served to a client that is not able to do this.
    Needs(Ability),
}

impl Rounds {
    /// Carries them under this seal, each once.
    pub(crate) fn new(seal: Arc<dyn Seal>, spent: Arc<dyn Spent>) -> Self {
        Self { seal, spent }
    }

    /// Looks at what a request echoes and answers; nothing of it is trusted that the seal does not cover.
    pub(super) fn open(
        &self,
        state: Option<&str>,
        mut answers: BTreeMap<String, Value>,
        binding: &Binding<'_>,
    ) -> Result<Opened, Stopped> {
        answers.retain(|_, answer| !answer.is_null());
        let Some(state) = state.filter(|state| !state.is_empty()) else {
            // Whether a call may run is never answered before it was asked.
            answers.retain(|key, _| !key.starts_with(RESERVED));
            return Ok(Opened { given: answers, ..Opened::default() });
        };
        let opened = (state.len() <= MOST_STATE_BYTES).then(|| self.seal.open(state, binding)).flatten();
        let Some(round) = opened else {
            return Err(Stopped::Fault(Fault {
                code: BAD_PARAMS,
                message: "the requestState was not given for this request, or has expired; begin without it"
                    .to_owned(),
                data: None,
            }));
        };
        if !self.spent.spend(round.nonce) {
            return Err(Stopped::Told(format!("{USED}; begin anew if that is still needed")));
        }
        answers.retain(|key, _| round.asked.contains(key));
        let approval_answer = match round.parked {
            None if round.approval.is_some() => answers.remove(APPROVAL),
            _ => None,
        };
        let mut given = round.answers;
        given.extend(answers);
        let Round { number, approval, parked, .. } = Round { answers: BTreeMap::new(), ..round };
        Ok(Opened { number, approval, approval_answer, given, parked })
    }

    /// Ends a round with what it asks.
    pub(super) fn next(
        &self,
        opened: u32,
        asking: Asking,
        binding: &Binding<'_>,
    ) -> Result<(Vec<Ask>, String), String> {
        let number = opened + 1;
        if number > MOST_ROUNDS {
            return Err(asked_too_often());
        }
        let Asking { asks, approval, answers, parked } = asking;
        let asked = asks.iter().map(|ask| ask.key.clone()).collect();
        let round = Round { number, nonce: random(), approval, asked, answers, parked };
        let state = self.seal.seal(&round, binding);
        if state.len() > MOST_STATE_BYTES {
            return Err("what was answered is too long to be kept until the next round".to_owned());
        }
        Ok((asks, state))
    }

    /// Serves a request that is begun anew in each round with all that was answered so far, such as `prompts/get`.
    ///
    /// What is to be done gets the line through which it asks. A line that can ask at any time does so.
    pub(crate) async fn replayed<T, F: Future<Output = T> + Send>(
        &self,
        (state, answers): (Option<&str>, BTreeMap<String, Value>),
        binding: &Binding<'_>,
        line: Arc<dyn Line>,
        work: impl FnOnce(Arc<dyn Line>) -> F,
    ) -> Result<RoundEnd<T>, Fault> {
        let in_rounds = line.asks_in_rounds();
        let opened = match in_rounds.then(|| self.open(state, answers, binding)).transpose() {
            Ok(opened) => opened.unwrap_or_default(),
            Err(Stopped::Fault(fault)) => return Err(fault),
            Err(Stopped::Told(message)) => return Err(told(message)),
        };
        let relay = Relay::new(line, opened.given);
        let mut work = std::pin::pin!(work(Arc::clone(&relay) as Arc<dyn Line>));
        loop {
            tokio::select! {
                biased;
                done = &mut work => {
                    return Ok(relay.missing().map_or(RoundEnd::Done(done), RoundEnd::Needs));
                }
                () = relay.is_asked() => {
                    if let Some(ability) = relay.missing() {
                        return Ok(RoundEnd::Needs(ability));
                    }
                    let Some(asks) = relay.end_round() else { continue };
                    let answers = relay.answered();
                    let asking = Asking { asks, approval: None, answers, parked: None };
                    let (asks, state) = self.next(opened.number, asking, binding).map_err(told)?;
                    return Ok(RoundEnd::Asks { asks, state });
                }
            }
        }
    }
}

impl Opened {
    /// How many rounds there were before.
    pub(super) fn number(&self) -> u32 {
        self.number
    }
}

pub(super) fn asked_too_often() -> String {
    format!("it was asked {MOST_ROUNDS} times without an end; begin anew if that is still needed")
}

fn told(message: String) -> Fault {
    Fault { code: BAD_PARAMS, message, data: None }
}
