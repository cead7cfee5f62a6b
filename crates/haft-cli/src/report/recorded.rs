//! What the journal says of calls: when they were taken up, and for how long they waited, were asked about and ran.

use super::data::Timings;
use haft::core::{CallId, Decision, ReplyStatus, RunId};
use haft::tools_core::{DecidedBy, JournalEntry, JournalRecord, PersonAnswer};
use std::collections::HashMap;

/// Holds the records of one call from when it was taken up to its end.
#[derive(Debug)]
pub(super) struct Recorded {
    /// In the order in which they were kept; never empty.
    records: Vec<JournalRecord>,
}

/// Says what the time of a call was, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) at: u64,
    /// `None` for one that has not ended.
    pub(super) took: Option<u64>,
    pub(super) waited: u64,
    pub(super) asked: u64,
    pub(super) ran: u64,
    pub(super) timings: Timings,
}

/// Is the end of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) status: ReplyStatus,
    pub(super) duration_us: u64,
    pub(super) bytes_total: u64,
    pub(super) bytes_kept: u64,
}

/// Puts the records of each call together; an id that is used again begins another call.
pub(super) fn by_call(records: Vec<JournalRecord>) -> Vec<Recorded> {
    let mut calls: Vec<Recorded> = Vec::new();
    let mut open: HashMap<(RunId, CallId), usize> = HashMap::new();
    for record in records {
        let key = (record.run.clone(), record.call.clone());
        let has_ended = matches!(record.entry, JournalEntry::Ended { .. });
        let place = *open.entry(key.clone()).or_insert_with(|| {
            calls.push(Recorded { records: Vec::new() });
            calls.len() - 1
        });
        calls[place].records.push(record);
        if has_ended {
            open.remove(&key);
        }
    }
    calls
}

impl Recorded {
    /// The record that says most: the last.
    pub(super) fn last(&self) -> &JournalRecord {
        &self.records[self.records.len() - 1]
    }

    pub(super) fn end(&self) -> Option<End> {
        match self.last().entry {
            JournalEntry::Ended { status, duration_us, bytes_total, bytes_kept, .. } => {
                Some(End { status, duration_us, bytes_total, bytes_kept })
            }
            _ => None,
        }
    }

    /// Whether it waits for a person, or for calls that do.
    pub(super) fn waits(&self) -> bool {
        self.last().entry == JournalEntry::Waiting
    }

    /// Whether a person was asked about it.
    pub(super) fn was_asked(&self) -> bool {
        let answered = |record: &JournalRecord| {
            matches!(record.decided, DecidedBy::Person { answer, .. } if answer != PersonAnswer::NoAnswer)
                || matches!(record.entry, JournalEntry::Ended { asked_us: 1.., .. })
        };
        self.legs().any(asks) || self.records.iter().any(answered)
    }

    /// Adds up what is known of its time.
    pub(super) fn times(&self) -> Times {
        let mut times = Times { at: 0, took: None, waited: 0, asked: 0, ran: 0, timings: Timings::Measured };
        let mut left: Option<&[JournalRecord]> = None;
        for leg in self.legs() {
            let last = &leg[leg.len() - 1];
            let (first, until) = (micros(leg[0].at_ms), micros(last.at_ms));
            let begun = leg.iter().find(|record| record.entry == JournalEntry::Begun);
            let since_begun = begun.map_or(0, |record| until.saturating_sub(micros(record.at_ms)));
            // Only its end says when it was taken up.
            let from = match last.entry {
                JournalEntry::Ended { duration_us, .. } => until.saturating_sub(duration_us).min(first),
                _ => first,
            };
            match left.replace(leg) {
                Some(before) => {
                    let gap = from.saturating_sub(micros(before[before.len() - 1].at_ms));
                    add(if asks(before) { &mut times.asked } else { &mut times.waited }, gap);
                }
                None => times.at = from,
            }
            match last.entry {
                JournalEntry::Waiting => add(&mut times.ran, since_begun),
                JournalEntry::Ended { ran, duration_us, asked_us, ran_us, .. } => {
                    if ran && ran_us.is_none() {
                        times.timings = Timings::Estimated;
                    }
                    let running = ran_us.unwrap_or(since_begun).min(duration_us.saturating_sub(asked_us));
                    add(&mut times.ran, running);
                    add(&mut times.asked, asked_us);
                    add(&mut times.waited, duration_us.saturating_sub(running).saturating_sub(asked_us));
                    times.took = Some(times.waited.saturating_add(times.asked).saturating_add(times.ran));
                }
                _ => {}
            }
        }
        times
    }

    /// Divides the records where the call was left to wait, to be taken up again.
    fn legs(&self) -> impl Iterator<Item = &[JournalRecord]> {
        self.records.split_inclusive(|record| record.entry == JournalEntry::Waiting)
    }
}

/// Tells whether a leg ends with a person being asked whether the call may run.
///
/// What has begun waits for calls below it, and what is allowed for those before it.
fn asks(leg: &[JournalRecord]) -> bool {
    let last = &leg[leg.len() - 1];
    let is_allowed =
        matches!(last.decided, DecidedBy::Rule { decision: Decision::Allow, .. } | DecidedBy::Grant { .. });
    last.entry == JournalEntry::Waiting
        && !is_allowed
        && leg.iter().all(|record| record.entry != JournalEntry::Begun)
}

fn add(to: &mut u64, time: u64) {
    *to = to.saturating_add(time);
}

fn micros(ms: u64) -> u64 {
    ms.saturating_mul(1_000)
}

#[cfg(test)]
mod tests;
