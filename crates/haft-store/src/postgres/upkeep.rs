use super::children::FORGET;
use super::entries::Above;
use super::runs::LOCK;
use super::{PostgresStore, Trouble};
use crate::written::{integer, to_json};
use crate::{GivenUp, Pruned, Upkeep};
use async_trait::async_trait;
use deadpool_postgres::Transaction;
use haft_core::RunId;
use haft_tools_core::{GrantPlace, StoreError, milliseconds, now_ms};
use std::collections::BTreeSet;
use std::time::Duration;

#[async_trait]
impl Upkeep for PostgresStore {
    async fn prune(&self, older_than: Duration) -> Result<Pruned, StoreError> {
        self.durably("remove old entries", move |client| {
            Box::pin(async move {
                let transaction = client.transaction().await?;
                let pruned = prune(&transaction, older_than).await?;
                transaction.commit().await?;
                Ok(pruned)
            })
        })
        .await
    }

    async fn prune_if_due(
        &self,
        older_than: Duration,
        every: Duration,
    ) -> Result<Option<Pruned>, StoreError> {
        let now = now_ms();
        let (before, now) = (integer(now.saturating_sub(milliseconds(every))), integer(now));
        self.durably("remove old entries", move |client| {
            Box::pin(async move {
                // One that is done in the future was done by a clock that was wrong.
                let sql =
                    "SELECT EXISTS (SELECT FROM upkeep WHERE what = 'prune' AND at_ms > $1 AND at_ms <= $2)";
                if client.query_one(sql, &[&before, &now]).await?.try_get(0)? {
                    return Ok(None);
                }
                let transaction = client.transaction().await?;
                let sql = "INSERT INTO upkeep (what, at_ms) VALUES ('prune', $2) \
                           ON CONFLICT (what) DO UPDATE SET at_ms = excluded.at_ms \
                           WHERE upkeep.at_ms <= $1 OR upkeep.at_ms > $2";
                if transaction.execute(sql, &[&before, &now]).await? == 0 {
                    return Ok(None);
                }
                let pruned = prune(&transaction, older_than).await?;
                transaction.commit().await?;
                Ok(Some(pruned))
            })
        })
        .await
    }

    async fn give_up(&self, run: &RunId) -> Result<GivenUp, StoreError> {
        let run = run.clone();
        self.durably("give up the run", move |client| {
            Box::pin(async move {
                let transaction = client.transaction().await?;
                let given_up = give_up(&transaction, &run).await?;
                transaction.commit().await?;
                Ok(given_up)
            })
        })
        .await
    }
}

async fn give_up(transaction: &Transaction<'_>, run: &RunId) -> Result<GivenUp, Trouble> {
    let (name, now) = (run.as_str(), integer(now_ms()));
    let sql = "SELECT id, body, run = $1 OR run IN (SELECT run FROM children WHERE root = $1) FROM pending \
               WHERE claimed_at_ms IS NULL FOR UPDATE";
    let mut calls: Vec<String> = Vec::new();
    for row in transaction.query(sql, &[&name]).await? {
        if row.try_get(2)? || Above::of(row.try_get(1)?).runs().any(|above| above == name) {
            calls.push(row.try_get(0)?);
        }
    }
    let sql = "UPDATE pending SET claimed_at_ms = $2, body = NULL, answer = NULL WHERE id = ANY($1)";
    transaction.execute(sql, &[&calls, &now]).await?;
    transaction.execute(FORGET, &[&name]).await?;
    let ended = transaction
        .execute(
            "UPDATE runs SET status = 'ended', state = 'null', host = 'null', entries = 0, updated_at_ms = $2, \
             revision = revision + 1 WHERE run = $1 AND status <> 'ended'",
            &[&name, &now],
        )
        .await?;
    if ended > 0 {
        transaction.execute("DELETE FROM run_log WHERE run = $1", &[&name]).await?;
    }
    forget_grants(transaction, run).await?;
    Ok(GivenUp { run: ended > 0, calls: calls.len() })
}

/// Removes what has been of no use for as long; runs that are taken stay so until the transaction ends.
async fn prune(transaction: &Transaction<'_>, older_than: Duration) -> Result<Pruned, Trouble> {
    let before = integer(now_ms().saturating_sub(milliseconds(older_than)));
    let removed = async |sql: &str| Ok::<_, Trouble>(counted(transaction.execute(sql, &[&before]).await?));
    let mut pruned = Pruned {
        records: removed("DELETE FROM journal WHERE at_ms < $1").await?,
        pending: removed("DELETE FROM pending WHERE expires_at_ms < $1").await?,
        runs: 0,
        grants: removed("DELETE FROM grants WHERE expires_at_ms < $1").await?,
    };
    let waited_for = waited_for(transaction).await?;
    let sql = "SELECT run, status = 'ended' FROM runs WHERE updated_at_ms < $1";
    for row in transaction.query(sql, &[&before]).await? {
        let (name, has_ended): (&str, bool) = (row.try_get(0)?, row.try_get(1)?);
        // One that has no readable name stays.
        let Ok(run) = name.parse::<RunId>() else { continue };
        if !has_ended && (waited_for.contains(name) || !take(transaction, name).await?) {
            continue;
        }
        // Whoever has saved it meanwhile goes on with it.
        let sql = "DELETE FROM runs WHERE run = $1 AND updated_at_ms < $2";
        if transaction.execute(sql, &[&name, &before]).await? == 0 {
            continue;
        }
        pruned.runs += 1;
        transaction.execute(FORGET, &[&name]).await?;
        let sql = "DELETE FROM pending WHERE run = $1 AND claimed_at_ms IS NOT NULL";
        pruned.pending += counted(transaction.execute(sql, &[&name]).await?);
        pruned.grants += forget_grants(transaction, &run).await?;
    }
    // Those whose root was never kept, or is gone.
    removed("DELETE FROM children WHERE updated_at_ms < $1 AND root NOT IN (SELECT run FROM runs)").await?;
    Ok(pruned)
}

/// Takes a run for as long as the transaction goes on, unless somebody has it.
async fn take(transaction: &Transaction<'_>, run: &str) -> Result<bool, Trouble> {
    let sql = format!("SELECT pg_try_advisory_xact_lock({LOCK})");
    Ok(transaction.query_one(&sql, &[&run]).await?.try_get(0)?)
}

/// Lists the runs in which a call waits, or below which one does.
async fn waited_for(transaction: &Transaction<'_>) -> Result<BTreeSet<String>, Trouble> {
    let mut runs = BTreeSet::new();
    for row in transaction.query("SELECT run, body FROM pending WHERE claimed_at_ms IS NULL", &[]).await? {
        // A call that cannot be read may still say this much.
        runs.extend(Above::of(row.try_get(1)?).runs().map(str::to_owned));
        runs.insert(row.try_get(0)?);
    }
    Ok(runs)
}

async fn forget_grants(transaction: &Transaction<'_>, run: &RunId) -> Result<usize, Trouble> {
    let place = to_json(&GrantPlace::Run(run.clone()))?;
    Ok(counted(transaction.execute("DELETE FROM grants WHERE place = $1", &[&place]).await?))
}

fn counted(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}
