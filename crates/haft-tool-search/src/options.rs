use crate::scan::usual_threads;
use std::time::Duration;

/// How long a search may take by default. Whoever waits for longer should have asked for less.
const USUAL_TIMEOUT: Duration = Duration::from_secs(20);

/// How long searches may take, and how many threads each uses.
///
/// ```
/// use haft_tool_search::{Grep, SearchOptions};
/// use std::time::Duration;
///
/// # let directory = tempfile::tempdir()?;
/// let workdir = haft_workdir::Workdir::open(directory.path())?;
/// let grep = Grep::new(workdir).options(SearchOptions::default().timeout(Duration::from_secs(5)));
/// # let _ = grep;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchOptions {
    pub(crate) timeout: Duration,
    pub(crate) threads: usize,
}

impl Default for SearchOptions {
    /// 20 seconds, and as many threads as the machine runs at once, at most 12.
    fn default() -> Self {
        Self { timeout: USUAL_TIMEOUT, threads: usual_threads() }
    }
}

impl SearchOptions {
    /// Sets after how long a search gives what it has found.
    ///
    /// Keep it shorter than the time after which the executor gives a call up: of a call that is given up nothing is left.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets how many threads one search uses; 0 is 1.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: threads.max(1), ..self }
    }
}
