use super::{PinError, PinStore, ServerIdentity, ServerPins};
use haft_core::Digest;
use haft_tools_core::{PrivateFileError, PrivateFiles};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// The most bytes of the file of a server.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// How long is waited for another process that changes the same file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Keeps what was accepted in a directory, one file for each server, which only its owner can read.
///
/// Files take each other's place at once, and changes of several processes follow each other. A file that others could have
/// read or written, that has more than 32 MiB or that cannot be read otherwise is an error, so that nothing of its server is
/// accepted. Of a server whose file was removed nothing is accepted either: that it was met is kept beside the file.
///
/// ```
/// use haft_mcp::{FilePins, PinStore as _, ServerConfig, ServerIdentity, ServerProgram, Transport};
///
/// let time = ServerConfig::new("time".parse()?, Transport::Stdio(ServerProgram::new("uvx", ["mcp-server-time"])));
/// let identity = ServerIdentity::of(&time);
/// # let place = tempfile::tempdir()?;
/// let pins = FilePins::new(place.path().join("pins"));
/// assert!(pins.read(&identity)?.is_none() && pins.servers()?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FilePins {
    files: PrivateFiles,
    /// What was read last of each server that was asked about.
    known: Arc<Mutex<HashMap<ServerIdentity, Known>>>,
}

/// Is what a file said was accepted, which it says as long as it is the same file.
#[derive(Debug)]
struct Known {
    stamp: Stamp,
    accepted: BTreeMap<String, Digest>,
}

/// Tells a file from the one that takes its place, without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    created: Option<SystemTime>,
}

impl FilePins {
    /// Keeps it in a directory, which is made when it is needed.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        let files = PrivateFiles::new(directory).most_bytes(MOST_BYTES);
        Self { files, known: Arc::default() }
    }

    /// Lists the servers that something is kept of.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read.
    pub fn servers(&self) -> Result<Vec<ServerIdentity>, PinError> {
        let names = self.files.names().map_err(|error| {
            PinError::new("cannot read of which servers something was accepted").with_source(error)
        })?;
        Ok(names.iter().filter_map(|name| name.strip_suffix(".json")?.parse().ok()).collect())
    }

    fn load(&self, server: &ServerIdentity) -> Result<Option<ServerPins>, PinError> {
        let name = file(server);
        let Some(text) = self.files.read(&name).map_err(unreadable)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            let path = self.files.path(&name);
            unreadable(PrivateFileError::Io { action: "read", path, source: error.into() })
        })
    }

    fn keep(&self, server: &ServerIdentity, pins: &ServerPins) -> Result<(), PinError> {
        // Without line breaks and indentation, so that no definition grows by how deep it is.
        let mut text = serde_json::to_string(pins).map_err(unkept)?;
        text.push('\n');
        // First, so that there is no time in which the file could be removed and its server be a new one.
        if !self.was_met(server) {
            self.files.write(&met(server), "").map_err(unkept)?;
        }
        self.files.write(&file(server), &text).map_err(unkept)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<ServerIdentity, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether something was kept of a server before, even if it is gone now.
    fn was_met(&self, server: &ServerIdentity) -> bool {
        let found = fs::symlink_metadata(self.files.path(&met(server)));
        !found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Changes what is kept after it was read, or whatever is there.
    fn change_with(
        &self,
        server: &ServerIdentity,
        read: impl FnOnce() -> Result<Option<ServerPins>, PinError>,
        change: &mut dyn FnMut(&mut ServerPins),
    ) -> Result<(), PinError> {
        let _lock = self.files.lock(&format!("{server}.lock"), PATIENCE).map_err(unkept)?;
        let before = read()?;
        let mut pins = match &before {
            Some(pins) => pins.clone(),
            None if self.was_met(server) => ServerPins::with_nothing_accepted(),
            None => ServerPins::default(),
        };
        change(&mut pins);
        if before.as_ref() == Some(&pins) { Ok(()) } else { self.keep(server, &pins) }
    }
}

impl PinStore for FilePins {
    fn read(&self, server: &ServerIdentity) -> Result<Option<ServerPins>, PinError> {
        self.load(server)
    }

    fn change(
        &self,
        server: &ServerIdentity,
        change: &mut dyn FnMut(&mut ServerPins),
    ) -> Result<(), PinError> {
        self.change_with(server, || self.load(server), change)
    }

    fn accepts(&self, server: &ServerIdentity, tool: &str, digest: Digest) -> Result<bool, PinError> {
        let accepts = |accepted: &BTreeMap<String, Digest>| accepted.get(tool) == Some(&digest);
        // Taken before the file is read, so that what takes its place meanwhile is read the next time.
        let stamp = Stamp::of(&self.files.path(&file(server)));
        if let Some(known) = self.known().get(server).filter(|known| Some(known.stamp) == stamp) {
            return Ok(accepts(&known.accepted));
        }
        let pins = self.load(server)?.unwrap_or_default();
        let accepted =
            pins.accepted().iter().map(|(tool, accepted)| (tool.clone(), accepted.digest)).collect();
        let is_accepted = accepts(&accepted);
        if let Some(stamp) = stamp {
            self.known().insert(*server, Known { stamp, accepted });
        }
        Ok(is_accepted)
    }

    fn reject_all(&self, server: &ServerIdentity) -> Result<(), PinError> {
        // What cannot be read is not needed for this.
        self.change_with(server, || Ok(self.load(server).ok().flatten()), &mut ServerPins::reject_all)
    }
}

impl Stamp {
    /// Gives that of a file; `None` if there is none that can be told from another.
    fn of(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok()?;
        let (modified, created) = (found.modified().ok(), found.created().ok());
        modified.or(created).map(|_| Self { bytes: found.len(), modified, created })
    }
}

fn file(server: &ServerIdentity) -> String {
    format!("{server}.json")
}

/// The file that stays where what was accepted of a server is removed.
fn met(server: &ServerIdentity) -> String {
    format!("{server}.met")
}

fn unreadable(error: PrivateFileError) -> PinError {
    let message = "cannot read what was accepted of the server, so nothing of it is accepted; correct the file, or have \
                   `haft mcp reject SERVER --all` put one in its place that accepts nothing";
    PinError::new(message).with_source(error)
}

fn unkept(error: impl std::error::Error + Send + Sync + 'static) -> PinError {
    PinError::new("cannot keep what was accepted of the server").with_source(error)
}
