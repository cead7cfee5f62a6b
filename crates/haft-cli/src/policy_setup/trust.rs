use super::is_there;
use super::naming::{NamesFor, Naming};
use super::snapshot::{Snapshot, hex};
use super::texts::Texts;
use crate::config::TABLES;
use crate::exit::UsageError;
use crate::user_directories::{POLICY_FILE, UserDirectories};
use anyhow::{Context as _, Result};
use haft::Workdir;
use haft::policy::{PolicyLoader, PolicySource as _, Trust};
use haft::tools_core::{PrivateFileError, PrivateFiles};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
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
    path: PathBuf,
    /// What it says, with all that it includes; `None` where something is wrong with it.
    digest: Option<String>,
    pub(crate) trust: Trust,
    pub(super) snapshot: Snapshot,
}

/// Remembers which policy files of workspaces the user trusts, and for exactly what they said then.
///
/// Each has a file of its own, named after the path of the workspace's, so that two who say it at once do not undo each
/// other's word.
#[derive(Debug)]
pub(crate) struct TrustStore(PrivateFiles);

impl WorkspaceFile {
    /// Reads the file of a workspace as far as to tell whether it is trusted, if there is one and it is not the user's own.
    ///
    /// `given` is the directory as people know it.
    pub(crate) fn look(
        workdir: &Workdir,
        given: &Path,
        user: &UserDirectories,
        texts: &Texts,
    ) -> Result<Option<Self>> {
        let path = workspace_path(workdir);
        if !is_there(&path) {
            return Ok(None);
        }
        let is_users = || Some(path.canonicalize().ok()? == user.policy_file()?.canonicalize().ok()?);
        if is_users() == Some(true) {
            return Ok(None);
        }
        let naming = Naming { names: NamesFor::People, workdir, given, user };
        let (read_as, snapshot) = (naming.workspace(), naming.snapshot(None, texts));
        let digest = {
            let language = user.default_rules(workdir).language();
            let loader = PolicyLoader::new(language).others(TABLES).source(&snapshot);
            // What is wrong with the file is told when it is read as what it is.
            loader.workspace(&read_as, Trust::Trusted).load().ok().map(|_| snapshot.digest())
        };
        let mut file =
            Self { name: given.join(POLICY_FILE), read_as, path, digest, trust: Trust::Untrusted, snapshot };
        if let Ok(store) = TrustStore::of(user)
            && store.trusts(&file)?
        {
            file.trust = Trust::Trusted;
        }
        Ok(Some(file))
    }

    /// The paths of the files that it consists of: itself and all that it includes.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.snapshot.files().map(|(path, _)| path).collect()
    }

    /// What it says itself, as it was read.
    pub(crate) fn text(&self) -> Option<String> {
        (&self.snapshot).read(&self.read_as).ok()
    }

    /// The digest of what it says.
    pub(crate) fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }
}

impl TrustStore {
    /// Keeps it where the user's state is.
    pub(crate) fn of(user: &UserDirectories) -> Result<Self> {
        Ok(Self(PrivateFiles::new(user.state()?.join("trust")).most_bytes(MOST_BYTES)))
    }

    /// Tells whether a file is trusted as it is.
    fn trusts(&self, file: &WorkspaceFile) -> Result<bool> {
        let Some(digest) = &file.digest else { return Ok(false) };
        let entry = entry(&file.path);
        match self.0.read(&entry) {
            Ok(Some(kept)) => {
                Ok(serde_json::from_str::<Value>(&kept).is_ok_and(|kept| kept == told(&file.path, digest)))
            }
            Err(error @ PrivateFileError::Io { .. }) => {
                let path = self.0.path(&entry);
                Err(error).with_context(|| format!("cannot read what is trusted from `{}`", path.display()))
            }
            // What others could have written is not the user's word.
            Ok(None) | Err(_) => Ok(false),
        }
    }

    /// Trusts a file as it is, and no other version of it.
    pub(crate) fn trust(&self, file: &WorkspaceFile) -> Result<()> {
        let digest = file.digest().context("what is wrong with the file has to be corrected first")?;
        let cannot = || {
            let shown = self.0.directory().display();
            UsageError(format!(
                "cannot remember it in `{shown}`; make the directory writable, or set XDG_STATE_HOME"
            ))
        };
        let text = format!("{:#}\n", told(&file.path, digest));
        self.0.write(&entry(&file.path), &text).with_context(cannot)
    }

    /// Trusts the file of a workspace no more; gives whether it, or what it was before, had been trusted.
    pub(crate) fn untrust(&self, workspace: &Path) -> Result<bool> {
        Ok(self.0.remove(&entry(workspace))?)
    }
}

/// The path of a workspace's file, which need not be there.
pub(crate) fn workspace_path(workdir: &Workdir) -> PathBuf {
    workdir.root_path().join(POLICY_FILE)
}

/// The name under which it is kept that a file is trusted.
fn entry(workspace: &Path) -> String {
    format!("{}.json", hex(&Sha256::digest(workspace.as_os_str().as_encoded_bytes())))
}

/// Writes what is kept of a file that is trusted.
fn told(path: &Path, digest: &str) -> Value {
    json!({ "version": 1, "path": path.to_string_lossy(), "sha256": digest })
}
