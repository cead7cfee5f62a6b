use super::files::{McpFiles, pins};
use haft::Workdir;
use haft::mcp::{NamedTool, PinStore as _, ServerIdentity};

/// Gives what stands for a tool of a server that is configured, by its name and without starting the server.
///
/// What is wrong with the configuration of servers is told where they are needed.
pub(crate) fn named_tool(workdir: &Workdir, name: &str) -> Option<NamedTool> {
    let (server, _) = name.split_once("__")?;
    let files = McpFiles::read(workdir).ok()?;
    let known = files.servers.iter().find(|known| known.config.name.as_str() == server)?;
    // The server's own names are known of what it listed before.
    let kept = pins().ok()?.read(&ServerIdentity::of(&known.config)).ok().flatten().unwrap_or_default();
    let listed = kept.accepted().keys().chain(kept.waiting().keys());
    NamedTool::of(&known.config, name, listed.map(String::as_str))
}
