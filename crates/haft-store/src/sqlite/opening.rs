use super::places::private;
#[cfg(unix)]
use super::places::{LOGS, beside};
use super::schema::Form;
use super::{StoreOptions, Trouble, schema};
use crate::{DatabaseError, OpenError};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Says where a write is when it is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// On the disk: it survives a loss of power.
    Disk,
    /// In the system's hands: it survives the end of the process.
    System,
}

/// Held while a file is made.
///
/// Closing a file takes from the whole process the locks that SQLite has on it, so the file that is made here must be
/// closed before anybody in this process can have it open otherwise.
static MAKING: Mutex<()> = Mutex::new(());

/// Makes the file if there is none, and gives its absolute path.
pub(super) fn make_file(path: &Path) -> Result<PathBuf, OpenError> {
    let failed = |source| OpenError::File { path: path.to_owned(), source };
    let Some(name) = path.file_name() else {
        return Err(OpenError::NotAFile { path: path.to_owned(), found: "a directory" });
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The directory may be reached through links; the file may not.
    let parent =
        parent.canonicalize().map_err(|source| OpenError::Directory { path: path.to_owned(), source })?;
    let whole = parent.join(name);
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    match private(OpenOptions::new().write(true).create_new(true)).open(&whole) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(source) => return Err(failed(source)),
    }
    let kind = fs::symlink_metadata(&whole).map_err(failed)?.file_type();
    let found = if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_dir() {
        "a directory"
    } else if kind.is_file() {
        return Ok(whole);
    } else {
        "a device, a pipe or a socket"
    };
    Err(OpenError::NotAFile { path: path.to_owned(), found })
}

pub(super) fn open_connection(
    path: &Path,
    options: &StoreOptions,
    durability: Durability,
    form: &Form,
) -> Result<Connection, OpenError> {
    let until = Instant::now() + options.wait;
    let failed = |error: rusqlite::Error| database(path, Trouble::Sqlite(error), options.wait);
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(options.wait).map_err(failed)?;
    // SQLite reads a file that it may not write.
    if connection.is_readonly(rusqlite::MAIN_DB).map_err(failed)? {
        let source = io::Error::from(io::ErrorKind::PermissionDenied).into();
        return Err(OpenError::Database {
            path: path.to_owned(),
            source: DatabaseError::ReadOnly { source },
        });
    }
    // Before anything is changed, since the file may be anybody's.
    schema::look(&connection, form).map_err(|error| error.into_open_error(path, options.wait))?;
    narrow(path).map_err(|source| OpenError::File { path: path.to_owned(), source })?;
    write_ahead(&connection, path, until, options.wait)?;
    configure(&connection, durability).map_err(failed)?;
    schema::migrate(&mut connection, form).map_err(|error| error.into_open_error(path, options.wait))?;
    if let Some(bytes) = options.most_bytes {
        bound(&connection, bytes).map_err(failed)?;
    }
    Ok(connection)
}

pub(super) fn open_in_memory(wait: Duration) -> Result<Connection, OpenError> {
    let path = Path::new(":memory:");
    let failed = |error: rusqlite::Error| database(path, Trouble::Sqlite(error), wait);
    let mut connection = Connection::open_in_memory().map_err(failed)?;
    configure(&connection, Durability::System).map_err(failed)?;
    schema::migrate(&mut connection, &schema::STORE).map_err(|error| error.into_open_error(path, wait))?;
    Ok(connection)
}

pub(super) fn database(path: &Path, trouble: Trouble, wait: Duration) -> OpenError {
    OpenError::Database { path: path.to_owned(), source: trouble.into_error(wait) }
}

/// Has readers and writers not wait for each other.
fn write_ahead(
    connection: &Connection,
    path: &Path,
    until: Instant,
    wait: Duration,
) -> Result<(), OpenError> {
    loop {
        let mode: Result<String, _> = connection.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0));
        match mode {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => return Err(OpenError::FileSystem { path: path.to_owned(), mode }),
            // SQLite does not wait for another process that changes the mode at the same time.
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < until =>
            {
                sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(database(path, Trouble::Sqlite(error), wait)),
        }
    }
}

fn configure(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    let synchronous = match durability {
        Durability::Disk => "FULL",
        Durability::System => "NORMAL",
    };
    connection.execute_batch(&format!(
        "PRAGMA synchronous = {synchronous};
         PRAGMA fullfsync = ON;
         PRAGMA foreign_keys = ON;
         PRAGMA secure_delete = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA trusted_schema = OFF;
         PRAGMA cell_size_check = ON;"
    ))
}

/// Bounds the size of the file.
fn bound(connection: &Connection, bytes: u64) -> rusqlite::Result<()> {
    let page: u32 = connection.query_row("PRAGMA page_size", (), |row| row.get(0))?;
    let pages = (bytes / u64::from(page).max(1)).clamp(1, u64::from(u32::MAX - 1));
    connection.execute_batch(&format!("PRAGMA max_page_count = {pages}"))
}

/// Takes from everybody but the owner what rights they have to the file, and to those beside it, which SQLite makes with
/// the rights of the file.
#[cfg(unix)]
fn narrow(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    for end in [""].into_iter().chain(LOGS) {
        let name = beside(path, end);
        let metadata = match fs::symlink_metadata(&name) {
            Ok(metadata) if metadata.is_file() => metadata,
            Ok(_) => continue,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let mode = metadata.permissions().mode();
        if mode & 0o077 != 0 {
            // By its name, since a file that is opened and closed here would lose the locks that SQLite has on it.
            let narrowed = fs::set_permissions(&name, fs::Permissions::from_mode(mode & 0o7700));
            match narrowed {
                // The process that had it open has ended.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                narrowed => narrowed?,
            }
        }
    }
    Ok(())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it fails elsewhere")]
fn narrow(_path: &Path) -> io::Result<()> {
    Ok(())
}
