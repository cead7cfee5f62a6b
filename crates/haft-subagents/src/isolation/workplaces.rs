use super::kept_changes::{ChangesError, KeptChanges};
use super::patch::Patch;
use crate::Isolation;
use async_trait::async_trait;
use haft_core::RunId;
use haft_tools_core::{CallScope, ToolRegistry};
use std::any::Any;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Makes places for the runs of children that are to work apart from their parent.
///
/// A host that keeps them elsewhere, such as in containers, implements it; `Worktrees` (feature `worktrees`) makes
/// directories.
///
/// ```
/// # use async_trait::async_trait;
/// # use haft_core::RunId;
/// # use haft_subagents::{Patch, Workplace, WorkplaceError};
/// # use haft_tools_core::ToolRegistry;
/// # struct Here(RunId, ToolRegistry);
/// # #[async_trait]
/// # impl Workplace for Here {
/// #     fn run(&self) -> &RunId { &self.0 }
/// #     fn tools(&self) -> &ToolRegistry { &self.1 }
/// #     async fn take_up(&self, _: &Patch) -> Result<(), WorkplaceError> { Ok(()) }
/// #     fn has_taken_up(&self) -> bool { false }
/// #     async fn changes(&self) -> Result<Patch, WorkplaceError> { Ok(Patch::default()) }
/// #     async fn remove(&self) -> Result<(), WorkplaceError> { Ok(()) }
/// # }
/// use haft_subagents::{Isolation, Workplaces};
/// use haft_tools_core::CallScope;
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// /// Has one place for each run, and nothing to remove.
/// struct Places;
///
/// #[async_trait]
/// impl Workplaces for Places {
///     async fn place(
///         &self,
///         _parent: &CallScope,
///         run: &RunId,
///         _isolation: Isolation,
///     ) -> Result<Arc<dyn Workplace>, WorkplaceError> {
///         Ok(Arc::new(Here(run.clone(), ToolRegistry::new())))
///     }
///
///     async fn prune(
///         &self,
///         _older_than: Duration,
///         _is_wanted: &(dyn for<'a> Fn(&'a RunId) -> bool + Send + Sync),
///     ) -> Result<usize, WorkplaceError> {
///         Ok(0)
///     }
/// }
/// ```
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

    /// Removes the places that nobody works in, that were made longer ago than this, and whose runs are not wanted any more,
    /// such as those of a host that was killed; says how many.
    ///
    /// Of each that is old enough it is asked once whether its run is wanted.
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
        older_than: Duration,
        is_wanted: &(dyn for<'a> Fn(&'a RunId) -> bool + Send + Sync),
    ) -> Result<usize, WorkplaceError>;
}

/// Is a place of its own for one run.
///
/// Who makes places knows its own again by their type, as a `dyn Any`.
///
/// ```
/// use async_trait::async_trait;
/// use haft_core::RunId;
/// use haft_subagents::{Patch, Workplace, WorkplaceError};
/// use haft_tools_core::ToolRegistry;
///
/// /// Is a place where nothing can be changed.
/// struct ReadOnly {
///     run: RunId,
///     tools: ToolRegistry,
/// }
///
/// #[async_trait]
/// impl Workplace for ReadOnly {
///     fn run(&self) -> &RunId {
///         &self.run
///     }
///
///     fn tools(&self) -> &ToolRegistry {
///         &self.tools
///     }
///
///     async fn changes(&self) -> Result<Patch, WorkplaceError> {
///         Ok(Patch::default())
///     }
///
///     // …
/// #   async fn take_up(&self, _: &Patch) -> Result<(), WorkplaceError> { Ok(()) }
/// #   fn has_taken_up(&self) -> bool { false }
/// #   async fn remove(&self) -> Result<(), WorkplaceError> { Ok(()) }
/// }
/// ```
#[async_trait]
pub trait Workplace: Any + Send + Sync {
    /// The run that works here.
    fn run(&self) -> &RunId;

    /// The house's tools, working in this place.
    fn tools(&self) -> &ToolRegistry;

    /// What its parent has and is not here, such as submodules, in words for the model; at most 20.
    fn missing(&self) -> &[String] {
        &[]
    }

    /// Where it is, where that is a directory that people can look at.
    fn path(&self) -> Option<&Path> {
        None
    }

    /// Puts in what the run had changed in a place that it had before, unless it was put in already: what is
    /// [told](Self::changes) from then on has that in it.
    ///
    /// # Errors
    ///
    /// [`WorkplaceError::Unfit`] where it does not fit what the place holds; or when it cannot be written.
    ///
    /// # Cancel safety
    ///
    /// When it is dropped it is put in or not, which the next call finds out.
    async fn take_up(&self, patch: &Patch) -> Result<(), WorkplaceError>;

    /// Whether something was [put in](Self::take_up), so that the changes that are told replace it.
    fn has_taken_up(&self) -> bool;

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
///
/// ```
/// # use async_trait::async_trait;
/// # use haft_core::RunId;
/// # use haft_subagents::{Patch, Workplace, WorkplaceError};
/// # use haft_tools_core::ToolRegistry;
/// # struct Here(RunId, ToolRegistry);
/// # #[async_trait]
/// # impl Workplace for Here {
/// #     fn run(&self) -> &RunId { &self.0 }
/// #     fn tools(&self) -> &ToolRegistry { &self.1 }
/// #     async fn take_up(&self, _: &Patch) -> Result<(), WorkplaceError> { Ok(()) }
/// #     fn has_taken_up(&self) -> bool { false }
/// #     async fn changes(&self) -> Result<Patch, WorkplaceError> { Ok(Patch::default()) }
/// #     async fn remove(&self) -> Result<(), WorkplaceError> { Ok(()) }
/// # }
/// use haft_subagents::Placed;
/// use haft_tools_core::CallScope;
/// use std::sync::Arc;
///
/// let run: RunId = "editor-1".parse()?;
/// let place = Arc::new(Here(run.clone(), ToolRegistry::new()));
/// let scope = Placed::enter(CallScope::new(run.clone()), place);
/// assert_eq!(Placed::of(&scope).map(|place| place.run()), Some(&run));
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Clone)]
pub struct Placed(Arc<dyn Workplace>);

/// Says why a place could not be made, looked at or removed.
///
/// ```
/// use haft_subagents::WorkplaceError;
///
/// let error = WorkplaceError::Busy { run: "editor-1".parse()? };
/// assert_eq!(error.to_string(), "the place of the run `editor-1` is in use");
/// assert_eq!(error.model_text(), "the place of the agent is in use by another; wait, then try again");
/// # Ok::<(), haft_core::IdError>(())
/// ```
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
    #[error("git could not {action} within {} s", most.as_secs_f64())]
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
    /// There are as many places as there may be.
    #[error("there are {most} places of agents already, and no more are made until some of them are removed")]
    Full {
        /// How many there may be.
        most: usize,
    },
    /// What the run had changed before does not fit the place that it works in now.
    #[error("what the run `{run}` has changed before does not fit what is there now")]
    Unfit {
        /// The run.
        run: RunId,
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
    #[error("there are no places with the isolation `{}` here", spelled(*isolation))]
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

/// Spells an isolation as it is configured.
fn spelled(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::Shared => "shared",
        Isolation::Worktree => "worktree",
        Isolation::Copy => "copy",
    }
}

impl WorkplaceError {
    /// Says for a model what is wrong and what to do next, without anything of the host.
    ///
    /// ```
    /// use haft_subagents::WorkplaceError;
    ///
    /// assert_eq!(
    ///     WorkplaceError::NoGit.model_text(),
    ///     "the agent cannot get a place of its own, since git is not installed; delegate to one that works in this place",
    /// );
    /// ```
    pub fn model_text(&self) -> String {
        match self {
            Self::NoGit => "the agent cannot get a place of its own, since git is not installed; delegate to one that \
                            works in this place"
                .to_owned(),
            Self::TooMuch { what, most } => format!(
                "the place of the agent is too large: there are more than {most} {what}; have what is not needed removed \
                 or ignored, or delegate to an agent that works in this place"
            ),
            Self::Full { most } => format!(
                "the agent cannot get a place of its own, since {most} of other agents are there still; wait until those \
                 are done, or delegate to an agent that works in this place"
            ),
            Self::Unfit { .. } => "what the agent changed before was not applied, and does not fit what is here by now; \
                                   look at it with `show_changes`, make those changes yourself, and delegate the rest anew"
                .to_owned(),
            Self::Busy { .. } => "the place of the agent is in use by another; wait, then try again".to_owned(),
            Self::TimedOut { action, .. } => {
                format!("git took too long to {action}; try again, or delegate to an agent that works in this place")
            }
            Self::Unsupported { .. } => {
                "the agent cannot get a place of its own here; delegate to an agent that works in this place".to_owned()
            }
            Self::Git { action, .. } => {
                format!("git could not {action}; try again, or delegate to an agent that works in this place")
            }
            Self::Io { .. } | Self::Foreign { .. } | Self::Other { .. } => {
                "the place of the agent cannot be used; try again, or delegate to an agent that works in this place".to_owned()
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

/// Puts into a child's place what it had changed before and its parent has not applied yet, if there is such.
///
/// A child that has ended and is asked for more gets a new place, which is as its parent's. With this it goes on from what it
/// has done, and its next patch takes the place of the one before, which is in it.
///
/// ```
/// # use async_trait::async_trait;
/// # use haft_core::RunId;
/// # use haft_subagents::{Patch, Workplace, WorkplaceError};
/// # use haft_tools_core::ToolRegistry;
/// # struct Here(RunId, ToolRegistry);
/// # #[async_trait]
/// # impl Workplace for Here {
/// #     fn run(&self) -> &RunId { &self.0 }
/// #     fn tools(&self) -> &ToolRegistry { &self.1 }
/// #     async fn take_up(&self, _: &Patch) -> Result<(), WorkplaceError> { Ok(()) }
/// #     fn has_taken_up(&self) -> bool { false }
/// #     async fn changes(&self) -> Result<Patch, WorkplaceError> { Ok(Patch::default()) }
/// #     async fn remove(&self) -> Result<(), WorkplaceError> { Ok(()) }
/// # }
/// use haft_subagents::{KeptChanges, take_up_changes};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let scratch = tempfile::tempdir()?;
/// let kept = KeptChanges::new(scratch.path().join("changes"));
/// # let place = Here("editor-1".parse()?, ToolRegistry::new());
/// // Nothing of it waits, so the place stays as its parent's is.
/// take_up_changes(&place, &kept, &"lead".parse()?).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// When it does not fit the place any more, cannot be read, or is being applied; what is kept stays kept.
///
/// # Cancel safety
///
/// As for [`Workplace::take_up`].
pub async fn take_up_changes(
    place: &dyn Workplace,
    kept: &KeptChanges,
    parent: &RunId,
) -> Result<(), WorkplaceError> {
    match waiting(place, kept, parent).await? {
        Some(patch) => place.take_up(&patch).await,
        None => Ok(()),
    }
}

/// Takes what a child changed out of its place: keeps it for its parent, then removes the place.
///
/// In this order, so that nothing is lost whenever it breaks off: where the place is as it was at the start and changes of the
/// child are kept already, these are given. A place that holds something that no patch carries stays until it is
/// [pruned](Workplaces::prune), so that a person can still get at it.
///
/// ```
/// # use async_trait::async_trait;
/// # use haft_core::RunId;
/// # use haft_subagents::{Patch, Workplace, WorkplaceError};
/// # use haft_tools_core::ToolRegistry;
/// # struct Here(RunId, ToolRegistry);
/// # #[async_trait]
/// # impl Workplace for Here {
/// #     fn run(&self) -> &RunId { &self.0 }
/// #     fn tools(&self) -> &ToolRegistry { &self.1 }
/// #     async fn take_up(&self, _: &Patch) -> Result<(), WorkplaceError> { Ok(()) }
/// #     fn has_taken_up(&self) -> bool { false }
/// #     async fn changes(&self) -> Result<Patch, WorkplaceError> {
/// #         Ok(Patch::new("…", vec![PatchFile::new("a.txt", FileChange::Added)]))
/// #     }
/// #     async fn remove(&self) -> Result<(), WorkplaceError> { Ok(()) }
/// # }
/// use haft_subagents::{KeptChanges, take_changes};
/// # use haft_subagents::{FileChange, PatchFile};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let scratch = tempfile::tempdir()?;
/// let kept = KeptChanges::new(scratch.path().join("changes"));
/// let (parent, run) = ("lead".parse()?, "editor-1".parse()?);
/// # let place = Here(run, ToolRegistry::new());
/// let patch = take_changes(&place, &kept, &parent).await?;
/// assert_eq!(patch.files[0].path, "a.txt");
/// assert_eq!(kept.waiting(&parent)?, [place.run().clone()]);
/// # Ok(())
/// # }
/// ```
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
    let mut patch = place.changes().await?;
    if !patch.files.is_empty() {
        let (parent, run, patch) = (parent.clone(), place.run().clone(), patch.clone());
        on_kept(kept, move |kept| kept.keep(&parent, &run, &patch)).await?;
    } else if place.has_taken_up() {
        let (parent, run) = (parent.clone(), place.run().clone());
        on_kept(kept, move |kept| kept.withdraw(&parent, &run)).await?;
    } else if let Some(waiting) = waiting(place, kept, parent).await? {
        // The process ended after it had kept them, and before it could say so.
        (patch.text, patch.files) = (waiting.text, waiting.files);
    }
    if patch.left_out.is_empty() {
        // One that cannot be removed is found when places are pruned; the changes are not lost for it.
        let _ = place.remove().await;
    }
    Ok(patch)
}

/// What a child had changed before and waits to be applied.
async fn waiting(
    place: &dyn Workplace,
    kept: &KeptChanges,
    parent: &RunId,
) -> Result<Option<Patch>, WorkplaceError> {
    let (parent, run) = (parent.clone(), place.run().clone());
    on_kept(kept, move |kept| match kept.to_apply(&parent, &run) {
        Ok((patch, _)) => Ok(Some(patch)),
        Err(ChangesError::Unknown { .. } | ChangesError::Applied { .. }) => Ok(None),
        Err(error) => Err(error),
    })
    .await
}

/// Reads or writes what is kept, where that blocks nobody.
async fn on_kept<T: Send + 'static>(
    kept: &KeptChanges,
    work: impl FnOnce(&KeptChanges) -> Result<T, ChangesError> + Send + 'static,
) -> Result<T, WorkplaceError> {
    let kept = kept.clone();
    let other =
        |source: Box<dyn Error + Send + Sync>| WorkplaceError::Other { action: "keep the changes", source };
    let done = tokio::task::spawn_blocking(move || work(&kept)).await;
    done.map_err(|error| other(error.into()))?.map_err(|error| other(error.into()))
}
