use super::file::named;
use super::{ConfigFile, Layer, UserConfig};
use crate::mcp::{McpFiles, McpJson};
use crate::openapi::OpenApiDocuments;
use crate::policy_setup::{Texts, WorkspaceFile};
use crate::user_directories::POLICY_FILE;
use anyhow::Result;
use haft::Workdir;
use haft::policy::Trust;

/// Is what is configured in a directory: each file is read once, and what it says is handed down.
///
/// A command has one for each directory that it works in. What changes in the files after that is known to the next command,
/// but for what a server that is called for long, and a chat that begins anew, read anew on purpose.
pub(crate) struct Configuration {
    pub(crate) user: UserConfig,
    /// The workspace's own file, if there is one and it counts.
    pub(crate) workspace: Option<WorkspaceFile>,
    /// What was read so far of files with rules.
    pub(crate) texts: Texts,
    /// The MCP servers; what is wrong with the files of them is told where they are wanted.
    pub(crate) servers: Result<McpFiles>,
    /// The OpenAPI documents, likewise.
    pub(crate) documents: Result<OpenApiDocuments>,
    /// The workspace's file with its settings.
    of_workspace: Option<ConfigFile>,
    /// The workspace's other file of servers, if there is one that can be read.
    mcp_json: Option<McpJson>,
}

impl Configuration {
    /// Reads the files in force in a directory, which need not be there.
    pub(crate) fn read(workdir: &Workdir) -> Result<Self> {
        Self::beside(UserConfig::read()?, workdir)
    }

    /// As [`Configuration::read`], beside what the user's own file says.
    ///
    /// The workspace's is read together with what it includes and what of that is trusted, so that what is trusted is what
    /// counts.
    pub(crate) fn beside(user: UserConfig, workdir: &Workdir) -> Result<Self> {
        let texts = Texts::default();
        if let Some(file) = &user.file {
            texts.keep(&file.folder.join(POLICY_FILE), &file.text);
        }
        let workspace = WorkspaceFile::look(workdir, named(workdir), &user.directories, &texts)?;
        // What is wrong with it as a policy is told where the policy is read.
        let of_workspace = workspace.as_ref().and_then(|file| of_workspace(file, workdir));
        let files: Vec<&ConfigFile> = user.file.iter().chain(&of_workspace).collect();
        let (mcp_json, servers) = match McpJson::of(workdir) {
            Ok(own) => {
                let servers = McpFiles::of(&files, workdir, own.as_ref());
                (own, servers)
            }
            Err(unreadable) => (None, Err(unreadable)),
        };
        let documents = OpenApiDocuments::of(&files);
        Ok(Self { user, workspace, texts, servers, documents, of_workspace, mcp_json })
    }

    /// Gives what would be configured beside rules if the workspace's file were trusted as it is now.
    pub(crate) fn if_trusted(mut self, workdir: &Workdir) -> Self {
        if let Some(file) = self.of_workspace.as_mut().filter(|file| file.layer == Layer::Untrusted) {
            file.layer = Layer::Workspace;
            let files: Vec<&ConfigFile> = self.user.file.iter().chain(&self.of_workspace).collect();
            self.documents = OpenApiDocuments::of(&files);
            if self.servers.is_ok() {
                self.servers = McpFiles::of(&files, workdir, self.mcp_json.as_ref());
            }
        }
        self
    }

    /// The files, the user's first.
    pub(crate) fn files(&self) -> impl Iterator<Item = &ConfigFile> {
        self.user.file.iter().chain(&self.of_workspace)
    }

    /// Gathers the secrets of servers and documents; what is wrong with them is told where they are wanted.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let of_servers = self.servers.iter().flat_map(McpFiles::secrets);
        of_servers.chain(self.documents.iter().flat_map(OpenApiDocuments::secrets)).collect()
    }
}

fn of_workspace(file: &WorkspaceFile, workdir: &Workdir) -> Option<ConfigFile> {
    let layer = match file.trust {
        Trust::Trusted => Layer::Workspace,
        Trust::Untrusted => Layer::Untrusted,
    };
    let folder = workdir.root_path().to_owned();
    let (path, name) = (file.name.display().to_string(), POLICY_FILE.to_owned());
    Some(ConfigFile { layer, path, name, folder, text: file.text()? })
}
