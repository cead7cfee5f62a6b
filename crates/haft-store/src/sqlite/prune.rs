use super::{SqliteStore, Trouble, children, writing};
use crate::written::{integer, to_json};
use crate::{GivenUp, Pruned, RunLease, TakeError, Upkeep};
use async_trait::async_trait;
use haft_core::RunId;
use haft_tools_core::{GrantPlace, StoreError};
use haft_tools_core::{milliseconds, now_ms};
use rusqlite::Transaction;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

#[async_trait]
impl Upkeep for SqliteStore {
    async fn prune(&self, older_than: Duration) -> Result<Pruned, StoreError> {
        let store = self.clone();
        self.durably("remove old entries", move |connection| {
            let transaction = writing(connection)?;
            let (pruned, _leases) = store.prune_in(&transaction, older_than)?;
            transaction.commit()?;
            Ok(pruned)
        })
        .await
    }

    async fn prune_if_due(
        &self,
        older_than: Duration,
        every: Duration,
    ) -> Result<Option<Pruned>, StoreError> {
        let store = self.clone();
        self.durably("remove old entries", move |connection| {
            let now = now_ms();
            let due = (integer(now.saturating_sub(milliseconds(every))), integer(now));
            // One that is done in the future was done by a clock that was wrong.
            let is_done = "SELECT 1 FROM upkeep WHERE what = 'prune' AND at_ms > ?1 AND at_ms <= ?2";
            if connection.prepare_cached(is_done)?.exists(due)? {
                return Ok(None);
            }
            let transaction = writing(connection)?;
            if transaction.prepare_cached(is_done)?.exists(due)? {
                return Ok(None);
            }
            transaction.execute(
                "INSERT INTO upkeep (what, at_ms) VALUES ('prune', ?1) \
                 ON CONFLICT (what) DO UPDATE SET at_ms = excluded.at_ms",
                [integer(now)],
            )?;
            let (pruned, _leases) = store.prune_in(&transaction, older_than)?;
            transaction.commit()?;
            Ok(Some(pruned))
        })
        .await
    }

    async fn give_up(&self, run: &RunId) -> Result<GivenUp, StoreError> {
        self.end_for_good(run).await
    }
}

impl SqliteStore {
    /// Prunes, and gives the leases of the runs that go, to be held until that counts.
    fn prune_in(
        &self,
        transaction: &Transaction<'_>,
        older_than: Duration,
    ) -> Result<(Pruned, Vec<RunLease>), Trouble> {
        let before = integer(now_ms().saturating_sub(milliseconds(older_than)));
        let mut pruned = Pruned {
            records: transaction.execute("DELETE FROM journal WHERE at_ms < ?1", [before])?,
            pending: transaction.execute("DELETE FROM pending WHERE expires_at_ms < ?1", [before])?,
            runs: 0,
            grants: transaction.execute("DELETE FROM grants WHERE expires_at_ms < ?1", [before])?,
        };
        let waited_for = waited_for(transaction)?;
        let mut leases = Vec::new();
        for (run, has_ended) in untouched_since(transaction, before)? {
            if !has_ended {
                if waited_for.contains(run.as_str()) {
                    continue;
                }
                match self.take_now(&run) {
                    Ok(lease) => leases.push(lease),
                    Err(TakeError::Held { .. } | TakeError::Store(_)) => continue,
                }
            }
            pruned.runs += transaction.execute("DELETE FROM runs WHERE run = ?1", [run.as_str()])?;
            children::forget(transaction, &run)?;
            let claimed = "DELETE FROM pending WHERE run = ?1 AND claimed_at_ms IS NOT NULL";
            pruned.pending += transaction.execute(claimed, [run.as_str()])?;
            let place = to_json(&GrantPlace::Run(run))?;
            pruned.grants += transaction.execute("DELETE FROM grants WHERE place = ?1", [place])?;
        }
        // Those whose root was never kept, or is gone.
        transaction.execute(
            "DELETE FROM children WHERE updated_at_ms < ?1 AND root NOT IN (SELECT run FROM runs)",
            [before],
        )?;
        Ok((pruned, leases))
    }
}

/// Lists the runs that were last saved before this time, each with whether it has ended; one that has no readable name stays.
fn untouched_since(transaction: &Transaction<'_>, before: i64) -> Result<Vec<(RunId, bool)>, Trouble> {
    let mut select =
        transaction.prepare("SELECT run, status = 'ended' FROM runs WHERE updated_at_ms < ?1")?;
    let mut rows = select.query([before])?;
    let mut runs = Vec::new();
    while let Some(row) = rows.next()? {
        let name = row.get_ref(0)?.as_str().ok().and_then(|name| name.parse().ok());
        if let Some(run) = name {
            runs.push((run, row.get(1)?));
        }
    }
    Ok(runs)
}

/// Lists the runs in which a call waits, or below which one does.
fn waited_for(transaction: &Transaction<'_>) -> Result<BTreeSet<String>, Trouble> {
    let mut select = transaction.prepare("SELECT run, body FROM pending WHERE claimed_at_ms IS NULL")?;
    let mut rows = select.query(())?;
    let mut runs = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let body = row.get_ref(1)?.as_bytes().map_err(rusqlite::Error::from)?;
        // A call that cannot be read may still say this much.
        let call: Value = serde_json::from_slice(body).unwrap_or_default();
        let above = call["above"].as_array().into_iter().flatten();
        runs.extend(above.filter_map(|above| above["run"].as_str()).map(str::to_owned));
        runs.insert(row.get(0)?);
    }
    Ok(runs)
}
