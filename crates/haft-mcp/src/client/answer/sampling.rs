use crate::ServerName;
use crate::client::content::read_block;
use crate::shown::shown;
use async_trait::async_trait;
use haft_core::{AssistantPart, Content, Message, ToolError};
use haft_tools_core::CallContext;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The most messages of a request.
const MOST_MESSAGES: usize = 200;

/// The most bytes of the texts and images of a request.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The most tokens that a server may want at once.
const MOST_TOKENS: u32 = 16_384;

/// Takes a model's turn for a server, once it was permitted.
///
/// ```
/// use async_trait::async_trait;
/// use haft_core::ToolError;
/// use haft_mcp::{Sampled, Sampler, SamplingRequest};
/// use haft_tools_core::CallContext;
///
/// /// Answers every question in the same way.
/// struct Parrot;
///
/// #[async_trait]
/// impl Sampler for Parrot {
///     async fn sample(&self, request: SamplingRequest, _: &CallContext) -> Result<Sampled, ToolError> {
///         Ok(Sampled::new(format!("{} asked", request.server), "parrot"))
///     }
/// }
///
/// let servers = haft_mcp::McpServers::builder().sampler(Parrot).build()?;
/// # let _ = servers;
/// # Ok::<(), haft_mcp::DuplicateServerError>(())
/// ```
#[async_trait]
pub trait Sampler: Send + Sync + 'static {
    /// Says whether a turn can be taken for a call at all, before anybody is asked to permit it; by default it can.
    ///
    /// # Errors
    ///
    /// Why not; the text goes to the server.
    fn check(&self, cx: &CallContext) -> Result<(), ToolError> {
        let _ = cx;
        Ok(())
    }

    /// Takes the turn; `cx` is that of the call which it was permitted as.
    ///
    /// # Errors
    ///
    /// Whatever kept the model from answering; its text goes to the server.
    ///
    /// # Cancel safety
    ///
    /// Dropped when the call that the server works on has ended.
    async fn sample(&self, request: SamplingRequest, cx: &CallContext) -> Result<Sampled, ToolError>;
}

/// Is a turn of a model that a server wants; all of it was written by the server.
///
/// ```
/// use haft_mcp::SamplingRequest;
///
/// /// Lets a server have short answers alone.
/// fn is_modest(request: &SamplingRequest) -> bool {
///     request.max_tokens <= 1_000 && request.messages.len() <= 4
/// }
/// # let _ = is_modest;
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SamplingRequest {
    /// The server, by the name it has here.
    pub server: ServerName,
    /// What the model is told ahead of the messages.
    pub system: Option<String>,
    /// The messages, oldest first; those of the model hold texts alone.
    pub messages: Vec<Message>,
    /// The most the model may write, in tokens; at most 16,384.
    pub max_tokens: u32,
    /// How freely the model chooses its words.
    pub temperature: Option<f64>,
    /// Texts at which the model's answer ends, before them.
    pub stop_sequences: Vec<String>,
}

/// Is what a model answered.
///
/// ```
/// use haft_mcp::{Sampled, SampledStop};
///
/// let sampled = Sampled::new("It rains, and", "a-model").stop(SampledStop::MaxTokens);
/// assert_eq!((sampled.text.as_str(), sampled.stop), ("It rains, and", SampledStop::MaxTokens));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sampled {
    /// The answer.
    pub text: String,
    /// Which model gave it.
    pub model: String,
    /// Why it ended.
    pub stop: SampledStop,
}

/// Says why a model's answer ended.
///
/// ```
/// use haft_mcp::{Sampled, SampledStop};
///
/// assert_eq!(Sampled::new("It rains.", "a-model").stop, SampledStop::EndTurn);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SampledStop {
    /// The model had nothing more to say.
    EndTurn,
    /// It came to the most tokens it may write.
    MaxTokens,
    /// It came to one of the texts at which it ends.
    StopSequence,
}

impl Sampled {
    /// Is an answer that ended by itself.
    pub fn new(text: impl Into<String>, model: impl Into<String>) -> Self {
        Self { text: text.into(), model: model.into(), stop: SampledStop::EndTurn }
    }

    /// Says why it ended.
    pub fn stop(mut self, stop: SampledStop) -> Self {
        self.stop = stop;
        self
    }

    /// Writes the result of `sampling/createMessage`.
    pub(super) fn to_result(&self) -> Value {
        let stop = match self.stop {
            SampledStop::EndTurn => "endTurn",
            SampledStop::MaxTokens => "maxTokens",
            SampledStop::StopSequence => "stopSequence",
        };
        let content = json!({ "type": "text", "text": self.text });
        json!({ "role": "assistant", "content": content, "model": self.model, "stopReason": stop })
    }
}

impl SamplingRequest {
    /// Reads the params of `sampling/createMessage`; says what is wrong with them otherwise.
    pub(crate) fn read(server: &ServerName, params: &Value) -> Result<Self, String> {
        if params.get("tools").is_some_and(|tools| !tools.is_null()) {
            return Err("a model's turn cannot have tools here".to_owned());
        }
        let told = params.get("messages").and_then(Value::as_array).ok_or("there are no `messages`")?;
        if told.is_empty() || told.len() > MOST_MESSAGES {
            return Err(format!("there are 1 to {MOST_MESSAGES} messages"));
        }
        let messages: Result<Vec<Message>, String> = told.iter().map(message).collect();
        let system = params.get("systemPrompt").and_then(Value::as_str).map(str::to_owned);
        let request = Self {
            server: server.clone(),
            system,
            messages: messages?,
            max_tokens: params
                .get("maxTokens")
                .and_then(Value::as_u64)
                .and_then(|tokens| u32::try_from(tokens).ok())
                .map_or(MOST_TOKENS, |tokens| tokens.clamp(1, MOST_TOKENS)),
            temperature: params.get("temperature").and_then(Value::as_f64),
            stop_sequences: params
                .get("stopSequences")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(|text| text.as_str().filter(|text| !text.is_empty()))
                .map(str::to_owned)
                .take(16)
                .collect(),
        };
        if request.size() > MOST_BYTES {
            return Err(format!("it has more than {} MiB", MOST_BYTES >> 20));
        }
        Ok(request)
    }

    /// Shows a person what the model would be told.
    pub(super) fn to_preview(&self) -> String {
        let mut text = format!("The MCP server `{}` wants a turn of the model", self.server);
        // Writing to a string cannot fail.
        let _ = writeln!(text, " of up to {} tokens, for which it would be told:", self.max_tokens);
        if let Some(system) = &self.system {
            let _ = writeln!(text, "system: {system}");
        }
        for message in &self.messages {
            match message {
                Message::User { content } => {
                    for content in content {
                        let told = content.as_text().map_or_else(|| kind(content).to_owned(), str::to_owned);
                        let _ = writeln!(text, "user: {told}");
                    }
                }
                message => {
                    let _ = writeln!(text, "assistant: {}", message.assistant_text());
                }
            }
        }
        shown(&text, 16 * 1024)
    }

    fn size(&self) -> usize {
        let of = |message: &Message| match message {
            Message::User { content } => content.iter().map(Content::size_bytes).sum(),
            message => message.assistant_text().len(),
        };
        self.messages.iter().map(of).sum::<usize>() + self.system.as_ref().map_or(0, String::len)
    }
}

fn message(told: &Value) -> Result<Message, String> {
    let parts = match told.get("content") {
        Some(Value::Array(parts)) => parts.iter().collect(),
        Some(part @ Value::Object(_)) => vec![part],
        _ => return Err("a message has no `content`".to_owned()),
    };
    match told.get("role").and_then(Value::as_str) {
        Some("user") => {
            let content: Result<Vec<Content>, String> = parts.into_iter().map(content).collect();
            Ok(Message::User { content: content? })
        }
        Some("assistant") => {
            let part = |part: &Value| match content(part)? {
                Content::Text { text } => Ok(AssistantPart::Text { text }),
                other => Err(format!("a model says texts, and no {}", kind(&other))),
            };
            let parts: Result<Vec<AssistantPart>, String> = parts.into_iter().map(part).collect();
            Ok(Message::Assistant { parts: parts? })
        }
        _ => Err("a message is of the role `user` or `assistant`".to_owned()),
    }
}

fn content(told: &Value) -> Result<Content, String> {
    match read_block(told.clone()).map_err(|error| error.to_string())? {
        Content::Resource { .. } | Content::ResourceLink { .. } => {
            Err("a part is of the type `text`, `image` or `audio`".to_owned())
        }
        content => Ok(content),
    }
}

fn kind(content: &Content) -> &'static str {
    match content {
        Content::Image { .. } => "image",
        Content::Audio { .. } => "audio",
        _ => "part of another kind",
    }
}
