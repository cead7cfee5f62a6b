use super::{Requester, ServerRequestError};
use crate::call::{Halt, Unanswered, ask};
use crate::session::{Fault, Request};
use crate::{Era, McpServer, ServerName};
use async_trait::async_trait;
use haft_tools_core::CallContext;
use serde_json::Value;
use tokio::time::timeout;

#[async_trait]
impl Requester for McpServer {
    fn server(&self) -> &ServerName {
        self.name()
    }

    async fn era(&self) -> Result<Era, ServerRequestError> {
        let connection = self.connected(0).await.map_err(|error| told(error.into()))?;
        Ok(connection.session.server().era)
    }

    async fn request(
        &self,
        method: &'static str,
        params: Value,
        of: Option<&CallContext>,
    ) -> Result<Value, ServerRequestError> {
        let Some(call) = of else {
            let idle = self.config().limits.idle;
            let late = |_| ServerRequestError::unusable(format!("it did not answer within {idle:?}"));
            return timeout(idle, self.hold(method, params)).await.map_err(late)?;
        };
        // The call has clocks of its own.
        let _heard = self.shared().ear.heard_by(call.clone());
        ask(self, Request { method, params }, Some(call.clone())).await.map_err(told)
    }

    async fn hold(&self, method: &'static str, params: Value) -> Result<Value, ServerRequestError> {
        ask(self, Request { method, params }, None).await.map_err(told)
    }
}

fn told(unanswered: Unanswered) -> ServerRequestError {
    match unanswered {
        Unanswered::NotConnected(error) => ServerRequestError::Unreachable { reason: error.to_string() },
        Unanswered::Halted(Halt::Fault(Fault::Refused { code, message, .. })) => {
            ServerRequestError::refused(code, &message)
        }
        Unanswered::Halted(Halt::Fault(fault @ (Fault::Unauthorized { .. } | Fault::Ended(_)))) => {
            ServerRequestError::Unreachable { reason: fault.to_string() }
        }
        Unanswered::Halted(Halt::Fault(fault)) => ServerRequestError::unusable(fault.to_string()),
        Unanswered::Halted(Halt::Told(error)) => ServerRequestError::unusable(error.message()),
    }
}
