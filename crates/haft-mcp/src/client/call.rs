//! One call of a tool: what is sent to the server, and what is done until its result is there.

mod host_request;
mod rounds;
mod task;
mod watch;

use crate::client::convert::{begun_error, fault_error, login_error, output};
use crate::client::listing::{Definition, TaskSupport, may_repeat};
use crate::client::server::{Connection, NotConnected};
use crate::client::session::Fault;
use crate::client::trust::Verdict;
use crate::{Era, McpServer};
use async_trait::async_trait;
use haft_core::{ToolError, ToolOutput};
use haft_tools_core::{Action, CallContext};
use rounds::{Exchange, Halt};
use serde_json::{Value, json};
use std::sync::Arc;
use watch::CallWatch;

/// Is a call of a tool that is ready to be made.
pub(crate) struct Call {
    server: McpServer,
    tool: Arc<Definition>,
    input: Value,
}

impl Call {
    pub(crate) fn new(server: McpServer, tool: Arc<Definition>, input: Value) -> Self {
        Self { server, tool, input }
    }

    async fn make(&self, watch: &Arc<CallWatch>) -> Result<ToolOutput, ToolError> {
        let (mut after, mut is_repeated, mut may_be_done) = (0, false, false);
        loop {
            let connected = self.server.connected(after).await;
            let connection = connected.map_err(|error| {
                if may_be_done { self.ended(&error.to_string(), false) } else { self.unreachable(&error) }
            })?;
            self.check().await?;
            match self.exchange(&connection, watch).await {
                Ok(result) => return output(result, &self.tool),
                Err(Halt::Told(error)) => return Err(error),
                Err(Halt::Fault(Fault::Ended(farewell))) => {
                    if is_repeated || !may_repeat(self.server.config(), &self.tool) {
                        return Err(self.ended(&farewell.to_string(), may_be_done));
                    }
                    (after, is_repeated, may_be_done) = (connection.generation, true, true);
                    watch.tell("the server ended and is started again; the call is made once more");
                }
                // Nothing was done, so it can be made once more whatever it does.
                Err(Halt::Fault(Fault::Untaken(_))) if !is_repeated => {
                    (after, is_repeated) = (connection.generation, true);
                    watch.tell("the connection to the server is made anew; the call is made once more");
                }
                Err(Halt::Fault(Fault::Untaken(farewell))) if may_be_done => {
                    return Err(self.ended(&farewell.to_string(), false));
                }
                Err(Halt::Fault(fault)) => {
                    return Err(fault_error(fault, &self.tool, self.server.name()));
                }
                Err(Halt::Begun(fault)) => {
                    return Err(begun_error(fault, &self.tool, self.server.name()));
                }
            }
        }
    }

    /// Refuses a call unless the server lists the tool just as it was when the call was permitted.
    ///
    /// A server that was started again lists its tools anew, and what it lists now may not have been accepted. What was may
    /// have been rejected since, by another process, too.
    async fn check(&self) -> Result<(), ToolError> {
        let listing = self.server.listed().await.map_err(|error| self.unreachable(&error))?;
        let mut same = listing.tools.iter().filter(|tool| tool.digest == self.tool.digest);
        let is_same = same.any(|tool| tool.foreign == self.tool.foreign && tool.verdict == Verdict::Trusted);
        if is_same && self.server.still_trusts(&self.tool).await {
            return Ok(());
        }
        // Who reads the tools has to know of it, too.
        self.server.refresh();
        let (name, server) = (self.tool.spec.name(), self.server.name());
        Err(ToolError::denied(format!(
            "`{name}` is no longer what was accepted of the server `{server}`; nothing was done, go on without it until \
             the user has looked at it and accepted it with `haft mcp accept {server}`"
        )))
    }

    async fn exchange(&self, connection: &Connection, watch: &Arc<CallWatch>) -> Result<Value, Halt> {
        let is_legacy = connection.session.server().era == Era::Legacy;
        let as_task = is_legacy && self.tool.tasks == TaskSupport::Required;
        let params = || {
            let mut params = json!({ "name": self.tool.foreign, "arguments": self.input });
            if as_task {
                let ttl = self.server.config().limits.timeout.as_millis();
                params["task"] = json!({ "ttl": u64::try_from(ttl).unwrap_or(u64::MAX) });
            }
            params
        };
        Exchange::new(&self.server, connection, watch).complete("tools/call", params).await
    }

    fn unreachable(&self, error: &NotConnected) -> ToolError {
        let (name, server) = (self.tool.spec.name(), self.server.name());
        let told = match error {
            NotConnected::NeedsLogin { url, .. } => {
                return login_error(url.as_deref(), &self.tool, server);
            }
            NotConnected::Stopped(_) => ToolError::failed(format!(
                "the server `{server}` of `{name}` was stopped; nothing was done, go on without it"
            )),
            NotConnected::Failed { .. } => ToolError::unavailable(format!(
                "the server `{server}` of `{name}` cannot be used now: it does not answer or did not list its tools; \
                 nothing was done, go on without it or try again later"
            )),
        };
        told.with_source(error.clone())
    }

    fn ended(&self, farewell: &str, is_repeated: bool) -> ToolError {
        let (name, server) = (self.tool.spec.name(), self.server.name());
        let times = if is_repeated { " twice" } else { "" };
        ToolError::unavailable(format!(
            "the server `{server}` ended{times} while it worked on `{name}`, which may have been done in part; see what \
             has been done before you repeat it"
        ))
        .with_source(farewell.to_owned())
    }
}

#[async_trait]
impl Action for Call {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let token = cx.cancellation().clone();
        let _heard = self.server.shared().ear.heard_by(cx.clone());
        let watch = Arc::new(CallWatch::new(cx));
        // What is dropped here is cancelled at the server.
        tokio::select! {
            biased;
            () = token.cancelled() => Err(ToolError::cancelled(format!(
                "the call of `{}` was cancelled, and may have been done in part; see what has been done before you repeat \
                 it",
                self.tool.spec.name(),
            ))),
            result = self.make(&watch) => result,
            () = watch.is_asked_too_much() => Err(rounds::asks_too_much()),
        }
    }
}

#[cfg(test)]
mod tests;
