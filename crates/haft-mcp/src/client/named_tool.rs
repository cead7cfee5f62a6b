use crate::client::host::{Requester, ServerRequestError, resource_tools};
use crate::client::listing::tool_name;
use crate::client::tool::accesses;
use crate::{Era, ServerConfig, ServerName};
use async_trait::async_trait;
use haft_core::{Origin, Schema, ToolError, ToolOutput, ToolSpec};
use haft_tools_core::{Accesses, Action, CallContext, CallScope, Prepared, Tool};
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;

/// Stands for a tool of a server that is not asked, so that it can be said what would be decided about a call of it.
///
/// What a call touches follows from the names of the server and the tool alone. It takes any input, since its schema is the
/// server's to tell, and cannot be run.
///
/// ```
/// use haft_mcp::{NamedTool, ServerConfig, ServerProgram, Transport};
/// use haft_tools_core::{CallScope, Tool as _};
///
/// let server = ServerConfig::new("time".parse()?, Transport::Stdio(ServerProgram::new("mcp-time", [""; 0])));
/// let tool = NamedTool::of(&server, "time__convert", ["convert"]).ok_or("it is a tool of the server")?;
/// let call = tool.prepare(&serde_json::json!({}), &CallScope::new("r".parse()?))?;
/// assert_eq!(call.accesses().iter().next().map(ToString::to_string).as_deref(), Some("call mcp:time/convert"));
/// assert!(NamedTool::of(&server, "read_file", [""; 0]).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NamedTool(Arc<dyn Tool>);

impl NamedTool {
    /// Gives the tool that is called by this name here, if it is one of the server's.
    ///
    /// `listed` are the names that the server is known to have given to its tools: the name here need not tell them apart
    /// from others. One that is not among them is taken as it stands in the name.
    pub fn of<'n>(
        server: &ServerConfig,
        name: &str,
        listed: impl IntoIterator<Item = &'n str>,
    ) -> Option<Self> {
        let rest =
            name.strip_prefix(server.name.as_str())?.strip_prefix("__").filter(|rest| !rest.is_empty())?;
        if server.resource_tools {
            let absent: Arc<dyn Requester> = Arc::new(Absent(server.name.clone()));
            let tools = resource_tools(&absent, server.limits);
            if let Some(tool) = tools.into_iter().find(|tool| tool.spec().name().as_str() == name) {
                return Some(Self(tool));
            }
        }
        let is_it = |foreign: &&str| tool_name(&server.name, foreign).as_str() == name;
        let foreign = listed.into_iter().find(is_it).unwrap_or(rest);
        let any = Schema::new(json!({ "type": "object" })).ok()?;
        let description = format!("A tool of the MCP server `{}`.", server.name);
        let origin = Origin::Mcp { server: server.name.to_string(), tool: foreign.to_owned() };
        let spec = ToolSpec::new(name.parse().ok()?, description, any).with_origin(origin);
        let accesses = accesses(&server.name, foreign, false);
        Some(Self(Arc::new(Undisclosed { spec, accesses })))
    }
}

impl fmt::Debug for NamedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedTool").field(self.spec()).finish()
    }
}

impl Tool for NamedTool {
    fn spec(&self) -> &ToolSpec {
        self.0.spec()
    }

    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError> {
        let prepared = self.0.prepare(input, scope)?;
        Ok(Prepared::new(prepared.accesses().clone(), NotStarted))
    }
}

/// Is a tool of which nothing is known but its name.
struct Undisclosed {
    spec: ToolSpec,
    accesses: Accesses,
}

impl Tool for Undisclosed {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, _: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        Ok(Prepared::new(self.accesses.clone(), NotStarted))
    }
}

struct NotStarted;

#[async_trait]
impl Action for NotStarted {
    async fn run(self: Box<Self>, _: CallContext) -> Result<ToolOutput, ToolError> {
        Err(ToolError::denied("its server is not started; go on without it"))
    }
}

/// Is a server that is not there to be asked.
struct Absent(ServerName);

#[async_trait]
impl Requester for Absent {
    fn server(&self) -> &ServerName {
        &self.0
    }

    async fn era(&self) -> Result<Era, ServerRequestError> {
        Err(not_started())
    }

    async fn tells_of_resources(&self) -> Result<bool, ServerRequestError> {
        Err(not_started())
    }

    fn missed(&self, _: &str) {}

    async fn request(
        &self,
        _: &'static str,
        _: Value,
        _: Option<&CallContext>,
    ) -> Result<Value, ServerRequestError> {
        Err(not_started())
    }

    async fn hold(&self, _: &'static str, _: Value) -> Result<Value, ServerRequestError> {
        Err(not_started())
    }
}

fn not_started() -> ServerRequestError {
    ServerRequestError::Unreachable { reason: "it is not started".to_owned() }
}
