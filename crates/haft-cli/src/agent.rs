//! Runs of an agent whose model is a provider's.

pub(crate) mod arguments;
mod header;
mod model_settings;
mod record;
mod settings;

pub(crate) use header::Header;
pub(crate) use settings::AgentSettings;

use crate::agent_run::{AgentRun, Stage};
use crate::attend::attend;
use crate::conclude::conclude;
use crate::exit::{Exit, UsageError};
use crate::interrupt::cancel_on_interrupt;
use crate::keeper::Keeper;
use crate::kept_state::KeptState;
use crate::set_up::SetUp;
use crate::setup::{self, Bench};
use crate::task::{Task, What};
use crate::timeline::Timeline;
use crate::work::Work;
use anyhow::{Context as _, Result};
use arguments::AgentOptions;
use haft::Redactor;
use haft::agent::RunState;
use haft::model::Model;
use record::Record;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Instant;

/// The most bytes of a prompt on standard input.
const MOST_PROMPT: u64 = 1 << 20;

/// Has a provider's model work on a task by the tools.
pub(crate) async fn agent(options: AgentOptions) -> Result<Exit> {
    let headers = options.model.headers()?;
    let settings = AgentSettings::new(&options, &headers)?;
    let redactor = Redactor::new();
    let model = settings.model.connect(&headers, &redactor)?;
    let prompt = read_prompt(&options.prompt)?;
    let workdir = setup::workdir(options.workdir.as_deref())?;
    let record = settings.record.clone().map(|path| Record::Anew { path, force: options.force });
    let work = What::Agent(Box::new(settings.clone()));
    let mut task = Task::new(work, workdir.root_path(), &options.policy)?;
    (task.approve_all, task.json, task.quota) = (options.yes, options.json, options.quota);
    (task.no_mcp, task.no_openapi) = (options.no_mcp, options.no_openapi);
    let scope = setup::scope()?;
    let keeper = Keeper::new(KeptState::from_environment()?, scope.run().clone(), &task)?;
    let (token, _watch) = cancel_on_interrupt();
    let start = Instant::now();
    let with = SetUp {
        task: &task,
        workdir,
        given: options.workdir.as_deref(),
        keeper: Arc::clone(&keeper),
        scope,
        redactor,
        token: token.clone(),
    };
    let (mut run, bench) = set_up(with, &settings, model, record, RunState::new()).await?;
    if !options.json {
        let place = match &options.workdir {
            Some(directory) => format!("in {}", directory.display()),
            None => "in the current directory".to_owned(),
        };
        let approved = if task.approve_all { "; its calls are approved" } else { "" };
        Timeline::title(&settings.model.to_string(), &format!("{place}{approved}"), &prompt);
    }
    run.begin(prompt).await;
    let mut work = Work::Agent(Box::new(run));
    let attended = attend(&mut work, &keeper, &bench.attended(options.wait), &token).await;
    bench.servers.stop().await;
    attended?;
    keeper.state.tidy().await;
    conclude(&work, &keeper, &task, start)
}

/// Gathers the tools of a run and sets its stage, at the place that it has got to.
pub(crate) async fn set_up(
    with: SetUp<'_>,
    settings: &AgentSettings,
    model: Box<dyn Model>,
    record: Option<Record>,
    stands: RunState,
) -> Result<(AgentRun, Bench)> {
    let (bench, outputs) = with.bench().await?;
    let redactor = with.redactor.clone();
    let stage = with.stage(&bench, outputs);
    // A file is written over only once nothing else can be wrong.
    let run = match record.map(|record| record.open(&redactor)).transpose()?.flatten() {
        Some(sink) => put_together(stage, settings, haft::model::RecordingModel::new(model, sink), stands)?,
        None => put_together(stage, settings, model, stands)?,
    };
    Ok((run, bench))
}

/// Gathers what a run that was kept needs to go on; the keys come from the environment again.
///
/// A session is what follows one prompt, so a run that has ended is not recorded on.
pub(crate) async fn set_up_again(
    with: SetUp<'_>,
    settings: &AgentSettings,
    headers: &[Header],
    stands: RunState,
) -> Result<(AgentRun, Bench)> {
    let model = settings.model.connect(headers, &with.redactor)?;
    let turns = stands.turns();
    let record = settings.record.clone().filter(|_| stands.end().is_none());
    let record = record.map(|path| Record::GoesOn { path, turns });
    set_up(with, settings, model, record, stands).await
}

/// Makes the agent of its tools, which the stage has, and its model.
fn put_together(
    stage: Stage<'_>,
    settings: &AgentSettings,
    model: impl Model,
    stands: RunState,
) -> Result<AgentRun> {
    AgentRun::new(stage, model, stands, |agent| settings.configure(agent))
}

/// Reads the prompt from where the command line says it is.
pub(crate) fn read_prompt(prompt: &str) -> Result<String> {
    let text = if prompt == "-" {
        let unreadable = || UsageError("cannot read the prompt from standard input; write UTF-8".to_owned());
        let mut text = String::new();
        std::io::stdin().take(MOST_PROMPT + 1).read_to_string(&mut text).with_context(unreadable)?;
        if text.len() as u64 > MOST_PROMPT {
            let message = format!(
                "the prompt has more than {MOST_PROMPT} bytes; put what it is about into a file, and say where"
            );
            return Err(UsageError(message).into());
        }
        text
    } else {
        prompt.to_owned()
    };
    let text = text.trim();
    if text.is_empty() {
        let message = "the prompt is empty; say what is to be done, as in `Mend the failing test.`";
        return Err(UsageError(message.to_owned()).into());
    }
    Ok(text.to_owned())
}
