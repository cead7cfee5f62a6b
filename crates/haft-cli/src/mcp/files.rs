use crate::config::{ConfigFile, Layer};
use crate::exit::{UsageError, say_note};
use crate::paint::ASKS;
use crate::small_file::text_of;
use crate::user_directories::{POLICY_FILE, UserDirectories};
use anyhow::{Context as _, Result, bail};
use haft::Workdir;
use haft::core::Digest;
use haft::mcp::{FilePins, ServerConfig, ServersFile};
use haft::tools_core::{PrivateFileError, PrivateFiles};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The file of a workspace's servers.
pub(super) const WORKSPACE_FILE: &str = ".mcp.json";

/// Holds the servers that are configured here.
pub(crate) struct McpFiles {
    pub(super) servers: Vec<Known>,
    /// What is wrong or odd in the files, for people.
    pub(super) notes: Vec<String>,
    /// Which servers another takes the place of, for people.
    pub(super) replaced: Vec<String>,
    /// The names of servers that something is wrong with.
    pub(super) refused: Vec<String>,
    pub(super) disabled: Vec<String>,
    /// The names of servers of files that are trusted which are disabled or something is wrong with.
    held: Vec<String>,
    /// The servers of files that are not trusted: whether they can be used is not known before.
    pub(super) untrusted: Vec<Untrusted>,
}

/// Is a server of a file that is not trusted.
pub(super) struct Untrusted {
    pub(super) name: String,
    pub(super) file: FileKind,
}

/// Is a server with where it comes from.
pub(super) struct Known {
    pub(super) config: ServerConfig,
    pub(super) place: Place,
    pub(super) file: FileKind,
}

/// Says whose word it is that there is a server.
pub(super) type Place = Layer;

/// Says which file a server is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// `haft.toml`.
    Haft,
    /// The workspace's `.mcp.json`, which other clients read, too.
    McpJson,
}

impl FileKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Haft => POLICY_FILE,
            Self::McpJson => WORKSPACE_FILE,
        }
    }

    /// The command by which a workspace's file is trusted.
    pub(super) fn trusted_by(self) -> &'static str {
        match self {
            Self::Haft => "haft policy trust",
            Self::McpJson => "haft mcp trust",
        }
    }
}

impl McpFiles {
    /// Gathers the servers of the files in force and of the workspace's `.mcp.json`; a server of the user's takes
    /// the place of the workspace's, and one of its `haft.toml` that of its `.mcp.json`.
    pub(crate) fn of(files: &[&ConfigFile], workdir: &Workdir, mcp_json: Option<&McpJson>) -> Result<Self> {
        let mut read = Self {
            servers: Vec::new(),
            notes: Vec::new(),
            replaced: Vec::new(),
            refused: Vec::new(),
            disabled: Vec::new(),
            held: Vec::new(),
            untrusted: Vec::new(),
        };
        for file in files {
            let place = file.layer;
            match ServersFile::from_toml(&file.text, &file.path, variables_of(place)) {
                Ok(servers) => read.take(within(servers, place, workdir), place, FileKind::Haft),
                Err(error) if place == Place::User => bail!(UsageError(error.to_string())),
                // A workspace must not keep the user from their own servers.
                Err(error) => read.notes.push(error.to_string()),
            }
        }
        if let Some(workspace) = mcp_json {
            let place = if workspace.is_trusted()? { Place::Workspace } else { Place::Untrusted };
            match ServersFile::from_json(&workspace.text, WORKSPACE_FILE, variables_of(place)) {
                Ok(servers) => read.take(within(servers, place, workdir), place, FileKind::McpJson),
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
        for note in self.notes.iter().chain(&self.replaced) {
            say_note(note);
        }
        for file in [FileKind::Haft, FileKind::McpJson] {
            if self.untrusted.iter().any(|server| server.file == file) {
                errln!(
                    "{ASKS}note{ASKS:#}: the servers of `{}` are not started before you trust it; look at it, then run `{}`",
                    file.name(),
                    file.trusted_by()
                );
            }
        }
    }

    fn take(&mut self, file: ServersFile, place: Place, kind: FileKind) {
        // A name of the user's stays theirs although the server cannot be used now: rules may speak of it. What is not trusted
        // takes no name from what is.
        let taken = self.held.clone();
        if place == Place::Untrusted {
            let names = file.servers.iter().map(|server| server.name.to_string());
            let names = names.chain(file.refused.into_iter().map(|refused| refused.name));
            let is_taken = |name: &String| {
                taken.contains(name) || self.servers.iter().any(|known| known.config.name.as_str() == name)
            };
            let untrusted = names.filter(|name| !is_taken(name));
            self.untrusted.extend(untrusted.map(|name| Untrusted { name, file: kind }));
        } else {
            // Where no variable is replaced, what is wrong would be told of variables that are not looked at.
            let problems = file.refused.iter().flat_map(|refused| &refused.problems);
            self.notes.extend(problems.chain(&file.warnings).map(ToString::to_string));
            let refused: Vec<String> = file.refused.into_iter().map(|refused| refused.name).collect();
            self.held.extend(file.disabled.iter().map(ToString::to_string).chain(refused.iter().cloned()));
            self.refused.extend(refused);
        }
        self.disabled.extend(file.disabled.iter().map(ToString::to_string));
        for config in file.servers {
            let known = Known { config, place, file: kind };
            let other = self.servers.iter_mut().find(|other| other.config.name == known.config.name);
            match other {
                Some(other) if other.place == Place::Untrusted && place != Place::Untrusted => *other = known,
                None if !taken.iter().any(|name| name == known.config.name.as_str()) => {
                    self.servers.push(known);
                }
                _ => {
                    let (name, file) = (&known.config.name, kind.name());
                    self.replaced
                        .push(format!("`{name}` of `{file}` is not used: there is a server of that name"));
                }
            }
        }
    }
}

/// What variables in a file stand for: what is not trusted learns nothing of those there are.
fn variables_of(place: Place) -> &'static dyn Fn(&str) -> Option<String> {
    match place {
        Place::Untrusted => &|_| Some(String::new()),
        Place::User | Place::Workspace => &|name| std::env::var(name).ok(),
    }
}

/// Has the programs of a workspace's file start in the workspace, so that they are the same wherever haft is started.
fn within(mut servers: ServersFile, place: Place, workdir: &Workdir) -> ServersFile {
    if place != Place::User {
        let within = |server: ServerConfig| server.in_directory(workdir.root_path());
        servers.servers = servers.servers.into_iter().map(within).collect();
    }
    servers
}

/// The user's `haft.toml`, which need not be there.
pub(super) fn user_file() -> Result<PathBuf> {
    UserDirectories::from_environment().policy_file().with_context(|| {
        UsageError("there is no directory for your configuration; set HOME or XDG_CONFIG_HOME".to_owned())
    })
}

/// Writes the user's `haft.toml` anew.
pub(super) fn write_user_file(path: &Path, text: &str) -> Result<()> {
    // Where it is a link, what that leads to is written.
    let written = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (directory, file) =
        written.parent().zip(written.file_name().and_then(OsStr::to_str)).with_context(|| {
            let shown = path.display();
            UsageError(format!("`{shown}` is a link to a name that is not UTF-8; make it a file of your own"))
        })?;
    PrivateFiles::new(directory).write(file, text).map_err(unwritable)
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
pub(crate) struct McpJson {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

impl McpJson {
    /// Reads the file, if there is one.
    pub(crate) fn of(workdir: &Workdir) -> Result<Option<Self>> {
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
