use crate::arguments::ResumeOptions;
use crate::attend::attend;
use crate::exit::{Exit, UsageError};
use crate::interrupt::cancel_on_interrupt;
use crate::keeper::Keeper;
use crate::kept_state::{KeptState, why};
use crate::paint::{BAD, NAME, QUIET};
use crate::run::{SetUp, Source, read_session};
use crate::task::{Task, What};
use crate::timeline::visible;
use crate::when::ago;
use crate::work::{OneCall, Work};
use crate::{call, run};
use anyhow::{Context as _, Result};
use haft::store::{RunStatus, RunStore as _, SqliteStore, StoredRun};
use haft::{CallOutcome, CallScope};
use serde_json::{Value, json};
use std::error::Error;
use std::iter;
use std::sync::Arc;
use std::time::Instant;

/// Goes on with a run that waits, or lists those that do.
pub(crate) async fn resume(options: ResumeOptions) -> Result<Exit> {
    let state = KeptState::from_environment();
    let Some(store) = state.existing()? else {
        return match &options.run {
            Some(run) => Err(unknown(run)),
            None => list(None, options.json).await,
        };
    };
    let Some(name) = &options.run else { return list(Some(store), options.json).await };
    let stored = find(store, name).await?;
    let lease = store.take(&stored.run).await?;
    // Whoever had it may have gone on with it since.
    let stored = store.load(&stored.run).await?.with_context(|| unknown(name))?;
    if stored.status == RunStatus::Ended {
        let message = format!("the run `{}` has ended, and nothing of it waits; start it anew", stored.run);
        return Err(UsageError(message).into());
    }
    let mut task = Task::kept(&stored.host)?;
    task.json |= options.json;
    let scope = CallScope::new(stored.run.clone());
    let kept = stored.state.clone();
    let mut keeper = Keeper::of(Arc::clone(&state), stored, lease);
    let (token, _watch) = cancel_on_interrupt();
    let start = Instant::now();
    match &task.work {
        What::Session { session, .. } => {
            let source = Source::locate(session)?;
            if !task.json {
                anstream::println!("{NAME}{}{NAME:#} {QUIET}goes on{QUIET:#}", visible(&source.name));
            }
            let (playing, bench) = run::set_up(SetUp {
                task: &task,
                given: Some(&task.workdir),
                state,
                scope,
                session: read_session(&source, session)?,
                stands: serde_json::from_value(kept).context("the run cannot be read")?,
                token: token.clone(),
            })?;
            let mut work = Work::Session(Box::new(playing));
            attend(&mut work, &mut keeper, &bench.attended(options.wait), &token).await?;
            run::conclude(&work, &keeper, &task, start)
        }
        What::Call { .. } => {
            let outcome: CallOutcome = serde_json::from_value(kept).context("the call cannot be read")?;
            let (executor, bench) = call::set_up(&task, Some(&task.workdir), &state)?;
            let mut work = Work::Call(Box::new(OneCall { executor, scope, outcome, token: token.clone() }));
            attend(&mut work, &mut keeper, &bench.attended(options.wait), &token).await?;
            call::conclude(&work, &keeper, &task)
        }
    }
}

/// Is a run that waits, or one that cannot be read.
type Listed = Result<StoredRun, (String, String)>;

/// Lists the runs that wait.
async fn list(store: Option<&SqliteStore>, json: bool) -> Result<Exit> {
    let mut waiting: Vec<Listed> = Vec::new();
    if let Some(store) = store {
        for entry in store.run_entries().await? {
            match entry.value {
                Ok(summary) if summary.status != RunStatus::Waiting => {}
                Ok(summary) => match store.load(&summary.run).await {
                    Ok(run) => waiting.extend(run.map(Ok)),
                    Err(error) => waiting.push(Err((entry.id, causes(&error)))),
                },
                Err(fault) => waiting.push(Err((entry.id, why(&fault)))),
            }
        }
    }
    if json {
        let runs: Vec<Value> = waiting.iter().map(as_json).collect();
        anstream::println!("{}", serde_json::to_string_pretty(&runs)?);
        return Ok(Exit::Done);
    }
    if waiting.is_empty() {
        anstream::println!("no run waits");
    }
    for run in waiting {
        let run = match run {
            Ok(run) => run,
            Err((id, why)) => {
                let (id, why) = (visible(&id), visible(&why));
                anstream::println!("{NAME}{id}{NAME:#}  {BAD}cannot be read{BAD:#}  {QUIET}{why}{QUIET:#}");
                continue;
            }
        };
        let task = Task::kept(&run.host);
        let what = task.map_or_else(
            |error| format!("{error:#}"),
            |task| format!("{} in {}", task.describe(), task.workdir.display()),
        );
        let since = ago(run.updated_at_ms);
        anstream::println!("{NAME}{}{NAME:#}  {}  {QUIET}{since}{QUIET:#}", run.run, visible(&what));
    }
    Ok(Exit::Done)
}

fn as_json(listed: &Listed) -> Value {
    match listed {
        Ok(run) => json!({
            "run": run.run,
            "started_at_ms": run.started_at_ms,
            "updated_at_ms": run.updated_at_ms,
            "task": run.host,
        }),
        Err((id, why)) => json!({ "run": id, "unreadable": why }),
    }
}

/// Says what an error comes from.
fn causes(error: &dyn Error) -> String {
    let causes = iter::successors(error.source(), |cause| Error::source(*cause));
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Finds a run by its id, or by a beginning that no other has.
async fn find(store: &SqliteStore, name: &str) -> Result<StoredRun> {
    let runs = store.run_entries().await?;
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    let Some(id) = crate::ids::pick(name, &ids, "run")? else { return Err(unknown(name)) };
    store.load(&id.parse()?).await?.with_context(|| unknown(name))
}

fn unknown(run: &str) -> anyhow::Error {
    UsageError(format!("no run `{run}` is kept; see those that wait with `haft resume`")).into()
}
