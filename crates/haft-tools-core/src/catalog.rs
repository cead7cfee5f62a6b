//! Merges sources of tools that live on their own, and gives one unchanging registry for each turn.

mod admission;
mod builder;
mod follow;
mod merge;
mod slot;
mod source;
mod status;

pub use builder::CatalogBuilder;
pub(crate) use merge::difference;
pub use source::{ChangeSignal, Changes, FixedSource, OfferedTools, SourceError, ToolSource};
pub use status::{CatalogChange, SourceHealth, SourceStatus};

use crate::{CallScope, CollisionPolicy, Events, Selector, ToolRegistry, panicked};
use haft_core::EventKind;
use slot::{Load, Loaded, Slot};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Merges the tools of sources that change on their own, and gives one unchanging [`ToolRegistry`] for each turn.
///
/// Cheap to clone: clones are the same catalog. [`Catalog::snapshot`] is what a turn starts with; it costs a reference count
/// and never waits for a source. [`Catalog::refresh`] asks the sources, and [`Catalog::follow`] does so when they tell of a
/// change.
///
/// Sources are asked at the same time, each in a task of its own and with a timeout. One that fails, panics or hangs keeps
/// the tools it gave last and is reported by [`Catalog::statuses`] and an event; the others are not held up. The tools of
/// one that answers are there at once. A tool that cannot be used is left out with its reason. What did not change from
/// one refresh to the next is not compiled again.
///
/// Where two sources have a tool of one name, that of the later source is left out and reported, unless the builder is
/// given another [`CollisionPolicy`] or told to prefix every name with that of its source. The name `search_tools` is kept
/// for the tool by which [`RunTools`](crate::RunTools) loads deferred tools.
///
/// ```
/// use haft_core::ToolError;
/// use haft_tools_core::{Accesses, CallContext, Catalog, FixedSource, tool_fn};
/// use std::sync::Arc;
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ping = tool_fn("ping", "Answers.", Accesses::none(), |_: Nothing, _: CallContext| async {
///     Ok::<_, ToolError>("pong")
/// })?;
/// let catalog = Catalog::builder().source(FixedSource::new("demo", [Arc::new(ping) as _])).build()?;
/// assert!(catalog.snapshot().is_empty());
///
/// let change = catalog.refresh().await;
/// assert_eq!(change.added, ["ping".parse()?]);
/// assert_eq!(catalog.snapshot().names().collect::<Vec<_>>(), ["ping"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Catalog(Arc<Inner>);

struct Inner {
    settings: Settings,
    slots: Mutex<Vec<Slot>>,
    snapshot: RwLock<ToolRegistry>,
    /// Counts the sources that were ever attached; what is told is that there is a new one.
    attached: watch::Sender<u64>,
}

struct Settings {
    timeout: Duration,
    retry_delay: Duration,
    most_tools: usize,
    collisions: CollisionPolicy,
    prefixed: bool,
    selectors: Vec<Selector>,
    events: Option<(Events, CallScope)>,
}

/// Says why a source cannot be part of a catalog.
///
/// ```
/// use haft_tools_core::{Catalog, CatalogError, FixedSource, ToolRegistry};
///
/// let source = || FixedSource::new("notes", ToolRegistry::new());
/// let error = Catalog::builder().source(source()).source(source()).build().unwrap_err();
/// assert_eq!(error, CatalogError::Duplicate { name: "notes".to_owned() });
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// A source's name is empty.
    #[error("a source of tools must have a name")]
    Unnamed,
    /// Another source has the name.
    #[error("two sources of tools are called `{name}`; rename one of them")]
    Duplicate {
        /// The name.
        name: String,
    },
}

impl Catalog {
    /// Starts to set a catalog up.
    pub fn builder() -> CatalogBuilder {
        CatalogBuilder::default()
    }

    /// Takes the tools as they are now; costs one reference count.
    pub fn snapshot(&self) -> ToolRegistry {
        self.0.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says how every source is doing, in the order of the sources.
    pub fn statuses(&self) -> Vec<SourceStatus> {
        self.slots().iter().map(Slot::status).collect()
    }

    /// Adds a source, after those that are there; its tools come with the next refresh.
    ///
    /// # Errors
    ///
    /// When it has no name or that of another source.
    pub fn attach(&self, source: impl ToolSource) -> Result<(), CatalogError> {
        self.attach_shared(Arc::new(source))
    }

    fn attach_shared(&self, source: Arc<dyn ToolSource>) -> Result<(), CatalogError> {
        let name = source.name().to_owned();
        if name.is_empty() {
            return Err(CatalogError::Unnamed);
        }
        // The source's own code runs before anything is locked.
        let mut slot = Slot::new(name.as_str().into(), source);
        let mut slots = self.slots();
        if slots.iter().any(|slot| *slot.name == *name) {
            return Err(CatalogError::Duplicate { name });
        }
        slot.id = *self.0.attached.borrow() + 1;
        self.0.attached.send_replace(slot.id);
        slots.push(slot);
        Ok(())
    }

    /// Takes a source and its tools away; says what changed, which is nothing where there is no such source.
    pub fn detach(&self, name: &str) -> CatalogChange {
        let mut slots = self.slots();
        let count = slots.len();
        slots.retain(|slot| *slot.name != *name);
        if slots.len() == count {
            return CatalogChange::default();
        }
        let change = self.publish(&mut slots);
        drop(slots);
        self.tell(&change);
        change
    }

    /// Asks every source for its tools, and says what changed from the beginning to the end.
    ///
    /// Takes as long as the slowest source, and no longer than the timeout, unless a source blocks its thread: the timeout
    /// ends only what waits. The tools of the others are in [`Catalog::snapshot`] before. Must be called within a tokio
    /// runtime with time.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: sources that have not answered yet keep the tools they gave last.
    pub async fn refresh(&self) -> CatalogChange {
        self.load(|_| true).await
    }

    /// Asks one source for its tools, and says what changed; nothing changes where there is no such source.
    ///
    /// # Cancel safety
    ///
    /// As for [`Catalog::refresh`].
    pub async fn refresh_source(&self, name: &str) -> CatalogChange {
        self.load(|slot| *slot.name == *name).await
    }

    async fn load(&self, chosen: impl Fn(&Slot) -> bool) -> CatalogChange {
        let before = self.snapshot();
        let settings = &self.0.settings;
        let mut loads = JoinSet::new();
        let mut tickets = HashMap::new();
        let begun: Vec<Load> = self.slots().iter_mut().filter(|slot| chosen(slot)).map(Slot::begin).collect();
        for load in begun {
            let ticket = load.ticket();
            let prefix = settings.prefixed.then(|| Arc::clone(&load.name));
            let task = loads.spawn(load.run(prefix, settings.most_tools, settings.timeout));
            tickets.insert(task.id(), ticket);
        }
        while let Some(first) = loads.join_next_with_id().await {
            let mut ended = vec![first];
            ended.extend(std::iter::from_fn(|| loads.try_join_next_with_id()));
            let loaded = ended.into_iter().filter_map(|ended| {
                let (task, result) = match ended {
                    Ok((task, result)) => (task, result),
                    Err(error) => (error.id(), Err(SourceError::new(ending(error)))),
                };
                Some(Loaded { ticket: tickets.remove(&task)?, result })
            });
            self.apply(loaded);
        }
        difference(&before, &self.snapshot())
    }

    /// Takes note of what sources answered, and puts the tools together anew.
    fn apply(&self, loaded: impl Iterator<Item = Loaded>) {
        let mut slots = self.slots();
        let mut failures = Vec::new();
        for loaded in loaded {
            if let Some(slot) = slots.iter_mut().find(|slot| slot.id == loaded.ticket.slot)
                && let Some(reason) = slot.end(loaded)
            {
                failures.push((slot.name.to_string(), reason));
            }
        }
        let change = self.publish(&mut slots);
        drop(slots);
        for (source, reason) in failures {
            self.emit(|| EventKind::SourceFailed { source, reason });
        }
        self.tell(&change);
    }

    /// Makes the next snapshot of what the sources have; the same one stays where nothing became another.
    fn publish(&self, slots: &mut [Slot]) -> CatalogChange {
        let merged = merge::merge(
            slots.iter().map(|slot| &*slot.admitted),
            &self.0.settings.selectors,
            self.0.settings.collisions,
        );
        for (slot, (tools, refused)) in slots.iter_mut().zip(merged.sources) {
            (slot.tools, slot.refused) = (tools, refused);
        }
        // Only written with the sources locked, so it stays as it is until the end.
        let before = self.snapshot();
        if before.is_same(&merged.registry) {
            return CatalogChange::default();
        }
        let change = difference(&before, &merged.registry);
        merged.registry.take_over_search(&before);
        *self.0.snapshot.write().unwrap_or_else(PoisonError::into_inner) = merged.registry;
        change
    }

    fn tell(&self, change: &CatalogChange) {
        if !change.is_empty() {
            self.emit(|| change.clone().into_event());
        }
    }

    fn emit(&self, kind: impl FnOnce() -> EventKind) {
        if let Some((events, scope)) = &self.0.settings.events {
            events.emit(scope, None, kind);
        }
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.0.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog")
            .field("sources", &self.statuses())
            .field("tools", &self.snapshot())
            .finish_non_exhaustive()
    }
}

fn ending(error: tokio::task::JoinError) -> String {
    match error.try_into_panic() {
        Ok(payload) => format!("it panicked: {}", panicked::message(&*payload)),
        Err(_) => "it was cancelled".to_owned(),
    }
}
