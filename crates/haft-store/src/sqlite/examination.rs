use super::leases::is_held;
use super::opening::database;
use super::places::{LOGS, beside};
use super::schema::{self, Form};
use super::{SqliteStore, Trouble};
use crate::OpenError;
use crate::written::number;
use rusqlite::{Connection, OpenFlags};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// For how long others are waited for that have the database open.
const WAIT: Duration = Duration::from_secs(1);

/// The most faults that are told of a file.
const MOST_FAULTS: u32 = 5;

/// The most runs that are looked at for whether somebody is at work in them.
const MOST_RUNS: u32 = 1000;

/// Is what [`SqliteStore::examine`] found in a database.
///
/// ```
/// use haft_store::{RunStore as _, SqliteStore, StoredRun};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("haft.db");
/// SqliteStore::open(&path)?.save(&mut StoredRun::new("run-1".parse()?)).await?;
///
/// let found = SqliteStore::examine(&path)?.ok_or("there is a file")?;
/// assert_eq!(found.interrupted, ["run-1"]);
/// assert!(found.faults.is_empty() && found.open_to_others.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Examination {
    /// The version of the file's form; 0 for a file with nothing in it.
    pub version: u32,
    /// The newest version that is known here: an older file is brought up to it when it is opened.
    pub newest: u32,
    /// How large the file is, with what SQLite has put beside it, in bytes.
    pub bytes: u64,
    /// Which of its files others than the owner may read or write; they are narrowed when the database is opened.
    pub open_to_others: Vec<PathBuf>,
    /// What is damaged in the file, as SQLite says it, a few at most; nothing if it is whole.
    pub faults: Vec<String>,
    /// How many calls wait for a person.
    pub waiting: u64,
    /// Since when the first of them waits, in milliseconds since the Unix epoch.
    pub waiting_since_ms: Option<u64>,
    /// The runs that were at work when they were last saved, and that nobody has taken: those that were interrupted.
    pub interrupted: Vec<String>,
}

impl SqliteStore {
    /// Looks at a database without writing to it; `None` if there is no file.
    ///
    /// For whoever wants to know how a store is doing before it is used: it reads all of the file, so it takes as long as
    /// that, and it waits a second at most for others. SQLite may make its own `-shm` file beside one that has a `-wal`, as
    /// every reader does.
    ///
    /// ```
    /// use haft_store::SqliteStore;
    ///
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("haft.db");
    /// assert_eq!(SqliteStore::examine(&path)?, None);
    /// drop(SqliteStore::open(&path)?);
    /// let found = SqliteStore::examine(&path)?.ok_or("there is a file now")?;
    /// assert_eq!((found.version, found.faults.len()), (found.newest, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is not a regular file, is no database, belongs to another application, or was written
    /// by a newer version of this program.
    pub fn examine(path: impl AsRef<Path>) -> Result<Option<Examination>, OpenError> {
        examine(path.as_ref(), &schema::STORE, |connection, path, found| {
            if found.version > 0 {
                look_at_work(connection, path, found)?;
            }
            Ok(())
        })
    }
}

#[cfg(all(unix, feature = "changes"))]
impl super::SqliteChanges {
    /// Looks at a journal of changes without writing to it, as [`SqliteStore::examine`] does; `None` if there is no file.
    ///
    /// # Errors
    ///
    /// As for [`SqliteStore::examine`].
    pub fn examine(path: impl AsRef<Path>) -> Result<Option<Examination>, OpenError> {
        examine(path.as_ref(), &schema::CHANGES, |_, _, _| Ok(()))
    }
}

/// Looks at a database of a form; `more` reads what its tables hold.
pub(super) fn examine(
    path: &Path,
    form: &Form,
    more: impl FnOnce(&Connection, &Path, &mut Examination) -> rusqlite::Result<()>,
) -> Result<Option<Examination>, OpenError> {
    let mut found = Examination { newest: form.known(), ..Examination::default() };
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(OpenError::File { path: path.to_owned(), source }),
    };
    if !metadata.is_file() {
        let kind = metadata.file_type();
        let what = if kind.is_symlink() {
            "a symbolic link"
        } else if kind.is_dir() {
            "a directory"
        } else {
            "a device, a pipe or a socket"
        };
        return Err(OpenError::NotAFile { path: path.to_owned(), found: what });
    }
    for end in [""].into_iter().chain(LOGS) {
        let name = beside(path, end);
        let Ok(metadata) = fs::symlink_metadata(&name) else { continue };
        found.bytes += metadata.len();
        if is_open_to_others(&metadata) {
            found.open_to_others.push(name);
        }
    }
    let failed = |error: rusqlite::Error| database(path, Trouble::Sqlite(error), WAIT);
    let connection = open(path).map_err(failed)?;
    connection.busy_timeout(WAIT).map_err(failed)?;
    found.version = schema::look(&connection, form).map_err(|error| error.into_open_error(path, WAIT))?;
    found.faults = faults(&connection).map_err(failed)?;
    // What is damaged cannot be relied on for more.
    if found.faults.is_empty() {
        more(&connection, path, &mut found).map_err(failed)?;
    }
    Ok(Some(found))
}

/// Opens a file for reading; where nothing stands beside it, nothing is put there.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_URI;
    let has_log = LOGS.iter().any(|end| beside(path, end).symlink_metadata().is_ok());
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match path.to_str() {
        Some(text) if !has_log => {
            let mut address = String::from("file:");
            for byte in text.bytes() {
                // As RFC 3986 has it, and SQLite reads it.
                if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
                    address.push(char::from(byte));
                } else {
                    // Writing to a string cannot fail.
                    let _ = write!(address, "%{byte:02X}");
                }
            }
            address.push_str("?immutable=1");
            Connection::open_with_flags(address, flags)
        }
        _ => Connection::open_with_flags(&path, flags - OpenFlags::SQLITE_OPEN_URI),
    }
}

fn faults(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut check = connection.prepare(&format!("PRAGMA quick_check({MOST_FAULTS})"))?;
    let told = check.query_map((), |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(told.into_iter().filter(|line| line != "ok").take(MOST_FAULTS as usize).collect())
}

fn look_at_work(connection: &Connection, path: &Path, found: &mut Examination) -> rusqlite::Result<()> {
    let (waiting, since): (i64, Option<i64>) = connection.query_row(
        "SELECT count(*), min(asked_at_ms) FROM pending WHERE claimed_at_ms IS NULL",
        (),
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    (found.waiting, found.waiting_since_ms) = (number(waiting), since.map(number));
    let mut runs = connection.prepare(&format!(
        "SELECT run FROM runs WHERE status = 'running' ORDER BY updated_at_ms DESC LIMIT {MOST_RUNS}"
    ))?;
    for run in runs.query_map((), |row| row.get::<_, String>(0))? {
        let run = run?;
        if run.parse().is_ok_and(|run| !is_held(path, &run)) {
            found.interrupted.push(run);
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_open_to_others(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    metadata.permissions().mode() & 0o077 != 0
}

/// Who may read a file is up to its directory.
#[cfg(not(unix))]
fn is_open_to_others(_metadata: &fs::Metadata) -> bool {
    false
}
