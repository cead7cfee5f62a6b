use super::grant::GrantTerm;
use super::question::{AskedQuestion, QuestionOutcome};
use crate::{PendingCall, PendingId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// Answers, in the name of a person, whether a call may run, and what a running call asks.
///
/// The executor has one; it is asked about every call that the policy neither allows nor denies. The call's clock does
/// not run meanwhile, and the calls beside it go on. Several are put one behind the other with
/// [`Approvers`](crate::Approvers), and given a time with [`answering_within`](crate::answering_within).
///
/// ```
/// use async_trait::async_trait;
/// use haft_tools_core::{Approval, Approver, LocalExecutor, PendingCall, ToolRegistry};
///
/// /// Lets run what only reads, and leaves the rest for later.
/// struct Careful;
///
/// #[async_trait]
/// impl Approver for Careful {
///     async fn approve(&self, call: &PendingCall) -> Approval {
///         let reads = call.unmet.iter().all(|unmet| unmet.printed().starts_with("read "));
///         if reads { Approval::Approve } else { Approval::Later }
///     }
/// }
///
/// let executor = LocalExecutor::builder(ToolRegistry::new()).approver(Careful).build();
/// # let _ = executor;
/// ```
#[async_trait]
pub trait Approver: Send + Sync + 'static {
    /// Answers, or says that the answer will come later.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped when the call is cancelled; a question on a screen should go with it.
    async fn approve(&self, call: &PendingCall) -> Approval;

    /// Answers a question of a running call; by default there is nobody to do so.
    ///
    /// # Cancel safety
    ///
    /// As for [`Approver::approve`].
    async fn answer(&self, question: &AskedQuestion) -> QuestionOutcome {
        let _ = question;
        QuestionOutcome::Nobody
    }
}

#[async_trait]
impl<T: Approver + ?Sized> Approver for Arc<T> {
    async fn approve(&self, call: &PendingCall) -> Approval {
        (**self).approve(call).await
    }

    async fn answer(&self, question: &AskedQuestion) -> QuestionOutcome {
        (**self).answer(question).await
    }
}

/// Says what a person answered.
///
/// ```
/// use haft_tools_core::{Approval, GrantTerm};
///
/// let answer: Approval = serde_json::from_str(r#"{"answer": "approve_for", "term": "run"}"#)?;
/// assert_eq!(answer, Approval::ApproveFor { term: GrantTerm::Run });
/// assert!(answer.approves() && !answer.waits());
/// assert!(Approval::Deny { reason: "not now".to_owned() }.denies());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Approval {
    /// The call may run, this once, exactly as shown.
    Approve,
    /// The call may run, and so may later ones of the same agent that touch no more than was shown.
    ///
    /// What is remembered is the rule that each [unmet access](crate::Unmet) was shown with. Where one has none, nothing is
    /// remembered, and this is [`Approval::Approve`].
    ApproveFor {
        /// For how long.
        term: GrantTerm,
    },
    /// The call may not run.
    Deny {
        /// Why, for the model; empty where nothing was said.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// The call may not run, and neither may later ones of the same agent that touch what was shown.
    ///
    /// Remembered like [`Approval::ApproveFor`], access by access.
    Never {
        /// For how long.
        term: GrantTerm,
        /// Why, for the model; empty where nothing was said.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// The call may run with another input, which is validated, declared and decided again.
    Edit {
        /// The input to use instead.
        input: Value,
    },
    /// The answer will come later: the call stays pending.
    Later,
    /// The answer will come later, and whoever was asked keeps the call already, under this name: the executor does not put
    /// it into its store.
    ///
    /// So the same question need not wait twice: a server whose client repeats a call gives the name under which it waits.
    KeptAs {
        /// The name under which it is kept, which the pending call gets.
        id: PendingId,
    },
    /// Nobody answered in time. The call does not run, and nobody is said to have denied it.
    TimedOut {
        /// How long was waited, in milliseconds.
        after_ms: u64,
    },
    /// There is nobody here to answer: the next approver is asked, and with none left the call does not run.
    Nobody,
}

impl Approval {
    /// Tells whether the call is not to run.
    pub fn denies(&self) -> bool {
        matches!(self, Self::Deny { .. } | Self::Never { .. } | Self::TimedOut { .. } | Self::Nobody)
    }

    /// Tells whether the answer is still to come.
    pub fn waits(&self) -> bool {
        matches!(self, Self::Later | Self::KeptAs { .. })
    }

    /// Tells whether the call is to run as it was shown.
    pub fn approves(&self) -> bool {
        matches!(self, Self::Approve | Self::ApproveFor { .. })
    }
}

/// Approves every call that is asked about; for hosts that trust what they run.
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
/// let replies = executor.execute_batch(batch).await.into_replies()?;
/// assert!(replies[0].status.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

#[async_trait]
impl Approver for AllowAll {
    async fn approve(&self, _call: &PendingCall) -> Approval {
        Approval::Approve
    }
}

/// Answers nothing, so that every call that is asked about is denied, since nobody can be asked; the default where
/// nobody can be asked.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::{DenyAll, LocalExecutor, ToolExecutor as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let registry = house::registry()?;
/// # let batch = house::batch()?;
/// let executor = LocalExecutor::builder(registry).approver(DenyAll).build();
/// let replies = executor.execute_batch(batch).await.into_replies()?;
/// assert!(!replies[0].status.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct DenyAll;

#[async_trait]
impl Approver for DenyAll {
    async fn approve(&self, _call: &PendingCall) -> Approval {
        Approval::Nobody
    }
}

/// Makes an approver of a function.
///
/// ```
/// use haft_tools_core::{Approval, PendingCall, approver_fn};
///
/// let reads_only = approver_fn(|call: &PendingCall| match call.call.name.as_str() {
///     "read_file" => Approval::Approve,
///     _ => Approval::Deny { reason: "this run may only read".into() },
/// });
/// # let _ = reads_only;
/// ```
pub fn approver_fn(answer: impl Fn(&PendingCall) -> Approval + Send + Sync + 'static) -> impl Approver {
    struct Function<F>(F);

    #[async_trait]
    impl<F: Fn(&PendingCall) -> Approval + Send + Sync + 'static> Approver for Function<F> {
        async fn approve(&self, call: &PendingCall) -> Approval {
            (self.0)(call)
        }
    }

    Function(answer)
}
