use crate::Approval;

/// Says where a call stands that was left to wait, as a [`PendingStore`](crate::PendingStore) knows it.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::{Approval, CallStanding};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (executor, pending) = house::waiting().await?;
/// let store = executor.pending();
/// assert_eq!(store.standing(&pending.id).await?, CallStanding::Waits);
/// store.answer(&pending.id, &Approval::Approve).await?;
/// assert_eq!(store.standing(&pending.id).await?, CallStanding::Answered(Approval::Approve));
/// store.claim(&pending).await?;
/// assert_eq!(store.standing(&pending.id).await?, CallStanding::Gone);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CallStanding {
    /// Nobody has answered it: there is no answer, or one that [waits](Approval::waits) itself.
    Waits,
    /// Somebody has answered it, and nobody has gone on with it.
    Answered(Approval),
    /// It waits no more: somebody has gone on with it, or it was never put in.
    Gone,
}
