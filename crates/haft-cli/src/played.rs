use async_trait::async_trait;
use haft::core::Message;
use haft::model::{DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest, ScriptedModel, Session};
use tokio_util::sync::CancellationToken;

/// Plays the part of a session that a run below has, from wherever that stands: the request tells.
///
/// A run that has no part in it says so, and plays nobody else's.
pub(crate) struct Played {
    capabilities: ModelCapabilities,
    session: Session,
    /// The run's name in the session.
    run: String,
}

impl Played {
    pub(crate) fn new(session: &Session, run: &str) -> Self {
        let session = session.clone();
        let capabilities = ScriptedModel::new(session.clone()).capabilities().clone();
        Self { capabilities, session, run: run.to_owned() }
    }
}

#[async_trait]
impl Model for Played {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError> {
        let Some(part) = self.session.of_run(&self.run) else {
            let reason = format!("the session has no turn of the run `{}`; record it anew", self.run);
            return Err(ModelError::Refused { reason });
        };
        let is_turn = |message: &&std::sync::Arc<Message>| matches!(***message, Message::Assistant { .. });
        let turns = request.messages.iter().filter(is_turn).count();
        ScriptedModel::new(part).after_turns(turns).stream(request, cancel).await
    }
}
