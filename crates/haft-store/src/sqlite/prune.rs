use super::{SqliteStore, Trouble, integer, to_json, writing};
use crate::StoreFault;
use haft_core::RunId;
use haft_tools_core::{GrantPlace, StoreError};
use haft_tools_core::{milliseconds, now_ms};
use rusqlite::Transaction;
use std::time::Duration;

/// Counts what was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// Records of the journal.
    pub records: usize,
    /// Calls that were gone on with, or that nobody can approve any more.
    pub pending: usize,
    /// Runs that have ended.
    pub runs: usize,
    /// Grants that have expired, or that held for one of these runs.
    pub grants: usize,
}

impl SqliteStore {
    /// Removes what has been of no use for as long: records, ended runs, expired grants, and pending calls that have
    /// expired, claimed or not.
    ///
    /// What is left of a call that was claimed and does not expire stays for good, since it is what keeps the call from
    /// running again. Runs that have not ended stay, too.
    ///
    /// # Errors
    ///
    /// When it cannot be done; nothing was removed then.
    ///
    /// # Cancel safety
    ///
    /// All of it is removed, or nothing.
    pub async fn prune(&self, older_than: Duration) -> Result<Pruned, StoreError> {
        let before = integer(now_ms().saturating_sub(milliseconds(older_than)));
        self.durably("remove old entries", move |connection| {
            let transaction = writing(connection)?;
            let mut pruned = Pruned {
                records: transaction.execute("DELETE FROM journal WHERE at_ms < ?1", [before])?,
                pending: transaction.execute("DELETE FROM pending WHERE expires_at_ms < ?1", [before])?,
                runs: 0,
                grants: transaction.execute("DELETE FROM grants WHERE expires_at_ms < ?1", [before])?,
            };
            for run in ended(&transaction, before)? {
                pruned.runs += transaction.execute("DELETE FROM runs WHERE run = ?1", [run.as_str()])?;
                let place = to_json(&GrantPlace::Run(run))?;
                pruned.grants += transaction.execute("DELETE FROM grants WHERE place = ?1", [place])?;
            }
            transaction.commit()?;
            Ok(pruned)
        })
        .await
    }
}

/// Lists the runs that had ended before this time.
fn ended(transaction: &Transaction<'_>, before: i64) -> Result<Vec<RunId>, Trouble> {
    let mut select =
        transaction.prepare("SELECT run FROM runs WHERE status = 'ended' AND updated_at_ms < ?1")?;
    let mut rows = select.query([before])?;
    let mut ended = Vec::new();
    while let Some(row) = rows.next()? {
        let run: String = row.get(0)?;
        ended.push(run.parse().map_err(|error| StoreFault::unreadable("run", &run, error))?);
    }
    Ok(ended)
}
