use super::runs::LOCK;
use super::{ConnectError, PostgresOptions, Trouble, schema};
use crate::Examination;
use crate::written::number;
use deadpool_postgres::Object;
use std::sync::Arc;

/// The most runs that are looked at for whether somebody is at work in them.
const MOST_RUNS: u32 = 1000;

impl PostgresOptions {
    /// Looks at a database without writing to it; `None` if there are no tables in the schema.
    ///
    /// For whoever wants to know how a store is doing before it is used. The server looks after its files itself, so no faults are
    /// told, and none that are open to others.
    ///
    /// # Errors
    ///
    /// As for [`PostgresOptions::connect`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn examine(&self, url: &str) -> Result<Option<Examination>, ConnectError> {
        let store = self.store(url)?;
        let schema = self.schema.clone();
        let work = Arc::clone(&store.0).work(
            |inner| &inner.durable,
            move |client| Box::pin(async move { examine(client, &schema).await }),
        );
        let found = store.apart(work).await.map_err(|source| store.unusable(source))?;
        match found {
            Some(found) if found.version > found.newest => Err(store.newer(found.version)),
            found => Ok(found),
        }
    }
}

async fn examine(client: &mut Object, schema: &str) -> Result<Option<Examination>, Trouble> {
    let transaction = client.build_transaction().read_only(true).start().await?;
    let Some(version) = schema::version(&transaction, schema).await? else { return Ok(None) };
    let mut found = Examination { version, newest: schema::KNOWN, ..Examination::default() };
    let sql = "SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::bigint FROM pg_class \
               JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relkind = 'r'";
    found.bytes = number(transaction.query_one(sql, &[&schema]).await?.try_get(0)?);
    // What another version keeps cannot be read by this one.
    if !(1..=schema::KNOWN).contains(&version) {
        return Ok(Some(found));
    }
    let sql = "SELECT count(*), min(asked_at_ms) FROM pending WHERE claimed_at_ms IS NULL";
    let row = transaction.query_one(sql, &[]).await?;
    found.waiting = number(row.try_get(0)?);
    found.waiting_since_ms = row.try_get::<_, Option<i64>>(1)?.map(number);
    // Whoever has taken a run has its lock, which is looked at and not taken.
    let lock = LOCK.replace("$1", "run");
    let sql = format!(
        "SELECT run FROM runs WHERE status = 'running' AND NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' \
         AND objsubid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
         AND (classid::bigint << 32) | objid::bigint = {lock}) ORDER BY updated_at_ms DESC LIMIT {MOST_RUNS}"
    );
    for row in transaction.query(&sql, &[]).await? {
        found.interrupted.push(row.try_get(0)?);
    }
    Ok(Some(found))
}
