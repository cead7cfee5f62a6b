use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_core::{RunId, ToolError};
use haft_workdir::{EntryKind, Workdir, WorkdirPath};

use crate::directory;
use crate::report::Ending;

/// Of how many runs is known where their last script ended.
const MOST_RUNS: usize = 1024;

/// Knows in which directory the last script of each run ended, where that is not the working directory itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastDirectories(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    runs: HashMap<RunId, Last>,
    prepared: u64,
}

#[derive(Debug)]
struct Last {
    /// Below the root; empty for the root.
    path: String,
    /// Which script said so, in the order in which they were prepared.
    by: u64,
}

/// Says where a script ends, as far as its text tells.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "analysis"), expect(dead_code, reason = "nothing is known of a script's text"))]
pub(crate) enum End {
    /// Where it starts.
    Same,
    /// In this directory, below the root; empty for the root. Where a failure stops it, this is so if it succeeds.
    At { path: String, needs_success: bool },
    /// Elsewhere, or outside.
    Untold,
}

/// Is one script's part in what is known: where it starts and ends.
#[derive(Debug)]
pub(crate) struct Steps {
    known: LastDirectories,
    workdir: Workdir,
    run: RunId,
    number: u64,
    end: End,
}

/// Says where the next script of a run starts, for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NextStart {
    Root,
    In(String),
    /// In the root, since this is gone.
    Gone(String),
    /// In this directory, empty for the root, since it could not be told where the script ended.
    Untold(String),
}

impl LastDirectories {
    /// Where the next script of a run starts that says nothing else; `None` for the root.
    pub(crate) fn start(&self, run: &RunId, workdir: &Workdir) -> Result<Option<WorkdirPath>, ToolError> {
        let Some(path) = self.lock().runs.get(run).map(|last| last.path.clone()) else { return Ok(None) };
        if path.is_empty() {
            return Ok(None);
        }
        directory::resolve(workdir, &path).map(Some).map_err(|error| {
            ToolError::not_found(format!(
                "`{}`, in which the last script ended, is not there any more; say with `directory` where to go on, such as \
                 `.` for the working directory",
                path.escape_debug()
            ))
            .with_source(error)
        })
    }

    /// Notes that a script is prepared; later ones count for more, whichever ends first.
    pub(crate) fn steps(&self, run: &RunId, workdir: &Workdir, end: End) -> Steps {
        let mut known = self.lock();
        known.prepared += 1;
        Steps { known: self.clone(), workdir: workdir.clone(), run: run.clone(), number: known.prepared, end }
    }

    /// Nothing panics while the lock is held.
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Steps {
    /// Takes note that the script has ended, and says where the next one starts.
    pub(crate) fn ended(&self, ending: Ending) -> NextStart {
        let is_there = |path: &str| {
            let kind = self.workdir.resolve(path).ok().and_then(|path| self.workdir.kind(&path).ok());
            kind == Some(EntryKind::Directory)
        };
        let mut known = self.known.lock();
        let last = known.runs.get(&self.run);
        let is_newest = last.is_none_or(|last| last.by < self.number);
        let before = last.map(|last| last.path.clone()).unwrap_or_default();
        let has_ended = matches!(ending, Ending::Exited(_));
        let end = match &self.end {
            End::At { needs_success: true, .. } if ending != Ending::Exited(0) => &End::Untold,
            end => end,
        };
        let moved = match end {
            End::At { path, .. } if has_ended && is_newest => Some(path.clone()),
            _ => None,
        };
        let has_moved = moved.is_some();
        let path = moved.unwrap_or(before);
        let is_gone = !path.is_empty() && !is_there(&path);
        let now = if is_gone { String::new() } else { path.clone() };
        if has_moved || is_gone {
            known.set(&self.run, now.clone(), self.number);
        }
        match end {
            _ if is_gone => NextStart::Gone(path),
            End::Untold if has_ended => NextStart::Untold(now),
            _ if now.is_empty() => NextStart::Root,
            _ => NextStart::In(now),
        }
    }
}

impl Known {
    fn set(&mut self, run: &RunId, path: String, by: u64) {
        let by = self.runs.get(run).map_or(by, |last| last.by.max(by));
        self.runs.insert(run.clone(), Last { path, by });
        if self.runs.len() > MOST_RUNS
            && let Some(oldest) = self.runs.iter().min_by_key(|(_, last)| last.by).map(|(run, _)| run.clone())
        {
            self.runs.remove(&oldest);
        }
    }
}

impl NextStart {
    /// The directory, for the host; `None` for the root.
    pub(crate) fn directory(&self) -> Option<&str> {
        match self {
            Self::In(path) | Self::Untold(path) if !path.is_empty() => Some(path),
            _ => None,
        }
    }
}

/// Continues how a script has ended.
impl fmt::Display for NextStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::In(path) => write!(f, "; the next script starts in `{}`", path.escape_debug()),
            Self::Gone(path) => {
                write!(
                    f,
                    "; `{}` is gone, so the next script starts in the working directory",
                    path.escape_debug()
                )
            }
            Self::Untold(path) => {
                f.write_str("; `cd` could not be followed here, so the next script starts in ")?;
                match path.as_str() {
                    "" => f.write_str("the working directory"),
                    path => write!(f, "`{}`", path.escape_debug()),
                }
            }
        }
    }
}
