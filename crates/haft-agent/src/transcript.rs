use haft_core::Message;
use std::ops::Deref;
use std::sync::Arc;

/// Holds the messages of a run as they were at one time, oldest first.
///
/// Cheap to clone: clones share the list. The run goes on meanwhile; it makes a list of its own, of pointers to the same
/// messages, when it adds one while somebody has this.
///
/// ```
/// use haft_agent::{RunEvent, RunState};
///
/// let mut state = RunState::new();
/// let before = state.transcript();
/// state.step(RunEvent::Prompted { text: "Fix the failing test.".into() })?;
/// assert_eq!((before.len(), state.transcript().len()), (0, 1));
/// # Ok::<(), haft_agent::StepError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transcript(Arc<Vec<Arc<Message>>>);

impl Transcript {
    pub(crate) fn push(&mut self, message: Arc<Message>) {
        Arc::make_mut(&mut self.0).push(message);
    }
}

impl From<Vec<Arc<Message>>> for Transcript {
    fn from(messages: Vec<Arc<Message>>) -> Self {
        Self(Arc::new(messages))
    }
}

impl Deref for Transcript {
    type Target = [Arc<Message>];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
