//! Runs of an agent whose model is a provider's.

pub(crate) mod arguments;
mod header;
pub(crate) mod model_settings;
mod record;
mod settings;

pub(crate) use header::{Header, SentHeader};
pub(crate) use settings::AgentSettings;

use crate::agent_run::{AgentRun, ChooseModel};
use crate::attend::see_through;
use crate::bench;
use crate::bench::Bench;
use crate::chat::{Opening, chat};
use crate::conclude::conclude;
use crate::exit::{Exit, UsageError, note};
use crate::interrupt::cancel_on_interrupt;
use crate::keeper::Keeper;
use crate::kept_state::KeptState;
use crate::opened_workdir::OpenedWorkdir;
use crate::paint::ASKS;
use crate::resume;
use crate::set_up::SetUp;
use crate::small_file::text_at_most;
use crate::task::{Task, What};
use crate::timeline::{Timeline, visible};
use crate::work::Work;
use anyhow::{Context as _, Result};
use arguments::AgentOptions;
use haft::CallScope;
use haft::agent::RunState;
use haft::core::RunId;
use haft::model::{Model, RecordingModel};
use haft::subagents::{AgentSpec, ChildRun, ChildStore};
use haft::tools_core::Redactor;
use model_settings::ModelSettings;
use record::{Record, Turns};
use std::collections::BTreeMap;
use std::path::absolute;
use std::sync::Arc;
use std::time::Instant;

/// The most bytes of a prompt on standard input.
const MOST_PROMPT: u64 = 1 << 20;

/// Has a provider's model work on a task by the tools.
pub(crate) async fn agent(mut options: AgentOptions) -> Result<Exit> {
    if let Some(run) = &options.resume {
        return Box::pin(resume::chat(run, &options)).await;
    }
    let is_chat = options.chat || options.prompt.is_empty();
    check_chat(&options, is_chat)?;
    let opened = OpenedWorkdir::of(options.workdir.as_deref(), std::mem::take(&mut options.roots))?;
    opened.settings.agent.clone().fill(&mut options, &opened.settings.providers)?;
    let headers = options.model.headers()?;
    let settings = AgentSettings::new(&options, &headers)?;
    let redactor = Redactor::new();
    let model = settings.model.connect(&headers, &redactor)?;
    let prompt = (!options.prompt.is_empty()).then(|| read_prompts(&options.prompt)).transpose()?;
    let record = settings.record.clone().map(|path| Record::Anew { path, force: options.force });
    let work = What::Agent(Box::new(settings.clone()));
    let mut task = Task::new(work, opened.workdir.root_path(), &options.policy)?;
    (task.approve_all, task.json, task.roots) = (options.yes, options.json, opened.roots.clone());
    task.quota = options.quota;
    task.agents = options.agents.as_deref().map(absolute).transpose()?;
    (task.no_mcp, task.no_openapi) = (options.no_mcp, options.no_openapi);
    let state = KeptState::of(&opened.configuration.user).await?;
    let prompt = match prompt {
        Some(prompt) if !is_chat => prompt,
        first => {
            let opening = Opening::new(task, headers, opened, options.workdir.clone(), state, None);
            return Box::pin(chat(opening, first)).await;
        }
    };
    let scope = bench::scope()?;
    let keeper = Keeper::new(state, scope.run().clone(), &task)?;
    let (token, _watch) = cancel_on_interrupt();
    let start = Instant::now();
    let with = SetUp {
        task: &task,
        opened,
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

/// Refuses what does not go with a chat.
fn check_chat(options: &AgentOptions, is_chat: bool) -> Result<()> {
    let message = match (is_chat, &options.record, options.wait) {
        (true, Some(_), _) => {
            "a session is what follows one prompt, so a chat is not recorded; give a prompt, or leave out `--record`"
        }
        (true, None, true) => {
            "in a chat, what waits is answered with `/approve` or `haft approvals`; leave out `--wait`, or give a prompt"
        }
        _ => return Ok(()),
    };
    Err(UsageError(message.to_owned()).into())
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
    let models = models_below(settings, &around.agents);
    let stage = with.stage(&bench, around);
    let model: Arc<dyn Model> = Arc::from(model);
    let prices = settings.prices(models.values().map(|name| &**name));
    let below = ModelsBelow {
        model: Arc::clone(&model),
        models,
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
        AgentRun::new(stage, recording, stands, choose, prices, configured)?
    } else {
        let choose: ChooseModel = Box::new(move |child| below.of(child));
        AgentRun::new(stage, model, stands, choose, prices, configured)?
    };
    Ok((run, bench))
}

/// Says which agents work with models of their own, by their names, and what a person has to know of that before the run.
fn models_below(settings: &AgentSettings, agents: &[AgentSpec]) -> BTreeMap<String, Arc<str>> {
    let mut models = BTreeMap::new();
    let own = settings.model.name();
    for agent in agents {
        let Some(name) = &agent.model else { continue };
        let shown = visible(name);
        if settings.model.is_foreign(name) {
            errln!(
                "{ASKS}note{ASKS:#}: `{shown}`, which the agent `{}` names, is not a model of `{}`; it works with that of \
                 the run which delegates to it. Write a model's whole name into its file.",
                agent.name,
                settings.model.provider()
            );
            continue;
        }
        if settings.has_price() && settings.model.named(name).name() != own {
            errln!(
                "{ASKS}note{ASKS:#}: what `{shown}` costs, which the agent `{}` works with, is not known; it is counted like \
                 `{}`",
                agent.name,
                visible(own)
            );
        }
        models.insert(agent.name.to_string(), Arc::clone(name));
    }
    models
}

/// Finds the models of runs that are delegated to agents: that of the run which delegates, or another of the same service.
struct ModelsBelow {
    /// That of the run at the top.
    model: Arc<dyn Model>,
    /// The names of those that agents work with, by the agents' names.
    models: BTreeMap<String, Arc<str>>,
    settings: ModelSettings,
    headers: Vec<Header>,
    redactor: Redactor,
}

impl ModelsBelow {
    /// A model that cannot be asked is none, and its run ends as failed.
    fn of(&self, child: &ChildRun) -> Option<Arc<dyn Model>> {
        // The nearest run above that has one of its own says it; the names of their agents are known after a restart, too.
        let mut agents = child.scope.chain().filter_map(CallScope::agent);
        let Some(name) = agents.find_map(|agent| self.models.get(agent)) else {
            return Some(Arc::clone(&self.model));
        };
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
    let record = match settings.record.clone().filter(|_| stands.end().is_none()) {
        Some(path) => {
            let below = turns_below(&with.keeper.state, with.scope.run()).await?;
            Some(Record::GoesOn { path, turns: Turns { own: stands.turns(), below } })
        }
        None => None,
    };
    set_up(with, settings, headers, model, record, stands).await
}

/// Counts the turns of the runs below a run, by their names in a session.
async fn turns_below(state: &KeptState, run: &RunId) -> Result<BTreeMap<String, u32>> {
    let mut turns = BTreeMap::new();
    let Some(store) = state.existing()? else { return Ok(turns) };
    for record in store.tree(run).await? {
        let kept = ChildStore::state(store, &record.run).await?;
        let taken = kept.and_then(|(head, log)| RunState::restore(head, log).ok());
        turns.insert(record.path, taken.map_or(0, |state| state.turns()));
    }
    Ok(turns)
}

/// Reads a prompt, or what is to be done and behind it what that is about.
pub(crate) fn read_prompts(prompts: &[String]) -> Result<String> {
    if let [first, second] = prompts
        && (first == "-" || second != "-")
    {
        let message = "the prompt is one argument, with a `-` behind it for what is on standard input; put it into quotes";
        return Err(UsageError(message.to_owned()).into());
    }
    let texts = prompts.iter().map(|prompt| read_prompt(prompt)).collect::<Result<Vec<_>>>()?;
    Ok(texts.join("\n\n"))
}

/// Reads the prompt from where the command line says it is.
pub(crate) fn read_prompt(prompt: &str) -> Result<String> {
    let text = if prompt == "-" {
        let unreadable = || UsageError("cannot read the prompt from standard input; write UTF-8".to_owned());
        let text = text_at_most(MOST_PROMPT, std::io::stdin()).with_context(unreadable)?;
        text.ok_or_else(|| {
            UsageError(format!(
                "the prompt has more than {MOST_PROMPT} bytes; put what it is about into a file, and say where"
            ))
        })?
    } else {
        prompt.to_owned()
    };
    let text = text.trim();
    if text.is_empty() {
        let message = "the prompt is empty; say what is to be done, as in `Fix the failing test.`";
        return Err(UsageError(message.to_owned()).into());
    }
    Ok(text.to_owned())
}
