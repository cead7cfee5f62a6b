use super::super::workplaces::WorkplaceError;
use super::made::failed;
use haft_core::{Digest, RunId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// Which form of a place this program makes and reads.
const VERSION: u32 = 1;

/// By which a directory is known to be made here.
const MARKER: &str = "haft-place.json";

/// Says that a place is whole, and what it began with.
const READY: &str = "ready.json";

/// Is held by whoever works in a place.
const LOCK: &str = "lock";

/// How long a place is tried that somebody holds: whatever this process starts has all that it has open until it is another
/// program, a place that was just let go, too.
const PASSING: Duration = Duration::from_millis(100);

/// How many digits of the digest of a run's name are the name of its place.
const DIGITS: usize = 24;

/// Is the directory of one place, with everything that belongs to it:
///
/// ```text
/// haft-place.json   whose it is
/// ready.json        what it began with, once it is whole
/// lock              held by the process that works in it
/// tree/             what the child works in, with a repository of its own
/// git/              the repository by which its changes are told, which no child gets at
/// proof/            where a patch is tried
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout(PathBuf);

/// Holds a place for this process.
#[derive(Debug)]
pub(super) struct Hold {
    _file: File,
}

#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    version: u32,
    run: RunId,
}

/// Says what a place began with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ready {
    /// The tree that holds it.
    pub(super) base: String,
    /// Where in it the child works, from the top on; empty at the top.
    pub(super) prefix: String,
    /// What its parent has and it has not.
    pub(super) missing: Vec<String>,
    /// Whether what its run had changed before was put in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) taken_up: bool,
}

impl Layout {
    /// The place of a run, whether or not it is there.
    pub(super) fn of(places: &Path, run: &RunId) -> Self {
        let mut name = Digest::of(&json!(run)).to_string();
        name.truncate(DIGITS);
        Self(places.join(name))
    }

    /// All directories that could be places.
    pub(super) fn all(places: &Path) -> Result<Vec<Self>, WorkplaceError> {
        let entries = match fs::read_dir(places) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed("list", places, error)),
        };
        let is_named_so =
            |name: &str| name.len() == DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mut found: Vec<PathBuf> = entries
            .flatten()
            // A link is none, whatever it leads to.
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter(|entry| entry.file_name().to_str().is_some_and(is_named_so))
            .map(|entry| entry.path())
            .collect();
        found.sort_unstable();
        Ok(found.into_iter().map(Self).collect())
    }

    pub(super) fn tree(&self) -> PathBuf {
        self.0.join("tree")
    }

    pub(super) fn git(&self) -> PathBuf {
        self.0.join("git")
    }

    pub(super) fn proof(&self) -> PathBuf {
        self.0.join("proof")
    }

    /// Whose it is; nothing where it was not made here.
    pub(super) fn run(&self) -> Option<RunId> {
        let marker: Marker = read(&self.0.join(MARKER))?;
        (marker.version == VERSION).then_some(marker.run)
    }

    /// What it began with; nothing where it is not whole.
    pub(super) fn ready(&self) -> Option<Ready> {
        read(&self.0.join(READY))
    }

    /// Since when it is there.
    pub(super) fn since(&self) -> Option<SystemTime> {
        fs::symlink_metadata(self.0.join(MARKER)).and_then(|found| found.modified()).ok()
    }

    /// Takes the place for this process: makes it where there is none. What is there must be this run's.
    pub(super) fn take(&self, run: &RunId) -> Result<Hold, WorkplaceError> {
        make_directory(&self.0)?;
        if fs::symlink_metadata(&self.0).is_ok_and(|found| found.is_symlink()) {
            return Err(WorkplaceError::Foreign { path: self.0.clone() });
        }
        match self.run() {
            Some(owner) if owner == *run => self.hold(run),
            // One that broke off before it was marked holds nothing but a lock.
            None if self.is_bare()? => {
                let hold = self.hold(run)?;
                self.write(MARKER, &Marker { version: VERSION, run: run.clone() })?;
                Ok(hold)
            }
            _ => Err(WorkplaceError::Foreign { path: self.0.clone() }),
        }
    }

    /// Holds a place that is there, unless somebody else does.
    pub(super) fn hold(&self, run: &RunId) -> Result<Hold, WorkplaceError> {
        let path = self.0.join(LOCK);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&path).map_err(|source| failed("lock", &path, source))?;
        let until = Instant::now() + PASSING;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Hold { _file: file }),
                Err(TryLockError::WouldBlock) if Instant::now() < until => sleep(PASSING / 50),
                Err(TryLockError::WouldBlock) => return Err(WorkplaceError::Busy { run: run.clone() }),
                Err(TryLockError::Error(source)) => return Err(failed("lock", &path, source)),
            }
        }
    }

    /// Notes that it is whole.
    pub(super) fn finish(&self, ready: &Ready) -> Result<(), WorkplaceError> {
        self.write(READY, ready)
    }

    /// Removes the lock that a git that was killed left; whoever holds the place is the only one to run it.
    pub(super) fn unlock(&self) -> Result<(), WorkplaceError> {
        let path = self.git().join("index.lock");
        gone(&path, fs::remove_file(&path))
    }

    /// Empties a place that is held, so that it can be made anew.
    pub(super) fn clear(&self, _hold: &Hold) -> Result<(), WorkplaceError> {
        // Not whole from here on, however far this comes.
        gone(&self.0.join(READY), fs::remove_file(self.0.join(READY)))?;
        for directory in [self.proof(), self.tree(), self.git()] {
            remove_tree(&directory)?;
        }
        Ok(())
    }

    /// Removes a place that is held. What marks it goes last, so that one that is half removed is known for what it is.
    pub(super) fn remove(&self, hold: Hold) -> Result<(), WorkplaceError> {
        self.clear(&hold)?;
        for name in [LOCK, MARKER] {
            let path = self.0.join(name);
            gone(&path, fs::remove_file(&path))?;
        }
        drop(hold);
        gone(&self.0, fs::remove_dir(&self.0))
    }

    /// Tells whether there is nothing in it that somebody could miss.
    fn is_bare(&self) -> Result<bool, WorkplaceError> {
        let mut entries = fs::read_dir(&self.0).map_err(|source| failed("list", &self.0, source))?;
        Ok(entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == LOCK)))
    }

    fn write(&self, name: &str, value: &impl Serialize) -> Result<(), WorkplaceError> {
        let path = self.0.join(name);
        let refused = |source| failed("write", &path, source);
        let bytes = serde_json::to_vec(value).map_err(|error| refused(error.into()))?;
        let new = self.0.join(format!("{name}.new"));
        fs::write(&new, bytes).and_then(|()| fs::rename(&new, &path)).map_err(refused)
    }
}

/// Makes a directory that only its owner gets into, and those above it.
pub(super) fn make_directory(path: &Path) -> Result<(), WorkplaceError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|source| failed("make", path, source))
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Removes a directory with all that is in it; what a child locked itself out of is opened first.
pub(super) fn remove_tree(path: &Path) -> Result<(), WorkplaceError> {
    gone(path, haft_process::remove_tree(path))
}

/// What is not there need not be removed.
fn gone(path: &Path, removed: io::Result<()>) -> Result<(), WorkplaceError> {
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("remove", path, error)),
        _ => Ok(()),
    }
}
