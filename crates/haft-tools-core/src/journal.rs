mod call;
mod jsonl;
mod memory;
mod record;

pub use call::CallJournal;
pub use jsonl::{JournalError, JournalReader, JsonlJournal};
pub use memory::MemoryJournal;
pub use record::{DecidedBy, JournalEntry, JournalRecord, PersonAnswer};

use crate::CallScope;
use haft_core::ToolCall;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Takes the records of a journal and keeps them.
///
/// Called in the task of the call, so it must be quick, and from many of them at once. A record that it cannot keep is an
/// error: a call whose [`JournalEntry::Begun`] cannot be written is refused, so that nothing is done that leaves no trace.
/// A panic counts as such an error.
///
/// ```
/// use haft_tools_core::{Journal, JournalRecord, JournalSink};
/// use std::io::{self, Write as _};
/// use std::sync::Arc;
///
/// struct Stderr;
///
/// impl JournalSink for Stderr {
///     fn write(&self, record: &JournalRecord) -> io::Result<()> {
///         writeln!(io::stderr(), "{} {:?}", record.call, record.entry)
///     }
/// }
///
/// assert!(Journal::new(Arc::new(Stderr)).is_kept());
/// ```
pub trait JournalSink: Send + Sync + 'static {
    /// Keeps a record.
    ///
    /// # Errors
    ///
    /// When it may not be there later.
    fn write(&self, record: &JournalRecord) -> io::Result<()>;
}

/// Records who let which call run, what it touched and how it ended; by default it records nothing.
///
/// Each call that runs leaves two records: [`JournalEntry::Begun`], written right before it runs, and
/// [`JournalEntry::Ended`]. A call that does not run, since it is denied, invalid or cancelled, leaves the second alone.
/// One that waits for a person leaves [`JournalEntry::Waiting`], and the others once it goes on.
/// So what was running when the process was killed has a beginning without an end. Records hold neither arguments nor
/// outputs, which may be secret, but the digest that the approval of the call is bound to.
///
/// Cheap to clone; clones are the same journal and number their records together. Without a sink it costs nothing: no
/// record is made and no digest computed.
///
/// An executor follows each call with a [`CallJournal`]:
///
/// ```
/// use haft_core::{Decision, Digest, ReplyStatus, Schema, ToolCall, ToolReply, ToolSpec};
/// use haft_tools_core::{Access, Accesses, CallScope, DecidedBy, Journal, JournalEntry, MemoryJournal};
/// use haft_tools_core::{PersonAnswer, Resource, Scheme};
/// use serde_json::json;
/// use std::sync::Arc;
///
/// let memory = Arc::new(MemoryJournal::new(1_000));
/// let journal = Journal::new(Arc::clone(&memory) as _);
///
/// let scope = CallScope::new("run-1".parse()?);
/// let call = ToolCall::new("c1".parse()?, "write_file", json!({ "path": "a", "text": "hello" }));
/// let spec = ToolSpec::new("write_file".parse()?, "Writes a file.", Schema::empty());
/// let accesses = Accesses::from(Access::write(Resource::exact(Scheme::new("file"), "a")));
///
/// let mut following = journal.call(&scope, &call);
/// following.resolved(&spec);
/// following.prepared(&accesses, || Digest::of(&call.input));
/// following.decided(|| DecidedBy::person(PersonAnswer::Approved, ""));
/// following.begun()?;
/// let reply = ToolReply::new(call.id, call.name, ReplyStatus::Ok, "written".into());
/// following.ended(&reply)?;
///
/// let records = memory.records();
/// assert_eq!(records[0].entry, JournalEntry::Begun);
/// assert_eq!(records[1].accesses.as_deref(), Some(&["write file:a".to_owned()][..]));
/// assert!(matches!(records[1].entry, JournalEntry::Ended { status: ReplyStatus::Ok, bytes_kept: 7, .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Journal(Option<Arc<Inner>>);

struct Inner {
    next: AtomicU64,
    sink: Arc<dyn JournalSink>,
}

impl Journal {
    /// Makes a journal that is kept by this sink, and numbers its records from 0.
    pub fn new(sink: Arc<dyn JournalSink>) -> Self {
        Self(Some(Arc::new(Inner { next: AtomicU64::new(0), sink })))
    }

    /// Tells whether anything is recorded.
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Follows a call from when it is taken up; nothing is written yet.
    pub fn call(&self, scope: &CallScope, call: &ToolCall) -> CallJournal {
        CallJournal::new(self.0.as_ref(), scope, call)
    }
}

impl Inner {
    /// Numbers a record, and has it kept.
    fn write(&self, record: &mut JournalRecord) -> io::Result<()> {
        record.sequence = self.next.fetch_add(1, Ordering::Relaxed);
        // The sink is only used again through a shared reference, as it would be by another call at the same time.
        catch_unwind(AssertUnwindSafe(|| self.sink.write(record)))
            .unwrap_or_else(|_| Err(io::Error::other("the sink of the journal panicked")))
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_kept() { "Journal(kept)" } else { "Journal(not kept)" })
    }
}
