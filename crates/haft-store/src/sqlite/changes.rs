mod contents;
mod quota;
mod sessions;

use super::opening::{Durability, database, make_file, open_connection};
use super::places::{LOCKS, LOGS, beside};
use super::{StoreOptions, Trouble, lock, schema, writing};
use crate::written::{from_json, integer, number, to_json};
use crate::{DatabaseError, OpenError};
use haft_core::RunId;
use haft_tools_core::now_ms;
use haft_workdir::{
    ChangeJournal, ChangeJournalError, ChangeLimits, ChangeOrigin, ChangeSet, ChangeSetId, ChangeStep,
    ChangedRun, ContentDigest, RecoveryLock, SetEnd, SetStart, SetState,
};
use rusqlite::{Connection, Row, params};
use sessions::Sessions;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// The states of a set as they stand in the file.
const OPEN: i64 = 0;
const DONE: i64 = 1;
const TORN: i64 = 2;

/// What is read of a set.
const SET: &str = "id, run, parent_run, call, turn, tool, root, at_ms, state, undone_by, other_roots";

/// Keeps what tools change in files in one SQLite file, which any number of processes may have open.
///
/// What is recorded of a change is on the disk before the change is made. A set is open for as long as the process lives
/// that has begun it; which do is known from locks in a directory beside the file.
///
/// It holds the contents of files as they were, secrets among them, so its file belongs to its owner alone, and a host that
/// lets agents write where it is protects it ([`SqliteChanges::places`]).
///
/// ```
/// use haft_store::SqliteChanges;
/// use haft_workdir::{ChangeJournal as _, ChangeLimits, Workdir};
/// use std::sync::Arc;
///
/// # let (project, state) = (tempfile::tempdir()?, tempfile::tempdir()?);
/// let limits = ChangeLimits { total_bytes: 100 << 20, ..ChangeLimits::default() };
/// let journal = SqliteChanges::options().limits(limits).open(state.path().join("changes.db"))?;
/// let workdir = Workdir::open(project.path())?.journalled(Arc::new(journal));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SqliteChanges {
    path: PathBuf,
    limits: ChangeLimits,
    wait: Duration,
    connection: Mutex<Connection>,
    sessions: Sessions,
}

/// Says how a journal of changes is opened.
///
/// ```
/// use haft_store::SqliteChanges;
/// use haft_workdir::{ChangeJournal as _, ChangeLimits};
///
/// # let state = tempfile::tempdir()?;
/// let limits = ChangeLimits { contents: 100, ..ChangeLimits::default() };
/// let journal = SqliteChanges::options().limits(limits).open(state.path().join("changes.db"))?;
/// assert_eq!(journal.limits().contents, 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ChangesOptions {
    limits: ChangeLimits,
}

impl ChangesOptions {
    /// Keeps as much.
    pub fn limits(mut self, limits: ChangeLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Opens a journal, or makes it where there is none; its directory must be there.
    ///
    /// # Errors
    ///
    /// As for [`SqliteStore::open`](crate::SqliteStore::open).
    pub fn open(&self, path: impl AsRef<Path>) -> Result<SqliteChanges, OpenError> {
        let path = make_file(path.as_ref())?;
        let options = StoreOptions { wait: Duration::from_secs(5), most_bytes: None };
        let connection = open_connection(&path, &options, Durability::Disk, &schema::CHANGES)?;
        let sessions = Sessions::begin(&beside(&path, LOCKS)).map_err(|error| {
            database(&path, Trouble::Failed(DatabaseError::Other { source: error.into() }), options.wait)
        })?;
        Ok(SqliteChanges {
            path,
            limits: self.limits,
            wait: options.wait,
            connection: Mutex::new(connection),
            sessions,
        })
    }
}

impl SqliteChanges {
    /// Opens a journal with the limits of the default.
    ///
    /// # Errors
    ///
    /// As for [`ChangesOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::options().open(path)
    }

    /// Says how a journal is opened.
    pub fn options() -> ChangesOptions {
        ChangesOptions::default()
    }

    /// Names the places that the journal of this path takes: its file, those that SQLite puts beside it, and the directory
    /// of its locks.
    pub fn places(path: impl AsRef<Path>) -> Vec<PathBuf> {
        let path = path.as_ref();
        ["", "-journal", LOCKS].into_iter().chain(LOGS).map(|end| beside(path, end)).collect()
    }

    /// Forgets the sets that were begun longer ago, but for open ones; gives how many.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn prune(&self, kept_for: Duration) -> Result<u64, ChangeJournalError> {
        let oldest = now_ms().saturating_sub(u64::try_from(kept_for.as_millis()).unwrap_or(u64::MAX));
        self.work("forget old changes", |connection| {
            let transaction = writing(connection)?;
            let forgotten = transaction.execute(
                "DELETE FROM change_set WHERE at_ms < ?1 AND state <> ?2",
                params![integer(oldest), OPEN],
            )?;
            if forgotten > 0 {
                quota::sweep(&transaction)?;
            }
            transaction.commit()?;
            Ok(forgotten as u64)
        })
    }

    fn work<T>(
        &self,
        attempted: &'static str,
        work: impl FnOnce(&mut Connection) -> Result<T, Trouble>,
    ) -> Result<T, ChangeJournalError> {
        work(&mut lock(&self.connection))
            .map_err(|trouble| ChangeJournalError::new(attempted, trouble.into_error(self.wait)))
    }
}

impl fmt::Debug for SqliteChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteChanges").field("path", &self.path).finish_non_exhaustive()
    }
}

impl ChangeJournal for SqliteChanges {
    fn limits(&self) -> ChangeLimits {
        self.limits
    }

    fn begin(&self, start: &SetStart<'_>) -> Result<ChangeSetId, ChangeJournalError> {
        let SetStart { origin, root, other_roots, undoes } = *start;
        self.work("record a change", |connection| {
            let transaction = writing(connection)?;
            transaction.execute(
                "INSERT INTO change_set \
                 (run, parent_run, call, turn, tool, root, at_ms, session, state, other_roots) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                params![
                    origin.run.as_str(),
                    origin.parent_run.as_ref().map(RunId::as_str),
                    origin.call.as_str(),
                    origin.turn,
                    origin.tool,
                    root.as_os_str().as_bytes(),
                    integer(now_ms()),
                    self.sessions.name(),
                    OPEN,
                    (!other_roots.is_empty()).then(|| to_json(&other_roots)).transpose()?,
                ],
            )?;
            let id = transaction.last_insert_rowid();
            for undone in undoes {
                let values = params![id, integer(undone.get())];
                transaction.execute("INSERT INTO undoing (change_set, undoes) VALUES (?1, ?2)", values)?;
            }
            transaction.commit()?;
            Ok(ChangeSetId::new(number(id)))
        })
    }

    fn record(
        &self,
        set: ChangeSetId,
        step: &ChangeStep,
        contents: &[(ContentDigest, &[&[u8]])],
    ) -> Result<(), ChangeJournalError> {
        let (before, after) = match step {
            ChangeStep::Set { before, after, .. } => (before.digest(), after.digest()),
            _ => (None, None),
        };
        self.work("record a change", |connection| {
            let transaction = writing(connection)?;
            transaction.execute(
                "INSERT INTO step (change_set, number, body, before, after) \
                 VALUES (?1, (SELECT count(*) FROM step WHERE change_set = ?1), ?2, ?3, ?4)",
                params![
                    integer(set.get()),
                    to_json(step)?,
                    before.map(|digest| digest.to_string()),
                    after.map(|digest| digest.to_string()),
                ],
            )?;
            for (digest, parts) in contents {
                contents::keep(&transaction, &digest.to_string(), parts)?;
            }
            transaction.commit()?;
            Ok(())
        })
    }

    fn retract(&self, set: ChangeSetId) -> Result<(), ChangeJournalError> {
        self.work("record that a change was not made", |connection| {
            connection.execute(
                "DELETE FROM step WHERE change_set = ?1 \
                 AND number = (SELECT max(number) FROM step WHERE change_set = ?1)",
                [integer(set.get())],
            )?;
            Ok(())
        })
    }

    fn end(&self, set: ChangeSetId, end: SetEnd) -> Result<Vec<String>, ChangeJournalError> {
        let id = integer(set.get());
        self.work("record the end of a change", |connection| {
            let transaction = writing(connection)?;
            if end == SetEnd::RolledBack {
                transaction.execute("DELETE FROM change_set WHERE id = ?1", [id])?;
                quota::sweep(&transaction)?;
                transaction.commit()?;
                return Ok(Vec::new());
            }
            let state = if end == SetEnd::Done { DONE } else { TORN };
            transaction.execute(
                "UPDATE change_set SET state = ?2, session = NULL WHERE id = ?1",
                params![id, state],
            )?;
            if end == SetEnd::Done {
                let undone = "SELECT undoes FROM undoing WHERE change_set = ?1";
                transaction.execute(
                    &format!("UPDATE change_set SET undone_by = NULL WHERE undone_by IN ({undone})"),
                    [id],
                )?;
                transaction
                    .execute(&format!("UPDATE change_set SET undone_by = ?1 WHERE id IN ({undone})"), [id])?;
            }
            quota::keep_to(&transaction, self.limits, id)?;
            let lost = if end == SetEnd::Done { quota::not_kept(&transaction, id)? } else { Vec::new() };
            transaction.commit()?;
            Ok(lost)
        })
    }

    fn unfinished(&self, root: &Path) -> Result<Vec<ChangeSet>, ChangeJournalError> {
        let root = root.as_os_str().as_bytes();
        let dead = self.work("read unfinished changes", |connection| {
            let mut open = connection
                .prepare_cached("SELECT id, session FROM change_set WHERE state = 0 AND root = ?1")?;
            let open = open.query_map([root], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(open.collect::<Result<Vec<(i64, Option<String>)>, _>>()?)
        })?;
        let mut sets = Vec::new();
        for (id, session) in dead {
            let is_at_work = session.is_some_and(|session| self.sessions.is_alive(&session).unwrap_or(true));
            if !is_at_work {
                sets.push(id);
            }
        }
        if sets.is_empty() {
            return Ok(Vec::new());
        }
        self.work("read unfinished changes", |connection| {
            sets.into_iter().map(|id| set_of(connection, id)).collect()
        })
    }

    fn lock_recovery(&self) -> Result<RecoveryLock, ChangeJournalError> {
        let locked = self.sessions.lock_recovery();
        locked
            .map(RecoveryLock::new)
            .map_err(|error| ChangeJournalError::new("lock what is unfinished", error))
    }

    fn sets(&self, run: &RunId) -> Result<Vec<ChangeSet>, ChangeJournalError> {
        self.work("read the changes of a run", |connection| {
            let mut ids = connection.prepare_cached(
                "WITH RECURSIVE below (run) AS (SELECT ?1 UNION SELECT change_set.run FROM change_set \
                 JOIN below ON change_set.parent_run = below.run) \
                 SELECT id FROM change_set WHERE run IN (SELECT run FROM below) AND state <> 0 ORDER BY id",
            )?;
            let ids: Vec<i64> = ids.query_map([run.as_str()], |row| row.get(0))?.collect::<Result<_, _>>()?;
            ids.into_iter().map(|id| set_of(connection, id)).collect()
        })
    }

    fn runs(&self, most: usize) -> Result<Vec<ChangedRun>, ChangeJournalError> {
        self.work("read which runs changed something", |connection| {
            let mut runs = connection.prepare_cached(
                "SELECT run, max(id), root, at_ms, sum(undone_by IS NULL), sum(undone_by IS NOT NULL) FROM change_set \
                 WHERE state = 1 GROUP BY run ORDER BY max(id) DESC LIMIT ?1",
            )?;
            let runs = runs.query_map([integer(most as u64)], |row| {
                let (run, root): (String, Vec<u8>) = (row.get(0)?, row.get(2)?);
                let counts: (i64, i64, i64) = (row.get(3)?, row.get(4)?, row.get(5)?);
                Ok((run, root, counts))
            })?;
            runs.map(|row| {
                let (run, root, (at_ms, in_force, undone)) = row?;
                let name = run.parse().map_err(|error| DatabaseError::unreadable("run", run, error))?;
                let mut run = ChangedRun::new(name, path_of(&root), number(at_ms));
                (run.in_force, run.undone) = (number(in_force), number(undone));
                Ok(run)
            })
            .collect()
        })
    }

    fn keeps(&self, digest: ContentDigest) -> Result<bool, ChangeJournalError> {
        self.work("look for a content", |connection| {
            let mut kept =
                connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM content WHERE digest = ?1)")?;
            Ok(kept.query_row([digest.to_string()], |row| row.get(0))?)
        })
    }

    fn content(&self, digest: ContentDigest) -> Result<Option<Vec<u8>>, ChangeJournalError> {
        self.work("read a content", |connection| {
            let bytes = contents::read(connection, &digest.to_string())?;
            // What is put back must be what was there.
            match bytes {
                Some(bytes) if ContentDigest::of_parts(&[&bytes]) != digest => {
                    let source = "its content is not what was kept";
                    Err(DatabaseError::unreadable("content", digest.to_string(), source).into())
                }
                bytes => Ok(bytes),
            }
        })
    }
}

/// Reads a set with its steps.
fn set_of(connection: &Connection, id: i64) -> Result<ChangeSet, Trouble> {
    let mut set = connection
        .prepare_cached(&format!("SELECT {SET} FROM change_set WHERE id = ?1"))?
        .query_row([id], |row| Ok(head_of(row)))??;
    let mut steps =
        connection.prepare_cached("SELECT body FROM step WHERE change_set = ?1 ORDER BY number")?;
    let steps = steps.query_map([id], |row| row.get::<_, String>(0))?;
    for step in steps {
        set.steps.push(from_json("change", &id.to_string(), &step?)?);
    }
    Ok(set)
}

fn head_of(row: &Row<'_>) -> Result<ChangeSet, Trouble> {
    let id: i64 = row.get(0)?;
    let (run, parent, call): (String, Option<String>, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
    let unreadable = |error| DatabaseError::unreadable("change", id.to_string(), error);
    let mut origin = ChangeOrigin::new(run.parse().map_err(unreadable)?, call.parse().map_err(unreadable)?)
        .turn(row.get::<_, Option<u32>>(4)?)
        .tool(row.get::<_, String>(5)?);
    origin.parent_run = parent.map(|run| run.parse()).transpose().map_err(unreadable)?;
    let root: Vec<u8> = row.get(6)?;
    let state = match row.get(8)? {
        DONE => SetState::Done,
        TORN => SetState::Torn,
        _ => SetState::Open,
    };
    let id = ChangeSetId::new(number(id));
    let mut set = ChangeSet::new(id, origin, path_of(&root), number(row.get(7)?), state);
    set.undone_by = row.get::<_, Option<i64>>(9)?.map(|by| ChangeSetId::new(number(by)));
    if let Some(other_roots) = row.get::<_, Option<String>>(10)? {
        set.other_roots = from_json("change", &set.id.get().to_string(), &other_roots)?;
    }
    Ok(set)
}

fn path_of(bytes: &[u8]) -> PathBuf {
    OsStr::from_bytes(bytes).into()
}
