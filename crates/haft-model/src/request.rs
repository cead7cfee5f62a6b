use crate::{ModelError, RetryObserver};
use haft_core::{Message, ToolSpec};
use std::sync::Arc;
use std::time::Duration;

/// Asks a model for the next turn of a transcript.
///
/// A transcript is sent whole with every turn and only grows, so its messages, like the tools, are shared and not
/// copied: a request of a thousand messages costs a thousand pointers, however long the messages are, and a clone of the
/// request (for a retry, or for a model that wraps another) costs nothing worth counting. The request owns its part
/// of them: it can be moved to another task while the run that made it goes on.
///
/// ```
/// use haft_core::Message;
/// use haft_model::ModelRequest;
/// use std::sync::Arc;
///
/// let transcript = vec![Arc::new(Message::user("Why does the build fail?"))];
/// let request = ModelRequest::new(transcript.iter().cloned())
///     .system("You repair builds.")
///     .max_output_tokens(4096);
/// assert_eq!(request.messages[0], transcript[0]);
/// assert_eq!(ModelRequest::new([Message::user("hello")]).system, None);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelRequest {
    /// What the model is told ahead of the transcript.
    pub system: Option<Arc<str>>,
    /// The transcript, oldest message first.
    pub messages: Arc<[Arc<Message>]>,
    /// The tools the model may call, in the order in which it is told of them.
    pub tools: Arc<[Arc<ToolSpec>]>,
    /// Whether the model may call none of them in this turn; they stay in the request, so that what a provider has cached of
    /// it stays valid, and that the calls of the transcript are of tools it knows.
    pub without_calls: bool,
    /// The most the model may write in this turn, in tokens; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
    /// How freely the model chooses its words, from 0.0 to the provider's maximum; `None` leaves it to the provider.
    pub temperature: Option<f64>,
    /// Who is told that the provider is asked again, while nothing of an answer has come.
    pub retries: RetryObserver,
}

impl ModelRequest {
    /// Asks for the turn that follows these messages, without tools.
    pub fn new<M>(messages: impl IntoIterator<Item = M>) -> Self
    where
        M: Into<Arc<Message>>,
    {
        Self {
            system: None,
            messages: messages.into_iter().map(Into::into).collect(),
            tools: Arc::new([]),
            without_calls: false,
            max_output_tokens: None,
            temperature: None,
            retries: RetryObserver::default(),
        }
    }

    /// Sets what the model is told ahead of the transcript.
    pub fn system(mut self, system: impl Into<Arc<str>>) -> Self {
        self.system = Some(system.into());
        self
    }

    /// Sets the tools the model may call.
    pub fn tools(mut self, tools: impl Into<Arc<[Arc<ToolSpec>]>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Lets the model call none of the tools in this turn.
    pub fn without_calls(mut self) -> Self {
        self.without_calls = true;
        self
    }

    /// Sets the most the model may write in this turn, in tokens.
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets how freely the model chooses its words, from 0.0 to the provider's maximum.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Tells whoever waits for the turn each time that the provider will be asked again: what went wrong, and how long is
    /// waited first. It is called where the model is asked, and must not block.
    pub fn on_retry(mut self, tells: impl Fn(&ModelError, Duration) + Send + Sync + 'static) -> Self {
        self.retries = RetryObserver::new(tells);
        self
    }
}
