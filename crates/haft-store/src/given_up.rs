/// Says what there was of a run that was given up.
///
/// ```
/// use haft_store::{RunStore as _, SqliteStore, StoredRun, Upkeep as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = SqliteStore::in_memory()?;
/// let mut run = StoredRun::new("run-1".parse()?);
/// store.save(&mut run).await?;
///
/// let lease = store.take(&run.run).await?;
/// let ended = store.give_up(&run.run).await?;
/// drop(lease);
/// assert_eq!((ended.run, ended.calls), (true, 0));
/// assert!(!store.give_up(&run.run).await?.run);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GivenUp {
    /// Whether the run was kept and had not ended.
    pub run: bool,
    /// How many calls waited in it, and in the runs below it.
    pub calls: usize,
}
