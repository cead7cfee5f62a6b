//! Has a run go on by one turn of the model, for whoever drives runs otherwise than an agent does.

use super::Agent;
use super::driving::Run;
use crate::{Effect, RunEvent, RunState, StepError};
use haft_tools_core::CallScope;
use std::collections::VecDeque;
use std::pin::pin;
use tokio_util::sync::CancellationToken;

impl Agent {
    /// Makes the state that a run of this agent begins with: with its budget, and nothing asked yet.
    pub fn new_state(&self) -> RunState {
        RunState::new().budget(self.budget).may_repeat(self.may_repeat.iter().cloned())
    }

    /// Takes note of what happened, and has the model take one turn if that is next; makes no calls.
    ///
    /// It is for an engine that keeps a run between any two things that are done for it, and has its calls made elsewhere:
    /// [`RunState::outstanding`] says what is next then, and the outcomes of calls come with the next turn. What the model is
    /// told, what it may spend and what observers learn is as in a run that the agent [drives](Agent::run). An answer that
    /// breaks off is asked for again within the turn. Once the token is cancelled the run ends as cancelled, whatever is next.
    ///
    /// What calls of the run draw on its budget is for the engine to count, as [`RunEvent::Metered`]; the time of the turn is
    /// counted here.
    ///
    /// ```
    /// use haft_agent::{Agent, Effect, RunEvent};
    /// use haft_core::{ReplyStatus, ToolOutput, ToolReply};
    /// use haft_model::{ScriptedModel, Session};
    /// use haft_tools_core::{CallOutcome, CallScope, LocalExecutor, ToolRegistry};
    /// use tokio_util::sync::CancellationToken;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let session = r#"{"calls": [{"id": "c1", "name": "ping", "input": {}}]}
    /// {"text": "It is there."}"#;
    /// let model = ScriptedModel::new(Session::parse(session, "ping.jsonl")?);
    /// let agent = Agent::new(model, LocalExecutor::builder(ToolRegistry::new()).build());
    /// let (scope, stop) = (CallScope::new("run-1".parse()?), CancellationToken::new());
    ///
    /// let asked = RunEvent::Prompted { text: "Is it there?".into() };
    /// let state = agent.take_turn(&scope, agent.new_state(), [asked], &stop).await?;
    /// let [Effect::ExecuteBatch { calls }] = &*state.outstanding() else { panic!("it makes no calls") };
    ///
    /// let made = calls.iter().map(|call| {
    ///     let pong = ToolOutput::text("pong");
    ///     CallOutcome::Replied(ToolReply::new(call.id.clone(), call.name.clone(), ReplyStatus::Ok, pong))
    /// });
    /// let executed = RunEvent::BatchExecuted { outcomes: made.collect() };
    /// let state = agent.take_turn(&scope, state, [executed], &stop).await?;
    /// assert_eq!(state.last_text(), "It is there.");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When an event does not fit where the run stands.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the turn: the model may have been asked.
    pub async fn take_turn(
        &self,
        scope: &CallScope,
        state: RunState,
        events: impl IntoIterator<Item = RunEvent>,
        stop: &CancellationToken,
    ) -> Result<RunState, StepError> {
        let mut run = Run::begin(self, scope, state);
        let mut told = Vec::new();
        for event in events {
            match run.step(event) {
                // What one event leaves to be done, the next one may have changed.
                Ok(effects) => {
                    told.extend(effects.into_iter().filter(|effect| matches!(effect, Effect::Emit(_))));
                }
                Err(error) => {
                    run.give_back();
                    return Err(error);
                }
            }
        }
        told.extend(run.refuse().unwrap_or_default());
        let next = run.state.outstanding();
        let effects: Vec<Effect> = told.into_iter().chain(next).collect();
        let controls = run.controls();
        {
            let mut taken = pin!(run.take_turn(effects));
            tokio::select! {
                biased;
                () = stop.cancelled() => {
                    controls.cancel();
                    taken.await;
                }
                () = &mut taken => {}
            }
        }
        Ok(run.state)
    }
}

impl Run<'_> {
    async fn take_turn(&mut self, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        let mut has_turned = false;
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::CallModel if !has_turned => {
                    let event = self.call_model().await;
                    // One that broke off is no turn.
                    has_turned = !matches!(event, RunEvent::AnswerLost { .. });
                    effects.extend(self.advance(event));
                }
                Effect::Emit(_) | Effect::Persist => self.note(vec![effect]).await,
                _ => {}
            }
            if let Some(reason) = self.fault.take() {
                effects.clear();
                effects.extend(self.fail(reason));
            }
        }
        let controls = self.controls();
        while let Some(event) = controls.next_or_close() {
            let effects = self.step(event).unwrap_or_default();
            self.note(effects).await;
        }
        if controls.is_cancelled() && self.state.end().is_none() {
            let effects = self.advance(RunEvent::Cancelled);
            self.note(effects).await;
        }
    }
}
