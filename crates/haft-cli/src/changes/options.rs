use clap::Args;
use haft::workdir::{ChangeLimits, ChangeSetId};
use serde::{Deserialize, Serialize};

const MIB: u64 = 1024 * 1024;

/// Says how much is kept to undo what tools change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args, Serialize, Deserialize)]
pub(crate) struct ChangeQuota {
    /// Keep so many MiB of what files held before they were changed, for `haft undo`; 0 records nothing
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    pub(crate) undo_space: u64,
    /// Keep files of so many MiB at most; what is larger cannot be undone
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    pub(crate) undo_file: u64,
}

impl Default for ChangeQuota {
    fn default() -> Self {
        Self { undo_space: 1024, undo_file: 64 }
    }
}

impl ChangeQuota {
    /// Gives the limits of the journal, or nothing if nothing is to be recorded.
    pub(super) fn limits(self) -> Option<ChangeLimits> {
        (self.undo_space > 0).then(|| ChangeLimits {
            total_bytes: self.undo_space.saturating_mul(MIB),
            file_bytes: self.undo_file.saturating_mul(MIB),
            ..ChangeLimits::default()
        })
    }
}

/// Says which changes of a run are meant.
#[derive(Debug, Args)]
pub(crate) struct WhichOptions {
    /// The run, or the beginning of its id; without it, the runs are listed that changed something
    pub(crate) run: Option<String>,
    /// Only what this call changed
    #[arg(long, value_name = "ID", requires = "run")]
    pub(crate) call: Option<String>,
    /// Only what was changed in this turn of the run, from 1
    #[arg(long, value_name = "N", requires = "run", conflicts_with = "call")]
    pub(crate) turn: Option<u32>,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Only what was changed from this change on, whoever below the run made it.
    #[arg(skip)]
    pub(crate) since: Option<ChangeSetId>,
}

#[derive(Debug, Args)]
pub(crate) struct UndoOptions {
    #[command(flatten)]
    pub(crate) which: WhichOptions,
    /// Say what would be done, and do nothing
    #[arg(long, requires = "run")]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffOptions {
    #[command(flatten)]
    pub(crate) which: WhichOptions,
}
