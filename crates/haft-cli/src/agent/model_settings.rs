use super::Header;
use super::arguments::ModelOptions;
use super::header::{KeptHeader, SentHeader};
use crate::exit::UsageError;
use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use haft::Redactor;
use haft::http::{AddressPolicy, HttpClient};
use haft::model::{Dialect, Model, ModelCapabilities};
use haft::providers::{AnthropicModel, ApiKey, OpenAiChatModel, OpenAiResponsesModel, Service};
use serde::{Deserialize, Serialize};
use std::env;
use std::fmt;
use std::str::FromStr;
use url::{Host, Url};

/// The host of Gemini's compatible endpoint, which takes schemas in its own way.
const GEMINI: &str = "generativelanguage.googleapis.com";

/// Names a model, and how it is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct ModelId {
    provider: Provider,
    name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Provider {
    Anthropic,
    OpenAi,
}

/// Names an API of OpenAI's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wire {
    /// Chat Completions
    Chat,
    /// Responses
    Responses,
}

/// Says what a model cannot do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Lack {
    /// It does not read images
    Images,
    /// It does not reason apart from its text
    Reasoning,
    /// It makes one call in a turn
    ParallelCalls,
}

/// Says which model is asked, where and how, without any secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ModelSettings {
    model: ModelId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wire: Option<Wire>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    headers: Vec<KeptHeader>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    effort: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    without: Vec<Lack>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context_window: Option<u64>,
}

impl Provider {
    fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    /// The variable that its key is in.
    fn variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenAi => "OPENAI_API_KEY",
        }
    }

    fn base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::OpenAi => "https://api.openai.com/v1",
        }
    }
}

impl ModelSettings {
    pub(super) fn new(options: &ModelOptions, headers: &[Header]) -> Result<Self> {
        let model = options.model.clone().context("a model is named by now")?;
        if model.provider == Provider::Anthropic && options.wire.is_some() {
            let message =
                "--wire says how an `openai` model is asked, and this one is `anthropic`; leave it out";
            return Err(UsageError(message.to_owned()).into());
        }
        Ok(Self {
            model,
            base_url: options.base_url.clone(),
            wire: options.wire,
            headers: headers.iter().map(Header::kept).collect(),
            effort: options.effort.clone(),
            without: options.without.clone(),
            context_window: options.context_window,
        })
    }

    /// Another model, asked in the same way: `PROVIDER/NAME`, or a name that the same provider knows.
    pub(super) fn named(&self, name: &str) -> Self {
        let same = ModelId { provider: self.model.provider, name: name.to_owned() };
        let model = name.parse().ok().filter(|other: &ModelId| other.provider == self.model.provider);
        Self { model: model.unwrap_or(same), ..self.clone() }
    }

    /// The name of the provider.
    pub(super) fn provider(&self) -> &'static str {
        self.model.provider.name()
    }

    /// Tells whether this is a short name of another program's, which the provider's own service does not know: agents' files
    /// are full of them.
    pub(super) fn is_foreign(&self, name: &str) -> bool {
        const SHORT: [&str; 4] = ["haiku", "opus", "opusplan", "sonnet"];
        let bare = name.strip_suffix("[1m]").unwrap_or(name);
        // Another service may call a model so.
        self.base_url.is_none() && SHORT.contains(&bare)
    }

    /// The name by which the provider knows the model.
    pub(super) fn name(&self) -> &str {
        &self.model.name
    }

    /// Makes the model, and registers the secrets that it is asked with.
    ///
    /// The key comes from the environment. It is sent to the base URL whatever that is: whoever runs the command has named it.
    pub(super) fn connect(&self, headers: &[Header], redactor: &Redactor) -> Result<Box<dyn Model>> {
        let base_url = self.base_url.as_deref().unwrap_or_else(|| self.model.provider.base_url());
        let place = Place::of(base_url, self.base_url.is_some())?;
        let mut service =
            Service::new(place.client()?, base_url).map_err(|error| UsageError(error.to_string()))?;
        let headers = SentHeader::find(&self.headers, headers)?;
        for header in &headers {
            header.secrets().into_iter().for_each(|secret| register(redactor, secret));
            let sent = service.secret_header(&header.name, &header.value);
            service = sent.map_err(|error| UsageError(error.to_string()))?;
        }
        if !headers.iter().any(SentHeader::is_key)
            && let Some(key) = self.key()?
        {
            register(redactor, &key);
            let variable = self.model.provider.variable();
            let key = ApiKey::new(key)
                .with_context(|| UsageError(format!("cannot use what is in `{variable}`")))?;
            service = match self.model.provider {
                Provider::Anthropic => service.key_header("x-api-key", key)?,
                Provider::OpenAi => service.bearer(key),
            };
        }
        Ok(self.model_of(service, place.is_gemini()))
    }

    fn model_of(&self, service: Service, is_gemini: bool) -> Box<dyn Model> {
        let mut capabilities = ModelCapabilities::new(self.name());
        capabilities.images = !self.without.contains(&Lack::Images);
        capabilities.reasoning = !self.without.contains(&Lack::Reasoning);
        capabilities.parallel_tool_calls = !self.without.contains(&Lack::ParallelCalls);
        capabilities.context_window = self.context_window;
        let unsaid = if self.base_url.is_some() { Wire::Chat } else { Wire::Responses };
        match (self.model.provider, self.wire.unwrap_or(unsaid)) {
            (Provider::Anthropic, _) => {
                let mut model = AnthropicModel::new(service, capabilities);
                if let Some(effort) = &self.effort {
                    model = model.effort(effort);
                }
                Box::new(model)
            }
            (Provider::OpenAi, Wire::Chat) => {
                let mut model = OpenAiChatModel::new(service, capabilities);
                if is_gemini {
                    model = model.dialect(Dialect::Gemini);
                }
                if let Some(effort) = &self.effort {
                    model = model.reasoning_effort(effort);
                }
                Box::new(model)
            }
            (Provider::OpenAi, Wire::Responses) => {
                let mut model = OpenAiResponsesModel::new(service, capabilities);
                if let Some(effort) = &self.effort {
                    model = model.reasoning_effort(effort);
                }
                Box::new(model)
            }
        }
    }

    /// Finds the key in the environment; the provider's own service needs one, and others may.
    fn key(&self) -> Result<Option<String>> {
        let (provider, variable) = (self.model.provider.name(), self.model.provider.variable());
        match env::var(variable) {
            Ok(key) if !key.trim().is_empty() => Ok(Some(key)),
            Err(env::VarError::NotUnicode(_)) => {
                bail!(UsageError(format!("what is in `{variable}` is no key; copy it again")))
            }
            _ if self.base_url.is_some() => Ok(None),
            _ => bail!(UsageError(format!(
                "there is no key for `{provider}`; set {variable}, or name a service that needs none with --base-url"
            ))),
        }
    }
}

/// Where a service is.
struct Place {
    host: Host<String>,
    is_named: bool,
}

impl Place {
    /// Looks where a base URL leads; what goes there is encrypted, unless it stays on this machine.
    fn of(base_url: &str, is_named: bool) -> Result<Self> {
        const FORM: &str = "write one as in `https://api.example.org/v1`";
        // It is not quoted: it may hold a password.
        let cannot = |why: &str| UsageError(format!("cannot use the base URL: {why}"));
        let url = Url::parse(base_url).map_err(|_| cannot(&format!("it is no absolute URL; {FORM}")))?;
        let host = url.host().ok_or_else(|| cannot(&format!("it names no host; {FORM}")))?.to_owned();
        let place = Self { host, is_named };
        match url.scheme() {
            "https" => Ok(place),
            "http" if place.is_this_machine() => Ok(place),
            "http" => bail!(cannot(
                "what is said to the model, and the key, would go over `http` for all to read; write `https`, or ask a service \
                 on this machine"
            )),
            _ => bail!(cannot(&format!("it is neither `http` nor `https`; {FORM}"))),
        }
    }

    fn is_this_machine(&self) -> bool {
        match &self.host {
            Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        }
    }

    fn is_gemini(&self) -> bool {
        matches!(&self.host, Host::Domain(name) if name == GEMINI)
    }

    /// Makes a client that reaches this place and the public internet.
    fn client(&self) -> Result<HttpClient> {
        let policy = AddressPolicy::public();
        if self.is_this_machine() {
            return Ok(HttpClient::new(policy.loopback())?);
        }
        let policy = match self.host.to_string().parse() {
            Ok(host) if self.is_named => policy.host(host),
            _ => policy,
        };
        Ok(HttpClient::builder(policy).environment_proxies(true).build()?)
    }
}

/// Has a secret replaced wherever it comes up; one that is too short to be told from other text is left.
fn register(redactor: &Redactor, secret: &str) {
    let _ = redactor.add(secret);
}

impl FromStr for ModelId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "write `anthropic/NAME` or `openai/NAME`";
        let (provider, name) = text.split_once('/').ok_or_else(|| format!("it names no provider; {FORM}"))?;
        let provider = match provider {
            "anthropic" => Provider::Anthropic,
            "openai" => Provider::OpenAi,
            _ => {
                return Err(format!(
                    "there is no such provider; {FORM}, and where a service is that speaks like one of them with --base-url"
                ));
            }
        };
        if name.is_empty() || name.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(format!("it names no model; {FORM}"));
        }
        Ok(Self { provider, name: name.to_owned() })
    }
}

impl TryFrom<String> for ModelId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ModelId> for String {
    fn from(model: ModelId) -> Self {
        model.to_string()
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider.name(), self.name)
    }
}

impl fmt::Display for ModelSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.model.fmt(f)
    }
}
