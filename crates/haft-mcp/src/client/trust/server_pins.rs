use haft_core::Digest;
use haft_tools_core::now_ms;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The most bytes of a definition that are kept to show what changed.
const MOST_DEFINITION_BYTES: usize = 32 * 1024;

/// The most tools whose definitions are kept, of those that were accepted and of those that wait.
const MOST_DEFINITIONS: usize = 256;

/// Holds which tools of a server were accepted, and which wait for it.
///
/// Those of the first listing that has any are accepted, as they are. From then on, whatever is new or another waits.
///
/// ```
/// use haft_mcp::{MemoryPins, PinStore as _, ServerConfig, ServerIdentity, ServerProgram, Transport};
///
/// let time = ServerConfig::new("time".parse()?, Transport::Stdio(ServerProgram::new("uvx", ["mcp-server-time"])));
/// let identity = ServerIdentity::of(&time);
/// let pins = MemoryPins::default();
/// let mut waiting = Vec::new();
/// pins.change(&identity, &mut |known| waiting = known.waiting().keys().cloned().collect())?;
/// assert!(waiting.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ServerPins {
    version: Version,
    /// What the server was called when it was last met, for people.
    #[serde(default)]
    called: String,
    /// When it first listed any tool, in milliseconds since 1970.
    #[serde(default)]
    first_used_ms: Option<u64>,
    accepted: BTreeMap<String, AcceptedTool>,
    #[serde(default)]
    waiting: BTreeMap<String, WaitingTool>,
}

/// Holds what was accepted of a tool.
///
/// ```
/// use haft_mcp::ServerPins;
///
/// /// Says in a line each what was accepted, and when.
/// fn lines(pins: &ServerPins) -> Vec<String> {
///     let line = |(name, tool): (&String, &haft_mcp::AcceptedTool)| format!("{name} {}", tool.accepted_ms);
///     pins.accepted().iter().map(line).collect()
/// }
/// # let _ = lines;
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AcceptedTool {
    /// Identifies what a model or a person was told of it.
    pub digest: Digest,
    /// What was told, as the server sent it; `None` where it was too much to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Value>,
    /// When it was accepted, in milliseconds since 1970.
    pub accepted_ms: u64,
}

/// Holds what waits to be accepted.
///
/// ```
/// use haft_mcp::ServerPins;
///
/// /// Says in a line each what is to be looked at, and why.
/// fn lines(pins: &ServerPins) -> Vec<String> {
///     pins.waiting().iter().map(|(name, tool)| format!("{name}: {}", tool.why)).collect()
/// }
/// # let _ = lines;
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WaitingTool {
    /// Identifies what a model or a person would be told of it.
    pub digest: Digest,
    /// What would be told, as the server sent it; `None` where it was too much to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Value>,
    /// Why it waits, such as `its description changed since it was accepted`.
    pub why: String,
    /// Since when it waits, in milliseconds since 1970.
    pub since_ms: u64,
}

/// Is the version of the form, which no later one is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
struct Version;

impl TryFrom<u64> for Version {
    type Error = &'static str;

    fn try_from(version: u64) -> Result<Self, &'static str> {
        if version == 1 { Ok(Self) } else { Err("it was written by a later version") }
    }
}

impl From<Version> for u64 {
    fn from(_: Version) -> Self {
        1
    }
}

impl ServerPins {
    /// What the server was called when it was last met.
    pub fn called(&self) -> &str {
        &self.called
    }

    /// The tools that were accepted, by the names the server gives them.
    pub fn accepted(&self) -> &BTreeMap<String, AcceptedTool> {
        &self.accepted
    }

    /// The tools that wait to be accepted, by the names the server gives them.
    pub fn waiting(&self) -> &BTreeMap<String, WaitingTool> {
        &self.waiting
    }

    /// Tells whether a tool is accepted as it is.
    pub fn accepts(&self, tool: &str, digest: Digest) -> bool {
        self.accepted.get(tool).is_some_and(|accepted| accepted.digest == digest)
    }

    /// Accepts a tool that waits, if it still is what a person was shown; tells whether it was.
    pub fn accept(&mut self, tool: &str, shown: Digest) -> bool {
        match self.waiting.remove(tool) {
            Some(waiting) if waiting.digest == shown => {
                self.insert(tool, waiting.digest, waiting.definition);
                true
            }
            Some(waiting) => {
                self.waiting.insert(tool.to_owned(), waiting);
                false
            }
            None => self.accepts(tool, shown),
        }
    }

    /// Accepts a tool no more; tells whether it had been. From then on it waits.
    pub fn reject(&mut self, tool: &str) -> bool {
        let Some(AcceptedTool { digest, definition, .. }) = self.accepted.remove(tool) else { return false };
        // One that has changed waits already, as it is now.
        self.waiting.entry(tool.to_owned()).or_insert_with(|| WaitingTool {
            digest,
            definition,
            why: "it was rejected".to_owned(),
            since_ms: now_ms(),
        });
        true
    }

    /// Accepts none of the tools any more, and none that the server lists first.
    pub fn reject_all(&mut self) {
        self.is_first_use();
        let accepted: Vec<String> = self.accepted.keys().cloned().collect();
        for tool in accepted {
            self.reject(&tool);
        }
    }

    /// Is what is kept of a server that was met, and of which nothing is accepted.
    pub(super) fn with_nothing_accepted() -> Self {
        let mut pins = Self::default();
        pins.is_first_use();
        pins
    }

    pub(super) fn call(&mut self, name: &str) {
        name.clone_into(&mut self.called);
    }

    /// Tells whether this is the first time that the server lists any tool, and takes note of it.
    pub(super) fn is_first_use(&mut self) -> bool {
        let is_first = self.first_used_ms.is_none();
        self.first_used_ms.get_or_insert_with(now_ms);
        is_first
    }

    /// Accepts a tool as it is.
    pub(super) fn insert(&mut self, tool: &str, digest: Digest, definition: Option<Value>) {
        let definition = kept(definition, self.accepted.len());
        self.accepted.insert(tool.to_owned(), AcceptedTool { digest, definition, accepted_ms: now_ms() });
    }

    /// Says what waits now; what waited before and is not listed does so no more.
    pub(super) fn wait(&mut self, waiting: Vec<(String, WaitingTool)>) {
        let mut before = std::mem::take(&mut self.waiting);
        for (name, mut tool) in waiting {
            match before.remove(&name).filter(|before| before.digest == tool.digest) {
                // What was too much to keep still is.
                Some(before) => (tool.since_ms, tool.definition) = (before.since_ms, before.definition),
                None => tool.definition = kept(tool.definition.take(), self.waiting.len()),
            }
            self.waiting.insert(name, tool);
        }
    }
}

/// Gives a definition if it is small enough, and one of few enough, to be kept.
fn kept(definition: Option<Value>, others: usize) -> Option<Value> {
    let is_small = |definition: &Value| definition.to_string().len() <= MOST_DEFINITION_BYTES;
    definition.filter(|definition| others < MOST_DEFINITIONS && is_small(definition))
}
