//! Writes a trace as Chrome's tracing and Perfetto read it: a process for each run, a thread for the turns of its model and one
//! for each row of calls.

use super::data::{CallReport, Report, Timings, TurnReport};
use anyhow::Result;
use serde_json::{Value, json};

/// The most rows of a run; what overlaps beyond them shares the last.
const MOST_ROWS: usize = 64;

/// The thread of turns, before those of calls.
const TURNS: usize = 0;

/// Writes the turns, and the calls whose times are known as complete events, each with the parts of its time within it.
pub(super) fn trace(report: &Report) -> Result<String> {
    let turns = report.turns.iter().map(|turn| turn.at_us);
    let origin = report.calls.iter().filter_map(|call| call.at_us).chain(turns).min().unwrap_or_default();
    let mut events: Vec<Value> = Vec::new();
    for (place, run) in report.runs.iter().enumerate() {
        let name = run.label.clone().unwrap_or_else(|| run.run.to_string());
        events.push(json!({ "ph": "M", "name": "process_name", "pid": place + 1, "args": { "name": name } }));
        let order = json!({ "sort_index": place });
        events.push(json!({ "ph": "M", "name": "process_sort_index", "pid": place + 1, "args": order }));
        if report.turns.iter().any(|turn| turn.run == place) {
            let name = json!({ "name": "turns of the model" });
            events.push(
                json!({ "ph": "M", "name": "thread_name", "pid": place + 1, "tid": TURNS, "args": name }),
            );
        }
    }
    events.extend(report.turns.iter().map(|turn| turn_event(turn, origin)));
    let mut rows: Vec<Vec<u64>> = vec![Vec::new(); report.runs.len()];
    for call in report.calls.iter().filter(|call| call.timings != Timings::None) {
        let (Some(at), Some(rows)) = (call.at_us, rows.get_mut(call.run)) else { continue };
        let took = call
            .took_us
            .unwrap_or_else(|| call.waited_us.saturating_add(call.asked_us).saturating_add(call.ran_us));
        let from = at - origin;
        let row = row_of(rows, from, from.saturating_add(took));
        let event = |name: &str, from: u64, duration: u64, arguments: Value| {
            json!({
                "ph": "X", "name": name, "cat": call.status, "pid": call.run + 1, "tid": row + 1, "ts": from,
                "dur": duration, "args": arguments,
            })
        };
        events.push(event(&call.called_as, from, took, arguments(call)));
        let mut from = from;
        for (name, time) in [("waiting", call.waited_us), ("asking", call.asked_us), ("running", call.ran_us)]
        {
            if time > 0 {
                events.push(event(name, from, time, json!({})));
            }
            from = from.saturating_add(time);
        }
    }
    let other = json!({ "run": report.run, "haft": report.haft, "began_at_us": origin });
    Ok(serde_json::to_string(&json!({ "displayTimeUnit": "ms", "otherData": other, "traceEvents": events }))?
        + "\n")
}

fn turn_event(turn: &TurnReport, origin: u64) -> Value {
    let TurnReport { run, turn: number, model, at_us, took_us, usage, cost_nanos, error } = turn;
    json!({
        "ph": "X", "name": format!("turn {number}"), "cat": if error.is_some() { "error" } else { "turn" }, "pid": run + 1,
        "tid": TURNS, "ts": at_us - origin, "dur": took_us,
        "args": { "turn": number, "model": model, "usage": usage, "cost_nanos": cost_nanos, "error": error },
    })
}

/// Finds a row in which a call overlaps no other.
fn row_of(rows: &mut Vec<u64>, from: u64, to: u64) -> usize {
    let row = rows.iter().position(|end| *end <= from).unwrap_or_else(|| {
        if rows.len() < MOST_ROWS {
            rows.push(0);
        }
        rows.len() - 1
    });
    rows[row] = rows[row].max(to);
    row
}

fn arguments(call: &CallReport) -> Value {
    json!({
        "call": call.id, "status": call.status, "error": call.error, "turn": call.turn, "about": call.about,
        "accesses": call.accesses, "decided": call.decided,
    })
}
