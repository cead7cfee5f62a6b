//! Puts together what the transcripts and the journal say of calls.

use super::data::{CallReport, Diff, Timings};
use super::recorded::{End, Recorded};
use super::transcript::Told;
use crate::timeline::arguments;
use haft::ToolReply;
use haft::core::{CallId, ErrorKind, Repair, ReplyStatus, RunId};
use haft::tools_core::DecidedBy;
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

/// Puts the calls of all runs together: those of a run as its transcript has them, those of several as they were first recorded.
///
/// A reply and the record of its end have the same duration to the microsecond, which tells calls of one id apart.
pub(super) fn together(
    runs: &[RunId],
    told: Vec<(usize, Vec<Told>)>,
    recorded: Vec<Recorded>,
    mut changes: Changes,
) -> (Vec<CallReport>, Gaps) {
    let told: Vec<(usize, Told)> =
        told.into_iter().flat_map(|(run, told)| told.into_iter().map(move |told| (run, told))).collect();
    let mut kept = Kept::new(runs, recorded);
    let mut places = vec![None; told.len()];
    // Only when each has had what is surely its own, the others take what is left.
    for find in [Kept::same as Find, Kept::open, Kept::left] {
        for (place, (run, told)) in places.iter_mut().zip(&told).rev().filter(|(place, _)| place.is_none()) {
            *place = kept.take(*run, told, find);
        }
    }
    let Kept { mut recorded, .. } = kept;
    let mut calls: Vec<(usize, CallReport)> = Vec::new();
    let mut at = vec![0; runs.len()];
    for ((run, told), place) in told.into_iter().zip(places) {
        let its = place.and_then(|place| recorded[place].take());
        // What is not recorded, or was before the call before it, stands behind that.
        at[run] = at[run].max(place.unwrap_or_default());
        calls.push((at[run], report(run, Some(told), its.as_ref())));
    }
    for (place, its) in recorded.into_iter().enumerate() {
        let run = its.as_ref().and_then(|its| runs.iter().position(|run| *run == its.last().run));
        calls.extend(run.map(|run| (place, report(run, None, its.as_ref()))));
    }
    calls.sort_by_key(|(place, call)| (*place, call.run));
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

/// Tells whether what is recorded at a place is of the call with this reply.
type Find = fn(&Kept, usize, Option<&ToolReply>) -> bool;

/// Holds what is recorded of calls, in the order in which their first records were kept.
struct Kept {
    recorded: Vec<Option<Recorded>>,
    /// The places of those of an id that nobody has taken.
    places: HashMap<(usize, CallId), Vec<usize>>,
}

impl Kept {
    fn new(runs: &[RunId], recorded: Vec<Recorded>) -> Self {
        let names: HashMap<&RunId, usize> = runs.iter().enumerate().map(|(run, name)| (name, run)).collect();
        let mut places: HashMap<(usize, CallId), Vec<usize>> = HashMap::new();
        for (place, recorded) in recorded.iter().enumerate() {
            let last = recorded.last();
            if let Some(&run) = names.get(&last.run) {
                places.entry((run, last.call.clone())).or_default().push(place);
            }
        }
        Self { recorded: recorded.into_iter().map(Some).collect(), places }
    }

    /// Takes the place of what is recorded of a call, the latest that is found.
    fn take(&mut self, run: usize, told: &Told, is_its: Find) -> Option<usize> {
        let key = (run, told.id.clone());
        let left = self.places.get(&key)?;
        let found = left.iter().rposition(|&place| is_its(self, place, told.reply.as_ref()))?;
        Some(self.places.get_mut(&key)?.remove(found))
    }

    /// Whether it took as long as the reply says.
    fn same(&self, place: usize, reply: Option<&ToolReply>) -> bool {
        let took = self.end(place).map(|end| u128::from(end.duration_us));
        reply.is_some_and(|reply| took == Some(reply.duration.as_micros()))
    }

    /// Whether nobody saw its end, as of a call whose reply says that it was lost.
    fn open(&self, place: usize, reply: Option<&ToolReply>) -> bool {
        reply.is_some() && self.end(place).is_none()
    }

    /// Whether there is no reply that could say otherwise.
    fn left(_: &Self, _: usize, reply: Option<&ToolReply>) -> bool {
        reply.is_none()
    }

    fn end(&self, place: usize) -> Option<End> {
        self.recorded[place].as_ref().and_then(Recorded::end)
    }
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

#[cfg(test)]
mod tests;
