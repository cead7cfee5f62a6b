use haft_core::RunId;
use haft_tools_core::now_ms;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Holds what has to be kept of a run, so that another process can go on with it.
///
/// ```
/// use haft_store::{RunStatus, StoredRun};
///
/// let run = StoredRun::new("run-1".parse()?);
/// assert_eq!((run.revision, run.status), (0, RunStatus::Running));
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredRun {
    /// Names it.
    pub run: RunId,
    /// The agent that works in it, if it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// When it was started, in milliseconds since the Unix epoch.
    pub started_at_ms: u64,
    /// When it was last saved, in milliseconds since the Unix epoch; set by [`RunStore::save`](crate::RunStore::save).
    pub updated_at_ms: u64,
    /// Whether it goes on.
    pub status: RunStatus,
    /// How often it was saved; set by [`RunStore::save`](crate::RunStore::save), and 0 before the first time.
    ///
    /// A run is only saved over the revision that was loaded: who comes second has to load what the first one saved.
    pub revision: u64,
    /// How many entries its log has; set by [`RunStore::append`](crate::RunStore::append).
    #[serde(default)]
    pub entries: u64,
    /// Where it stands: the state of the agent's loop without its log, as JSON.
    ///
    /// It is written anew each time, so what grows with the run belongs into the log.
    pub state: Value,
    /// What the host needs to go on with it: its own settings.
    pub host: Value,
}

/// Says whether a run goes on.
///
/// A program that starts finds what was interrupted:
///
/// ```
/// use haft_store::{MemoryRuns, RunStatus, RunStore as _, StoredRun};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let store = MemoryRuns::new();
/// # for (name, status) in [("run-1", RunStatus::Ended), ("run-2", RunStatus::Running), ("run-3", RunStatus::Waiting)] {
/// #     let mut run = StoredRun::new(name.parse()?);
/// #     run.status = status;
/// #     store.save(&mut run).await?;
/// # }
/// let runs = store.list_runs().await?;
/// let interrupted = runs.iter().filter(|run| run.status == RunStatus::Running);
/// assert_eq!(interrupted.map(|run| run.run.as_str()).collect::<Vec<_>>(), ["run-2"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStatus {
    /// It was at work when it was saved.
    Running,
    /// It waits for a person.
    Waiting,
    /// It has ended.
    Ended,
}

/// Holds what a list shows of a run.
///
/// ```
/// use haft_store::{MemoryRuns, RunStore as _, StoredRun};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let store = MemoryRuns::new();
/// let mut run = StoredRun::new("run-1".parse()?);
/// run.agent = Some("explorer".to_owned());
/// store.save(&mut run).await?;
/// for run in store.list_runs().await? {
///     let agent = run.agent.as_deref().unwrap_or("nobody");
///     assert_eq!(format!("{} by {agent}: {}", run.run, run.status), "run-1 by explorer: running");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunSummary {
    /// Names it.
    pub run: RunId,
    /// The agent that works in it, if it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// When it was started, in milliseconds since the Unix epoch.
    pub started_at_ms: u64,
    /// When it was last saved, in milliseconds since the Unix epoch.
    pub updated_at_ms: u64,
    /// Whether it goes on.
    pub status: RunStatus,
    /// How often it was saved.
    pub revision: u64,
}

impl StoredRun {
    /// Begins a run that was not saved yet, without a state.
    pub fn new(run: RunId) -> Self {
        let now = now_ms();
        Self {
            run,
            agent: None,
            started_at_ms: now,
            updated_at_ms: now,
            status: RunStatus::Running,
            revision: 0,
            entries: 0,
            state: Value::Null,
            host: Value::Null,
        }
    }

    /// What a list shows of it.
    pub fn summary(&self) -> RunSummary {
        RunSummary {
            run: self.run.clone(),
            agent: self.agent.clone(),
            started_at_ms: self.started_at_ms,
            updated_at_ms: self.updated_at_ms,
            status: self.status,
            revision: self.revision,
        }
    }
}

impl RunStatus {
    const ALL: [Self; 3] = [Self::Running, Self::Waiting, Self::Ended];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Ended => "ended",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
