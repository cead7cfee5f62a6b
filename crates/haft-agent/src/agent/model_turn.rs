//! Has the model take its turn.

use super::Agent;
use super::driving::Run;
use super::errors::with_causes;
use super::told::Told;
use crate::RunEvent;
use haft_core::Usage;
use haft_model::{ModelError, ModelRequest, ModelTurn, assemble};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::future::FutureExt as _;
use tokio_util::sync::CancellationToken;

/// How long the turn may take in which the model closes a run whose time is over.
const CLOSING_TIME: Duration = Duration::from_mins(1);

impl Run<'_> {
    pub(super) async fn call_model(&mut self) -> RunEvent {
        let token = self.controls().token.clone();
        if token.is_cancelled() {
            return RunEvent::Cancelled;
        }
        let name = &self.agent.model.capabilities().name;
        if self.state.account().budget.cost_nanos.is_some() && self.agent.prices.get(name).is_none() {
            let reason = format!(
                "the run has a budget of money, and there is no price for the model `{name}`; give one, or no such budget"
            );
            return RunEvent::ModelFailed { reason };
        }
        self.ask_for_tools();
        if self.compact(&token).await.is_none() {
            return RunEvent::Cancelled;
        }
        if let Some(reason) = self.fault.clone() {
            return RunEvent::ModelFailed { reason };
        }
        let time_left = match self.time_left() {
            Some(_) if !self.state.offers_tools() => CLOSING_TIME,
            Some(left) => left,
            None => Duration::MAX,
        };
        let (agent, scope, request) = (self.agent, self.scope.clone(), self.request());
        let answer = async {
            let mut told = Told::new(&agent.events, &scope);
            let answer = agent.answer(request, &token, &mut told).with_cancellation_token(&token);
            let answer = match time_left {
                Duration::MAX => Ok(answer.await),
                time_left => timeout(time_left, answer).await,
            };
            told.finish();
            answer
        };
        let answer = self.attend(answer).await;
        let usage = match &answer {
            Ok(Some(Ok(turn))) => turn.usage,
            _ => Usage::default(),
        };
        self.meter(&usage);
        match answer {
            Err(_) => RunEvent::TimedOut,
            Ok(None | Some(Err(ModelError::Cancelled))) => RunEvent::Cancelled,
            Ok(Some(Ok(turn))) => RunEvent::ModelAnswered { turn },
            Ok(Some(Err(error))) => RunEvent::ModelFailed { reason: with_causes(&error) },
        }
    }

    fn request(&mut self) -> ModelRequest {
        let mut request = ModelRequest::new(self.state.told().iter().cloned());
        if self.state.offers_tools() {
            request = request.with_tools(Arc::clone(&self.offered().list));
        }
        match &self.agent.system {
            Some(system) => request.with_system(Arc::clone(system)),
            None => request,
        }
    }
}

impl Agent {
    async fn answer(
        &self,
        request: ModelRequest,
        token: &CancellationToken,
        told: &mut Told<'_>,
    ) -> Result<ModelTurn, ModelError> {
        let stream = self.model.stream(request, token.clone()).await?;
        assemble(stream, |delta| told.delta(delta)).await
    }
}
