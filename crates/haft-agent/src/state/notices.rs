use crate::Account;
use crate::repeats::{Repeated, TOLD_AT};
use haft_core::{BudgetKind, ReplyStatus, ToolCall, ToolOutput, ToolReply};

/// Why calls that have not begun are skipped when somebody said something.
pub(crate) const STEERED: &str = "the user wrote something new, which follows; read it, then go on";

/// Tells the model that a budget is spent and what is left to do.
pub(super) fn closing(which: BudgetKind, account: &Account) -> String {
    let limit = account.budget.limit(which).unwrap_or_default();
    let spent = match which {
        BudgetKind::Cost => "The money for this run is spent".to_owned(),
        BudgetKind::WallTime => format!("The time for this run, {}, is over", time(limit)),
        which => format!("The budget of this run, {limit} {which}, is spent"),
    };
    format!(
        "{spent}. This is your last turn, and no tool can be called. Say what is done, what is not, and how to go on from \
         here."
    )
}

fn time(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..120_000 => format!("{} s", ms / 1_000),
        ms => format!("{} min", ms / 60_000),
    }
}

/// Tells the model that it goes round in circles.
pub(super) fn looping(repeated: &Repeated) -> String {
    let Repeated { name, times } = repeated;
    let name: String = name.chars().take(64).collect();
    let times = if *times == TOLD_AT { "three".to_owned() } else { times.to_string() };
    format!(
        "You have called `{name}` {times} times with the same arguments, and the result was the same each time. If you do so \
         again, the run is stopped. Try something else, or say what keeps you from going on."
    )
}

/// Answers a call that the budget does not let be made.
pub(super) fn over_budget(call: &ToolCall) -> ToolReply {
    skipped(call, "not run: the budget of this run is spent")
}

/// Answers a call of a message that was cut off.
pub(super) fn cut_off(call: &ToolCall) -> ToolReply {
    skipped(call, "this call was not made: the message that holds it was cut off")
}

/// Answers a call that was made while somebody said something new.
pub(super) fn steered(call: &ToolCall) -> ToolReply {
    skipped(call, &format!("not run: {STEERED}"))
}

fn skipped(call: &ToolCall, why: &str) -> ToolReply {
    ToolReply::new(call.id.clone(), call.name.clone(), ReplyStatus::Skipped, ToolOutput::text(why))
}
