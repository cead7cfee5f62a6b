use haft_core::ToolCall;

/// Steers a batch while it runs: is asked before each call starts whether to go on.
///
/// A host that has got a new instruction of its user, or a correction of the model's plan, skips what has not begun; the
/// calls that run are finished, and every call gets a reply. Once a batch was told to skip or to cancel it is not asked
/// again.
///
/// ```
/// use haft_core::ToolCall;
/// use haft_tools_core::{Steer, Steering};
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use std::sync::Arc;
///
/// let interrupted = Arc::new(AtomicBool::new(false));
/// let flag = Arc::clone(&interrupted);
/// let steering = move |_: &ToolCall| {
///     if flag.load(Ordering::Relaxed) { Steer::skip("the user wrote something new") } else { Steer::Continue }
/// };
/// let call = ToolCall::new("c1".parse()?, "read_file", serde_json::json!({}));
/// assert_eq!(steering.steer(&call), Steer::Continue);
/// # Ok::<(), haft_core::IdError>(())
/// ```
pub trait Steering: Send + Sync + 'static {
    /// Says what becomes of the batch; `next` is permitted and about to start. Must not block.
    ///
    /// One that panics cancels the batch.
    fn steer(&self, next: &ToolCall) -> Steer;
}

impl<F: Fn(&ToolCall) -> Steer + Send + Sync + 'static> Steering for F {
    fn steer(&self, next: &ToolCall) -> Steer {
        self(next)
    }
}

/// Says how a batch goes on.
///
/// ```
/// use haft_tools_core::Steer;
///
/// let steer = Steer::skip("the user wrote something new");
/// assert!(matches!(steer, Steer::SkipRemaining { message } if message == "the user wrote something new"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Steer {
    /// As it would.
    Continue,
    /// Calls that have not started are answered as skipped, with this message to the model; running ones are finished.
    SkipRemaining {
        /// Why, and what to do now.
        message: String,
    },
    /// All calls of the batch are cancelled, those that run included.
    Cancel,
}

impl Steer {
    /// Skips the calls that have not started.
    pub fn skip(message: impl Into<String>) -> Self {
        Self::SkipRemaining { message: message.into() }
    }
}
