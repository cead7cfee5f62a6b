use super::PostgresStore;
use crate::Pruned;
use crate::written::integer;
use haft_tools_core::{StoreError, milliseconds, now_ms};
use std::time::Duration;

impl PostgresStore {
    /// Removes what has been of no use for as long: records, expired grants, pending calls that have expired, claimed or not,
    /// and runs that have ended.
    ///
    /// What is left of a claimed call that does not expire stays for good, since it is what keeps the call from running again.
    ///
    /// # Errors
    ///
    /// When it cannot be done; nothing was removed then.
    ///
    /// # Cancel safety
    ///
    /// All of it is removed, or nothing.
    pub async fn prune(&self, older_than: Duration) -> Result<Pruned, StoreError> {
        let before = integer(now_ms().saturating_sub(milliseconds(older_than)));
        self.durably("remove old entries", move |client| {
            Box::pin(async move {
                let transaction = client.transaction().await?;
                let mut removed = [0; 4];
                let statements = [
                    "DELETE FROM journal WHERE at_ms < $1",
                    "DELETE FROM pending WHERE expires_at_ms < $1",
                    "DELETE FROM runs WHERE status = 'ended' AND updated_at_ms < $1",
                    "DELETE FROM grants WHERE expires_at_ms < $1",
                ];
                for (count, statement) in removed.iter_mut().zip(statements) {
                    *count = usize::try_from(transaction.execute(statement, &[&before]).await?)
                        .unwrap_or(usize::MAX);
                }
                transaction.commit().await?;
                let [records, pending, runs, grants] = removed;
                Ok(Pruned { records, pending, runs, grants })
            })
        })
        .await
    }
}
