mod recording;

use super::digest::ContentDigest;
use super::journal::{ChangeJournal, ChangeJournalError, SetEnd};
use super::look::state_at;
use super::new_file::{Expected, NewFile, written_mode};
use super::put::{put, put_new};
use super::record::{ChangeOrigin, ChangeSetId, ChangeStep, PathState};
use super::recover::{Recovered, revert_own};
use crate::error::Error;
use crate::path::WorkdirPath;
use crate::workdir::Workdir;
use crate::write::Existing;
use std::fmt;
use std::sync::Arc;

/// Makes changes of a tree one after the other, all of them or none.
///
/// Each is recorded in the journal of the [`Workdir`] before it is made, if there is one. [`OpenChangeSet::finish`] has them
/// stay; [`OpenChangeSet::roll_back`], and dropping the set, take them back, the last first. If the process is killed
/// before, they are taken back by whoever opens the next set in the same tree, or calls [`Workdir::recover`].
///
/// A change that fails has changed nothing, and those before it still stand until the set is dropped. Without a journal what
/// was there is taken from what the caller gives ([`Expected::Holds`]), which is borrowed until then.
///
/// ```
/// use haft_workdir::{ChangeOrigin, Expected, MemoryChanges, NewFile, Workdir};
/// use std::sync::Arc;
///
/// # let directory = tempfile::tempdir()?;
/// let workdir = Workdir::open(directory.path())?.journalled(Arc::new(MemoryChanges::default()));
/// let path = workdir.resolve("notes/a.txt")?;
/// let origin = ChangeOrigin::new("run-1".parse()?, "c1".parse()?);
///
/// let mut set = workdir.change(origin.clone());
/// set.write(&path, &NewFile::new(&[b"one"]), Expected::Absent)?;
/// drop(set);
/// assert!(workdir.kind(&path).is_err());
///
/// let mut set = workdir.change(origin);
/// set.write(&path, &NewFile::new(&[b"one"]), Expected::Absent)?;
/// assert_eq!(set.finish()?.directories.len(), 1);
/// assert_eq!(workdir.read(&path, 100)?, b"one");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OpenChangeSet<'b> {
    workdir: Workdir,
    origin: ChangeOrigin,
    undoes: Vec<ChangeSetId>,
    journal: Option<Arc<dyn ChangeJournal>>,
    /// Its number, once something was recorded.
    id: Option<ChangeSetId>,
    recorded: usize,
    unrecorded: Option<ChangeJournalError>,
    recovered: Vec<Recovered>,
    done: Vec<Made<'b>>,
    directories: Vec<WorkdirPath>,
    has_ended: bool,
}

/// Is a change that was made, with what was there where somebody holds it.
struct Made<'b> {
    step: ChangeStep,
    before: Option<&'b [u8]>,
}

/// Says what became of a change set.
///
/// ```
/// use haft_workdir::{ChangeLimits, ChangeOrigin, Expected, MemoryChanges, NewFile, Workdir};
/// # use std::sync::Arc;
///
/// # let directory = tempfile::tempdir()?;
/// # std::fs::write(directory.path().join("a.txt"), "a long text")?;
/// let journal = MemoryChanges::new(ChangeLimits { file_bytes: 4, ..ChangeLimits::default() });
/// let workdir = Workdir::open(directory.path())?.journalled(Arc::new(journal));
/// let mut set = workdir.change(ChangeOrigin::new("run-1".parse()?, "c1".parse()?));
/// set.write(&workdir.resolve("a.txt")?, &NewFile::new(&[b"new"]), Expected::Whatever)?;
/// assert_eq!(set.finish()?.not_undoable, ["a.txt"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Finished {
    /// Its number in the journal, if anything was recorded.
    pub id: Option<ChangeSetId>,
    /// The directories that were made, the outermost first.
    pub directories: Vec<WorkdirPath>,
    /// The paths whose change cannot be undone, because what was there is too large to be kept.
    pub not_undoable: Vec<String>,
    /// Why nothing was recorded, if that failed: none of it can be undone.
    pub unrecorded: Option<ChangeJournalError>,
    /// What another process had left unfinished and what was taken back before the first change.
    pub recovered: Vec<Recovered>,
}

impl Workdir {
    /// Has what is changed in the tree be recorded, by this value and its clones.
    ///
    /// It is recorded by whoever makes changes through [`Workdir::change`]; other operations are not.
    pub fn journalled(mut self, journal: Arc<dyn ChangeJournal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// The journal of what is changed in the tree, if there is one.
    pub fn journal(&self) -> Option<&Arc<dyn ChangeJournal>> {
        self.journal.as_ref()
    }

    /// Begins to change the tree; takes back first what a process has left unfinished that was killed.
    ///
    /// If that cannot be found out, the changes are made without being recorded ([`Finished::unrecorded`]).
    pub fn change<'b>(&self, origin: ChangeOrigin) -> OpenChangeSet<'b> {
        self.change_to_undo(origin, Vec::new())
    }

    pub(super) fn change_to_undo<'b>(
        &self,
        origin: ChangeOrigin,
        undoes: Vec<ChangeSetId>,
    ) -> OpenChangeSet<'b> {
        // What cannot be recorded is not refused, so neither is it where the journal cannot be read.
        let (recovered, unrecorded) = match self.recover() {
            Ok(recovered) => (recovered, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let journal = self.journal().filter(|_| unrecorded.is_none()).cloned();
        OpenChangeSet {
            workdir: self.clone(),
            origin,
            undoes,
            journal,
            id: None,
            recorded: 0,
            unrecorded,
            recovered,
            done: Vec::new(),
            directories: Vec::new(),
            has_ended: false,
        }
    }
}

impl<'b> OpenChangeSet<'b> {
    /// Writes a file, with the directories above it, as [`Workdir::write_atomic`] does.
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::write_atomic`] and [`Workdir::create_dir_all`]; [`Error::Differs`] when it is not in the expected
    /// state; [`Error::Unrecorded`].
    pub fn write(
        &mut self,
        path: &WorkdirPath,
        file: &NewFile<'_>,
        expected: Expected<'b>,
    ) -> Result<(), Error> {
        if let Some(parent) = path.parent() {
            self.create_dir_all(&parent)?;
        }
        let existing = match expected {
            Expected::Absent | Expected::State(PathState::Absent) => Existing::Refuse,
            _ => Existing::Replace,
        };
        let before = self.before(path, expected)?;
        let held = before.held;
        let bytes = file.parts.iter().map(|part| part.len() as u64).sum();
        let digest = self.journal.as_ref().map(|_| ContentDigest::of_parts(file.parts));
        let mode = match &before.state {
            PathState::File { mode: Some(mode), .. } => Some(written_mode(*mode, file.executable)),
            _ => file.permissions.map(|mode| written_mode(mode, file.executable)),
        };
        let after = PathState::File { digest, bytes, mode, attributes: None };
        let is_shown = file.is_shown
            && self.journal.as_ref().is_some_and(|journal| bytes <= journal.limits().shown_bytes);
        let shown = if is_shown { digest.map(|digest| (digest, file.parts)) } else { None };
        let step = ChangeStep::Set { path: path.as_str().to_owned(), before: before.state.clone(), after };
        self.record(&step, before.content(), shown)?;
        let written = match (file.permissions, held) {
            (_, Some(held)) => self.workdir.replace_parts(path, held, file.parts),
            (Some(mode), None) if existing == Existing::Refuse => {
                put_new(&self.workdir, path, file.parts, mode, None)
            }
            _ => self.workdir.write_atomic_parts(path, file.parts, existing).map(|_| ()),
        };
        // What was written and may not outlive a crash has to be taken back, too.
        if written.is_ok() || matches!(written, Err(Error::Unflushed { .. })) {
            self.done.push(Made { step, before: held });
        } else {
            self.retract();
        }
        written?;
        match file.executable {
            Some(executable) => self.workdir.set_executable(path, executable),
            None => Ok(()),
        }
    }

    /// Makes what is at a path what it was; what was in a file comes from the journal.
    pub(super) fn put(
        &mut self,
        path: &WorkdirPath,
        now: PathState,
        wanted: &PathState,
    ) -> Result<Option<WorkdirPath>, Error> {
        let before = match wanted {
            PathState::File { .. } => self.before(path, Expected::State(now))?,
            _ => self.before_removal(path, Expected::State(now))?,
        };
        let content = match (wanted.digest(), &self.journal) {
            (Some(digest), Some(journal)) => {
                journal.content(digest).map_err(|source| Error::Unrecorded { source })?
            }
            _ => None,
        };
        let step = ChangeStep::Set {
            path: path.as_str().to_owned(),
            before: before.state.clone(),
            after: wanted.clone(),
        };
        self.record(&step, before.content(), None)?;
        let is_left = put(&self.workdir, path, &before.state, wanted, |_| content);
        match is_left {
            Ok(true) => self.retract(),
            // How far it has got is found out if it is taken back.
            Ok(false) | Err(_) => self.done.push(Made { step, before: None }),
        }
        is_left.map(|is_left| is_left.then(|| path.clone()))
    }

    /// Removes a file or a symbolic link itself.
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::remove_file`]; [`Error::Differs`] when it is not in the expected state; [`Error::Unrecorded`].
    pub fn remove_file(&mut self, path: &WorkdirPath, expected: Expected<'b>) -> Result<(), Error> {
        let before = self.before_removal(path, expected)?;
        let step = ChangeStep::Set {
            path: path.as_str().to_owned(),
            before: before.state.clone(),
            after: PathState::Absent,
        };
        self.record(&step, before.content(), None)?;
        let is_as_held = self.still_holds(path, before.held);
        let removed = is_as_held.and_then(|()| self.workdir.remove_file(path));
        self.made(removed, step, before.held)
    }

    /// Makes a directory and those above it that do not exist; gives how many it made.
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::create_dir_all`]; [`Error::Unrecorded`].
    pub fn create_dir_all(&mut self, path: &WorkdirPath) -> Result<usize, Error> {
        let mut missing = Vec::new();
        let mut place = Some(path.clone());
        while let Some(path) = place.filter(|path| !path.is_root()) {
            match self.workdir.kind(&path) {
                Err(Error::NotFound { .. }) => {}
                // What is in the way is said by whoever makes the directory.
                _ => break,
            }
            place = path.parent();
            missing.push(path);
        }
        let before = self.directories.len();
        for path in missing.iter().rev() {
            let step = ChangeStep::Set {
                path: path.as_str().to_owned(),
                before: PathState::Absent,
                after: PathState::Directory { mode: None },
            };
            self.record(&step, None, None)?;
            let created = self.workdir.create_dir_all(path);
            // Another writer may have been faster.
            if matches!(&created, Ok(created) if created.is_empty()) {
                self.retract();
            } else {
                self.made(created.map(|_| ()), step, None)?;
                self.directories.push(path.clone());
            }
        }
        if missing.is_empty() {
            self.workdir.create_dir_all(path)?;
        }
        Ok(self.directories.len() - before)
    }

    /// Makes a directory with these permissions, the nine bits of a mode, of which the owner has all.
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::create_dir_all`]; [`Error::Unrecorded`].
    pub fn create_dir_like(&mut self, path: &WorkdirPath, mode: u32) -> Result<(), Error> {
        match self.create_dir_all(path)? {
            0 => Ok(()),
            _ => self.workdir.set_mode(path, (mode & 0o777) | 0o700),
        }
    }

    /// The directories that were made so far, the outermost first.
    pub fn directories(&self) -> &[WorkdirPath] {
        &self.directories
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::remove_dir`]; [`Error::Unrecorded`].
    pub fn remove_dir(&mut self, path: &WorkdirPath) -> Result<(), Error> {
        let before = state_at(&self.workdir, path, 0)?;
        let step = ChangeStep::Set { path: path.as_str().to_owned(), before, after: PathState::Absent };
        self.record(&step, None, None)?;
        let removed = self.workdir.remove_dir(path);
        self.made(removed, step, None)
    }

    /// Moves an entry to where nothing is; directories above that place are made.
    ///
    /// # Errors
    ///
    /// Those of [`Workdir::rename`] with [`Existing::Refuse`] and of [`Workdir::create_dir_all`]; [`Error::Unrecorded`].
    pub fn rename(&mut self, from: &WorkdirPath, to: &WorkdirPath) -> Result<(), Error> {
        if let Some(parent) = to.parent() {
            self.create_dir_all(&parent)?;
        }
        let limit = self.journal.as_ref().map_or(0, |journal| journal.limits().file_bytes);
        let what = state_at(&self.workdir, from, limit)?;
        let step = ChangeStep::Move { from: from.as_str().to_owned(), to: to.as_str().to_owned(), what };
        self.record(&step, None, None)?;
        let renamed = self.workdir.rename(from, to, Existing::Refuse);
        self.made(renamed, step, None)
    }

    /// Has the changes stay.
    ///
    /// # Errors
    ///
    /// [`Error::Unrecorded`], when that they stay cannot be recorded; they are taken back then.
    pub fn finish(mut self) -> Result<Finished, Error> {
        let mut finished = Finished { id: self.id, ..Finished::default() };
        if let (Some(journal), Some(id)) = (&self.journal, self.id) {
            finished.not_undoable =
                journal.end(id, SetEnd::Done).map_err(|source| Error::Unrecorded { source })?;
        }
        self.has_ended = true;
        finished.directories = std::mem::take(&mut self.directories);
        finished.unrecorded = self.unrecorded.take();
        finished.recovered = std::mem::take(&mut self.recovered);
        Ok(finished)
    }

    /// Takes the changes back; gives the paths where that was not possible, because something else has changed them or
    /// because what was there is not known.
    pub fn roll_back(mut self) -> Vec<String> {
        self.take_back()
    }

    fn take_back(&mut self) -> Vec<String> {
        self.has_ended = true;
        let mut left = Vec::new();
        let journal = &self.journal;
        for Made { step, before } in self.done.drain(..).rev() {
            let kept = |digest: Option<ContentDigest>| match (before, journal) {
                (Some(bytes), _) => Some(bytes.to_vec()),
                (None, Some(journal)) => journal.content(digest?).ok()?,
                (None, None) => None,
            };
            if let Err(path) = revert_own(&self.workdir, &step, kept) {
                left.push(path);
            }
        }
        if let (Some(journal), Some(id)) = (&self.journal, self.id) {
            let end = if left.is_empty() { SetEnd::RolledBack } else { SetEnd::Torn };
            // If this fails, it is taken back once more, which changes nothing.
            let _ = journal.end(id, end);
        }
        left
    }
}

impl Drop for OpenChangeSet<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.take_back();
        }
    }
}

impl fmt::Debug for OpenChangeSet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = self.done.len();
        f.debug_struct("OpenChangeSet")
            .field("origin", &self.origin)
            .field("made", &made)
            .finish_non_exhaustive()
    }
}
