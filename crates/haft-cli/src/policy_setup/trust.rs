use super::snapshot::{Snapshot, hex};
use crate::exit::UsageError;
use anyhow::{Context as _, Result};
use haft::policy::Trust;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The most bytes of a file that says what is trusted.
const MOST_BYTES: u64 = 64 * 1024;

/// Holds what is known of the policy file of a workspace.
#[derive(Debug)]
pub(crate) struct WorkspaceFile {
    /// The path as people know it.
    pub(crate) name: PathBuf,
    /// The path by which it was read.
    pub(super) read_as: PathBuf,
    /// The path without symbolic links up to the file.
    pub(super) path: PathBuf,
    /// What it says, with all that it includes; `None` where something is wrong with it.
    pub(super) digest: Option<String>,
    pub(crate) trust: Trust,
    pub(super) snapshot: Snapshot,
}

/// Remembers which policy files of workspaces the user trusts, and for exactly what they said then.
///
/// Each has a file of its own, named after the path of the workspace's, so that two who say it at once do not undo each
/// other's word.
#[derive(Debug)]
pub(crate) struct TrustStore {
    directory: PathBuf,
}

impl WorkspaceFile {
    /// The paths of the files that it consists of: itself and all that it includes.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.snapshot.files().map(|(path, _)| path).collect()
    }

    /// The digest of what it says.
    pub(crate) fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }
}

impl TrustStore {
    /// Keeps it below a directory of the user's.
    pub(super) fn new(state: &Path) -> Self {
        Self { directory: state.join("trust") }
    }

    /// Tells whether a file is trusted as it is.
    pub(super) fn trusts(&self, file: &WorkspaceFile) -> Result<bool> {
        let Some(digest) = &file.digest else { return Ok(false) };
        let path = self.entry(&file.path);
        let unreadable = || format!("cannot read what is trusted from `{}`", path.display());
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error).with_context(unreadable),
        };
        // What others could have written is not the user's word.
        if !metadata.is_file() || metadata.permissions().mode() & 0o022 != 0 || metadata.len() > MOST_BYTES {
            return Ok(false);
        }
        let text = fs::read_to_string(&path).with_context(unreadable)?;
        let entry: Value = serde_json::from_str(&text).unwrap_or_default();
        Ok(entry == told(&file.path, digest))
    }

    /// Trusts a file as it is, and no other version of it.
    pub(crate) fn trust(&self, file: &WorkspaceFile) -> Result<()> {
        let digest = file.digest().context("what is wrong with the file has to be mended first")?;
        let cannot = || {
            let shown = self.directory.display();
            UsageError(format!(
                "cannot remember it in `{shown}`; make the directory writable, or set XDG_STATE_HOME"
            ))
        };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.directory).with_context(cannot)?;
        // A temporary file is readable by its owner alone, and takes the place of the other at once.
        let mut entry = tempfile::NamedTempFile::new_in(&self.directory).with_context(cannot)?;
        let text = serde_json::to_string_pretty(&told(&file.path, digest))?;
        entry.write_all(text.as_bytes()).and_then(|()| entry.write_all(b"\n")).with_context(cannot)?;
        entry.as_file().sync_all().with_context(cannot)?;
        entry.persist(self.entry(&file.path)).with_context(cannot)?;
        Ok(())
    }

    /// Trusts the file of a workspace no more; gives whether it, or what it was before, had been trusted.
    pub(crate) fn untrust(&self, workspace: &Path) -> Result<bool> {
        let path = self.entry(workspace);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error).with_context(|| format!("cannot remove `{}`", path.display())),
        }
    }

    fn entry(&self, workspace: &Path) -> PathBuf {
        let digest = hex(&Sha256::digest(workspace.as_os_str().as_encoded_bytes()));
        self.directory.join(format!("{digest}.json"))
    }
}

/// Writes what is kept of a file that is trusted.
fn told(path: &Path, digest: &str) -> Value {
    json!({ "version": 1, "path": path.to_string_lossy(), "sha256": digest })
}
