//! Has the model take its turn.

use super::Agent;
use super::driving::Run;
use super::span;
use super::told::Told;
use crate::compaction::BYTES_A_TOKEN;
use crate::{RunEvent, Spent, TurnRecord};
use haft_core::{EventKind, Usage, with_causes};
use haft_model::{Delta, ModelError, ModelRequest, ModelTurn, assemble};
use haft_tools_core::now_ms;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::future::FutureExt as _;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

/// How long the turn may take at least in which the model closes a run whose time is over.
const CLOSING_TIME: Duration = Duration::from_mins(1);

/// How often in a row the model is asked again whose answer broke off in the middle.
const RETRIES: u32 = 2;

/// How long is waited before that, where the provider does not say it, for the first time; twice as long for the next.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// A provider that wants to be left alone for longer ends the run.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// What was heard of an answer, whatever became of it.
#[derive(Default)]
struct Heard {
    /// Whether it began.
    has_begun: bool,
    /// What the request takes up, in estimated tokens, where that is counted if the model says nothing.
    asked: Option<u64>,
    /// What the model has said last that the turn costs.
    usage: Usage,
    /// How many bytes the model wrote.
    bytes: u64,
}

impl Run<'_> {
    pub(super) async fn call_model(&mut self) -> RunEvent {
        let token = self.controls().token.clone();
        if token.is_cancelled() {
            return RunEvent::Cancelled;
        }
        let name = &*self.agent.model.capabilities().name;
        if self.state.account().budget.cost_nanos.is_some() && self.agent.prices.get(name).is_none() {
            let reason = format!(
                "the run has a budget of money, and there is no price for the model `{name}`; give one, or no such budget"
            );
            return RunEvent::ModelFailed { reason };
        }
        if let Some(pause) = self.pause.take()
            && self.attend(sleep(pause).with_cancellation_token(&token)).await.is_none()
        {
            return RunEvent::Cancelled;
        }
        if self.hear(&token).await.is_none() {
            return RunEvent::Cancelled;
        }
        self.ask_for_tools();
        if self.renew(&token).await.is_none() || self.compact(&token).await.is_none() {
            return RunEvent::Cancelled;
        }
        if let Some(reason) = self.fault.clone() {
            return RunEvent::ModelFailed { reason };
        }
        let time_left = match self.time_left() {
            Some(left) if !self.state.offers_tools() => left.max(CLOSING_TIME),
            Some(left) => left,
            None => Duration::MAX,
        };
        let (agent, scope, request) = (self.agent, self.scope.clone(), self.request());
        let mut heard = Heard { asked: self.estimate(), ..Heard::default() };
        let answer = async {
            let mut told = Told::new(&agent.events, &scope);
            let answer = agent.answer(request, &token, &mut told, &mut heard).with_cancellation_token(&token);
            let answer = match time_left {
                Duration::MAX => Ok(answer.await),
                time_left => timeout(time_left, answer).await,
            };
            told.finish();
            answer
        };
        let turn = self.state.turns().saturating_add(1);
        let span = span::of_turn(name, turn);
        let (at_ms, began) = (now_ms(), Instant::now());
        let answer = self.attend(answer.instrument(span.clone())).await;
        let error = match &answer {
            Ok(Some(Ok(_))) => None,
            Ok(Some(Err(error))) => Some(span::error_type(error)),
            Ok(None) => Some("cancelled"),
            Err(_) => Some("timed_out"),
        };
        span::answered(&span, &heard.usage, error);
        drop(span);
        let took_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let cost_nanos = self.pay(&heard);
        let record = TurnRecord::new(turn, name, at_ms).took_us(took_us).cost(heard.usage, cost_nanos);
        let record = error.into_iter().fold(record, TurnRecord::error);
        self.advance(RunEvent::TurnTaken { record });
        if let Ok(Some(Ok(turn))) = answer {
            self.retries = 0;
            return RunEvent::ModelAnswered { turn };
        }
        if heard.usage.total() > 0 {
            self.advance(RunEvent::Wasted { usage: heard.usage });
        }
        match answer {
            Err(_) => RunEvent::TimedOut,
            Ok(None | Some(Ok(_) | Err(ModelError::Cancelled))) => RunEvent::Cancelled,
            Ok(Some(Err(error))) => self.failed(&error, heard.has_begun),
        }
    }

    /// Takes note of what a turn took beside the tokens that the model says; where it says nothing, and a budget counts on
    /// it, of an estimate. Gives what it cost in money.
    fn pay(&mut self, heard: &Heard) -> u64 {
        let (usage, tokens) = match heard.asked.filter(|_| heard.has_begun && heard.usage.total() == 0) {
            Some(input) => {
                let output = heard.bytes.div_ceil(BYTES_A_TOKEN);
                (Usage { input, output, ..Usage::default() }, input.saturating_add(output))
            }
            None => (heard.usage, 0),
        };
        let price = self.agent.prices.get(&self.agent.model.capabilities().name);
        let cost_nanos = price.map_or(0, |price| price.of(&usage));
        self.meter(Spent { tokens, cost_nanos, ..Spent::default() });
        cost_nanos
    }

    /// What the request takes up, in estimated tokens, if there is a budget that needs to know.
    fn estimate(&mut self) -> Option<u64> {
        let budget = &self.state.account().budget;
        let counts = budget.tokens.is_some() || budget.cost_nanos.is_some();
        counts.then(|| self.request_tokens())
    }

    /// Says what follows from an answer that failed: the model is asked again if it had begun to answer, and another try can
    /// help.
    ///
    /// A model that does not begin to answer was asked as often as its provider's patience has it.
    fn failed(&mut self, error: &ModelError, has_begun: bool) -> RunEvent {
        let reason = with_causes(error);
        let pause = error.retry_after().unwrap_or(FIRST_PAUSE * 2_u32.pow(self.retries));
        if !has_begun || !error.can_retry() || self.retries == RETRIES || pause > LONGEST_PAUSE {
            return RunEvent::ModelFailed { reason };
        }
        self.retries += 1;
        self.pause = Some(pause);
        RunEvent::AnswerLost { reason }
    }

    fn request(&mut self) -> ModelRequest {
        let mut request = ModelRequest::new(self.state.told().iter().cloned());
        request = request.tools(Arc::clone(&self.offered().list));
        if self.agent.events.is_observed() {
            let (events, scope) = (self.agent.events.clone(), self.scope.clone());
            request = request.on_retry(move |error, pause| {
                let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
                events.emit(&scope, None, || EventKind::ModelRetried { reason: error.reason(), pause_ms });
            });
        }
        if !self.state.offers_tools() {
            request = request.without_calls();
        }
        match &self.agent.system {
            Some(system) => request.system(Arc::clone(system)),
            None => request,
        }
    }
}

impl Heard {
    fn delta(&mut self, delta: &Delta) {
        match delta {
            Delta::Usage(usage) => self.usage = *usage,
            Delta::Text(text)
            | Delta::Reasoning { text, .. }
            | Delta::ToolCallArguments { fragment: text, .. } => {
                self.bytes += text.len() as u64;
            }
            _ => {}
        }
    }
}

impl Agent {
    async fn answer(
        &self,
        request: ModelRequest,
        token: &CancellationToken,
        told: &mut Told<'_>,
        heard: &mut Heard,
    ) -> Result<ModelTurn, ModelError> {
        let stream = self.model.stream(request, token.clone()).await?;
        heard.has_begun = true;
        let observe = |delta: &Delta| {
            heard.delta(delta);
            told.delta(delta);
        };
        assemble(stream, observe).await
    }
}
