//! What clients and workers tell each other, as JSON.

use haft_core::{Digest, Progress, ToolOutput, ToolReply};
use haft_durable::{Decision, DecisionRefused};
use haft_tools_core::PendingCall;
use serde::{Deserialize, Serialize};

/// The handlers of the workflow, by the names that stand in requests.
pub(crate) const RUN: &str = "run";
pub(crate) const OUTCOME: &str = "outcome";
pub(crate) const DECIDE: &str = "decide";
pub(crate) const WAITS: &str = "waits";
pub(crate) const STOP: &str = "stop";
pub(crate) const HEAR: &str = "hear";
pub(crate) const LISTEN: &str = "listen";

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

/// Is what a running call has told of itself of late: the newest of each.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct News {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<Progress>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<ToolOutput>,
}

/// Is news on its way to whoever listens: under this number, or the next one that is free.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Telling {
    pub(crate) number: u32,
    pub(crate) news: News,
}

/// Asks for the first news of a round, or of a later one, that has this number or a higher one.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Listening {
    pub(crate) round: u32,
    pub(crate) number: u32,
}

/// Is what whoever listens is told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "heard", rename_all = "snake_case")]
pub(crate) enum Heard {
    News {
        number: u32,
        news: News,
    },
    /// Nothing for a while.
    Nothing,
    /// The round has ended, and nothing more comes of it.
    Over,
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
