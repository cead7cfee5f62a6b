use super::pending::empty_log;
use super::{SqliteStore, children, writing};
use crate::GivenUp;
use crate::written::{integer, to_json};
use haft_core::RunId;
use haft_tools_core::{GrantPlace, StoreError, now_ms};
use rusqlite::params;

impl SqliteStore {
    pub(super) async fn end_for_good(&self, run: &RunId) -> Result<GivenUp, StoreError> {
        let (run, wait) = (run.clone(), self.0.wait);
        self.durably("give up the run", move |connection| {
            let (name, now) = (run.as_str(), integer(now_ms()));
            let transaction = writing(connection)?;
            let calls = transaction.execute(
                "UPDATE pending SET claimed_at_ms = ?2, body = NULL, answer = NULL \
                 WHERE claimed_at_ms IS NULL AND (run = ?1 OR run IN (SELECT run FROM children WHERE root = ?1) \
                 OR EXISTS (SELECT 1 FROM \
                 json_each(CASE WHEN json_valid(body) THEN body ELSE '{}' END, '$.above') AS above \
                 WHERE json_extract(above.value, '$.run') = ?1))",
                params![name, now],
            )?;
            children::forget(&transaction, &run)?;
            let ended = transaction.execute(
                "UPDATE runs SET status = 'ended', state = 'null', host = 'null', entries = 0, updated_at_ms = ?2, \
                 revision = revision + 1 WHERE run = ?1 AND status <> 'ended'",
                params![name, now],
            )?;
            if ended > 0 {
                transaction.execute("DELETE FROM run_log WHERE run = ?1", [name])?;
            }
            let place = to_json(&GrantPlace::Run(run.clone()))?;
            transaction.execute("DELETE FROM grants WHERE place = ?1", [place])?;
            transaction.commit()?;
            empty_log(connection, wait);
            Ok(GivenUp { run: ended > 0, calls })
        })
        .await
    }
}
