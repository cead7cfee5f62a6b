use super::roots::{self, Roots};
use super::sampling::Sampler;
use super::{NO_METHOD, SamplingTool, elicitation, refused, sampling_tool};
use crate::ServerName;
use crate::client::answers::Answers;
use crate::client::session::{Ask, AskRefused, News, Watch};
use crate::shown::line;
use async_trait::async_trait;
use haft_core::ToolError;
use haft_tools_core::Tool;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// How many events are kept for a reader that is slow.
const KEPT_EVENTS: usize = 256;

/// The most bytes of the address of a resource.
const MOST_URI_BYTES: usize = 4 * 1024;

/// Answers what servers ask, as far as the host has said how; servers are told of no more than that.
pub(crate) struct HostAnswers {
    asks_people: bool,
    roots: Option<Arc<dyn Roots>>,
    sampler: Option<Arc<dyn Sampler>>,
    events: broadcast::Sender<McpEvent>,
}

/// Says that something of a server, other than its tools, is not as it was.
///
/// ```
/// use haft_mcp::{McpEvent, McpEventKind};
///
/// /// Says in a line what there is to look at anew.
/// fn line(event: &McpEvent) -> String {
///     match &event.kind {
///         McpEventKind::ResourceUpdated { uri } => format!("{}: {uri} is another now", event.server),
///         _ => format!("{}: its lists are others now", event.server),
///     }
/// }
/// # let _ = line;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpEvent {
    /// The server, by the name it has here.
    pub server: ServerName,
    /// What changed.
    pub kind: McpEventKind,
}

/// Says what changed.
///
/// ```
/// use haft_mcp::McpEventKind;
///
/// let kind = McpEventKind::ResourceUpdated { uri: "note:///plan".to_owned() };
/// assert_ne!(kind, McpEventKind::ResourcesChanged);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpEventKind {
    /// The list of its resources.
    ResourcesChanged,
    /// The list of its prompts.
    PromptsChanged,
    /// A resource that was subscribed to.
    ResourceUpdated {
        /// Its address.
        uri: String,
    },
}

/// Reads events of servers, in their order; those who are slow miss some.
///
/// ```
/// use haft_mcp::McpServers;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let building = McpServers::builder();
/// let mut events = building.events();
/// drop(building);
/// // Nobody is left who could tell anything.
/// assert!(events.next().await.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct McpEvents(broadcast::Receiver<McpEvent>);

impl McpEvents {
    /// Waits for the next event; `None` when there will be none, since the servers are gone.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no event is lost.
    pub async fn next(&mut self) -> Option<McpEvent> {
        loop {
            match self.0.recv().await {
                Ok(event) => return Some(event),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl Default for HostAnswers {
    fn default() -> Self {
        Self { asks_people: false, roots: None, sampler: None, events: broadcast::Sender::new(KEPT_EVENTS) }
    }
}

impl HostAnswers {
    /// Says that calls can ask people, who are then asked what servers want to know.
    pub(crate) fn asking_people(mut self) -> Self {
        self.asks_people = true;
        self
    }

    /// Says which directories servers are told of.
    pub(crate) fn roots(mut self, roots: Arc<dyn Roots>) -> Self {
        self.roots = Some(roots);
        self
    }

    /// Says who takes the turns of a model that servers want.
    pub(crate) fn sampler(mut self, sampler: Arc<dyn Sampler>) -> Self {
        self.sampler = Some(sampler);
        self
    }

    /// Tells from now on what changes.
    pub(crate) fn events(&self) -> McpEvents {
        McpEvents(self.events.subscribe())
    }
}

#[async_trait]
impl Answers for HostAnswers {
    fn capabilities(&self, _server: &ServerName) -> Value {
        let mut told = Map::new();
        if self.asks_people {
            told.insert("elicitation".to_owned(), json!({ "form": {}, "url": {} }));
        }
        if self.sampler.is_some() {
            told.insert("sampling".to_owned(), json!({}));
        }
        if self.roots.is_some() {
            told.insert("roots".to_owned(), json!({}));
        }
        told.into()
    }

    async fn answer(
        &self,
        server: &ServerName,
        ask: Ask,
        of: Option<Arc<dyn Watch>>,
    ) -> Result<Value, AskRefused> {
        let Ask { method, params } = ask;
        let call = || of.as_ref().and_then(|watch| watch.call());
        match (method.as_str(), &self.roots) {
            ("ping", _) => Ok(json!({})),
            ("roots/list", Some(roots)) => roots::answer(&**roots, call()).await,
            ("elicitation/create", _) if self.asks_people => {
                elicitation::answer(server, &params, call()).await
            }
            ("sampling/createMessage", _) if self.sampler.is_some() => match call() {
                Some(call) => {
                    let can = self.sampler.iter().try_for_each(|sampler| sampler.check(call));
                    let told = |error: ToolError| line(error.message(), super::MOST_REASON_BYTES);
                    can.map_err(|error| refused(super::REJECTED, told(error)))?;
                    sampling_tool::answer(server, params, call).await
                }
                None => Err(refused(
                    super::REJECTED,
                    "it is asked for outside of any call, so nobody can allow it",
                )),
            },
            (method, _) => Err(refused(NO_METHOD, format!("there is no `{}` here", line(method, 60)))),
        }
    }

    fn tools(&self, server: &ServerName) -> Vec<Arc<dyn Tool>> {
        let sampler = self.sampler.iter().map(Arc::clone);
        sampler.map(|sampler| Arc::new(SamplingTool::new(server.clone(), sampler)) as Arc<dyn Tool>).collect()
    }

    fn hear(&self, server: &ServerName, news: &News) {
        let kind = match news {
            News::ResourcesChanged => McpEventKind::ResourcesChanged,
            News::PromptsChanged => McpEventKind::PromptsChanged,
            News::ResourceUpdated(uri) if uri.len() <= MOST_URI_BYTES => {
                McpEventKind::ResourceUpdated { uri: uri.clone() }
            }
            News::ResourceUpdated(_) | News::ToolsChanged | News::Log { .. } | News::Odd(_) => return,
        };
        // Nobody needs to listen.
        let _ = self.events.send(McpEvent { server: server.clone(), kind });
    }
}

#[cfg(test)]
mod tests;
