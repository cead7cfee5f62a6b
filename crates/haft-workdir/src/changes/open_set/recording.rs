//! Finding out what is there and having each step recorded before it is made.

use super::{Made, OpenChangeSet};
use crate::changes::digest::ContentDigest;
use crate::changes::journal::{SetEnd, SetStart};
use crate::changes::look::{attributes_at, state_at};
use crate::changes::new_file::Expected;
use crate::changes::record::{ChangeStep, PathState};
use crate::error::Error;
use crate::path::WorkdirPath;
use std::path::PathBuf;

/// Is what is at a place before a step.
pub(super) struct Before<'b> {
    pub(super) state: PathState,
    /// What is in it, where the caller holds that.
    pub(super) held: Option<&'b [u8]>,
    /// What is in it, where it was read to be kept.
    read: Option<Vec<u8>>,
}

impl Before<'_> {
    /// Gives what is in it, where that is known.
    pub(super) fn content(&self) -> Option<&[u8]> {
        self.read.as_deref().or(self.held)
    }
}

impl<'b> OpenChangeSet<'b> {
    /// Takes note of a step that was made, or was not.
    pub(super) fn made(
        &mut self,
        made: Result<(), Error>,
        step: ChangeStep,
        before: Option<&'b [u8]>,
    ) -> Result<(), Error> {
        match made {
            // What may not outlive a crash has to be taken back, too.
            Ok(()) | Err(Error::Unflushed { .. }) => self.done.push(Made { step, before }),
            Err(_) => self.retract(),
        }
        made
    }

    /// Takes back that a step was recorded.
    pub(super) fn retract(&self) {
        if let (Some(journal), Some(id)) = (&self.journal, self.id) {
            // If this fails, the step is found not to have been made when it is to be taken back.
            let _ = journal.retract(id);
        }
    }

    /// Finds out what is there, as far as it has to be known.
    pub(super) fn before(&self, path: &WorkdirPath, expected: Expected<'b>) -> Result<Before<'b>, Error> {
        let expected = match expected {
            Expected::Absent => return Ok(Before { state: PathState::Absent, held: None, read: None }),
            Expected::Holds(held) => {
                let mut state = state_at(&self.workdir, path, 0)?;
                if let PathState::File { digest, bytes, .. } = &mut state {
                    *digest = self.journal.as_ref().map(|_| ContentDigest::of_parts(&[held]));
                    *bytes = held.len() as u64;
                }
                return Ok(Before { state, held: Some(held), read: None });
            }
            Expected::Whatever => None,
            Expected::State(expected) => Some(expected),
        };
        let before = self.read(path)?;
        match expected {
            Some(expected) if !expected.is_still(&before.state) => Err(Error::Differs { path: path.clone() }),
            _ => Ok(before),
        }
    }

    /// The same for what is about to be removed, which takes with it what else a file has.
    pub(super) fn before_removal(
        &self,
        path: &WorkdirPath,
        expected: Expected<'b>,
    ) -> Result<Before<'b>, Error> {
        let mut before = self.before(path, expected)?;
        if let PathState::File { attributes, .. } = &mut before.state {
            *attributes = attributes_at(&self.workdir, path).map(Box::new);
        }
        Ok(before)
    }

    /// Looks once more that a file holds what the caller holds, since recording takes a while.
    pub(super) fn still_holds(&self, path: &WorkdirPath, held: Option<&[u8]>) -> Result<(), Error> {
        let Some(held) = held else { return Ok(()) };
        if self.workdir.holds(path, held)? { Ok(()) } else { Err(Error::Differs { path: path.clone() }) }
    }

    fn read(&self, path: &WorkdirPath) -> Result<Before<'b>, Error> {
        let mut state = state_at(&self.workdir, path, 0)?;
        let mut kept = None;
        if let (PathState::File { digest, bytes, .. }, Some(journal)) = (&mut state, &self.journal) {
            match self.workdir.read(path, journal.limits().file_bytes) {
                Ok(read) => {
                    (*digest, *bytes) = (Some(ContentDigest::of_parts(&[&read])), read.len() as u64);
                    kept = Some(read);
                }
                Err(Error::TooLarge { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Before { state, held: None, read: kept })
    }

    /// Records a step that is about to be made. If the first one cannot be, the set is made without a journal.
    pub(super) fn record(
        &mut self,
        step: &ChangeStep,
        before: Option<&[u8]>,
        shown: Option<(ContentDigest, &[&[u8]])>,
    ) -> Result<(), Error> {
        let Some(journal) = &self.journal else { return Ok(()) };
        let digest = match step {
            ChangeStep::Set { before, .. } => before.digest(),
            ChangeStep::Move { .. } => None,
        };
        let before = before.map(|bytes| [bytes]);
        let contents = match (digest, &before) {
            // Whatever its size, it is kept at least until the set has ended, so that it can be rolled back.
            (Some(digest), Some(bytes)) => Some((digest, &bytes[..])),
            _ => None,
        };
        let contents: Vec<(ContentDigest, &[&[u8]])> = contents.into_iter().chain(shown).collect();
        let begun = if let Some(id) = self.id {
            Ok(id)
        } else {
            let other_roots: Vec<PathBuf> =
                self.workdir.roots.others().map(|(path, _)| path.to_owned()).collect();
            journal.begin(&SetStart {
                origin: &self.origin,
                root: self.workdir.root_path(),
                other_roots: &other_roots,
                undoes: &self.undoes,
            })
        };
        let recorded = begun.and_then(|id| {
            self.id = Some(id);
            journal.record(id, step, &contents)
        });
        match recorded {
            Ok(()) => self.recorded += 1,
            Err(source) if self.recorded > 0 => return Err(Error::Unrecorded { source }),
            Err(source) => {
                if let Some(id) = self.id.take() {
                    // It has no steps, so whatever becomes of it changes nothing.
                    let _ = journal.end(id, SetEnd::RolledBack);
                }
                self.journal = None;
                self.unrecorded = Some(source);
            }
        }
        Ok(())
    }
}
