//! The client of rmcp without anything of haft's: what a connection is measured against.

use rmcp::model::{CallToolRequestParams, CallToolResult, ClientConfig, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Map, Value};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use tokio::net::unix::pipe::{Receiver, Sender};

pub(crate) struct Raw {
    service: RunningService<RoleClient, ClientConfig>,
    child: Child,
}

impl Raw {
    /// Starts a program and opens a connection to it, in the legacy era.
    pub(crate) async fn connect(mut program: Command) -> Result<Self, Box<dyn std::error::Error>> {
        let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let to = Sender::from_owned_fd(OwnedFd::from(child.stdin.take().ok_or("no input")?))?;
        let from = Receiver::from_owned_fd(OwnedFd::from(child.stdout.take().ok_or("no output")?))?;
        let info = ClientConfig::default().with_protocol_version(ProtocolVersion::V_2025_11_25);
        Ok(Self { service: info.serve((from, to)).await?, child })
    }

    pub(crate) async fn call(
        &self,
        tool: &'static str,
        arguments: Map<String, Value>,
    ) -> Result<CallToolResult, rmcp::ServiceError> {
        self.service.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await
    }

    pub(crate) async fn close(mut self) -> Result<(), Box<dyn std::error::Error>> {
        self.service.cancel().await?;
        self.child.wait()?;
        Ok(())
    }
}
