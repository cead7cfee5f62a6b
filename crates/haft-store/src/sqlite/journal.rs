use super::{SqliteStore, Trouble, lock};
use crate::written::{from_json, integer, number, to_json};
use crate::{Entry, RecordFilter, RecordStore, RecordedRun};
use async_trait::async_trait;
use haft_core::{CallId, RunId};
use haft_tools_core::{JournalRecord, JournalSink, StoreError};
use rusqlite::{Connection, params};
use std::io;

#[async_trait]
impl RecordStore for SqliteStore {
    async fn records(&self, filter: &RecordFilter) -> Result<Vec<JournalRecord>, StoreError> {
        let filter = filter.clone();
        self.quickly("read the journal", move |connection| select(connection, &filter)).await
    }

    async fn recorded_runs(&self, most: u32) -> Result<Vec<RecordedRun>, StoreError> {
        self.quickly("read the journal", move |connection| {
            let mut select = connection.prepare_cached(&format!(
                "SELECT run, at_ms, {PARENT} FROM journal JOIN (SELECT max(seq) AS last FROM journal GROUP BY run) \
                 ON seq = last ORDER BY seq DESC LIMIT ?1"
            ))?;
            let runs = select.query_map([most], |row| {
                Ok(RecordedRun { run: row.get(0)?, at_ms: number(row.get(1)?), parent: row.get(2)? })
            })?;
            Ok(runs.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn record_entries_of_tree(&self, root: &RunId) -> Result<Vec<Entry<JournalRecord>>, StoreError> {
        let root = root.clone();
        self.quickly("read the journal", move |connection| {
            let mut select = connection.prepare_cached(&format!(
                "WITH RECURSIVE pairs (run, parent) AS MATERIALIZED (SELECT DISTINCT run, {PARENT} FROM journal \
                 WHERE seq >= coalesce((SELECT min(seq) FROM journal WHERE run = ?1), 0)), \
                 tree (run) AS (SELECT ?1 UNION SELECT pairs.run FROM pairs JOIN tree ON pairs.parent = tree.run) \
                 SELECT seq, body FROM journal WHERE run IN (SELECT run FROM tree) ORDER BY seq"
            ))?;
            let mut rows = select.query([root.as_str()])?;
            let mut entries = Vec::new();
            while let Some(row) = rows.next()? {
                let id = row.get::<_, i64>(0)?.to_string();
                let value = from_json("record of the journal", &id, &row.get::<_, String>(1)?);
                entries.push(Entry { id, value });
            }
            Ok(entries)
        })
        .await
    }
}

/// The run above that of a record, whatever is in the record.
const PARENT: &str = "CASE WHEN json_valid(body) THEN CAST(json_extract(body, '$.parent_run') AS TEXT) END";

/// Writes a record in the task of its call, and does not wait for the disk.
///
/// While another process writes, it waits for that, for as long as [`StoreOptions::wait`](crate::StoreOptions::wait) says.
impl JournalSink for SqliteStore {
    fn write(&self, record: &JournalRecord) -> io::Result<()> {
        insert(&lock(&self.0.quick), record).map_err(|trouble| {
            io::Error::other(StoreError::new("keep the record", trouble.into_error(self.0.wait)))
        })
    }
}

fn insert(connection: &Connection, record: &JournalRecord) -> Result<(), Trouble> {
    let body = to_json(record)?;
    connection
        .prepare_cached("INSERT INTO journal (run, call, at_ms, body) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![record.run.as_str(), record.call.as_str(), integer(record.at_ms), body])?;
    Ok(())
}

fn select(connection: &Connection, filter: &RecordFilter) -> Result<Vec<JournalRecord>, Trouble> {
    // What is not asked for is left out of the statement, so that an index can be used for what is.
    let run = if filter.run.is_some() { "run = ?1" } else { "?1 IS NULL" };
    let call = if filter.call.is_some() { "call = ?2" } else { "?2 IS NULL" };
    let mut select = connection.prepare_cached(&format!(
        "SELECT seq, body FROM journal WHERE {run} AND {call} AND at_ms >= ?3 ORDER BY seq DESC LIMIT ?4"
    ))?;
    let mut rows = select.query(params![
        filter.run.as_ref().map(RunId::as_str),
        filter.call.as_ref().map(CallId::as_str),
        integer(filter.since_ms),
        filter.most,
    ])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        let (seq, body): (i64, String) = (row.get(0)?, row.get(1)?);
        records.push(from_json("record of the journal", &seq.to_string(), &body)?);
    }
    records.reverse();
    Ok(records)
}
