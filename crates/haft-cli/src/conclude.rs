use crate::agent_run::AgentRun;
use crate::exit::Exit;
use crate::keeper::Keeper;
use crate::paint::QUIET;
use crate::task::{Task, What};
use crate::timeline::{JsonLines, Timeline, visible};
use crate::work::Work;
use crate::{outcome, scratch};
use anyhow::Result;
use haft::agent::RunEnd;
use haft::tools_core::PendingCall;
use std::time::Instant;

/// Says how a run of an agent ended or what it waits for, and clears up.
pub(crate) fn conclude(work: &Work, keeper: &Keeper, task: &Task, start: Instant) -> Result<Exit> {
    let Work::Agent(run) = work else {
        let run = keeper.run();
        anyhow::bail!(
            "the run `{run}` is a single call, not a run of an agent; go on with `haft resume {run}`"
        )
    };
    let state = &run.state;
    let exit = match state.end() {
        None => Exit::Waiting,
        Some(_) if run.is_done() => Exit::Done,
        Some(_) => Exit::Failed,
    };
    let keep = matches!(task.work, What::Session { keep: true, .. });
    let kept = (task.scratch && keep).then_some(task.workdir.as_path());
    match &run.timeline {
        None => JsonLines::summary(state, start.elapsed(), exit, kept),
        Some(timeline) => {
            timeline.summary(state, start.elapsed());
            if matches!(task.work, What::Agent(_)) {
                Timeline::costs(state);
            }
            if let Some(kept) = kept {
                outln!("kept {}", kept.display());
            }
        }
    }
    explain(run);
    if task.can_be_prompted() && !task.json && state.end().is_some() && state.turns() > 0 {
        let run = keeper.run();
        errln!("{QUIET}say more with `haft resume {run} --prompt TEXT`{QUIET:#}");
    }
    if state.end().is_none() {
        state.pending().flat_map(PendingCall::leaves).for_each(outcome::waiting);
        outcome::how_to_go_on(keeper.run());
    } else if task.scratch && !keep {
        scratch::remove(&task.workdir);
    }
    Ok(exit)
}

/// Says on standard error why a run did not end as it should, and what to do.
fn explain(run: &AgentRun) {
    match run.state.end() {
        Some(RunEnd::Failed { reason }) => {
            reason.lines().for_each(|line| errln!("{}", visible(line)));
        }
        Some(RunEnd::Completed) => {
            if let Some(Err(divergence)) = run.session.as_ref().map(|session| session.finished()) {
                divergence.to_string().lines().for_each(|line| errln!("{}", visible(line)));
            }
        }
        _ => {}
    }
}
