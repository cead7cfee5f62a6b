use super::call_standing::CallStanding;
use super::pending::{PendingCall, PendingId};
use super::store_error::StoreError;
use crate::Approval;
use async_trait::async_trait;
use haft_core::{Digest, RunId};

/// Keeps calls that wait for a person, and sees to it that each goes on once at most.
///
/// An executor puts every call in that it leaves to wait, and claims it before it goes on with it. Who answers can be
/// another process: it [lists](Self::waiting) what waits and leaves [answers](Self::answer), which whoever has the run
/// [reads](Self::answer_to).
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::Approval;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (executor, pending) = house::waiting().await?;
/// let store = executor.pending();
/// assert_eq!(store.waiting().await?[0].id, pending.id);
/// assert!(store.answer(&pending.id, &Approval::Approve).await?);
/// assert_eq!(store.answer_to(&pending.id).await?, Some(Approval::Approve));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait PendingStore: Send + Sync + 'static {
    /// Keeps a call that waits from now on.
    ///
    /// # Errors
    ///
    /// When it cannot be kept: then the call does not wait, and is answered as denied.
    ///
    /// # Cancel safety
    ///
    /// The call is kept or not kept.
    async fn put(&self, pending: &PendingCall) -> Result<(), StoreError>;

    /// Takes the one right to go on with a call; that it was never put in does not matter.
    ///
    /// # Errors
    ///
    /// When it cannot be told: then the call does not go on.
    ///
    /// # Cancel safety
    ///
    /// The call is claimed or not claimed; once claimed, it is for good.
    async fn claim(&self, pending: &PendingCall) -> Result<Claim, StoreError>;

    /// Lists the calls that were put in and not claimed, those first that have waited longest.
    ///
    /// Those among them that only [wait for calls below them](PendingCall::waits_below) are nothing to ask a person about:
    /// what they wait for is listed itself, where it is kept here.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn waiting(&self) -> Result<Vec<PendingCall>, StoreError>;

    /// Keeps an answer to a call, for whoever has its run; an earlier answer is replaced.
    ///
    /// Gives whether the call waits: otherwise the answer is not kept.
    ///
    /// # Errors
    ///
    /// When it cannot be kept.
    ///
    /// # Cancel safety
    ///
    /// The answer is kept or not kept.
    async fn answer(&self, id: &PendingId, approval: &Approval) -> Result<bool, StoreError>;

    /// Reads the answer that was kept to a call.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn answer_to(&self, id: &PendingId) -> Result<Option<Approval>, StoreError>;

    /// Tells whether a call was put in and not claimed.
    ///
    /// By default all calls that wait are looked through.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn waits(&self, id: &PendingId) -> Result<bool, StoreError> {
        Ok(self.waiting().await?.iter().any(|pending| pending.id == *id))
    }

    /// Lists the calls of one run as [`waiting`](Self::waiting) does, and none of the runs below it.
    ///
    /// By default all calls that wait are looked through.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn waiting_of(&self, run: &RunId) -> Result<Vec<PendingCall>, StoreError> {
        let mut waiting = self.waiting().await?;
        waiting.retain(|pending| pending.run == *run);
        Ok(waiting)
    }

    /// Finds out where a call stands that was left to wait.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn standing(&self, id: &PendingId) -> Result<CallStanding, StoreError> {
        Ok(match self.answer_to(id).await?.filter(|answer| !answer.waits()) {
            Some(answer) => CallStanding::Answered(answer),
            None if self.waits(id).await? => CallStanding::Waits,
            None => CallStanding::Gone,
        })
    }

    /// Lists those of the calls which a call [waits for](PendingCall::waits_below), at any depth, that are a reason to go on with
    /// it: its [leaves](PendingCall::leaves) that are answered or wait no more, and calls between it and these that a person has
    /// denied, to end them.
    ///
    /// It is for whoever goes on with a call, who approves it then: it finds the answers itself. Whether an approval among them
    /// came in time is not looked at.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn settled(&self, outer: &PendingCall) -> Result<Vec<(PendingId, CallStanding)>, StoreError> {
        let mut settled = Vec::new();
        for call in outer.waits_for_all() {
            let standing = self.standing(&call.id).await?;
            let counts = match &standing {
                CallStanding::Waits => false,
                CallStanding::Answered(answer) => !call.waits_below() || answer.denies(),
                CallStanding::Gone => !call.waits_below(),
            };
            if counts {
                settled.push((call.id.clone(), standing));
            }
        }
        Ok(settled)
    }

    /// Finds what a call that [waits for calls below it](PendingCall::waits_below) is gone on with: the denial by which a person
    /// has ended it; an approval as soon as one of these is [settled](Self::settled) or has expired; nothing before that.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn answer_below(&self, outer: &PendingCall) -> Result<Option<Approval>, StoreError> {
        if let CallStanding::Answered(answer) = self.standing(&outer.id).await?
            && answer.denies()
        {
            return Ok(Some(answer));
        }
        let goes_on = outer.leaves().any(PendingCall::is_expired) || !self.settled(outer).await?.is_empty();
        Ok(goes_on.then_some(Approval::Approve))
    }

    /// Keeps an answer to exactly what was shown, unless there is one: of several people who decide, the first counts.
    ///
    /// By default the store is read before the answer is kept; one that several processes use does both at once.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or the answer cannot be kept.
    ///
    /// # Cancel safety
    ///
    /// The answer is kept or not kept.
    async fn answer_first(
        &self,
        id: &PendingId,
        digest: &Digest,
        approval: &Approval,
    ) -> Result<Answered, StoreError> {
        let waiting = self.waiting().await?;
        let Some(pending) = waiting.iter().find(|pending| pending.id == *id) else {
            return Ok(Answered::Gone);
        };
        if pending.digest != *digest {
            return Ok(Answered::OtherDigest);
        }
        if self.answer_to(id).await?.is_some() {
            return Ok(Answered::Before);
        }
        Ok(if self.answer(id, approval).await? { Answered::Kept } else { Answered::Gone })
    }

    /// Finds the call of this digest that waits for a person and has not expired, with the answer that was kept to it.
    ///
    /// A call that only [waits for calls below it](PendingCall::waits_below) has begun, and is no answer to one that has not.
    /// Of several, one that was answered comes first, then the one that has waited longest. Whoever is asked for a call a
    /// second time finds in this way that it waits already, and what was answered meanwhile. By default all calls that wait
    /// are looked through.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn waiting_as(&self, digest: &Digest) -> Result<Option<(PendingId, Option<Approval>)>, StoreError> {
        let mut first = None;
        for pending in self.waiting().await? {
            if pending.digest != *digest || pending.is_expired() || pending.waits_below() {
                continue;
            }
            match self.answer_to(&pending.id).await? {
                Some(answer) => return Ok(Some((pending.id, Some(answer)))),
                None => first = first.or(Some((pending.id, None))),
            }
        }
        Ok(first)
    }
}

/// Says whether a call may be gone on with.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::Claim;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (executor, pending) = house::waiting().await?;
/// assert_eq!(executor.pending().claim(&pending).await?, Claim::Taken);
/// assert_eq!(executor.pending().claim(&pending).await?, Claim::TakenBefore);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim {
    /// It may: the right is taken.
    Taken,
    /// It may not: it was claimed before.
    TakenBefore,
    /// It may not: it was put in with another digest.
    OtherDigest,
}

/// Says what became of an answer that counts only if it is the first.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::{Answered, Approval};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (executor, pending) = house::waiting().await?;
/// let (store, yes) = (executor.pending(), Approval::Approve);
/// assert_eq!(store.answer_first(&pending.id, &pending.digest, &yes).await?, Answered::Kept);
/// let no = Approval::Deny { reason: String::new() };
/// assert_eq!(store.answer_first(&pending.id, &pending.digest, &no).await?, Answered::Before);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answered {
    /// It is kept.
    Kept,
    /// It is not: somebody answered before.
    Before,
    /// It is not: the call waits no more, or never did.
    Gone,
    /// It is not: the call was put in with another digest.
    OtherDigest,
}
