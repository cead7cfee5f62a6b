use super::{PostgresStore, Trouble};
use crate::written::{from_json, integer, to_json};
use async_trait::async_trait;
use deadpool_postgres::Object;
use haft_core::{Digest, RunId};
use haft_tools_core::{Answered, Approval, Claim, PendingCall, PendingId, PendingStore, StoreError, now_ms};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

#[async_trait]
impl PendingStore for PostgresStore {
    async fn put(&self, pending: &PendingCall) -> Result<(), StoreError> {
        let pending = pending.clone();
        self.durably("keep the pending call", move |client| {
            Box::pin(async move {
                let body = to_json(&pending)?;
                insert(
                    client,
                    "INSERT INTO pending (id, digest, run, is_below, asked_at_ms, expires_at_ms, body) \
                     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING",
                    &pending,
                    &body,
                )
                .await?;
                Ok(())
            })
        })
        .await
    }

    async fn claim(&self, pending: &PendingCall) -> Result<Claim, StoreError> {
        let pending = pending.clone();
        self.durably("claim the pending call", move |client| {
            Box::pin(async move { claim(client, &pending).await })
        })
        .await
    }

    async fn waiting(&self) -> Result<Vec<PendingCall>, StoreError> {
        self.durably("read the pending calls", |client| {
            Box::pin(async move {
                let sql =
                    "SELECT id, body FROM pending WHERE claimed_at_ms IS NULL ORDER BY asked_at_ms, seq";
                calls(&client.query(sql, &[]).await?)
            })
        })
        .await
    }

    async fn waits(&self, id: &PendingId) -> Result<bool, StoreError> {
        let id = id.to_string();
        self.durably("read the pending call", move |client| {
            Box::pin(async move {
                let sql = "SELECT EXISTS (SELECT FROM pending WHERE id = $1 AND claimed_at_ms IS NULL)";
                Ok(client.query_one(sql, &[&id]).await?.try_get(0)?)
            })
        })
        .await
    }

    async fn waiting_of(&self, run: &RunId) -> Result<Vec<PendingCall>, StoreError> {
        let run = run.clone();
        self.durably("read the pending calls of the run", move |client| {
            Box::pin(async move {
                let statement = client
                    .prepare_cached(
                        "SELECT id, body FROM pending WHERE run = $1 AND claimed_at_ms IS NULL ORDER BY asked_at_ms, seq",
                    )
                    .await?;
                calls(&client.query(&statement, &[&run.as_str()]).await?)
            })
        })
        .await
    }

    async fn answer(&self, id: &PendingId, approval: &Approval) -> Result<bool, StoreError> {
        let (id, approval) = (id.to_string(), approval.clone());
        self.durably("keep the answer to the pending call", move |client| {
            Box::pin(async move {
                let sql = "UPDATE pending SET answer = $2 WHERE id = $1 AND claimed_at_ms IS NULL";
                Ok(client.execute(sql, &[&id, &to_json(&approval)?]).await? > 0)
            })
        })
        .await
    }

    async fn answer_first(
        &self,
        id: &PendingId,
        digest: &Digest,
        approval: &Approval,
    ) -> Result<Answered, StoreError> {
        let (id, digest, approval) = (id.to_string(), digest.to_string(), approval.clone());
        self.durably("keep the answer to the pending call", move |client| {
            Box::pin(async move { answer_first(client, &id, &digest, &approval).await })
        })
        .await
    }

    async fn answer_to(&self, id: &PendingId) -> Result<Option<Approval>, StoreError> {
        let id = id.to_string();
        self.durably("read the answer to the pending call", move |client| {
            Box::pin(async move {
                let row = client.query_opt("SELECT answer FROM pending WHERE id = $1", &[&id]).await?;
                let Some(row) = row else { return Ok(None) };
                answer(&id, row.try_get(0)?)
            })
        })
        .await
    }

    async fn waiting_as(&self, digest: &Digest) -> Result<Option<(PendingId, Option<Approval>)>, StoreError> {
        let digest = digest.to_string();
        self.durably("look for the pending call", move |client| {
            Box::pin(async move {
                let statement = client
                    .prepare_cached(
                        "SELECT id, answer FROM pending WHERE digest = $1 AND claimed_at_ms IS NULL AND NOT is_below \
                         AND (expires_at_ms IS NULL OR expires_at_ms > $2) \
                         ORDER BY answer IS NULL, asked_at_ms, seq LIMIT 1",
                    )
                    .await?;
                let row = client.query_opt(&statement, &[&digest, &integer(now_ms())]).await?;
                let Some(row) = row else { return Ok(None) };
                let id: String = row.try_get(0)?;
                let answer = answer(&id, row.try_get(1)?)?;
                Ok(Some((PendingId::new(id), answer)))
            })
        })
        .await
    }
}

/// Reads the calls of rows of ids and bodies.
fn calls(rows: &[Row]) -> Result<Vec<PendingCall>, Trouble> {
    let mut calls = Vec::with_capacity(rows.len());
    for row in rows {
        calls.push(from_json("pending call", row.try_get(0)?, row.try_get(1)?)?);
    }
    Ok(calls)
}

/// Claims a call by one statement, which succeeds once, whoever tries and however many do at the same time.
async fn claim(client: &Object, pending: &PendingCall) -> Result<Claim, Trouble> {
    let claimed = insert(
        client,
        "INSERT INTO pending (id, digest, run, is_below, asked_at_ms, expires_at_ms, claimed_at_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (id) DO UPDATE SET claimed_at_ms = excluded.claimed_at_ms, body = NULL, answer = NULL \
         WHERE pending.claimed_at_ms IS NULL AND pending.digest = excluded.digest",
        pending,
        &integer(now_ms()),
    )
    .await?;
    if claimed == 1 {
        return Ok(Claim::Taken);
    }
    let sql = "SELECT claimed_at_ms IS NULL FROM pending WHERE id = $1";
    let waits: bool = client.query_one(sql, &[&pending.id.as_str()]).await?.try_get(0)?;
    Ok(if waits { Claim::OtherDigest } else { Claim::TakenBefore })
}

/// Answers a call by one statement, which succeeds once, and says afterwards why it did not.
async fn answer_first(
    client: &Object,
    id: &str,
    digest: &str,
    approval: &Approval,
) -> Result<Answered, Trouble> {
    let sql = "UPDATE pending SET answer = $3 \
               WHERE id = $1 AND digest = $2 AND claimed_at_ms IS NULL AND answer IS NULL";
    if client.execute(sql, &[&id, &digest, &to_json(approval)?]).await? == 1 {
        return Ok(Answered::Kept);
    }
    let sql = "SELECT digest, claimed_at_ms IS NULL FROM pending WHERE id = $1";
    let Some(row) = client.query_opt(sql, &[&id]).await? else { return Ok(Answered::Gone) };
    let (kept, waits): (&str, bool) = (row.try_get(0)?, row.try_get(1)?);
    Ok(match waits {
        true if kept != digest => Answered::OtherDigest,
        true => Answered::Before,
        false => Answered::Gone,
    })
}

fn answer(id: &str, answer: Option<&str>) -> Result<Option<Approval>, Trouble> {
    Ok(answer.map(|answer| from_json("answer to the pending call", id, answer)).transpose()?)
}

/// Inserts a call, with a last value of the statement's own; gives how many rows that has changed.
async fn insert(
    client: &Object,
    sql: &str,
    pending: &PendingCall,
    last: &(impl ToSql + Sync),
) -> Result<u64, Trouble> {
    let statement = client.prepare_cached(sql).await?;
    let (id, digest, run) = (pending.id.as_str(), pending.digest.to_string(), pending.run.as_str());
    let (asked, expires) = (integer(pending.asked_at_ms), pending.expires_at_ms.map(integer));
    let values: [&(dyn ToSql + Sync); 7] =
        [&id, &digest, &run, &pending.waits_below(), &asked, &expires, last];
    Ok(client.execute(&statement, &values).await?)
}
