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
/// let capabilities = ModelCapabilities::new("claude-opus-5-5").with_images().with_parallel_tool_calls();
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
        };
        asking::stream(asking, || reader::MessageReader::new(aliases.clone(), turn), cancel).await
    }
}
