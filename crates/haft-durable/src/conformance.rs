//! What every executor has to do, wherever it runs calls.
//!
//! [`check`] takes an executor in the making, which a [`Subject`] makes of tools and a policy that the suite brings along, and
//! looks at what comes back for whole batches, at what took effect, and at calls that wait for a person. It panics with the
//! name of the case that does not hold. A local executor passes:
//!
//! ```
//! use haft_durable::conformance::{Subject, check};
//! use haft_tools_core::{LocalExecutorBuilder, ToolExecutor};
//! use std::sync::Arc;
//!
//! struct Local;
//!
//! #[async_trait::async_trait]
//! impl Subject for Local {
//!     async fn executor(&self, builder: LocalExecutorBuilder) -> Arc<dyn ToolExecutor> {
//!         Arc::new(builder.approver(haft_tools_core::approver_fn(|_| haft_tools_core::Approval::Later)).build())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let cases = check(&Local).await;
//! assert!(cases.contains(&"a second answer is refused"));
//! # }
//! ```

mod approvals;
mod bench;
mod calls;
mod stopping;

use async_trait::async_trait;
use bench::Bench;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use haft_tools_core::{Limits, LocalExecutorBuilder, ToolExecutor};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

/// Makes the executor that is put through the suite.
///
/// A store of pending calls is put through the suite within an executor that keeps its calls there:
///
/// ```
/// use haft_durable::conformance::{Subject, check};
/// use haft_tools_core::{Approval, LocalExecutorBuilder, MemoryPending, PendingStore, ToolExecutor, approver_fn};
/// use std::sync::Arc;
///
/// struct Storing(Arc<dyn PendingStore>);
///
/// #[async_trait::async_trait]
/// impl Subject for Storing {
///     async fn executor(&self, builder: LocalExecutorBuilder) -> Arc<dyn ToolExecutor> {
///         let builder = builder.approver(approver_fn(|_| Approval::Later));
///         Arc::new(builder.pending(Arc::clone(&self.0)).build())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let cases = check(&Storing(Arc::new(MemoryPending::new()))).await;
/// assert!(cases.contains(&"a second answer is refused"));
/// # }
/// ```
#[async_trait]
pub trait Subject: Sync {
    /// Makes an executor whose calls are made by what this one is to be, with its tools, policy and limits.
    ///
    /// Whatever the policy leaves to a person has to come to wait. It is asked for several in turn; each has an end with the
    /// test.
    ///
    /// # Cancel safety
    ///
    /// Need not be: it is waited for.
    async fn executor(&self, builder: LocalExecutorBuilder) -> Arc<dyn ToolExecutor>;
}

/// Is one case: what has to hold, and what looks whether it does.
type Case = (&'static str, for<'a> fn(&'a Bench) -> BoxFuture<'a, ()>);

/// Puts an executor through every case, and lists what was found to hold.
///
/// An executor that approves where it is to ask is found out:
///
/// ```
/// use haft_durable::conformance::{Subject, check};
/// use haft_tools_core::{Approval, LocalExecutorBuilder, ToolExecutor, approver_fn};
/// use std::sync::Arc;
///
/// struct Hasty;
///
/// #[async_trait::async_trait]
/// impl Subject for Hasty {
///     async fn executor(&self, builder: LocalExecutorBuilder) -> Arc<dyn ToolExecutor> {
///         Arc::new(builder.approver(approver_fn(|_| Approval::Approve)).build())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let panicked = tokio::spawn(async { check(&Hasty).await }).await.unwrap_err().into_panic();
/// let said = panicked.downcast::<String>().expect("a text");
/// assert!(said.starts_with("it does not hold that "));
/// # }
/// ```
///
/// # Panics
///
/// When a case does not hold, with its name.
///
/// # Cancel safety
///
/// Calls may be left behind.
pub async fn check(subject: &dyn Subject) -> Vec<&'static str> {
    let usual = Bench::new(subject, Limits::default()).await;
    let mut held = play(&usual, &[calls::CASES, approvals::CASES, stopping::CASES].concat()).await;
    // Long enough for an engine to tell of a call before it has ended it.
    let hurried = Limits { approval_lifetime: Some(Duration::from_secs(5)), ..Limits::default() };
    let hurried = Bench::new(subject, hurried).await;
    held.extend(play(&hurried, approvals::LATE_CASES).await);
    held
}

async fn play(bench: &Bench, cases: &[Case]) -> Vec<&'static str> {
    let mut held = Vec::new();
    for (name, case) in cases {
        if let Err(payload) = AssertUnwindSafe(case(bench)).catch_unwind().await {
            let said = payload.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| payload.downcast_ref::<&str>().copied());
            panic!("it does not hold that {name}: {}", said.unwrap_or("it panicked"));
        }
        held.push(*name);
    }
    held
}
