use super::ask::{Ask, ClientAskError};
use super::caller::{Ability, Caller};
use super::toolbox::Toolset;
use crate::LogLevel;
use async_trait::async_trait;
use haft_core::{Progress, ToolReply};
use haft_tools_core::PendingCall;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Is the way from one request back to the client that sent it.
#[async_trait]
pub(crate) trait Line: Send + Sync + 'static {
    fn caller(&self) -> &Caller;
    /// Whether a question ends the request and is answered by the next one (modern). Then `calls` asks, and never by `ask`.
    fn asks_in_rounds(&self) -> bool;
    /// Legacy: requests of ours on the stream of this one, cancelled when dropped. An answer is the `content` of a form that
    /// was accepted, nothing for an address, and the whole result of a sample and of roots: see `calls::read_answer`.
    async fn ask(&self, asks: Vec<Ask>) -> BTreeMap<String, Result<Value, ClientAskError>>;
    fn needs(&self, ability: Ability);
    /// Never waits; grows with every call of it; nothing where the client gave no token.
    fn progress(&self, progress: &Progress);
    fn log(&self, level: LogLevel, logger: &str, data: &Value);
    /// Is cancelled by the client's word, by its vanishing, and by the end of the server.
    fn cancellation(&self) -> &CancellationToken;
}

/// Is a call as a client made it, in whichever era (rmcp's adapter makes it; `Calls` answers it).
pub(crate) struct CallRequest {
    /// The served name.
    pub(crate) tool: String,
    pub(crate) input: Value,
    /// `inputResponses`, empty where there are none.
    pub(crate) answers: BTreeMap<String, Value>,
    /// `requestState`, as it was echoed; not to be trusted.
    pub(crate) state: Option<String>,
    /// Whether it gave a progress token or a log level: only then is the call observed.
    pub(crate) is_watched: bool,
}

/// Says what a call is answered with.
pub(crate) enum Served {
    Reply(Box<ToolReply>),
    Asks {
        asks: Vec<Ask>,
        state: String,
    }, // `InputRequiredResult`; only to a client of the newer era.
    /// It waits for a person whom this client cannot ask: a structured refusal, kept under this id.
    Waits(Box<PendingCall>),
    /// −32021 with `requiredCapabilities`, or an `isError` in the older era.
    Needs(Ability),
    /// It goes on as a task of this name.
    Task(String),
}

/// Is an error of JSON-RPC: only for faults of the protocol.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub(crate) code: i32,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

#[async_trait]
pub(crate) trait Calls: Send + Sync + 'static {
    async fn call(
        &self,
        toolset: &Arc<Toolset>,
        call: CallRequest,
        line: Arc<dyn Line>,
    ) -> Result<Served, Fault>;
}
