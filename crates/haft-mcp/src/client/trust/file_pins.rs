use super::{PinError, PinStore, ServerIdentity, ServerPins};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// The most bytes of the file of a server.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// How long is waited for another process that changes the same file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Keeps what was accepted in a directory, one file for each server, which only its owner can read.
///
/// Files take each other's place at once, and changes of several processes follow each other. A file that others could have
/// written counts as unreadable, so that nothing of its server is accepted.
#[derive(Debug, Clone)]
pub struct FilePins {
    directory: PathBuf,
}

impl FilePins {
    /// Keeps it in a directory, which is made when it is needed.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Lists the servers that something is kept of.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read.
    pub fn servers(&self) -> Result<Vec<ServerIdentity>, PinError> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(cannot("read what was accepted from", &self.directory, error)),
        };
        let identity = |entry: io::Result<fs::DirEntry>| {
            let name = entry.ok()?.file_name();
            name.to_str()?.strip_suffix(".json")?.parse().ok()
        };
        let mut servers: Vec<ServerIdentity> = entries.filter_map(identity).collect();
        servers.sort_unstable();
        Ok(servers)
    }

    fn path(&self, server: &ServerIdentity, ending: &str) -> PathBuf {
        self.directory.join(format!("{server}.{ending}"))
    }

    fn load(&self, server: &ServerIdentity) -> Result<Option<ServerPins>, PinError> {
        let path = self.path(server, "json");
        let unreadable = |error| cannot("read what was accepted from", &path, error);
        let mut options = OpenOptions::new();
        options.read(true);
        let file = match options.open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() || metadata.len() > MOST_BYTES || is_writable_by_others(&metadata) {
            let message = format!("`{}` is no file that only its owner can write; remove it", path.display());
            return Err(PinError::new(message));
        }
        let mut text = String::new();
        file.take(MOST_BYTES).read_to_string(&mut text).map_err(unreadable)?;
        serde_json::from_str(&text).map(Some).map_err(|error| unreadable(error.into()))
    }

    fn keep(&self, server: &ServerIdentity, pins: &ServerPins) -> Result<(), PinError> {
        let path = self.path(server, "json");
        let unwritable = |error| cannot("keep what was accepted in", &path, error);
        // A temporary file is readable by its owner alone, and takes the place of the other at once.
        let mut file = tempfile::NamedTempFile::new_in(&self.directory).map_err(unwritable)?;
        serde_json::to_writer_pretty(&mut file, pins).map_err(|error| unwritable(error.into()))?;
        file.write_all(b"\n").and_then(|()| file.as_file().sync_all()).map_err(unwritable)?;
        file.persist(&path).map_err(|error| unwritable(error.error))?;
        Ok(())
    }

    /// Waits until no other process changes the file of a server; it may, again, when the file that is given is dropped.
    fn lock(&self, server: &ServerIdentity) -> Result<File, PinError> {
        let path = self.path(server, "lock");
        let unlocked = |error| cannot("lock what was accepted with", &path, error);
        let mut directory = fs::DirBuilder::new();
        directory.recursive(true);
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        {
            directory.mode(0o700);
            options.mode(0o600);
        }
        directory.create(&self.directory).map_err(unlocked)?;
        let file = options.open(&path).map_err(unlocked)?;
        let until = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    thread::sleep(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => return Err(unlocked(io::ErrorKind::TimedOut.into())),
                Err(TryLockError::Error(error)) => return Err(unlocked(error)),
            }
        }
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
        let _lock = self.lock(server)?;
        let before = self.load(server)?.unwrap_or_default();
        let mut pins = before.clone();
        change(&mut pins);
        if pins == before { Ok(()) } else { self.keep(server, &pins) }
    }
}

fn cannot(what: &str, path: &Path, error: io::Error) -> PinError {
    PinError::new(format!("cannot {what} `{}`", path.display())).with_source(error)
}

#[cfg(unix)]
fn is_writable_by_others(metadata: &fs::Metadata) -> bool {
    metadata.permissions().mode() & 0o022 != 0
}

#[cfg(not(unix))]
fn is_writable_by_others(_metadata: &fs::Metadata) -> bool {
    false
}
