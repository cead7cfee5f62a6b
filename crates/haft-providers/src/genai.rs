mod answer;
mod back;
mod fault;
mod request;

use crate::complaint::unanswered;
use crate::insist::insist;
use crate::names::NameRule;
use crate::redaction::Redaction;
use crate::service_error::{base_url, short};
use crate::turn::Turn;
use crate::{ApiKey, Patience, ServiceError, ToolChoice};
use answer::{Answer, Ids};
use async_trait::async_trait;
use genai::adapter::AdapterKind;
use genai::chat::ReasoningEffort;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use haft_http::HttpClient;
use haft_model::{DeltaStream, Dialect, Model, ModelCapabilities, ModelError, ModelRequest};
use serde_json::{Map, Value};
use std::fmt;
use tokio_util::sync::CancellationToken;
use url::Url;

/// The rule that all of these services keep to.
const RULE: NameRule = NameRule::LetterFirst;

/// Asks a model by one of the adapters of the crate `genai`, for services that are spoken to in no other way here: Gemini's own
/// API, Ollama's, Cohere's, Bedrock's and many more.
///
/// The adapter knows where its service is, if no [base URL](Self::base_url) says so, and how the key is sent.
///
/// ```
/// use haft_http::{AddressPolicy, HttpClient};
/// use haft_model::ModelCapabilities;
/// use haft_providers::{ApiKey, GenaiModel};
///
/// let http = HttpClient::new(AddressPolicy::public().loopback())?;
/// let capabilities = ModelCapabilities::new("gemini-3-flash-preview").images().parallel_tool_calls();
/// let gemini = GenaiModel::new(http.clone(), "gemini", capabilities)?.key(ApiKey::new("secret")?);
/// let local = GenaiModel::new(http.clone(), "ollama", ModelCapabilities::new("qwen3:8b"))?;
/// assert!(!format!("{gemini:?} {local:?}").contains("secret"));
///
/// let error = GenaiModel::new(http, "gemni", ModelCapabilities::new("gemini-3-flash-preview")).unwrap_err();
/// assert!(error.to_string().starts_with("there is no adapter `gemni`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What holds here, and what does not
///
/// What is said of [all models](crate#what-holds-for-all-of-them) holds but for this:
///
/// - An adapter leaves out settings that its service has no word for: Ollama knows no choice of tools, so a turn that is to
///   make no calls may make some.
/// - Calls are told when the turn is over, and not while the model writes them.
/// - The reply to a call is text. Images and documents of it follow in a message of the person's, which says whose they are;
///   the text of a failure begins with a mark, such as `[error: not found]`.
/// - An answer is whole if it says why it ended; whether anything was to come behind that is not seen.
/// - How much of an answer is held in memory is not bounded by this crate: it is read by `genai`. Choose services that you
///   trust with that.
/// - Requests go by the [`HttpClient`], so its policy holds. An adapter without a base URL may read its place from the
///   environment, as that of Vertex does (`VERTEX_PROJECT_ID`); a key is never read from there.
///
/// The feature changes what other crates of the program do: `genai` has `serde_json` keep the members of objects in the order
/// in which they were written.
#[derive(Clone)]
pub struct GenaiModel {
    http: HttpClient,
    adapter: AdapterKind,
    capabilities: ModelCapabilities,
    key: Option<ApiKey>,
    base: Option<Url>,
    patience: Patience,
    tool_choice: ToolChoice,
    stop_sequences: Vec<String>,
    reasoning_effort: Option<ReasoningEffort>,
    dialect: Dialect,
    documents: bool,
    extra: Map<String, Value>,
}

impl GenaiModel {
    /// Asks the model that the capabilities name by an adapter, such as `gemini`, `ollama`, `cohere` or `groq`.
    ///
    /// # Errors
    ///
    /// [`ServiceError::Adapter`] if there is none of that name.
    pub fn new(
        http: HttpClient,
        adapter: &str,
        capabilities: ModelCapabilities,
    ) -> Result<Self, ServiceError> {
        let unknown = || ServiceError::Adapter { name: short(adapter) };
        let kind = AdapterKind::from_lower_str(adapter).ok_or_else(unknown)?;
        let dialect = match kind {
            AdapterKind::Gemini | AdapterKind::GeminiIx | AdapterKind::Vertex => Dialect::Gemini,
            AdapterKind::Anthropic => Dialect::Anthropic,
            _ => Dialect::OpenAi,
        };
        Ok(Self {
            http,
            adapter: kind,
            capabilities,
            key: None,
            base: None,
            patience: Patience::default(),
            tool_choice: ToolChoice::default(),
            stop_sequences: Vec::new(),
            reasoning_effort: None,
            dialect,
            documents: false,
            extra: Map::new(),
        })
    }

    /// The names of all adapters, in the order of the crate.
    pub fn adapters() -> impl Iterator<Item = &'static str> {
        AdapterKind::all().iter().map(AdapterKind::as_lower_str)
    }

    /// What the service knows its caller by; none by default, which is right for a service on this machine.
    pub fn key(mut self, key: ApiKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Where the service is, in the place of where the adapter expects it.
    ///
    /// # Errors
    ///
    /// [`ServiceError::BaseUrl`] if it is no absolute URL of `http` or `https`, holds a user or a password, or has a query or a
    /// fragment, and if the adapter asks nobody but its own service, as `zai` and `baidu` do.
    pub fn base_url(mut self, text: &str) -> Result<Self, ServiceError> {
        if matches!(self.adapter, AdapterKind::Zai | AdapterKind::Baidu) {
            return Err(ServiceError::BaseUrl(
                "its adapter asks its own service alone; choose `openai` for others",
            ));
        }
        self.base = Some(base_url(text)?);
        Ok(self)
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

    /// How much the model thinks: `zero`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, or a number of tokens; unsaid by
    /// default.
    ///
    /// # Errors
    ///
    /// [`ServiceError::Effort`] if it is another word.
    pub fn reasoning_effort(mut self, effort: &str) -> Result<Self, ServiceError> {
        let read = effort.parse().map_err(|_| ServiceError::Effort { word: short(effort) })?;
        self.reasoning_effort = Some(read);
        Ok(self)
    }

    /// How the schemas of tools are written; by default as the adapter's service takes them.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Sends PDF documents, which not every service takes; without this they are shown as a note.
    pub fn documents(mut self) -> Self {
        self.documents = true;
        self
    }

    /// Adds a member to every request, where the adapter knows how: for what this does not know.
    pub fn extra(mut self, name: impl Into<String>, value: Value) -> Self {
        self.extra.insert(name.into(), value);
        self
    }

    /// Says where and as whom the model is asked.
    async fn target(&self, client: &Client) -> Result<(ServiceTarget, Url), ModelError> {
        let refused = |reason: String| ModelError::Refused { reason };
        let model = ModelIden::new(self.adapter, &*self.capabilities.name);
        let mut target = client.resolve_service_target(model).await.map_err(ModelError::other)?;
        if let Some(base) = &self.base {
            target.endpoint = Endpoint::from_owned(base.as_str());
        }
        target.auth = match (&self.key, target.auth) {
            (Some(key), _) => AuthData::from_single(key.expose()),
            (None, AuthData::FromEnv(_)) => {
                let adapter = self.adapter.as_lower_str();
                return Err(refused(format!(
                    "the adapter `{adapter}` wants an API key; give it one, or any word where the service asks for none"
                )));
            }
            (None, own) => own,
        };
        let url = base_url(target.endpoint.base_url()).map_err(|error| refused(error.to_string()))?;
        self.http.check(&url).map_err(|error| unanswered(error).error)?;
        Ok((target, url))
    }

    /// What takes the key out of a text.
    fn redaction(&self) -> Redaction {
        Redaction::of(self.key.as_ref().map(ApiKey::expose))
    }
}

#[async_trait]
impl Model for GenaiModel {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError> {
        let client =
            Client::builder().with_reqwest(self.http.beneath()).build().map_err(ModelError::other)?;
        let (target, url) = self.target(&client).await?;
        let host = url.host_str().unwrap_or_default();
        let (chat, options) = (request::chat(self, &request), request::options(self, &request));
        let aliases = RULE.aliases(&request.tools);
        let ids = Ids::after(&request.messages);
        let begin = || async {
            let begun = client.exec_chat_stream(target.clone(), chat.clone(), Some(&options)).await;
            let stream = begun.map_err(|error| fault::of_request(error, host, &self.redaction()))?.stream;
            let answer = Answer::new(stream, self.adapter, host, aliases.clone(), ids.clone());
            Turn::begin(answer, self.redaction(), cancel.clone()).await
        };
        insist(&self.patience, &request.retries, &cancel, begin).await.map(Turn::deltas)
    }
}

/// Shows no key.
impl fmt::Debug for GenaiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenaiModel")
            .field("adapter", &self.adapter.as_lower_str())
            .field("model", &self.capabilities.name)
            .field("host", &self.base.as_ref().and_then(Url::host_str))
            .finish_non_exhaustive()
    }
}
