use super::runs::summary;
use super::{SqliteStore, Trouble};
use crate::written::number;
use crate::{DatabaseError, Entry, EntryStore, PendingEntry, RunSummary};
use async_trait::async_trait;
use haft_tools_core::{Grant, PendingId, StoreError};
use rusqlite::Row;
use serde::de::DeserializeOwned;

#[async_trait]
impl EntryStore for SqliteStore {
    async fn grant_entries(&self) -> Result<Vec<Entry<Grant>>, StoreError> {
        self.durably("read the grants", |connection| {
            let mut select = connection.prepare_cached("SELECT id, body FROM grants ORDER BY seq")?;
            let mut rows = select.query(())?;
            let mut entries = Vec::new();
            while let Some(row) = rows.next()? {
                let id = text(row, 0)?;
                let value = json(row, 1, "grant", &id)?;
                entries.push(Entry { id, value });
            }
            Ok(entries)
        })
        .await
    }

    async fn pending_entries(&self) -> Result<Vec<PendingEntry>, StoreError> {
        self.durably("read the pending calls", |connection| {
            let mut select = connection.prepare_cached(
                "SELECT id, waiting.run, asked_at_ms, body, COALESCE(answer, 'null'), COALESCE(own.host, above.host, 'null'), top \
                 FROM (SELECT *, COALESCE(CASE WHEN json_valid(body) THEN json_extract(body, '$.above[#-1].run') END, \
                 run) AS top FROM pending WHERE claimed_at_ms IS NULL) AS waiting \
                 LEFT JOIN runs AS own ON own.run = waiting.run LEFT JOIN runs AS above ON above.run = top ORDER BY asked_at_ms, seq",
            )?;
            let mut rows = select.query(())?;
            let mut entries = Vec::new();
            while let Some(row) = rows.next()? {
                let (id, run, top) = (text(row, 0)?, text(row, 1)?, text(row, 6)?);
                entries.push(PendingEntry {
                    asked_at_ms: number(row.get(2)?),
                    call: json(row, 3, "pending call", &id)?,
                    answer: json(row, 4, "answer to the pending call", &id)?,
                    host: json(row, 5, "run", &top)?.unwrap_or_default(),
                    id: PendingId::new(id),
                    run,
                    top,
                });
            }
            Ok(entries)
        })
        .await
    }

    async fn mark(&self) -> Result<String, StoreError> {
        self.quickly("look for changes", |connection| {
            let mut select = connection.prepare_cached(
                "SELECT concat_ws('-', (SELECT coalesce(max(seq), 0) FROM journal), \
                 (SELECT concat_ws('.', count(*), coalesce(max(seq), 0), count(answer), coalesce(sum(seq), 0), \
                 coalesce(sum(seq * (answer IS NOT NULL)), 0), coalesce(sum(length(answer)), 0)) \
                 FROM pending WHERE claimed_at_ms IS NULL), \
                 (SELECT concat_ws('.', count(*), coalesce(max(seq), 0), coalesce(sum(seq), 0)) FROM grants))",
            )?;
            Ok(select.query_row((), |row| row.get(0))?)
        })
        .await
    }

    async fn run_entries(&self) -> Result<Vec<Entry<RunSummary>>, StoreError> {
        self.durably("read the runs", |connection| {
            let mut select = connection.prepare_cached(
                "SELECT run, agent, started_at_ms, updated_at_ms, status, revision FROM runs \
                 ORDER BY updated_at_ms DESC, run",
            )?;
            let mut rows = select.query(())?;
            let mut entries = Vec::new();
            while let Some(row) = rows.next()? {
                let id = text(row, 0)?;
                let value = match summary(row) {
                    Ok(summary) => Ok(summary),
                    Err(Trouble::Failed(error)) => Err(error),
                    Err(Trouble::Sqlite(error)) => Err(DatabaseError::unreadable("run", id.as_str(), error)),
                };
                entries.push(Entry { id, value });
            }
            Ok(entries)
        })
        .await
    }
}

/// Reads a text, whatever is in it.
fn text(row: &Row<'_>, column: usize) -> Result<String, Trouble> {
    let bytes = row.get_ref(column)?.as_bytes().map_err(rusqlite::Error::from)?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// Reads JSON, whatever is in it.
fn json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
    id: &str,
) -> Result<Result<T, DatabaseError>, Trouble> {
    let bytes = row.get_ref(column)?.as_bytes().map_err(rusqlite::Error::from)?;
    Ok(serde_json::from_slice(bytes).map_err(|error| DatabaseError::unreadable(what, id, error)))
}
