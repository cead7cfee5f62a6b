use crate::{RoundKey, Waiting};
use haft_core::Digest;
use haft_tools_core::{Approval, PendingCall, PendingId, ResumptionError, now_ms};
use serde::{Deserialize, Serialize};

/// Answers a call that waits: which round it is about, what the person was shown, and what they said.
///
/// Whoever sends it chooses the name, one of its own for each time that somebody decides, so that what arrives twice is known
/// as the same decision, and of two that differ only the first counts.
///
/// ```
/// # use haft_core::Digest;
/// use haft_durable::{RoundDecision, Waiting};
/// use haft_tools_core::Approval;
/// # use serde_json::json;
/// #
/// # let digest = Digest::of(&json!({ "to": "a@example.org" }));
/// # let waiting: Waiting = serde_json::from_value(json!({ "round": 0, "digest": digest }))?;
/// let decision = RoundDecision::new("run-1/3/c1:0".parse()?, digest, Approval::Approve, "anna-1");
/// assert_eq!(decision.check(Some(&waiting)), Ok(()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RoundDecision {
    /// The round that waits.
    pub round: RoundKey,
    /// The digest of what the person was shown.
    pub digest: Digest,
    /// What they said.
    pub approval: Approval,
    /// Tells this decision from others about the same round.
    pub name: String,
}

impl RoundDecision {
    /// Answers what was shown in a round.
    pub fn new(round: RoundKey, digest: Digest, approval: Approval, name: impl Into<String>) -> Self {
        Self { round, digest, approval, name: name.into() }
    }

    /// Looks whether the decision is about what a call waits for now; `None` if it waits no more, or never did.
    ///
    /// Whether another decision came first only the engine can tell: it keeps one for each round.
    ///
    /// # Errors
    ///
    /// Every [`DecisionError`] but [`DecisionError::Decided`].
    pub fn check(&self, waiting: Option<&Waiting>) -> Result<(), DecisionError> {
        let round = self.round.round();
        let Some(waiting) = waiting else { return Err(DecisionError::Over) };
        if round != waiting.round {
            return Err(DecisionError::Stale { round, now: waiting.round });
        }
        if self.digest != waiting.digest {
            return Err(DecisionError::OtherDigest);
        }
        let is_late = waiting.expires_at_ms.is_some_and(|end| end <= now_ms());
        if is_late && !self.approval.denies() { Err(DecisionError::Expired) } else { Ok(()) }
    }
}

/// Says why a decision does not count; nothing was done for it.
///
/// ```
/// # use haft_core::Digest;
/// use haft_durable::{DecisionError, RoundDecision, Waiting};
/// use haft_tools_core::Approval;
/// # use serde_json::json;
/// #
/// # let digest = Digest::of(&json!({}));
/// # let waiting: Waiting = serde_json::from_value(json!({ "round": 2, "digest": digest }))?;
/// let late = RoundDecision::new("run-1/3/c1:0".parse()?, digest, Approval::Approve, "anna-1");
/// let refused = late.check(Some(&waiting)).unwrap_err();
/// assert_eq!(refused, DecisionError::Stale { round: 0, now: 2 });
/// assert_eq!(
///     refused.to_string(),
///     "the decision is about round 0 of the call, which is in round 2; answer what it waits for now"
/// );
/// assert_eq!(late.check(None), Err(DecisionError::Over));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "refused", rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecisionError {
    /// The call waits no more, or is not known.
    #[error("the call does not wait for a decision; look at what became of it")]
    Over,
    /// It is about another round than the one that waits.
    #[error(
        "the decision is about round {round} of the call, which is in round {now}; answer what it waits for now"
    )]
    Stale {
        /// The round that was decided about.
        round: u32,
        /// The round that waits.
        now: u32,
    },
    /// Another decision about the round came first.
    #[error("the round was decided before, and the first decision counts")]
    Decided,
    /// The person was shown something else than what waits.
    #[error("the decision is about something else than what the call waits for; answer what it shows now")]
    OtherDigest,
    /// An approval came too late.
    #[error("the approval came too late; deny the call, and have it asked again")]
    Expired,
}

impl DecisionError {
    /// Says the same as whoever resumes calls reads it.
    pub fn about(self, id: &PendingId) -> ResumptionError {
        let id = id.clone();
        match self {
            Self::Over | Self::Stale { .. } | Self::Decided => ResumptionError::ResumedBefore { id },
            Self::OtherDigest => ResumptionError::OtherDigest { id },
            Self::Expired => ResumptionError::Expired { id },
        }
    }
}

impl Waiting {
    /// Takes down what a pending call of a round waits for.
    pub fn of(round: u32, pending: &PendingCall) -> Self {
        Self { round, digest: pending.digest, expires_at_ms: pending.expires_at_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn decision(round: u32, shown: &str, approval: Approval) -> RoundDecision {
        let key = format!("r/1/c:{round}").parse().unwrap();
        RoundDecision::new(key, Digest::of(&json!(shown)), approval, "d1")
    }

    fn waiting(expires_at_ms: Option<u64>) -> Waiting {
        Waiting { round: 1, digest: Digest::of(&json!("shown")), expires_at_ms }
    }

    fn deny() -> Approval {
        Approval::Deny { reason: String::new() }
    }

    #[test]
    fn counts_for_the_round_that_waits_and_for_what_was_shown() {
        let now = waiting(None);
        let check = |round, shown, at: Option<&Waiting>| decision(round, shown, Approval::Approve).check(at);
        assert_eq!(check(1, "shown", Some(&now)), Ok(()));
        assert_eq!(check(0, "shown", Some(&now)), Err(DecisionError::Stale { round: 0, now: 1 }));
        assert_eq!(check(2, "shown", Some(&now)), Err(DecisionError::Stale { round: 2, now: 1 }));
        assert_eq!(check(1, "other", Some(&now)), Err(DecisionError::OtherDigest));
        assert_eq!(check(1, "shown", None), Err(DecisionError::Over));
    }

    #[test]
    fn what_came_too_late_can_only_be_denied() {
        let late = waiting(Some(1));
        assert_eq!(decision(1, "shown", Approval::Approve).check(Some(&late)), Err(DecisionError::Expired));
        let edit = Approval::Edit { input: json!({}) };
        assert_eq!(decision(1, "shown", edit).check(Some(&late)), Err(DecisionError::Expired));
        assert_eq!(decision(1, "shown", deny()).check(Some(&late)), Ok(()));
        assert_eq!(decision(1, "shown", Approval::Approve).check(Some(&waiting(Some(u64::MAX)))), Ok(()));
    }
}
