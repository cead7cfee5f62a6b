mod reader;
mod request;

use crate::asking::{self, Asking};
use crate::calls::turn_number;
use crate::names::NameRule;
use crate::{Patience, Service, ToolChoice};
use async_trait::async_trait;
use haft_model::{DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// Asks a model by Anthropic's Messages API.
///
/// The capabilities name the model, and say whether it reads images (and then PDF documents) and may make several calls in
/// one turn; if not, the service is told so. A clone with other settings costs little.
///
/// ```
/// use haft_http::{AddressPolicy, HttpClient};
/// use haft_model::ModelCapabilities;
/// use haft_providers::{AnthropicModel, ApiKey, Service, Thinking};
///
/// let http = HttpClient::new(AddressPolicy::public())?;
/// let service = Service::anthropic(http, ApiKey::new("secret")?);
/// let capabilities = ModelCapabilities::new("claude-opus-5-5").images().parallel_tool_calls();
/// let model = AnthropicModel::new(service, capabilities).thinking(Thinking::Adaptive).effort("medium");
/// # let _ = model;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Which version is spoken
///
/// That of 2023-06-01, which other services know that speak like Anthropic's. `Service::header` asks for another one, with
/// `anthropic-version` and `2026-10-21`. With that, and with any model since Claude Opus 4.7, the service refuses requests
/// that set a temperature.
///
/// # What is cached
///
/// Unless that is switched off, the service is asked to cache what comes before four places: the end of the tools, of the
/// system prompt, and of the last two messages of the person or the tools. Writing to the cache costs a quarter more than
/// reading the prompt without it, and reading from it a tenth.
#[derive(Debug, Clone)]
pub struct AnthropicModel {
    service: Service,
    capabilities: ModelCapabilities,
    patience: Patience,
    tool_choice: ToolChoice,
    stop_sequences: Vec<String>,
    max_tokens: u32,
    cache: CacheLifetime,
    thinking: Thinking,
    effort: Option<String>,
    extra: Map<String, Value>,
}

/// Says how long the service keeps what it was asked to cache, counted from when it was last used.
///
/// What is asked of the service for the end of the system prompt:
///
/// ```
/// # use haft_core::Message;
/// # use haft_http::{AddressPolicy, HttpClient};
/// # use haft_model::{Model as _, ModelCapabilities, ModelRequest};
/// use haft_providers::{AnthropicModel, CacheLifetime};
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
/// let model = AnthropicModel::new(service, capabilities).cache(CacheLifetime::OneHour);
/// let request = ModelRequest::new([Message::user("Go on.")]).system("You fix what is broken.");
/// # assert!(model.stream(request, Default::default()).await.is_err());
/// # let body = server.join().expect("the server ends")?;
/// assert_eq!(body["system"][0]["cache_control"], json!({ "type": "ephemeral", "ttl": "1h" }));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CacheLifetime {
    /// Nothing is cached.
    Off,
    /// Five minutes.
    #[default]
    FiveMinutes,
    /// One hour; writing costs twice as much as reading the prompt.
    OneHour,
}

/// Says whether the model thinks before it answers, and how much.
///
/// What the service is asked then:
///
/// ```
/// # use haft_core::Message;
/// # use haft_http::{AddressPolicy, HttpClient};
/// # use haft_model::{Model as _, ModelCapabilities, ModelRequest};
/// use haft_providers::{AnthropicModel, Thinking};
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
/// let model = AnthropicModel::new(service, capabilities).max_tokens(8_000).thinking(Thinking::Budget(2_000));
/// # let request = ModelRequest::new([Message::user("Go on.")]);
/// # assert!(model.stream(request, Default::default()).await.is_err());
/// # let body = server.join().expect("the server ends")?;
/// assert_eq!(body["thinking"], json!({ "type": "enabled", "budget_tokens": 2_000 }));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Thinking {
    /// As the model does it by default.
    #[default]
    Unsaid,
    /// It does not.
    Off,
    /// The model decides; models before Claude 4.6 refuse this.
    Adaptive,
    /// At most so many tokens, at least 1,024 and less than the turn may have; models since Claude Opus 4.7 refuse this.
    Budget(u32),
}

/// What a turn may have if the request does not say, in tokens; the service insists on a number.
const MAX_TOKENS: u32 = 16_384;

/// The version of the API that is spoken.
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

impl AnthropicModel {
    /// Asks the model that the capabilities name.
    pub fn new(service: Service, capabilities: ModelCapabilities) -> Self {
        Self {
            service,
            capabilities,
            patience: Patience::default(),
            tool_choice: ToolChoice::default(),
            stop_sequences: Vec::new(),
            max_tokens: MAX_TOKENS,
            cache: CacheLifetime::default(),
            thinking: Thinking::default(),
            effort: None,
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

    /// Texts at which the model stops, none of them written; none by default.
    pub fn stop_sequences(mut self, sequences: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.stop_sequences = sequences.into_iter().map(Into::into).collect();
        self
    }

    /// The most a turn may have if its request does not say, in tokens; 16,384 by default.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = tokens;
        self
    }

    /// What the service caches; for five minutes by default.
    pub fn cache(mut self, lifetime: CacheLifetime) -> Self {
        self.cache = lifetime;
        self
    }

    /// Whether the model thinks before it answers.
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.thinking = thinking;
        self
    }

    /// How much effort the model makes, as the service calls it (`low`, `medium`, `high` …); unsaid by default.
    pub fn effort(mut self, effort: impl Into<String>) -> Self {
        self.effort = Some(effort.into());
        self
    }

    /// Adds a member to every request, in the place of what would be said: for what this adapter does not know.
    ///
    /// `model`, `messages`, `system`, `stream` and `tools` stay as they are.
    pub fn extra(mut self, name: impl Into<String>, value: Value) -> Self {
        self.extra.insert(name.into(), value);
        self
    }
}

#[async_trait]
impl Model for AnthropicModel {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError> {
        let aliases = NameRule::Any.aliases(&request.tools);
        let turn = turn_number(&request.messages);
        let asking = Asking {
            service: &self.service,
            path: &["messages"],
            headers: &[VERSION],
            body: request::body(self, &request),
            patience: &self.patience,
            retries: &request.retries,
        };
        asking::stream(asking, || reader::MessageReader::new(aliases.clone(), turn), cancel).await
    }
}
