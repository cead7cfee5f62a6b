//! What clients and workers tell each other, as JSON.

use haft_core::{Digest, ToolReply};
use haft_durable::{Decision, DecisionRefused};
use haft_tools_core::PendingCall;
use serde::{Deserialize, Serialize};

/// The handlers of the workflow, by the names that stand in requests.
pub(crate) const RUN: &str = "run";
pub(crate) const OUTCOME: &str = "outcome";
pub(crate) const DECIDE: &str = "decide";
pub(crate) const WAITS: &str = "waits";
pub(crate) const STOP: &str = "stop";

/// Is what a call was answered with, and which request that was.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) request: Digest,
    pub(crate) reply: ToolReply,
}

/// Is what became of a round: the call as it waits, unless it ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RoundEnd {
    pub(crate) request: Digest,
    pub(crate) pending: Option<PendingCall>,
}

/// Is what a round that waited went on with: whatever came first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "settled", rename_all = "snake_case")]
pub(crate) enum Settled {
    Decided { decision: Decision },
    Expired,
    Stopped,
}

/// Is what became of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub(crate) enum Verdict {
    Counts,
    Refused { why: DecisionRefused },
}

impl Settled {
    /// Tells a decision that was made about the round whether it is the one that counts.
    pub(crate) fn verdict(&self, decision: &Decision) -> Verdict {
        let why = match self {
            Self::Decided { decision: first } if first.name == decision.name => return Verdict::Counts,
            Self::Decided { .. } => DecisionRefused::Decided,
            // One that nobody answered in time is denied by itself, which is what a denial wants.
            Self::Expired if decision.approval.denies() => return Verdict::Counts,
            Self::Expired => DecisionRefused::Expired,
            Self::Stopped => DecisionRefused::Over,
        };
        Verdict::Refused { why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_tools_core::Approval;

    fn decision(name: &str, approval: Approval) -> Decision {
        Decision::new("r/1/c:0".parse().unwrap(), Digest::of(&serde_json::json!("shown")), approval, name)
    }

    fn refused(why: DecisionRefused) -> Verdict {
        Verdict::Refused { why }
    }

    #[test]
    fn whatever_came_first_counts() {
        let mine = decision("mine", Approval::Approve);
        let deny = decision("mine", Approval::Deny { reason: String::new() });
        let other = Settled::Decided { decision: decision("other", Approval::Approve) };
        assert_eq!(Settled::Decided { decision: mine.clone() }.verdict(&mine), Verdict::Counts);
        assert_eq!(other.verdict(&mine), refused(DecisionRefused::Decided));
        assert_eq!(Settled::Expired.verdict(&mine), refused(DecisionRefused::Expired));
        assert_eq!(Settled::Expired.verdict(&deny), Verdict::Counts);
        assert_eq!(other.verdict(&deny), refused(DecisionRefused::Decided));
        assert_eq!(Settled::Stopped.verdict(&deny), refused(DecisionRefused::Over));
        assert_eq!(Settled::Stopped.verdict(&mine), refused(DecisionRefused::Over));
    }
}
