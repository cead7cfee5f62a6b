use super::PostgresStore;
use crate::written::{from_json, integer, number, to_json};
use crate::{Entry, RecordFilter, RecordStore, RecordedRun};
use async_trait::async_trait;
use haft_core::{CallId, RunId};
use haft_tools_core::{JournalRecord, JournalSink, StoreError};
use std::io;
use std::sync::{Arc, mpsc};

/// Writes a record in the task of its call, waiting for the server and not for its disk.
///
/// That blocks the thread of the task for two round trips, and for twice
/// [`PostgresOptions::wait`](crate::PostgresOptions::wait) at most where the server does not answer.
impl JournalSink for PostgresStore {
    fn write(&self, record: &JournalRecord) -> io::Result<()> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| {
            io::Error::other(StoreError::new("keep the record", source))
        };
        let body = to_json(record).map_err(|error| failed(error.into()))?;
        let parent = record.parent_run.as_ref().map(ToString::to_string);
        let (run, call, at_ms) = (record.run.clone(), record.call.clone(), integer(record.at_ms));
        let work = Arc::clone(&self.0).work(
            |inner| &inner.quick,
            move |client| {
                Box::pin(async move {
                    let statement = client
                        .prepare_cached(
                            "INSERT INTO journal (run, call, at_ms, body, parent) VALUES ($1, $2, $3, $4, $5)",
                        )
                        .await?;
                    client.execute(&statement, &[&run.as_str(), &call.as_str(), &at_ms, &body, &parent]).await?;
                    Ok(())
                })
            },
        );
        let (done, written) = mpsc::sync_channel(1);
        self.handle().spawn(async move { done.send(work.await) });
        match written.recv() {
            Ok(written) => written.map_err(|error| failed(error.into())),
            Err(gone) => Err(failed(gone.into())),
        }
    }
}

#[async_trait]
impl RecordStore for PostgresStore {
    async fn records(&self, filter: &RecordFilter) -> Result<Vec<JournalRecord>, StoreError> {
        let RecordFilter { run, call, since_ms, most } = filter.clone();
        self.durably("read the journal", move |client| {
            Box::pin(async move {
                let statement = client
                    .prepare_cached(
                        "SELECT seq, body FROM journal WHERE ($1::text IS NULL OR run = $1) \
                         AND ($2::text IS NULL OR call = $2) AND at_ms >= $3 ORDER BY seq DESC LIMIT $4",
                    )
                    .await?;
                let (run, call) = (run.as_ref().map(RunId::as_str), call.as_ref().map(CallId::as_str));
                let rows =
                    client.query(&statement, &[&run, &call, &integer(since_ms), &i64::from(most)]).await?;
                let mut records = Vec::with_capacity(rows.len());
                for row in rows.iter().rev() {
                    let seq: i64 = row.try_get(0)?;
                    records.push(from_json("record of the journal", &seq.to_string(), row.try_get(1)?)?);
                }
                Ok(records)
            })
        })
        .await
    }
    async fn recorded_runs(&self, most: u32) -> Result<Vec<RecordedRun>, StoreError> {
        self.durably("read the journal", move |client| {
            Box::pin(async move {
                let sql = "SELECT run, at_ms, parent FROM journal \
                           JOIN (SELECT max(seq) AS last FROM journal GROUP BY run) AS newest ON seq = last \
                           ORDER BY seq DESC LIMIT $1";
                let mut runs = Vec::new();
                for row in client.query(sql, &[&i64::from(most)]).await? {
                    let at_ms = number(row.try_get(1)?);
                    runs.push(RecordedRun { run: row.try_get(0)?, at_ms, parent: row.try_get(2)? });
                }
                Ok(runs)
            })
        })
        .await
    }

    async fn record_entries_of_tree(&self, root: &RunId) -> Result<Vec<Entry<JournalRecord>>, StoreError> {
        let root = root.clone();
        self.durably("read the journal", move |client| {
            Box::pin(async move {
                let sql = "WITH RECURSIVE tree (run) AS (SELECT $1::text \
                           UNION SELECT journal.run FROM journal JOIN tree ON journal.parent = tree.run) \
                           SELECT seq, body FROM journal WHERE run IN (SELECT run FROM tree) ORDER BY seq";
                let mut entries = Vec::new();
                for row in client.query(sql, &[&root.as_str()]).await? {
                    let id = row.try_get::<_, i64>(0)?.to_string();
                    let value = from_json("record of the journal", &id, row.try_get(1)?);
                    entries.push(Entry { id, value });
                }
                Ok(entries)
            })
        })
        .await
    }
}
