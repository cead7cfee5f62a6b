use super::{PostgresStore, Trouble};
use crate::written::{from_json, integer, to_json};
use async_trait::async_trait;
use haft_tools_core::{Grant, GrantPlace, GrantStore, StoreError, now_ms};
use std::sync::Arc;
use tokio_postgres::Row;

#[async_trait]
impl GrantStore for PostgresStore {
    async fn add(&self, grant: &Grant) -> Result<(), StoreError> {
        let grant = grant.clone();
        self.durably("keep the grant", move |client| {
            Box::pin(async move {
                let statement = client
                    .prepare_cached(
                        "INSERT INTO grants (id, agent, place, expires_at_ms, body) VALUES ($1, $2, $3, $4, $5) \
                         ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, place = excluded.place, \
                         expires_at_ms = excluded.expires_at_ms, body = excluded.body",
                    )
                    .await?;
                let (place, body) = (to_json(&grant.place)?, to_json(&grant)?);
                let expires = grant.expires_at_ms.map(integer);
                client.execute(&statement, &[&grant.id, &grant.agent, &place, &expires, &body]).await?;
                Ok(())
            })
        })
        .await
    }

    async fn holding(
        &self,
        agent: Option<&str>,
        places: &[GrantPlace],
    ) -> Result<Vec<Arc<Grant>>, StoreError> {
        let (agent, places) = (agent.map(str::to_owned), places.to_vec());
        self.durably("read the grants", move |client| {
            Box::pin(async move {
                let places: Vec<String> = places.iter().map(to_json).collect::<Result<_, _>>()?;
                let statement = client
                    .prepare_cached(
                        "SELECT id, body FROM grants WHERE place = ANY($1) AND agent IS NOT DISTINCT FROM $2 \
                         AND (expires_at_ms IS NULL OR expires_at_ms > $3) ORDER BY seq",
                    )
                    .await?;
                grants(&client.query(&statement, &[&places, &agent, &integer(now_ms())]).await?)
            })
        })
        .await
    }

    async fn list_grants(&self) -> Result<Vec<Arc<Grant>>, StoreError> {
        self.durably("read the grants", |client| {
            Box::pin(
                async move { grants(&client.query("SELECT id, body FROM grants ORDER BY seq", &[]).await?) },
            )
        })
        .await
    }

    async fn revoke(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.durably("revoke the grant", move |client| {
            Box::pin(async move { Ok(client.execute("DELETE FROM grants WHERE id = $1", &[&id]).await? > 0) })
        })
        .await
    }
}

fn grants(rows: &[Row]) -> Result<Vec<Arc<Grant>>, Trouble> {
    let grant = |row: &Row| {
        let (id, body): (&str, &str) = (row.try_get(0)?, row.try_get(1)?);
        Ok(Arc::new(from_json("grant", id, body)?))
    };
    rows.iter().map(grant).collect()
}
