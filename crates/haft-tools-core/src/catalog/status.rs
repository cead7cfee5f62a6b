use crate::RefusedTool;
use haft_core::{EventKind, ToolName};
use std::time::SystemTime;

/// Says which tools a refresh brought, took away and changed, each in the order of the names.
///
/// ```
/// use haft_tools_core::{Catalog, FixedSource, ToolRegistry};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let catalog = Catalog::builder().source(FixedSource::new("house", ToolRegistry::new())).build()?;
/// let change = catalog.refresh().await;
/// assert!(change.is_empty(), "{:?} came, {:?} went", change.added, change.removed);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CatalogChange {
    /// Tools that were not there before.
    pub added: Vec<ToolName>,
    /// Tools that are there no more.
    pub removed: Vec<ToolName>,
    /// Tools whose [`version`](haft_core::ToolSpec::version) became another under the old name.
    pub changed: Vec<ToolName>,
}

impl CatalogChange {
    /// Tells whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }

    pub(crate) fn into_event(self) -> EventKind {
        let Self { added, removed, changed } = self;
        EventKind::ToolsChanged { added, removed, changed }
    }
}

/// Says how a source of a catalog is doing.
///
/// ```
/// use haft_tools_core::{Catalog, FixedSource, SourceHealth, ToolRegistry};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let catalog = Catalog::builder().source(FixedSource::new("house", ToolRegistry::new())).build()?;
/// catalog.refresh().await;
/// for status in catalog.statuses() {
///     println!("{}: {} tools, {} refused", status.name, status.tools, status.refused.len());
///     assert!(matches!(status.health, SourceHealth::Ready { .. }));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceStatus {
    /// The source's name.
    pub name: String,
    /// Whether it could be read.
    pub health: SourceHealth,
    /// How many of its tools the catalog has.
    pub tools: usize,
    /// Those of its tools that were left out.
    pub refused: Vec<RefusedTool>,
}

/// Says whether a source could be read when it was asked last.
///
/// ```
/// use haft_tools_core::{Catalog, FixedSource, SourceHealth, ToolRegistry};
///
/// let catalog = Catalog::builder().source(FixedSource::new("house", ToolRegistry::new())).build()?;
/// let said = match &catalog.statuses()[0].health {
///     SourceHealth::Ready { .. } => "ready".to_owned(),
///     SourceHealth::Failed { reason, times, .. } => format!("failed {times} times: {reason}"),
///     _ => "not asked yet".to_owned(),
/// };
/// assert_eq!(said, "not asked yet");
/// # Ok::<(), haft_tools_core::CatalogError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceHealth {
    /// It has not answered yet.
    Waiting,
    /// It gave its tools.
    Ready {
        /// When it answered.
        at: SystemTime,
    },
    /// It did not; the tools it gave before, if it gave any, are still there.
    Failed {
        /// When it failed last.
        at: SystemTime,
        /// Why, for people; at most 500 characters. It goes through no redactor, other than the event that says the same.
        reason: String,
        /// How often it failed in a row.
        times: u32,
    },
}
