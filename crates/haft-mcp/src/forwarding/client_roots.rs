use super::{answer_of, client, lacks};
use crate::{Ability, AskKind, Root, Roots};
use async_trait::async_trait;
use haft_core::ToolError;
use haft_tools_core::CallContext;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The most directories of a client that a server is told of.
const MOST_ROOTS: usize = 100;

/// Tells servers of the directories of the client whose call they work on.
///
/// It is what [`McpServersBuilder::roots`](crate::McpServersBuilder::roots) is given by a host that serves clients and trusts
/// what they say of this machine: some servers work in whatever directories they are told of. A server that asks outside of
/// any client's call is told of those that the host names.
///
/// ```
/// use haft_mcp::{ClientRoots, McpServers, Root, Roots};
///
/// /// What servers see that nobody calls.
/// struct Nothing;
///
/// impl Roots for Nothing {
///     fn roots(&self) -> Vec<Root> {
///         Vec::new()
///     }
/// }
///
/// let roots = ClientRoots::or(Nothing);
/// assert!(roots.roots().is_empty());
/// let servers = McpServers::builder().roots(roots).build()?;
/// # let _ = servers;
/// # Ok::<(), haft_mcp::DuplicateServerError>(())
/// ```
#[derive(Clone)]
pub struct ClientRoots(Arc<dyn Roots>);

impl ClientRoots {
    /// Tells of these outside of any client's call.
    pub fn or(roots: impl Roots) -> Self {
        Self(Arc::new(roots))
    }
}

#[async_trait]
impl Roots for ClientRoots {
    fn roots(&self) -> Vec<Root> {
        self.0.roots()
    }

    async fn of_call(&self, cx: &CallContext) -> Result<Vec<Root>, ToolError> {
        let Some(client) = client(cx) else { return self.0.of_call(cx).await };
        if !client.caller().can.roots {
            return Err(lacks(Ability::Roots));
        }
        let answer = answer_of(client, AskKind::Roots).await?;
        let told = answer.get("roots").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Ok(told.iter().take(MOST_ROOTS).filter_map(root).collect())
    }
}

/// Reads a directory that a client tells of; what is none is passed over.
fn root(told: &Value) -> Option<Root> {
    let root = Root::at(told.get("uri")?.as_str()?)?;
    Some(match told.get("name").and_then(Value::as_str) {
        Some(name) => root.called(name),
        None => root,
    })
}

impl fmt::Debug for ClientRoots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientRoots").finish_non_exhaustive()
    }
}
