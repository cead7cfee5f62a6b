mod shelf;

use super::spilled::SpilledFile;
use super::{OutputChunk, OutputError, OutputStore, count_lines};
use crate::CallScope;
use async_trait::async_trait;
use bytes::Bytes;
use haft_core::{CallId, OutputId};
use shelf::{Place, Reserved, Shelf};
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bounds what a [`LocalOutputs`] keeps, and for how long.
///
/// ```
/// use haft_tools_core::Retention;
///
/// let retention = Retention { total_bytes: 16 << 20, ..Retention::default() };
/// assert_eq!(retention.outputs, 1_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// How many bytes all outputs together have; 256 MiB by default. One alone that has more is not stored.
    pub total_bytes: u64,
    /// How many bytes of them are in memory, where there is a directory for the others; 4 MiB by default.
    pub memory_bytes: u64,
    /// How many bytes an output in memory has, where there is a directory for larger ones; 64 KiB by default.
    pub small_bytes: u64,
    /// How many outputs are kept; 1,000 by default.
    pub outputs: usize,
    /// How long an output is kept; one day by default. Looked at whenever the store is used.
    pub age: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            total_bytes: 256 << 20,
            memory_bytes: 4 << 20,
            small_bytes: 64 << 10,
            outputs: 1_000,
            age: Duration::from_hours(24),
        }
    }
}

/// Keeps small outputs in memory and larger ones in files of a directory.
///
/// Made for one session: its bounds count for all runs that use it. When an output would be too much, the oldest ones
/// are removed until there is room; reading a removed one says that it was there. Files can be read by their owner
/// alone, and are removed with the output or with the store; only a process that is killed leaves them, so the directory
/// should be one that is cleared at some time, and that nobody else can write to.
///
/// ```
/// use haft_tools_core::{CallScope, LocalOutputs, OutputStore as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let outputs = LocalOutputs::in_memory();
/// let scope = CallScope::new("run-1".parse()?);
/// let id = outputs.store(&scope, &"c1".parse()?, "one\ntwo\n".to_owned()).await?;
/// let chunk = outputs.read(&scope, &id, 4..100).await?;
/// assert_eq!((&chunk.bytes[..], chunk.total_bytes, chunk.total_lines), (&b"two\n"[..], 8, 2));
/// let other = CallScope::new("run-2".parse()?);
/// assert!(outputs.read(&other, &id, 0..1).await.is_err());
/// # Ok(())
/// # }
/// ```
pub struct LocalOutputs {
    directory: Option<PathBuf>,
    shelf: Mutex<Shelf>,
}

impl LocalOutputs {
    /// Keeps all outputs in memory, 16 MiB of them if nothing else is said.
    pub fn in_memory() -> Self {
        Self::new(None, Retention { total_bytes: 16 << 20, ..Retention::default() })
    }

    /// Keeps larger outputs in this directory, which is made when it is first needed.
    pub fn spilling_into(directory: impl Into<PathBuf>) -> Self {
        Self::new(Some(directory.into()), Retention::default())
    }

    /// Bounds what is kept; what is there already stays until something is stored.
    pub fn retention(self, retention: Retention) -> Self {
        lock(&self.shelf).retention = retention;
        self
    }

    fn new(directory: Option<PathBuf>, retention: Retention) -> Self {
        Self { directory, shelf: Mutex::new(Shelf::new(retention)) }
    }
}

#[async_trait]
impl OutputStore for LocalOutputs {
    async fn store(&self, scope: &CallScope, _call: &CallId, text: String) -> Result<OutputId, OutputError> {
        let (reserved, gone) = lock(&self.shelf).reserve(text.len() as u64, self.directory.is_some())?;
        let room = Room { shelf: &self.shelf, reserved: Some(reserved) };
        let (place, lines) = match &self.directory {
            Some(directory) if !reserved.in_memory => {
                let directory = directory.clone();
                blocking("write", move || {
                    drop(gone);
                    let file = SpilledFile::write(&directory, &text)?;
                    Ok((Place::File(Arc::new(file)), count_lines(&text)))
                })
                .await?
            }
            _ => {
                drop(gone);
                let lines = count_lines(&text);
                (Place::Memory(text.into()), lines)
            }
        };
        Ok(room.fill(scope, place, lines))
    }

    async fn read(
        &self,
        scope: &CallScope,
        output: &OutputId,
        range: Range<u64>,
    ) -> Result<OutputChunk, OutputError> {
        let (gone, found) = {
            let mut guarded = lock(&self.shelf);
            (guarded.remove_old(), guarded.find(scope, output))
        };
        drop(gone);
        let (place, total_bytes, total_lines) = found?;
        let range = range.start.min(total_bytes)..range.end.min(total_bytes);
        let bytes = match place {
            _ if range.is_empty() => Bytes::new(),
            Place::Memory(bytes) => {
                let within = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(bytes.len());
                bytes.slice(within(range.start)..within(range.end))
            }
            Place::File(file) => blocking("read", move || file.read(&range)).await?.into(),
        };
        Ok(OutputChunk { bytes, total_bytes, total_lines })
    }
}

/// Gives back the room of an output that did not come.
struct Room<'a> {
    shelf: &'a Mutex<Shelf>,
    reserved: Option<Reserved>,
}

impl Room<'_> {
    fn fill(mut self, scope: &CallScope, place: Place, lines: u64) -> OutputId {
        let reserved = self.reserved.take().expect("room is filled once");
        lock(self.shelf).put(scope, reserved, place, lines)
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if let Some(reserved) = self.reserved.take() {
            lock(self.shelf).release(reserved);
        }
    }
}

async fn blocking<T: Send + 'static>(
    action: &'static str,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, OutputError> {
    // Work that panics or is cut off by the end of the runtime has failed like any other.
    let done = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)));
    done.map_err(|source| OutputError::Io { action, source })
}

/// Nothing panics while the lock is held, so what it guards is whole.
fn lock(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for LocalOutputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalOutputs")
            .field("directory", &self.directory)
            .field("retention", &lock(&self.shelf).retention)
            .finish_non_exhaustive()
    }
}
