//! What there is to say of a run, as `haft report --json` prints it.

use haft::{BudgetKind, DecidedBy, RunId, Usage};
use serde::Serialize;
use serde_json::Value;

/// The version of the form; members may be added without a new one.
pub(super) const VERSION: u32 = 1;

/// Holds all that is kept of a run and of those that it started.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(super) version: u32,
    /// The version of haft that made it.
    pub(super) haft: &'static str,
    pub(super) made_at_ms: u64,
    pub(super) run: RunId,
    /// The run itself first, then those below it.
    pub(super) runs: Vec<RunReport>,
    /// In the order in which they were taken up, as far as that is known.
    pub(super) calls: Vec<CallReport>,
    pub(super) totals: Totals,
    /// What is not known, in sentences.
    pub(super) notes: Vec<String>,
}

/// Holds what is known of one run.
#[derive(Debug, Serialize)]
pub(super) struct RunReport {
    pub(super) run: RunId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<RunId>,
    /// What tells it from the others, as in `reader 2`; nothing for the run itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
    /// What it was started as, as in `call of bash`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) does: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    /// What it was asked to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) workdir: Option<String>,
    /// How it ended, or where it stands: `unknown` where nothing is kept of it but its calls.
    pub(super) end: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// What its model said last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) said: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) started_at_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended_at_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turns: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<Usage>,
    /// What it spent, with those it started, in billionths of what its price was given in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_nanos: Option<u64>,
    pub(super) budgets: Vec<BudgetReport>,
}

/// Says how much of a budget was spent, in its own unit.
#[derive(Debug, Serialize)]
pub(super) struct BudgetReport {
    pub(super) kind: BudgetKind,
    pub(super) spent: u64,
    pub(super) limit: u64,
}

/// Holds what is known of one call.
#[derive(Debug, Serialize)]
pub(super) struct CallReport {
    /// Which of `runs`, from 0.
    pub(super) run: usize,
    pub(super) id: String,
    pub(super) called_as: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<String>,
    /// The turn of its run in which it was made, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turn: Option<u32>,
    /// How it ended; `waiting` where it waits for a person, and `unfinished` where no end is recorded.
    pub(super) status: &'static str,
    /// The kind of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'static str>,
    /// Whether a person was asked, or is.
    pub(super) asked: bool,
    /// When it was taken up, in microseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at_us: Option<u64>,
    /// How long it took, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) took_us: Option<u64>,
    /// For how much of that it waited for other calls or for room, a person was asked, and it ran.
    pub(super) waited_us: u64,
    pub(super) asked_us: u64,
    pub(super) ran_us: u64,
    /// Where these come from.
    pub(super) timings: Timings,
    /// Its arguments, on one line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) about: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Value>,
    /// What was mended in the arguments, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) repairs: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) accesses: Option<Vec<String>>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) accesses_omitted: u64,
    pub(super) decided: DecidedBy,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) digest: Option<String>,
    /// What the model was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) truncation: Option<haft::Truncation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diff: Option<Diff>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes_total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes_kept: Option<u64>,
    /// The run that it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) child_run: Option<RunId>,
}

/// Says how the times of a call are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Timings {
    /// They were measured.
    Measured,
    /// They follow from when its records were made: asking is not told from waiting.
    Estimated,
    /// They are not known.
    None,
}

/// Is what a call changed in files, as a unified diff.
#[derive(Debug, Serialize)]
pub(super) struct Diff {
    pub(super) text: String,
    /// Where it is kept: the tool's own `reply`, or the journal of `changes`.
    pub(super) from: &'static str,
}

/// Adds the calls up.
#[derive(Debug, Default, Serialize)]
pub(super) struct Totals {
    pub(super) calls: usize,
    pub(super) failed: usize,
    pub(super) denied: usize,
    pub(super) asked: usize,
    /// Those that are not answered.
    pub(super) open: usize,
    pub(super) waited_us: u64,
    pub(super) asked_us: u64,
    pub(super) ran_us: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_nanos: Option<u64>,
}

impl Totals {
    pub(super) fn of(runs: &[RunReport], calls: &[CallReport]) -> Self {
        let mut totals = Self { calls: calls.len(), ..Self::default() };
        for call in calls {
            totals.failed += usize::from(matches!(call.status, "error" | "timed_out"));
            totals.denied += usize::from(call.status == "denied");
            totals.open += usize::from(matches!(call.status, "waiting" | "unfinished"));
            totals.asked += usize::from(call.asked);
            totals.waited_us = totals.waited_us.saturating_add(call.waited_us);
            totals.asked_us = totals.asked_us.saturating_add(call.asked_us);
            totals.ran_us = totals.ran_us.saturating_add(call.ran_us);
        }
        for usage in runs.iter().filter_map(|run| run.usage) {
            *totals.usage.get_or_insert_default() += usage;
        }
        totals.cost_nanos = runs.first().and_then(|run| run.cost_nanos);
        totals
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Is a text of which the page shows the start and the end.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Text {
    pub(super) text: String,
    /// How many bytes are left out of it.
    pub(super) omitted: usize,
}

impl Text {
    /// Cuts a text to so many bytes, and says so where it does; two thirds of what stays are its start.
    pub(super) fn cut(text: &str, most: usize) -> Self {
        if text.len() <= most {
            return Self { text: text.to_owned(), omitted: 0 };
        }
        let start = text.floor_char_boundary(most / 3 * 2);
        let end = text.ceil_char_boundary(text.len() - most / 3);
        let omitted = end - start;
        let text = format!("{}\n… {omitted} bytes are left out here …\n{}", &text[..start], &text[end..]);
        Self { text, omitted }
    }
}
