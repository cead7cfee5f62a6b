use crate::exit::UsageError;
use crate::paint::ASKS;
use crate::small_file::text_of;
use crate::timeline::visible;
use crate::user_directories::UserDirectories;
use anyhow::{Context as _, Result};
use haft::mcp::{FilePins, ServerConfig, ServersFile};
use haft::{Digest, PrivateFileError, PrivateFiles, Workdir};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The file of a workspace's servers.
pub(super) const WORKSPACE_FILE: &str = ".mcp.json";

/// The file of the user's servers, in haft's configuration directory.
pub(super) const USER_FILE: &str = "mcp.toml";

/// Holds the servers that are configured here.
pub(super) struct McpFiles {
    pub(super) servers: Vec<Known>,
    /// What is wrong or odd in the files, for people.
    pub(super) notes: Vec<String>,
    /// The names of servers that something is wrong with.
    pub(super) refused: Vec<String>,
    pub(super) disabled: Vec<String>,
    /// The names of servers that the workspace's file has, which is not trusted: whether they can be used is not known before.
    pub(super) untrusted: Vec<String>,
}

/// Is a server with where it comes from.
pub(super) struct Known {
    pub(super) config: ServerConfig,
    pub(super) place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The user's own configuration.
    User,
    /// The workspace's file, which the user trusts as it is.
    Workspace,
    /// The workspace's file, which may say anything.
    Untrusted,
}

impl McpFiles {
    /// Reads the files of the user and of the workspace; a server of the user's takes the place of the workspace's.
    pub(super) fn read(workdir: &Workdir) -> Result<Self> {
        let mut read = Self {
            servers: Vec::new(),
            notes: Vec::new(),
            refused: Vec::new(),
            disabled: Vec::new(),
            untrusted: Vec::new(),
        };
        let variable = |name: &str| std::env::var(name).ok();
        let user = user_file()?;
        if let Some(text) = text_of(&user)? {
            let name = user.display().to_string();
            let file = ServersFile::from_toml(&text, &name, &variable);
            read.take(file.map_err(|error| UsageError(error.to_string()))?, Place::User);
        }
        let workspace = WorkspaceFile::of(workdir)?;
        if let Some(workspace) = workspace {
            let place = if workspace.is_trusted()? { Place::Workspace } else { Place::Untrusted };
            // What is not trusted learns nothing of the variables there are.
            let nothing = |_: &str| Some(String::new());
            let variable: &dyn Fn(&str) -> Option<String> =
                if place == Place::Untrusted { &nothing } else { &variable };
            match ServersFile::from_json(&workspace.text, WORKSPACE_FILE, variable) {
                Ok(mut file) => {
                    // A program starts in its workspace, so that it is the same one wherever haft is started.
                    let within = |server: ServerConfig| server.within(workdir.root_path());
                    file.servers = file.servers.into_iter().map(within).collect();
                    read.take(file, place);
                }
                // A workspace must not keep the user from their own servers.
                Err(error) => read.notes.push(error.to_string()),
            }
        }
        Ok(read)
    }

    /// The servers that may be started.
    pub(super) fn startable(&self) -> impl Iterator<Item = &Known> {
        self.servers.iter().filter(|known| known.place != Place::Untrusted)
    }

    /// Prints what is wrong or odd in the files.
    pub(super) fn print_notes(&self) {
        for note in &self.notes {
            anstream::eprintln!("{ASKS}note{ASKS:#}: {}", visible(note));
        }
        if !self.untrusted.is_empty() {
            anstream::eprintln!(
                "{ASKS}note{ASKS:#}: the servers of `{WORKSPACE_FILE}` are not started before you trust it; look at it, \
                 then run `haft mcp trust`"
            );
        }
    }

    fn take(&mut self, file: ServersFile, place: Place) {
        // A name of the user's stays theirs although the server cannot be used now: rules may speak of it.
        let taken: Vec<String> = self.disabled.iter().chain(&self.refused).cloned().collect();
        if place == Place::Untrusted {
            let names = file.servers.iter().map(|server| server.name.to_string());
            let names = names.chain(file.refused.into_iter().map(|refused| refused.name));
            let is_taken = |name: &String| {
                taken.contains(name) || self.servers.iter().any(|known| known.config.name.as_str() == name)
            };
            self.untrusted.extend(names.filter(|name| !is_taken(name)));
        } else {
            // Where no variable is replaced, what is wrong would be told of variables that are not looked at.
            let problems = file.refused.iter().flat_map(|refused| &refused.problems);
            self.notes.extend(problems.chain(&file.warnings).map(ToString::to_string));
            self.refused.extend(file.refused.into_iter().map(|refused| refused.name));
        }
        self.disabled.extend(file.disabled.iter().map(ToString::to_string));
        for config in file.servers {
            let is_taken = taken.iter().any(|name| name == config.name.as_str());
            if is_taken || self.servers.iter().any(|known| known.config.name == config.name) {
                let name = &config.name;
                self.notes.push(format!(
                    "`{name}` of `{WORKSPACE_FILE}` is not used: you have a server of that name"
                ));
            } else {
                self.servers.push(Known { config, place });
            }
        }
    }
}

/// The file of the user's servers, which need not be there.
pub(super) fn user_file() -> Result<PathBuf> {
    let directories = UserDirectories::from_environment();
    let (directory, _) = directories.config().with_context(|| {
        UsageError("there is no directory for your configuration; set HOME or XDG_CONFIG_HOME".to_owned())
    })?;
    Ok(directory.join(USER_FILE))
}

/// Where it is kept which tools were accepted.
pub(super) fn pins() -> Result<FilePins> {
    Ok(FilePins::new(UserDirectories::from_environment().state()?.join("mcp-pins")))
}

/// Says what to do where a file cannot be written.
pub(super) fn unwritable(error: PrivateFileError) -> anyhow::Error {
    match error {
        PrivateFileError::Io { path, source, .. } => {
            let message = format!("cannot write `{}`; make its directory writable", path.display());
            anyhow::Error::new(source).context(UsageError(message))
        }
        error => error.into(),
    }
}

/// Is the file of a workspace's servers, as it is now.
pub(super) struct WorkspaceFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

impl WorkspaceFile {
    pub(super) fn of(workdir: &Workdir) -> Result<Option<Self>> {
        let path = workdir.root_path().join(WORKSPACE_FILE);
        Ok(text_of(&path)?.map(|text| Self { path, text }))
    }

    /// Tells whether the user trusts the file as it is.
    pub(super) fn is_trusted(&self) -> Result<bool> {
        match trusted()?.read(&entry(&self.path)) {
            Ok(Some(kept)) => Ok(serde_json::from_str::<Value>(&kept).is_ok_and(|kept| kept == self.told())),
            Err(error @ PrivateFileError::Io { .. }) => Err(error.into()),
            // What others could have written is not the user's word.
            Ok(None) | Err(_) => Ok(false),
        }
    }

    /// Trusts the file as it is, and no other version of it.
    pub(super) fn trust(&self) -> Result<()> {
        let text = format!("{:#}\n", self.told());
        trusted()?.write(&entry(&self.path), &text).map_err(unwritable)
    }

    fn told(&self) -> Value {
        json!({ "version": 1, "path": self.path.to_string_lossy(), "digest": Digest::of(&json!(self.text)) })
    }
}

/// Trusts the file of a workspace no more; tells whether it, or what it was before, had been trusted.
pub(super) fn untrust(workdir: &Workdir) -> Result<bool> {
    Ok(trusted()?.remove(&entry(&workdir.root_path().join(WORKSPACE_FILE)))?)
}

/// Where it is kept which files of workspaces are trusted.
fn trusted() -> Result<PrivateFiles> {
    Ok(PrivateFiles::new(UserDirectories::from_environment().state()?.join("mcp-trust")))
}

/// The name under which it is kept that a file is trusted.
fn entry(path: &Path) -> String {
    format!("{}.json", Digest::of(&json!(path.as_os_str().as_encoded_bytes())))
}
