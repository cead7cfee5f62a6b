use crate::client::call::Call;
use crate::client::listing::{Definition, MOST_NAME_BYTES};
use crate::client::trust::Verdict;
use crate::shown::line;
use crate::{McpServer, ServerName};
use haft_core::{ToolError, ToolSpec};
use haft_tools_core::{Access, Accesses, CallScope, Prepared, Resource, Scheme, Tool};
use serde_json::Value;
use std::sync::Arc;

/// The scheme of what calls of servers touch: `mcp:server/tool`.
const MCP: Scheme = Scheme::new("mcp");

/// Is a tool of a server; it stays the same over restarts of the server.
pub(crate) struct McpTool {
    server: McpServer,
    tool: Arc<Definition>,
    accesses: Accesses,
}

impl McpTool {
    pub(crate) fn new(server: McpServer, tool: Arc<Definition>) -> Self {
        // What a tool says of itself counts for the order alone: whether it may be called is decided by its resource.
        let is_unordered = server.config().orders_itself || tool.spec.hints().read_only;
        let accesses = accesses(server.name(), &tool.foreign, is_unordered);
        Self { server, tool, accesses }
    }
}

/// What a call of a tool touches, by the name that the server has for it.
pub(crate) fn accesses(server: &ServerName, foreign: &str, is_unordered: bool) -> Accesses {
    let access = Access::call(Resource::exact(MCP, format!("{server}/{foreign}")))
        .ordered_in(&Resource::exact(MCP, server.as_str()));
    if is_unordered { access.unordered().into() } else { access.into() }
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.tool.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        if let Verdict::Quarantined { why } = &self.tool.verdict {
            let (name, server) = (self.tool.spec.name(), self.server.name());
            return Err(ToolError::denied(format!(
                "`{name}` cannot be called: {}; go on without it until the user has looked at it and accepted it with \
                 `haft mcp accept {server}`",
                line(why, 4 * MOST_NAME_BYTES),
            )));
        }
        let limits = self.server.config().limits;
        let call = Call::new(self.server.clone(), Arc::clone(&self.tool), input.clone());
        Ok(Prepared::new(self.accesses.clone(), call)
            .with_timeout(limits.timeout)
            .with_idle_timeout(limits.idle_timeout))
    }
}
