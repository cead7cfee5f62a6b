use super::approver::{Approval, Approver};
use super::question::{AskedQuestion, QuestionOutcome};
use crate::{PendingCall, milliseconds};
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Asks several approvers, one after the other, until one has an answer.
///
/// One that is [not there](Approval::Nobody) or [runs out of time](Approval::TimedOut) hands the question on; if none
/// answers, the last one's word counts.
///
/// ```
/// use haft_tools_core::{Approval, Approvers, PendingCall, answering_within, approver_fn};
/// use std::time::Duration;
///
/// let terminal = approver_fn(|_: &PendingCall| Approval::Approve);
/// let later = approver_fn(|_: &PendingCall| Approval::Later);
/// // Who does not answer in a minute can still do so when the run has stopped.
/// let approvers = Approvers::new().then(answering_within(Duration::from_secs(60), terminal)).then(later);
/// # let _ = approvers;
/// ```
#[derive(Clone, Default)]
pub struct Approvers(Vec<Arc<dyn Approver>>);

impl Approvers {
    /// Makes a chain of none, which answers nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an approver, which is asked when those before it had no answer.
    pub fn then(mut self, approver: impl Approver) -> Self {
        self.0.push(Arc::new(approver));
        self
    }
}

#[async_trait]
impl Approver for Approvers {
    async fn approve(&self, call: &PendingCall) -> Approval {
        let mut last = Approval::Nobody;
        for approver in &self.0 {
            match approver.approve(call).await {
                Approval::Nobody => {}
                answer @ Approval::TimedOut { .. } => last = answer,
                answer => return answer,
            }
        }
        last
    }

    async fn answer(&self, question: &AskedQuestion) -> QuestionOutcome {
        let mut last = QuestionOutcome::Nobody;
        for approver in &self.0 {
            match approver.answer(question).await {
                QuestionOutcome::Nobody => {}
                response @ QuestionOutcome::TimedOut { .. } => last = response,
                response => return response,
            }
        }
        last
    }
}

impl fmt::Debug for Approvers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Approvers({})", self.0.len())
    }
}

/// Gives an approver a time to answer in; after that the answer is [`Approval::TimedOut`].
///
/// ```
/// use haft_tools_core::{AllowAll, LocalExecutor, ToolRegistry, answering_within};
/// use std::time::Duration;
///
/// let asked = answering_within(Duration::from_mins(5), AllowAll);
/// let executor = LocalExecutor::builder(ToolRegistry::new()).approver(asked).build();
/// # let _ = executor;
/// ```
pub fn answering_within(time: Duration, approver: impl Approver) -> impl Approver {
    struct Within<A> {
        time: Duration,
        approver: A,
    }

    #[async_trait]
    impl<A: Approver> Approver for Within<A> {
        async fn approve(&self, call: &PendingCall) -> Approval {
            let answer = tokio::time::timeout(self.time, self.approver.approve(call)).await;
            answer.unwrap_or(Approval::TimedOut { after_ms: milliseconds(self.time) })
        }

        async fn answer(&self, question: &AskedQuestion) -> QuestionOutcome {
            let response = tokio::time::timeout(self.time, self.approver.answer(question)).await;
            response.unwrap_or(QuestionOutcome::TimedOut { after_ms: milliseconds(self.time) })
        }
    }

    Within { time, approver }
}
