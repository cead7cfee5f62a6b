use super::patch::Patch;
use haft_core::{Digest, RunId};
use haft_tools_core::{PrivateFileError, PrivateFiles, PrivateLock, now_ms};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The most bytes of one file, which holds the text of a patch or what is known of it.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// How many patches are kept where nothing else is said.
const MOST_KEPT: usize = 200;

/// How long is waited for another process that looks at the same patches.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it can take to apply changes, at most: whoever takes longer has died.
const MOST_APPLYING: Duration = Duration::from_hours(24);

/// Which form of what is known of a patch this program reads and writes.
const VERSION: u32 = 1;

/// Keeps the changes of children until their parents have them applied, in a directory of the host's.
///
/// Each is kept for one parent's run, which alone gets at it, survives the process, and is applied once at most. Those that
/// are applied go first when there are too many. The methods may block.
///
/// ```
/// use haft_subagents::{FileChange, KeptChanges, Patch, PatchFile};
///
/// # let scratch = tempfile::tempdir()?;
/// let kept = KeptChanges::new(scratch.path().join("changes"));
/// let (parent, child) = ("lead".parse()?, "lead/editor".parse()?);
/// let patch = Patch::new("…", vec![PatchFile::new("a.txt", FileChange::Added)]);
/// kept.keep(&parent, &child, &patch)?;
///
/// assert_eq!(kept.read(&parent, &child)?, patch);
/// assert!(kept.read(&"another".parse()?, &child).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct KeptChanges {
    files: Arc<PrivateFiles>,
    most: usize,
}

/// Says why changes were not kept, or are not given.
///
/// ```
/// use haft_subagents::{ChangesError, KeptChanges};
///
/// # let scratch = tempfile::tempdir()?;
/// let kept = KeptChanges::new(scratch.path().join("changes"));
/// let error = kept.read(&"lead".parse()?, &"lead/editor".parse()?).unwrap_err();
/// assert!(matches!(error, ChangesError::Unknown { .. }));
/// assert_eq!(error.to_string(), "there are no changes of a child `lead/editor` for this run");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangesError {
    /// There are none of this run, or they are another run's to take.
    #[error("there are no changes of a child `{run}` for this run")]
    Unknown {
        /// What was asked for.
        run: String,
        /// The children whose changes this run may take, at most 20.
        others: Vec<RunId>,
    },
    /// They were applied already.
    #[error("the changes of `{run}` were applied already")]
    Applied {
        /// The child.
        run: RunId,
    },
    /// Somebody began to apply them, and nobody knows how that ended.
    #[error("the changes of `{run}` are being applied, or were when the process died")]
    Underway {
        /// The child.
        run: RunId,
    },
    /// They are not those that were looked at before.
    #[error("the changes of `{run}` have changed since they were looked at")]
    Replaced {
        /// The child.
        run: RunId,
    },
    /// What is kept cannot be read.
    #[error("cannot read what is known of the changes of `{run}`")]
    Unreadable {
        /// The child.
        run: String,
        /// Why; nothing where another version of the program wrote it.
        source: Option<serde_json::Error>,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Files(#[from] PrivateFileError),
}

/// What is known of a patch besides its text.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    version: u32,
    run: RunId,
    parent: RunId,
    state: State,
    since_ms: u64,
    digest: Digest,
    /// Without its text.
    patch: Patch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Waiting,
    Applying,
    Applied,
}

impl KeptChanges {
    /// Keeps changes in a directory, which is made when it is needed.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        let files = PrivateFiles::new(directory).most_bytes(MOST_BYTES);
        Self { files: Arc::new(files), most: MOST_KEPT }
    }

    /// Sets how many patches are kept, at least 1; 200 by default.
    pub fn most(mut self, most: usize) -> Self {
        self.most = most.max(1);
        self
    }

    /// Keeps what a child changed, for the run that started it; what was kept of this child before is replaced.
    ///
    /// # Errors
    ///
    /// When it has more than 64 MiB or cannot be written, and while what was kept before is being applied.
    pub fn keep(&self, parent: &RunId, run: &RunId, patch: &Patch) -> Result<(), ChangesError> {
        let _lock = self.lock()?;
        let name = name(run);
        if let Ok(Some(Kept { state: State::Applying, .. })) = self.known(&name) {
            return Err(ChangesError::Underway { run: run.clone() });
        }
        self.make_room(&name)?;
        let known = Kept {
            version: VERSION,
            run: run.clone(),
            parent: parent.clone(),
            state: State::Waiting,
            since_ms: now_ms(),
            digest: digest(patch),
            patch: Patch { text: String::new(), ..patch.clone() },
        };
        // Known last, so that what is known of has its text.
        self.files.remove(&known_file(&name))?;
        self.files.write(&text_file(&name), &patch.text)?;
        self.write(&name, &known)
    }

    /// Lets go of what a child of this run had changed and nobody has applied, since the child has undone it.
    pub(super) fn withdraw(&self, parent: &RunId, run: &RunId) -> Result<(), ChangesError> {
        let _lock = self.lock()?;
        match self.of_parent(parent, run) {
            Ok(known) if known.state == State::Waiting => self.remove(&name(run)),
            Ok(_) | Err(ChangesError::Unknown { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes what was kept longer ago than this, of children that are not wanted any more; says of how many.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read, or something of it cannot be removed.
    pub fn prune(
        &self,
        older_than: Duration,
        is_wanted: impl Fn(&RunId) -> bool,
    ) -> Result<usize, ChangesError> {
        let _lock = self.lock()?;
        let before = now_ms().saturating_sub(milliseconds(older_than));
        let mut removed = 0;
        for (name, known) in self.all()? {
            if known.since_ms <= before && !is_wanted(&known.run) {
                self.remove(&name)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Reads what a child of this run changed.
    ///
    /// # Errors
    ///
    /// [`ChangesError::Unknown`] for children of other runs, too; or when it cannot be read.
    pub fn read(&self, parent: &RunId, run: &RunId) -> Result<Patch, ChangesError> {
        let known = self.of_parent(parent, run)?;
        self.whole(known)
    }

    /// Tells whether something of a child of this run is kept, applied or not.
    pub(super) fn is_known(&self, parent: &RunId, run: &RunId) -> bool {
        let known = self.known(&name(run));
        known.is_ok_and(|known| known.is_some_and(|known| known.parent == *parent && known.run == *run))
    }

    /// Reads what a child of this run changed, if it can be applied still, with what tells it from other changes.
    pub(super) fn to_apply(&self, parent: &RunId, run: &RunId) -> Result<(Patch, Digest), ChangesError> {
        let known = self.of_parent(parent, run)?;
        may_be_applied(&known)?;
        let digest = known.digest;
        Ok((self.whole(known)?, digest))
    }

    /// Notes that the changes are about to be applied, which only one can do.
    pub(super) fn begin(&self, parent: &RunId, run: &RunId, digest: Digest) -> Result<(), ChangesError> {
        let _lock = self.lock()?;
        let known = self.of_parent(parent, run)?;
        may_be_applied(&known)?;
        if known.digest != digest {
            return Err(ChangesError::Replaced { run: run.clone() });
        }
        self.write(&name(run), &Kept { state: State::Applying, since_ms: now_ms(), ..known })
    }

    /// Notes how it ended, for one that has begun: whether they were applied.
    pub(super) fn end(&self, parent: &RunId, run: &RunId, is_applied: bool) -> Result<(), ChangesError> {
        let _lock = self.lock()?;
        let known = self.of_parent(parent, run)?;
        let state = if is_applied { State::Applied } else { State::Waiting };
        self.write(&name(run), &Kept { state, ..known })
    }

    /// Lists the children whose changes this run can still apply, the oldest first.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read; one that cannot be read is left out.
    pub fn waiting(&self, parent: &RunId) -> Result<Vec<RunId>, ChangesError> {
        let mut found: Vec<(u64, RunId)> = self
            .all()?
            .into_iter()
            .filter(|(_, known)| known.parent == *parent && known.state == State::Waiting)
            .map(|(_, known)| (known.since_ms, known.run))
            .collect();
        found.sort_unstable();
        Ok(found.into_iter().map(|(_, run)| run).collect())
    }

    fn of_parent(&self, parent: &RunId, run: &RunId) -> Result<Kept, ChangesError> {
        match self.known(&name(run))? {
            Some(known) if known.parent == *parent && known.run == *run => Ok(known),
            _ => {
                let mut others = self.waiting(parent)?;
                others.truncate(20);
                Err(ChangesError::Unknown { run: run.to_string(), others })
            }
        }
    }

    fn whole(&self, known: Kept) -> Result<Patch, ChangesError> {
        let text = self.files.read(&text_file(&name(&known.run)))?.unwrap_or_default();
        let patch = Patch { text, ..known.patch };
        if digest(&patch) != known.digest {
            return Err(ChangesError::Replaced { run: known.run });
        }
        Ok(patch)
    }

    fn known(&self, name: &str) -> Result<Option<Kept>, ChangesError> {
        let Some(text) = self.files.read(&known_file(name))? else { return Ok(None) };
        let unreadable = |source| ChangesError::Unreadable { run: name.to_owned(), source };
        let known: Kept = serde_json::from_str(&text).map_err(|error| unreadable(Some(error)))?;
        if known.version == VERSION { Ok(Some(known)) } else { Err(unreadable(None)) }
    }

    fn write(&self, name: &str, known: &Kept) -> Result<(), ChangesError> {
        let text = serde_json::to_string(known)
            .map_err(|error| ChangesError::Unreadable { run: known.run.to_string(), source: Some(error) })?;
        Ok(self.files.write(&known_file(name), &text)?)
    }

    fn all(&self) -> Result<Vec<(String, Kept)>, ChangesError> {
        let names = self.files.names()?.into_iter();
        let known = names.filter_map(|file| Some(file.strip_suffix(".json")?.to_owned()));
        Ok(known.filter_map(|name| Some((name.clone(), self.known(&name).ok()??))).collect())
    }

    /// Removes what was applied, then what is oldest, until there is room for one more.
    ///
    /// What is being applied stays, unless whoever began that has had a day for it: they are gone then.
    fn make_room(&self, name: &str) -> Result<(), ChangesError> {
        let mut all = self.all()?;
        let long_ago = now_ms().saturating_sub(milliseconds(MOST_APPLYING));
        let is_underway = |known: &Kept| known.state == State::Applying && known.since_ms > long_ago;
        all.retain(|(other, known)| other != name && !is_underway(known));
        all.sort_by_key(|(_, known)| (known.state == State::Waiting, known.since_ms));
        let over = (all.len() + 1).saturating_sub(self.most);
        for (name, _) in all.into_iter().take(over) {
            self.remove(&name)?;
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), ChangesError> {
        self.files.remove(&known_file(name))?;
        self.files.remove(&text_file(name))?;
        Ok(())
    }

    fn lock(&self) -> Result<PrivateLock, ChangesError> {
        Ok(self.files.lock("lock", PATIENCE)?)
    }
}

impl ChangesError {
    /// Says for a model what is wrong and what to do next, without anything of the host.
    pub fn model_text(&self) -> String {
        match self {
            Self::Unknown { others, .. } if others.is_empty() => {
                "no agent that you delegated to by this run has changes that wait to be applied; take the run from what \
                 `delegate` answered"
                    .to_owned()
            }
            Self::Unknown { others, .. } => {
                let others: Vec<String> = others.iter().map(|run| format!("`{run}`")).collect();
                format!(
                    "no agent that you delegated to by this run has changes that wait to be applied; use one of those that \
                     have: {}",
                    others.join(", ")
                )
            }
            Self::Applied { .. } => {
                "these changes were applied already, and nothing was done now; go on without this call".to_owned()
            }
            Self::Underway { .. } => "somebody began to apply these changes, and it is not known whether that was done; \
                                      read the files that they name, and make what is missing with `apply_patch`"
                .to_owned(),
            Self::Replaced { .. } => {
                "the agent has made other changes meanwhile, and nothing was applied; look at them with `show_changes`, \
                 then try again"
                    .to_owned()
            }
            Self::Unreadable { .. } | Self::Files(_) => {
                "these changes cannot be read; delegate the task again, or make the changes yourself".to_owned()
            }
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn may_be_applied(known: &Kept) -> Result<(), ChangesError> {
    match known.state {
        State::Waiting => Ok(()),
        State::Applying => Err(ChangesError::Underway { run: known.run.clone() }),
        State::Applied => Err(ChangesError::Applied { run: known.run.clone() }),
    }
}

/// The names of the files of a run; a run may be called in ways in which no file can.
fn name(run: &RunId) -> String {
    Digest::of(&json!(run)).to_string()
}

fn known_file(name: &str) -> String {
    format!("{name}.json")
}

fn text_file(name: &str) -> String {
    format!("{name}.patch")
}

fn digest(patch: &Patch) -> Digest {
    Digest::of(&json!(patch.text))
}

#[cfg(test)]
mod tests {
    use super::super::patch::{FileChange, PatchFile};
    use super::*;

    fn run(name: &str) -> RunId {
        name.parse().expect("it is an id")
    }

    fn patch(text: &str) -> Patch {
        Patch::new(text, vec![PatchFile::new("a", FileChange::Added)])
    }

    fn kept() -> (tempfile::TempDir, KeptChanges) {
        let directory = tempfile::tempdir().expect("there is room for one");
        let kept = KeptChanges::new(directory.path().join("changes"));
        (directory, kept)
    }

    #[test]
    fn gives_changes_to_the_run_that_started_the_child_alone() {
        let (_directory, kept) = kept();
        kept.keep(&run("lead"), &run("child"), &patch("1")).unwrap();
        assert_eq!(kept.read(&run("lead"), &run("child")).unwrap(), patch("1"));
        assert_eq!(kept.waiting(&run("lead")).unwrap(), [run("child")]);
        for (parent, child) in
            [("other", "child"), ("child", "child"), ("lead", "lead"), ("lead", "../child")]
        {
            let refused = kept.to_apply(&run(parent), &run(child)).map(|_| ());
            assert!(matches!(refused, Err(ChangesError::Unknown { .. })), "{parent} {child}: {refused:?}");
        }
    }

    #[test]
    fn lets_changes_be_applied_once() {
        let (_directory, kept) = kept();
        let (lead, child) = (run("lead"), run("child"));
        kept.keep(&lead, &child, &patch("1")).unwrap();
        let (_, digest) = kept.to_apply(&lead, &child).unwrap();
        kept.begin(&lead, &child, digest).unwrap();
        assert!(matches!(kept.begin(&lead, &child, digest), Err(ChangesError::Underway { .. })));
        assert!(matches!(kept.keep(&lead, &child, &patch("2")), Err(ChangesError::Underway { .. })));
        kept.end(&lead, &child, false).unwrap();
        kept.begin(&lead, &child, digest).unwrap();
        kept.end(&lead, &child, true).unwrap();
        assert!(matches!(kept.to_apply(&lead, &child), Err(ChangesError::Applied { .. })));
        assert!(matches!(kept.begin(&lead, &child, digest), Err(ChangesError::Applied { .. })));
    }

    #[test]
    fn does_not_apply_what_was_not_looked_at() {
        let (_directory, kept) = kept();
        let (lead, child) = (run("lead"), run("child"));
        kept.keep(&lead, &child, &patch("1")).unwrap();
        let (_, digest) = kept.to_apply(&lead, &child).unwrap();
        kept.keep(&lead, &child, &patch("2")).unwrap();
        assert!(matches!(kept.begin(&lead, &child, digest), Err(ChangesError::Replaced { .. })));
    }

    #[test]
    fn keeps_so_many_and_lets_what_was_applied_go_first() {
        let (_directory, kept) = kept();
        let kept = kept.most(2);
        let lead = run("lead");
        for child in ["one", "two", "three"] {
            kept.keep(&lead, &run(child), &patch("1")).unwrap();
            if child == "two" {
                let (_, digest) = kept.to_apply(&lead, &run(child)).unwrap();
                kept.begin(&lead, &run(child), digest).unwrap();
                kept.end(&lead, &run(child), true).unwrap();
            }
        }
        let mut waiting = kept.waiting(&lead).unwrap();
        waiting.sort();
        assert_eq!(waiting, [run("one"), run("three")]);
        assert!(matches!(kept.read(&lead, &run("two")), Err(ChangesError::Unknown { .. })));
    }
}
