use crate::arguments::RunOptions;
use crate::attend::attend;
use crate::changes::journalled;
use crate::exit::{Exit, UsageError};
use crate::interrupt::cancel_on_interrupt;
use crate::keeper::Keeper;
use crate::kept_state::KeptState;
use crate::offered::offer;
use crate::playing::{Playing, Stage};
use crate::policy_setup::PolicySetup;
use crate::setup::Bench;
use crate::task::{Task, What};
use crate::timeline::{JsonLines, Timeline, visible};
use crate::user_directories::UserDirectories;
use crate::work::Work;
use crate::{outcome, scratch, setup};
use anyhow::{Context as _, Result};
use haft::agent::{RunEnd, RunState};
use haft::model::Session;
use haft::{CallScope, LocalOutputs, OutputStore, Workdir, read_output};
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::time::Instant;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What the model is asked where the session brings no prompt of its own.
const DEFAULT_PROMPT: &str = "Go on with the recorded session.";

/// Plays a recorded session with real tools.
pub(crate) async fn run(options: RunOptions) -> Result<Exit> {
    let source = Source::locate(&options.session)?;
    let mut place = Place::choose(&options, &source)?;
    let workdir = setup::workdir(place.path())?;
    let decides = options.ask || options.policy.are_given();
    let what = What::Session { session: absolute(&options.session)?, keep: options.keep };
    let mut task = Task::new(what, workdir.root_path(), &options.policy)?;
    task.scratch = place.is_scratch();
    task.approve_all = options.yes || (place.is_scratch() && !decides);
    task.json = options.json;
    task.quota = options.quota;
    // What is approved unseen on a scratch copy must not reach beyond it, as tools of servers would.
    let is_played_alone = place.is_scratch() && !decides && !options.yes;
    task.no_mcp = options.no_mcp || is_played_alone;
    task.no_openapi = options.no_openapi || is_played_alone;
    let session = read_session(&source, &options.session)?;
    let prompt = source.prompt()?;
    let scope = setup::scope()?;
    let keeper = Keeper::new(KeptState::from_environment()?, scope.run().clone(), &task)?;
    if !options.json {
        let approved = if task.approve_all { "; its calls are approved" } else { "" };
        Timeline::title(&source.name, &format!("{}{approved}", place.describe()), &prompt);
    }

    let (token, _watch) = cancel_on_interrupt();
    let start = Instant::now();
    let (mut playing, bench) = set_up(SetUp {
        task: &task,
        workdir,
        given: place.path(),
        keeper: Arc::clone(&keeper),
        scope,
        session,
        stands: RunState::new(),
        token: token.clone(),
    })
    .await?;
    playing.begin(prompt).await;
    if playing.state.end().is_none() || options.keep {
        // What waits outlives the process, and so must the directory it waits in.
        place.outlives();
    }
    let mut work = Work::Session(Box::new(playing));
    let attended = attend(&mut work, &keeper, &bench.attended(options.wait), &token).await;
    bench.servers.stop().await;
    attended?;
    keeper.state.tidy().await;
    conclude(&work, &keeper, &task, start)
}

/// Holds what is known of a session that is to be played.
pub(crate) struct SetUp<'a> {
    pub(crate) task: &'a Task,
    pub(crate) workdir: Workdir,
    /// The directory as it was given, for names that people know.
    pub(crate) given: Option<&'a Path>,
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) scope: CallScope,
    pub(crate) session: Session,
    /// Where the run stands.
    pub(crate) stands: RunState,
    pub(crate) token: CancellationToken,
}

/// Gathers what a session is played with.
pub(crate) async fn set_up(set_up: SetUp<'_>) -> Result<(Playing, Bench)> {
    let SetUp { task, workdir, given, keeper, scope, session, stands, token } = set_up;
    // What cannot be read must not be found out when it is needed, in the middle of the work.
    keeper.state.existing()?;
    let outputs: Arc<dyn OutputStore> = Arc::new(LocalOutputs::in_memory());
    let workdir = journalled(workdir, &UserDirectories::from_environment(), task.quota)?;
    let tools = setup::registry(&workdir)?.with(read_output(Arc::clone(&outputs)))?;
    let (tools, servers) = offer(&workdir, tools, task.wanted()).await?;
    let policy = PolicySetup::new(&workdir, given, &tools).in_force(&task.policy()?)?;
    policy.print_notes();
    let bench = Bench { workdir, tools, policy, state: Arc::clone(&keeper.state), servers };
    let (approves_all, json) = (task.approve_all, task.json);
    let stage = Stage { bench: &bench, keeper, outputs, scope, approves_all, json, token };
    let playing = Playing::set_up(stage, session, stands)?;
    Ok((playing, bench))
}

/// Says how a session ended or what it waits for, and clears up.
pub(crate) fn conclude(work: &Work, keeper: &Keeper, task: &Task, start: Instant) -> Result<Exit> {
    let Work::Session(playing) = work else { anyhow::bail!("a call is no session") };
    let state = &playing.state;
    let exit = match state.end() {
        None => Exit::Waiting,
        Some(_) if playing.is_done() => Exit::Done,
        Some(_) => Exit::Failed,
    };
    let keep = matches!(task.work, What::Session { keep: true, .. });
    let kept = (task.scratch && keep).then_some(task.workdir.as_path());
    match &playing.timeline {
        None => JsonLines::summary(state, start.elapsed(), exit, kept),
        Some(timeline) => {
            timeline.summary(state, start.elapsed());
            if let Some(kept) = kept {
                anstream::println!("kept {}", kept.display());
            }
        }
    }
    explain(playing);
    if state.end().is_none() {
        state.pending().for_each(outcome::waiting);
        outcome::how_to_go_on(keeper.run());
    } else if task.scratch && !keep {
        scratch::remove(&task.workdir);
    }
    Ok(exit)
}

/// Reads the turns of a session.
pub(crate) fn read_session(source: &Source, named: &Path) -> Result<Session> {
    Session::read(&source.turns).with_context(|| UsageError(format!("cannot play `{}`", named.display())))
}

/// Says on standard error why a run did not end as it should, and what to do.
fn explain(playing: &Playing) {
    match playing.state.end() {
        Some(RunEnd::Failed { reason }) => {
            reason.lines().for_each(|line| anstream::eprintln!("{}", visible(line)));
        }
        Some(RunEnd::Completed) => {
            if let Err(divergence) = playing.model.finished() {
                divergence.to_string().lines().for_each(|line| anstream::eprintln!("{}", visible(line)));
            }
        }
        _ => {}
    }
}

/// Where a session is, and what belongs to it.
pub(crate) struct Source {
    pub(crate) name: String,
    turns: PathBuf,
    prompt: Option<PathBuf>,
    project: Option<PathBuf>,
}

impl Source {
    pub(crate) fn locate(path: &Path) -> Result<Self> {
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
                return Err(UsageError("--keep needs a session with a project to copy".to_owned()).into());
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
