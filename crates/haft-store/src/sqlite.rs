#[cfg(all(unix, feature = "changes"))]
mod changes;
mod children;
mod entries;
mod examination;
mod giving_up;
mod grants;
mod journal;
mod leases;
mod opening;
mod pending;
mod places;
mod prune;
mod runs;
mod schema;

#[cfg(all(unix, feature = "changes"))]
pub use changes::{ChangesOptions, SqliteChanges};
pub use examination::Examination;

use crate::memory_runs::Taken;
use crate::{DatabaseError, OpenError};
use haft_tools_core::StoreError;
use opening::open_connection;
use rusqlite::{Connection, TransactionBehavior};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;

/// Keeps grants, pending calls, the journal and runs in one SQLite file, which any number of processes may have open.
///
/// Cheap to clone; clones are the same store. It takes two connections to the file. One is for all that has to be on the
/// disk before it is acknowledged; it is used in [`spawn_blocking`](tokio::task::spawn_blocking), since SQLite blocks while
/// it writes and while it waits for other processes, and a thread of the runtime's own pool ends with the runtime, where a
/// thread of the store would need somebody to end it. The other is for the journal, whose records are written in the task
/// of the call and do not wait for the disk.
///
/// ```
/// use haft_store::SqliteStore;
/// use haft_tools_core::{Grant, GrantPlace, GrantStore as _};
/// use haft_core::Decision;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("haft.db");
/// let grant = Grant::new(Decision::Allow, "exec(git log *)", None, GrantPlace::Always);
/// SqliteStore::open(&path)?.add(&grant).await?;
///
/// let held = SqliteStore::open(&path)?.holding(None, &[GrantPlace::Always]).await?;
/// assert_eq!(*held[0], grant);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteStore(Arc<Inner>);

struct Inner {
    /// The file, as an absolute path; `None` for a store in memory.
    path: Option<PathBuf>,
    wait: Duration,
    /// Waits until what it writes is on the disk.
    durable: Arc<Mutex<Connection>>,
    /// Does not; the same as the other in memory, where each connection would be a database of its own.
    quick: Arc<Mutex<Connection>>,
    /// The runs that are taken, of a store in memory; others have a file for each.
    taken: Taken,
}

/// Says how a database is opened.
///
/// ```
/// use haft_store::SqliteStore;
/// use std::time::Duration;
///
/// # let directory = tempfile::tempdir()?;
/// let options = SqliteStore::options().wait(Duration::from_secs(1)).most_bytes(64 << 20);
/// let store = options.open(directory.path().join("haft.db"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct StoreOptions {
    wait: Duration,
    most_bytes: Option<u64>,
}

impl SqliteStore {
    /// Opens a database, or makes it where there is none; its directory must be there.
    ///
    /// A file that is made belongs to its owner alone (mode 0600), and one that others may read or write is narrowed to
    /// that. One that an older version of this program wrote is brought up to date. Blocks for as long as the disk takes,
    /// and waits for others as long as [`StoreOptions::wait`] says.
    ///
    /// # Errors
    ///
    /// When the file is not a regular file, is damaged, cannot be written, stays locked, belongs to another application, or
    /// was written by a newer version of this program. It is left as it was.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::options().open(path)
    }

    /// Keeps everything in memory, for as long as the process lives; for tests.
    ///
    /// # Errors
    ///
    /// When there is no memory left.
    pub fn in_memory() -> Result<Self, OpenError> {
        let StoreOptions { wait, .. } = Self::options();
        let connection = Arc::new(Mutex::new(opening::open_in_memory(wait)?));
        Ok(Self(Arc::new(Inner {
            path: None,
            wait,
            durable: Arc::clone(&connection),
            quick: connection,
            taken: Taken::default(),
        })))
    }

    /// Says how a database is opened; waits 5 s for others, and bounds no size, by default.
    pub fn options() -> StoreOptions {
        StoreOptions { wait: Duration::from_secs(5), most_bytes: None }
    }

    /// Does something with the connection whose writes are on the disk when they are acknowledged.
    async fn durably<T: Send + 'static>(
        &self,
        attempted: &'static str,
        work: impl FnOnce(&mut Connection) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.blocking(attempted, |inner| &inner.durable, work).await
    }

    /// Does something with the connection of the journal.
    async fn quickly<T: Send + 'static>(
        &self,
        attempted: &'static str,
        work: impl FnOnce(&mut Connection) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.blocking(attempted, |inner| &inner.quick, work).await
    }

    /// Works where it may block; what was begun is done to its end, also when nobody waits for it any more.
    async fn blocking<T: Send + 'static>(
        &self,
        attempted: &'static str,
        connection: fn(&Inner) -> &Mutex<Connection>,
        work: impl FnOnce(&mut Connection) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, StoreError> {
        let inner = Arc::clone(&self.0);
        let wait = inner.wait;
        let work = move || work(&mut lock(connection(&inner)));
        let done = match Handle::try_current() {
            Ok(runtime) => runtime.spawn_blocking(work).await.unwrap_or_else(|error| {
                Err(Trouble::Failed(DatabaseError::ShutDown { source: error.into() }))
            }),
            // Whoever drives this without a runtime has only this thread.
            Err(_) => work(),
        };
        done.map_err(|trouble| StoreError::new(attempted, trouble.into_error(wait)))
    }
}

impl StoreOptions {
    /// Waits for as long until others let go of the database; 5 s by default.
    ///
    /// Whatever is refused because of it can be tried again. A record of the journal waits in the task of its call.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait.min(Duration::from_hours(1));
        self
    }

    /// Lets the file grow to so many bytes, and by no less than it already has; the disk is the bound by default.
    pub fn most_bytes(mut self, bytes: u64) -> Self {
        self.most_bytes = Some(bytes);
        self
    }

    /// Opens a database, as [`SqliteStore::open`] does.
    ///
    /// # Errors
    ///
    /// As for [`SqliteStore::open`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<SqliteStore, OpenError> {
        let path = opening::make_file(path.as_ref())?;
        let durable = open_connection(&path, self, opening::Durability::Disk, &schema::STORE)?;
        let quick = open_connection(&path, self, opening::Durability::System, &schema::STORE)?;
        Ok(SqliteStore(Arc::new(Inner {
            path: Some(path),
            wait: self.wait,
            durable: Arc::new(Mutex::new(durable)),
            quick: Arc::new(Mutex::new(quick)),
            taken: Taken::default(),
        })))
    }
}

/// Says what went wrong, before it is said for how long was waited.
#[derive(Debug)]
enum Trouble {
    Sqlite(rusqlite::Error),
    Failed(DatabaseError),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<DatabaseError> for Trouble {
    fn from(error: DatabaseError) -> Self {
        Self::Failed(error)
    }
}

impl Trouble {
    fn into_error(self, waited: Duration) -> DatabaseError {
        match self {
            Self::Sqlite(error) => DatabaseError::of(error, waited),
            Self::Failed(error) => error,
        }
    }
}

/// Begins to write; from then on nobody else does, so that what is read is what is written over.
fn writing(connection: &mut Connection) -> Result<rusqlite::Transaction<'_>, Trouble> {
    Ok(connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
}

fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    // A panic under the lock rolls back the transaction it was in.
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.0.path).finish_non_exhaustive()
    }
}
