use super::grant::{Grant, GrantPlace};
use super::store_error::StoreError;
use async_trait::async_trait;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps what people have answered and want to be remembered.
///
/// ```
/// use haft_core::Decision;
/// use haft_tools_core::{Grant, GrantPlace, GrantStore as _, MemoryGrants};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let grants = MemoryGrants::new();
/// let grant = Grant::new(Decision::Allow, "exec(cargo test)", None, GrantPlace::Always);
/// grants.add(&grant).await?;
/// assert_eq!(grants.holding(None, &[GrantPlace::Always]).await?[0].rule, "exec(cargo test)");
/// let elsewhere = [GrantPlace::Run("run-1".parse()?)];
/// assert!(grants.holding(None, &elsewhere).await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait GrantStore: Send + Sync + 'static {
    /// Keeps a grant.
    ///
    /// # Errors
    ///
    /// When it cannot be kept: the call it was given with runs, and the next is asked about again.
    ///
    /// # Cancel safety
    ///
    /// The grant is kept or not kept.
    async fn add(&self, grant: &Grant) -> Result<(), StoreError>;

    /// Finds the grants for an agent that hold in any of these places, without those that have expired.
    ///
    /// # Errors
    ///
    /// When they cannot be read: then the call is refused, since it may have been forbidden.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn holding(
        &self,
        agent: Option<&str>,
        places: &[GrantPlace],
    ) -> Result<Vec<Arc<Grant>>, StoreError>;

    /// Lists all grants, expired ones included, in the order in which they were given.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn list_grants(&self) -> Result<Vec<Arc<Grant>>, StoreError>;

    /// Takes a grant back; gives whether there was one of that name.
    ///
    /// # Errors
    ///
    /// When that cannot be kept: the grant still holds.
    ///
    /// # Cancel safety
    ///
    /// The grant is revoked or not revoked.
    async fn revoke(&self, id: &str) -> Result<bool, StoreError>;
}

/// Keeps grants for as long as the process lives.
///
/// ```
/// use haft_core::Decision;
/// use haft_tools_core::{Grant, GrantPlace, GrantStore as _, MemoryGrants};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let grants = MemoryGrants::new();
/// let grant = Grant::new(Decision::Allow, "exec(cargo test)", None, GrantPlace::Always);
/// grants.add(&grant).await?;
/// assert!(grants.revoke(&grant.id).await?);
/// assert!(grants.list_grants().await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct MemoryGrants(Mutex<Vec<Arc<Grant>>>);

impl MemoryGrants {
    /// Makes a store without any.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Grant>>> {
        // Nothing that is called under the lock panics half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl GrantStore for MemoryGrants {
    async fn add(&self, grant: &Grant) -> Result<(), StoreError> {
        self.lock().push(Arc::new(grant.clone()));
        Ok(())
    }

    async fn holding(
        &self,
        agent: Option<&str>,
        places: &[GrantPlace],
    ) -> Result<Vec<Arc<Grant>>, StoreError> {
        let holds = |grant: &&Arc<Grant>| {
            grant.agent.as_deref() == agent && places.contains(&grant.place) && !grant.is_expired()
        };
        Ok(self.lock().iter().filter(holds).cloned().collect())
    }

    async fn list_grants(&self) -> Result<Vec<Arc<Grant>>, StoreError> {
        Ok(self.lock().clone())
    }

    async fn revoke(&self, id: &str) -> Result<bool, StoreError> {
        let mut grants = self.lock();
        let before = grants.len();
        grants.retain(|grant| grant.id != id);
        Ok(grants.len() < before)
    }
}
