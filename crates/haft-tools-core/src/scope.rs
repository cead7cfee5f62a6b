use crate::extensions::Extensions;
use crate::permission::ModeSet;
use crate::{Mode, Policy};
use haft_core::RunId;
use std::sync::Arc;

/// Says on whose behalf a call is made: the run, the run above it, the agent, and what the host adds.
///
/// Cheap to clone.
///
/// ```
/// use haft_tools_core::CallScope;
///
/// let scope = CallScope::new("run-1".parse()?).with_agent("explorer");
/// assert_eq!(scope.agent(), Some("explorer"));
/// assert_eq!(scope.depth(), 0);
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CallScope {
    run: RunId,
    agent: Option<Arc<str>>,
    turn: Option<u32>,
    /// The scope of the run that started this one.
    above: Option<Arc<CallScope>>,
    ceiling: Option<Arc<Policy>>,
    modes: ModeSet,
    extensions: Extensions,
}

impl CallScope {
    /// Makes the scope of a run that no other run started.
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            agent: None,
            turn: None,
            above: None,
            ceiling: None,
            modes: ModeSet::default(),
            extensions: Extensions::default(),
        }
    }

    /// Makes the scope of a run that this one starts: one level deeper, below its ceilings and modes, with the
    /// same extensions.
    pub fn child(&self, run: RunId) -> Self {
        Self {
            run,
            agent: None,
            turn: None,
            above: Some(Arc::new(self.clone())),
            ceiling: None,
            modes: ModeSet::default(),
            extensions: self.extensions.clone(),
        }
    }

    /// Names the agent that works in the run.
    pub fn with_agent(mut self, agent: impl Into<Arc<str>>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// Says in which turn of the run calls are made, from 1.
    pub fn with_turn(mut self, turn: u32) -> Self {
        self.turn = Some(turn);
        self
    }

    /// Bounds what this run and all it starts may do by the layers of a policy, besides what the executor's own says.
    pub fn with_ceiling(mut self, ceiling: impl Into<Arc<Policy>>) -> Self {
        self.ceiling = Some(ceiling.into());
        self
    }

    /// Has the calls of this run and of all it starts decided in a mode too, besides the executor's and those of the runs above.
    ///
    /// It never opens anything: a call runs only if each of these modes lets it. One that was given before goes on to hold,
    /// and a change of the executor's [`ModeSwitch`](crate::ModeSwitch) counts at once.
    ///
    /// ```
    /// use haft_core::{Decision, Schema, ToolSpec};
    /// use haft_tools_core::{Accesses, CallScope, Mode, Policy, Access, Resource, Rule, Scheme};
    ///
    /// let policy = Policy::new().allow(Rule::tools("*".parse()?));
    /// let tool = ToolSpec::new("write_file".parse()?, "Writes a file.", Schema::empty());
    /// let write = Accesses::from(Access::write(Resource::exact(Scheme::new("file"), "notes.md")));
    ///
    /// let planning = CallScope::new("run-1".parse()?).with_mode(Mode::Plan);
    /// let below = planning.child("run-2".parse()?).with_mode(Mode::Auto);
    /// assert_eq!(policy.decide_in(&below, Mode::Auto, &tool, &write).decision(), Decision::Deny);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.modes = self.modes.with(mode);
        self
    }

    /// Adds a value that tools can ask for by its type; one of the same type is replaced.
    pub fn with_extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions = self.extensions.with(value);
        self
    }

    /// The run the call belongs to.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The run that started that run, if one did.
    pub fn parent_run(&self) -> Option<&RunId> {
        self.above.as_deref().map(Self::run)
    }

    /// The agent that works in the run, if it has a name.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// The turn of the run in which the call is made, from 1, if that is known.
    pub fn turn(&self) -> Option<u32> {
        self.turn
    }

    /// How many runs are above this one.
    pub fn depth(&self) -> u32 {
        u32::try_from(self.chain().skip(1).count()).unwrap_or(u32::MAX)
    }

    /// Iterates over this scope and those above it, up to the one that no other run started.
    pub fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |scope| scope.above.as_deref())
    }

    /// What this run and all it starts may do at most, if that was bounded in code.
    pub fn ceiling(&self) -> Option<&Policy> {
        self.ceiling.as_deref()
    }

    /// The modes that were given to this run, from the strictest to the widest; those of the runs above hold, too.
    pub fn modes(&self) -> impl Iterator<Item = Mode> + use<> {
        self.modes.iter()
    }

    /// Tells whether this run or one above it was bounded in code, or given a mode.
    pub(crate) fn is_bounded(&self) -> bool {
        self.chain().any(|scope| scope.ceiling.is_some() || !scope.modes.is_empty())
    }

    /// Puts the scope below another that it is not below yet: what a call makes is never outside its own bounds.
    pub(crate) fn below(self, above: &Self) -> Self {
        let is_below = self.chain().any(|scope| scope.is_bounded_like(above));
        if is_below { self } else { self.lowered(above) }
    }

    /// Tells whether the scope has the same run, agent, ceiling and modes as another, and so has everything above them.
    ///
    /// The same run and agent alone are not enough: whoever makes a scope of those leaves out what bounds them.
    fn is_bounded_like(&self, other: &Self) -> bool {
        let is_same_ceiling = match (&self.ceiling, &other.ceiling) {
            (Some(mine), Some(others)) => Arc::ptr_eq(mine, others),
            (None, None) => true,
            _ => false,
        };
        let are_bounded_alike = || match (&self.above, &other.above) {
            (Some(mine), Some(others)) => Arc::ptr_eq(mine, others) || mine.is_bounded_like(others),
            (None, None) => true,
            _ => false,
        };
        self.run == other.run
            && self.agent == other.agent
            && self.modes == other.modes
            && is_same_ceiling
            && are_bounded_alike()
    }

    fn lowered(mut self, above: &Self) -> Self {
        let lowered = match self.above.take() {
            Some(next) => Arc::unwrap_or_clone(next).lowered(above),
            None => above.clone(),
        };
        self.above = Some(Arc::new(lowered));
        self
    }

    /// Borrows the host's value of a type, if there is one.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.get()
    }
}
