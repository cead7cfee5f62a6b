use super::Retention;
use crate::CallScope;
use crate::output::OutputError;
use crate::output::spilled::SpilledFile;
use bytes::Bytes;
use haft_core::{OutputId, RunId};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::time::Instant;

/// How many removed outputs are remembered, so that it can be said that they were there.
const MOST_REMEMBERED: usize = 10_000;

/// Where the text of an output is.
#[derive(Debug, Clone)]
pub(super) enum Place {
    Memory(Bytes),
    File(Arc<SpilledFile>),
}

/// The run an output belongs to, and the run that started that one.
#[derive(Debug)]
struct Owner {
    run: RunId,
    parent: Option<RunId>,
}

impl Owner {
    fn of(scope: &CallScope) -> Self {
        Self { run: scope.run().clone(), parent: scope.parent_run().cloned() }
    }

    /// Tells whether a run may read what this one stored: it is the same, or one of the two started the other.
    fn lets_read(&self, reader: &CallScope) -> bool {
        self.run == *reader.run()
            || reader.parent_run() == Some(&self.run)
            || self.parent.as_ref() == Some(reader.run())
    }
}

/// One output that is kept.
#[derive(Debug)]
pub(super) struct Kept {
    number: u64,
    owner: Owner,
    since: Instant,
    place: Place,
    bytes: u64,
    lines: u64,
}

/// Room that was taken for an output that is not there yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reserved {
    bytes: u64,
    pub(super) in_memory: bool,
}

/// What is kept, oldest first, and how much it is together.
#[derive(Debug)]
pub(super) struct Shelf {
    pub(super) retention: Retention,
    kept: VecDeque<Kept>,
    removed: VecDeque<(u64, Owner)>,
    next: u64,
    used: u64,
    used_memory: u64,
}

impl Shelf {
    pub(super) fn new(retention: Retention) -> Self {
        let (kept, removed) = (VecDeque::new(), VecDeque::new());
        Self { retention, kept, removed, next: 1, used: 0, used_memory: 0 }
    }

    /// Takes room for an output, and what had to go for it, which the caller drops without the lock.
    pub(super) fn reserve(
        &mut self,
        bytes: u64,
        can_spill: bool,
    ) -> Result<(Reserved, Vec<Kept>), OutputError> {
        let most = self.retention.total_bytes;
        if bytes > most {
            return Err(OutputError::NoRoom { bytes, most });
        }
        let mut gone = self.remove_old();
        while self.used + bytes > most || self.kept.len() >= self.retention.outputs.max(1) {
            match self.remove_oldest() {
                Some(oldest) => gone.push(oldest),
                // The room is taken by outputs that are being written.
                None => return Err(OutputError::NoRoom { bytes, most }),
            }
        }
        let fits_in_memory =
            bytes <= self.retention.small_bytes && self.used_memory + bytes <= self.retention.memory_bytes;
        let reserved = Reserved { bytes, in_memory: fits_in_memory || !can_spill };
        self.used += bytes;
        if reserved.in_memory {
            self.used_memory += bytes;
        }
        Ok((reserved, gone))
    }

    /// Gives back room that nothing came into.
    pub(super) fn release(&mut self, reserved: Reserved) {
        self.used -= reserved.bytes;
        if reserved.in_memory {
            self.used_memory -= reserved.bytes;
        }
    }

    /// Puts an output into its room.
    pub(super) fn put(
        &mut self,
        scope: &CallScope,
        reserved: Reserved,
        place: Place,
        lines: u64,
    ) -> OutputId {
        let number = self.next;
        self.next += 1;
        let (owner, since, bytes) = (Owner::of(scope), Instant::now(), reserved.bytes);
        self.kept.push_back(Kept { number, owner, since, place, bytes, lines });
        format!("o{number}").parse().expect("a letter and digits are a short text without control characters")
    }

    /// Finds an output that this run may read: where it is, how many bytes and lines it has.
    pub(super) fn find(
        &self,
        scope: &CallScope,
        output: &OutputId,
    ) -> Result<(Place, u64, u64), OutputError> {
        let unknown = || OutputError::Unknown { output: output.clone() };
        let number: u64 =
            output.as_str().strip_prefix('o').and_then(|digits| digits.parse().ok()).ok_or_else(unknown)?;
        if let Ok(index) = self.kept.binary_search_by_key(&number, |kept| kept.number) {
            let kept = &self.kept[index];
            return if kept.owner.lets_read(scope) {
                Ok((kept.place.clone(), kept.bytes, kept.lines))
            } else {
                Err(unknown())
            };
        }
        match self.removed.binary_search_by_key(&number, |(number, _)| *number) {
            Ok(index) if self.removed[index].1.lets_read(scope) => {
                Err(OutputError::Evicted { output: output.clone() })
            }
            _ => Err(unknown()),
        }
    }

    /// Removes what has been kept long enough.
    pub(super) fn remove_old(&mut self) -> Vec<Kept> {
        let mut gone = Vec::new();
        while self.kept.front().is_some_and(|oldest| oldest.since.elapsed() >= self.retention.age) {
            gone.extend(self.remove_oldest());
        }
        gone
    }

    fn remove_oldest(&mut self) -> Option<Kept> {
        let mut oldest = self.kept.pop_front()?;
        let in_memory = matches!(oldest.place, Place::Memory(_));
        self.release(Reserved { bytes: oldest.bytes, in_memory });
        if self.removed.len() == MOST_REMEMBERED {
            self.removed.pop_front();
        }
        let owner = Owner { run: oldest.owner.run.clone(), parent: oldest.owner.parent.take() };
        self.removed.push_back((oldest.number, owner));
        Some(oldest)
    }
}
