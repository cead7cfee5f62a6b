use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_core::{RunId, ToolError};
use haft_tools_core::CallScope;
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
    /// Which script said so, in the order in which they were prepared, and which was prepared last.
    by: u64,
    used: u64,
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

/// Has the scripts of a scope have nothing to do with one another: each starts in the working directory.
///
/// Give it to a [`CallScope`](haft_tools_core::CallScope) as an extension where one run is several people's.
///
/// ```
/// use haft_tool_shell::ScriptsApart;
/// use haft_tools_core::CallScope;
///
/// let scope = CallScope::new("anyone".parse()?).with_extension(ScriptsApart);
/// assert_eq!(scope.extension(), Some(&ScriptsApart));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptsApart;

/// Is one script's part in what is known: where it starts and ends.
#[derive(Debug)]
pub(crate) struct Steps {
    known: LastDirectories,
    workdir: Workdir,
    /// Whose script it is, and which of all; nothing where it has nothing to do with others.
    script: Option<(RunId, u64)>,
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
    /// In the root, as each does, wherever this one ended.
    Apart,
}

impl LastDirectories {
    /// Where the next script of a scope starts that says nothing else; `None` for the root.
    pub(crate) fn start(
        &self,
        scope: &CallScope,
        workdir: &Workdir,
    ) -> Result<Option<WorkdirPath>, ToolError> {
        let last = whose(scope).and_then(|run| self.lock().runs.get(run).map(|last| last.path.clone()));
        let Some(path) = last else { return Ok(None) };
        if path.is_empty() {
            return Ok(None);
        }
        directory::resolve(workdir, &path).map(Some).map_err(|error| {
            ToolError::not_found(format!(
                "`{}`, in which the last script ended, is not there any more; give with `directory` where to go on, such as \
                 `.` for the working directory",
                path.escape_debug()
            ))
            .with_source(error)
        })
    }

    /// Notes that a script is prepared; later ones count for more, whichever ends first.
    pub(crate) fn steps(&self, scope: &CallScope, workdir: &Workdir, end: End) -> Steps {
        let script = whose(scope).map(|run| (run.clone(), self.lock().prepared(run)));
        Steps { known: self.clone(), workdir: workdir.clone(), script, end }
    }

    /// Nothing panics while the lock is held.
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Steps {
    /// Takes note that the script has ended, and says where the next one starts.
    pub(crate) fn ended(&self, ending: Ending) -> NextStart {
        let Some((run, number)) = &self.script else {
            return if self.end == End::Same { NextStart::Root } else { NextStart::Apart };
        };
        let is_there = |path: &str| {
            let kind = self.workdir.resolve(path).ok().and_then(|path| self.workdir.kind(&path).ok());
            kind == Some(EntryKind::Directory)
        };
        let mut known = self.known.lock();
        let last = known.runs.get(run);
        let is_newest = last.is_none_or(|last| last.by < *number);
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
            known.set(run, now.clone(), *number);
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
    /// Numbers a script of a run.
    fn prepared(&mut self, run: &RunId) -> u64 {
        self.prepared += 1;
        if let Some(last) = self.runs.get_mut(run) {
            last.used = self.prepared;
        }
        self.prepared
    }

    fn set(&mut self, run: &RunId, path: String, by: u64) {
        let (by, used) = self.runs.get(run).map_or((by, by), |last| (last.by.max(by), last.used.max(by)));
        self.runs.insert(run.clone(), Last { path, by, used });
        let unused = |runs: &HashMap<RunId, Last>| {
            runs.iter().min_by_key(|(_, last)| last.used).map(|(run, _)| run.clone())
        };
        if self.runs.len() > MOST_RUNS
            && let Some(unused) = unused(&self.runs)
        {
            self.runs.remove(&unused);
        }
    }
}

/// Whose scripts go on where the last one ended, if those of a scope do.
fn whose(scope: &CallScope) -> Option<&RunId> {
    scope.extension::<ScriptsApart>().is_none().then(|| scope.run())
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
            Self::Apart => f.write_str("; the next script starts in the working directory"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_that_is_forgotten_is_the_one_that_was_last_used_longest_ago() {
        let tree = haft_testkit::Tree::new().directory("sub");
        let (workdir, known) = (tree.workdir(), LastDirectories::default());
        let run = |number: usize| CallScope::new(format!("run-{number}").parse().unwrap());
        let script = |run: &CallScope, end: End| {
            known.start(run, &workdir).unwrap();
            known.steps(run, &workdir, end).ended(Ending::Exited(0));
        };
        let into_sub = || End::At { path: "sub".to_owned(), needs_success: false };
        let (used, unused, waiting) = (run(0), run(1), run(2));
        let is_known = |run: &CallScope| known.start(run, &workdir).unwrap().is_some();
        for run in [&used, &unused, &waiting] {
            script(run, into_sub());
        }
        for number in 3..2 * MOST_RUNS {
            script(&run(number), into_sub());
            // A script that goes on where the last one ended, and one that says where it runs.
            script(&used, End::Same);
            drop(known.steps(&waiting, &workdir, End::Same));
        }
        assert_eq!([is_known(&used), is_known(&waiting), is_known(&unused)], [true, true, false]);
    }
}
