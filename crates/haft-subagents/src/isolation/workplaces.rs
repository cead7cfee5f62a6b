use super::kept_changes::{ChangesError, KeptChanges};
use super::patch::Patch;
use crate::Isolation;
use async_trait::async_trait;
use haft_core::RunId;
use haft_tools_core::{CallScope, ToolRegistry};
use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Makes places for the runs of children that are to work apart from their parent.
///
/// A host that keeps them elsewhere, such as in containers, implements it; `Worktrees` (feature `worktrees`) makes
/// directories.
#[async_trait]
pub trait Workplaces: Send + Sync + 'static {
    /// Makes a place for a child's run, or opens the one that it has already, with what its parent's place holds.
    ///
    /// `parent` is the scope of the run that starts the child. Where that run is [`Placed`] itself, what is there is
    /// what the child begins with.
    ///
    /// # Errors
    ///
    /// When the place cannot be made; nothing is left of it then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave a place behind, which is found by [`Workplaces::prune`], or by making it again.
    async fn place(
        &self,
        parent: &CallScope,
        run: &RunId,
        isolation: Isolation,
    ) -> Result<Arc<dyn Workplace>, WorkplaceError>;

    /// Removes the places that nobody works in and whose runs are not wanted any more, such as those of a host that was
    /// killed; says how many.
    ///
    /// # Errors
    ///
    /// When one cannot be removed; the others are.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: what was not removed is so by the next call.
    async fn prune(
        &self,
        is_wanted: &(dyn for<'a> Fn(&'a RunId) -> bool + Send + Sync),
    ) -> Result<usize, WorkplaceError>;
}

/// Is a place of its own for one run.
#[async_trait]
pub trait Workplace: Send + Sync + 'static {
    /// The run that works here.
    fn run(&self) -> &RunId;

    /// The house's tools, working in this place.
    fn tools(&self) -> &ToolRegistry;

    /// What its parent has and is not here, such as submodules, in words for the model; at most 20.
    fn missing(&self) -> &[String] {
        &[]
    }

    /// Gives access to what an implementation knows of its own places.
    fn as_any(&self) -> &dyn std::any::Any;

    /// Works out what was changed here since the place was made.
    ///
    /// # Errors
    ///
    /// When it cannot be worked out, or is more than a patch may be; the place stays as it is.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing is changed that the next call does not do again.
    async fn changes(&self) -> Result<Patch, WorkplaceError>;

    /// Removes the place with all that is in it.
    ///
    /// # Errors
    ///
    /// When something of it stays.
    ///
    /// # Cancel safety
    ///
    /// When it is dropped the place may be half removed; call it again.
    async fn remove(&self) -> Result<(), WorkplaceError>;
}

/// Tells in a scope in which place its run works; runs that it starts without a place of their own work there, too.
#[derive(Clone)]
pub struct Placed(Arc<dyn Workplace>);

/// Says why a place could not be made, looked at or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkplaceError {
    /// There is no program `git` in the directories that the host gave.
    #[error("cannot find the program `git`")]
    NoGit,
    /// Git refused.
    #[error("git could not {action}: {stderr}")]
    Git {
        /// What was attempted.
        action: &'static str,
        /// The beginning of what it said.
        stderr: String,
    },
    /// Git took too long.
    #[error("git could not {action} within {most:?}")]
    TimedOut {
        /// What was attempted.
        action: &'static str,
        /// How long it may take.
        most: Duration,
    },
    /// A file could not be read, written or removed.
    #[error("cannot {action} `{path}`")]
    Io {
        /// What was attempted.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is more than the limits let in.
    #[error("there are more than {most} {what}")]
    TooMuch {
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        most: u64,
    },
    /// Somebody else works in the place.
    #[error("the place of the run `{run}` is in use")]
    Busy {
        /// The run.
        run: RunId,
    },
    /// What is where the place would be was not made for this.
    #[error("`{path}` is in the way, and was not made here; look at it, and move it away")]
    Foreign {
        /// The directory.
        path: PathBuf,
    },
    /// The host makes no such places.
    #[error("there are no places with the isolation {isolation:?} here")]
    Unsupported {
        /// What was asked for.
        isolation: Isolation,
    },
    /// Anything else that keeps an implementation of the host's own from its work.
    #[error("cannot {action}")]
    Other {
        /// What was attempted.
        action: &'static str,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl WorkplaceError {
    /// Says for a model what is wrong and what to do next, without anything of the host.
    ///
    /// ```
    /// use haft_subagents::WorkplaceError;
    ///
    /// assert_eq!(
    ///     WorkplaceError::NoGit.model_text(),
    ///     "no place of its own can be made here, since git is not installed; delegate to an agent that works in this one",
    /// );
    /// ```
    pub fn model_text(&self) -> String {
        match self {
            Self::NoGit => "no place of its own can be made here, since git is not installed; delegate to an agent that works \
                            in this one"
                .to_owned(),
            Self::TooMuch { what, most } => format!(
                "its place is too large: there are more than {most} {what}; have what is not needed removed or ignored, or \
                 delegate to an agent that works in this one"
            ),
            Self::Busy { .. } => "its place is in use by another; wait, then try again".to_owned(),
            Self::TimedOut { action, .. } => {
                format!("git took too long to {action}; try again, or delegate to an agent that works in this place")
            }
            Self::Unsupported { .. } => {
                "no place of its own can be made here; delegate to an agent that works in this one".to_owned()
            }
            Self::Git { action, .. } => {
                format!("git could not {action}; try again, or delegate to an agent that works in this place")
            }
            Self::Io { .. } | Self::Foreign { .. } | Self::Other { .. } => {
                "its place could not be used; try again, or delegate to an agent that works in this one".to_owned()
            }
        }
    }
}

impl Placed {
    /// Tells a child's scope where it works.
    pub fn enter(scope: CallScope, place: Arc<dyn Workplace>) -> CallScope {
        scope.with_extension(Self(place))
    }

    /// The place in which the run of a scope works, if it or one above it has one of its own.
    pub fn of(scope: &CallScope) -> Option<&Arc<dyn Workplace>> {
        scope.extension::<Self>().map(|Self(place)| place)
    }
}

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Placed").field(self.0.run()).finish()
    }
}

/// Takes what a child changed out of its place: keeps it for its parent, then removes the place.
///
/// In this order, so that nothing is lost whenever it breaks off. A place that holds something that no patch carries stays
/// until it is [pruned](Workplaces::prune), so that a person can still get at it.
///
/// # Errors
///
/// When the changes cannot be worked out or kept; the place stays then.
///
/// # Cancel safety
///
/// When it is dropped the place stays or is half removed, and what was kept by then stays kept; call it again.
pub async fn take_changes(
    place: &dyn Workplace,
    kept: &KeptChanges,
    parent: &RunId,
) -> Result<Patch, WorkplaceError> {
    let patch = place.changes().await?;
    if !patch.files.is_empty() {
        let (kept, parent, run, patch) = (kept.clone(), parent.clone(), place.run().clone(), patch.clone());
        let keep = tokio::task::spawn_blocking(move || kept.keep(&parent, &run, &patch));
        let other = |source: Box<dyn Error + Send + Sync>| WorkplaceError::Other {
            action: "keep the changes",
            source,
        };
        keep.await
            .map_err(|error| other(error.into()))?
            .map_err(|error: ChangesError| other(error.into()))?;
    }
    if patch.left_out.is_empty() {
        // One that cannot be removed is found when places are pruned; the changes are not lost for it.
        let _ = place.remove().await;
    }
    Ok(patch)
}
