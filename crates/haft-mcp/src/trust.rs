use crate::ServerConfig;
use async_trait::async_trait;
use haft_core::Digest;
use serde_json::Value;

/// Judges whether the tools of a server are those that were accepted.
#[async_trait]
pub(crate) trait Judge: Send + Sync + 'static {
    /// Gives a verdict on each of the tools, in their order; a tool without one counts as quarantined.
    async fn judge(&self, server: &ServerConfig, listed: &[ListedTool]) -> Vec<Verdict>;
}

/// Is a tool as a server listed it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ListedTool {
    /// The name the server gives it.
    pub(crate) name: String,
    /// Identifies `definition`.
    pub(crate) digest: Digest,
    /// What a model or a person is told of it: the members `name`, `title`, `description`, `inputSchema`,
    /// `outputSchema` and `annotations`, as far as they are there, as they were sent.
    pub(crate) definition: Value,
}

/// Says whether a tool may be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is what was accepted.
    Trusted,
    /// It is not, or not yet.
    Quarantined {
        /// Why, for people and models, without a full stop: `its description changed since it was accepted`.
        why: String,
    },
}

/// Accepts whatever a server lists.
pub(crate) struct TrustAll;

#[async_trait]
impl Judge for TrustAll {
    async fn judge(&self, _server: &ServerConfig, listed: &[ListedTool]) -> Vec<Verdict> {
        vec![Verdict::Trusted; listed.len()]
    }
}
