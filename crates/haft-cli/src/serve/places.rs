use super::place::Place;
use super::toolbox::Settings;
use crate::config::{Configuration, UserConfig};
use crate::mcp::offered::Offered;
use crate::opened_workdir::{self, OpenedWorkdir};
use crate::task::Task;
use crate::user_directories::UserDirectories;
use anyhow::{Result, bail};
use haft::tools_core::{ChangeSignal, Limits, Redactor};
use haft::{ToolRegistry, Workdir};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::JoinSet;

/// How many directories are worked in at once.
const MOST_PLACES: usize = 16;

/// Holds the directories that are worked in, each of which is opened when somebody first works there.
pub(super) struct Places {
    user: UserDirectories,
    /// Tells of changes of tools in any of them.
    pub(super) changes: ChangeSignal,
    /// Knows the secrets of all of them, which nothing may show.
    pub(super) redactor: Redactor,
    open: Mutex<BTreeMap<PathBuf, Arc<Place>>>,
    /// The directory that this was started in, as it was read then.
    start: Mutex<Option<(PathBuf, Result<OpenedWorkdir>)>>,
}

impl Places {
    pub(super) fn new(user: UserDirectories) -> Self {
        Self {
            user,
            changes: ChangeSignal::default(),
            redactor: Redactor::new(),
            open: Mutex::default(),
            start: Mutex::default(),
        }
    }

    /// Has a directory be opened as it was read when this was started, if that is before the start is over.
    pub(super) fn start_in(&self, directory: &Path, opened: Result<OpenedWorkdir>) {
        *lock(&self.start) = Some((directory.to_owned(), opened));
    }

    /// Has directories be read as they are when somebody first works there.
    pub(super) fn started(&self) {
        lock(&self.start).take();
    }

    /// Opens a directory, unless it is open; `let_go` has those closed that nobody works in now, if there are too many.
    pub(super) fn open(
        &self,
        directory: &Path,
        settings: &Settings,
        let_go: impl FnOnce(),
    ) -> Result<Arc<Place>> {
        let mut places = lock(&self.open);
        if let Some(place) = places.get(directory) {
            return Ok(Arc::clone(place));
        }
        if places.len() >= MOST_PLACES {
            // One that nobody works in is closed; its servers end with it.
            let idle = || {
                places.iter().find(|(_, place)| Arc::strong_count(place) == 1).map(|(path, _)| path.clone())
            };
            let idle = idle().or_else(|| {
                let_go();
                idle()
            });
            match idle {
                Some(path) => drop(places.remove(&path)),
                None => bail!(
                    "{MOST_PLACES} directories are worked in already; end the work in another one, then try again"
                ),
            }
        }
        let start = lock(&self.start).take_if(|(started, _)| *started == directory);
        let opened = if let Some((_, opened)) = start {
            opened?
        } else {
            let workdir = opened_workdir::workdir(Some(directory))?;
            OpenedWorkdir::by(self.configuration(&workdir)?, workdir)?
        };
        let opened = opened.with_roots(settings.roots.clone())?;
        let place = Place::open(directory, opened, settings, (&self.changes, &self.redactor))?;
        places.insert(directory.to_owned(), Arc::clone(&place));
        Ok(place)
    }

    /// Reads what is configured for a directory now.
    pub(super) fn configuration(&self, workdir: &Workdir) -> Result<Configuration> {
        Configuration::beside(UserConfig::of(self.user.clone())?, workdir)
    }

    /// The servers of all that are open.
    pub(super) fn servers(&self) -> Vec<Arc<Offered>> {
        lock(&self.open).values().map(|place| Arc::clone(&place.servers)).collect()
    }

    /// The tools of a task's calls and what bounds these, if its directory is worked in.
    ///
    /// The limits are those of now, as for a client that comes now. Reads policy files, so it takes a thread that may wait.
    pub(super) fn tools_of(&self, task: &Task) -> Option<(ToolRegistry, Limits)> {
        let place = Arc::clone(lock(&self.open).get(&task.workdir)?);
        let tools = place.catalog.snapshot();
        let limits = self.configuration(&place.workdir).map_or_else(
            |_| Limits::default(),
            |configuration| task.limits(&configuration, &place.workdir, &tools),
        );
        Some((tools, limits))
    }

    /// Ends all servers at once, and waits for that.
    pub(super) async fn stop(&self) {
        let places: Vec<_> = std::mem::take(&mut *lock(&self.open)).into_values().collect();
        let stops: JoinSet<()> = places.into_iter().map(|place| async move { place.stop().await }).collect();
        stops.join_all().await;
    }
}

/// Nothing panics half-way through a change while a lock is held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
