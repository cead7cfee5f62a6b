use super::{JournalRecord, JournalSink};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps the newest records in memory, and counts those that had to go.
///
/// ```
/// use haft_core::{ReplyStatus, ToolCall, ToolReply};
/// use haft_tools_core::{CallScope, Journal, MemoryJournal};
/// use serde_json::json;
/// use std::sync::Arc;
///
/// let memory = Arc::new(MemoryJournal::new(2));
/// let journal = Journal::new(Arc::clone(&memory) as _);
/// let scope = CallScope::new("run-1".parse()?);
/// for id in ["c1", "c2", "c3"] {
///     let call = ToolCall::new(id.parse()?, "unheard_of", json!({}));
///     let reply = ToolReply::new(call.id.clone(), "unheard_of", ReplyStatus::Denied, "no".into());
///     journal.call(&scope, &call).ended(&reply)?;
/// }
/// let calls: Vec<String> = memory.records().iter().map(|record| record.call.to_string()).collect();
/// assert_eq!(calls, ["c2", "c3"]);
/// assert_eq!(memory.dropped(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MemoryJournal {
    capacity: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    records: VecDeque<Arc<JournalRecord>>,
    dropped: u64,
}

impl MemoryJournal {
    /// Keeps at most so many records.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, state: Mutex::default() }
    }

    /// Lists the records that are kept, the oldest first.
    pub fn records(&self) -> Vec<Arc<JournalRecord>> {
        self.state().records.iter().cloned().collect()
    }

    /// Lists those of the records that are wanted, the oldest first.
    pub fn find(&self, wanted: impl Fn(&JournalRecord) -> bool) -> Vec<Arc<JournalRecord>> {
        // What is asked of the records is asked without the lock.
        let mut records = self.records();
        records.retain(|record| wanted(record));
        records
    }

    /// Counts the records that are no longer kept.
    pub fn dropped(&self) -> u64 {
        self.state().dropped
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps at most 1,024 records.
impl Default for MemoryJournal {
    fn default() -> Self {
        Self::new(1024)
    }
}

impl JournalSink for MemoryJournal {
    fn write(&self, record: &JournalRecord) -> io::Result<()> {
        let record = Arc::new(record.clone());
        let State { records, dropped } = &mut *self.state();
        records.push_back(record);
        if records.len() > self.capacity {
            records.pop_front();
            *dropped += 1;
        }
        Ok(())
    }
}

impl fmt::Debug for MemoryJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let State { records, dropped } = &*self.state();
        f.debug_struct("MemoryJournal")
            .field("capacity", &self.capacity)
            .field("kept", &records.len())
            .field("dropped", dropped)
            .finish_non_exhaustive()
    }
}
