use super::caller::Caller;
use super::toolbox::CallingClient;
use crate::{ListedTemplate, PromptArgument, PromptMessage};
use async_trait::async_trait;
use haft_core::Content;
use haft_tools_core::Changes;
use serde::Serialize;
use std::collections::BTreeMap;
use tokio::sync::watch;

/// Offers prompts; each `get` may ask by the client, as calls do (`prompts/get` has rounds, too).
///
/// ```
/// use async_trait::async_trait;
/// use haft_core::Content;
/// use haft_mcp::{Caller, CallingClient, PromptMessage, PromptRole, Prompts, ServedPrompt};
/// use std::collections::BTreeMap;
///
/// /// Has one prompt, which never changes.
/// struct Review;
///
/// #[async_trait]
/// impl Prompts for Review {
///     fn list(&self, _: &Caller) -> Vec<ServedPrompt> {
///         vec![ServedPrompt::new("review")]
///     }
///
///     async fn get(
///         &self,
///         name: &str,
///         _: &BTreeMap<String, String>,
///         _: &CallingClient,
///     ) -> Result<Vec<PromptMessage>, String> {
///         match name {
///             "review" => {
///                 Ok(vec![PromptMessage::new(PromptRole::User, Content::text("Review the last change."))])
///             }
///             other => Err(format!("there is no prompt `{other}`")),
///         }
///     }
/// }
/// # let _ = Review;
/// ```
#[async_trait]
pub trait Prompts: Send + Sync + 'static {
    /// Lists the prompts that a caller is offered.
    fn list(&self, caller: &Caller) -> Vec<ServedPrompt>;

    /// Makes the messages of a prompt.
    ///
    /// # Errors
    ///
    /// When there is no such prompt, or it cannot be made: −32602 with the text.
    ///
    /// # Cancel safety
    ///
    /// Dropped when the client no longer waits; in the newer era it is begun anew in each round.
    async fn get(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
        client: &CallingClient,
    ) -> Result<Vec<PromptMessage>, String>;

    /// Completes what a person has written of an argument so far: the best values first, 100 of which are shown.
    fn complete(&self, _name: &str, _argument: &str, _value: &str, _caller: &Caller) -> Vec<String> {
        Vec::new()
    }

    /// Lets one wait until the prompts become others. By default nothing tells of a change.
    fn changes(&self) -> Option<Changes> {
        None
    }
}

/// Describes a prompt.
///
/// ```
/// use haft_mcp::{PromptArgument, ServedPrompt};
///
/// let mut review = ServedPrompt::new("review");
/// review.description = Some("Reviews a change.".to_owned());
/// review.arguments = vec![PromptArgument::new("branch").description("The branch.").required()];
/// assert_eq!(review.arguments.len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ServedPrompt {
    /// By which it is fetched.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What can be filled in.
    pub arguments: Vec<PromptArgument>,
}

impl ServedPrompt {
    /// Describes a prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: None, arguments: Vec::new() }
    }
}

/// Offers documents; what was cut of outputs is offered beside them by the server itself.
///
/// ```
/// use async_trait::async_trait;
/// use haft_core::Content;
/// use haft_mcp::{Caller, CallingClient, ListedTemplate, Resources};
/// use tokio::sync::watch;
///
/// /// Lists nothing, and has one resource for whoever knows of it.
/// struct Readme(watch::Sender<Option<String>>);
///
/// #[async_trait]
/// impl Resources for Readme {
///     fn list(&self, _: &Caller) -> Vec<Content> {
///         Vec::new()
///     }
///
///     fn templates(&self, _: &Caller) -> Vec<ListedTemplate> {
///         Vec::new()
///     }
///
///     async fn read(&self, uri: &str, _: &CallingClient) -> Result<Option<Vec<Content>>, String> {
///         Ok((uri == "readme:///").then(|| vec![Content::text("Read me.")]))
///     }
///
///     fn changes(&self) -> watch::Receiver<Option<String>> {
///         self.0.subscribe()
///     }
/// }
/// # let _ = Readme(watch::Sender::new(None));
/// ```
#[async_trait]
pub trait Resources: Send + Sync + 'static {
    /// Lists the documents that a caller is offered, as [`Content::ResourceLink`]s; anything else is passed over.
    fn list(&self, caller: &Caller) -> Vec<Content>;

    /// Lists families of documents by the templates of their addresses.
    fn templates(&self, caller: &Caller) -> Vec<ListedTemplate>;

    /// Reads a document; `None` where there is none: −32602 with the address.
    ///
    /// # Errors
    ///
    /// When it cannot be read now; the text is for the client.
    ///
    /// # Cancel safety
    ///
    /// Dropped when the client no longer waits; in the newer era it is begun anew in each round.
    async fn read(&self, uri: &str, client: &CallingClient) -> Result<Option<Vec<Content>>, String>;

    /// Names the document that became another, or `None` where the list did; of two at once only the last is told.
    fn changes(&self) -> watch::Receiver<Option<String>>;
}
