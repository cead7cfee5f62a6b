//! Puts together what the transcripts and the journal say of calls.

use super::data::{CallReport, Diff, Timings};
use super::recorded::Recorded;
use super::transcript::Told;
use crate::timeline::arguments;
use haft::{CallId, DecidedBy, ErrorKind, Repair, ReplyStatus, RunId, ToolReply};
use serde_json::Value;
use std::collections::HashMap;

/// Counts what is not known of calls.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Gaps {
    /// Calls of which nothing is recorded, so that nobody knows when they ran and who let them.
    pub(super) unrecorded: usize,
    /// Calls whose arguments are not kept.
    pub(super) untold: usize,
    /// Calls whose outputs are not kept.
    pub(super) unheard: usize,
    /// Calls of which asking is not told from waiting.
    pub(super) estimated: usize,
}

/// Finds what a call has changed in files, where that is kept beside its answer.
pub(super) type Changes = HashMap<(RunId, CallId), String>;

/// Puts the calls of all runs together, in the order in which they were taken up.
///
/// A reply and the record of its end have the same duration to the microsecond, which tells calls of one id apart.
pub(super) fn together(
    runs: &[RunId],
    told: Vec<(usize, Vec<Told>)>,
    recorded: Vec<Recorded>,
    mut changes: Changes,
) -> (Vec<CallReport>, Gaps) {
    let place: HashMap<&RunId, usize> = runs.iter().enumerate().map(|(place, run)| (run, place)).collect();
    let mut known: HashMap<(usize, CallId), Vec<Recorded>> = HashMap::new();
    for recorded in recorded {
        let last = recorded.last();
        if let Some(&run) = place.get(&last.run) {
            known.entry((run, last.call.clone())).or_default().push(recorded);
        }
    }
    let mut calls: Vec<(u64, CallReport)> = Vec::new();
    for (run, told) in told {
        // What nobody knows the time of stands behind the call before it.
        let mut at = 0;
        for told in told {
            let of_id = known.get_mut(&(run, told.id.clone()));
            let recorded = of_id.and_then(|recorded| take(recorded, told.reply.as_ref()));
            let call = report(run, Some(told), recorded.as_ref());
            at = call.at_us.unwrap_or(at);
            calls.push((at, call));
        }
    }
    for ((run, _), recorded) in known {
        for recorded in recorded {
            let call = report(run, None, Some(&recorded));
            calls.push((call.at_us.unwrap_or_default(), call));
        }
    }
    // What was recorded alone comes out of a table in no order.
    calls.sort_by(|(one, first), (other, second)| {
        one.cmp(other).then_with(|| first.run.cmp(&second.run)).then_with(|| first.turn.cmp(&second.turn))
    });
    let mut calls: Vec<CallReport> = calls.into_iter().map(|(_, call)| call).collect();
    for call in calls.iter_mut().filter(|call| call.output.is_none() && call.diff.is_none()) {
        let key = call.id.parse().ok().map(|id| (runs[call.run].clone(), id));
        call.diff = key.and_then(|key| changes.remove(&key)).map(|text| Diff { text, from: "changes" });
    }
    let count = |is: &dyn Fn(&CallReport) -> bool| calls.iter().filter(|call| is(call)).count();
    let gaps = Gaps {
        unrecorded: count(&|call| call.timings == Timings::None),
        untold: count(&|call| call.input.is_none()),
        unheard: count(&|call| call.output.is_none() && !matches!(call.status, "waiting" | "unfinished")),
        estimated: count(&|call| call.timings == Timings::Estimated),
    };
    (calls, gaps)
}

/// Takes the records of a call out of those of its id.
fn take(recorded: &mut Vec<Recorded>, reply: Option<&ToolReply>) -> Option<Recorded> {
    let is_its = |recorded: &Recorded| match (reply, recorded.end()) {
        (Some(reply), Some(end)) => u128::from(end.duration_us) == reply.duration.as_micros(),
        (None, None) => true,
        _ => false,
    };
    let place = recorded.iter().position(is_its)?;
    Some(recorded.remove(place))
}

fn report(run: usize, told: Option<Told>, recorded: Option<&Recorded>) -> CallReport {
    let (record, times) = (recorded.map(Recorded::last), recorded.map(Recorded::times));
    let end = recorded.and_then(Recorded::end);
    let id = told.as_ref().map(|told| &told.id).or(record.map(|record| &record.call));
    let id = id.map(|id| id.as_str().to_owned()).unwrap_or_default();
    let (call, turn, reply, asked_at_ms) =
        told.map_or((None, None, None, None), |told| (told.call, told.turn, told.reply, told.asked_at_ms));
    let name = call.as_ref().map(|call| &call.name).or(reply.as_ref().map(|reply| &reply.name));
    let name = name.or(record.map(|record| &record.called_as)).cloned().unwrap_or_default();
    let input = call.map(|call| call.input);
    let waits = asked_at_ms.is_some() || recorded.is_some_and(Recorded::waits);
    let status = reply.as_ref().map(|reply| reply.status).or(end.map(|end| end.status));
    let (status, error) = match status {
        Some(status) => words(status),
        None => (if waits { "waiting" } else { "unfinished" }, None),
    };
    let mut call = CallReport {
        run,
        id,
        called_as: name,
        tool: record.and_then(|record| record.tool.as_ref()).map(ToString::to_string),
        origin: record.and_then(|record| record.origin.as_ref()).map(ToString::to_string),
        turn,
        status,
        error,
        asked: asked_at_ms.is_some() || recorded.is_some_and(Recorded::was_asked),
        at_us: times.map(|times| times.at).or(asked_at_ms.map(|ms| ms.saturating_mul(1_000))),
        took_us: times.and_then(|times| times.took),
        waited_us: times.map_or(0, |times| times.waited),
        asked_us: times.map_or(0, |times| times.asked),
        ran_us: times.map_or(0, |times| times.ran),
        timings: times.map_or(Timings::None, |times| times.timings),
        about: input.as_ref().map(arguments).unwrap_or_default(),
        input,
        repairs: Vec::new(),
        accesses: record.and_then(|record| record.accesses.clone()),
        accesses_omitted: record.map_or(0, |record| record.accesses_omitted),
        decided: record.map_or(DecidedBy::Nobody, |record| record.decided.clone()),
        digest: record.and_then(|record| record.digest).map(|digest| digest.to_string()),
        output: None,
        truncation: None,
        diff: None,
        bytes_total: end.map(|end| end.bytes_total),
        bytes_kept: end.map(|end| end.bytes_kept),
        child_run: None,
    };
    if let Some(reply) = reply {
        take_reply(&mut call, reply);
    }
    call
}

fn take_reply(call: &mut CallReport, reply: ToolReply) {
    let took = u64::try_from(reply.duration.as_micros()).unwrap_or(u64::MAX);
    call.took_us = call.took_us.or(Some(took));
    call.output = Some(reply.output.to_text());
    call.truncation = reply.truncation;
    call.repairs = reply.repairs.iter().map(repaired).collect();
    let diff = reply.output.details.get("diff").and_then(Value::as_str).filter(|diff| !diff.is_empty());
    call.diff = diff.map(|diff| Diff { text: diff.to_owned(), from: "reply" });
    call.child_run = reply.output.child_run;
}

/// Says what was mended in the arguments of a call.
fn repaired(repair: &Repair) -> String {
    let place = if repair.pointer.is_empty() { "the arguments" } else { &repair.pointer };
    let to = repair.to.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
    format!("{place}: {} became {to} ({})", repair.from, repair.note)
}

/// The status in a word, and the kind of the error.
fn words(status: ReplyStatus) -> (&'static str, Option<&'static str>) {
    match status {
        ReplyStatus::Ok => ("ok", None),
        ReplyStatus::Error(kind) => {
            let kind = match kind {
                ErrorKind::UnknownTool => "unknown_tool",
                ErrorKind::InvalidInput => "invalid_input",
                ErrorKind::NotFound => "not_found",
                ErrorKind::Unavailable => "unavailable",
                ErrorKind::Unauthenticated => "unauthenticated",
                ErrorKind::Panicked => "panicked",
                _ => "failed",
            };
            ("error", Some(kind))
        }
        ReplyStatus::Denied => ("denied", None),
        ReplyStatus::Cancelled => ("cancelled", None),
        ReplyStatus::TimedOut => ("timed_out", None),
        _ => ("skipped", None),
    }
}
