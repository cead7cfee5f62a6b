mod reader;
mod request;

use crate::asking::{self, Asking};
use crate::calls::turn_number;
use crate::names::NameRule;
use crate::{Patience, Service, ToolChoice};
use async_trait::async_trait;
use haft_model::{DeltaStream, Dialect, Model, ModelCapabilities, ModelError, ModelRequest};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// Asks a model by OpenAI's Chat Completions API, which many other services speak, too.
///
/// The capabilities name the model, and say whether it reads images and may make several calls in one turn; if not, the
/// service is told so. A clone with other settings costs little.
///
/// ```
/// use haft_http::{AddressPolicy, HttpClient};
/// use haft_model::{Dialect, ModelCapabilities};
/// use haft_providers::{ApiKey, OpenAiChatModel, Service, TokenLimit};
///
/// let http = HttpClient::new(AddressPolicy::public().loopback())?;
/// let vllm = Service::new(http.clone(), "http://127.0.0.1:8000/v1")?;
/// let capabilities = ModelCapabilities::new("Qwen/Qwen3-8B").parallel_tool_calls();
/// let local = OpenAiChatModel::new(vllm, capabilities).token_limit(TokenLimit::MaxTokens);
///
/// let base = "https://generativelanguage.googleapis.com/v1beta/openai";
/// let gemini = Service::new(http, base)?.bearer(ApiKey::new("secret")?);
/// let capabilities = ModelCapabilities::new("gemini-3-flash-preview").images().parallel_tool_calls();
/// let gemini = OpenAiChatModel::new(gemini, capabilities).dialect(Dialect::Gemini);
/// # let _ = (local, gemini);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An answer ends with `[DONE]`; a service that does not say so gives no whole turn.
///
/// # What this API cannot carry
///
/// - The reply to a call is text. Images and documents of it follow in a message of the person's, which says whose they are.
/// - A reply has no mark for failures; its text begins with one, such as `[error: not found]`.
/// - A turn has its text apart from its calls, so the text of a turn is one, ahead of its calls.
#[derive(Debug, Clone)]
pub struct OpenAiChatModel {
    service: Service,
    capabilities: ModelCapabilities,
    patience: Patience,
    tool_choice: ToolChoice,
    stop_sequences: Vec<String>,
    token_limit: TokenLimit,
    dialect: Dialect,
    reasoning_effort: Option<String>,
    documents: bool,
    sounds: bool,
    extra: Map<String, Value>,
}

/// Names the member that limits how many tokens a turn may have.
///
/// What the service is asked then:
///
/// ```
/// # use haft_core::Message;
/// # use haft_http::{AddressPolicy, HttpClient};
/// # use haft_model::{Model as _, ModelCapabilities, ModelRequest};
/// use haft_providers::{OpenAiChatModel, TokenLimit};
/// # use haft_providers::Service;
/// use serde_json::json;
/// # use serde_json::Value;
/// # use std::io::{Error, ErrorKind, Read as _, Write as _};
/// #
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
/// # let http = HttpClient::new(AddressPolicy::public().loopback())?;
/// # let service = Service::new(http, &format!("http://{}/v1", listener.local_addr()?))?;
/// # let server = std::thread::spawn(move || -> std::io::Result<Value> {
/// #     let (mut stream, _) = listener.accept()?;
/// #     let (mut request, mut piece) = (Vec::new(), [0; 4096]);
/// #     loop {
/// #         let length = stream.read(&mut piece)?;
/// #         request.extend_from_slice(&piece[..length]);
/// #         let text = String::from_utf8_lossy(&request);
/// #         let body = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
/// #         match body {
/// #             Some(body) => {
/// #                 stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")?;
/// #                 return Ok(body);
/// #             }
/// #             None if length == 0 => return Err(Error::from(ErrorKind::UnexpectedEof)),
/// #             None => {}
/// #         }
/// #     }
/// # });
/// # let capabilities = ModelCapabilities::new("test-model").parallel_tool_calls();
/// let model = OpenAiChatModel::new(service, capabilities).token_limit(TokenLimit::MaxTokens);
/// let request = ModelRequest::new([Message::user("Go on.")]).max_output_tokens(500);
/// # assert!(model.stream(request, Default::default()).await.is_err());
/// # let body = server.join().expect("the server ends")?;
/// assert_eq!((&body["max_tokens"], body.get("max_completion_tokens")), (&json!(500), None));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TokenLimit {
    /// `max_completion_tokens`, which OpenAI wants.
    #[default]
    MaxCompletionTokens,
    /// `max_tokens`, which most others know.
    MaxTokens,
}

impl OpenAiChatModel {
    /// Asks the model that the capabilities name.
    pub fn new(service: Service, capabilities: ModelCapabilities) -> Self {
        Self {
            service,
            capabilities,
            patience: Patience::default(),
            tool_choice: ToolChoice::default(),
            stop_sequences: Vec::new(),
            token_limit: TokenLimit::default(),
            dialect: Dialect::OpenAi,
            reasoning_effort: None,
            documents: false,
            sounds: false,
            extra: Map::new(),
        }
    }

    /// How long it is waited for, and how often it is asked again.
    pub fn patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// Whether the model may, must or must not call tools; it decides by default.
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Texts at which the model stops, none of them written; none by default, and OpenAI takes four.
    pub fn stop_sequences(mut self, sequences: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.stop_sequences = sequences.into_iter().map(Into::into).collect();
        self
    }

    /// Which member limits how many tokens a turn may have.
    pub fn token_limit(mut self, limit: TokenLimit) -> Self {
        self.token_limit = limit;
        self
    }

    /// How the schemas of tools are written; [`Dialect::OpenAi`] by default.
    ///
    /// With [`Dialect::Gemini`], names that begin with a digit or `-` are written otherwise, too, and read back.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// How much the model thinks, as the service calls it (`low`, `medium`, `high` …); unsaid by default.
    pub fn reasoning_effort(mut self, effort: impl Into<String>) -> Self {
        self.reasoning_effort = Some(effort.into());
        self
    }

    /// Sends PDF documents, which not every service takes; without this they are shown as a note.
    pub fn documents(mut self) -> Self {
        self.documents = true;
        self
    }

    /// Sends sounds (WAV and MP3), which not every model takes; without this they are shown as a note.
    pub fn sounds(mut self) -> Self {
        self.sounds = true;
        self
    }

    /// Adds a member to every request, in the place of what would be said: for what this adapter does not know.
    ///
    /// `model`, `messages`, `stream`, `tools` and `n` stay as they are.
    pub fn extra(mut self, name: impl Into<String>, value: Value) -> Self {
        self.extra.insert(name.into(), value);
        self
    }

    fn name_rule(&self) -> NameRule {
        if self.dialect == Dialect::Gemini { NameRule::LetterFirst } else { NameRule::Any }
    }
}

#[async_trait]
impl Model for OpenAiChatModel {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError> {
        let aliases = self.name_rule().aliases(&request.tools);
        let turn = turn_number(&request.messages);
        let asking = Asking {
            service: &self.service,
            path: &["chat", "completions"],
            headers: &[],
            body: request::body(self, &request),
            patience: &self.patience,
            retries: &request.retries,
        };
        asking::stream(asking, || reader::ChunkReader::new(aliases.clone(), turn), cancel).await
    }
}
