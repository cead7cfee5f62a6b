use super::{SqliteStore, Trouble, writing};
use crate::written::{from_json, integer, to_json};
use async_trait::async_trait;
use haft_core::{Digest, RunId};
use haft_tools_core::now_ms;
use haft_tools_core::{Answered, Approval, Claim, PendingCall, PendingId, PendingStore, StoreError};
use rusqlite::{Connection, OptionalExtension as _, Rows, ToSql, params};
use std::time::Duration;

/// For how long the log of a claimed call is waited for, until it can be emptied.
const EMPTYING: Duration = Duration::from_millis(100);

#[async_trait]
impl PendingStore for SqliteStore {
    async fn put(&self, pending: &PendingCall) -> Result<(), StoreError> {
        let pending = pending.clone();
        self.durably("keep the pending call", move |connection| {
            insert(
                connection,
                "INSERT INTO pending (id, digest, run, asked_at_ms, expires_at_ms, body) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO NOTHING",
                &pending,
                to_json(&pending)?,
            )?;
            Ok(())
        })
        .await
    }

    async fn claim(&self, pending: &PendingCall) -> Result<Claim, StoreError> {
        let pending = pending.clone();
        let wait = self.0.wait;
        self.durably("claim the pending call", move |connection| {
            let claim = claim(connection, &pending)?;
            if claim == Claim::Taken {
                empty_log(connection, wait);
            }
            Ok(claim)
        })
        .await
    }

    async fn waiting(&self) -> Result<Vec<PendingCall>, StoreError> {
        self.durably("read the pending calls", |connection| {
            let mut select = connection.prepare_cached(
                "SELECT id, body FROM pending WHERE claimed_at_ms IS NULL ORDER BY asked_at_ms, seq",
            )?;
            calls(select.query(())?)
        })
        .await
    }

    async fn waits(&self, id: &PendingId) -> Result<bool, StoreError> {
        let id = id.clone();
        self.durably("read the pending call", move |connection| {
            let mut select =
                connection.prepare_cached("SELECT 1 FROM pending WHERE id = ?1 AND claimed_at_ms IS NULL")?;
            Ok(select.exists([id.as_str()])?)
        })
        .await
    }

    async fn waiting_of(&self, run: &RunId) -> Result<Vec<PendingCall>, StoreError> {
        let run = run.clone();
        self.durably("read the pending calls of the run", move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT id, body FROM pending WHERE run = ?1 AND claimed_at_ms IS NULL ORDER BY asked_at_ms, seq",
            )?;
            calls(select.query([run.as_str()])?)
        })
        .await
    }

    async fn answer(&self, id: &PendingId, approval: &Approval) -> Result<bool, StoreError> {
        let (id, approval) = (id.clone(), approval.clone());
        self.durably("keep the answer to the pending call", move |connection| {
            let mut update = connection
                .prepare_cached("UPDATE pending SET answer = ?2 WHERE id = ?1 AND claimed_at_ms IS NULL")?;
            Ok(update.execute(params![id.as_str(), to_json(&approval)?])? > 0)
        })
        .await
    }

    async fn answer_first(
        &self,
        id: &PendingId,
        digest: &Digest,
        approval: &Approval,
    ) -> Result<Answered, StoreError> {
        let (id, digest, approval) = (id.clone(), digest.to_string(), approval.clone());
        self.durably("keep the answer to the pending call", move |connection| {
            answer_first(connection, &id, &digest, &approval)
        })
        .await
    }

    async fn answer_to(&self, id: &PendingId) -> Result<Option<Approval>, StoreError> {
        let id = id.clone();
        self.durably("read the answer to the pending call", move |connection| {
            let mut select = connection.prepare_cached("SELECT answer FROM pending WHERE id = ?1")?;
            let answer: Option<Option<String>> =
                select.query_row([id.as_str()], |row| row.get(0)).optional()?;
            let answer = answer.flatten();
            Ok(answer
                .map(|answer| from_json("answer to the pending call", id.as_str(), &answer))
                .transpose()?)
        })
        .await
    }

    async fn waiting_as(&self, digest: &Digest) -> Result<Option<(PendingId, Option<Approval>)>, StoreError> {
        let digest = digest.to_string();
        self.durably("look for the pending call", move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT id, answer FROM pending WHERE digest = ?1 AND claimed_at_ms IS NULL \
                 AND (expires_at_ms IS NULL OR expires_at_ms > ?2) \
                 AND NOT (json_valid(body) AND COALESCE(json_extract(body, '$.wants.kind'), '') = 'below') \
                 ORDER BY answer IS NULL, asked_at_ms, seq LIMIT 1",
            )?;
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let found: Option<(String, Option<String>)> =
                select.query_row(params![digest, integer(now_ms())], row).optional()?;
            let Some((id, answer)) = found else { return Ok(None) };
            let answer =
                answer.map(|answer| from_json("answer to the pending call", &id, &answer)).transpose()?;
            Ok(Some((PendingId::new(id), answer)))
        })
        .await
    }
}

/// Reads the calls of rows of ids and bodies.
fn calls(mut rows: Rows<'_>) -> Result<Vec<PendingCall>, Trouble> {
    let mut calls = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, body): (String, String) = (row.get(0)?, row.get(1)?);
        calls.push(from_json("pending call", &id, &body)?);
    }
    Ok(calls)
}

/// Claims a call by one statement, which succeeds once, whoever tries and however many do at the same time.
fn claim(connection: &mut Connection, pending: &PendingCall) -> Result<Claim, Trouble> {
    let transaction = writing(connection)?;
    let claimed = insert(
        &transaction,
        "INSERT INTO pending (id, digest, run, asked_at_ms, expires_at_ms, claimed_at_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
         ON CONFLICT (id) DO UPDATE SET claimed_at_ms = excluded.claimed_at_ms, body = NULL, answer = NULL \
         WHERE claimed_at_ms IS NULL AND digest = excluded.digest",
        pending,
        integer(now_ms()),
    )?;
    if claimed == 1 {
        transaction.commit()?;
        return Ok(Claim::Taken);
    }
    let waits: bool = transaction
        .prepare_cached("SELECT claimed_at_ms IS NULL FROM pending WHERE id = ?1")?
        .query_row([pending.id.as_str()], |row| row.get(0))?;
    Ok(if waits { Claim::OtherDigest } else { Claim::TakenBefore })
}

/// Answers a call by one statement, which succeeds once, and says afterwards why it did not.
fn answer_first(
    connection: &mut Connection,
    id: &PendingId,
    digest: &str,
    approval: &Approval,
) -> Result<Answered, Trouble> {
    let transaction = writing(connection)?;
    let kept = transaction
        .prepare_cached(
            "UPDATE pending SET answer = ?3 WHERE id = ?1 AND digest = ?2 AND claimed_at_ms IS NULL AND answer IS NULL",
        )?
        .execute(params![id.as_str(), digest, to_json(approval)?])?;
    if kept == 1 {
        transaction.commit()?;
        return Ok(Answered::Kept);
    }
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?));
    let found = transaction
        .prepare_cached("SELECT digest, claimed_at_ms IS NULL FROM pending WHERE id = ?1")?
        .query_row([id.as_str()], row)
        .optional()?;
    Ok(match found {
        Some((kept, true)) if kept != digest => Answered::OtherDigest,
        Some((_, true)) => Answered::Before,
        _ => Answered::Gone,
    })
}

/// Inserts a call, with a last value of the statement's own; gives how many rows that has changed.
fn insert(
    connection: &Connection,
    sql: &str,
    pending: &PendingCall,
    last: impl ToSql,
) -> rusqlite::Result<usize> {
    connection.prepare_cached(sql)?.execute(params![
        pending.id.as_str(),
        pending.digest.to_string(),
        pending.run.as_str(),
        integer(pending.asked_at_ms),
        pending.expires_at_ms.map(integer),
        last,
    ])
}

/// Empties the log, in which the input of a call that is overwritten in the file still stands.
///
/// The claim counts already, so what stands in the way is left for the next time the log is emptied.
pub(super) fn empty_log(connection: &Connection, wait: Duration) {
    let emptied = connection
        .busy_timeout(EMPTYING)
        .and_then(|()| connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())));
    let restored = connection.busy_timeout(wait);
    debug_assert!(restored.is_ok(), "a timeout within an hour can be set");
    drop(emptied);
}
