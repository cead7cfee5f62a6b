use super::rounds::{self, Exchange, Halt};
use super::watch::CallWatch;
use crate::client::host::Requester;
use crate::client::session::{Counterpart as _, Fault, News, Request};
use crate::{Era, McpServer, ServerName, ServerRequestError};
use async_trait::async_trait;
use haft_tools_core::CallContext;
use serde_json::Value;
use std::sync::Arc;
use tokio::time::timeout;

#[async_trait]
impl Requester for McpServer {
    fn server(&self) -> &ServerName {
        self.name()
    }

    async fn era(&self) -> Result<Era, ServerRequestError> {
        Ok(self.connected(0).await.map_err(unreachable)?.session.server().era)
    }

    async fn tells_of_resources(&self) -> Result<bool, ServerRequestError> {
        let connection = self.connected(0).await.map_err(unreachable)?;
        let told = connection.session.server().capabilities.pointer("/resources/subscribe");
        Ok(told.and_then(Value::as_bool).unwrap_or(false))
    }

    fn missed(&self, uri: &str) {
        self.shared().ear.hear(News::ResourceUpdated(uri.to_owned()));
    }

    async fn request(
        &self,
        method: &'static str,
        params: Value,
        of: Option<&CallContext>,
    ) -> Result<Value, ServerRequestError> {
        let _heard = of.map(|call| self.shared().ear.heard_by(call.clone()));
        let watch = Arc::new(CallWatch::new(of.cloned()));
        let completed = async {
            tokio::select! {
                biased;
                completed = complete(self, Request { method, params }, &watch) => completed,
                () = watch.is_asked_too_much() => Err(unusable(&rounds::asks_too_much())),
            }
        };
        if of.is_some() {
            // The call has clocks of its own.
            return completed.await;
        }
        let idle = self.config().limits.idle_timeout;
        let late =
            |_| ServerRequestError::unusable(format!("it did not answer within {} s", idle.as_secs_f64()));
        timeout(idle, completed).await.map_err(late)?
    }

    async fn hold(&self, method: &'static str, params: Value) -> Result<Value, ServerRequestError> {
        let connection = self.connected(0).await.map_err(unreachable)?;
        let watch = Arc::new(CallWatch::new(None));
        Exchange::new(self, &connection, &watch).complete(method, || params.clone()).await.map_err(failed)
    }
}

/// Sends a request that changes nothing, and so once more if the server ends meanwhile.
async fn complete(
    server: &McpServer,
    request: Request,
    watch: &Arc<CallWatch>,
) -> Result<Value, ServerRequestError> {
    let (mut after, mut is_repeated) = (0, false);
    loop {
        let connection = server.connected(after).await.map_err(unreachable)?;
        match Exchange::new(server, &connection, watch)
            .complete(request.method, || request.params.clone())
            .await
        {
            Ok(result) => return Ok(result),
            Err(Halt::Fault(Fault::Ended(_) | Fault::Untaken(_))) if !is_repeated => {
                (after, is_repeated) = (connection.generation, true);
            }
            Err(halt) => return Err(failed(halt)),
        }
    }
}

fn failed(halt: Halt) -> ServerRequestError {
    match halt {
        Halt::Fault(fault) | Halt::Begun(fault) => match fault {
            Fault::Refused { code, message, .. } => ServerRequestError::refused(code, &message),
            Fault::Unauthorized { .. } | Fault::Ended(_) | Fault::Untaken(_) => unreachable(fault),
            fault => ServerRequestError::unusable(fault.to_string()),
        },
        Halt::Told(error) => unusable(&error),
    }
}

fn unreachable(error: impl std::fmt::Display) -> ServerRequestError {
    ServerRequestError::Unreachable { reason: error.to_string() }
}

fn unusable(error: &haft_core::ToolError) -> ServerRequestError {
    ServerRequestError::unusable(error.message())
}
