use crate::exit::UsageError;
use crate::keeper::Keeper;
use crate::person::Terminal;
use crate::work::Work;
use anyhow::Result;
use haft::{Approval, PendingCall, PendingId, PendingStore as _};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio_util::future::FutureExt as _;
use tokio_util::sync::CancellationToken;

/// How often it is looked whether somebody has answered.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Says who answers calls that wait.
pub(crate) enum Attended {
    /// A person at this terminal, and answers that were kept.
    Here(Box<Terminal>),
    /// Answers that other commands keep; they are waited for.
    Elsewhere,
    /// Answers that were kept before.
    Nobody,
}

/// Has everything answered that work waits for, as far as there are answers, and keeps it after each.
///
/// It is kept before anybody is asked, so that the end of the process loses nothing.
pub(crate) async fn attend(
    work: &mut Work,
    keeper: &Keeper,
    attended: &Attended,
    token: &CancellationToken,
) -> Result<()> {
    let mut left = BTreeSet::new();
    loop {
        let waiting = work.waiting();
        keeper.keep(work).await?;
        if waiting.is_empty() || token.is_cancelled() {
            return Ok(());
        }
        let answer = next_answer(&waiting, &mut left, keeper, attended);
        let Some(Some((pending, approval))) = answer.with_cancellation_token(token).await.transpose()? else {
            return Ok(());
        };
        if pending.is_expired() && !approval.denies() {
            let id = &pending.id;
            let message = format!(
                "the call `{id}` has waited too long to be approved; say `haft approvals deny {id}`, then `haft resume {}`",
                keeper.run()
            );
            return Err(UsageError(message).into());
        }
        work.answer(&pending, approval).await?;
    }
}

/// Finds the next call that is answered, with its answer; gives `None` if no more are to be had now.
async fn next_answer(
    waiting: &[PendingCall],
    left: &mut BTreeSet<PendingId>,
    keeper: &Keeper,
    attended: &Attended,
) -> Result<Option<(PendingCall, Approval)>> {
    loop {
        for pending in waiting {
            if !keeper.state.waits(&pending.id).await? {
                // It was gone on with, so whatever is answered is refused, and the call is given up.
                return Ok(Some((pending.clone(), Approval::Nobody)));
            }
            if let Some(approval) = keeper.state.answer_to(&pending.id).await? {
                return Ok(Some((pending.clone(), approval)));
            }
        }
        match attended {
            Attended::Nobody => return Ok(None),
            Attended::Elsewhere => tokio::time::sleep(LOOK_AGAIN).await,
            Attended::Here(terminal) => {
                let Some(pending) = waiting.iter().find(|pending| !left.contains(&pending.id)) else {
                    return Ok(None);
                };
                match terminal.ask(pending).await {
                    Approval::Later => {
                        left.insert(pending.id.clone());
                    }
                    approval => return Ok(Some((pending.clone(), approval))),
                }
            }
        }
    }
}
