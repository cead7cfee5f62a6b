use crate::agent::Header;
use crate::agent::arguments::AgentOptions;
use crate::agent_run::AgentRun;
use crate::arguments::ResumeOptions;
use crate::attend::see_through;
use crate::bench::Bench;
use crate::chat::{Opening, Stands};
use crate::conclude::conclude;
use crate::config::{Configuration, UserConfig};
use crate::exit::{Exit, UsageError};
use crate::interrupt::cancel_on_interrupt;
use crate::keeper::Keeper;
use crate::kept_state::{KeptState, KeptStore, why};
use crate::left_behind::{drop_with, runs_below};
use crate::opened_workdir::OpenedWorkdir;
use crate::paint::{BAD, NAME, QUIET};
use crate::printed::{print_json, print_json_line};
use crate::run::{Source, read_session};
use crate::set_up::SetUp;
use crate::task::{self, Task, What};
use crate::timeline::visible;
use crate::when::ago;
use crate::work::{OneCall, Work};
use crate::{agent, call, ids, run, scratch};
use anyhow::{Context as _, Result};
use haft::CallScope;
use haft::agent::RunState;
use haft::core::RunId;
use haft::store::{GivenUp, RunStatus, StoredRun};
use haft::tools_core::{CallOutcome, PendingCall, Redactor};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::error::Error;
use std::iter;
use std::sync::Arc;
use std::time::Instant;

/// Goes on with a run that waits, or lists those that do.
pub(crate) async fn resume(options: ResumeOptions) -> Result<Exit> {
    let user = UserConfig::read()?;
    let state = KeptState::of(&user).await?;
    let Some(store) = state.existing()? else {
        return match &options.run {
            Some(run) => Err(unknown(run)),
            None => list(None, &options).await,
        };
    };
    let Some(name) = &options.run else { return list(Some(store), &options).await };
    if options.drop {
        return drop_run(store, name, options.json).await;
    }
    if task::is_served(name) {
        return Err(repeats(name));
    }
    let run = find(store, name).await?;
    let lease = store.take(&run).await?;
    let unreadable = || {
        format!(
            "the run `{run}` cannot be gone on with; use the version of haft that began it, or drop it with \
             `haft resume {run} --drop`"
        )
    };
    let stored = store.load(&run).await.with_context(unreadable)?.with_context(|| unknown(name))?;
    let task = Task::kept(&stored.host).with_context(unreadable);
    check_prompt(&run, stored.status, task.as_ref().ok(), options.prompt.is_some())?;
    let prompt = options.prompt.as_deref().map(agent::read_prompt).transpose()?;
    let mut task = task?;
    task.json |= options.json;
    let workdir = task.open_workdir(&run)?;
    let scope = CallScope::new(run.clone());
    let kept = stored.state.clone();
    let log = store.log(&run).await.with_context(unreadable)?;
    let keeper = Keeper::of(Arc::clone(&state), stored, &task, lease);
    let (token, _watch) = cancel_on_interrupt();
    let start = Instant::now();
    let given = Some(task.workdir.as_path());
    // The directories beside it are those that it began with.
    let open = || OpenedWorkdir::by(Configuration::beside(user, &workdir)?, workdir);
    match &task.work {
        What::Session { .. } | What::Agent(_) => {
            let stands = RunState::restore(kept, log).with_context(unreadable)?;
            let with = SetUp {
                task: &task,
                opened: open()?,
                given,
                keeper: Arc::clone(&keeper),
                scope,
                redactor: Redactor::new(),
                token: token.clone(),
            };
            let (mut agent_run, bench) = Box::pin(set_up(with, stands, &options)).await?;
            agent_run.go_on_below().await?;
            if let (Some(prompt), What::Agent(settings)) = (prompt, &task.work) {
                let budget = settings.budget_after(agent_run.state.spent());
                let told = agent_run.news().await?.into_iter().chain([prompt]);
                let prompt = told.collect::<Vec<_>>().join("\n\n");
                agent_run.prompt(prompt, budget).await?;
            } else {
                let calls = keeper.state.calls().await?.into_iter();
                let waiting = calls.filter(|entry| entry.run == run.as_str());
                let waiting: Vec<PendingCall> = waiting.filter_map(|entry| entry.call.ok()).collect();
                agent_run.go_on(&waiting).await?;
            }
            let mut work = Work::Agent(Box::new(agent_run));
            see_through(&mut work, &keeper, &bench, options.wait, &token).await?;
            conclude(&work, &keeper, &task, start)
        }
        What::Serve { .. } => Err(repeats(run.as_str())),
        What::Call { .. } => {
            let outcome: CallOutcome = serde_json::from_value(kept).with_context(unreadable)?;
            let (executor, bench) = call::set_up(&task, &open()?, given, &state).await?;
            let mut work = Work::Call(Box::new(OneCall { executor, scope, outcome, token: token.clone() }));
            see_through(&mut work, &keeper, &bench, options.wait, &token).await?;
            call::conclude(&work, &keeper, &task)
        }
    }
}

/// Talks on in a run of an agent.
pub(crate) async fn chat(name: &str, options: &AgentOptions) -> Result<Exit> {
    let user = UserConfig::read()?;
    let state = KeptState::of(&user).await?;
    let Some(store) = state.existing()? else { return Err(unknown(name)) };
    let run = find(store, name).await?;
    let lease = store.take(&run).await?;
    let unreadable =
        || format!("the run `{run}` cannot be gone on with; use the version of haft that began it");
    let stored = store.load(&run).await.with_context(unreadable)?.with_context(|| unknown(name))?;
    let mut task = Task::kept(&stored.host).with_context(unreadable)?;
    if !task.can_be_prompted() {
        let message = format!(
            "the run `{run}` is not one of `haft agent`, so it cannot be talked to; go on with it by `haft resume {run}`"
        );
        return Err(UsageError(message).into());
    }
    task.json = options.json;
    let workdir = task.open_workdir(&run)?;
    let headers = options.model.headers()?;
    let log = store.log(&run).await.with_context(unreadable)?;
    let state_of_run = RunState::restore(stored.state.clone(), log).with_context(unreadable)?;
    let first = (!options.prompt.is_empty()).then(|| agent::read_prompts(&options.prompt)).transpose()?;
    let given = Some(task.workdir.clone());
    let stands = Stands { stored, lease, state: state_of_run };
    let opened = OpenedWorkdir::by(Configuration::beside(user, &workdir)?, workdir)?;
    let opening = Opening::new(task, headers, opened, given, Arc::clone(&state), Some(stands));
    Box::pin(crate::chat::chat(opening, first)).await
}

/// Checks that a run can be gone on with, and whether a prompt is needed for that.
fn check_prompt(run: &RunId, status: RunStatus, task: Option<&Task>, has_prompt: bool) -> Result<()> {
    let message = match (status == RunStatus::Ended, has_prompt) {
        (true, _) if !task.is_some_and(Task::can_be_prompted) => {
            format!("the run `{run}` has ended, and nothing of it waits; start it anew")
        }
        (true, false) => {
            format!(
                "the run `{run}` has ended; say what is to be done next with `haft resume {run} --prompt TEXT`, or talk on with \
                 `haft agent --resume {run}`"
            )
        }
        (false, true) => {
            format!(
                "the run `{run}` has not ended; go on with it without `--prompt`, and say more when it has"
            )
        }
        (true, true) | (false, false) => return Ok(()),
    };
    Err(UsageError(message).into())
}

/// Sets the stage for a run at the place that it has got to.
async fn set_up(with: SetUp<'_>, stands: RunState, options: &ResumeOptions) -> Result<(AgentRun, Bench)> {
    let task = with.task;
    let goes_on = |name: &str| {
        if !task.json {
            outln!("{NAME}{}{NAME:#} {QUIET}goes on{QUIET:#}", visible(name));
        }
    };
    match &task.work {
        What::Session { session, .. } => {
            let source = Source::locate(session)?;
            goes_on(&source.name);
            let session = read_session(&source, session)?;
            run::set_up(with, session, stands).await
        }
        What::Agent(settings) => {
            let headers: Vec<Header> =
                options.header.iter().map(|text| Header::parse(text)).collect::<Result<_>>()?;
            let set_up = agent::set_up_again(with, settings, &headers, stands).await?;
            goes_on(&settings.model.to_string());
            Ok(set_up)
        }
        What::Serve { .. } | What::Call { .. } => {
            anyhow::bail!("the run `{}` is of single calls, and no model goes on with it", with.keeper.run())
        }
    }
}

const NONE_WAITS: &str =
    "No run waits, and none was interrupted; `haft resume --ended` lists those that have ended, too.";

const NONE_KEPT: &str = "No run waits, and none was interrupted or has ended.";

/// Is a run that waits, or one that cannot be read.
type Listed = Result<StoredRun, (String, String)>;

/// Lists the runs that wait, and those that a process left behind which was interrupted.
async fn list(store: Option<&dyn KeptStore>, options: &ResumeOptions) -> Result<Exit> {
    let mut waiting: Vec<Listed> = Vec::new();
    if let Some(store) = store {
        for entry in store.run_entries().await? {
            match entry.value {
                Ok(summary) if summary.status == RunStatus::Ended && !options.ended => {}
                // Whoever has it is at work.
                Ok(summary)
                    if summary.status == RunStatus::Running && store.take(&summary.run).await.is_err() => {}
                Ok(summary) => match store.load(&summary.run).await {
                    Ok(run) => waiting.extend(run.map(Ok)),
                    Err(error) => waiting.push(Err((entry.id, causes(&error)))),
                },
                Err(fault) => waiting.push(Err((entry.id, why(&fault)))),
            }
        }
    }
    if options.json {
        print_json(&waiting.iter().map(KeptRun::of).collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    if waiting.is_empty() {
        outln!("{}", if options.ended { NONE_KEPT } else { NONE_WAITS });
    }
    for run in waiting {
        let run = match run {
            Ok(run) => run,
            Err((id, why)) => {
                let (id, why) = (visible(&id), visible(&why));
                outln!("{NAME}{id}{NAME:#}  {BAD}cannot be read{BAD:#}  {QUIET}{why}{QUIET:#}");
                continue;
            }
        };
        let task = Task::kept(&run.host);
        let what = task.map_or_else(
            |error| format!("{error:#}"),
            |task| format!("{} in {}", task.describe(), task.workdir.display()),
        );
        let stands = match run.status {
            RunStatus::Running => "interrupted ",
            RunStatus::Ended => "ended ",
            _ => "",
        };
        let since = ago(run.updated_at_ms);
        outln!("{NAME}{}{NAME:#}  {}  {QUIET}{stands}{since}{QUIET:#}", run.run, visible(&what));
    }
    Ok(Exit::Done)
}

/// A run that is kept.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum KeptRun {
    /// One that can be read.
    Known {
        /// By which it is gone on with.
        run: String,
        /// `waiting`, `running` where its process was interrupted, or `ended`.
        #[schemars(with = "String")]
        status: RunStatus,
        /// When it began, in milliseconds since the Unix epoch.
        started_at_ms: u64,
        /// When it was kept last.
        updated_at_ms: u64,
        /// What it does and under which options, for haft itself.
        task: Value,
    },
    /// One that cannot be read, and can be dropped.
    Unreadable {
        /// By which it is dropped.
        run: String,
        /// Why it cannot be read.
        unreadable: String,
    },
}

impl KeptRun {
    fn of(listed: &Listed) -> Self {
        match listed {
            Ok(run) => Self::Known {
                run: run.run.to_string(),
                status: run.status,
                started_at_ms: run.started_at_ms,
                updated_at_ms: run.updated_at_ms,
                task: run.host.clone(),
            },
            Err((run, why)) => Self::Unreadable { run: run.clone(), unreadable: why.clone() },
        }
    }
}

/// A run that was given up.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Dropped {
    /// The run.
    dropped: String,
    /// How many calls waited in it.
    calls: u64,
}

/// Says what an error comes from.
fn causes(error: &dyn Error) -> String {
    let causes = iter::successors(error.source(), |cause| Error::source(*cause));
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Finds a run by its id, or by a beginning that no other has.
async fn find(store: &dyn KeptStore, name: &str) -> Result<RunId> {
    let runs = store.run_entries().await?;
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    let Some(id) = ids::pick(name, &ids, "run")? else { return Err(unknown(name)) };
    Ok(id.parse()?)
}

/// Gives a run up, also one that cannot be read, and one of which only calls are left.
async fn drop_run(store: &dyn KeptStore, name: &str, json: bool) -> Result<Exit> {
    let mut names: BTreeSet<String> = store.run_entries().await?.into_iter().map(|run| run.id).collect();
    names.extend(store.pending_entries().await?.into_iter().map(|call| call.top));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let run: RunId = ids::pick(name, &names, "run")?.ok_or_else(|| unknown(name))?.parse()?;
    let _lease = store.take(&run).await?;
    let stored = store.load(&run).await.ok().flatten();
    let below = runs_below(store, &run).await;
    let GivenUp { run: was_kept, calls, .. } = store.give_up(&run).await?;
    if !was_kept && calls == 0 {
        return Err(UsageError(format!("the run `{run}` has ended, so there is nothing to drop")).into());
    }
    if let Some(task) = stored.and_then(|stored| Task::kept(&stored.host).ok())
        && task.scratch
        && !matches!(task.work, What::Session { keep: true, .. })
    {
        scratch::remove(&task.workdir);
    }
    drop_with(&below).await?;
    if json {
        print_json_line(&Dropped { dropped: run.to_string(), calls: calls as u64 })?;
        return Ok(Exit::Done);
    }
    let calls = match calls {
        0 => String::new(),
        1 => ", and the call that waited in it is given up".to_owned(),
        calls => format!(", and the {calls} calls that waited in it are given up"),
    };
    outln!("the run `{run}` is dropped{calls}");
    Ok(Exit::Done)
}

/// Says how the calls of a client go on that are made by `haft serve`.
fn repeats(run: &str) -> anyhow::Error {
    let message = format!(
        "the calls of `{run}` are those of an MCP client: they go on when the client repeats them, once they are answered \
         with `haft approvals`"
    );
    UsageError(message).into()
}

fn unknown(run: &str) -> anyhow::Error {
    UsageError(format!("no run `{run}` is kept; see those that wait with `haft resume`")).into()
}
