use super::{PinError, PinStore, ServerIdentity, ServerPins};
use haft_tools_core::{PrivateFileError, PrivateFiles};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The most bytes of the file of a server.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// How long is waited for another process that changes the same file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Keeps what was accepted in a directory, one file for each server, which only its owner can read.
///
/// Files take each other's place at once, and changes of several processes follow each other. A file that others could have
/// read or written, that has more than 32 MiB or that cannot be read otherwise is an error, so that nothing of its server is
/// accepted. Of a server whose file was removed nothing is accepted either: that it was met is kept beside the file.
#[derive(Debug, Clone)]
pub struct FilePins(PrivateFiles);

impl FilePins {
    /// Keeps it in a directory, which is made when it is needed.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self(PrivateFiles::new(directory).most_bytes(MOST_BYTES))
    }

    /// Lists the servers that something is kept of.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read.
    pub fn servers(&self) -> Result<Vec<ServerIdentity>, PinError> {
        let names = self.0.names().map_err(|error| {
            PinError::new("cannot read of which servers something was accepted").with_source(error)
        })?;
        Ok(names.iter().filter_map(|name| name.strip_suffix(".json")?.parse().ok()).collect())
    }

    fn load(&self, server: &ServerIdentity) -> Result<Option<ServerPins>, PinError> {
        let name = format!("{server}.json");
        let Some(text) = self.0.read(&name).map_err(unreadable)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            let path = self.0.path(&name);
            unreadable(PrivateFileError::Io { action: "read", path, source: error.into() })
        })
    }

    fn keep(&self, server: &ServerIdentity, pins: &ServerPins) -> Result<(), PinError> {
        // Without line breaks and indentation, so that no definition grows by how deep it is.
        let mut text = serde_json::to_string(pins).map_err(unkept)?;
        text.push('\n');
        self.0.write(&format!("{server}.json"), &text).map_err(unkept)?;
        if !self.was_met(server) {
            self.0.write(&met(server), "").map_err(unkept)?;
        }
        Ok(())
    }

    /// Tells whether something was kept of a server before, even if it is gone now.
    fn was_met(&self, server: &ServerIdentity) -> bool {
        let found = fs::symlink_metadata(self.0.path(&met(server)));
        !found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Changes what is kept after it was read, or whatever is there.
    fn change_with(
        &self,
        server: &ServerIdentity,
        read: impl FnOnce() -> Result<Option<ServerPins>, PinError>,
        change: &mut dyn FnMut(&mut ServerPins),
    ) -> Result<(), PinError> {
        let _lock = self.0.lock(&format!("{server}.lock"), PATIENCE).map_err(unkept)?;
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

    fn reject_all(&self, server: &ServerIdentity) -> Result<(), PinError> {
        // What cannot be read is not needed for this.
        self.change_with(server, || Ok(self.load(server).ok().flatten()), &mut ServerPins::reject_all)
    }
}

/// The file that stays where what was accepted of a server is removed.
fn met(server: &ServerIdentity) -> String {
    format!("{server}.met")
}

fn unreadable(error: PrivateFileError) -> PinError {
    let message = "cannot read what was accepted of the server, so nothing of it is accepted; mend the file, or have \
                   `haft mcp reject SERVER --all` put one in its place that accepts nothing";
    PinError::new(message).with_source(error)
}

fn unkept(error: impl std::error::Error + Send + Sync + 'static) -> PinError {
    PinError::new("cannot keep what was accepted of the server").with_source(error)
}
