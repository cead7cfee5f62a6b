use crate::approver::CommandLine;
use crate::arguments::RunOptions;
use crate::exit::{Exit, UsageError};
use crate::interrupt::cancel_on_interrupt;
use crate::policy_setup::PolicySetup;
use crate::timeline::{JsonLines, Timeline, visible};
use crate::{outcome, scratch, setup};
use anyhow::{Context as _, Result};
use haft::agent::{Agent, RunEnd, RunState};
use haft::model::{ScriptedModel, Session};
use haft::{Events, LocalExecutor, LocalOutputs, Observer, OutputStore, read_output};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tempfile::TempDir;

/// What the model is asked where the session brings no prompt of its own.
const DEFAULT_PROMPT: &str = "Go on with the recorded session.";

/// Plays a recorded session with real tools.
pub(crate) async fn run(options: RunOptions) -> Result<Exit> {
    let source = Source::locate(&options.session)?;
    let place = Place::choose(&options, &source)?;
    let workdir = setup::workdir(place.path())?;
    let decides = options.ask || options.policy.are_given();
    let approve = options.yes || (place.is_scratch() && !decides);
    let session = Session::read(&source.turns)
        .with_context(|| UsageError(format!("cannot play `{}`", options.session.display())))?;
    let model = Arc::new(ScriptedModel::new(session));
    let prompt = source.prompt()?;

    let outputs: Arc<dyn OutputStore> = Arc::new(LocalOutputs::in_memory());
    let tools = setup::registry(&workdir)?.with(read_output(Arc::clone(&outputs)))?;
    let policy = PolicySetup::new(&workdir, place.path(), &tools).in_force(&options.policy)?;
    policy.print_notes();

    let timeline = Arc::new(Timeline::new());
    let observer: Arc<dyn Observer> =
        if options.json { Arc::new(JsonLines) } else { Arc::clone(&timeline) as Arc<dyn Observer> };
    if !options.json {
        let approved = if approve { "; its calls are approved" } else { "" };
        Timeline::title(&source.name, &format!("{}{approved}", place.describe()), &prompt);
    }
    let events = Events::new([observer]);
    let executor = policy
        .apply(LocalExecutor::builder(tools.clone()))?
        .outputs(outputs)
        .approver(if approve { CommandLine::yes() } else { CommandLine::ask() })
        .events(events.clone())
        .build();
    let (token, _watch) = cancel_on_interrupt();
    let agent = Agent::new(Arc::clone(&model), executor).events(events).cancelled_by(token);

    let start = Instant::now();
    let state = agent.run(setup::scope()?, prompt).await;
    let elapsed = start.elapsed();
    let exit = conclude(&state, &model);
    let kept = if options.keep { place.keep() } else { None };
    if options.json {
        JsonLines::summary(&state, elapsed, exit, kept.as_deref());
    } else {
        timeline.summary(&state, elapsed);
        if let Some(kept) = kept {
            anstream::println!("kept {}", kept.display());
        }
    }
    explain(&state, &model);
    Ok(exit)
}

/// A run is done when the model ended it and the session has no turn left.
fn conclude(state: &RunState, model: &ScriptedModel) -> Exit {
    match state.end() {
        None => Exit::Waiting,
        Some(RunEnd::Completed) if model.finished().is_ok() => Exit::Done,
        Some(_) => Exit::Failed,
    }
}

/// Says on standard error why a run did not end as it should, and what to do.
fn explain(state: &RunState, model: &ScriptedModel) {
    match state.end() {
        None => state.pending().for_each(outcome::waiting),
        Some(RunEnd::Failed { reason }) => {
            reason.lines().for_each(|line| anstream::eprintln!("{}", visible(line)));
        }
        Some(RunEnd::Completed) => {
            if let Err(divergence) = model.finished() {
                divergence.to_string().lines().for_each(|line| anstream::eprintln!("{}", visible(line)));
            }
        }
        Some(_) => {}
    }
}

/// Where a session is, and what belongs to it.
struct Source {
    name: String,
    turns: PathBuf,
    prompt: Option<PathBuf>,
    project: Option<PathBuf>,
}

impl Source {
    fn locate(path: &Path) -> Result<Self> {
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        if path.is_file() {
            return Ok(Self { name, turns: path.to_owned(), prompt: None, project: None });
        }
        let turns = path.join("session.jsonl");
        if !turns.is_file() {
            let what = if path.is_dir() {
                "has no file `session.jsonl`"
            } else if path.exists() {
                "is neither a file nor a directory"
            } else {
                "does not exist"
            };
            let advice =
                "name a JSONL file of recorded turns or a directory that holds one as `session.jsonl`";
            return Err(UsageError(format!("the session `{}` {what}; {advice}", path.display())).into());
        }
        let existing = |name: &str| Some(path.join(name)).filter(|path| path.exists());
        Ok(Self { name, turns, prompt: existing("prompt.md"), project: existing("project") })
    }

    fn prompt(&self) -> Result<String> {
        let Some(path) = &self.prompt else { return Ok(DEFAULT_PROMPT.to_owned()) };
        let text = std::fs::read_to_string(path)
            .with_context(|| UsageError(format!("cannot read the prompt `{}`", path.display())))?;
        Ok(text.trim().to_owned())
    }
}

/// Where a session plays.
enum Place {
    Given(PathBuf),
    Scratch(TempDir),
    Current,
}

impl Place {
    fn choose(options: &RunOptions, source: &Source) -> Result<Self> {
        Ok(match (&options.workdir, &source.project) {
            (Some(directory), _) => Self::Given(directory.clone()),
            (None, Some(project)) => Self::Scratch(scratch::copy(project)?),
            (None, None) if options.keep => {
                return Err(UsageError("--keep needs a session with a project to copy".to_owned()).into());
            }
            (None, None) => Self::Current,
        })
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Self::Given(path) => Some(path),
            Self::Scratch(scratch) => Some(scratch.path()),
            Self::Current => None,
        }
    }

    fn is_scratch(&self) -> bool {
        matches!(self, Self::Scratch(_))
    }

    fn describe(&self) -> String {
        match self {
            Self::Given(path) => format!("in {}", path.display()),
            Self::Scratch(_) => "on a scratch copy of its project".to_owned(),
            Self::Current => "in the current directory".to_owned(),
        }
    }

    /// Keeps a scratch copy and tells where it is.
    fn keep(self) -> Option<PathBuf> {
        match self {
            Self::Scratch(scratch) => Some(scratch.keep()),
            Self::Given(_) | Self::Current => None,
        }
    }
}
