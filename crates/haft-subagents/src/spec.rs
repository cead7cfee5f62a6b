use haft_agent::Budget;
use haft_core::{Schema, ToolName};
use haft_tools_core::{Mode, Selector};
use std::sync::Arc;

/// Says what an agent is there for, which tools it has, and what it may spend.
///
/// ```
/// use haft_subagents::AgentSpec;
///
/// let explorer = AgentSpec::new("explorer".parse()?, "Finds where things are in the code.")
///     .instructions("You look for code. Answer with paths and line numbers.")
///     .tools("read_*, grep, glob".parse()?);
/// assert_eq!(explorer.name.as_str(), "explorer");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentSpec {
    /// The name by which it is delegated to, and by which rules know it.
    pub name: ToolName,
    /// When to delegate to it, for the model that does so.
    pub description: Arc<str>,
    /// What it is told it is there for.
    pub instructions: Arc<str>,
    /// The tools it has, of those of the house; all by default. What they may do is the policy's to say.
    pub tools: Selector,
    /// The model that it works with, by a name that the host knows; its parent's by default.
    pub model: Option<Arc<str>>,
    /// The mode in which its calls are decided, where it is stricter than its parent's.
    pub mode: Option<Mode>,
    /// What it may spend, of what its parent has left.
    pub budget: Budget,
    /// What it is told of its parent's run.
    pub context: Share,
    /// What its result looks like; text by default.
    pub output: Option<Schema>,
    /// Where it works.
    pub isolation: Isolation,
}

/// Says what an agent is told of the run that delegates to it.
///
/// ```
/// use haft_subagents::{AgentSpec, Share};
///
/// let reviewer = AgentSpec::new("reviewer".parse()?, "Reviews what was done.").context(Share::Last(10));
/// assert_eq!(reviewer.context, Share::Last(10));
/// # Ok::<(), haft_core::NameError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Share {
    /// Nothing but its task.
    #[default]
    Fresh,
    /// The last messages, so many of them at most.
    Last(usize),
    /// All messages.
    All,
}

/// Says where an agent works.
///
/// ```
/// use haft_subagents::{AgentSpec, Isolation};
///
/// let editor = AgentSpec::new("editor".parse()?, "Changes code.").isolation(Isolation::Worktree);
/// assert_eq!((editor.isolation, Isolation::default()), (Isolation::Worktree, Isolation::Shared));
/// # Ok::<(), haft_core::NameError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Isolation {
    /// Where its parent does.
    #[default]
    Shared,
    /// In a git working tree of its own, with what its parent has, committed or not; in a copy where there is no
    /// repository.
    Worktree,
    /// In a copy of its own, without the history.
    Copy,
}

impl AgentSpec {
    /// Makes an agent that has all tools, is told nothing but its task, and answers in text.
    pub fn new(name: ToolName, description: impl Into<Arc<str>>) -> Self {
        Self {
            name,
            description: description.into(),
            instructions: Arc::default(),
            tools: Selector::all(),
            model: None,
            mode: None,
            budget: Budget::default(),
            context: Share::default(),
            output: None,
            isolation: Isolation::default(),
        }
    }

    /// Tells it what it is there for.
    pub fn instructions(mut self, instructions: impl Into<Arc<str>>) -> Self {
        self.instructions = instructions.into();
        self
    }

    /// Chooses the tools it has.
    pub fn tools(mut self, tools: Selector) -> Self {
        self.tools = tools;
        self
    }

    /// Names the model that it works with.
    pub fn model(mut self, model: impl Into<Arc<str>>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Has its calls decided in this mode, where it is stricter than its parent's.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Limits what it may spend.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Says what it is told of its parent's run.
    pub fn context(mut self, share: Share) -> Self {
        self.context = share;
        self
    }

    /// Says what its result looks like: JSON of this schema.
    pub fn output(mut self, schema: Schema) -> Self {
        self.output = Some(schema);
        self
    }

    /// Says where it works.
    pub fn isolation(mut self, isolation: Isolation) -> Self {
        self.isolation = isolation;
        self
    }
}
