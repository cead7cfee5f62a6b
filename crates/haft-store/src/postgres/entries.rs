use super::runs::summary;
use super::{PostgresStore, Trouble};
use crate::written::{from_json, number};
use crate::{Entry, EntryStore, PendingEntry, RunSummary};
use async_trait::async_trait;
use haft_tools_core::{Grant, PendingId, StoreError};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

/// How many of the newest records are looked at for a change: nodes that write at once may be seen in another order than the one
/// in which their records are numbered.
const NEWEST: u32 = 64;

#[async_trait]
impl EntryStore for PostgresStore {
    async fn grant_entries(&self) -> Result<Vec<Entry<Grant>>, StoreError> {
        self.durably("read the grants", |client| {
            Box::pin(async move {
                let rows = client.query("SELECT id, body FROM grants ORDER BY seq", &[]).await?;
                let mut entries = Vec::with_capacity(rows.len());
                for row in &rows {
                    let (id, body): (String, &str) = (row.try_get(0)?, row.try_get(1)?);
                    let value = from_json("grant", &id, body);
                    entries.push(Entry { id, value });
                }
                Ok(entries)
            })
        })
        .await
    }

    async fn pending_entries(&self) -> Result<Vec<PendingEntry>, StoreError> {
        self.durably("read the pending calls", |client| {
            Box::pin(async move {
                let sql = "SELECT id, run, asked_at_ms, body, answer FROM pending WHERE claimed_at_ms IS NULL \
                           ORDER BY asked_at_ms, seq";
                let rows = client.query(sql, &[]).await?;
                let mut entries = Vec::with_capacity(rows.len());
                for row in &rows {
                    let (id, run): (String, String) = (row.try_get(0)?, row.try_get(1)?);
                    let (body, answer): (&str, Option<&str>) = (row.try_get(3)?, row.try_get(4)?);
                    entries.push(PendingEntry {
                        asked_at_ms: number(row.try_get(2)?),
                        call: from_json("pending call", &id, body),
                        answer: from_json("answer to the pending call", &id, answer.unwrap_or("null")),
                        host: Value::Null,
                        top: Above::of(body).top().unwrap_or_else(|| run.clone()),
                        id: PendingId::new(id),
                        run,
                    });
                }
                let wanted: Vec<&str> =
                    entries.iter().flat_map(|entry| [entry.run.as_str(), entry.top.as_str()]).collect();
                let sql = "SELECT run, host FROM runs WHERE run = ANY($1)";
                let mut hosts: HashMap<String, String> = HashMap::new();
                for row in client.query(sql, &[&wanted]).await? {
                    hosts.insert(row.try_get(0)?, row.try_get(1)?);
                }
                for entry in &mut entries {
                    let host = hosts.get(&entry.run).or_else(|| hosts.get(&entry.top));
                    entry.host = host.and_then(|host| serde_json::from_str(host).ok()).unwrap_or_default();
                }
                Ok(entries)
            })
        })
        .await
    }

    async fn mark(&self) -> Result<String, StoreError> {
        self.durably("look for changes", |client| {
            Box::pin(async move {
                let statement = client
                    .prepare_cached(&format!(
                        "SELECT concat_ws('-', \
                         (SELECT coalesce(sum(seq), 0) FROM (SELECT seq FROM journal ORDER BY seq DESC LIMIT {NEWEST}) AS newest), \
                         (SELECT concat_ws('.', count(*), coalesce(sum(seq), 0), count(answer), \
                         coalesce(sum(hashtextextended(answer, seq)), 0)) FROM pending WHERE claimed_at_ms IS NULL), \
                         (SELECT concat_ws('.', count(*), coalesce(sum(seq), 0)) FROM grants))"
                    ))
                    .await?;
                Ok(client.query_one(&statement, &[]).await?.try_get(0)?)
            })
        })
        .await
    }

    async fn run_entries(&self) -> Result<Vec<Entry<RunSummary>>, StoreError> {
        self.durably("read the runs", |client| {
            Box::pin(async move {
                let sql = "SELECT run, agent, started_at_ms, updated_at_ms, status, revision FROM runs \
                           ORDER BY updated_at_ms DESC, run";
                let mut entries = Vec::new();
                for row in client.query(sql, &[]).await? {
                    let id: String = row.try_get(0)?;
                    let value = match summary(&row) {
                        Ok(summary) => Ok(summary),
                        Err(Trouble::Failed(error)) => Err(error),
                        Err(trouble) => return Err(trouble),
                    };
                    entries.push(Entry { id, value });
                }
                Ok(entries)
            })
        })
        .await
    }
}

/// The runs above that of a call, as far as they can be read; it may be another version's.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Above {
    above: Vec<Value>,
}

impl Above {
    /// Reads them from a call as it is kept.
    pub(super) fn of(body: &str) -> Self {
        serde_json::from_str(body).unwrap_or_default()
    }

    /// The names of the runs, the nearest first.
    pub(super) fn runs(&self) -> impl Iterator<Item = &str> {
        self.above.iter().filter_map(|above| above["run"].as_str())
    }

    fn top(&self) -> Option<String> {
        self.above.last()?["run"].as_str().map(str::to_owned)
    }
}
