//! How an agent is set up.

use super::offer::Offer;
use super::{Agent, News, Purses, StateKeeper};
use crate::{Budget, Compaction, Prices};
use haft_tools_core::{CallContext, CallScope, Events, RunTools};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl Agent {
    /// Tells the model what it is there for.
    pub fn system(mut self, system: impl Into<Arc<str>>) -> Self {
        self.system = Some(system.into());
        self
    }

    /// Tells observers what the model says; give the executor the same events to number them together, and to replace
    /// the secrets of its redactor in them.
    pub fn events(mut self, events: Events) -> Self {
        self.events = events;
        self
    }

    /// Stops every run of this agent when the token is cancelled: each call gets its reply, also one that waits for a person,
    /// and the run ends.
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// Says which call the runs of this agent are part of, for a tool that runs an agent of its own.
    ///
    /// Their calls take its place in the order, and people are asked about them as they are about that call; see
    /// [`Batch::made_by`](haft_tools_core::Batch::made_by).
    pub fn made_by(mut self, call: &CallContext) -> Self {
        self.caller = Some(call.clone());
        self
    }

    /// Has every run kept as it goes; without a keeper nothing is kept but what is returned.
    pub fn kept_by(mut self, keeper: Arc<dyn StateKeeper>) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// Asks this before each turn of the model what the run should be told; those that were given before are asked as well,
    /// in their order.
    pub fn news(mut self, news: Arc<dyn News>) -> Self {
        self.news.push(news);
        self
    }

    /// Limits what each run may spend that [`Agent::run`] starts; nothing by default.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Has the purses of runs found there, where other agents drive the same runs before or after this one.
    pub fn purses(mut self, purses: Purses) -> Self {
        self.purses = purses;
        self
    }

    /// Names tools whose calls are no loop when they give the same again and again, in each run that [`Agent::run`] starts.
    ///
    /// A tool that waits for something, or looks whether it is there, is one of them.
    pub fn may_repeat(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.may_repeat.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Says what models cost; needed for a budget of money, and otherwise to know what was spent.
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// Has made less of what the model is told, when a request takes up 80 % of what it can hold.
    pub fn compacted_by(mut self, compaction: impl Compaction) -> Self {
        self.compaction = Some(Arc::new(compaction));
        self
    }

    /// Says how much a request and its answer may hold together, in tokens, where the model does not say it, or to keep
    /// below that.
    pub fn context_window(mut self, tokens: u64) -> Self {
        self.window = Some(tokens);
        self
    }

    /// Names tools whose calls are made again when the process ended while they were executed, and not answered as lost:
    /// by [`Agent::go_on`], by [`Agent::unpause`], and by [`Agent::resume`] where somebody has begun to go on with the call
    /// before.
    ///
    /// It has to be right to make such a call twice, one after the other: because it finds what it began the first time, say.
    pub fn made_again(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.made_again.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Has the tools of each turn taken from the list of its run, and not from the executor or from what the agent was made
    /// with.
    ///
    /// It is asked for before each turn, and has to give the same list for the same run. The model is told of what is listed
    /// then, and the calls of the turn are executed with the registry of the same time.
    ///
    /// ```
    /// use haft_agent::Agent;
    /// use haft_model::{ScriptedModel, Session};
    /// use haft_tools_core::{Catalog, LocalExecutor, RunTools, ToolRegistry};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new(Session::parse(r#"{"text": "Nothing to do."}"#, "idle.jsonl")?);
    /// let catalog = Catalog::builder().build()?;
    /// // For an agent that drives one run.
    /// let list = RunTools::builder(catalog.snapshot()).start();
    /// let executor = LocalExecutor::builder(ToolRegistry::new()).build();
    /// let agent = Agent::new(model, executor).run_tools(move |_| {
    ///     list.update(catalog.snapshot());
    ///     list.clone()
    /// });
    /// # let _ = agent;
    /// # Ok(())
    /// # }
    /// ```
    pub fn run_tools(mut self, tools: impl Fn(&CallScope) -> RunTools + Send + Sync + 'static) -> Self {
        self.offer = Offer::Live(Arc::new(tools));
        self
    }
}
