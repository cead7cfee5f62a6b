use crate::policy_setup::PolicySetup;
use crate::small_file::text_of;
use crate::user_directories::{POLICY_FILE, UserDirectories};
use anyhow::Result;
use haft::policy::Trust;
use haft::{ToolRegistry, Workdir};
use std::path::{Path, PathBuf};

/// Says whose word a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    /// The user's own configuration.
    User,
    /// The workspace's file, which the user trusts as it is.
    Workspace,
    /// The workspace's file, which may say anything.
    Untrusted,
}

/// Is a file of configuration as it was read.
#[derive(Debug, Clone)]
pub(crate) struct ConfigFile {
    pub(crate) layer: Layer,
    /// The path, for errors.
    pub(crate) path: String,
    /// A short name, for lists.
    pub(crate) name: String,
    /// Where relative paths begin.
    pub(crate) folder: PathBuf,
    pub(crate) text: String,
}

/// Holds the files `haft.toml` that are in force in a directory: the user's, then the workspace's.
#[derive(Debug, Default)]
pub(crate) struct ConfigFiles {
    files: Vec<ConfigFile>,
}

impl ConfigFiles {
    /// Reads the files, which need not be there.
    ///
    /// The workspace's is read together with what it includes and what of that is trusted, so that what is trusted is what
    /// counts.
    pub(crate) fn read(workdir: &Workdir) -> Result<Self> {
        let mut files = Vec::new();
        files.extend(Self::of_user()?);
        let tools = ToolRegistry::new();
        let setup = PolicySetup::new(workdir, Some(named(workdir)), &tools);
        // What is wrong with it as a policy is told where the policy is read.
        if let Some(workspace) = setup.look_at_workspace()?
            && let Some(text) = workspace.text()
        {
            let layer = match workspace.trust {
                Trust::Trusted => Layer::Workspace,
                Trust::Untrusted => Layer::Untrusted,
            };
            let folder = workdir.root_path().to_owned();
            let (path, name) = (workspace.name.display().to_string(), POLICY_FILE.to_owned());
            files.push(ConfigFile { layer, path, name, folder, text });
        }
        Ok(Self { files })
    }

    /// Reads the user's file alone.
    pub(crate) fn of_user() -> Result<Option<ConfigFile>> {
        let directories = UserDirectories::from_environment();
        let Some((folder, written)) = directories.config() else { return Ok(None) };
        let path = folder.join(POLICY_FILE);
        let text = text_of(&path)?;
        Ok(text.map(|text| ConfigFile {
            layer: Layer::User,
            path: path.display().to_string(),
            name: Path::new(written).join(POLICY_FILE).display().to_string(),
            folder: folder.to_owned(),
            text,
        }))
    }

    /// The files, the user's first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ConfigFile> {
        self.files.iter()
    }
}

/// Names a directory for people, so that its files are found by it: nothing stands for the current one.
pub(super) fn named(workdir: &Workdir) -> &Path {
    let path = workdir.root_path();
    let is_current = std::env::current_dir()
        .and_then(|current| current.canonicalize())
        .is_ok_and(|current| current == path);
    if is_current { Path::new("") } else { path }
}
