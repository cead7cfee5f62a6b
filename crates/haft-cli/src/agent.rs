//! Runs of an agent whose model is a provider's.

pub(crate) mod arguments;
mod header;
mod model_settings;
mod record;
mod settings;

pub(crate) use header::Header;
pub(crate) use settings::AgentSettings;

use crate::agent_run::{AgentRun, ChooseModel};
use crate::attend::see_through;
use crate::conclude::conclude;
use crate::exit::{Exit, UsageError, note};
use crate::interrupt::cancel_on_interrupt;
use crate::keeper::Keeper;
use crate::kept_state::KeptState;
use crate::other_root::OtherRoot;
use crate::set_up::SetUp;
use crate::setup::{self, Bench};
use crate::task::{Task, What};
use crate::timeline::Timeline;
use crate::work::Work;
use anyhow::{Context as _, Result};
use arguments::AgentOptions;
use haft::Redactor;
use haft::agent::RunState;
use haft::model::{Model, RecordingModel};
use haft::subagents::ChildRun;
use model_settings::ModelSettings;
use record::Record;
use std::io::Read as _;
use std::path::absolute;
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
    let roots = OtherRoot::absolute(options.roots)?;
    let workdir = OtherRoot::add(&roots, setup::workdir(options.workdir.as_deref())?)?;
    let record = settings.record.clone().map(|path| Record::Anew { path, force: options.force });
    let work = What::Agent(Box::new(settings.clone()));
    let mut task = Task::new(work, workdir.root_path(), &options.policy)?;
    (task.approve_all, task.json, task.roots) = (options.yes, options.json, roots);
    task.quota = options.quota;
    task.agents = options.agents.as_deref().map(absolute).transpose()?;
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
    let (mut run, bench) = set_up(with, &settings, &headers, model, record, RunState::new()).await?;
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
    see_through(&mut work, &keeper, &bench, options.wait, &token).await?;
    conclude(&work, &keeper, &task, start)
}

/// Gathers the tools of a run and sets its stage, at the place that it has got to.
pub(crate) async fn set_up(
    with: SetUp<'_>,
    settings: &AgentSettings,
    headers: &[Header],
    model: Box<dyn Model>,
    record: Option<Record>,
    stands: RunState,
) -> Result<(AgentRun, Bench)> {
    let (bench, around) = with.bench().await?;
    let redactor = with.redactor.clone();
    let stage = with.stage(&bench, around);
    let model: Arc<dyn Model> = Arc::from(model);
    let below = ModelsBelow {
        model: Arc::clone(&model),
        settings: settings.model.clone(),
        headers: headers.to_vec(),
        redactor: redactor.clone(),
    };
    // A file is written over only once nothing else can be wrong.
    let sink = record.map(|record| record.open(&redactor)).transpose()?.flatten();
    let configured = |agent| settings.configure(agent);
    let run = if let Some(sink) = sink {
        let recording = Arc::new(RecordingModel::new(model, sink));
        let beside = Arc::clone(&recording);
        let choose: ChooseModel =
            Box::new(move |child| Some(Arc::new(beside.beside(below.of(child)?, child.path.as_str()))));
        AgentRun::new(stage, recording, stands, choose, configured)?
    } else {
        let choose: ChooseModel = Box::new(move |child| below.of(child));
        AgentRun::new(stage, model, stands, choose, configured)?
    };
    Ok((run, bench))
}

/// Finds the models of runs that are delegated to agents: that of the run which delegates, or another of the same service.
struct ModelsBelow {
    model: Arc<dyn Model>,
    settings: ModelSettings,
    headers: Vec<Header>,
    redactor: Redactor,
}

impl ModelsBelow {
    /// A model that cannot be asked is none, and its run ends as failed.
    fn of(&self, child: &ChildRun) -> Option<Arc<dyn Model>> {
        let Some(name) = &child.spec.model else { return Some(Arc::clone(&self.model)) };
        match self.settings.named(name).connect(&self.headers, &self.redactor) {
            Ok(model) => Some(Arc::from(model)),
            Err(error) => {
                note(error.as_ref());
                None
            }
        }
    }
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
    set_up(with, settings, headers, model, record, stands).await
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
