//! A database can be looked at without being used.

use crate::fixture::{Place, pending, run};
use haft_store::{OpenError, RunStatus, RunStore as _, SqliteStore, StoredRun};
use haft_tools_core::PendingStore as _;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

/// All that is in the directory: names with contents and modes. Of the memory that those who have a database open share, which
/// says who reads, there is no content.
fn everything(place: &Place) -> BTreeMap<String, (Vec<u8>, u32)> {
    let entries = fs::read_dir(place.file("")).unwrap().map(Result::unwrap);
    let entries = entries.filter(|entry| entry.file_type().unwrap().is_file());
    entries
        .map(|entry| {
            let mode = entry.metadata().unwrap().permissions().mode();
            let name = entry.file_name().into_string().unwrap();
            let content = if name.ends_with("-shm") { Vec::new() } else { fs::read(entry.path()).unwrap() };
            (name, (content, mode))
        })
        .collect()
}

async fn saved(store: &SqliteStore, name: &str, status: RunStatus) {
    let mut stored = StoredRun::new(run(name));
    stored.status = status;
    store.save(&mut stored).await.unwrap();
}

#[tokio::test]
async fn what_waits_and_what_was_interrupted_is_found_and_nothing_is_changed() {
    let place = Place::new();
    let store = place.store();
    store.put(&pending("p1", &json!({ "text": "a" }))).await.unwrap();
    saved(&store, "run-taken", RunStatus::Running).await;
    saved(&store, "run-left", RunStatus::Running).await;
    saved(&store, "run-waits", RunStatus::Waiting).await;
    saved(&store, "run-done", RunStatus::Ended).await;
    let lease = store.take(&run("run-taken")).await.unwrap();

    // While it is open, and after.
    for is_open in [true, false] {
        let store = is_open.then(|| store.clone());
        let before = everything(&place);
        let found = SqliteStore::examine(place.path()).unwrap().unwrap();
        assert_eq!((found.version, found.faults.clone()), (found.newest, Vec::<String>::new()));
        assert_eq!((found.waiting, found.waiting_since_ms), (1, Some(1_700_000_000_000)));
        assert_eq!(found.interrupted, ["run-left"]);
        assert_eq!(found.open_to_others, Vec::<std::path::PathBuf>::new());
        assert!(found.bytes > 0);
        assert_eq!(everything(&place), before);
        drop(store);
    }
    drop(lease);
    let mut interrupted = SqliteStore::examine(place.path()).unwrap().unwrap().interrupted;
    interrupted.sort();
    assert_eq!(interrupted, ["run-left", "run-taken"]);
}

#[test]
fn a_file_that_is_not_open_is_left_alone_whatever_its_rights() {
    let place = Place::new();
    drop(place.store());
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o644)).unwrap();
    let before = everything(&place);
    let found = SqliteStore::examine(place.path()).unwrap().unwrap();
    assert_eq!(found.open_to_others, [place.path()]);
    assert_eq!(everything(&place), before);
}

#[test]
fn what_is_no_whole_database_is_told() {
    let place = Place::new();
    assert_eq!(SqliteStore::examine(place.path()).unwrap(), None);

    fs::write(
        place.file("text.db"),
        "no database, but long enough to be read as the head of one, whatever it is for",
    )
    .unwrap();
    assert!(matches!(SqliteStore::examine(place.file("text.db")), Err(OpenError::Database { .. })));
    symlink(place.path(), place.file("link.db")).unwrap();
    assert!(matches!(SqliteStore::examine(place.file("link.db")), Err(OpenError::NotAFile { .. })));
    fs::create_dir(place.file("directory.db")).unwrap();
    assert!(matches!(SqliteStore::examine(place.file("directory.db")), Err(OpenError::NotAFile { .. })));

    // A name that an address of SQLite's would read otherwise.
    let odd = place.file("odd ?mode=memory#%41.db");
    drop(SqliteStore::open(&odd).unwrap());
    assert_eq!(SqliteStore::examine(&odd).unwrap().unwrap().faults, Vec::<String>::new());

    // Pages in the middle that hold nothing of what they held.
    drop(place.store());
    let mut bytes = fs::read(place.path()).unwrap();
    let middle = 4096 * 2..4096 * 6;
    bytes[middle].fill(0x5a);
    fs::write(place.path(), &bytes).unwrap();
    match SqliteStore::examine(place.path()) {
        Ok(found) => assert!(!found.unwrap().faults.is_empty()),
        Err(error) => assert!(matches!(error, OpenError::Database { .. }), "{error}"),
    }
    assert_eq!(fs::read(place.path()).unwrap(), bytes);
}

#[test]
fn the_version_of_an_older_form_is_told_and_kept() {
    let place = Place::new();
    let connection = rusqlite::Connection::open(place.path()).unwrap();
    connection
        .execute_batch("PRAGMA application_id = 1751213684; PRAGMA user_version = 0; CREATE TABLE x (a);")
        .unwrap();
    drop(connection);
    let found = SqliteStore::examine(place.path()).unwrap().unwrap();
    assert_eq!((found.version, found.waiting), (0, 0));
    assert!(found.newest > 0);
}
