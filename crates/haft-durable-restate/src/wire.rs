//! What clients and workers tell each other, as JSON.

use haft_core::{Digest, Progress, ToolReply, Visible};
use haft_durable::{DecisionError, RoundDecision};
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
    /// The end of the output so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
}

/// The most bytes of news in the engine: those that a worker sends are smaller.
const MOST_BYTES: usize = 8 << 10;

/// How many news of one round the engine keeps at most: those of a round of a day are fewer.
pub(crate) const MOST_NEWS: u32 = 2_000;

impl News {
    /// Tells whether it is no larger than news may be, whoever sends it.
    pub(crate) fn is_small(&self) -> bool {
        let message = self.progress.as_ref().and_then(|progress| progress.message.as_ref());
        message.into_iter().chain(&self.output).map(String::len).sum::<usize>() <= MOST_BYTES
    }

    /// Gives what may be shown of it: who has sent it is not known here.
    pub(crate) fn shown(self) -> Self {
        if !self.is_small() {
            return Self::default();
        }
        let progress = self.progress.map(|progress| Progress {
            message: progress.message.map(|message| Visible::line(&message).to_string()),
            fraction: progress.fraction.filter(|fraction| (0.0..=1.0).contains(fraction)),
        });
        Self { progress, output: self.output.map(|output| Visible::new(&output).to_string()) }
    }
}

/// Is news of a round on its way to whoever listens: under this number, or the next one that is free.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Telling {
    pub(crate) round: u32,
    pub(crate) number: u32,
    pub(crate) news: News,
}

/// Asks for the first news of a round that has this number or a higher one, or of a later round that the call is in by now.
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
        news: News,
        next: Listening,
    },
    /// Nothing for a while.
    Nothing {
        next: Listening,
    },
    /// The call has ended or waits for a person, and nothing more comes of it.
    Over,
}

/// Is what a round that waited went on with: whatever came first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "settled", rename_all = "snake_case")]
pub(crate) enum Settled {
    Decided { decision: RoundDecision },
    Expired,
    Stopped,
}

/// Is what became of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub(crate) enum Verdict {
    Counts,
    Refused { why: DecisionError },
}

impl Settled {
    /// Tells a decision that was made about the round whether it is the one that counts.
    pub(crate) fn verdict(&self, decision: &RoundDecision) -> Verdict {
        let why = match self {
            Self::Decided { decision: first } if first.name == decision.name => return Verdict::Counts,
            Self::Decided { .. } => DecisionError::Decided,
            // One that nobody answered in time is denied by itself, which is what a denial wants.
            Self::Expired if decision.approval.denies() => return Verdict::Counts,
            Self::Expired => DecisionError::Expired,
            Self::Stopped => DecisionError::Over,
        };
        Verdict::Refused { why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_tools_core::Approval;

    fn decision(name: &str, approval: Approval) -> RoundDecision {
        RoundDecision::new(
            "r/1/c:0".parse().unwrap(),
            Digest::of(&serde_json::json!("shown")),
            approval,
            name,
        )
    }

    fn refused(why: DecisionError) -> Verdict {
        Verdict::Refused { why }
    }

    #[test]
    fn news_that_anybody_could_have_sent_is_small_and_steers_no_terminal() {
        let news = |message: &str, fraction: f64, output: &str| News {
            progress: Some(Progress { message: Some(message.to_owned()), fraction: Some(fraction) }),
            output: Some(output.to_owned()),
        };
        assert_eq!(news("linking", 0.5, "a\nb").shown(), news("linking", 0.5, "a\nb"));
        let shown = news("x\u{1b}[2J", 7.0, "\u{202e}y").shown();
        assert_eq!(shown.progress.as_ref().unwrap().message.as_deref(), Some("x\\u{1b}[2J"));
        assert_eq!(shown.progress.unwrap().fraction, None);
        assert_eq!(shown.output.as_deref(), Some("\\u{202e}y"));
        let large = news("", 0.0, &"x".repeat(MOST_BYTES + 1));
        assert!(!large.is_small());
        assert_eq!(large.shown(), News::default());
    }

    #[test]
    fn whatever_came_first_counts() {
        let mine = decision("mine", Approval::Approve);
        let deny = decision("mine", Approval::Deny { reason: String::new() });
        let other = Settled::Decided { decision: decision("other", Approval::Approve) };
        assert_eq!(Settled::Decided { decision: mine.clone() }.verdict(&mine), Verdict::Counts);
        assert_eq!(other.verdict(&mine), refused(DecisionError::Decided));
        assert_eq!(Settled::Expired.verdict(&mine), refused(DecisionError::Expired));
        assert_eq!(Settled::Expired.verdict(&deny), Verdict::Counts);
        assert_eq!(other.verdict(&deny), refused(DecisionError::Decided));
        assert_eq!(Settled::Stopped.verdict(&deny), refused(DecisionError::Over));
        assert_eq!(Settled::Stopped.verdict(&mine), refused(DecisionError::Over));
    }
}
