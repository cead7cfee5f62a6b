use super::files::{McpFiles, pins};
use haft::mcp::{NamedTool, PinStore as _, ServerIdentity};

impl McpFiles {
    /// Gives what stands for a tool of one of the servers, without starting it.
    pub(crate) fn named_tool(&self, name: &str) -> Option<NamedTool> {
        let (server, _) = name.split_once("__")?;
        let known = self.servers.iter().find(|known| known.config.name.as_str() == server)?;
        // The server's own names are known of what it listed before.
        let kept = pins().ok()?.read(&ServerIdentity::of(&known.config)).ok().flatten().unwrap_or_default();
        let listed = kept.accepted().keys().chain(kept.waiting().keys());
        NamedTool::of(&known.config, name, listed.map(String::as_str))
    }
}
