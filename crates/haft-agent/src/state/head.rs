use crate::repeats::Repeats;
use crate::{Account, Phase, Queued, Spent};
use haft_core::{BudgetKind, CallId, RunId, Usage};
use haft_tools_core::Approval;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The version of the serialised form.
///
/// 1 had no log, no budget, no queue and no pause; its transcript was written whole each time. 2 had no turns in its log.
pub(super) const VERSION: u32 = 3;

/// Holds all of a run but its log: where it stands, and what it has cost.
///
/// It is read again by [`RunState::restore`](crate::RunState::restore).
///
/// ```
/// use haft_agent::{RunEvent, RunState};
/// use serde_json::{to_value, Value};
///
/// let mut state = RunState::new();
/// state.step(RunEvent::Prompted { text: "Mend it.".to_owned() })?;
/// let head = to_value(state.head())?;
/// let log = state.log_from(0).map(to_value).collect::<Result<Vec<Value>, _>>()?;
/// assert_eq!(state.head().entries(), log.len());
/// assert_eq!(RunState::restore(head, log)?, state);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    pub(super) version: u32,
    /// How many entries of the log belong to it.
    pub(super) entries: usize,
    pub(super) phase: Phase,
    pub(super) turns: u32,
    pub(super) usage: Usage,
    #[serde(default)]
    pub(super) account: Account,
    /// What each of the runs that it has started has spent, as far as the account counts it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) counted: BTreeMap<RunId, Spent>,
    /// The budget that was spent, once the model was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) closing: Option<BudgetKind>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) queue: Vec<Queued>,
    #[serde(default, skip_serializing_if = "Pause::is_no")]
    pub(super) pause: Pause,
    #[serde(default, skip_serializing_if = "Repeats::is_empty")]
    pub(super) repeats: Repeats,
    /// The tools whose calls are no loop when they give the same again.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) may_repeat: BTreeSet<String>,
    /// The tools whose calls are made again when their process ended while they were executed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) made_again: BTreeSet<String>,
    /// The answer with which a call that waited is gone on with, where it would be made again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) approved: Option<Approved>,
    /// What the run ends with once the calls of the turn are answered, and what it has ended with then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) conclusion: Option<String>,
    /// What the model is told next, in tokens.
    #[serde(default)]
    pub(super) context: u64,
}

/// Is a call that waited and is gone on with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Approved {
    pub(super) call: CallId,
    pub(super) approval: Approval,
}

/// Says whether a run stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Pause {
    /// It goes on.
    #[default]
    No,
    /// It is to; what is under way is finished first.
    Asked,
    /// It does: what would be next was not begun.
    Held,
}

impl Pause {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
    fn is_no(&self) -> bool {
        *self == Self::No
    }
}

impl Default for RunHead {
    fn default() -> Self {
        Self {
            version: VERSION,
            entries: 0,
            phase: Phase::New,
            turns: 0,
            usage: Usage::default(),
            account: Account::default(),
            counted: BTreeMap::new(),
            closing: None,
            queue: Vec::new(),
            pause: Pause::No,
            repeats: Repeats::default(),
            may_repeat: BTreeSet::new(),
            made_again: BTreeSet::new(),
            approved: None,
            conclusion: None,
            context: 0,
        }
    }
}

impl RunHead {
    /// How many entries of the log belong to it.
    pub fn entries(&self) -> usize {
        self.entries
    }
}
