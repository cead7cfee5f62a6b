use super::record::print;
use super::{DecidedBy, Inner, JournalEntry, JournalRecord};
use crate::epoch::{milliseconds, since_epoch};
use crate::{Accesses, CallScope, Redactor};
use haft_core::{Content, Digest, ReplyStatus, ToolCall, ToolReply, ToolSpec};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most bytes of all printed accesses of a call.
const MOST_ACCESSES: usize = 64 * 1024;

/// Follows one call for the journal: learns what is known of it stage by stage and writes when it begins and ends.
///
/// Made by [`Journal::call`](super::Journal::call). Each stage may come again, when the call is prepared or decided once
/// more, and then replaces what was known. Dropped without an end, it records the call as cancelled: that is what happens
/// to calls whose batch is dropped. Of a journal that is not kept it is empty, and everything done with it is free.
///
/// ```
/// use haft_core::{ReplyStatus, ToolCall, ToolReply};
/// use haft_tools_core::{CallScope, Journal, JournalEntry, MemoryJournal};
/// use serde_json::json;
/// use std::sync::Arc;
///
/// let memory = Arc::new(MemoryJournal::new(10));
/// let journal = Journal::new(Arc::clone(&memory) as _);
/// let call = ToolCall::new("c1".parse()?, "glob", json!({}));
/// let mut following = journal.call(&CallScope::new("run-1".parse()?), &call);
/// following.begun()?;
/// following.ended(&ToolReply::new(call.id.clone(), "glob", ReplyStatus::Ok, "src/lib.rs".into()))?;
/// assert_eq!(memory.records()[0].entry, JournalEntry::Begun);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a call that is not followed is recorded as cancelled"]
pub struct CallJournal(Option<Box<Following>>);

struct Following {
    journal: Arc<Inner>,
    record: JournalRecord,
    redactor: Redactor,
    started: Instant,
    /// When it began to run, as its record is dated, and for how long people had been asked until then.
    begun: Option<(Duration, Duration)>,
    /// Since when a person is being asked.
    asking: Option<Instant>,
    asked: Duration,
}

impl CallJournal {
    pub(super) fn new(journal: Option<&Arc<Inner>>, scope: &CallScope, call: &ToolCall) -> Self {
        Self(journal.map(|journal| {
            let record = JournalRecord {
                version: JournalRecord::VERSION,
                entry: JournalEntry::Begun,
                sequence: 0,
                at_ms: 0,
                run: scope.run().clone(),
                parent_run: scope.parent_run().cloned(),
                agent: scope.agent().map(str::to_owned),
                call: call.id.clone(),
                called_as: call.name.clone(),
                tool: None,
                origin: None,
                accesses: None,
                accesses_omitted: 0,
                decided: DecidedBy::Nobody,
                digest: None,
            };
            Box::new(Following {
                journal: Arc::clone(journal),
                record,
                redactor: Redactor::new(),
                started: Instant::now(),
                begun: None,
                asking: None,
                asked: Duration::ZERO,
            })
        }))
    }

    /// Replaces the secrets that are registered with this redactor in what is written; to be called first.
    pub fn redacted_by(mut self, redactor: &Redactor) -> Self {
        if let Some(following) = self.0.as_deref_mut() {
            following.redactor = redactor.clone();
        }
        self
    }

    /// Learns which tool the call is for.
    pub fn resolved(&mut self, spec: &ToolSpec) {
        if let Some(Following { record, .. }) = self.0.as_deref_mut() {
            record.tool = Some(spec.name().clone());
            record.origin = Some(spec.origin().clone());
        }
    }

    /// Learns what the call touches, and the digest that an approval of it is bound to.
    pub fn prepared(&mut self, accesses: &Accesses, digest: impl FnOnce() -> Digest) {
        if let Some(Following { record, redactor, .. }) = self.0.as_deref_mut() {
            let (printed, omitted) = printed(accesses, redactor);
            record.accesses = Some(printed);
            record.accesses_omitted = omitted;
            record.digest = Some(digest());
        }
    }

    /// Learns who or what decided whether the call may run.
    pub fn decided(&mut self, by: impl FnOnce() -> DecidedBy) {
        if let Some(Following { record, .. }) = self.0.as_deref_mut() {
            record.decided = by();
        }
    }

    /// Learns that a person is being asked whether the call may run, until [`CallJournal::answered`] or the call's end.
    pub fn asks(&mut self) {
        if let Some(following) = self.0.as_deref_mut() {
            following.asking = Some(Instant::now());
        }
    }

    /// Learns that nobody is being asked any more.
    pub fn answered(&mut self) {
        if let Some(following) = self.0.as_deref_mut() {
            following.answered();
        }
    }

    /// Writes that the call is about to run; a call that is tried again has begun once.
    ///
    /// # Errors
    ///
    /// When the record cannot be kept: then the call must not run.
    pub fn begun(&mut self) -> io::Result<()> {
        let Some(following) = self.0.as_deref_mut() else { return Ok(()) };
        if following.begun.is_none() {
            following.record.entry = JournalEntry::Begun;
            let at = since_epoch();
            following.write(at)?;
            following.begun = Some((at, following.asked));
        }
        Ok(())
    }

    /// Writes how the call ended, if that is not written yet; from then on it is followed no more.
    ///
    /// # Errors
    ///
    /// When the record cannot be kept: what the call has done is done, so its reply still counts.
    pub fn ended(&mut self, reply: &ToolReply) -> io::Result<()> {
        let Some(following) = self.0.take() else { return Ok(()) };
        let kept: usize = reply.output.content.iter().map(Content::size_bytes).sum();
        let kept = u64::try_from(kept).unwrap_or(u64::MAX);
        // What says that something was cut is of no tool's making, and does not count.
        let total = reply.truncation.as_ref().map_or(kept, |cut| cut.total_bytes);
        following.end(reply.status, reply.duration, total, kept)
    }

    /// Writes that the call waits for a person, and leaves it without an end: it is followed anew when it goes on.
    ///
    /// # Errors
    ///
    /// When the record cannot be kept: the call still waits.
    pub fn waits(&mut self) -> io::Result<()> {
        let Some(mut following) = self.0.take() else { return Ok(()) };
        following.record.entry = JournalEntry::Waiting;
        following.write(since_epoch())
    }
}

impl Following {
    fn end(mut self, status: ReplyStatus, took: Duration, total: u64, kept: u64) -> io::Result<()> {
        self.answered();
        let at = since_epoch();
        let asked = self.asked.min(took);
        let ran = self.begun.map(|(begun, asked_before)| {
            let asked_since = self.asked.saturating_sub(asked_before);
            at.saturating_sub(begun).saturating_sub(asked_since).min(took.saturating_sub(asked))
        });
        self.record.entry = JournalEntry::Ended {
            ran: ran.is_some(),
            status,
            duration_us: microseconds(took),
            asked_us: microseconds(asked),
            ran_us: ran.map(microseconds),
            bytes_total: total,
            bytes_kept: kept,
        };
        self.write(at)
    }

    fn answered(&mut self) {
        if let Some(since) = self.asking.take() {
            self.asked += since.elapsed();
        }
    }

    fn write(&mut self, at: Duration) -> io::Result<()> {
        self.record.redact_and_cut(&self.redactor);
        self.record.at_ms = milliseconds(at);
        self.journal.write(&mut self.record)
    }
}

impl Drop for CallJournal {
    fn drop(&mut self) {
        let Some(following) = self.0.take() else { return };
        let (call, took) = (following.record.call.clone(), following.started.elapsed());
        if let Err(error) = following.end(ReplyStatus::Cancelled, took, 0, 0) {
            let error = &error as &dyn std::error::Error;
            tracing::error!(%call, error, "the journal cannot record that a call was abandoned");
        }
    }
}

impl fmt::Debug for CallJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallJournal").field(&self.0.as_ref().map(|following| &following.record)).finish()
    }
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Prints accesses as far as there is room, and counts the others.
fn printed(accesses: &Accesses, redactor: &Redactor) -> (Vec<String>, u64) {
    let mut room = MOST_ACCESSES;
    let mut printed = Vec::new();
    for access in accesses {
        let text = print(access, redactor);
        let Some(left) = room.checked_sub(text.len()) else { break };
        room = left;
        printed.push(text);
    }
    let omitted = (accesses.len() - printed.len()) as u64;
    (printed, omitted)
}
