use crate::agent_run::AgentRun;
use crate::keeper::{InParts, in_parts};
use anyhow::Result;
use haft::agent::ResumeError;
use haft::tools_core::{Approval, CallOutcome, PendingCall, Resumption, ResumptionError};
use haft::{CallScope, LocalExecutor, ToolExecutor as _};
use tokio_util::sync::CancellationToken;

/// Is something that can come to wait for a person: a run of an agent, or one call.
pub(crate) enum Work {
    Agent(Box<AgentRun>),
    Call(Box<OneCall>),
}

/// Holds one call that was made for the command line, and what became of it so far.
pub(crate) struct OneCall {
    pub(crate) executor: LocalExecutor,
    pub(crate) scope: CallScope,
    pub(crate) outcome: CallOutcome,
    pub(crate) token: CancellationToken,
}

impl Work {
    /// The calls that wait for a person.
    pub(crate) fn waiting(&self) -> Vec<PendingCall> {
        match self {
            Self::Agent(run) => run.state.pending().cloned().collect(),
            Self::Call(call) => match &call.outcome {
                CallOutcome::Pending(pending) => vec![(**pending).clone()],
                CallOutcome::Replied(_) | CallOutcome::Held(_) => Vec::new(),
            },
        }
    }

    /// Ends the runs that were started below one that has ended.
    pub(crate) async fn end_below(&self) -> Result<()> {
        match self {
            Self::Agent(run) => run.end_below().await,
            Self::Call(_) => Ok(()),
        }
    }

    /// What is to be kept of it, beside so many entries of its log.
    pub(crate) fn kept_from(&self, entries: usize) -> Result<InParts> {
        match self {
            Self::Agent(run) => in_parts(&run.state, entries),
            Self::Call(call) => Ok((serde_json::to_value(&call.outcome)?, Vec::new())),
        }
    }

    /// Goes on with a call that waited, as far as it gets.
    ///
    /// A call that another process went on with, and ended before it could keep what became of it, is answered as lost: it
    /// is not run twice.
    pub(crate) async fn answer(&mut self, pending: &PendingCall, approval: Approval) -> Result<()> {
        let refused = match self {
            Self::Agent(run) => match run.answer(pending, approval).await {
                Err(ResumeError::Refused(refused)) => Err(refused),
                done => return Ok(done?),
            },
            Self::Call(call) => {
                let resumption = Resumption::new(call.scope.clone(), pending.clone(), approval);
                call.executor.resume(resumption.cancelled_by(call.token.clone())).await.map(|outcome| {
                    call.outcome = outcome;
                })
            }
        };
        match refused {
            Ok(()) => Ok(()),
            Err(ResumptionError::ResumedBefore { id }) => {
                errln!(
                    "the call `{id}` was gone on with before, by a process that ended meanwhile; it is not run again, and \
                     whether it had its effect is not known"
                );
                self.lose(pending).await
            }
            Err(refused) => Err(refused.into()),
        }
    }

    /// Answers a call of which nobody knows what became.
    async fn lose(&mut self, pending: &PendingCall) -> Result<()> {
        let lost = CallOutcome::lost(&pending.call);
        match self {
            Self::Agent(run) => run.answered(lost).await,
            Self::Call(call) => {
                call.outcome = lost;
                Ok(())
            }
        }
    }
}
