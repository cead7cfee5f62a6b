use super::{SqliteStore, Trouble, writing};
use crate::written::{from_json, integer, number, to_json};
use crate::{ChildRuns, DatabaseError, Entry};
use async_trait::async_trait;
use haft_core::RunId;
use haft_tools_core::{StoreError, now_ms};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;

#[async_trait]
impl ChildRuns for SqliteStore {
    async fn put_child(&self, run: &RunId, root: &RunId, record: &Value) -> Result<(), StoreError> {
        let (run, root, record) = (run.clone(), root.clone(), record.clone());
        self.durably("keep the run", move |connection| {
            let record = to_json(&record)?;
            connection
                .prepare_cached(
                    "INSERT INTO children (run, root, seq, updated_at_ms, record) VALUES (?1, ?2, \
                     (SELECT coalesce(max(seq), 0) + 1 FROM children WHERE root = ?2), ?3, ?4) \
                     ON CONFLICT (run) DO UPDATE SET record = excluded.record, updated_at_ms = excluded.updated_at_ms",
                )?
                .execute(params![run.as_str(), root.as_str(), integer(now_ms()), record])?;
            Ok(())
        })
        .await
    }

    async fn child(&self, run: &RunId) -> Result<Option<Value>, StoreError> {
        let run = run.clone();
        self.durably("read the run", move |connection| {
            let mut select = connection.prepare_cached("SELECT record FROM children WHERE run = ?1")?;
            let record: Option<String> = select.query_row([run.as_str()], |row| row.get(0)).optional()?;
            Ok(record.map(|record| from_json("run", run.as_str(), &record)).transpose()?)
        })
        .await
    }

    async fn children(&self, root: &RunId) -> Result<Vec<Value>, StoreError> {
        let root = root.clone();
        self.durably("read the runs", move |connection| {
            let entries = entries(connection, &root)?.into_iter();
            Ok(entries.map(|entry| entry.value).collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn child_entries(&self, root: &RunId) -> Result<Vec<Entry<Value>>, StoreError> {
        let root = root.clone();
        self.durably("read the runs", move |connection| Ok(entries(connection, &root)?)).await
    }

    async fn keep_child(
        &self,
        run: &RunId,
        head: Value,
        from: usize,
        entries: Vec<Value>,
    ) -> Result<(), StoreError> {
        let run = run.clone();
        self.durably("keep where the run stands", move |connection| {
            keep(connection, &run, &head, from as u64, &entries)
        })
        .await
    }

    async fn child_state(&self, run: &RunId) -> Result<Option<(Value, Vec<Value>)>, StoreError> {
        let run = run.clone();
        self.durably("read where the run stands", move |connection| {
            let mut select =
                connection.prepare_cached("SELECT head, entries FROM children WHERE run = ?1")?;
            let found: Option<(Option<String>, i64)> =
                select.query_row([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            let Some((Some(head), entries)) = found else { return Ok(None) };
            let mut select = connection
                .prepare_cached("SELECT body FROM child_log WHERE run = ?1 AND seq < ?2 ORDER BY seq")?;
            let mut rows = select.query(params![run.as_str(), entries])?;
            let mut log = Vec::new();
            while let Some(row) = rows.next()? {
                let body = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
                log.push(from_json("run", run.as_str(), body)?);
            }
            Ok(Some((from_json("run", run.as_str(), &head)?, log)))
        })
        .await
    }

    async fn forget_children(&self, root: &RunId) -> Result<(), StoreError> {
        let root = root.clone();
        self.durably("forget the runs", move |connection| Ok(forget(connection, &root)?)).await
    }
}

fn entries(connection: &Connection, root: &RunId) -> rusqlite::Result<Vec<Entry<Value>>> {
    let mut select = connection
        .prepare_cached("SELECT run, CAST(record AS TEXT) FROM children WHERE root = ?1 ORDER BY seq")?;
    let entries = select.query_map([root.as_str()], |row| {
        let (id, record): (String, String) = (row.get(0)?, row.get(1)?);
        let value = from_json("run", &id, &record);
        Ok(Entry { id, value })
    })?;
    entries.collect()
}

/// Forgets the runs below one that goes.
pub(super) fn forget(connection: &Connection, root: &RunId) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM children WHERE root = ?1")?.execute([root.as_str()])?;
    Ok(())
}

fn keep(
    connection: &mut Connection,
    run: &RunId,
    head: &Value,
    from: u64,
    entries: &[Value],
) -> Result<(), Trouble> {
    let transaction = writing(connection)?;
    let known: Option<i64> = transaction
        .prepare_cached("SELECT entries FROM children WHERE run = ?1")?
        .query_row([run.as_str()], |row| row.get(0))
        .optional()?;
    let known = number(known.ok_or_else(|| DatabaseError::out_of_step(run, "it has no record"))?);
    if known < from {
        return Err(DatabaseError::out_of_step(
            run,
            format!("its log has {known} entries, and {from} were kept before"),
        )
        .into());
    }
    transaction
        .prepare_cached("DELETE FROM child_log WHERE run = ?1 AND seq >= ?2")?
        .execute(params![run.as_str(), integer(from)])?;
    for (seq, entry) in (from..).zip(entries) {
        transaction
            .prepare_cached("INSERT INTO child_log (run, seq, body) VALUES (?1, ?2, ?3)")?
            .execute(params![run.as_str(), integer(seq), to_json(entry)?])?;
    }
    transaction
        .prepare_cached("UPDATE children SET head = ?2, entries = ?3, updated_at_ms = ?4 WHERE run = ?1")?
        .execute(params![
            run.as_str(),
            to_json(head)?,
            integer(from + entries.len() as u64),
            integer(now_ms())
        ])?;
    transaction.commit()?;
    Ok(())
}
