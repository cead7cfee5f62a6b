use super::message;
use super::speaker::Speaker;
use crate::LogLevel;
use crate::server::ask::{Ask, ClientAskError};
use crate::server::caller::{Ability, Caller};
use crate::server::calls::read_answer;
use crate::server::line::Line;
use async_trait::async_trait;
use futures_util::future::join_all;
use haft_core::Progress;
use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, CustomRequest, RequestId, ServerNotification,
    ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// For how long a person is waited for.
const PATIENCE: Duration = Duration::from_mins(10);

/// What a client is told of a question that nobody waits for any more.
const ABANDONED: &str = "nobody waits for the answer any more";

/// Is the line of the older era: questions are requests of ours, on the stream of the request that they are asked for.
pub(super) struct LegacyLine {
    pub(super) speaker: Speaker,
    pub(super) peer: Peer<RoleServer>,
}

impl LegacyLine {
    async fn answer(&self, ask: &Ask) -> Result<Value, ClientAskError> {
        if !self.speaker.caller.can.have(ask.ability()) {
            return Err(ClientAskError::Unable(ask.ability()));
        }
        let (method, params) = message::question(ask);
        let mut request = CustomRequest::new(method, params);
        request.extensions.insert(self.speaker.origin());
        let request = ServerRequest::CustomRequest(request);
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let mut handle = sent.map_err(|error| ask_error(&error))?;
        let mut pending = Pending { line: self, id: Some(handle.id.clone()) };
        let answered = tokio::select! {
            biased;
            answered = timeout(PATIENCE, &mut handle.rx) => answered,
            () = self.speaker.cancellation.cancelled() => return Err(ClientAskError::Cancelled),
        };
        let Ok(answered) = answered else { return Err(ClientAskError::TimedOut(PATIENCE)) };
        pending.id = None;
        match answered {
            Ok(Ok(result)) => {
                let read = read_answer(&ask.kind, &message::client_value(result)?);
                read.unwrap_or_else(|| {
                    Err(ClientAskError::Broken("it is not an answer to what was asked".to_owned()))
                })
            }
            Ok(Err(error)) => Err(ask_error(&error)),
            Err(_) => Err(ClientAskError::Broken("the connection is closed".to_owned())),
        }
    }
}

#[async_trait]
impl Line for LegacyLine {
    fn caller(&self) -> &Caller {
        &self.speaker.caller
    }

    fn asks_in_rounds(&self) -> bool {
        false
    }

    async fn ask(&self, asks: Vec<Ask>) -> BTreeMap<String, Result<Value, ClientAskError>> {
        let answers = join_all(asks.iter().map(|ask| self.answer(ask))).await;
        asks.into_iter().map(|ask| ask.key).zip(answers).collect()
    }

    fn needs(&self, _ability: Ability) {
        // Whoever answers the request keeps it.
    }

    fn progress(&self, progress: &Progress) {
        self.speaker.progress(progress);
    }

    fn log(&self, level: LogLevel, logger: &str, data: &Value) {
        self.speaker.log(level, logger, data);
    }

    fn cancellation(&self) -> &CancellationToken {
        &self.speaker.cancellation
    }
}

/// Is a question that waits for its answer; dropped before, it is withdrawn.
struct Pending<'a> {
    line: &'a LegacyLine,
    id: Option<RequestId>,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let params = CancelledNotificationParam::new(Some(id), Some(ABANDONED.to_owned()));
        let mut message = CancelledNotification::new(params);
        message.extensions.insert(self.line.speaker.origin());
        self.line.speaker.outbox.post(ServerNotification::CancelledNotification(message));
    }
}

fn ask_error(error: &ServiceError) -> ClientAskError {
    match error {
        ServiceError::Cancelled { .. } => ClientAskError::Cancelled,
        ServiceError::McpError(error) => {
            ClientAskError::Broken(format!("{} ({})", crate::shown::line(&error.message, 500), error.code.0))
        }
        _ => ClientAskError::Broken("the connection is closed".to_owned()),
    }
}
