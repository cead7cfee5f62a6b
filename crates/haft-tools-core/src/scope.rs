use crate::Extensions;
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
    parent_run: Option<RunId>,
    agent: Option<Arc<str>>,
    depth: u32,
    extensions: Extensions,
}

impl CallScope {
    /// Makes the scope of a run that no other run started.
    pub fn new(run: RunId) -> Self {
        Self { run, parent_run: None, agent: None, depth: 0, extensions: Extensions::default() }
    }

    /// Makes the scope of a run that this one starts: one level deeper, with the same extensions.
    pub fn child(&self, run: RunId) -> Self {
        Self {
            run,
            parent_run: Some(self.run.clone()),
            agent: None,
            depth: self.depth.saturating_add(1),
            extensions: self.extensions.clone(),
        }
    }

    /// Names the agent that works in the run.
    pub fn with_agent(mut self, agent: impl Into<Arc<str>>) -> Self {
        self.agent = Some(agent.into());
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
        self.parent_run.as_ref()
    }

    /// The agent that works in the run, if it has a name.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// How many runs are above this one.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Borrows the host's value of a type, if there is one.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.get()
    }
}
