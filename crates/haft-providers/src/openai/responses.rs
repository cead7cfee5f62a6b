mod items;
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

/// Asks a model by OpenAI's Responses API.
///
/// Nothing is stored at the service: the transcript is sent with every turn, and a model that reasons gets its reasoning
/// back as the encrypted items it wrote. The capabilities name the model, and say whether it reasons, reads images (and then
/// PDF documents) and may make several calls in one turn; if not, the service is told so. The API takes no sequences at which
/// to stop, and a reply to a call has no mark for failures: its text begins with one, such as `[error: not found]`.
///
/// ```
/// use haft_http::{AddressPolicy, HttpClient};
/// use haft_model::ModelCapabilities;
/// use haft_providers::{ApiKey, OpenAiResponsesModel, Service};
///
/// let http = HttpClient::new(AddressPolicy::public())?;
/// let service = Service::openai(http, ApiKey::new("secret")?);
/// let capabilities = ModelCapabilities::new("gpt-5.1").reasoning().images().parallel_tool_calls();
/// let model = OpenAiResponsesModel::new(service, capabilities).reasoning_effort("low").reasoning_summary("auto");
/// # let _ = model;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct OpenAiResponsesModel {
    service: Service,
    capabilities: ModelCapabilities,
    patience: Patience,
    tool_choice: ToolChoice,
    dialect: Dialect,
    reasoning_effort: Option<String>,
    reasoning_summary: Option<String>,
    extra: Map<String, Value>,
}

impl OpenAiResponsesModel {
    /// Asks the model that the capabilities name.
    pub fn new(service: Service, capabilities: ModelCapabilities) -> Self {
        Self {
            service,
            capabilities,
            patience: Patience::default(),
            tool_choice: ToolChoice::default(),
            dialect: Dialect::OpenAi,
            reasoning_effort: None,
            reasoning_summary: None,
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

    /// How the schemas of tools are written; [`Dialect::OpenAi`] by default.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// How much the model thinks, as the service calls it (`low`, `medium`, `high` …); unsaid by default.
    pub fn reasoning_effort(mut self, effort: impl Into<String>) -> Self {
        self.reasoning_effort = Some(effort.into());
        self
    }

    /// How much of its thinking can be read (`auto`, `concise`, `detailed`); nothing by default.
    pub fn reasoning_summary(mut self, summary: impl Into<String>) -> Self {
        self.reasoning_summary = Some(summary.into());
        self
    }

    /// Adds a member to every request, in the place of what would be said: for what this adapter does not know.
    ///
    /// `model`, `input`, `instructions`, `stream` and `tools` stay as they are.
    pub fn extra(mut self, name: impl Into<String>, value: Value) -> Self {
        self.extra.insert(name.into(), value);
        self
    }
}

#[async_trait]
impl Model for OpenAiResponsesModel {
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
            path: &["responses"],
            headers: &[],
            body: request::body(self, &request),
            patience: &self.patience,
            retries: &request.retries,
        };
        asking::stream(asking, || reader::ResponseReader::new(aliases.clone(), turn), cancel).await
    }
}
