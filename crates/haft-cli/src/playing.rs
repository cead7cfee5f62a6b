use crate::keeper::Keeper;
use crate::setup::Bench;
use crate::timeline::{JsonLines, Timeline};
use anyhow::Result;
use haft::agent::{Agent, Phase, ResumeError, RunEnd, RunEvent, RunState};
use haft::model::{ScriptedModel, Session};
use haft::{Approval, CallId, CallOutcome, CallScope, Events, Observer, OutputStore, PendingCall, ToolCall};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Plays one session: has the recorded model answer and its calls executed.
pub(crate) struct Playing {
    agent: Agent,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) timeline: Option<Arc<Timeline>>,
    scope: CallScope,
    pub(crate) state: RunState,
}

/// Holds what a session is played with.
pub(crate) struct Stage<'a> {
    pub(crate) bench: &'a Bench,
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) outputs: Arc<dyn OutputStore>,
    pub(crate) scope: CallScope,
    pub(crate) approves_all: bool,
    pub(crate) json: bool,
    pub(crate) token: CancellationToken,
}

impl Playing {
    /// Sets the stage for a session, at the place that a run has got to.
    pub(crate) fn set_up(with: Stage<'_>, session: Session, stands: RunState) -> Result<Self> {
        let Stage { bench, keeper, outputs, scope, approves_all, json, token } = with;
        let timeline = (!json).then(|| Arc::new(Timeline::new()));
        let observer: Arc<dyn Observer> = match &timeline {
            Some(timeline) => Arc::clone(timeline) as Arc<dyn Observer>,
            None => Arc::new(JsonLines),
        };
        let events = Events::new([observer]);
        let model = Arc::new(ScriptedModel::new(session).after_turns(stands.turns() as usize));
        let executor = bench.executor(approves_all)?.outputs(outputs).events(events.clone()).build();
        let agent =
            Agent::new(Arc::clone(&model), executor).events(events).cancelled_by(token).kept_by(keeper);
        if let Some(timeline) = &timeline {
            timeline.go_on(&stands);
        }
        Ok(Self { agent, model, timeline, scope, state: stands })
    }

    /// Plays from the prompt until it ends or waits for a person.
    pub(crate) async fn begin(&mut self, prompt: String) {
        self.state = self.agent.run(self.scope.clone(), prompt).await;
    }

    /// Plays on from where a process ended that was interrupted.
    ///
    /// Of the calls that were being executed then, those wait that had come to wait, and the others are answered as lost: they
    /// are not run twice.
    pub(crate) async fn go_on(&mut self, waiting: &[PendingCall]) -> Result<()> {
        let lost = |call: &CallId| {
            anstream::eprintln!(
                "the call `{call}` was due when the process ended that went on with it; it is not run again, and whether it \
                 had its effect is not known"
            );
        };
        let event = match self.state.phase() {
            Phase::Acting { calls, .. } => {
                let outcome = |call: &ToolCall| {
                    if let Some(pending) = waiting.iter().find(|pending| pending.call.id == call.id) {
                        return CallOutcome::Pending(Box::new(pending.clone()));
                    }
                    lost(&call.id);
                    CallOutcome::lost(call)
                };
                RunEvent::BatchExecuted { outcomes: calls.iter().map(outcome).collect() }
            }
            Phase::Waiting { executing, .. } => {
                executing.iter().for_each(lost);
                RunEvent::Interrupted
            }
            _ => RunEvent::Interrupted,
        };
        self.state = self.agent.step(self.scope.clone(), self.state.clone(), event).await?;
        Ok(())
    }

    /// Answers a call that waits, and plays on.
    pub(crate) async fn answer(
        &mut self,
        pending: &PendingCall,
        approval: Approval,
    ) -> Result<(), ResumeError> {
        let state = self.state.clone();
        self.state = self.agent.resume(self.scope.clone(), state, &pending.call.id, approval).await?;
        Ok(())
    }

    /// Takes what became elsewhere of a call that waits, and plays on.
    pub(crate) async fn answered(&mut self, outcome: CallOutcome) -> Result<()> {
        let event = RunEvent::CallAnswered { outcome };
        self.state = self.agent.step(self.scope.clone(), self.state.clone(), event).await?;
        Ok(())
    }

    /// Tells whether the model ended the run, with no turn of the session left.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.state.end(), Some(RunEnd::Completed)) && self.model.finished().is_ok()
    }
}
