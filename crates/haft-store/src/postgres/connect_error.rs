use crate::DatabaseError;
use std::io;

/// Says why a database of `PostgreSQL` cannot be used; it is as it was.
///
/// What a person has written is looked at before a server is asked:
///
/// ```
/// use haft_store::{ConnectError, PostgresStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = PostgresStore::connect("postgres://haft@db.example.org:port/haft").await.unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "cannot read the URL of the database; write it as postgres://USER@HOST/DATABASE"
/// );
/// let options = PostgresStore::options().schema("Agents");
/// let error = options.connect("postgres://haft@db.example.org/haft").await.unwrap_err();
/// assert!(matches!(error, ConnectError::Schema { name } if name == "Agents"));
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The URL cannot be read.
    #[error("cannot read the URL of the database; write it as postgres://USER@HOST/DATABASE")]
    Url {
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The schema has a name that none may have.
    #[error(
        "`{name}` cannot be the schema of the tables; name it by at most 63 characters a-z, 0-9 and _, which begin with no digit \
         and not with pg_"
    )]
    Schema {
        /// The name.
        name: String,
    },
    /// What certificates are checked with cannot be read.
    #[error("cannot read the authorities that certificates of the database are checked with")]
    Authorities {
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no thread for the connections.
    #[error("cannot start the thread that connections to databases live in")]
    Thread {
        /// Why.
        source: io::Error,
    },
    /// A newer version of this program made the tables.
    #[error(
        "cannot use the database at {place}, because the tables in its schema `{schema}` have version {found} of their form, \
         and this program knows versions up to {known}; use the newer program, or name another schema"
    )]
    Newer {
        /// Where the database is, as in `db.example.org:5432/haft`.
        place: String,
        /// The schema.
        schema: String,
        /// The version they have.
        found: u32,
        /// The newest version that is known here.
        known: u32,
    },
    /// The database cannot be reached, refuses, or fails.
    #[error("cannot use the database at {place}")]
    Database {
        /// Where it is, as in `db.example.org:5432/haft`.
        place: String,
        /// Why.
        source: DatabaseError,
    },
}
