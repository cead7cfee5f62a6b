use super::{SqliteStore, Trouble, children, leases, writing};
use crate::written::{from_json, integer, number, to_json};
use crate::{DatabaseError, RunLease, RunStatus, RunStore, RunSummary, SaveError, StoredRun, TakeError};
use async_trait::async_trait;
use haft_core::RunId;
use haft_tools_core::StoreError;
use haft_tools_core::now_ms;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::Value;

#[async_trait]
impl RunStore for SqliteStore {
    async fn append(&self, run: &mut StoredRun, entries: Vec<Value>) -> Result<(), SaveError> {
        let next = StoredRun { revision: run.revision + 1, updated_at_ms: now_ms(), ..run.clone() };
        let (revision, updated_at_ms) = (next.revision, next.updated_at_ms);
        let added = entries.len() as u64;
        let saved =
            self.durably("keep the run", move |connection| append(connection, &next, &entries)).await?;
        match saved {
            Saved::Kept => {
                (run.revision, run.updated_at_ms) = (revision, updated_at_ms);
                run.entries += added;
                Ok(())
            }
            Saved::Outdated { stored } => {
                Err(SaveError::Outdated { run: run.run.clone(), stored, held: run.revision })
            }
            Saved::Deleted => Err(SaveError::Deleted { run: run.run.clone() }),
        }
    }

    async fn log(&self, run: &RunId) -> Result<Vec<Value>, StoreError> {
        let run = run.clone();
        self.durably("read the run", move |connection| {
            let mut select =
                connection.prepare_cached("SELECT body FROM run_log WHERE run = ?1 ORDER BY seq")?;
            let mut rows = select.query([run.as_str()])?;
            let mut log = Vec::new();
            while let Some(row) = rows.next()? {
                let body = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
                log.push(from_json("run", run.as_str(), body)?);
            }
            Ok(log)
        })
        .await
    }

    async fn load(&self, run: &RunId) -> Result<Option<StoredRun>, StoreError> {
        let run = run.clone();
        self.durably("read the run", move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT run, agent, started_at_ms, updated_at_ms, status, revision, state, host, entries FROM runs \
                 WHERE run = ?1",
            )?;
            let mut rows = select.query([run.as_str()])?;
            Ok(match rows.next()? {
                Some(row) => Some(stored(row)?),
                None => None,
            })
        })
        .await
    }

    async fn list_runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.durably("read the runs", |connection| {
            let mut select = connection.prepare_cached(
                "SELECT run, agent, started_at_ms, updated_at_ms, status, revision FROM runs \
                 ORDER BY updated_at_ms DESC, run",
            )?;
            let mut rows = select.query(())?;
            let mut list = Vec::new();
            while let Some(row) = rows.next()? {
                list.push(summary(row)?);
            }
            Ok(list)
        })
        .await
    }

    async fn delete(&self, run: &RunId) -> Result<bool, StoreError> {
        let run = run.clone();
        self.durably("delete the run", move |connection| {
            let transaction = writing(connection)?;
            let deleted =
                transaction.prepare_cached("DELETE FROM runs WHERE run = ?1")?.execute([run.as_str()])? > 0;
            children::forget(&transaction, &run)?;
            transaction.commit()?;
            Ok(deleted)
        })
        .await
    }

    async fn take(&self, run: &RunId) -> Result<RunLease, TakeError> {
        // A few calls of the system, on a file that nobody else waits for.
        self.take_now(run)
    }
}

impl SqliteStore {
    pub(super) fn take_now(&self, run: &RunId) -> Result<RunLease, TakeError> {
        match &self.0.path {
            Some(path) => leases::take(path, run),
            None => self.0.taken.take(run),
        }
    }
}

/// Says what became of a run that was to be saved.
enum Saved {
    Kept,
    Outdated { stored: u64 },
    Deleted,
}

/// Saves a run over the revision before its own, and adds to its log.
fn append(connection: &mut Connection, run: &StoredRun, entries: &[Value]) -> Result<Saved, Trouble> {
    let (state, host) = (to_json(&run.state)?, to_json(&run.host)?);
    let held = run.revision.saturating_sub(1);
    let transaction = writing(connection)?;
    let stored: Option<i64> = transaction
        .prepare_cached("SELECT revision FROM runs WHERE run = ?1")?
        .query_row([run.run.as_str()], |row| row.get(0))
        .optional()?;
    match stored.map(number) {
        None if held > 0 => return Ok(Saved::Deleted),
        Some(stored) if stored != held => return Ok(Saved::Outdated { stored }),
        _ => {}
    }
    transaction
        .prepare_cached(
            "INSERT INTO runs (run, revision, agent, started_at_ms, updated_at_ms, status, state, host, entries) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
             ON CONFLICT (run) DO UPDATE SET revision = excluded.revision, agent = excluded.agent, \
             started_at_ms = excluded.started_at_ms, updated_at_ms = excluded.updated_at_ms, \
             status = excluded.status, state = excluded.state, host = excluded.host, entries = excluded.entries",
        )?
        .execute(params![
            run.run.as_str(),
            integer(run.revision),
            run.agent,
            integer(run.started_at_ms),
            integer(run.updated_at_ms),
            run.status.as_str(),
            state,
            host,
            integer(run.entries + entries.len() as u64),
        ])?;
    for (seq, entry) in (run.entries..).zip(entries) {
        transaction
            .prepare_cached("INSERT INTO run_log (run, seq, body) VALUES (?1, ?2, ?3)")?
            .execute(params![run.run.as_str(), integer(seq), to_json(entry)?])?;
    }
    transaction.commit()?;
    Ok(Saved::Kept)
}

pub(super) fn summary(row: &Row<'_>) -> Result<RunSummary, Trouble> {
    let (run, status): (String, String) = (row.get(0)?, row.get(4)?);
    let unknown = || DatabaseError::unreadable("run", &run, format!("the status `{status}` is not known"));
    Ok(RunSummary {
        status: RunStatus::parse(&status).ok_or_else(unknown)?,
        agent: row.get(1)?,
        started_at_ms: number(row.get(2)?),
        updated_at_ms: number(row.get(3)?),
        revision: number(row.get(5)?),
        run: run.parse().map_err(|error| DatabaseError::unreadable("run", &run, error))?,
    })
}

fn stored(row: &Row<'_>) -> Result<StoredRun, Trouble> {
    let RunSummary { run, agent, started_at_ms, updated_at_ms, status, revision } = summary(row)?;
    let (state, host): (String, String) = (row.get(6)?, row.get(7)?);
    let (state, host) = (from_json("run", run.as_str(), &state)?, from_json("run", run.as_str(), &host)?);
    let entries = number(row.get(8)?);
    Ok(StoredRun { run, agent, started_at_ms, updated_at_ms, status, revision, entries, state, host })
}
