//! What there is to say of a run, as `haft report --json` prints it.

use crate::schema::{DecidedShape, TruncationShape, UsageShape};
use haft::agent::TurnRecord;
use haft::core::{BudgetKind, RunId, Usage};
use haft::tools_core::DecidedBy;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The version of the form; members may be added without a new one.
pub(super) const VERSION: u32 = 1;

/// All that is kept of a run and of those that it started.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Report {
    /// The version of the form.
    pub(super) version: u32,
    /// The version of haft that made it.
    pub(super) haft: &'static str,
    /// When it was made, in milliseconds since the Unix epoch.
    pub(super) made_at_ms: u64,
    /// The run.
    #[schemars(with = "String")]
    pub(super) run: RunId,
    /// The run itself first, then those below it.
    pub(super) runs: Vec<RunReport>,
    /// The turns of their models, run by run, as far as it is known when they were taken.
    pub(super) turns: Vec<TurnReport>,
    /// In the order in which they were taken up, as far as that is known.
    pub(super) calls: Vec<CallReport>,
    /// The calls added up.
    pub(super) totals: Totals,
    /// What is not known, in sentences.
    pub(super) notes: Vec<String>,
}

/// What is known of one run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunReport {
    /// The run.
    #[schemars(with = "String")]
    pub(super) run: RunId,
    /// The run that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(super) parent: Option<RunId>,
    /// What tells it from the others, as in `reader 2`; nothing for the run itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) label: Option<String>,
    /// The agent, if it has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
    /// What it was started as, as in `call of bash`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) does: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    /// What it was asked to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<String>,
    /// The directory that it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) workdir: Option<String>,
    /// How it ended, or where it stands: `unknown` where nothing is kept of it but its calls.
    pub(super) end: &'static str,
    /// Why it ended so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// What its model said last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) said: Option<String>,
    /// When it began, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) started_at_ms: Option<u64>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended_at_ms: Option<u64>,
    /// Turns of its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turns: Option<u32>,
    /// Tokens that its model read and wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<UsageShape>")]
    pub(super) usage: Option<Usage>,
    /// What it spent, with those it started, in billionths of what its price was given in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_nanos: Option<u64>,
    /// How much of each budget was spent.
    pub(super) budgets: Vec<BudgetReport>,
}

/// What is known of one turn of a model, also of one that came to nothing.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TurnReport {
    /// Its run, as a place in `runs` counted from 0.
    pub(super) run: usize,
    /// Which turn of it, from 1; one that came to nothing has the number of that which was taken instead.
    pub(super) turn: u32,
    /// The model that was asked.
    pub(super) model: String,
    /// When it was asked, in microseconds since the Unix epoch.
    pub(super) at_us: u64,
    /// How long its answer took, in microseconds.
    pub(super) took_us: u64,
    /// Tokens that it read and wrote, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<UsageShape>")]
    pub(super) usage: Option<Usage>,
    /// What it cost, in billionths of what its price was given in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_nanos: Option<u64>,
    /// Why it came to nothing, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

impl TurnReport {
    pub(super) fn new(run: usize, record: &TurnRecord) -> Self {
        Self {
            run,
            turn: record.turn,
            model: record.model.clone(),
            at_us: record.at_ms.saturating_mul(1_000),
            took_us: record.took_us,
            usage: Some(record.usage).filter(|usage| usage.total() > 0),
            cost_nanos: Some(record.cost_nanos).filter(|nanos| *nanos > 0),
            error: record.error.clone(),
        }
    }
}

/// How much of a budget was spent, in its own unit.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BudgetReport {
    /// `turns`, `calls`, `tokens`, `wall_time` in milliseconds, or `cost` in billionths.
    #[schemars(with = "String")]
    pub(super) kind: BudgetKind,
    /// What was spent.
    pub(super) spent: u64,
    /// What may be.
    pub(super) limit: u64,
}

/// What is known of one call.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CallReport {
    /// Which of `runs`, from 0.
    pub(super) run: usize,
    /// Its id in the run.
    pub(super) id: String,
    /// The name that the model wrote.
    pub(super) called_as: String,
    /// The tool, if there is one of that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    /// Where the tool comes from.
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
    /// For how much of that it waited for other calls or for room.
    pub(super) waited_us: u64,
    /// For how much of that a person was asked.
    pub(super) asked_us: u64,
    /// For how much of that it ran.
    pub(super) ran_us: u64,
    /// Where these come from.
    pub(super) timings: Timings,
    /// Its arguments, on one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) about: String,
    /// Its arguments, where they are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Value>,
    /// What was mended in the arguments, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) repairs: Vec<String>,
    /// What it touches, as far as that is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) accesses: Option<Vec<String>>,
    /// How many accesses are left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) accesses_omitted: u64,
    /// Who let it run, or did not.
    #[schemars(with = "DecidedShape")]
    pub(super) decided: DecidedBy,
    /// What an answer was bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) digest: Option<String>,
    /// What the model was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<String>,
    /// What of that was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TruncationShape>")]
    pub(super) truncation: Option<haft::core::Truncation>,
    /// What it changed in files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diff: Option<Diff>,
    /// Bytes of text that the tool gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes_total: Option<u64>,
    /// Bytes of text that the model was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes_kept: Option<u64>,
    /// The run that it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(super) child_run: Option<RunId>,
}

/// How the times of a call are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Timings {
    /// They were measured.
    Measured,
    /// They follow from when its records were made: asking is not told from waiting.
    Estimated,
    /// They are not known.
    None,
}

/// What a call changed in files.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Diff {
    /// A unified diff.
    pub(super) text: String,
    /// Where it is kept: the tool's own `reply`, or the journal of `changes`.
    pub(super) from: &'static str,
}

/// The calls added up.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Totals {
    /// All calls.
    pub(super) calls: usize,
    /// Those that failed.
    pub(super) failed: usize,
    /// Those that were denied.
    pub(super) denied: usize,
    /// Those that a person was asked about.
    pub(super) asked: usize,
    /// Those that are not answered.
    pub(super) open: usize,
    /// For how long they waited, in microseconds.
    pub(super) waited_us: u64,
    /// For how long people were asked.
    pub(super) asked_us: u64,
    /// For how long they ran.
    pub(super) ran_us: u64,
    /// Tokens that the models read and wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<UsageShape>")]
    pub(super) usage: Option<Usage>,
    /// What was spent, in billionths of what the price was given in.
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
pub(crate) struct Text {
    pub(super) text: String,
    /// How many bytes are left out of it.
    pub(super) omitted: usize,
}

impl Text {
    /// Cuts a text to so many bytes, and says so where it does; two thirds of what stays are its start.
    pub(crate) fn cut(text: &str, most: usize) -> Self {
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
