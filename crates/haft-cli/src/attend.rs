#[cfg(test)]
mod tests;

use crate::bench::Bench;
use crate::exit::{UsageError, note};
use crate::keeper::Keeper;
use crate::left_behind::clear_up;
use crate::person::Terminal;
use crate::work::Work;
use anyhow::Result;
use haft::tools_core::{Approval, CallStanding, PendingCall, PendingId, PendingStore as _, Wants};
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

/// Has everything answered that work waits for, and ends what only work that goes on needs.
pub(crate) async fn see_through(
    work: &mut Work,
    keeper: &Keeper,
    bench: &Bench,
    wait: bool,
    token: &CancellationToken,
) -> Result<()> {
    let attended = attend(work, keeper, &bench.attended(wait), token).await;
    let closed = close(work, keeper, bench).await;
    attended?;
    closed
}

/// Ends what only work that goes on needs, and lets go of what is not worth keeping.
pub(crate) async fn close(work: &Work, keeper: &Keeper, bench: &Bench) -> Result<()> {
    let ended = work.end_below().await;
    bench.servers.stop().await;
    ended?;
    keeper.let_go().await?;
    keeper.state.tidy().await;
    if let Err(error) = clear_up(&keeper.state).await {
        note(error.as_ref());
    }
    Ok(())
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
    let mut asked = Asked::default();
    loop {
        let waiting = work.waiting();
        keeper.keep(work).await?;
        if waiting.is_empty() || token.is_cancelled() {
            return Ok(());
        }
        let answer = next_answer(&waiting, &mut asked, keeper, attended);
        let Some(Some((pending, approval))) = answer.with_cancellation_token(token).await.transpose()? else {
            return Ok(());
        };
        check_in_time(&pending, &approval, keeper)?;
        work.answer(&pending, approval).await?;
    }
}

/// What became so far of what people are asked.
#[derive(Default)]
struct Asked {
    /// The calls that the person here leaves for later.
    left: BTreeSet<PendingId>,
    /// The calls with whose answers those above them were gone on with; nobody goes on with them twice for these.
    handed_on: BTreeSet<PendingId>,
}

/// Finds the next call that is answered, with its answer; gives `None` if no more are to be had now.
///
/// A call that waits for calls below it is gone on with once one of these is answered; a person here is asked about all of
/// them first.
async fn next_answer(
    waiting: &[PendingCall],
    asked: &mut Asked,
    keeper: &Keeper,
    attended: &Attended,
) -> Result<Option<(PendingCall, Approval)>> {
    loop {
        for pending in waiting {
            let approval = match keeper.state.standing(&pending.id).await? {
                CallStanding::Answered(approval) => approval,
                // Whatever is answered is refused, and the call is given up.
                CallStanding::Gone => Approval::Nobody,
                _ => continue,
            };
            return Ok(Some((pending.clone(), approval)));
        }
        let mut open: Vec<&PendingCall> = Vec::new();
        let mut goes_on = None;
        for pending in waiting {
            if !pending.waits_below() {
                open.push(pending);
                continue;
            }
            let settled = settled(pending, &mut open, &asked.handed_on, keeper).await?;
            if goes_on.is_none() && !settled.is_empty() {
                goes_on = Some((pending, settled));
            }
        }
        if let Attended::Here(terminal) = attended
            && let Some(pending) = open.into_iter().find(|pending| !asked.left.contains(&pending.id))
        {
            match terminal.ask(pending).await {
                Approval::Later => {
                    asked.left.insert(pending.id.clone());
                }
                approval if waiting.iter().any(|other| other.id == pending.id) => {
                    return Ok(Some((pending.clone(), approval)));
                }
                // Whoever goes on with the call above it finds the answer there.
                approval => {
                    check_in_time(pending, &approval, keeper)?;
                    keeper.state.answer(&pending.id, &approval).await?;
                }
            }
            continue;
        }
        if let Some((pending, settled)) = goes_on {
            asked.handed_on.extend(settled);
            return Ok(Some((pending.clone(), Approval::Approve)));
        }
        match attended {
            Attended::Elsewhere => tokio::time::sleep(LOOK_AGAIN).await,
            Attended::Here(_) | Attended::Nobody => return Ok(None),
        }
    }
}

/// Names the calls below a call that are a reason to go on with it, and were none before; adds those to what is open that people
/// are still asked about.
async fn settled<'a>(
    outer: &'a PendingCall,
    open: &mut Vec<&'a PendingCall>,
    handed_on: &BTreeSet<PendingId>,
    keeper: &Keeper,
) -> Result<Vec<PendingId>> {
    let mut settled = Vec::new();
    let standings = keeper.state.settled(outer).await?;
    let leaves = leaves_left(outer, &|id| standings.iter().any(|(settled, _)| settled == id));
    for (id, standing) in standings {
        if handed_on.contains(&id) {
            continue;
        }
        if let CallStanding::Answered(approval) = &standing
            && let Some(leaf) = leaves.iter().find(|leaf| leaf.id == id)
        {
            check_in_time(leaf, approval, keeper)?;
        }
        settled.push(id);
    }
    let is_open = |leaf: &&PendingCall| !settled.contains(&leaf.id) && !handed_on.contains(&leaf.id);
    open.extend(leaves.into_iter().filter(is_open));
    Ok(settled)
}

/// Lists the leaves of a call, but for those below a call between that is settled, which is by a denial: they are never made.
fn leaves_left<'a>(outer: &'a PendingCall, is_settled: &dyn Fn(&PendingId) -> bool) -> Vec<&'a PendingCall> {
    let Wants::Below { calls } = &outer.wants else { return vec![outer] };
    let left = calls.iter().filter(|call| !call.waits_below() || !is_settled(&call.id));
    left.flat_map(|call| leaves_left(call, is_settled)).collect()
}

/// Refuses an approval that comes too late to count.
fn check_in_time(pending: &PendingCall, approval: &Approval, keeper: &Keeper) -> Result<()> {
    if !pending.is_expired() || approval.denies() {
        return Ok(());
    }
    let id = &pending.id;
    let message = format!(
        "the call `{id}` has waited too long to be approved; run `haft approvals deny {id}`, then `haft resume {}`",
        keeper.run()
    );
    Err(UsageError(message).into())
}
