use crate::PendingCall;
use haft_core::{CallId, ErrorKind, Repair, ReplyStatus, ToolCall, ToolOutput, ToolReply};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Says what became of one call.
///
/// It is meant to be matched fully, without an arm for the rest: whoever drives an executor has to do something about each of
/// these, and a new one is to be noticed where it is compiled.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::{AllowAll, CallOutcome, LocalExecutor, ToolExecutor as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let registry = house::registry()?;
/// # let batch = house::batch()?;
/// let executor = LocalExecutor::builder(registry).approver(AllowAll).build();
/// for outcome in executor.execute_batch(batch).await.into_outcomes() {
///     match outcome {
///         CallOutcome::Replied(reply) => assert!(reply.status.is_ok()),
///         CallOutcome::Pending(call) => println!("{} waits for a person", call.call.id),
///         CallOutcome::Held(held) => println!("{} waits for {:?}", held.call.id, held.behind),
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every outcome is a reply, and it should not cost a box"
)]
pub enum CallOutcome {
    /// It was answered.
    Replied(ToolReply),
    /// It waits for a person.
    Pending(Box<PendingCall>),
    /// It conflicts with calls before it that wait for a person, and waits for them.
    Held(Box<HeldCall>),
}

/// Holds a call that was held back by others; it is taken up again with [`Batch::of_held`](crate::Batch::of_held) when these are answered.
///
/// ```
/// use haft_core::ToolCall;
/// use haft_tools_core::{CallOutcome, HeldCall};
/// use serde_json::json;
///
/// let mut held = HeldCall::new(ToolCall::new("c2".parse()?, "read_file", json!({ "path": "a.txt" })));
/// held.behind = vec!["c1".parse()?];
/// assert_eq!(CallOutcome::Held(Box::new(held)).call_id().as_str(), "c2");
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HeldCall {
    /// The call, with its input as it was repaired.
    pub call: ToolCall,
    /// What was changed in the input the model wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// The calls it waits for.
    pub behind: Vec<CallId>,
}

impl HeldCall {
    /// Makes one that waits for no other call, for a call that is to be taken up again.
    pub fn new(call: ToolCall) -> Self {
        Self { call, repairs: Vec::new(), behind: Vec::new() }
    }
}

impl CallOutcome {
    /// The call it is about.
    pub fn call_id(&self) -> &CallId {
        match self {
            Self::Replied(reply) => &reply.call_id,
            Self::Pending(pending) => &pending.call.id,
            Self::Held(held) => &held.call.id,
        }
    }

    /// Answers a call that was being executed when its process ended: nobody knows what became of it, so it is not repeated.
    pub fn lost(call: &ToolCall) -> Self {
        let output = ToolOutput::text(
            "the program ended while this call was due, so whether it had its effect is not known; look before you repeat \
             it",
        );
        let status = ReplyStatus::Error(ErrorKind::Failed);
        Self::Replied(ToolReply::new(call.id.clone(), call.name.clone(), status, output))
    }
}

/// Holds what became of the calls of a batch: one outcome each, in their order.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::{AllowAll, LocalExecutor, ToolExecutor as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let registry = house::registry()?;
/// # let batch = house::batch()?;
/// let executor = LocalExecutor::builder(registry).approver(AllowAll).build();
/// let outcome = executor.execute_batch(batch).await;
/// match outcome.into_replies() {
///     Ok(replies) => assert_eq!(replies[0].output.to_text(), "Good morning."),
///     Err(pending) => println!("{pending}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BatchOutcome(Vec<CallOutcome>);

impl BatchOutcome {
    /// Collects the outcomes, which must be in the order of the calls.
    pub fn new(outcomes: Vec<CallOutcome>) -> Self {
        Self(outcomes)
    }

    /// Borrows the outcomes, in the order of the calls.
    pub fn outcomes(&self) -> &[CallOutcome] {
        &self.0
    }

    /// Takes the outcomes, in the order of the calls.
    pub fn into_outcomes(self) -> Vec<CallOutcome> {
        self.0
    }

    /// Takes the replies, in the order of the calls.
    ///
    /// # Errors
    ///
    /// When calls wait for a person; the error gives them, and all outcomes.
    pub fn into_replies(self) -> Result<Vec<ToolReply>, PendingCallsError> {
        if !self.0.iter().all(|outcome| matches!(outcome, CallOutcome::Replied(_))) {
            return Err(PendingCallsError(self));
        }
        let replies = self.0.into_iter().filter_map(|outcome| match outcome {
            CallOutcome::Replied(reply) => Some(reply),
            CallOutcome::Pending(_) | CallOutcome::Held(_) => None,
        });
        Ok(replies.collect())
    }
}

/// Says that calls of a batch wait for a person; nothing of the other calls' replies is lost.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::{Approval, LocalExecutor, PendingCall, ToolExecutor as _, approver_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let registry = house::registry()?;
/// # let batch = house::batch()?;
/// let later = approver_fn(|_: &PendingCall| Approval::Later);
/// let executor = LocalExecutor::builder(registry).approver(later).build();
/// let pending = executor.execute_batch(batch).await.into_replies().unwrap_err();
/// let waiting: Vec<_> = pending.iter().map(|call| call.call.name.as_str()).collect();
/// assert_eq!(waiting, ["greet"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PendingCallsError(BatchOutcome);

impl PendingCallsError {
    /// Iterates over the calls that wait.
    pub fn iter(&self) -> impl Iterator<Item = &PendingCall> {
        self.0.outcomes().iter().filter_map(|outcome| match outcome {
            CallOutcome::Pending(pending) => Some(&**pending),
            CallOutcome::Replied(_) | CallOutcome::Held(_) => None,
        })
    }

    /// Takes all outcomes, in the order of the calls.
    pub fn into_outcome(self) -> BatchOutcome {
        self.0
    }
}

impl fmt::Display for PendingCallsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leaves = self.iter().flat_map(PendingCall::leaves);
        let names: Vec<&str> = leaves.map(|pending| pending.call.name.as_str()).collect();
        write!(f, "waiting for an approval of {}", names.join(", "))?;
        match self.0.outcomes().iter().filter(|outcome| matches!(outcome, CallOutcome::Held(_))).count() {
            0 => Ok(()),
            1 => f.write_str("; 1 call is held back until then"),
            held => write!(f, "; {held} calls are held back until then"),
        }
    }
}

impl std::error::Error for PendingCallsError {}
