use async_trait::async_trait;
use haft_core::ToolCall;
use haft_model::{
    DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest, RetryObserver, ScriptedModel, Session,
    SessionTurn,
};
use serde_json::Value;
use std::sync::{Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Writes what a model says, turn by turn, for tests of a loop.
///
/// The calls have the ids `call-1`, `call-2` and so on, in their order. The model that comes of it is a
/// [`ScriptedModel`], so it checks each transcript it is sent, and it remembers them.
///
/// ```
/// use haft_core::Message;
/// use haft_model::{Model as _, ModelRequest};
/// use haft_testkit::Script;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = Script::new().calls("read_file", json!({ "path": "notes.md" })).says("It is empty.").model();
///
/// let request = ModelRequest::new([Message::user("What is in my notes?")]);
/// model.stream(request, Default::default()).await?;
/// assert_eq!(model.requests()[0].messages.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
#[must_use]
pub struct Script {
    turns: Vec<SessionTurn>,
    calls: usize,
}

/// Is a model that plays a [`Script`] and remembers what it was asked.
///
/// ```
/// use haft_core::Message;
/// use haft_model::{Model as _, ModelRequest, assemble};
/// use haft_testkit::Script;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = Script::new().says("Good morning.").model();
/// let request = ModelRequest::new([Message::user("Hello!")]);
/// let turn = assemble(model.stream(request.clone(), Default::default()).await?, |_| {}).await?;
/// assert_eq!(turn.message.assistant_text(), "Good morning.");
/// assert_eq!(model.requests(), [request]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PlayedScript {
    model: ScriptedModel,
    requests: Mutex<Vec<ModelRequest>>,
}

impl Script {
    /// Begins with nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a turn that says something and ends there.
    pub fn says(mut self, text: impl Into<String>) -> Self {
        self.turns.push(SessionTurn::new().text(text));
        self
    }

    /// Adds a turn that makes one call.
    pub fn calls(self, name: &str, input: Value) -> Self {
        self.calls_together([(name, input)])
    }

    /// Adds a turn that makes several calls at once.
    ///
    /// # Panics
    ///
    /// Never: the ids of the calls are such.
    pub fn calls_together<'a>(mut self, calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let calls = calls.into_iter().map(|(name, input)| {
            self.calls += 1;
            ToolCall::new(format!("call-{}", self.calls).parse().expect("a valid call id"), name, input)
        });
        let calls = calls.collect();
        self.turns.push(SessionTurn::new().calls(calls));
        self
    }

    /// Adds any turn, as a session has it.
    pub fn turn(mut self, turn: SessionTurn) -> Self {
        self.turns.push(turn);
        self
    }

    /// Makes the model.
    ///
    /// # Panics
    ///
    /// When the turns are no session, such as one that makes two calls of one id.
    #[track_caller]
    pub fn model(self) -> PlayedScript {
        match Session::new(self.turns, "script") {
            Ok(session) => PlayedScript { model: ScriptedModel::new(session), requests: Mutex::default() },
            Err(error) => panic!("the script is not a session: {error}"),
        }
    }
}

impl PlayedScript {
    /// What the model was asked so far, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks that every turn was played.
    ///
    /// # Panics
    ///
    /// When some are left.
    #[track_caller]
    pub fn finished(&self) {
        if let Err(left) = self.model.finished() {
            panic!("{left}");
        }
    }
}

#[async_trait]
impl Model for PlayedScript {
    fn capabilities(&self) -> &ModelCapabilities {
        self.model.capabilities()
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError> {
        let mut kept = request.clone();
        // What is told of by it ends with the turn.
        kept.retries = RetryObserver::default();
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
        self.model.stream(request, cancel).await
    }
}

#[cfg(test)]
mod tests {
    use super::Script;
    use haft_core::Message;
    use haft_model::{Model as _, ModelRequest};
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    #[tokio::test]
    async fn numbers_its_calls_and_remembers_what_it_was_asked() {
        let model = Script::new()
            .calls_together([("a", json!({})), ("b", json!({ "x": 1 }))])
            .calls("c", json!({}))
            .says("done")
            .model();
        let ids: Vec<String> = model
            .model
            .session()
            .turns()
            .iter()
            .flat_map(|turn| turn.calls.iter().map(|call| call.id.to_string()))
            .collect();
        assert_eq!(ids, ["call-1", "call-2", "call-3"]);

        let request = ModelRequest::new([Message::user("go on")]);
        model.stream(request.clone(), CancellationToken::new()).await.expect("the first turn");
        assert_eq!(model.requests(), [request]);
        assert_eq!(model.model.remaining(), 3, "a turn that was not taken is not played");
    }

    #[test]
    #[should_panic(expected = "turns")]
    fn a_script_that_was_not_played_to_its_end_is_told() {
        Script::new().says("done").model().finished();
    }
}
