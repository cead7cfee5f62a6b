use super::Header;
use super::arguments::ModelOptions;
use super::header::{KeptHeader, SentHeader};
use crate::config::ProviderName;
use crate::exit::UsageError;
use crate::named_host::NamedHost;
use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use haft::model::{Dialect, Model, ModelCapabilities};
use haft::providers::{AnthropicModel, ApiKey, OpenAiChatModel, OpenAiResponsesModel, Service};
use haft::tools_core::Redactor;
use serde::{Deserialize, Serialize};
use std::env;
use std::fmt;
use std::str::FromStr;
use url::Url;

/// The host of Gemini's compatible endpoint, which takes schemas in its own way.
const GEMINI: &str = "generativelanguage.googleapis.com";

/// Names a model, and how it is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct ModelId {
    provider: Provider,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Provider {
    /// One of those whose APIs are known.
    Known(Like),
    /// One of `haft.toml`, which says whose API it speaks.
    Named(ProviderName),
}

/// Names a provider whose API is spoken, by it and by others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Like {
    /// Anthropic's Messages API
    Anthropic,
    /// OpenAI's Chat Completions and Responses APIs
    OpenAi,
}

/// Names an API of OpenAI's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wire {
    /// Chat Completions
    Chat,
    /// Responses
    Responses,
}

/// Says what a model cannot do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum, schemars::JsonSchema)]
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
    /// Whose API its provider speaks, where the name of that does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    like: Option<Like>,
    /// The variable that its key is in, where that is another than the provider's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
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

impl Like {
    fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    /// The variable that the provider's own key is in.
    pub(crate) fn variable(self) -> &'static str {
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
        let model =
            options.model.clone().expect("without a model it was refused when the options were filled");
        let like = options.provider.like;
        if like.or(model.like()) == Some(Like::Anthropic) && options.wire.is_some() {
            let message =
                "`--wire` says how an `openai` model is asked, and this one is `anthropic`; leave it out";
            return Err(UsageError(message.to_owned()).into());
        }
        Ok(Self {
            model,
            like,
            key: options.provider.key.clone(),
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
        let same = self.model.called(name);
        let model = name.parse().ok().filter(|other: &ModelId| other.provider == self.model.provider);
        Self { model: model.unwrap_or(same), ..self.clone() }
    }

    /// The name of the provider.
    pub(super) fn provider(&self) -> String {
        self.model.provider_name().to_string()
    }

    /// Whose API is spoken to it.
    fn api(&self) -> Result<Like> {
        let unknown = || {
            let name = self.model.provider_name();
            UsageError(format!("it is not known how `{name}` is asked; write `like` in `[providers.{name}]`"))
        };
        self.like.or(self.model.like()).with_context(unknown)
    }

    /// The variable that its key is in, if it has one.
    fn variable(&self) -> Option<&str> {
        // The key of one provider is not for another that only speaks like it.
        self.key.as_deref().or_else(|| self.model.like().map(Like::variable))
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
        let api = self.api()?;
        let base_url = self.base_url.as_deref().unwrap_or_else(|| api.base_url());
        let place = place_of(base_url, self.base_url.is_some())?;
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
            let variable = self.variable().unwrap_or_default();
            let key = ApiKey::new(key)
                .with_context(|| UsageError(format!("cannot use what is in `{variable}`")))?;
            service = match api {
                Like::Anthropic => service.key_header("x-api-key", key)?,
                Like::OpenAi => service.bearer(key),
            };
        }
        Ok(self.model_of(api, service, place.is(GEMINI)))
    }

    fn model_of(&self, api: Like, service: Service, is_gemini: bool) -> Box<dyn Model> {
        let mut capabilities = ModelCapabilities::new(self.name());
        capabilities.images = !self.without.contains(&Lack::Images);
        capabilities.reasoning = !self.without.contains(&Lack::Reasoning);
        capabilities.parallel_tool_calls = !self.without.contains(&Lack::ParallelCalls);
        capabilities.context_window = self.context_window;
        let unsaid = if self.base_url.is_some() { Wire::Chat } else { Wire::Responses };
        match (api, self.wire.unwrap_or(unsaid)) {
            (Like::Anthropic, _) => {
                let mut model = AnthropicModel::new(service, capabilities);
                if let Some(effort) = &self.effort {
                    model = model.effort(effort);
                }
                Box::new(model)
            }
            (Like::OpenAi, Wire::Chat) => {
                let mut model = OpenAiChatModel::new(service, capabilities);
                if is_gemini {
                    model = model.dialect(Dialect::Gemini);
                }
                if let Some(effort) = &self.effort {
                    model = model.reasoning_effort(effort);
                }
                Box::new(model)
            }
            (Like::OpenAi, Wire::Responses) => {
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
        let provider = self.model.provider_name();
        let Some(variable) = self.variable() else { return Ok(None) };
        match env::var(variable) {
            Ok(key) if !key.trim().is_empty() => Ok(Some(key)),
            Err(env::VarError::NotUnicode(_)) => {
                bail!(UsageError(format!("what is in `{variable}` is not a key; copy it again")))
            }
            // Where it was written down which variable it is in, it is needed.
            _ if self.base_url.is_some() && self.key.is_none() => Ok(None),
            _ if self.key.is_some() => bail!(UsageError(format!(
                "there is no key for `{provider}`; set {variable}, which `[providers.{provider}]` names"
            ))),
            _ => bail!(UsageError(format!(
                "there is no key for `{provider}`; set {variable}, or name a service that needs none with `--base-url`"
            ))),
        }
    }
}

/// Looks where a base URL leads; what goes there is encrypted, unless it stays on this machine.
fn place_of(base_url: &str, is_named: bool) -> Result<NamedHost> {
    const FORM: &str = "write one as in `https://api.example.org/v1`";
    // It is not quoted: it may hold a password.
    let cannot = |why: &str| UsageError(format!("cannot use the base URL: {why}"));
    let url = Url::parse(base_url).map_err(|_| cannot(&format!("it is not an absolute URL; {FORM}")))?;
    let host = url.host().ok_or_else(|| cannot(&format!("it names no host; {FORM}")))?.to_owned();
    let place = NamedHost::new(host, is_named);
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

/// Has a secret replaced wherever it comes up; one that is too short to be told from other text is left.
fn register(redactor: &Redactor, secret: &str) {
    let _ = redactor.add(secret);
}

/// Looks whether a service can be asked at an address.
pub(crate) fn check_place(base_url: &str) -> Result<()> {
    place_of(base_url, true).map(drop)
}

impl ModelId {
    /// Stands for any model of a provider.
    pub(crate) fn any_of(provider: &str) -> Self {
        let known = [Like::Anthropic, Like::OpenAi].into_iter().find(|like| like.name() == provider);
        let named = || {
            Provider::Named(ProviderName::parse(provider).unwrap_or_else(|| ProviderName::known("unnamed")))
        };
        Self { provider: known.map_or_else(named, Provider::Known), name: "any".to_owned() }
    }

    /// The name of its provider.
    pub(crate) fn provider_name(&self) -> ProviderName {
        match &self.provider {
            Provider::Known(like) => ProviderName::known(like.name()),
            Provider::Named(name) => name.clone(),
        }
    }

    /// Whose API its provider speaks, if the name of that says it.
    pub(crate) fn like(&self) -> Option<Like> {
        match self.provider {
            Provider::Known(like) => Some(like),
            Provider::Named(_) => None,
        }
    }

    /// The name by which the provider knows it; nothing where only the provider is named.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Another model of the provider.
    pub(crate) fn called(&self, name: &str) -> Self {
        Self { provider: self.provider.clone(), name: name.to_owned() }
    }
}

impl FromStr for ModelId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "write `anthropic/NAME` or `openai/NAME`";
        // A provider of `haft.toml` can say which model is meant.
        let (provider, name) =
            text.split_once('/').map_or((text, None), |(provider, name)| (provider, Some(name)));
        let provider = match provider {
            "anthropic" => Provider::Known(Like::Anthropic),
            "openai" => Provider::Known(Like::OpenAi),
            other => Provider::Named(
                ProviderName::parse(other).ok_or_else(|| format!("it names no provider; {FORM}"))?,
            ),
        };
        if name
            .is_some_and(|name| name.is_empty() || name.chars().any(|c| c.is_whitespace() || c.is_control()))
        {
            return Err(format!("it names no model; {FORM}"));
        }
        Ok(Self { provider, name: name.unwrap_or_default().to_owned() })
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
        write!(f, "{}", self.provider_name())?;
        if self.name.is_empty() { Ok(()) } else { write!(f, "/{}", self.name) }
    }
}

impl fmt::Display for ModelSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.model.fmt(f)
    }
}
