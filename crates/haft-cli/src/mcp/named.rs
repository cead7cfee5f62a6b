use super::files::{McpFiles, pins};
use haft::Workdir;
use haft::mcp::{NamedTool, PinStore as _, ServerIdentity};

/// Knows the servers that are configured, read once, for whoever asks about tools by name.
pub(crate) struct KnownServers(Option<McpFiles>);

impl KnownServers {
    /// Reads the files; what is wrong with them is told where servers are needed.
    pub(crate) fn read(workdir: &Workdir) -> Self {
        Self(McpFiles::read(workdir).ok())
    }

    /// Gives what stands for a tool of one of them, without starting the server.
    pub(crate) fn tool(&self, name: &str) -> Option<NamedTool> {
        let (server, _) = name.split_once("__")?;
        let known = self.0.as_ref()?.servers.iter().find(|known| known.config.name.as_str() == server)?;
        // The server's own names are known of what it listed before.
        let kept = pins().ok()?.read(&ServerIdentity::of(&known.config)).ok().flatten().unwrap_or_default();
        let listed = kept.accepted().keys().chain(kept.waiting().keys());
        NamedTool::of(&known.config, name, listed.map(String::as_str))
    }
}
