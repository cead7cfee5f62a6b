use super::{PostgresStore, Trouble};
use crate::written::{from_json, integer, number, to_json};
use crate::{ChildRuns, DatabaseError, Entry};
use async_trait::async_trait;
use deadpool_postgres::Object;
use haft_core::RunId;
use haft_tools_core::{StoreError, now_ms};
use serde_json::Value;

#[async_trait]
impl ChildRuns for PostgresStore {
    async fn put_child(&self, run: &RunId, root: &RunId, record: &Value) -> Result<(), StoreError> {
        let (run, root, record) = (run.clone(), root.clone(), record.clone());
        self.durably("keep the run", move |client| {
            Box::pin(async move {
                let statement = client
                    .prepare_cached(
                        "INSERT INTO children (run, root, updated_at_ms, record) VALUES ($1, $2, $3, $4) \
                         ON CONFLICT (run) DO UPDATE SET record = excluded.record, updated_at_ms = excluded.updated_at_ms",
                    )
                    .await?;
                let (now, record) = (integer(now_ms()), to_json(&record)?);
                client.execute(&statement, &[&run.as_str(), &root.as_str(), &now, &record]).await?;
                Ok(())
            })
        })
        .await
    }

    async fn child(&self, run: &RunId) -> Result<Option<Value>, StoreError> {
        let run = run.clone();
        self.durably("read the run", move |client| {
            Box::pin(async move {
                let sql = "SELECT record FROM children WHERE run = $1";
                let Some(row) = client.query_opt(sql, &[&run.as_str()]).await? else { return Ok(None) };
                Ok(Some(from_json("run", run.as_str(), row.try_get(0)?)?))
            })
        })
        .await
    }

    async fn children(&self, root: &RunId) -> Result<Vec<Value>, StoreError> {
        let root = root.clone();
        self.durably("read the runs", move |client| {
            Box::pin(async move {
                let entries = entries(client, &root).await?.into_iter();
                Ok(entries.map(|entry| entry.value).collect::<Result<_, _>>()?)
            })
        })
        .await
    }

    async fn child_entries(&self, root: &RunId) -> Result<Vec<Entry<Value>>, StoreError> {
        let root = root.clone();
        self.durably("read the runs", move |client| Box::pin(async move { entries(client, &root).await }))
            .await
    }

    async fn keep_child(
        &self,
        run: &RunId,
        head: Value,
        from: usize,
        entries: Vec<Value>,
    ) -> Result<(), StoreError> {
        let run = run.clone();
        self.durably("keep where the run stands", move |client| {
            Box::pin(async move { keep(client, &run, &head, from as u64, &entries).await })
        })
        .await
    }

    async fn child_state(&self, run: &RunId) -> Result<Option<(Value, Vec<Value>)>, StoreError> {
        let run = run.clone();
        self.durably("read where the run stands", move |client| {
            Box::pin(async move {
                // One statement sees the head with the log that belongs to it, whoever writes meanwhile.
                let sql = "SELECT head, body FROM children LEFT JOIN child_log \
                           ON child_log.run = children.run AND child_log.seq < children.entries \
                           WHERE children.run = $1 ORDER BY child_log.seq";
                let rows = client.query(sql, &[&run.as_str()]).await?;
                let Some(first) = rows.first() else { return Ok(None) };
                let Some(head) = first.try_get::<_, Option<&str>>(0)? else { return Ok(None) };
                let head = from_json("run", run.as_str(), head)?;
                let mut log = Vec::with_capacity(rows.len());
                for row in &rows {
                    if let Some(body) = row.try_get(1)? {
                        log.push(from_json("run", run.as_str(), body)?);
                    }
                }
                Ok(Some((head, log)))
            })
        })
        .await
    }

    async fn forget_children(&self, root: &RunId) -> Result<(), StoreError> {
        let root = root.clone();
        self.durably("forget the runs", move |client| {
            Box::pin(async move {
                client.execute(FORGET, &[&root.as_str()]).await?;
                Ok(())
            })
        })
        .await
    }
}

/// Forgets the runs below one that goes.
pub(super) const FORGET: &str = "DELETE FROM children WHERE root = $1";

async fn entries(client: &Object, root: &RunId) -> Result<Vec<Entry<Value>>, Trouble> {
    let sql = "SELECT run, record FROM children WHERE root = $1 ORDER BY seq";
    let mut entries = Vec::new();
    for row in client.query(sql, &[&root.as_str()]).await? {
        let id: String = row.try_get(0)?;
        let value = from_json("run", &id, row.try_get(1)?);
        entries.push(Entry { id, value });
    }
    Ok(entries)
}

async fn keep(
    client: &mut Object,
    run: &RunId,
    head: &Value,
    from: u64,
    entries: &[Value],
) -> Result<(), Trouble> {
    let head = to_json(head)?;
    let bodies: Vec<String> = entries.iter().map(to_json).collect::<Result<_, _>>()?;
    let name = run.as_str();
    let transaction = client.transaction().await?;
    let known = transaction
        .query_opt("SELECT entries FROM children WHERE run = $1 FOR UPDATE", &[&name])
        .await?
        .ok_or_else(|| DatabaseError::out_of_step(run, "it has no record"))?;
    let known = number(known.try_get(0)?);
    if known < from {
        let why = format!("its log has {known} entries, and {from} were kept before");
        return Err(DatabaseError::out_of_step(run, why).into());
    }
    let sql = "DELETE FROM child_log WHERE run = $1 AND seq >= $2";
    transaction.execute(sql, &[&name, &integer(from)]).await?;
    if !bodies.is_empty() {
        let places: Vec<i64> = (from..).take(bodies.len()).map(integer).collect();
        let sql = "INSERT INTO child_log (run, seq, body) SELECT $1, * FROM unnest($2::bigint[], $3::text[])";
        transaction.execute(sql, &[&name, &places, &bodies]).await?;
    }
    let sql = "UPDATE children SET head = $2, entries = $3, updated_at_ms = $4 WHERE run = $1";
    let (all, now) = (integer(from + bodies.len() as u64), integer(now_ms()));
    transaction.execute(sql, &[&name, &head, &all, &now]).await?;
    transaction.commit().await?;
    Ok(())
}
