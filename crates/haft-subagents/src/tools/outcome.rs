//! What the model of a run is told of the runs that it has started.

#[cfg(test)]
mod tests;

use crate::{ChildEnd, ChildRecord, ChildResult, ChildStatus};
use haft_agent::DelegateEnd;
use haft_core::{Content, ToolError, ToolOutput};
use haft_tools_core::one_line;
use serde_json::{Value, json};

/// The most characters of a task that are shown with its run.
const MOST_TASK: usize = 120;

/// The most bytes of a result that are told without being asked for.
const MOST_NEWS: usize = 20_000;

/// Answers a call by what became of its runs.
pub(super) fn reply(records: &[ChildRecord]) -> Result<ToolOutput, ToolError> {
    let ends: Vec<DelegateEnd<'_>> = records.iter().filter_map(ended).collect();
    let output = match records {
        [record] if ends.is_empty() => ToolOutput::text(line(record)).with_child_run(record.run.clone()),
        // Each task has its part, also one whose run has no result.
        _ if ends.len() < records.len() => {
            let (count, parts) = (records.len(), records.iter().enumerate());
            let part =
                |(place, record)| Content::text(format!("[{} of {count}] {}", place + 1, told(record)));
            ToolOutput::new(parts.map(part).collect())
        }
        _ => DelegateEnd::output(&ends).map_err(|error| match records {
            [record] => match record.result().and_then(|result| result.detail.clone()) {
                Some(detail) => error.with_source(detail),
                None => error,
            },
            _ => error,
        })?,
    };
    Ok(output.with_structured(structured(records)).with_details(details(records)))
}

/// Answers a call that does not wait for its runs.
pub(super) fn started(records: &[ChildRecord]) -> ToolOutput {
    let lines: Vec<String> = records
        .iter()
        .map(|record| match &record.status {
            ChildStatus::Queued | ChildStatus::Running => {
                format!("`{}` works on: {}", record.run, one_line(&record.task, MOST_TASK))
            }
            _ => line(record),
        })
        .collect();
    let next = "You are told when they are done. Go on with something else, or wait with `wait_agents`.";
    ToolOutput::text(format!("{}\n{next}", lines.join("\n")))
        .with_structured(structured(records))
        .with_details(details(records))
}

/// Tells a run, unasked, that one that it has started in the background has ended.
pub(crate) fn news(record: &ChildRecord) -> String {
    let text = told(record);
    let cut = text.floor_char_boundary(MOST_NEWS);
    let more = if cut < text.len() {
        format!("…\n(cut; `wait_agents` with `{}` gives the whole)", record.run)
    } else {
        String::new()
    };
    format!("An agent in the background has ended.\n{}{more}", &text[..cut])
}

/// Says in one line where a run stands.
pub(super) fn line(record: &ChildRecord) -> String {
    let task = one_line(&record.task, MOST_TASK);
    match record.result().and_then(why) {
        Some(why) => format!("`{}` {} ({why}): {task}", record.run, record.status.name()),
        None => format!("`{}` {}: {task}", record.run, record.status.name()),
    }
}

/// Says where a run stands, with what it came to.
pub(super) fn told(record: &ChildRecord) -> String {
    ended(record).map_or_else(|| line(record), |end| end.told())
}

fn ended(record: &ChildRecord) -> Option<DelegateEnd<'_>> {
    let result = record.result()?;
    Some(DelegateEnd::new(&record.run, result.end.name(), &result.text).because(why(result)))
}

fn why(result: &ChildResult) -> Option<&str> {
    match &result.end {
        ChildEnd::Done | ChildEnd::Cancelled => None,
        ChildEnd::Stopped { reason } | ChildEnd::Failed { reason } | ChildEnd::Lost { reason } => {
            Some(reason)
        }
    }
}

pub(super) fn structured(records: &[ChildRecord]) -> Value {
    let agents = records.iter().map(|record| {
        let mut agent = json!({
            "agent": record.agent,
            "run": record.run,
            "status": record.status.name(),
        });
        if let Some(structured) = record.result().and_then(|result| result.structured.as_ref()) {
            agent["result"] = structured.clone();
        }
        agent
    });
    json!({ "agents": agents.collect::<Vec<_>>() })
}

/// What the host is told and the model is not.
fn details(records: &[ChildRecord]) -> Value {
    let runs = records.iter().map(|record| {
        let detail = record.result().and_then(|result| result.detail.as_ref());
        json!({ "run": record.run, "spent": record.spent, "detail": detail })
    });
    json!({ "runs": runs.collect::<Vec<_>>() })
}
