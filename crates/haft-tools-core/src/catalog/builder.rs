use super::{Catalog, CatalogError, Inner, Settings, ToolSource};
use crate::{CallScope, CollisionPolicy, Events, Selector, ToolRegistry};
use std::fmt;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;
use tokio::sync::watch;

/// Sets a [`Catalog`] up.
///
/// ```
/// use haft_tools_core::{Catalog, FixedSource, ToolRegistry};
/// use std::time::Duration;
///
/// let catalog = Catalog::builder()
///     .source(FixedSource::new("house", ToolRegistry::new()))
///     .select("!delete_*".parse()?)
///     .timeout(Duration::from_secs(10))
///     .build()?;
/// assert_eq!(catalog.statuses().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CatalogBuilder {
    sources: Vec<Arc<dyn ToolSource>>,
    timeout: Duration,
    retry_delay: Duration,
    most_tools: usize,
    collisions: CollisionPolicy,
    prefixed: bool,
    selectors: Vec<Selector>,
    events: Option<(Events, CallScope)>,
}

impl Default for CatalogBuilder {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            timeout: Duration::from_secs(30),
            retry_delay: Duration::from_secs(30),
            most_tools: 20_000,
            collisions: CollisionPolicy::Refuse,
            prefixed: false,
            selectors: Vec::new(),
            events: None,
        }
    }
}

impl CatalogBuilder {
    /// Adds a source, after those that were added before; one that the host keeps a hold of is given in an [`Arc`].
    pub fn source(mut self, source: impl ToolSource) -> Self {
        self.sources.push(Arc::new(source));
        self
    }

    /// Sets how long a source may take to give its tools; 30 s by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how long [`Catalog::follow`] waits before it asks a source again that failed; 30 s by default.
    ///
    /// The time doubles with every further failure, up to 32 times of it; it is at least 100 ms.
    pub fn retry_delay(mut self, delay: Duration) -> Self {
        self.retry_delay = delay;
        self
    }

    /// Sets how many tools are taken of one source; 20,000 by default.
    pub fn most_tools(mut self, most: usize) -> Self {
        self.most_tools = most;
        self
    }

    /// Says what to do when two sources have a tool of one name.
    ///
    /// By default the later source's tool is refused: it is left out and reported. With `KeepFirst` it is left out without
    /// a report, and with `KeepLast` it takes the place.
    pub fn collisions(mut self, collisions: CollisionPolicy) -> Self {
        self.collisions = collisions;
        self
    }

    /// Puts every source's tools into a namespace: `create_issue` of `github` becomes `github__create_issue`.
    ///
    /// A name that would be too long or invalid is projected by [`ToolName::project`](haft_core::ToolName::project); aliases
    /// are dropped.
    pub fn prefixed(mut self) -> Self {
        self.prefixed = true;
        self
    }

    /// Keeps only the tools that are chosen, as [`ToolRegistry::filtered`] does.
    ///
    /// Said more than once, each selector takes away from what those before it leave. What is left out keeps its name from
    /// nobody.
    pub fn select(mut self, selector: Selector) -> Self {
        self.selectors.push(selector);
        self
    }

    /// Tells observers of changes and failing sources, as events of this scope's run.
    pub fn events(mut self, events: Events, scope: CallScope) -> Self {
        self.events = Some((events, scope));
        self
    }

    /// Makes the catalog, without tools until it is refreshed.
    ///
    /// # Errors
    ///
    /// When a source has no name or two have the same.
    pub fn build(self) -> Result<Catalog, CatalogError> {
        let Self { sources, timeout, retry_delay, most_tools, collisions, prefixed, selectors, events } =
            self;
        let settings = Settings { timeout, retry_delay, most_tools, collisions, prefixed, selectors, events };
        let catalog = Catalog(Arc::new(Inner {
            settings,
            slots: Mutex::default(),
            snapshot: RwLock::new(ToolRegistry::new()),
            attached: watch::Sender::new(0),
        }));
        sources.into_iter().try_for_each(|source| catalog.attach_shared(source))?;
        Ok(catalog)
    }
}

impl fmt::Debug for CatalogBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogBuilder").field("sources", &self.sources.len()).finish_non_exhaustive()
    }
}
