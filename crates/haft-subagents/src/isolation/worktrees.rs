mod changes;
mod copy;
mod git;
mod layout;
mod made;
mod place;
mod proof;
mod snapshot;

use super::workplaces::{Placed, Workplace, WorkplaceError, Workplaces};
use crate::Isolation;
use async_trait::async_trait;
use git::{Git, Purpose};
use haft_core::{RunId, Visible};
use haft_process::Environment;
use haft_tools_core::{CallScope, ToolRegistry};
use haft_workdir::Workdir;
use layout::{Layout, make_directory};
use place::Place;
use snapshot::Source;
use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How many bytes a list of files may have for each of them.
const ENTRY_BYTES: usize = 512;

/// How many bytes an entry of an index has beside the name of its file: its mode, object and stage.
const STAGED_BYTES: usize = 80;

/// How long one command of git may take where nothing else is said.
const MOST_TIME: Duration = Duration::from_mins(2);

/// How many characters of a path are shown.
const SHOWN_CHARACTERS: usize = 200;

/// Makes places in directories: working trees of git, or copies where there is no repository.
///
/// A child finds what its parent has: the files as they are, committed or not, without those that are ignored. Its
/// directory is a repository of its own, whose history is the parent's and whose last commit is the state it began with; it
/// borrows the parent's objects and shares nothing else. So whatever a child does to its branches, its settings or its hooks,
/// the parent's repository stays as it is, and needs not even be writable. Submodules and other repositories within are
/// left out, which [`Workplace::missing`] says.
///
/// Its changes are told by another repository, which no child gets at. Nothing that a repository, its attributes or its hooks
/// say is run in making a place or telling changes: of the parent's repository git is only asked where its objects are, for
/// its last commit and for its index, with all settings that have git start a program overridden, and without the settings
/// of the user and the system.
///
/// Needs git 2.31 or later. One place takes about as much room as the files have.
///
/// ```no_run
/// # // It needs git, and a directory that is worked in.
/// use haft_process::Environment;
/// use haft_subagents::Worktrees;
/// use haft_tools_core::ToolRegistry;
/// use haft_workdir::Workdir;
///
/// let project = Workdir::open("/home/ann/project")?;
/// let places = Worktrees::new(project, "/home/ann/.local/state/haft/places", |workdir: &Workdir| {
///     ToolRegistry::of(haft_tool_fs::tools(workdir)).unwrap_or_default()
/// })
/// .environment(Environment::from_vars(std::env::vars_os()));
/// # let _ = places;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Worktrees {
    workdir: Workdir,
    state: PathBuf,
    tools: Arc<dyn Fn(&Workdir) -> ToolRegistry + Send + Sync>,
    environment: Environment,
    limits: PlaceLimits,
    most_time: Duration,
}

/// Bounds the places of [`Worktrees`].
///
/// ```
/// use haft_subagents::PlaceLimits;
///
/// let limits = PlaceLimits { places: 4, ..PlaceLimits::default() };
/// assert_eq!((limits.places, limits.files), (4, 100_000));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceLimits {
    /// How many places there are at once.
    pub places: usize,
    /// How many files one place has.
    pub files: usize,
    /// How many bytes its files have together.
    pub bytes: u64,
    /// How many bytes the text of its patch has.
    pub patch_bytes: usize,
    /// From how many bytes on a file is not carried by a patch.
    pub text_bytes: u64,
}

impl Default for PlaceLimits {
    /// 32 places of 100,000 files and 1 GiB, patches of 8 MiB, files of 4 MiB in them.
    fn default() -> Self {
        Self {
            places: 32,
            files: 100_000,
            bytes: 1024 * 1024 * 1024,
            patch_bytes: 8 * 1024 * 1024,
            text_bytes: 4 * 1024 * 1024,
        }
    }
}

impl Worktrees {
    /// Makes places under a directory of the host's for children of runs that work in another, with tools of the host's.
    ///
    /// The directory is made when it is needed and belongs to this alone; other processes may use it, too. A child of a run
    /// that is [`Placed`] in one of these places begins with what is there.
    pub fn new(
        workdir: Workdir,
        state: impl Into<PathBuf>,
        tools: impl Fn(&Workdir) -> ToolRegistry + Send + Sync + 'static,
    ) -> Self {
        Self {
            workdir,
            state: state.into(),
            tools: Arc::new(tools),
            environment: Environment::minimal(),
            limits: PlaceLimits::default(),
            most_time: MOST_TIME,
        }
    }

    /// Sets where git is found: in the directories of `PATH`. No other variable is given to it.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Sets how many places there are and how large they may be.
    pub fn limits(mut self, limits: PlaceLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how long one command of git may take; 2 minutes by default.
    pub fn timeout(mut self, most: Duration) -> Self {
        self.most_time = most;
        self
    }

    /// Finds the directory in which a run works that has a place under a directory, for whoever tells people of it.
    pub fn find_in(state: &Path, run: &RunId) -> Option<PathBuf> {
        let layout = Layout::of(&state.canonicalize().ok()?, run);
        let prefix = layout.ready().filter(|_| layout.run().as_ref() == Some(run))?.prefix;
        Some(if prefix.is_empty() { layout.tree() } else { layout.tree().join(prefix) })
    }

    /// [Prunes](Workplaces::prune) the places under a directory, for a host that makes none at the moment; nothing is made where
    /// there is no such directory.
    ///
    /// # Errors
    ///
    /// As for [`Workplaces::prune`].
    ///
    /// # Cancel safety
    ///
    /// As for [`Workplaces::prune`].
    pub async fn prune_in(
        state: &Path,
        older_than: Duration,
        is_wanted: &(dyn for<'a> Fn(&'a RunId) -> bool + Send + Sync),
    ) -> Result<usize, WorkplaceError> {
        let Ok(places) = state.canonicalize() else { return Ok(0) };
        let mut removed = 0;
        let mut failed = None;
        for layout in Layout::all(&places)? {
            // What was not made here is not removed, whatever it is called.
            let Some(run) = layout.run().filter(|run| Layout::of(&places, run) == layout) else { continue };
            // A clock that was set back makes nothing old.
            let age = layout.since().and_then(|since| since.elapsed().ok()).unwrap_or_default();
            if age < older_than || is_wanted(&run) {
                continue;
            }
            let Ok(hold) = layout.hold(&run) else { continue };
            let gone = tokio::task::spawn_blocking(move || layout.remove(hold)).await;
            match gone.map_err(|error| other("remove a place", error)).flatten() {
                Ok(()) => removed += 1,
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(removed), Err)
    }

    /// Makes a place that is held, unless it is there already.
    async fn make(
        &self,
        from: &Workdir,
        layout: &Layout,
        isolation: Isolation,
    ) -> Result<layout::Ready, WorkplaceError> {
        let git = Git::find(&self.environment, self.most_time)?;
        let state = self.places()?;
        let root =
            from.host_directory(&root(from)?).map_err(|error| other("open the working directory", error))?;
        let source = match isolation {
            Isolation::Copy => None,
            _ => Source::find(&git, &root).await?,
        };
        match source {
            Some(source) => source.check_out(&git, layout, &state, &self.limits).await,
            None => copy::copy(&git, from, layout, &state, &self.limits).await,
        }
    }

    /// The directory of the places, without links, as it has to be to be told from others.
    fn places(&self) -> Result<PathBuf, WorkplaceError> {
        make_directory(&self.state)?;
        self.state.canonicalize().map_err(|source| made::failed("open", &self.state, source))
    }

    fn open(
        &self,
        layout: Layout,
        hold: layout::Hold,
        run: &RunId,
        ready: layout::Ready,
    ) -> Result<Place, WorkplaceError> {
        let path = if ready.prefix.is_empty() { layout.tree() } else { layout.tree().join(&ready.prefix) };
        make_directory(&path)?;
        let workdir = Workdir::open(&path).map_err(|error| other("open the place", error))?;
        let tools = (self.tools)(&workdir);
        let git = Git::find(&self.environment, self.most_time)?;
        let repository = git.on(layout.git(), layout.tree());
        let limits = self.limits.clone();
        Ok(Place::new(run.clone(), workdir, tools, repository, layout, hold, ready, limits))
    }
}

#[async_trait]
impl Workplaces for Worktrees {
    async fn place(
        &self,
        parent: &CallScope,
        run: &RunId,
        isolation: Isolation,
    ) -> Result<Arc<dyn Workplace>, WorkplaceError> {
        if isolation == Isolation::Shared {
            return Err(WorkplaceError::Unsupported { isolation });
        }
        let above = Placed::of(parent).map(|place| -> &dyn Any { &**place });
        let above = above.and_then(|place| place.downcast_ref::<Place>());
        let from = above.map_or(&self.workdir, Place::workdir).clone();
        let places = self.places()?;
        let layout = Layout::of(&places, run);
        if layout.ready().is_none() && Layout::all(&places)?.len() >= self.limits.places {
            return Err(WorkplaceError::Full { most: self.limits.places });
        }
        let hold = layout.take(run)?;
        if let Some(ready) = layout.ready() {
            return Ok(Arc::new(self.open(layout, hold, run, ready)?));
        }
        // One that broke off while it was made.
        layout.clear(&hold)?;
        match self.make(&from, &layout, isolation).await {
            Ok(ready) => {
                layout.finish(&ready)?;
                Ok(Arc::new(self.open(layout, hold, run, ready)?))
            }
            Err(error) => {
                let removed = tokio::task::spawn_blocking(move || layout.remove(hold)).await;
                // Why it could not be made matters more; what is left is pruned.
                drop(removed);
                Err(error)
            }
        }
    }

    async fn prune(
        &self,
        older_than: Duration,
        is_wanted: &(dyn for<'a> Fn(&'a RunId) -> bool + Send + Sync),
    ) -> Result<usize, WorkplaceError> {
        Self::prune_in(&self.state, older_than, is_wanted).await
    }
}

impl fmt::Debug for Worktrees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worktrees")
            .field("workdir", &self.workdir)
            .field("state", &self.state)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

fn root(workdir: &Workdir) -> Result<haft_workdir::WorkdirPath, WorkplaceError> {
    workdir.resolve("").map_err(|error| other("open the working directory", error))
}

fn other(action: &'static str, error: impl std::error::Error + Send + Sync + 'static) -> WorkplaceError {
    WorkplaceError::Other { action, source: Box::new(error) }
}

/// The entries of a list that git wrote with `-z`.
fn listed(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty())
}

/// Says what a listing of files may have.
fn listing(limits: &PlaceLimits) -> Purpose {
    let most_bytes = limits.files.saturating_mul(ENTRY_BYTES);
    Purpose { action: "list the files", what: "bytes of file names", most_bytes }
}

/// Says what a listing of an index may have: whatever a [`listing`] lets in.
fn staged(limits: &PlaceLimits) -> Purpose {
    let most_bytes = limits.files.saturating_mul(ENTRY_BYTES + STAGED_BYTES);
    Purpose { most_bytes, ..listing(limits) }
}

/// Shows a path on one line, whatever it is made of.
fn shown(path: &[u8]) -> String {
    let text = String::from_utf8_lossy(path);
    let cut: String = text.chars().take(SHOWN_CHARACTERS).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{more}", Visible::line(&cut))
}
