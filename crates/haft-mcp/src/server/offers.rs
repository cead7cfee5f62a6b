use super::caller::Caller;
use super::toolbox::CallingClient;
use async_trait::async_trait;
use haft_core::Content;
use serde::Serialize;
use std::collections::BTreeMap;
use tokio::sync::watch;

/// Offers prompts; each `get` may ask by the client, as calls do (`prompts/get` has rounds, too).
#[async_trait]
pub trait Prompts: Send + Sync + 'static {
    /// Lists those that a caller may have.
    fn list(&self, caller: &Caller) -> Vec<ServedPrompt>;

    /// Makes a prompt of its arguments.
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
    ) -> Result<Vec<(PromptRole, Content)>, String>;

    /// Completes what a person has written of an argument so far: the best values first, 100 of which are shown.
    fn complete(&self, _name: &str, _argument: &str, _value: &str, _caller: &Caller) -> Vec<String> {
        Vec::new()
    }

    /// Counts the times that the list became another.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// Describes a prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ServedPrompt {
    /// By which it is fetched.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Name, description, whether it is required.
    pub arguments: Vec<(String, Option<String>, bool)>,
}

impl ServedPrompt {
    /// Describes a prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: None, arguments: Vec::new() }
    }
}

/// Says in whose name a message of a prompt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptRole {
    /// The person's.
    User,
    /// The model's.
    Assistant,
}

/// Offers documents; `None` of `read` is −32602 with `data.uri`. Stored outputs are offered beside it by the server itself.
#[async_trait]
pub trait Resources: Send + Sync + 'static {
    /// Lists those that a caller may have, as [`Content::ResourceLink`]; what is none is left out.
    fn list(&self, caller: &Caller) -> Vec<Content>;

    /// Lists the templates of addresses that can be read besides, each with its name.
    fn templates(&self, caller: &Caller) -> Vec<(String, String)>;

    /// Reads one; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be read: the text is for the client.
    ///
    /// # Cancel safety
    ///
    /// Dropped when the client no longer waits.
    async fn read(&self, uri: &str, client: &CallingClient) -> Result<Option<Vec<Content>>, String>;

    /// Tells which address has changed; `None` stands for the list.
    fn changes(&self) -> watch::Receiver<Option<String>>;
}
