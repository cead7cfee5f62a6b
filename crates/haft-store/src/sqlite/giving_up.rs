use super::pending::empty_log;
use super::{SqliteStore, children, writing};
use crate::written::{integer, to_json};
use haft_core::RunId;
use haft_tools_core::{GrantPlace, StoreError, now_ms};
use rusqlite::params;

/// Says what there was of a run that was given up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GivenUp {
    /// Whether the run was kept and had not ended.
    pub run: bool,
    /// How many calls waited in it, and in the runs below it.
    pub calls: usize,
}

impl SqliteStore {
    /// Ends a run that nobody is to go on with: its calls and those of runs below it wait no more, where it stood is forgotten,
    /// and its grants, too.
    ///
    /// None of it has to be readable. What is overwritten is gone from the file, as for a call that is claimed; a call that
    /// was given up does not run, whoever still holds it. [Take](crate::RunStore::take) the run first, so that nobody is at
    /// work on it.
    ///
    /// # Errors
    ///
    /// When that cannot be kept: then all is as it was.
    ///
    /// # Cancel safety
    ///
    /// The run is given up or not.
    pub async fn give_up(&self, run: &RunId) -> Result<GivenUp, StoreError> {
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
