use super::files::{Known, pins};
use crate::user_directories::UserDirectories;
use anyhow::Result;
use haft::ToolRegistry;
use haft::core::{Digest, Origin, ToolSpec};
use haft::mcp::{McpServers, PinStore as _, ServerIdentity, ServerState};
use haft::tools_core::{PrivateFiles, now_ms};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

/// For how long it counts what a server has listed.
const FRESH_FOR: Duration = Duration::from_hours(24);

/// The most bytes that are kept of one server.
const MOST_BYTES: u64 = 8 << 20;

/// Remembers what servers have listed, a file for each, so that their tools can be shown without starting them.
///
/// It is for lists alone: a tool is called as its server says that it is then.
pub(super) struct ListedTools(PrivateFiles);

/// Is what one server has listed.
#[derive(Serialize, Deserialize)]
struct Kept {
    version: u32,
    at_ms: u64,
    /// What was accepted of the server by then: what was accepted or rejected since is not in the list.
    accepted: Digest,
    tools: Vec<ToolSpec>,
}

const VERSION: u32 = 1;

impl ListedTools {
    pub(super) fn open() -> Result<Self> {
        let directory = UserDirectories::from_environment().state()?.join("mcp-listed");
        Ok(Self(PrivateFiles::new(directory).most_bytes(MOST_BYTES)))
    }

    /// Gives what a server listed, and when, in milliseconds since the Unix epoch; nothing where that does not count any more.
    pub(super) fn of(&self, known: &Known) -> Option<(u64, Vec<ToolSpec>)> {
        let text = self.0.read(&entry(known)).ok()??;
        let kept: Kept = serde_json::from_str(&text).ok()?;
        let age = now_ms().checked_sub(kept.at_ms)?;
        let counts = kept.version == VERSION
            && u128::from(age) < FRESH_FOR.as_millis()
            && kept.accepted == accepted(known)?;
        counts.then_some((kept.at_ms, kept.tools))
    }

    /// Remembers what the servers have listed that answer; what cannot be kept is asked for again.
    pub(super) fn remember<'a>(
        &self,
        chosen: impl Iterator<Item = &'a Known>,
        servers: &McpServers,
        tools: &ToolRegistry,
    ) {
        for known in chosen {
            let name = known.config.name.as_str();
            let answers = servers.get(name).is_some_and(|server| server.status().state == ServerState::Ready);
            let of_server =
                |spec: &&ToolSpec| matches!(spec.origin(), Origin::Mcp { server, .. } if server == name);
            let Some(accepted) = accepted(known).filter(|_| answers) else { continue };
            let tools = tools.iter().filter(of_server).cloned().collect();
            let kept = Kept { version: VERSION, at_ms: now_ms(), accepted, tools };
            if let Ok(text) = serde_json::to_string(&kept) {
                let _ = self.0.write(&entry(known), &text);
            }
        }
    }
}

/// Names the file of a server: what it is, and what its tools are called by.
fn entry(known: &Known) -> String {
    let config = &known.config;
    let identity = ServerIdentity::of(config).to_string();
    let digest = Digest::of(&json!([identity, config.name.as_str(), config.resource_tools]));
    format!("{digest}.json")
}

/// Says in short what was accepted of a server, if that can be told.
fn accepted(known: &Known) -> Option<Digest> {
    let kept = pins().ok()?.read(&ServerIdentity::of(&known.config)).ok()?;
    Some(Digest::of(&serde_json::to_value(kept).ok()?))
}
