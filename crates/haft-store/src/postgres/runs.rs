use super::children::FORGET;
use super::{Guarded, PostgresStore, Trouble};
use crate::written::{from_json, integer, number, to_json};
use crate::{DatabaseError, RunLease, RunStatus, RunStore, RunSummary, SaveError, StoredRun, TakeError};
use async_trait::async_trait;
use deadpool_postgres::{ClientWrapper, Object};
use haft_core::RunId;
use haft_tools_core::{StoreError, now_ms};
use serde_json::Value;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// For how long it is waited until the server knows that a run was given back.
const GIVING_BACK: Duration = Duration::from_secs(1);

/// What names the lock of a run: those of other schemas are others.
pub(super) const LOCK: &str = "hashtextextended(current_schema || ' run ' || $1, 0)";

/// A run is taken by a lock of the server, which the connection has that took it. Where that connection breaks, somebody else
/// can take the run; whoever had it cannot save it over what the other saved.
#[async_trait]
impl RunStore for PostgresStore {
    async fn append(&self, run: &mut StoredRun, entries: Vec<Value>) -> Result<(), SaveError> {
        let next = StoredRun { revision: run.revision + 1, updated_at_ms: now_ms(), ..run.clone() };
        let (revision, updated_at_ms) = (next.revision, next.updated_at_ms);
        let added = entries.len() as u64;
        let stored = self
            .durably("keep the run", move |client| {
                Box::pin(async move { append(client, &next, &entries).await })
            })
            .await?;
        match stored {
            Saved::Kept => {
                (run.revision, run.updated_at_ms) = (revision, updated_at_ms);
                run.entries += added;
                Ok(())
            }
            Saved::Over(Some(stored)) => {
                Err(SaveError::Outdated { run: run.run.clone(), stored, held: run.revision })
            }
            Saved::Over(None) => Err(SaveError::Deleted { run: run.run.clone() }),
        }
    }

    async fn log(&self, run: &RunId) -> Result<Vec<Value>, StoreError> {
        let run = run.clone();
        self.durably("read the run", move |client| {
            Box::pin(async move {
                let sql = "SELECT body FROM run_log WHERE run = $1 ORDER BY seq";
                let mut log = Vec::new();
                for row in client.query(sql, &[&run.as_str()]).await? {
                    log.push(from_json("run", run.as_str(), row.try_get(0)?)?);
                }
                Ok(log)
            })
        })
        .await
    }

    async fn load(&self, run: &RunId) -> Result<Option<StoredRun>, StoreError> {
        let run = run.clone();
        self.durably("read the run", move |client| {
            Box::pin(async move {
                let sql = "SELECT run, agent, started_at_ms, updated_at_ms, status, revision, state, host, entries \
                           FROM runs WHERE run = $1";
                client.query_opt(sql, &[&run.as_str()]).await?.as_ref().map(stored).transpose()
            })
        })
        .await
    }

    async fn list_runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.durably("read the runs", |client| {
            Box::pin(async move {
                let sql = "SELECT run, agent, started_at_ms, updated_at_ms, status, revision FROM runs \
                           ORDER BY updated_at_ms DESC, run";
                client.query(sql, &[]).await?.iter().map(summary).collect()
            })
        })
        .await
    }

    async fn delete(&self, run: &RunId) -> Result<bool, StoreError> {
        let run = run.clone();
        self.durably("delete the run", move |client| {
            Box::pin(async move {
                let transaction = client.transaction().await?;
                transaction.execute(FORGET, &[&run.as_str()]).await?;
                let deleted =
                    transaction.execute("DELETE FROM runs WHERE run = $1", &[&run.as_str()]).await?;
                transaction.commit().await?;
                Ok(deleted > 0)
            })
        })
        .await
    }

    async fn take(&self, run: &RunId) -> Result<RunLease, TakeError> {
        let (name, inner) = (run.clone(), Arc::clone(&self.0));
        let work = async move {
            let taken = async {
                // The lock is its connection's, which is nobody else's from now on; also where nobody hears that it was had.
                let mut client = Guarded::of(&inner.durable).await?;
                let sql = format!("SELECT pg_try_advisory_lock({LOCK})");
                if client.get().query_one(&sql, &[&name.as_str()]).await?.try_get(0)? {
                    return Ok(Some(client.keep()));
                }
                client.give_back();
                Ok(None)
            };
            inner.within(inner.patience(), taken).await
        };
        match self.apart(work).await.map_err(|error| StoreError::new("take the run", error))? {
            Some(client) => {
                Ok(RunLease::new(Lease { store: self.clone(), run: run.clone(), client: Some(client) }))
            }
            None => Err(TakeError::Held { run: run.clone(), process: None }),
        }
    }
}

/// Gives a run back when it is dropped, and waits until the server knows.
struct Lease {
    store: PostgresStore,
    run: RunId,
    client: Option<ClientWrapper>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        let run = self.run.clone();
        let (done, given_back) = mpsc::sync_channel(1);
        self.store.handle().spawn(async move {
            // The connection ends with this, and with it the lock, whatever the server says.
            let unlock = format!("SELECT pg_advisory_unlock({LOCK})");
            let unlocked = timeout(GIVING_BACK, client.query_one(&unlock, &[&run.as_str()])).await;
            let _ = done.send(unlocked.is_ok());
        });
        let _ = given_back.recv_timeout(GIVING_BACK);
    }
}

/// Says what became of a run that was to be saved.
enum Saved {
    Kept,
    /// This revision is there instead, or none.
    Over(Option<u64>),
}

/// Saves a run over the revision before its own, and adds to its log.
async fn append(client: &mut Object, run: &StoredRun, entries: &[Value]) -> Result<Saved, Trouble> {
    let (state, host) = (to_json(&run.state)?, to_json(&run.host)?);
    let bodies: Vec<String> = entries.iter().map(to_json).collect::<Result<_, _>>()?;
    let held = run.revision.saturating_sub(1);
    let transaction = client.transaction().await?;
    let name = run.run.as_str();
    let (revision, all) = (integer(run.revision), integer(run.entries + entries.len() as u64));
    let (started, updated) = (integer(run.started_at_ms), integer(run.updated_at_ms));
    let status = run.status.as_str();
    let held_revision = integer(held);
    let mut values: Vec<&(dyn ToSql + Sync)> =
        vec![&name, &revision, &run.agent, &started, &updated, &status, &state, &host, &all];
    let sql = if held == 0 {
        "INSERT INTO runs (run, revision, agent, started_at_ms, updated_at_ms, status, state, host, entries) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (run) DO NOTHING"
    } else {
        values.push(&held_revision);
        "UPDATE runs SET revision = $2, agent = $3, started_at_ms = $4, updated_at_ms = $5, status = $6, state = $7, \
         host = $8, entries = $9 WHERE run = $1 AND revision = $10"
    };
    if transaction.execute(sql, &values).await? == 0 {
        let stored = transaction.query_opt("SELECT revision FROM runs WHERE run = $1", &[&name]).await?;
        return Ok(Saved::Over(stored.map(|row| number(row.get(0)))));
    }
    if !bodies.is_empty() {
        let places: Vec<i64> = (run.entries..).take(bodies.len()).map(integer).collect();
        let sql = "INSERT INTO run_log (run, seq, body) SELECT $1, * FROM unnest($2::bigint[], $3::text[])";
        transaction.execute(sql, &[&name, &places, &bodies]).await?;
    }
    transaction.commit().await?;
    Ok(Saved::Kept)
}

pub(super) fn summary(row: &Row) -> Result<RunSummary, Trouble> {
    let (run, status): (&str, &str) = (row.try_get(0)?, row.try_get(4)?);
    let unknown = || DatabaseError::unreadable("run", run, format!("the status `{status}` is not known"));
    Ok(RunSummary {
        status: RunStatus::parse(status).ok_or_else(unknown)?,
        agent: row.try_get(1)?,
        started_at_ms: number(row.try_get(2)?),
        updated_at_ms: number(row.try_get(3)?),
        revision: number(row.try_get(5)?),
        run: run.parse().map_err(|error| DatabaseError::unreadable("run", run, error))?,
    })
}

fn stored(row: &Row) -> Result<StoredRun, Trouble> {
    let RunSummary { run, agent, started_at_ms, updated_at_ms, status, revision } = summary(row)?;
    let state = from_json("run", run.as_str(), row.try_get(6)?)?;
    let host = from_json("run", run.as_str(), row.try_get(7)?)?;
    let entries = number(row.try_get(8)?);
    Ok(StoredRun { run, agent, started_at_ms, updated_at_ms, status, revision, entries, state, host })
}
