use crate::PendingCall;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// Answers, in the name of a person, whether a call may run.
///
/// The executor has one; it is asked about every call that the policy neither allows nor denies. The call's clock does
/// not run meanwhile, and the calls beside it go on.
#[async_trait]
pub trait Approver: Send + Sync + 'static {
    /// Answers, or says that the answer will come later.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped when the call is cancelled; a question on a screen should go with it.
    async fn approve(&self, call: &PendingCall) -> Approval;
}

#[async_trait]
impl<T: Approver + ?Sized> Approver for Arc<T> {
    async fn approve(&self, call: &PendingCall) -> Approval {
        (**self).approve(call).await
    }
}

/// Says what a person answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Approval {
    /// The call may run, this once, exactly as shown.
    Approve,
    /// The call may not run.
    Deny {
        /// Why, for the model; empty where nothing was said.
        reason: String,
    },
    /// The call may run with another input, which is validated, declared and decided again.
    Edit {
        /// The input to use instead.
        input: Value,
    },
    /// The answer will come later: the call stays pending.
    Later,
}

/// Approves every call; for hosts that trust what they run.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

#[async_trait]
impl Approver for AllowAll {
    async fn approve(&self, _call: &PendingCall) -> Approval {
        Approval::Approve
    }
}

/// Denies every call, with the reason `no_approver`; the default where nobody can be asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct DenyAll;

#[async_trait]
impl Approver for DenyAll {
    async fn approve(&self, _call: &PendingCall) -> Approval {
        Approval::Deny { reason: "no_approver: nobody can be asked here".to_owned() }
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
