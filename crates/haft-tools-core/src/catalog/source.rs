use crate::{Tool, ToolRegistry};
use async_trait::async_trait;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use tokio::sync::watch;

/// Gives tools that may change: an MCP server, an OpenAPI document, a plugin.
///
/// A [`Catalog`](crate::Catalog) asks it in a task of its own and with a timeout, so it may be slow, fail or panic without
/// harm to other sources. A [`ToolRegistry`] whose tools stay the same is made a source by [`FixedSource`].
///
/// ```
/// use async_trait::async_trait;
/// use haft_core::ToolError;
/// use haft_tools_core::{Accesses, CallContext, OfferedTools, SourceError, ToolSource, tool_fn};
/// use std::sync::Arc;
///
/// struct Plugin;
///
/// #[async_trait]
/// impl ToolSource for Plugin {
///     fn name(&self) -> &str {
///         "plugin"
///     }
///
///     async fn tools(&self) -> Result<OfferedTools, SourceError> {
/// #       #[derive(serde::Deserialize, schemars::JsonSchema)]
/// #       struct Nothing {}
///         let ping = tool_fn("ping", "Answers.", Accesses::none(), |_: Nothing, _: CallContext| async {
///             Ok::<_, ToolError>("pong")
///         });
///         let ping = ping.map_err(|error| SourceError::new("the plugin has no proper name").with_source(error))?;
///         Ok([Arc::new(ping) as _].into())
///     }
/// }
/// # assert_eq!(Plugin.name(), "plugin");
/// ```
#[async_trait]
pub trait ToolSource: Send + Sync + 'static {
    /// Names the source in reports, and in the names of its tools where those are prefixed; read once.
    fn name(&self) -> &str;

    /// Gives the tools there are now.
    ///
    /// # Errors
    ///
    /// When that cannot be found out; the tools that were given last stay.
    ///
    /// # Cancel safety
    ///
    /// Must be cancel safe: the future is dropped after the catalog's timeout. Must not block its thread, which no timeout
    /// ends: the refresh would wait for it.
    async fn tools(&self) -> Result<OfferedTools, SourceError>;

    /// Lets others wait until the tools change; read once. By default nothing tells of a change.
    fn changes(&self) -> Option<Changes> {
        None
    }
}

/// A source that its host keeps a hold of, or that was chosen when the program runs.
#[async_trait]
impl<S: ToolSource + ?Sized> ToolSource for Arc<S> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn tools(&self) -> Result<OfferedTools, SourceError> {
        (**self).tools().await
    }

    fn changes(&self) -> Option<Changes> {
        (**self).changes()
    }
}

/// Holds the tools that a source gives.
///
/// Tools one by one are taken in by the catalog, which leaves out those it cannot use; the tools of a [`ToolRegistry`] are
/// taken as they stand in it, with their aliases.
///
/// ```
/// use haft_tools_core::{OfferedTools, Tool};
/// use std::sync::Arc;
///
/// /// Offers no more than so many.
/// fn at_most(tools: Vec<Arc<dyn Tool>>, most: usize) -> OfferedTools {
///     tools.into_iter().take(most).collect()
/// }
/// # let _ = at_most(Vec::new(), 3);
/// ```
#[derive(Clone)]
pub struct OfferedTools(pub(super) Offer);

#[derive(Clone)]
pub(super) enum Offer {
    Tools(Vec<Arc<dyn Tool>>),
    Registry(ToolRegistry),
}

impl From<Vec<Arc<dyn Tool>>> for OfferedTools {
    fn from(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self(Offer::Tools(tools))
    }
}

impl<const N: usize> From<[Arc<dyn Tool>; N]> for OfferedTools {
    fn from(tools: [Arc<dyn Tool>; N]) -> Self {
        Self(Offer::Tools(tools.into()))
    }
}

impl FromIterator<Arc<dyn Tool>> for OfferedTools {
    fn from_iter<I: IntoIterator<Item = Arc<dyn Tool>>>(tools: I) -> Self {
        Self(Offer::Tools(tools.into_iter().collect()))
    }
}

impl From<ToolRegistry> for OfferedTools {
    fn from(registry: ToolRegistry) -> Self {
        Self(Offer::Registry(registry))
    }
}

impl fmt::Debug for OfferedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = match &self.0 {
            Offer::Tools(tools) => tools.len(),
            Offer::Registry(registry) => registry.len(),
        };
        write!(f, "OfferedTools({count})")
    }
}

/// Says, for people, why a source could not give its tools.
///
/// ```
/// use haft_tools_core::SourceError;
/// use std::error::Error as _;
///
/// let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
/// let error = SourceError::new("the server `notes` does not answer; start it").with_source(refused);
/// assert_eq!(error.to_string(), "the server `notes` does not answer; start it");
/// assert!(error.source().is_some());
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct SourceError {
    reason: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl SourceError {
    /// Makes an error of its reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), source: None }
    }

    /// Adds the cause.
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

/// Tells those who wait that the tools of a source have changed.
///
/// Kept by the source; cheap to clone. Telling it often costs little: who is slow learns of many changes at once.
///
/// ```
/// use haft_tools_core::ChangeSignal;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let signal = ChangeSignal::default();
/// let mut changes = signal.changes();
/// signal.raise();
/// assert!(changes.changed().await);
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct ChangeSignal(Arc<watch::Sender<u64>>);

impl ChangeSignal {
    /// Tells that the tools have changed.
    pub fn raise(&self) {
        self.0.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Lets one wait for what is told from now on.
    pub fn changes(&self) -> Changes {
        Changes(self.0.subscribe())
    }
}

/// Waits for the changes that a [`ChangeSignal`] tells of.
///
/// ```
/// use haft_tools_core::ChangeSignal;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let signal = ChangeSignal::default();
/// let mut changes = signal.changes();
/// drop(signal);
/// assert!(!changes.changed().await, "nobody is left to tell of any");
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Changes(watch::Receiver<u64>);

impl Changes {
    /// Waits for the next change; false when there can be none anymore, because the signal is gone.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a change that is not taken note of is told the next time.
    pub async fn changed(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }

    /// Takes note of what was told so far, so that only what is told from now on is a change.
    pub fn catch_up(&mut self) {
        self.0.mark_unchanged();
    }
}

/// Makes a source of tools that stay the same.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::{Catalog, FixedSource};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let registry = house::registry()?;
/// let catalog = Catalog::builder().source(FixedSource::new("house", registry)).build()?;
/// assert_eq!(catalog.refresh().await.added[0].as_str(), "greet");
/// assert_eq!(catalog.snapshot().names().collect::<Vec<_>>(), ["greet"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct FixedSource {
    name: Box<str>,
    tools: OfferedTools,
}

impl FixedSource {
    /// Names the tools' source.
    pub fn new(name: impl Into<Box<str>>, tools: impl Into<OfferedTools>) -> Self {
        Self { name: name.into(), tools: tools.into() }
    }
}

#[async_trait]
impl ToolSource for FixedSource {
    fn name(&self) -> &str {
        &self.name
    }

    async fn tools(&self) -> Result<OfferedTools, SourceError> {
        Ok(self.tools.clone())
    }
}
