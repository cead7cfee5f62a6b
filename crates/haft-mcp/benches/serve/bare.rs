//! A server of rmcp alone.

use crate::Fault;
use crate::client::announce;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::net::TcpListener;

#[derive(Clone)]
struct Echo(Tool);

impl Echo {
    fn new() -> Self {
        let schema =
            json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
        let schema = schema.as_object().cloned().unwrap_or_default();
        Self(Tool::new("echo", "Says it again.", Arc::new(schema)))
    }
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        let mut config = ServerConfig::default();
        config.capabilities = ServerCapabilities::builder().enable_tools().build();
        config
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == "echo").then(|| self.0.clone())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.0.clone()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(Value::as_str).unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

pub(crate) async fn over_http() -> Result<(), Fault> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    announce(listener.local_addr()?)?;
    let sessions = Arc::<LocalSessionManager>::default();
    let service =
        StreamableHttpService::new(|| Ok(Echo::new()), sessions, StreamableHttpServerConfig::default());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new();
            connection.serve_connection(TokioIo::new(stream), service).await.ok();
        });
    }
}

pub(crate) async fn over_lines() -> Result<(), Fault> {
    let running = Echo::new().serve(rmcp::transport::stdio()).await?;
    running.waiting().await?;
    Ok(())
}

/// Serves over the same streams by the library's faster way, which it has on Linux alone.
pub(crate) async fn over_pipes() -> Result<(), Fault> {
    let running = Echo::new().serve(rmcp::transport::stdio_pipes()).await?;
    running.waiting().await?;
    Ok(())
}
