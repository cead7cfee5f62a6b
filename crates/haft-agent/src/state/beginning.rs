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
    pub fn budget(mut self, budget: Budget) -> Self {
        self.head.account.budget = budget;
        self
    }

    /// Names tools whose calls are no loop when they give the same again and again, such as one that waits for something.
    pub fn may_repeat(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.head.may_repeat.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Names tools whose calls are made again when the process ended while they were executed, and not answered as lost.
    ///
    /// It has to be right to make such a call twice: because it finds what it began the first time, say.
    pub fn made_again(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.head.made_again.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Makes a run that begins with a part of what was said in another, such as its last messages, or what was said while
    /// calls run.
    ///
    /// Replies whose calls are not in it are left out, and so is a message whose calls have no replies in it.
    ///
    /// ```
    /// use haft_agent::RunState;
    /// use haft_core::{Message, ToolCall};
    /// use std::sync::Arc;
    ///
    /// let call = ToolCall::new("c1".parse()?, "delegate", serde_json::json!({}));
    /// let said = [
    ///     Message::user("The build fails on Windows."),
    ///     Message::Assistant { parts: vec![haft_core::AssistantPart::ToolCall { call }] },
    /// ];
    /// let state = RunState::from_part_of(said.map(Arc::new));
    /// assert_eq!(state.messages().len(), 1);
    /// # Ok::<(), haft_core::IdError>(())
    /// ```
    pub fn from_part_of(messages: impl IntoIterator<Item = Arc<Message>>) -> Self {
        let mut whole: Vec<Arc<Message>> = Vec::new();
        for message in messages {
            let asks = |last: &Arc<Message>| last.tool_calls().next().is_some();
            if let Message::Tool { replies } = &*message {
                let is_answer = whole.last().is_some_and(|last| {
                    asks(last)
                        && last
                            .tool_calls()
                            .map(|call| &call.id)
                            .eq(replies.iter().map(|reply| &reply.call_id))
                });
                if !is_answer {
                    continue;
                }
            } else if whole.last().is_some_and(asks) {
                whole.pop();
            }
            whole.push(message);
        }
        if whole.last().is_some_and(|last| last.tool_calls().next().is_some()) {
            whole.pop();
        }
        Self::beginning_with(whole)
    }

    fn beginning_with(messages: Vec<Arc<Message>>) -> Self {
        let mut state = Self::new();
        state.head.context = messages.iter().map(|message| estimate(message)).sum();
        state.head.entries = messages.len();
        state.messages = messages.into();
        state
    }

    /// Makes a run that begins with what was said in another.
    ///
    /// ```
    /// use haft_agent::RunState;
    /// use haft_core::Message;
    /// use std::sync::Arc;
    ///
    /// let said = [Arc::new(Message::user("The build fails on Windows."))];
    /// let state = RunState::from_transcript(said)?;
    /// assert_eq!(state.messages().len(), 1);
    /// # Ok::<(), haft_agent::StepError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When calls and replies do not stand together, or the last calls have no replies.
    pub fn from_transcript(messages: impl IntoIterator<Item = Arc<Message>>) -> Result<Self, StepError> {
        let messages: Vec<Arc<Message>> = messages.into_iter().collect();
        if let Some(detail) = mismatch(&messages) {
            return Err(StepError::Untellable { detail });
        }
        Ok(Self::beginning_with(messages))
    }
}
