use super::{Requester, ServerContent};
use crate::shown::line;
use crate::{ServerLimits, ServerName};
use async_trait::async_trait;
use haft_core::{Origin, Schema, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{Access, Action, CallContext, CallScope, Prepared, Resource, Scheme, Tool};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

/// The scheme of what is done with a server.
const MCP: Scheme = Scheme::new("mcp");

/// The most bytes of an address.
const MOST_URI_BYTES: usize = 4 * 1024;

/// The most bytes of what a server says of one resource.
const MOST_LINE_BYTES: usize = 600;

/// Makes the tools by which a model lists and reads the resources of a server.
///
/// They are `server__list_resources` and `server__read_resource`, touch `mcp:server/resources` and
/// `mcp:server/resource:URI`, and for selectors are the tools `resources/list` and `resources/read` of the server.
pub(crate) fn resource_tools(requester: &Arc<dyn Requester>, limits: ServerLimits) -> [Arc<dyn Tool>; 2] {
    let server = requester.server();
    let content = ServerContent::new(Arc::clone(requester));
    let tool =
        |kind, spec| ResourceTool { kind, spec, content: content.clone(), server: server.clone(), limits };
    let list = spec(
        server,
        ("list_resources", "resources/list"),
        format!("Lists the resources of the server `{server}`, and patterns of their addresses."),
        json!({ "type": "object", "properties": {}, "additionalProperties": false }),
    );
    let read = spec(
        server,
        ("read_resource", "resources/read"),
        format!("Reads a resource of the server `{server}` by its address."),
        json!({
            "type": "object",
            "properties": { "uri": { "type": "string", "description": "The address, as it is listed.", "minLength": 1 } },
            "required": ["uri"],
            "additionalProperties": false,
        }),
    );
    [Arc::new(tool(Kind::List, list)), Arc::new(tool(Kind::Read, read))]
}

fn spec(server: &ServerName, (name, foreign): (&str, &str), description: String, input: Value) -> ToolSpec {
    let input = Schema::new(input).unwrap_or_else(|_| Schema::empty());
    ToolSpec::new(ToolName::project(&format!("{server}__{name}")), description, input)
        .with_hints(ToolHints { read_only: true, idempotent: true, open_world: true, ..ToolHints::default() })
        .with_origin(Origin::Mcp { server: server.to_string(), tool: foreign.to_owned() })
}

struct ResourceTool {
    kind: Kind,
    spec: ToolSpec,
    content: ServerContent,
    server: ServerName,
    limits: ServerLimits,
}

#[derive(Clone, Copy)]
enum Kind {
    List,
    Read,
}

impl Tool for ResourceTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let (server, uri) = (&self.server, input.get("uri").and_then(Value::as_str).unwrap_or_default());
        if uri.len() > MOST_URI_BYTES {
            return Err(ToolError::invalid_input("the address is too long; take one that is listed"));
        }
        let resource = match self.kind {
            Kind::List => format!("{server}/resources"),
            Kind::Read => format!("{server}/resource:{uri}"),
        };
        // Looking at it changes nothing by the protocol, whatever a tool of the server would do.
        let access = Access::call(Resource::exact(MCP, resource)).unordered();
        let looking = Looking {
            kind: self.kind,
            uri: uri.to_owned(),
            content: self.content.clone(),
            server: self.server.clone(),
        };
        Ok(Prepared::new(access, looking)
            .with_timeout(self.limits.timeout)
            .with_idle_timeout(self.limits.idle_timeout))
    }
}

struct Looking {
    kind: Kind,
    uri: String,
    content: ServerContent,
    server: ServerName,
}

#[async_trait]
impl Action for Looking {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        match self.kind {
            Kind::List => self.list(&cx).await,
            Kind::Read => {
                let instead = format!("list what there is with `{}__list_resources`", self.server);
                let read = self.content.read_resource_for(&self.uri, Some(&cx)).await;
                read.map(ToolOutput::new)
                    .map_err(|error| error.to_tool_error(&self.server, &format!("`{}`", self.uri), &instead))
            }
        }
    }
}

impl Looking {
    async fn list(&self, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let told = |error: super::ServerRequestError| {
            error.to_tool_error(&self.server, "a list of resources", "go on without it")
        };
        let resources = self.content.resources_for(Some(cx)).await.map_err(told)?;
        let templates = self.content.templates_for(Some(cx)).await.map_err(told)?;
        let mut text = String::new();
        for item in &resources.items {
            entry(&mut text, &item.uri, &item.name, item.mime_type.as_deref(), item.description.as_deref());
        }
        if !templates.items.is_empty() {
            text.push_str("Patterns of addresses, to be filled in:\n");
        }
        for item in &templates.items {
            let (mime_type, description) = (item.mime_type.as_deref(), item.description.as_deref());
            entry(&mut text, &item.uri_template, &item.name, mime_type, description);
        }
        for left_out in resources.left_out.iter().chain(&templates.left_out) {
            let _ = writeln!(text, "[left out: {left_out}]");
        }
        if text.is_empty() {
            text.push_str("The server has no resources.");
        }
        Ok(ToolOutput::text(text))
    }
}

/// Writes what is known of a resource on one line.
fn entry(text: &mut String, uri: &str, name: &str, mime_type: Option<&str>, description: Option<&str>) {
    let _ = write!(text, "{}", line(uri, MOST_LINE_BYTES));
    if name != uri {
        let _ = write!(text, " {}", line(name, MOST_LINE_BYTES));
    }
    if let Some(mime_type) = mime_type {
        let _ = write!(text, " ({})", line(mime_type, MOST_LINE_BYTES));
    }
    if let Some(description) = description.filter(|description| !description.is_empty()) {
        let _ = write!(text, ": {}", line(description, MOST_LINE_BYTES));
    }
    text.push('\n');
}
