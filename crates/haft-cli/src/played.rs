use async_trait::async_trait;
use haft::Message;
use haft::model::{DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest, ScriptedModel, Session};
use tokio_util::sync::CancellationToken;

/// Plays the part of a session that a run below has, from wherever that stands: the request tells.
pub(crate) struct Played {
    capabilities: ModelCapabilities,
    session: Session,
}

impl Played {
    pub(crate) fn new(session: Session) -> Self {
        let capabilities = ScriptedModel::new(session.clone()).capabilities().clone();
        Self { capabilities, session }
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
        let is_turn = |message: &&std::sync::Arc<Message>| matches!(***message, Message::Assistant { .. });
        let turns = request.messages.iter().filter(is_turn).count();
        ScriptedModel::new(self.session.clone()).after_turns(turns).stream(request, cancel).await
    }
}
