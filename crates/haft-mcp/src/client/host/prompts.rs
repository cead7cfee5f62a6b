use super::resources::text_of;
use crate::client::content::block;
use crate::{PromptArgument, PromptMessage, PromptRole};
use serde_json::{Value, json};

/// The most messages of a prompt.
const MOST_MESSAGES: usize = 1_000;

/// Is a prompt as a server lists it; every text in it was written by the server.
///
/// ```
/// use haft_mcp::{ListedPrompt, ServerContent, ServerRequestError};
///
/// /// Finds the prompts that can be had without an argument.
/// async fn plain(content: &ServerContent) -> Result<Vec<ListedPrompt>, ServerRequestError> {
///     let prompts = content.prompts().await?.items;
///     Ok(prompts.into_iter().filter(|prompt| prompt.arguments.is_empty()).collect())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// // It is not installed here, so it cannot be reached.
/// assert!(plain(&notes.content()).await.is_err());
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedPrompt {
    /// Its name, by which it is got.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What can be filled in.
    pub arguments: Vec<PromptArgument>,
}

/// Is a prompt with everything filled in.
///
/// ```
/// use haft_mcp::{ServerContent, ServerRequestError};
///
/// /// Counts the messages of a prompt.
/// async fn length(content: &ServerContent) -> Result<usize, ServerRequestError> {
///     let text = content.prompt("review", &[("branch".to_owned(), "main".to_owned())].into()).await?;
///     Ok(text.messages.len())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// // It is not installed here, so it cannot be reached.
/// assert!(length(&notes.content()).await.is_err());
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PromptText {
    /// What it is for.
    pub description: Option<String>,
    /// Its messages, in order.
    pub messages: Vec<PromptMessage>,
}

/// Says what is to be completed.
///
/// ```
/// use haft_mcp::{CompletionOf, ServerContent, ServerRequestError};
///
/// /// Suggests branches that begin so.
/// async fn branches(content: &ServerContent, begun: &str) -> Result<Vec<String>, ServerRequestError> {
///     let of = CompletionOf::Prompt("review".to_owned());
///     Ok(content.complete(&of, "branch", begun, &Default::default()).await?.values)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let program = haft_mcp::ServerProgram::new("a-server-that-is-not-installed", ["--read-only"]);
/// # let notes = haft_mcp::ServerConfig::new("notes".parse()?, haft_mcp::Transport::Stdio(program));
/// # let servers = haft_mcp::McpServers::builder().server(notes).build()?;
/// # let notes = servers.get("notes").ok_or("it was just added")?;
/// // It is not installed here, so it cannot be reached.
/// assert!(branches(&notes.content(), "ma").await.is_err());
/// # servers.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompletionOf {
    /// An argument of the prompt of this name.
    Prompt(String),
    /// A variable of this pattern of addresses.
    Template(String),
}

/// Is how a value can go on.
///
/// ```
/// use haft_mcp::Completion;
///
/// // What a server gives that knows of no completions.
/// let nothing = Completion::default();
/// assert!(nothing.values.is_empty() && nothing.total.is_none() && !nothing.has_more);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Completion {
    /// The values, at most 100.
    pub values: Vec<String>,
    /// How many there are in all, if the server says so.
    pub total: Option<u64>,
    /// Whether there are more.
    pub has_more: bool,
}

impl ListedPrompt {
    pub(super) fn read(told: &Value) -> Result<Self, String> {
        let arguments = told.get("arguments").and_then(Value::as_array).into_iter().flatten();
        let argument = |told: &Value| {
            Some(PromptArgument {
                name: text_of(told, "name")?,
                description: text_of(told, "description"),
                required: told.get("required") == Some(&Value::Bool(true)),
            })
        };
        Ok(Self {
            name: text_of(told, "name").ok_or("a prompt has no `name`")?,
            title: text_of(told, "title"),
            description: text_of(told, "description"),
            arguments: arguments.filter_map(argument).collect(),
        })
    }
}

impl PromptText {
    pub(super) fn read(mut told: Value) -> Result<Self, String> {
        let Some(Value::Array(messages)) = told.get_mut("messages").map(Value::take) else {
            return Err("a prompt has no `messages`".to_owned());
        };
        let message = |mut told: Value| {
            let role = match told.get("role").and_then(Value::as_str) {
                Some("user") => PromptRole::User,
                Some("assistant") => PromptRole::Assistant,
                _ => return Err("a message is of the role `user` or `assistant`".to_owned()),
            };
            let content = block(told.get_mut("content").map(Value::take).unwrap_or_default());
            Ok(PromptMessage { role, content })
        };
        let messages: Result<Vec<PromptMessage>, String> =
            messages.into_iter().take(MOST_MESSAGES).map(message).collect();
        Ok(Self { description: text_of(&told, "description"), messages: messages? })
    }
}

impl CompletionOf {
    pub(super) fn reference(&self) -> Value {
        match self {
            Self::Prompt(name) => json!({ "type": "ref/prompt", "name": name }),
            Self::Template(uri) => json!({ "type": "ref/resource", "uri": uri }),
        }
    }
}

impl Completion {
    pub(super) fn read(told: &Value) -> Self {
        let values = told.get("values").and_then(Value::as_array).into_iter().flatten();
        Self {
            values: values.filter_map(Value::as_str).take(100).map(str::to_owned).collect(),
            total: told.get("total").and_then(Value::as_u64),
            has_more: told.get("hasMore") == Some(&Value::Bool(true)),
        }
    }
}
