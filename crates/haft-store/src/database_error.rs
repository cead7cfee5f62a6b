use haft_core::RunId;
use rusqlite::{Error, ErrorCode};
use std::time::Duration;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Says what a store failed with: the source of its
/// [`StoreError`](haft_tools_core::StoreError)s.
///
/// Whatever it is, nothing was written half.
///
/// ```
/// use haft_store::{ChildRuns as _, DatabaseError, SqliteStore};
/// use serde_json::json;
/// use std::error::Error as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = SqliteStore::in_memory()?;
/// let error = store.keep_child(&"run-2".parse()?, json!({}), 0, vec![]).await.unwrap_err();
/// let error = error.source().and_then(|source| source.downcast_ref::<DatabaseError>()).ok_or("another error")?;
/// assert!(matches!(error, DatabaseError::OutOfStep { run, .. } if run == "run-2"));
/// assert_eq!(
///     error.to_string(),
///     "the state of the run `run-2` does not follow what was kept of it: it has no record; begin the run anew"
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// Another process, or another task of this one, did not let go of the database in time.
    #[error(
        "the database was locked for longer than {} ms; try again, and end the process that has it open if that does not help",
        .waited.as_millis()
    )]
    Locked {
        /// For how long was waited.
        waited: Duration,
        /// What the database said.
        source: Cause,
    },
    /// The server of the database did not answer, or the connection to it broke.
    #[error(
        "the database cannot be reached, or did not answer within {} ms; what was being written may be kept or not; see \
         that its server runs, and try again",
        .waited.as_millis()
    )]
    Unreachable {
        /// For how long was waited at most.
        waited: Duration,
        /// What went wrong.
        source: Cause,
    },
    /// The server of the database lets nobody in who asks so.
    #[error(
        "the server of the database refuses who asks; see to the user, the password and the database that are named, to whom \
         the server lets in, and to what the user may do there"
    )]
    Refused {
        /// What the server said, or what is missing.
        source: Cause,
    },
    /// No connection to the server of the database can be made that is encrypted for it alone.
    #[error(
        "no encrypted connection to the server of the database can be made; give it a certificate that is trusted here, or name \
         what that is signed by, or write `sslmode=disable` into the URL where nobody else is on the network"
    )]
    Unencrypted {
        /// What is wrong with it.
        source: Cause,
    },
    /// There is no room left: on the disk, or within what the store was given.
    #[error("there is no room left for the database; make room, or remove old entries")]
    Full {
        /// What the database said.
        source: Cause,
    },
    /// The file, or the disk it is on, cannot be written.
    #[error("the database can only be read; give yourself the right to write its file and its directory")]
    ReadOnly {
        /// What the database said.
        source: Cause,
    },
    /// The file does not hold what was written into it, or was never a database.
    #[error("the file is damaged, or no database; move it away, and restore it or begin anew")]
    Damaged {
        /// What the database said.
        source: Cause,
    },
    /// One entry cannot be read, because it is damaged or another version of this program wrote it.
    #[error("the {what} `{id}` in the database cannot be read; remove it, or use the program that wrote it")]
    Unreadable {
        /// What it is, as in `grant`.
        what: &'static str,
        /// Its name.
        id: String,
        /// What is wrong with it.
        source: Cause,
    },
    /// Where a run stands does not follow what was kept of it before.
    #[error("the state of the run `{run}` does not follow what was kept of it: {why}; begin the run anew")]
    OutOfStep {
        /// The run.
        run: String,
        /// What does not fit.
        why: String,
    },
    /// What has to be kept cannot be written as JSON.
    #[error("what is to be kept cannot be written as JSON")]
    Unwritable {
        /// Why.
        source: Cause,
    },
    /// The runtime that the store was used in has ended.
    #[error("the runtime is shutting down")]
    ShutDown {
        /// What the runtime said.
        source: Cause,
    },
    /// Something else.
    #[error("the database failed")]
    Other {
        /// What the database said.
        source: Cause,
    },
}

impl DatabaseError {
    /// Sorts what SQLite said.
    pub(crate) fn of(error: Error, waited: Duration) -> Self {
        let code = error.sqlite_error_code();
        let is_malformed = matches!(
            error,
            Error::FromSqlConversionFailure(..) | Error::InvalidColumnType(..) | Error::Utf8Error(..)
        );
        let source = error.into();
        match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { waited, source },
            Some(ErrorCode::DiskFull) => Self::Full { source },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { source },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { source },
            _ if is_malformed => Self::Damaged { source },
            _ => Self::Other { source },
        }
    }

    pub(crate) fn unreadable(what: &'static str, id: impl Into<String>, source: impl Into<Cause>) -> Self {
        Self::Unreadable { what, id: id.into(), source: source.into() }
    }

    pub(crate) fn out_of_step(run: &RunId, why: impl Into<String>) -> Self {
        Self::OutOfStep { run: run.as_str().to_owned(), why: why.into() }
    }
}
