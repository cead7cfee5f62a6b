use std::fmt;

/// Is the right to go on with a run; it is given back when this is dropped.
///
/// It is not kept by anybody whose process has ended.
///
/// ```
/// use haft_store::{RunStore as _, SqliteStore, TakeError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (store, run) = (SqliteStore::in_memory()?, "run-1".parse()?);
/// let lease = store.take(&run).await?;
/// assert!(matches!(store.take(&run).await, Err(TakeError::Held { .. })));
///
/// drop(lease);
/// assert!(store.take(&run).await.is_ok());
/// # Ok(())
/// # }
/// ```
#[must_use = "the run is given back at once"]
pub struct RunLease(
    #[expect(dead_code, reason = "it is kept for what happens when it is dropped")] Box<dyn Send + Sync>,
);

impl RunLease {
    /// Makes a lease that is given back by dropping this value.
    ///
    /// ```
    /// use haft_store::RunLease;
    ///
    /// struct GiveBack;
    ///
    /// impl Drop for GiveBack {
    ///     fn drop(&mut self) { /* tell the server */ }
    /// }
    ///
    /// let lease = RunLease::new(GiveBack);
    /// drop(lease);
    /// ```
    pub fn new(held: impl Send + Sync + 'static) -> Self {
        Self(Box::new(held))
    }
}

impl fmt::Debug for RunLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunLease").finish_non_exhaustive()
    }
}
