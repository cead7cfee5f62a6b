use crate::bench::Bench;
use crate::keeper::Keeper;
use crate::paint::ASKS;
use crate::played::Played;
use crate::scripts::{JobNews, Scripts};
use crate::set_up::Around;
use crate::timeline::{JsonLines, Timeline};
use anyhow::Result;
use haft::agent::{Agent, Budget, Phase, Prices, ResumeError, RunEnd, RunEvent, RunState, SteerWhen};
use haft::core::CallId;
use haft::model::{Model, ScriptedModel, Session};
use haft::shell::Jobs;
use haft::subagents::{AgentRunner, ChildRecord, ChildRun, ChildStatus, Supervisor};
use haft::tools_core::{Approval, CallOutcome, Events, HeldCall, Observer, PendingCall, Redactor};
use haft::{CallScope, ToolCall};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::future::FutureExt as _;
use tokio_util::sync::CancellationToken;

/// How long runs that are cancelled are waited for: a little longer than each has to end by itself.
const MOST_ENDING: Duration = Duration::from_secs(12);

/// Drives one run of an agent for the command line: has a model answer, and its calls executed and shown.
pub(crate) struct AgentRun {
    agent: Agent,
    /// The model that plays a session, where it is one.
    pub(crate) session: Option<Arc<ScriptedModel>>,
    pub(crate) timeline: Option<Arc<Timeline>>,
    /// Who starts the runs below it.
    supervisor: Option<Supervisor>,
    /// What scripts leave that it runs.
    scripts: Scripts,
    scope: CallScope,
    pub(crate) state: RunState,
    /// Stops what it does now.
    turn: CancellationToken,
}

/// Holds what a run is driven with, but for its model.
pub(crate) struct Stage<'a> {
    pub(crate) bench: &'a Bench,
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) around: Around,
    pub(crate) scope: CallScope,
    pub(crate) approves_all: bool,
    /// Knows the secrets that nothing may show.
    pub(crate) redactor: Redactor,
    pub(crate) token: CancellationToken,
}

/// Shows what happens in a run, and in those below it.
pub(crate) struct Shown {
    timeline: Option<Arc<Timeline>>,
    pub(crate) events: Events,
}

impl Shown {
    /// Shows it to people, or as JSON.
    pub(crate) fn new(json: bool, jobs: &Jobs) -> Self {
        let timeline = (!json).then(|| Arc::new(Timeline::new()));
        let observer: Arc<dyn Observer> = match &timeline {
            Some(timeline) => Arc::clone(timeline) as Arc<dyn Observer>,
            None => Arc::new(JsonLines),
        };
        Self { timeline, events: Events::new([observer, Arc::new(jobs.clone())]) }
    }
}

/// Chooses the model of a run that is delegated to an agent.
pub(crate) type ChooseModel = Box<dyn Fn(&ChildRun) -> Option<Arc<dyn Model>> + Send + Sync>;

impl AgentRun {
    /// Sets the stage for a session, at the place that a run has got to.
    pub(crate) fn playing(with: Stage<'_>, session: Session, stands: RunState) -> Result<Self> {
        let below = session.clone();
        let choose: ChooseModel = Box::new(move |child| Some(Arc::new(Played::new(&below, &child.path))));
        let model = Arc::new(ScriptedModel::new(session).after_turns(stands.turns() as usize));
        let mut run = Self::new(with, Arc::clone(&model), stands, choose, Prices::new(), |agent| agent)?;
        run.session = Some(model);
        Ok(run)
    }

    /// Sets the stage for a model, at the place that a run has got to; `configured` says under which terms it answers.
    pub(crate) fn new(
        with: Stage<'_>,
        model: impl Model,
        stands: RunState,
        choose: ChooseModel,
        prices: Prices,
        configured: impl FnOnce(Agent) -> Agent,
    ) -> Result<Self> {
        let Stage { bench, keeper, around, scope, approves_all, redactor, token } = with;
        let Around { scripts, shown: Shown { timeline, events }, supervisor, .. } = around;
        let executor =
            bench.executor(approves_all)?.outputs(Arc::clone(&scripts.outputs)).events(events.clone());
        let executor = executor.redactor(redactor).build();
        let model: Arc<dyn Model> = Arc::new(model);
        if let Some(supervisor) = &supervisor {
            let runner = AgentRunner::new(Arc::clone(&model), executor.clone());
            let runner = runner.events(events.clone()).prices(prices.clone());
            supervisor.drive_with(runner.choosing_model(choose));
        }
        let agent = Agent::new(model, executor).events(events).cancelled_by(token.clone()).kept_by(keeper);
        let mut agent = agent.prices(prices).news(Arc::new(JobNews(scripts.jobs.clone())));
        if let Some(supervisor) = &supervisor {
            let news = Arc::new(supervisor.clone());
            agent = agent.made_again(Supervisor::MADE_AGAIN).may_repeat(Supervisor::MAY_REPEAT).news(news);
        }
        if let Some(timeline) = &timeline {
            timeline.go_on(&stands);
        }
        Ok(Self {
            agent: configured(agent),
            session: None,
            timeline,
            supervisor,
            scripts,
            scope,
            state: stands,
            turn: token,
        })
    }

    /// Goes from the prompt until it ends or waits for a person.
    pub(crate) async fn begin(&mut self, prompt: String) {
        self.state = self.stoppable(Box::pin(self.agent.run(self.scope.clone(), prompt))).await;
    }

    /// Has another token stop what it does from now on, and not the run for good.
    pub(crate) fn stopped_by(&mut self, turn: CancellationToken) {
        self.turn = turn;
    }

    /// Does something with the run that its token stops: each call gets its reply then, and the run ends as cancelled.
    async fn stoppable<T>(&self, mut work: Pin<Box<impl Future<Output = T>>>) -> T {
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = self.turn.cancelled() => {}
        }
        // Where the run is at work no more, there is nothing left to stop.
        let _ = self.agent.cancel(self.scope.run());
        work.await
    }

    /// Stops a run that waits for a person: the calls that wait are given up.
    pub(crate) async fn stop(&mut self) -> Result<()> {
        self.state =
            Box::pin(self.agent.step(self.scope.clone(), self.state.clone(), RunEvent::Cancelled)).await?;
        Ok(())
    }

    /// Says something to a run that waits for a person: the model is told when it goes on.
    pub(crate) async fn tell(&mut self, text: String) -> Result<()> {
        let event = RunEvent::Steered { text, when: SteerWhen::AfterTurn };
        self.state = Box::pin(self.agent.step(self.scope.clone(), self.state.clone(), event)).await?;
        Ok(())
    }

    /// Goes on with another prompt when the run has ended, with a budget that counts what it has spent.
    pub(crate) async fn prompt(&mut self, prompt: String, budget: Budget) -> Result<()> {
        let state = self.state.clone().budget(budget);
        self.state = self.stoppable(Box::pin(self.agent.prompt(self.scope.clone(), state, prompt))).await?;
        Ok(())
    }

    /// Goes on from where a process ended that was interrupted.
    ///
    /// Of the calls that were being executed then, those wait that had come to wait, and the others are answered as lost: they
    /// are not run twice. Those that find what they began go on, also where a person had approved them.
    pub(crate) async fn go_on(&mut self, waiting: &[PendingCall]) -> Result<()> {
        let lost = |call: &CallId| {
            errln!(
                "the call `{call}` was due when the process ended that went on with it; it is not run again, and whether it \
                 had its effect is not known"
            );
        };
        let approved = self.state.approved().map(|(pending, _)| pending);
        // One that still waits can be answered otherwise by now.
        let was_begun = approved.is_some_and(|pending| waiting.iter().all(|other| other.id != pending.id));
        let event = match self.state.phase() {
            Phase::Acting { calls, .. } => {
                let outcome = |call: &ToolCall| {
                    if let Some(pending) = waiting.iter().find(|pending| pending.call.id == call.id) {
                        return CallOutcome::Pending(Box::new(pending.clone()));
                    }
                    if self.finds_its_runs(call) {
                        return CallOutcome::Held(Box::new(HeldCall::new(call.clone())));
                    }
                    lost(&call.id);
                    CallOutcome::lost(call)
                };
                RunEvent::BatchExecuted { outcomes: calls.iter().map(outcome).collect() }
            }
            // Nothing was interrupted, and whoever stops the command now must not end a run that can still be answered.
            Phase::Waiting { executing, .. } if executing.is_empty() && !was_begun => return Ok(()),
            Phase::Waiting { outcomes, executing } => {
                let held = outcomes.iter().filter_map(|outcome| match outcome {
                    CallOutcome::Held(held) if executing.contains(&held.call.id) => Some(&held.call),
                    _ => None,
                });
                held.filter(|call| !self.finds_its_runs(call)).for_each(|call| lost(&call.id));
                RunEvent::Interrupted
            }
            _ => RunEvent::Interrupted,
        };
        let (scope, state) = (self.scope.clone(), self.state.clone());
        self.state = if was_begun {
            self.stoppable(Box::pin(self.agent.go_on(scope, state))).await
        } else {
            self.stoppable(Box::pin(self.agent.step(scope, state, event))).await?
        };
        Ok(())
    }

    /// Tells whether a call that was being executed when its process ended can be made again: it finds what it began.
    fn finds_its_runs(&self, call: &ToolCall) -> bool {
        self.supervisor.is_some() && Supervisor::MADE_AGAIN.contains(&call.name.as_str())
    }

    /// Goes on with the runs in the background that a process left behind which ended; those of a run that has ended itself end.
    pub(crate) async fn go_on_below(&self) -> Result<()> {
        match &self.supervisor {
            Some(supervisor) if self.state.end().is_none() => {
                let purse = self.agent.purse(self.scope.run(), &self.state);
                supervisor.go_on_all(&self.scope.clone().with_extension(purse)).await?;
                Ok(())
            }
            _ => self.end_below().await,
        }
    }

    /// Takes what the model is to be told of runs in the background that have ended, since it was last told.
    pub(crate) async fn news(&self) -> Result<Vec<String>> {
        match &self.supervisor {
            Some(supervisor) => Ok(supervisor.untold_news(&self.scope).await?),
            None => Ok(Vec::new()),
        }
    }

    /// Brings what was started below the run to its end, once that has ended itself, and to a place where it can be gone on with
    /// otherwise.
    pub(crate) async fn end_below(&self) -> Result<()> {
        if self.state.end().is_some() {
            self.scripts.jobs.end().await;
        }
        let Some(supervisor) = &self.supervisor else { return Ok(()) };
        let run = self.scope.run();
        if self.state.end().is_some() {
            supervisor.cancel_below(run).await?;
            // What has not ended by then is kept as it stands, and is cancelled before anything goes on.
            return match timeout(MOST_ENDING, supervisor.idle(run)).await {
                Ok(idle) => Ok(idle?),
                Err(_) => Ok(()),
            };
        }
        let at_work = |record: &ChildRecord| {
            record.background && matches!(record.status, ChildStatus::Queued | ChildStatus::Running)
        };
        let count = supervisor.children(run).await?.iter().filter(|record| at_work(record)).count();
        if count == 0 {
            return Ok(());
        }
        if self.timeline.is_some() {
            let agents = if count == 1 { "1 agent works" } else { &format!("{count} agents work") };
            errln!(
                "{ASKS}{agents} in the background{ASKS:#}, which is waited for; interrupt it to go on later"
            );
        }
        if let Some(idle) = supervisor.idle(run).with_cancellation_token(&self.turn).await {
            return Ok(idle?);
        }
        errln!("agents in the background were interrupted; `haft resume {run}` goes on with them");
        Ok(())
    }

    /// Answers a call that waits, and goes on.
    pub(crate) async fn answer(
        &mut self,
        pending: &PendingCall,
        approval: Approval,
    ) -> Result<(), ResumeError> {
        let state = self.state.clone();
        let resumed = self.agent.resume(self.scope.clone(), state, &pending.call.id, approval);
        self.state = self.stoppable(Box::pin(resumed)).await?;
        Ok(())
    }

    /// Takes what became elsewhere of a call that waits, and goes on.
    pub(crate) async fn answered(&mut self, outcome: CallOutcome) -> Result<()> {
        let event = RunEvent::CallAnswered { outcome };
        self.state =
            self.stoppable(Box::pin(self.agent.step(self.scope.clone(), self.state.clone(), event))).await?;
        Ok(())
    }

    /// Tells whether the model ended the run, with no turn left of a session that it plays.
    pub(crate) fn is_done(&self) -> bool {
        let is_played = self.session.as_ref().is_none_or(|session| session.finished().is_ok());
        matches!(self.state.end(), Some(RunEnd::Completed)) && is_played
    }
}
