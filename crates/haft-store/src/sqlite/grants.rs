use super::{SqliteStore, Trouble};
use crate::written::{from_json, integer, to_json};
use async_trait::async_trait;
use haft_tools_core::now_ms;
use haft_tools_core::{Grant, GrantPlace, GrantStore, StoreError};
use rusqlite::{Params, Transaction, params};
use std::sync::Arc;

#[async_trait]
impl GrantStore for SqliteStore {
    async fn add(&self, grant: &Grant) -> Result<(), StoreError> {
        let grant = grant.clone();
        self.durably("keep the grant", move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO grants (id, agent, place, expires_at_ms, body) VALUES (?1, ?2, ?3, ?4, ?5) \
                     ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, place = excluded.place, \
                     expires_at_ms = excluded.expires_at_ms, body = excluded.body",
                )?
                .execute(params![
                    grant.id,
                    grant.agent,
                    to_json(&grant.place)?,
                    grant.expires_at_ms.map(integer),
                    to_json(&grant)?,
                ])?;
            Ok(())
        })
        .await
    }

    async fn holding(
        &self,
        agent: Option<&str>,
        places: &[GrantPlace],
    ) -> Result<Vec<Arc<Grant>>, StoreError> {
        let (agent, places) = (agent.map(str::to_owned), places.to_vec());
        self.durably("read the grants", move |connection| {
            let transaction = connection.transaction()?;
            let now = integer(now_ms());
            let mut held = Vec::new();
            for place in places {
                held.append(&mut grants(
                    &transaction,
                    "SELECT seq, id, body FROM grants WHERE place = ?1 AND agent IS ?2 \
                     AND (expires_at_ms IS NULL OR expires_at_ms > ?3)",
                    params![to_json(&place)?, agent, now],
                )?);
            }
            // In the order in which they were given, each once, however often a place is named.
            held.sort_by_key(|(seq, _)| *seq);
            held.dedup_by_key(|(seq, _)| *seq);
            Ok(held.into_iter().map(|(_, grant)| grant).collect())
        })
        .await
    }

    async fn list_grants(&self) -> Result<Vec<Arc<Grant>>, StoreError> {
        self.durably("read the grants", |connection| {
            let all =
                grants(&connection.transaction()?, "SELECT seq, id, body FROM grants ORDER BY seq", ())?;
            Ok(all.into_iter().map(|(_, grant)| grant).collect())
        })
        .await
    }

    async fn revoke(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.durably("revoke the grant", move |connection| {
            let mut revoke = connection.prepare_cached("DELETE FROM grants WHERE id = ?1")?;
            Ok(revoke.execute([id])? > 0)
        })
        .await
    }
}

fn grants(
    transaction: &Transaction<'_>,
    sql: &str,
    parameters: impl Params,
) -> Result<Vec<(i64, Arc<Grant>)>, Trouble> {
    let mut select = transaction.prepare_cached(sql)?;
    let mut rows = select.query(parameters)?;
    let mut grants = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, body) = (row.get_ref(1)?.as_str(), row.get_ref(2)?.as_str());
        let (id, body) = (id.map_err(rusqlite::Error::from)?, body.map_err(rusqlite::Error::from)?);
        grants.push((row.get(0)?, Arc::new(from_json("grant", id, body)?)));
    }
    Ok(grants)
}
