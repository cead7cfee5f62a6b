use crate::agent_run::AgentRun;
use crate::arguments::RunOptions;
use crate::attend::see_through;
use crate::bench::Bench;
use crate::conclude::conclude;
use crate::exit::{Exit, UsageError};
use crate::interrupt::cancel_on_interrupt;
use crate::keeper::Keeper;
use crate::kept_state::KeptState;
use crate::opened_workdir::OpenedWorkdir;
use crate::set_up::SetUp;
use crate::task::{Task, What};
use crate::timeline::Timeline;
use crate::work::Work;
use crate::{bench, opened_workdir, scratch};
use anyhow::{Context as _, Result};
use haft::agent::RunState;
use haft::model::Session;
use haft::tools_core::Redactor;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::time::Instant;
use tempfile::TempDir;

/// What the model is asked where the session brings no prompt of its own.
const DEFAULT_PROMPT: &str = "Go on with the recorded session.";

/// Plays a recorded session with real tools.
pub(crate) async fn run(options: RunOptions) -> Result<Exit> {
    let source = Source::locate(&options.session)?;
    let mut place = Place::choose(&options, &source)?;
    let opened = if place.is_scratch() {
        // On a scratch copy nothing is reached but the copy.
        OpenedWorkdir::alone(opened_workdir::workdir(place.path())?)?
    } else {
        OpenedWorkdir::of(place.path(), options.roots.clone())?
    };
    let decides = options.ask || options.policy.are_given();
    let what = What::Session { session: absolute(&options.session)?, keep: options.keep };
    let mut task = Task::new(what, opened.workdir.root_path(), &options.policy)?;
    (task.scratch, task.roots) = (place.is_scratch(), opened.roots.clone());
    task.approve_all = options.yes || (place.is_scratch() && !decides);
    task.json = options.json;
    task.agents = source.agents.as_deref().map(absolute).transpose()?;
    task.quota = options.quota;
    // What is approved unseen on a scratch copy must not reach beyond it, as tools of servers would.
    let is_played_alone = place.is_scratch() && !decides && !options.yes;
    task.no_mcp = options.no_mcp || is_played_alone;
    task.no_openapi = options.no_openapi || is_played_alone;
    let session = read_session(&source, &options.session)?;
    let prompt = source.prompt()?;
    let scope = bench::scope()?;
    let state = KeptState::of(&opened.configuration.user).await?;
    let keeper = Keeper::new(state, scope.run().clone(), &task)?;
    if !options.json {
        let approved = if task.approve_all { "; its calls are approved" } else { "" };
        Timeline::title(&source.name, &format!("{}{approved}", place.describe()), &prompt);
    }

    let (token, _watch) = cancel_on_interrupt();
    let start = Instant::now();
    let with = SetUp {
        task: &task,
        opened,
        given: place.path(),
        keeper: Arc::clone(&keeper),
        scope,
        redactor: Redactor::new(),
        token: token.clone(),
    };
    let (mut playing, bench) = set_up(with, session, RunState::new()).await?;
    playing.begin(prompt).await;
    if playing.state.end().is_none() || options.keep {
        // What waits outlives the process, and so must the directory it waits in.
        place.outlives();
    }
    let mut work = Work::Agent(Box::new(playing));
    see_through(&mut work, &keeper, &bench, options.wait, &token).await?;
    conclude(&work, &keeper, &task, start)
}

/// Gathers what a session is played with, at the place that its run has got to.
pub(crate) async fn set_up(with: SetUp<'_>, session: Session, stands: RunState) -> Result<(AgentRun, Bench)> {
    let (bench, around) = with.bench().await?;
    let run = AgentRun::playing(with.stage(&bench, around), session, stands)?;
    Ok((run, bench))
}

/// Reads the turns of a session.
pub(crate) fn read_session(source: &Source, named: &Path) -> Result<Session> {
    Session::read(&source.turns).with_context(|| {
        UsageError(format!(
            "cannot read the session `{}`; name a JSONL file of recorded turns",
            named.display()
        ))
    })
}

/// Where a session is, and what belongs to it.
pub(crate) struct Source {
    pub(crate) name: String,
    turns: PathBuf,
    prompt: Option<PathBuf>,
    project: Option<PathBuf>,
    /// The agents that its runs are delegated to.
    agents: Option<PathBuf>,
}

impl Source {
    pub(crate) fn locate(path: &Path) -> Result<Self> {
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        if path.is_file() {
            return Ok(Self { name, turns: path.to_owned(), prompt: None, project: None, agents: None });
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
        let agents = existing("agents");
        Ok(Self { name, turns, prompt: existing("prompt.md"), project: existing("project"), agents })
    }

    fn prompt(&self) -> Result<String> {
        let Some(path) = &self.prompt else { return Ok(DEFAULT_PROMPT.to_owned()) };
        let text = std::fs::read_to_string(path).with_context(|| {
            UsageError(format!("cannot read the prompt `{}`; make it a UTF-8 text file", path.display()))
        })?;
        Ok(text.trim().to_owned())
    }
}

/// Where a session plays.
enum Place {
    Given(PathBuf),
    Scratch(TempDir),
    /// A scratch copy that is not removed with this value.
    Outlives(PathBuf),
    Current,
}

impl Place {
    fn choose(options: &RunOptions, source: &Source) -> Result<Self> {
        Ok(match (&options.workdir, &source.project) {
            (Some(directory), _) => Self::Given(directory.clone()),
            (None, Some(project)) => Self::Scratch(scratch::copy(project)?),
            (None, None) if options.keep => {
                return Err(UsageError("`--keep` needs a session with a project to copy".to_owned()).into());
            }
            (None, None) => Self::Current,
        })
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Self::Given(path) | Self::Outlives(path) => Some(path),
            Self::Scratch(scratch) => Some(scratch.path()),
            Self::Current => None,
        }
    }

    fn is_scratch(&self) -> bool {
        matches!(self, Self::Scratch(_) | Self::Outlives(_))
    }

    fn describe(&self) -> String {
        match self {
            Self::Given(path) => format!("in {}", path.display()),
            Self::Scratch(_) | Self::Outlives(_) => "on a scratch copy of its project".to_owned(),
            Self::Current => "in the current directory".to_owned(),
        }
    }

    /// Lets a scratch copy be there for as long as the run.
    fn outlives(&mut self) {
        if let Self::Scratch(_) = self
            && let Self::Scratch(scratch) = std::mem::replace(self, Self::Current)
        {
            *self = Self::Outlives(scratch.keep());
        }
    }
}
