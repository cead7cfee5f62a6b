//! What a run begins with.

use super::{RunState, StepError};
use crate::Budget;
use crate::compaction::{estimate, mismatch};
use haft_core::Message;
use std::sync::Arc;

impl RunState {
    /// Makes a run that nothing was asked of yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits what the run may spend from now on, what it has spent included.
    ///
    /// A run that ended because a budget was spent can be prompted again once it has more.
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.head.account.budget = budget;
        self
    }

    /// Names tools whose calls are no loop when they give the same again and again, such as one that waits for something.
    pub fn with_repeatable(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.head.may_repeat.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Makes a run that begins with what was said in another.
    ///
    /// ```
    /// use haft_agent::RunState;
    /// use haft_core::Message;
    /// use std::sync::Arc;
    ///
    /// let said = [Arc::new(Message::user("The build fails on Windows."))];
    /// let state = RunState::with_transcript(said)?;
    /// assert_eq!(state.messages().len(), 1);
    /// # Ok::<(), haft_agent::StepError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When calls and replies do not stand together, or the last calls have no replies.
    pub fn with_transcript(messages: impl IntoIterator<Item = Arc<Message>>) -> Result<Self, StepError> {
        let messages: Vec<Arc<Message>> = messages.into_iter().collect();
        let unanswered = messages.last().is_some_and(|last| last.tool_calls().next().is_some());
        let detail = mismatch(&messages)
            .or_else(|| unanswered.then(|| "the calls of the last message have no replies".to_owned()));
        if let Some(detail) = detail {
            return Err(StepError::Untellable { detail });
        }
        let mut state = Self::new();
        state.head.context = messages.iter().map(|message| estimate(message)).sum();
        state.head.entries = messages.len();
        state.messages = messages;
        Ok(state)
    }
}
