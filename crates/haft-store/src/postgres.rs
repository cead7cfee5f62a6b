mod children;
mod connect_error;
mod connecting;
mod entries;
mod examining;
mod grants;
mod journal;
mod pending;
mod runs;
mod schema;
mod upkeep;

pub use connect_error::ConnectError;
pub use connecting::PostgresOptions;

use crate::DatabaseError;
use deadpool_postgres::{ClientWrapper, Object, Pool, PoolError};
use haft_tools_core::StoreError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Handle, Runtime};
use tokio::time::timeout;

/// Keeps grants, pending calls, the journal and runs in a `PostgreSQL` database, for processes on any number of machines.
///
/// Cheap to clone; clones are the same store. Its connections live in a runtime of its own with one thread, so that it can be
/// used from any runtime, and from several. What is acknowledged is on the server's disk; a record of the journal gets there a
/// moment later. A call that is claimed is overwritten, and its earlier row goes with the server's next vacuum. Nothing is
/// removed by itself: [`Upkeep`](crate::Upkeep) does that.
///
/// ```no_run
/// use haft_store::PostgresStore;
/// use haft_tools_core::{Grants, Journal, LocalExecutor, ToolRegistry};
/// use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Arc::new(PostgresStore::connect("postgres://haft@db.example.org/haft").await?);
/// let executor = LocalExecutor::builder(ToolRegistry::new())
///     .grants(Grants::kept_in(Arc::clone(&store) as _))
///     .pending(Arc::clone(&store) as _)
///     .journal(Journal::new(store))
///     .build();
/// # let _ = executor;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresStore(Arc<Inner>);

struct Inner {
    /// Taken when the store ends.
    runtime: Option<Runtime>,
    /// Waits until what it writes is on the disk.
    durable: Pool,
    /// Does not; for the journal.
    quick: Pool,
    /// Where it is, without a password.
    place: String,
    schema: String,
    wait: Duration,
}

/// Is what is done with a connection.
type Work<'c, T> = Pin<Box<dyn Future<Output = Result<T, Trouble>> + Send + 'c>>;

impl PostgresStore {
    /// Connects to a database, and makes its tables where there are none, in the schema `haft`.
    ///
    /// The URL is one of libpq, such as `postgres://USER:PASSWORD@HOST:5432/DATABASE?sslmode=require`. What goes over a network
    /// is encrypted, and the server's certificate is checked, unless the URL says `sslmode=disable`; a server on this machine
    /// may do without.
    ///
    /// # Errors
    ///
    /// When the URL cannot be read, the server cannot be reached or refuses, and when a newer version of this program made
    /// the tables.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn connect(url: &str) -> Result<Self, ConnectError> {
        Self::options().connect(url).await
    }

    /// Says how a database is used: in the schema `haft`, over at most 8 connections, waiting 5 s for the server, by default.
    pub fn options() -> PostgresOptions {
        PostgresOptions::default()
    }

    /// Does something with a connection whose writes are on the disk when they are acknowledged.
    async fn durably<T: Send + 'static>(
        &self,
        attempted: &'static str,
        work: impl for<'c> FnOnce(&'c mut Object) -> Work<'c, T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let done = self.apart(Arc::clone(&self.0).work(|inner| &inner.durable, work)).await;
        done.map_err(|error| StoreError::new(attempted, error))
    }

    /// Works in the store's own runtime; what was begun is done to its end, also when nobody waits for it any more.
    async fn apart<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, DatabaseError>> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let done = self.handle().spawn(work).await;
        done.unwrap_or_else(|error| Err(DatabaseError::ShutDown { source: error.into() }))
    }

    fn unusable(&self, source: DatabaseError) -> ConnectError {
        ConnectError::Database { place: self.0.place.clone(), source }
    }

    fn newer(&self, found: u32) -> ConnectError {
        let (place, schema) = (self.0.place.clone(), self.0.schema.clone());
        ConnectError::Newer { place, schema, found, known: schema::KNOWN }
    }

    fn handle(&self) -> &Handle {
        self.0.runtime.as_ref().expect("it is taken when the last store ends").handle()
    }
}

impl Inner {
    /// Works with a connection of a pool, within the time there is.
    async fn work<T>(
        self: Arc<Self>,
        pool: fn(&Self) -> &Pool,
        work: impl for<'c> FnOnce(&'c mut Object) -> Work<'c, T>,
    ) -> Result<T, DatabaseError> {
        let waited = self.patience();
        self.work_within(waited, pool, work).await
    }

    /// The same, within another time.
    async fn work_within<T>(
        self: Arc<Self>,
        waited: Duration,
        pool: fn(&Self) -> &Pool,
        work: impl for<'c> FnOnce(&'c mut Object) -> Work<'c, T>,
    ) -> Result<T, DatabaseError> {
        let done = async {
            let mut client = Guarded::of(pool(&self)).await?;
            let done = work(client.get()).await;
            client.give_back();
            done
        };
        self.within(waited, done).await
    }

    /// For how long the server is waited for: twice as long as it has itself. Who does not hear of it by then has lost it.
    fn patience(&self) -> Duration {
        self.wait * 2
    }

    async fn within<T>(
        &self,
        waited: Duration,
        done: impl Future<Output = Result<T, Trouble>>,
    ) -> Result<T, DatabaseError> {
        match timeout(waited, done).await {
            Ok(done) => done.map_err(|trouble| trouble.into_error(self.wait)),
            Err(elapsed) => Err(DatabaseError::Unreachable { waited, source: elapsed.into() }),
        }
    }
}

/// Is a connection of a pool, which is nobody else's any more unless it is given back: in the middle of something it ends.
struct Guarded(Option<Object>);

impl Guarded {
    async fn of(pool: &Pool) -> Result<Self, Trouble> {
        Ok(Self(Some(pool.get().await?)))
    }

    fn get(&mut self) -> &mut Object {
        self.0.as_mut().expect("it is there until it is given away")
    }

    fn give_back(mut self) {
        drop(self.0.take());
    }

    /// Takes the connection out of its pool for good.
    fn keep(mut self) -> ClientWrapper {
        Object::take(self.0.take().expect("it is there until it is given away"))
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if let Some(client) = self.0.take() {
            drop(Object::take(client));
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Whoever drops it may be within a runtime, which must not wait for another.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Says what went wrong, before it is said for how long was waited.
#[derive(Debug)]
enum Trouble {
    Postgres(tokio_postgres::Error),
    Pool(PoolError),
    Failed(DatabaseError),
}

impl From<tokio_postgres::Error> for Trouble {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

impl From<PoolError> for Trouble {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => Self::Postgres(error),
            error => Self::Pool(error),
        }
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
            Self::Postgres(error) => of_postgres(error, waited),
            Self::Pool(error) => DatabaseError::Unreachable { waited, source: error.into() },
            Self::Failed(error) => error,
        }
    }
}

/// Sorts what `PostgreSQL` said, by the codes of its appendix A.
fn of_postgres(error: tokio_postgres::Error, waited: Duration) -> DatabaseError {
    use tokio_postgres::error::SqlState;

    let code = error.code().cloned();
    let is_apart = error.as_db_error().is_none();
    // Which kind it is of is said by its text alone.
    let text = error.to_string();
    let is = |kind: &str| is_apart && text.starts_with(kind);
    let (is_of_tls, is_refused) =
        (is("error performing TLS handshake"), is("authentication error") || is("invalid configuration"));
    let source = error.into();
    match code {
        // Of two that wait for each other the server ends one, which may try again.
        Some(
            SqlState::QUERY_CANCELED
            | SqlState::LOCK_NOT_AVAILABLE
            | SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::T_R_SERIALIZATION_FAILURE,
        ) => DatabaseError::Locked { waited, source },
        Some(SqlState::DISK_FULL) => DatabaseError::Full { source },
        Some(SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED) => DatabaseError::Damaged { source },
        Some(
            SqlState::INVALID_PASSWORD
            | SqlState::INVALID_AUTHORIZATION_SPECIFICATION
            | SqlState::INVALID_CATALOG_NAME
            | SqlState::INSUFFICIENT_PRIVILEGE,
        ) => DatabaseError::Refused { source },
        Some(
            SqlState::ADMIN_SHUTDOWN
            | SqlState::CRASH_SHUTDOWN
            | SqlState::CANNOT_CONNECT_NOW
            | SqlState::TOO_MANY_CONNECTIONS,
        ) => DatabaseError::Unreachable { waited, source },
        None if is_of_tls => DatabaseError::Unencrypted { source },
        None if is_refused => DatabaseError::Refused { source },
        None if is_apart => DatabaseError::Unreachable { waited, source },
        _ => DatabaseError::Other { source },
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("place", &self.0.place)
            .field("schema", &self.0.schema)
            .finish_non_exhaustive()
    }
}
