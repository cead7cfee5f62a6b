use super::journal::ChangeJournal;
use super::open_set::{Finished, OpenChangeSet};
use super::overlay::{Layer, Overlay};
use super::reach::reaching;
use super::record::{ChangeOrigin, ChangeSet, ChangeSetId, ChangeStep, PathState, place_of};
use super::undo_error::{Conflict, ConflictKind, UndoError};
use crate::error::Error;
use crate::path::WorkdirPath;
use crate::workdir::Workdir;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

/// Is what has to be done to undo change sets, found out before any of it is done.
///
/// A file is put back only if it is as the last of the sets left it: where something else has changed it since, planning
/// fails, names each such file, and nothing is done. What is as it was before already needs nothing. Directories that the
/// sets made are removed if nothing else is in them then.
///
/// What was changed in other roots is undone there, whether the [`Workdir`] has those or not: they are opened as they were
/// then, and what may be done in them now does not count.
///
/// ```
/// use haft_workdir::{ChangeJournal as _, ChangeOrigin, Expected, MemoryChanges, NewFile, UndoPlan, Workdir};
/// use std::sync::Arc;
///
/// # let directory = tempfile::tempdir()?;
/// let journal = Arc::new(MemoryChanges::default());
/// let workdir = Workdir::open(directory.path())?.journalled(Arc::clone(&journal) as _);
/// let path = workdir.resolve("a.txt")?;
/// let run: haft_core::RunId = "run-1".parse()?;
/// let mut set = workdir.change(ChangeOrigin::new(run.clone(), "c1".parse()?));
/// set.write(&path, &NewFile::new(&[b"one"]), Expected::Absent)?;
/// set.finish()?;
///
/// let plan = UndoPlan::new(&workdir, &journal.sets(&run)?)?;
/// plan.apply(&workdir, ChangeOrigin::new("undo-1".parse()?, "undo".parse()?))?;
/// assert!(workdir.kind(&path).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct UndoPlan {
    layers: Vec<Layer>,
    undoes: Vec<ChangeSetId>,
    /// The roots that they were made in beside the main one.
    other_roots: BTreeSet<PathBuf>,
}

/// Is one thing that undoing does.
///
/// ```
/// use haft_workdir::{ChangeJournal as _, ChangeOrigin, Expected, MemoryChanges, NewFile, UndoEffect, UndoPlan, Workdir};
/// # use std::sync::Arc;
///
/// # let directory = tempfile::tempdir()?;
/// # std::fs::write(directory.path().join("a.txt"), "one")?;
/// # let journal = Arc::new(MemoryChanges::default());
/// # let workdir = Workdir::open(directory.path())?.journalled(Arc::clone(&journal) as _);
/// # let origin = ChangeOrigin::new("run-1".parse()?, "c1".parse()?);
/// # let mut set = workdir.change(origin.clone());
/// set.write(&workdir.resolve("a.txt")?, &NewFile::new(&[b"two"]), Expected::Holds(b"one"))?;
/// set.write(&workdir.resolve("b.txt")?, &NewFile::new(&[b"new"]), Expected::Absent)?;
/// # set.finish()?;
///
/// // To be shown to a person before it is done.
/// let plan = UndoPlan::new(&workdir, &journal.sets(&origin.run)?)?;
/// assert_eq!(plan.effects(), [UndoEffect::Restore("a.txt"), UndoEffect::Remove("b.txt")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum UndoEffect<'a> {
    /// What was changed or removed becomes what it was.
    Restore(&'a str),
    /// What was made is removed.
    Remove(&'a str),
    /// What was moved is moved back.
    Move {
        /// Where it is.
        from: &'a str,
        /// Where it was.
        to: &'a str,
    },
}

/// Says what undoing has done.
///
/// ```
/// use haft_workdir::{ChangeJournal as _, ChangeOrigin, Expected, MemoryChanges, NewFile, UndoPlan, Workdir};
/// # use std::sync::Arc;
///
/// # let directory = tempfile::tempdir()?;
/// # let journal = Arc::new(MemoryChanges::default());
/// # let workdir = Workdir::open(directory.path())?.journalled(Arc::clone(&journal) as _);
/// # let origin = ChangeOrigin::new("run-1".parse()?, "c1".parse()?);
/// # let mut set = workdir.change(origin.clone());
/// set.write(&workdir.resolve("docs/a.txt")?, &NewFile::new(&[b"one"]), Expected::Absent)?;
/// # set.finish()?;
/// // Somebody else puts a file beside it.
/// std::fs::write(directory.path().join("docs/mine.txt"), "mine")?;
///
/// let plan = UndoPlan::new(&workdir, &journal.sets(&origin.run)?)?;
/// let undone = plan.apply(&workdir, ChangeOrigin::new("undo".parse()?, "u1".parse()?))?;
/// assert_eq!(undone.left, [workdir.resolve("docs")?]);
/// assert!(!directory.path().join("docs/a.txt").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Undone {
    /// What became of the set that undid the others.
    pub finished: Finished,
    /// Directories that the undone sets had made and that stay, since something else is in them.
    pub left: Vec<WorkdirPath>,
}

impl UndoPlan {
    /// Plans to undo change sets, those of them that are in force.
    ///
    /// # Errors
    ///
    /// [`UndoError::NoJournal`], [`UndoError::Conflicts`] and [`UndoError::Journal`].
    pub fn new(workdir: &Workdir, sets: &[ChangeSet]) -> Result<Self, UndoError> {
        let journal = workdir.journal().ok_or(UndoError::NoJournal)?;
        let mut sets: Vec<&ChangeSet> = sets.iter().filter(|set| set.is_in_force()).collect();
        sets.sort_unstable_by_key(|set| Reverse(set.id));
        let other_roots: BTreeSet<PathBuf> =
            sets.iter().flat_map(|set| set.other_roots.iter().cloned()).collect();
        let reached = reaching(workdir, &other_roots);
        let mut planning = Planning {
            journal: journal.as_ref(),
            overlay: Overlay::new(&reached),
            conflicts: Vec::new(),
            in_conflict: HashSet::new(),
        };
        for step in sets.iter().flat_map(|set| set.steps.iter().rev()) {
            match step {
                ChangeStep::Set { path, before, after } => planning.reset(path, before, after)?,
                ChangeStep::Move { from, to, what } => planning.move_back(from, to, what),
            }
        }
        if !planning.conflicts.is_empty() {
            return Err(UndoError::Conflicts(planning.conflicts));
        }
        let mut layers = planning.overlay.layers;
        for layer in &mut layers {
            if let Layer::Set(places) = layer {
                places.retain(|_, (now, then)| now != then);
            }
        }
        layers.retain(|layer| !matches!(layer, Layer::Set(places) if places.is_empty()));
        Ok(Self { layers, undoes: sets.iter().map(|set| set.id).collect(), other_roots })
    }

    /// Tells whether nothing is to be done, since everything is as it was.
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// The sets that are undone.
    pub fn sets(&self) -> &[ChangeSetId] {
        &self.undoes
    }

    /// Lists what will be done, in order.
    pub fn effects(&self) -> Vec<UndoEffect<'_>> {
        let mut effects = Vec::new();
        for layer in &self.layers {
            match layer {
                Layer::Move { from, to } => effects.push(UndoEffect::Move { from, to }),
                Layer::Set(places) => effects.extend(places.iter().map(|(path, (_, then))| {
                    if then.is_there() { UndoEffect::Restore(path) } else { UndoEffect::Remove(path) }
                })),
            }
        }
        effects
    }

    /// The places that are changed, where they can be told.
    fn places(&self, workdir: &Workdir) -> Vec<WorkdirPath> {
        let mut places = Vec::new();
        for layer in &self.layers {
            match layer {
                Layer::Move { from, to } => {
                    places.extend([from, to].into_iter().filter_map(|path| place_of(workdir, path)));
                }
                Layer::Set(set) => {
                    places.extend(set.keys().filter_map(|path| place_of(workdir, path)));
                }
            }
        }
        places
    }

    /// Undoes them, all or nothing, as a change set of its own that can be undone in its turn.
    ///
    /// Every file is locked meanwhile ([`Workdir::lock`]), and looked at once more before it is changed.
    ///
    /// # Errors
    ///
    /// [`UndoError::Failed`].
    pub fn apply(self, workdir: &Workdir, origin: ChangeOrigin) -> Result<Undone, UndoError> {
        let failed = |source| UndoError::Failed { source, left: Vec::new() };
        let workdir = &reaching(workdir, &self.other_roots);
        let places = self.places(workdir);
        let _lock = workdir.lock(&places).map_err(failed)?;
        let mut set = workdir.change_to_undo(origin, self.undoes);
        let mut left = Vec::new();
        for layer in self.layers {
            if let Err(source) = make(workdir, &mut set, layer, &mut left) {
                return Err(UndoError::Failed { source, left: set.roll_back() });
            }
        }
        let finished = set.finish().map_err(failed)?;
        Ok(Undone { finished, left })
    }
}

struct Planning<'a> {
    journal: &'a dyn ChangeJournal,
    overlay: Overlay<'a>,
    conflicts: Vec<Conflict>,
    in_conflict: HashSet<String>,
}

impl Planning<'_> {
    fn reset(&mut self, path: &str, before: &PathState, after: &PathState) -> Result<(), UndoError> {
        if !self.overlay.reaches(path) {
            self.conflict(path, ConflictKind::OutOfReach);
            return Ok(());
        }
        let now = self.overlay.get(path);
        let is_made = after.is_still(&now);
        let is_gone = matches!(after, PathState::Directory { .. }) && !now.is_there();
        if !is_made && (before.is_still(&now) || is_gone) {
            return Ok(());
        }
        if !is_made {
            self.conflict(path, ConflictKind::Changed);
        }
        match before {
            PathState::Other => self.conflict(path, ConflictKind::NotKept),
            PathState::File { digest, .. } if !now.has_content_of(before) || digest.is_none() => {
                let is_kept = match digest {
                    Some(digest) => self.journal.keeps(*digest)?,
                    None => false,
                };
                if !is_kept {
                    self.conflict(path, ConflictKind::NotKept);
                }
            }
            _ => {}
        }
        self.overlay.set(path, now, before.clone());
        Ok(())
    }

    fn move_back(&mut self, from: &str, to: &str, what: &PathState) {
        if let Some(path) = [to, from].into_iter().find(|path| !self.overlay.reaches(path)) {
            return self.conflict(path, ConflictKind::OutOfReach);
        }
        let (at_from, at_to) = (self.overlay.get(from), self.overlay.get(to));
        if what.is_still(&at_to) && !at_from.is_there() {
            self.overlay.rename(to, from);
        } else if !what.is_still(&at_from) || at_to.is_there() {
            let is_changed = at_to.is_there() && !at_from.is_there();
            self.conflict(to, if is_changed { ConflictKind::Changed } else { ConflictKind::Moved });
            self.overlay.rename(to, from);
        }
    }

    /// Notes what stands in the way, once for each path.
    fn conflict(&mut self, path: &str, kind: ConflictKind) {
        if self.in_conflict.insert(path.to_owned()) {
            self.conflicts.push(Conflict::new(path, kind));
        }
    }
}

/// Makes a part of what is planned: first what goes, from the inside, then what comes, from the outside.
fn make(
    workdir: &Workdir,
    set: &mut OpenChangeSet<'_>,
    layer: Layer,
    left: &mut Vec<WorkdirPath>,
) -> Result<(), Error> {
    let lost = || Error::IsRoot { action: "restore" };
    let places = match layer {
        Layer::Move { from, to } => {
            let (Some(from), Some(to)) = (place_of(workdir, &from), place_of(workdir, &to)) else {
                return Err(lost());
            };
            return set.rename(&from, &to);
        }
        Layer::Set(places) => places,
    };
    let is_kept = |now: &PathState, then: &PathState| {
        matches!((now, then), (PathState::File { .. }, PathState::File { .. }))
    };
    let (kept, mut removed): (Vec<_>, Vec<_>) =
        places.into_iter().partition(|(_, (now, then))| is_kept(now, then) || !now.is_there());
    removed.sort_by_key(|(path, _)| Reverse(path.matches('/').count()));
    let mut made = kept;
    for (path, (now, then)) in removed {
        let place = place_of(workdir, &path).ok_or_else(lost)?;
        left.extend(set.put(&place, now, &PathState::Absent)?);
        if then.is_there() {
            made.push((path, (PathState::Absent, then)));
        }
    }
    made.sort_by(|(left, _), (right, _)| left.split('/').cmp(right.split('/')));
    for (path, (now, then)) in made {
        let place = place_of(workdir, &path).ok_or_else(lost)?;
        set.put(&place, now, &then)?;
    }
    Ok(())
}
