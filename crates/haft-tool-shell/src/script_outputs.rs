mod disk;

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use haft_core::{CallId, OutputId, RunId};
use haft_tools_core::{CallScope, LocalOutputs, OutputChunk, OutputError, OutputStore, Redactor};

pub(crate) use self::disk::{Disk, Share};
use crate::transcript::Transcript;

/// How many outputs are kept at most.
const MOST_OUTPUTS: usize = 100;

/// How many bytes are read at once at most.
const MOST_READ_BYTES: u64 = 16 << 20;

/// Keeps outputs of scripts whole while they are printed, and is the store of outputs for all other tools.
///
/// What a script prints goes through memory into a file as it comes, so that nothing of it is lost however much it is, and
/// memory does not grow with it. An output is kept once something of it is not shown, and can be read from then on, also
/// while it goes on: with the tool [`read_output`](haft_tools_core::ReadOutput), by its name such as `s1`. What other
/// tools are answered with is kept by the store behind this one, a [`LocalOutputs`] in the same directory if nothing else
/// is said.
///
/// Give the same one to [`Bash::outputs`](crate::Bash::outputs), to the executor and to `read_output`. Cheap to clone;
/// clones keep the same outputs. Files can be read by their owner alone, and are removed with their output, of which the
/// oldest go when there is no room, and all with the last clone. Only a process that is killed leaves them: in a
/// [`TemporaryDirectory`](haft_process::TemporaryDirectory) until the next one comes.
///
/// ```
/// use haft_tool_shell::{Bash, Environment, ScriptOutputs};
/// use haft_tools_core::{LocalExecutor, ReadOutput, ToolRegistry};
/// use std::sync::Arc;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (tree, place) = (haft_testkit::Tree::new(), haft_testkit::Tree::new());
/// let outputs = ScriptOutputs::spilling_into(place.path());
/// let bash = Bash::new(tree.workdir(), Environment::minimal()).outputs(&outputs);
/// let outputs = Arc::new(outputs);
/// let tools = ToolRegistry::new().with(bash)?.with(ReadOutput::new(Arc::clone(&outputs) as _))?;
/// let executor = LocalExecutor::builder(tools).outputs(outputs).build();
/// # drop(executor);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptOutputs {
    disk: Arc<Disk>,
    shelf: Arc<Mutex<Shelf>>,
    others: Arc<dyn OutputStore>,
    redactor: Redactor,
}

#[derive(Debug, Default)]
struct Shelf {
    kept: VecDeque<Kept>,
    next: u64,
}

#[derive(Debug)]
struct Kept {
    number: u64,
    run: RunId,
    parent: Option<RunId>,
    transcript: Arc<Transcript>,
}

impl ScriptOutputs {
    /// Keeps large outputs in files of this directory, which is made when it is first needed; 1 GiB together, and 256 MiB
    /// of one.
    pub fn spilling_into(directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        let others = Arc::new(LocalOutputs::spilling_into(&directory));
        let redactor = Redactor::new();
        Self { disk: Arc::new(Disk::new(directory)), shelf: Arc::default(), others, redactor }
    }

    /// Bounds how many bytes all outputs of scripts have together, and one of them; what is kept already stays.
    pub fn bounded(self, total_bytes: u64, output_bytes: u64) -> Self {
        self.disk.bound(total_bytes, output_bytes);
        self
    }

    /// Has what is not of scripts kept by this store.
    pub fn over(mut self, others: Arc<dyn OutputStore>) -> Self {
        self.others = others;
        self
    }

    /// Replaces secrets in what is kept; give the redactor of the executor, which does so with what is answered.
    pub fn redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// Starts a transcript, which nobody can read yet.
    pub(crate) fn begin(&self) -> Arc<Transcript> {
        Arc::new(Transcript::new(Arc::clone(&self.disk)))
    }

    pub(crate) fn secrets(&self) -> &Redactor {
        &self.redactor
    }

    /// Names a transcript, so that the run it belongs to, those that it starts and the one that started it can read it.
    pub(crate) fn keep(&self, of: &CallScope, transcript: &Arc<Transcript>) -> OutputId {
        let mut on_it = self.lock();
        if on_it.kept.len() >= MOST_OUTPUTS {
            on_it.remove_oldest();
        }
        on_it.next += 1;
        let number = on_it.next;
        let (run, parent) = (of.run().clone(), of.parent_run().cloned());
        on_it.kept.push_back(Kept { number, run, parent, transcript: Arc::clone(transcript) });
        format!("s{number}").parse().expect("a letter and digits are a short text without control characters")
    }

    /// Removes the oldest outputs that have ended, until there is room for one that is as large as it may be.
    pub(crate) fn make_room(&self) {
        while self.disk.is_crowded() && self.lock().remove_oldest() {}
    }

    fn find(&self, reader: &CallScope, output: &OutputId) -> Option<Result<Arc<Transcript>, OutputError>> {
        let number: u64 = output.as_str().strip_prefix('s')?.parse().ok()?;
        let on_it = self.lock();
        if number == 0 || number > on_it.next {
            return None;
        }
        let unknown = || OutputError::Unknown { output: output.clone() };
        let Some(kept) = on_it.kept.iter().find(|kept| kept.number == number) else {
            return Some(Err(OutputError::Evicted { output: output.clone() }));
        };
        let is_readable = kept.run == *reader.run()
            || reader.parent_run() == Some(&kept.run)
            || kept.parent.as_ref() == Some(reader.run());
        Some(if is_readable { Ok(Arc::clone(&kept.transcript)) } else { Err(unknown()) })
    }

    /// Nothing panics while the lock is held, so what it guards is whole.
    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn remove_oldest(&mut self) -> bool {
        let oldest = self.kept.iter().position(|kept| kept.transcript.has_ended());
        oldest.and_then(|oldest| self.kept.remove(oldest)).is_some()
    }
}

#[async_trait]
impl OutputStore for ScriptOutputs {
    async fn store(&self, scope: &CallScope, call: &CallId, text: String) -> Result<OutputId, OutputError> {
        self.others.store(scope, call, text).await
    }

    async fn read(
        &self,
        scope: &CallScope,
        output: &OutputId,
        range: Range<u64>,
    ) -> Result<OutputChunk, OutputError> {
        let Some(found) = self.find(scope, output) else {
            return self.others.read(scope, output, range).await;
        };
        let transcript = found?;
        let range = range.start..range.end.min(range.start.saturating_add(MOST_READ_BYTES));
        let read = tokio::task::spawn_blocking(move || {
            let extent = transcript.extent();
            Ok((transcript.read(range.start..range.end.min(extent.bytes))?, extent))
        });
        let read = read.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        let (bytes, extent) = read.map_err(|source| OutputError::Io { action: "read", source })?;
        Ok(OutputChunk { bytes: bytes.into(), total_bytes: extent.bytes, total_lines: extent.lines })
    }
}

impl fmt::Debug for ScriptOutputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptOutputs").field("disk", &self.disk).finish_non_exhaustive()
    }
}
