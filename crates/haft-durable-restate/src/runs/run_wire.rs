//! What the workflows of runs and their clients tell each other, as JSON.

use haft_agent::{Account, RunEnd, Spent};
use haft_core::{Digest, ToolCall, ToolName, ToolReply};
use haft_durable::Pool;
use haft_tools_core::PendingCall;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The handlers of the workflow beside those that calls have, by the names that stand in requests.
pub(crate) const STANDING: &str = "standing";
pub(crate) const STATE: &str = "state";

/// Is what a run came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunEnded {
    pub(crate) request: Digest,
    pub(crate) end: RunEnd,
    pub(crate) text: String,
    pub(crate) spent: Spent,
}

/// Is where a run stands that does not go on by itself: for the how-manieth time, and which calls wait; none once it has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stands {
    pub(crate) request: Digest,
    pub(crate) number: u32,
    pub(crate) waiting: Vec<PendingCall>,
    pub(crate) has_ended: bool,
}

/// Is what a turn added to a run, and what is next for it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Turned {
    pub(crate) head: Value,
    /// The entries of the log that were added.
    pub(crate) log: Vec<Value>,
    pub(crate) next: RunNext,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "next", rename_all = "snake_case")]
pub(crate) enum RunNext {
    /// The model takes another turn.
    Turn,
    /// These calls are made.
    Act {
        calls: Vec<Planned>,
        /// What the runs below can draw on.
        account: Account,
        /// The turn in which the calls are made.
        turn: u32,
        /// When the turn had ended, by the clock of its worker, in milliseconds since 1970.
        at_ms: u64,
    },
    /// Nothing more.
    End { end: RunEnd, text: String, spent: Spent },
}

/// Is a call with all that has to be known to make it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Planned {
    pub(crate) call: ToolCall,
    pub(crate) pool: Pool,
    /// The places of the earlier calls that have to be answered before it is made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) after: Vec<usize>,
    /// Whether its reply can say that it is to be answered by runs below.
    #[serde(default)]
    pub(crate) delegates: bool,
}

/// Is what a call of `delegate` has begun.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Delegation {
    pub(crate) tasks: Vec<Delegated>,
    /// How many runs may be above the runs that are begun.
    pub(crate) depth: u32,
}

/// Is one task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Delegated {
    pub(crate) agent: ToolName,
    pub(crate) pool: Pool,
    pub(crate) task: String,
}

/// Under which name a reply says it to the host.
const DELEGATION: &str = "haft_delegation";

impl Delegation {
    pub(crate) fn details(&self) -> Value {
        json!({ DELEGATION: self })
    }

    /// Reads what a reply says that is answered by runs below.
    pub(crate) fn of(reply: &ToolReply) -> Option<Self> {
        let said = reply.output.details.get(DELEGATION).filter(|_| reply.status.is_ok())?;
        serde_json::from_value(said.clone()).ok()
    }
}
