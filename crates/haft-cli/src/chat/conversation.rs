use super::costs::Costs;
use super::event::{ChatEvent, ToolLine, Voice};
use crate::agent::AgentSettings;
use crate::agent_run::AgentRun;
use crate::attend::{Attended, attend, close};
use crate::bench::Bench;
use crate::changes::{Undoing, WhichOptions, changes_of, last_change, undoing};
use crate::exit::{Exit, UsageError};
use crate::ids;
use crate::interrupt::{Interruptible, Interrupts};
use crate::keeper::Keeper;
use crate::person::at_terminal;
use crate::task::{Task, What};
use crate::timeline::JsonLines;
use crate::tools::{denied, first_sentence, shown};
use crate::work::Work;
use anyhow::Result;
use haft::agent::{Phase, RunEnd, RunState};
use haft::core::{Message, RunId};
use haft::policy::SandboxMode;
use haft::tools_core::{Approval, Mode, PendingCall, PendingStore as _, Selector};
use haft::workdir::ChangeSetId;
use std::sync::Arc;
use std::time::Instant;

/// Is one run that a person talks to: each message is a prompt of it, and what was said before is known to its model.
pub(super) struct Conversation {
    pub(super) task: Task,
    keeper: Arc<Keeper>,
    bench: Bench,
    work: Work,
    voice: Voice,
    /// Where the changes in files stood before each message that can still be undone.
    marks: Vec<Mark>,
    /// What the model is to be told with the next message of what the person did themselves.
    aside: Option<String>,
}

/// Says from where on something was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// By changes after this one.
    After(Option<ChangeSetId>),
    /// From this turn of the model on: what another process has done.
    FromTurn(u32),
}

impl Conversation {
    pub(super) fn new(task: Task, keeper: Arc<Keeper>, bench: Bench, run: AgentRun) -> Self {
        let voice = Voice { json: task.json };
        let marks = marks_of(&run.state);
        Self { task, keeper, bench, work: Work::Agent(Box::new(run)), voice, marks, aside: None }
    }

    pub(super) fn run(&self) -> &RunId {
        self.keeper.run()
    }

    fn agent_run(&mut self) -> Result<&mut AgentRun> {
        agent_run(&mut self.work, self.keeper.run())
    }

    fn state(&self) -> Result<&RunState> {
        match &self.work {
            Work::Agent(run) => Ok(&run.state),
            Work::Call(_) => Err(no_chat(self.run())),
        }
    }

    fn settings(&self) -> Result<&AgentSettings> {
        match &self.task.work {
            What::Agent(settings) => Ok(settings),
            _ => Err(no_chat(self.run())),
        }
    }

    pub(super) fn mode(&self) -> Mode {
        self.bench.policy.mode.get()
    }

    /// How many calls wait for a person.
    pub(super) fn waiting(&self) -> usize {
        self.leaves().len()
    }

    fn leaves(&self) -> Vec<PendingCall> {
        self.work.waiting().iter().flat_map(PendingCall::leaves).cloned().collect()
    }

    /// Says that it begins or goes on.
    pub(super) fn greet(&self) -> Result<()> {
        self.hold();
        let goes_on = self.state()?.turns() > 0;
        let (run, mode) = (self.run().to_string(), self.mode().to_string());
        let model = self.settings()?.model.to_string();
        self.voice.say(&ChatEvent::ChatStarted { run, model, goes_on, mode })
    }

    /// Says something to the model, and sees its work through.
    pub(super) async fn say(&mut self, text: String, interrupts: &Interrupts) -> Result<()> {
        let waiting = self.waiting();
        if matches!(self.state()?.phase(), Phase::Waiting { .. }) {
            self.agent_run()?.tell(text).await?;
            self.keeper.keep(&self.work).await?;
            return self.voice.say(&ChatEvent::Queued { waiting });
        }
        self.marks.push(Mark::After(last_change(self.run())?));
        let aside = self.aside.take();
        let turn = self.begin(interrupts)?;
        let (before, start) = (Took::of(self.state()?), Instant::now());
        let settings = self.settings()?.clone();
        let run = self.agent_run()?;
        let mut told = run.news().await?;
        told.extend(aside);
        told.push(text);
        let prompt = told.join("\n\n");
        if *run.state.phase() == Phase::New {
            run.begin(prompt).await;
        } else {
            let budget = settings.budget_after(run.state.spent());
            run.prompt(prompt, budget).await?;
        }
        self.see_through(&turn, before, start, at_terminal()).await
    }

    /// Goes on with what another process has left to be done, or with what was answered elsewhere.
    pub(super) async fn go_on(&mut self, interrupts: &Interrupts) -> Result<()> {
        if self.state()?.end().is_some() || *self.state()?.phase() == Phase::New {
            return Ok(());
        }
        let name = self.run().to_string();
        let calls = self.keeper.state.calls().await?.into_iter().filter(|entry| entry.run == name);
        let waiting: Vec<PendingCall> = calls.filter_map(|entry| entry.call.ok()).collect();
        let turn = self.begin(interrupts)?;
        let (before, start) = (Took::of(self.state()?), Instant::now());
        self.agent_run()?.go_on(&waiting).await?;
        self.see_through(&turn, before, start, at_terminal()).await
    }

    /// Has Ctrl-C stop what is done now, and shows it.
    fn begin(&mut self, interrupts: &Interrupts) -> Result<Interruptible> {
        let turn = interrupts.begin();
        let run = self.agent_run()?;
        run.stopped_by(turn.token().clone());
        if let Some(timeline) = &run.timeline {
            timeline.release();
        }
        Ok(turn)
    }

    /// Keeps what happens while a person writes until they have written.
    fn hold(&self) {
        if let Work::Agent(run) = &self.work
            && let Some(timeline) = &run.timeline
        {
            timeline.hold();
        }
    }

    /// Has answered what waits, as far as somebody does, and says what came of it.
    async fn see_through(
        &mut self,
        turn: &Interruptible,
        before: Took,
        start: Instant,
        asks: bool,
    ) -> Result<()> {
        let attended = if asks { self.bench.attended(false) } else { Attended::Nobody };
        let done = attend(&mut self.work, &self.keeper, &attended, turn.token()).await;
        if turn.token().is_cancelled() {
            let run = agent_run(&mut self.work, self.keeper.run())?;
            if run.state.end().is_none() {
                run.stop().await?;
            }
            // Nothing works on that was begun by what was stopped.
            run.end_below().await?;
            self.keeper.keep(&self.work).await?;
        }
        self.conclude(before, start)?;
        self.hold();
        done
    }

    fn conclude(&self, before: Took, start: Instant) -> Result<()> {
        let Work::Agent(run) = &self.work else { return Ok(()) };
        let state = &run.state;
        match &run.timeline {
            None => JsonLines::summary(state, start.elapsed(), exit_of(run), None),
            Some(timeline) => {
                let Took { turns, calls } = before;
                let took = Took::of(state);
                timeline.answered(state, took.turns - turns, took.calls - calls, start.elapsed());
                if let Some(RunEnd::Failed { reason }) = state.end() {
                    reason.lines().for_each(|line| errln!("{}", crate::timeline::visible(line)));
                }
                if state.end().is_none() {
                    self.voice.say(&ChatEvent::Waiting { calls: self.leaves() })?;
                    outln!("`/approve` answers; so does `haft approvals`.");
                }
            }
        }
        Ok(())
    }

    /// Lists the calls that wait, and has a person answer them; goes on where that was done elsewhere.
    pub(super) async fn approve(&mut self, id: Option<String>, interrupts: &Interrupts) -> Result<()> {
        let leaves = self.leaves();
        let Some(id) = id else {
            if leaves.is_empty() || !at_terminal() {
                self.voice.say(&ChatEvent::Waiting { calls: leaves.clone() })?;
            }
            return if leaves.is_empty() { Ok(()) } else { self.attended(interrupts, at_terminal()).await };
        };
        self.answer(&leaves, &id, Approval::Approve, interrupts).await
    }

    /// Does not let a call run that waits.
    pub(super) async fn deny(&mut self, id: &str, reason: String, interrupts: &Interrupts) -> Result<()> {
        self.answer(&self.leaves(), id, Approval::Deny { reason }, interrupts).await
    }

    async fn answer(
        &mut self,
        leaves: &[PendingCall],
        id: &str,
        approval: Approval,
        interrupts: &Interrupts,
    ) -> Result<()> {
        let ids: Vec<&str> = leaves.iter().map(|leaf| leaf.id.as_str()).collect();
        let found =
            ids::pick(id, &ids, "call")?.and_then(|id| leaves.iter().find(|leaf| leaf.id.as_str() == id));
        let Some(pending) = found else {
            let message = format!("no call `{id}` waits; `/approve` lists those that do");
            return Err(UsageError(message).into());
        };
        self.keeper.state.answer(&pending.id, &approval).await?;
        self.attended(interrupts, false).await
    }

    /// Goes on with what is answered.
    async fn attended(&mut self, interrupts: &Interrupts, asks: bool) -> Result<()> {
        let turn = self.begin(interrupts)?;
        let (before, start) = (Took::of(self.state()?), Instant::now());
        self.see_through(&turn, before, start, asks).await
    }

    /// Says the mode, or goes on in another one, for which it is the person's word that they have typed it.
    pub(super) async fn set_mode(&mut self, mode: Option<Mode>) -> Result<()> {
        if let Some(mode) = mode {
            if mode == Mode::Auto && self.bench.sandbox == SandboxMode::Off {
                let message = "the mode `auto` allows what stays within the sandbox, and this chat has begun without one; begin \
                               one with `haft agent --mode auto`";
                return Err(UsageError(message.to_owned()).into());
            }
            self.bench.policy.mode.set(mode);
            self.task.set_mode(mode);
            self.keeper.retask(&self.task).await?;
        }
        self.voice.say(&ChatEvent::Mode { mode: self.mode().to_string() })
    }

    pub(super) fn tools(&self, selector: Option<&Selector>) -> Result<()> {
        let policy = &self.bench.policy.loaded.policy;
        let tools = match selector {
            Some(selector) => self.bench.tools.filtered(selector),
            None => self.bench.tools.clone(),
        };
        let line = |spec: &haft::core::ToolSpec| ToolLine {
            name: spec.name().to_string(),
            does: first_sentence(spec.description()).to_owned(),
            denied: denied(policy, spec).is_some(),
        };
        let tools: Vec<ToolLine> = shown(&tools, &[]).into_iter().map(line).collect();
        if let (true, Some(selector)) = (tools.is_empty(), selector) {
            return self.voice.refuse(format!("no tool is chosen by `{selector}`; `/tools` lists all"));
        }
        self.voice.say(&ChatEvent::Tools { tools })
    }

    pub(super) fn costs(&self) -> Result<()> {
        let costs = Costs::of(self.state()?, self.settings()?.has_price());
        self.voice.say(&ChatEvent::Cost(costs))
    }

    /// Takes back what the last message changed that has changed anything and was not undone.
    pub(super) fn undo(&mut self) -> Result<()> {
        let run = self.run().clone();
        let sets = changes_of(&run)?;
        while let Some(mark) = self.marks.last().copied() {
            let since = match mark {
                Mark::After(last) => {
                    sets.iter().map(|set| set.id).filter(|id| last.is_none_or(|last| *id > last)).min()
                }
                Mark::FromTurn(turn) => {
                    let of_turn =
                        sets.iter().filter(|set| set.origin.run == run && set.origin.turn >= Some(turn));
                    of_turn.map(|set| set.id).min()
                }
            };
            let Some(since) = since else {
                self.marks.pop();
                continue;
            };
            let which = WhichOptions {
                run: Some(run.to_string()),
                call: None,
                turn: None,
                json: false,
                since: Some(since),
            };
            let Ok(undoing) = undoing(&which, false)? else { return Ok(()) };
            if undoing.is_of_nothing() {
                self.marks.pop();
                continue;
            }
            if !undoing.refuses() {
                self.marks.pop();
                let paths: Vec<&str> = undoing.paths().collect();
                self.aside = Some(format!(
                    "[Since your last answer the user took back what you had changed in these files: {}. Read them again before \
                     you change them.]",
                    paths.join(", ")
                ));
            }
            return self.voice.say(&ChatEvent::Undone { undoing });
        }
        self.voice.say(&ChatEvent::Undone {
            undoing: Undoing::nothing(&run, "no message has changed a file by a file tool"),
        })
    }

    /// Ends it: what works below it ends, and it is kept for a month if its model has said something.
    pub(super) async fn close(mut self, interrupts: &Interrupts) -> Result<Exit> {
        let _turn = self.begin(interrupts)?;
        close(&self.work, &self.keeper, &self.bench).await?;
        let kept = self.state()?.turns() > 0;
        self.voice.say(&ChatEvent::ChatEnded { run: self.run().to_string(), kept })?;
        let Work::Agent(run) = &self.work else { return Ok(Exit::Done) };
        Ok(exit_of(run))
    }
}

/// Says that a run is none that a person can talk to.
fn no_chat(run: &RunId) -> anyhow::Error {
    anyhow::anyhow!("the run `{run}` is not a chat; `haft resume {run}` goes on with it")
}

fn agent_run<'a>(work: &'a mut Work, run: &RunId) -> Result<&'a mut AgentRun> {
    match work {
        Work::Agent(run) => Ok(run),
        Work::Call(_) => Err(no_chat(run)),
    }
}

/// How the command exits that leaves a run as it stands.
fn exit_of(run: &AgentRun) -> Exit {
    match run.state.end() {
        None if *run.state.phase() == Phase::New => Exit::Done,
        None => Exit::Waiting,
        Some(RunEnd::Completed) => Exit::Done,
        Some(_) => Exit::Failed,
    }
}

/// Where the messages of a run began that another process has heard.
fn marks_of(state: &RunState) -> Vec<Mark> {
    let mut marks = Vec::new();
    let (mut turns, mut answered) = (0, true);
    for message in state.messages() {
        match &**message {
            Message::User { .. } if answered => {
                marks.push(Mark::FromTurn(turns + 1));
                answered = false;
            }
            Message::Assistant { .. } => {
                turns += 1;
                answered = message.tool_calls().next().is_none();
            }
            _ => {}
        }
    }
    marks
}

/// Counts what a run did.
#[derive(Debug, Clone, Copy)]
struct Took {
    turns: u32,
    calls: usize,
}

impl Took {
    fn of(state: &RunState) -> Self {
        let replies = |message: &Arc<Message>| match &**message {
            Message::Tool { replies } => replies.len(),
            _ => 0,
        };
        Self { turns: state.turns(), calls: state.messages().iter().map(replies).sum() }
    }
}
