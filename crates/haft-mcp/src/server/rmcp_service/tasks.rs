//! Writes calls that go on as tasks (the extension `io.modelcontextprotocol/tasks`, SEP-2663).

use super::asked::Asked;
use super::message;
use crate::server::calls::{Task, TaskStatus};
use crate::server::content::CallAnswer;
use crate::server::line::Served;
use rmcp::model::{
    CreateTaskResult, DetailedTask, ErrorData, JsonObject, Task as TaskMessage, TaskPayload,
    TaskStatus as MessageStatus,
};
use serde::Serialize;
use serde_json::Value;

/// How often a client should ask, in milliseconds.
const POLL_MS: u64 = 1_000;

pub(super) fn unknown() -> ErrorData {
    ErrorData::invalid_params("there is no such task, or its time is over", None)
}

pub(super) fn created(task: &Task) -> CreateTaskResult {
    CreateTaskResult::new(written(task))
}

/// Writes a task with what became of it.
pub(super) fn detailed(task: &Task, asked: &Asked) -> Result<DetailedTask, ErrorData> {
    let payload = match &task.status {
        TaskStatus::Working => TaskPayload::Working,
        TaskStatus::Cancelled => TaskPayload::Cancelled,
        TaskStatus::Asks(asks) => {
            let requests = message::input_required(asks, None)?.input_requests;
            TaskPayload::InputRequired { input_requests: requests.unwrap_or_default() }
        }
        TaskStatus::Done(served) => done(served, asked),
    };
    Ok(DetailedTask::new(written(task), payload))
}

fn done(served: &Served, asked: &Asked) -> TaskPayload {
    match served {
        Served::Reply(reply) => {
            let answer = CallAnswer::of((**reply).clone(), false, &asked.toolset.scope);
            TaskPayload::Completed { result: object(&message::result(answer)) }
        }
        Served::Needs(ability) => TaskPayload::Failed { error: object(&message::missing(*ability)) },
        // A task asks in its own way, and is told of as one already.
        Served::Waits(_) | Served::Asks { .. } | Served::Task(_) => {
            let error = ErrorData::internal_error(
                "the call waits for an approval that cannot be asked for here",
                None,
            );
            TaskPayload::Failed { error: object(&error) }
        }
    }
}

fn written(task: &Task) -> TaskMessage {
    let (began, changed) = (timestamp(task.began_at_ms), timestamp(task.changed_at_ms));
    let kept = u64::try_from(task.kept.as_millis()).unwrap_or(u64::MAX);
    TaskMessage::new(task.name.clone(), MessageStatus::Working, began, changed)
        .with_ttl_ms(kept)
        .with_poll_interval_ms(POLL_MS)
}

fn object(message: &impl Serialize) -> JsonObject {
    match serde_json::to_value(message) {
        Ok(Value::Object(object)) => object,
        _ => JsonObject::new(),
    }
}

/// Writes a time, in milliseconds since the Unix epoch, as RFC 3339 has it.
///
/// The days are counted as in <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>, for years from 1970.
fn timestamp(at_ms: u64) -> String {
    let (days, ms) = (at_ms / 86_400_000, at_ms % 86_400_000);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{:03}Z", ms % 1_000)
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn writes_times() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(timestamp(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(timestamp(1_795_329_351_234), "2026-11-22T06:35:51.234Z");
        assert_eq!(timestamp(4_107_542_399_999), "2100-02-28T23:59:59.999Z");
    }
}
