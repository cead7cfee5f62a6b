use crate::exit::{Exit, note};
use crate::printed::print_json_line;
use crate::schema::PendingShape;
use haft::agent::{RunEnd, RunState, Spent};
use haft::core::{Event, Usage};
use haft::tools_core::{Observer, PendingCall};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Prints every event as one line of JSON, for programs.
pub(crate) struct JsonLines;

impl Observer for JsonLines {
    fn observe(&self, event: &Event) {
        if let Ok(line) = serde_json::to_string(event) {
            outln!("{line}");
        }
    }
}

impl JsonLines {
    /// Prints the last line: how the run ended and what it took.
    pub(crate) fn summary(state: &RunState, elapsed: Duration, exit: Exit, kept: Option<&Path>) {
        let summary = Summary {
            event: SummaryName::Summary,
            end: state.end().cloned(),
            pending: state.pending().flat_map(PendingCall::leaves).cloned().collect(),
            turns: state.turns(),
            usage: state.usage(),
            spent: *state.spent(),
            cost: super::money(state),
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            done: exit == Exit::Done,
            kept: kept.map(Path::to_owned),
        };
        if let Err(error) = print_json_line(&summary) {
            note(error.as_ref());
        }
    }
}

/// How a run ended, or what it waits for: the last line, and in a chat that behind each message.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Summary {
    /// Says that it is one.
    event: SummaryName,
    /// How it ended; `null` where it waits.
    #[schemars(with = "Option<End>")]
    end: Option<RunEnd>,
    /// The calls that wait for a person.
    #[schemars(with = "Vec<PendingShape>")]
    pending: Vec<PendingCall>,
    /// Turns of the model.
    turns: u32,
    /// Tokens that its model read and wrote.
    #[schemars(with = "Tokens")]
    usage: Usage,
    /// What was spent, by the runs below it, too.
    #[schemars(with = "Took")]
    spent: Spent,
    /// Money, in the currency of the price; `null` where there is none.
    cost: Option<f64>,
    /// How long it took here, in milliseconds.
    elapsed_ms: u64,
    /// Whether all was done that was asked for.
    done: bool,
    /// Where the scratch copy is, if that was kept.
    kept: Option<PathBuf>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SummaryName {
    Summary,
}

/// How a run ended.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it stands for what is printed, and is never made")]
struct End {
    /// `completed`, `cut_off`, `refused`, `failed`, `cancelled`, `budget_spent` or `looping`.
    end: String,
}

/// Tokens.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it stands for what is printed, and is never made")]
struct Tokens {
    /// Those that were read.
    input: u64,
    /// Those that were written.
    output: u64,
    /// Of those that were read, those from the provider's cache.
    cache_read: Option<u64>,
}

/// What was spent.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it stands for what is printed, and is never made")]
struct Took {
    /// Turns of models.
    turns: u64,
    /// Calls of tools.
    calls: u64,
    /// Tokens.
    tokens: u64,
    /// Time at work, in milliseconds.
    wall_ms: u64,
    /// Money, in billionths.
    cost_nanos: u64,
}
