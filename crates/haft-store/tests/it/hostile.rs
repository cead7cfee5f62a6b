use crate::child::{Child, Part, say, stay};
use crate::fixture::{Place, pending};
use expect_test::{Expect, expect};
use haft_core::Decision;
use haft_store::{ChildRuns as _, RecordStore as _, Upkeep as _};
use haft_store::{DatabaseError, OpenError, RecordFilter, RunStore as _, SaveError, SqliteStore, StoredRun};
use haft_tools_core::{
    Approval, CallScope, Claim, Grant, GrantPlace, GrantStore as _, Journal, PendingStore as _, StoreError,
};
use rusqlite::Connection;
use serde_json::json;
use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Prints an error and what it comes from, without where the test happens to run.
fn printed(error: &(dyn Error + 'static), place: &Place) -> String {
    let chain = std::iter::successors(Some(error), |error| Error::source(*error));
    let lines: Vec<String> = chain.map(ToString::to_string).collect();
    let directory = place.file("").display().to_string();
    lines.join("\n").replace(&directory, "/").replace(directory.trim_end_matches('/'), "/")
}

fn open(path: &Path) -> Result<SqliteStore, OpenError> {
    SqliteStore::options().wait(Duration::from_millis(50)).open(path)
}

/// Opens a file that is not to be used, and left as it was.
fn check(place: &Place, name: &str, expect: Expect) {
    let path = place.file(name);
    let before = fs::read(&path).ok();
    expect.assert_eq(&printed(&open(&path).unwrap_err(), place));
    assert_eq!(fs::read(&path).ok(), before, "the file is as it was");
}

fn grant() -> Grant {
    Grant::new(Decision::Allow, "read(a)", None, GrantPlace::Always)
}

#[test]
fn what_is_not_a_file_is_refused() {
    let place = Place::new();
    place.store();
    let check = |name: &str, expect| check(&place, name, expect);
    symlink(place.path(), place.file("link.db")).unwrap();
    check(
        "link.db",
        expect![
            "cannot open the database `/link.db`, because it is a symbolic link, not a regular file; name the file itself"
        ],
    );
    symlink(place.file("nothing"), place.file("dangling.db")).unwrap();
    check(
        "dangling.db",
        expect![
            "cannot open the database `/dangling.db`, because it is a symbolic link, not a regular file; name the file itself"
        ],
    );
    assert!(!place.file("nothing").exists());
    check(
        "",
        expect![
            "cannot open the database `/`, because it is a directory, not a regular file; name the file itself"
        ],
    );
    check(
        "none/haft.db",
        expect![[r#"
        cannot open the database `/none/haft.db`, because its directory cannot be used; make the directory first
        No such file or directory (os error 2)"#]],
    );
    let _socket = UnixListener::bind(place.file("socket")).unwrap();
    check(
        "socket",
        expect![
            "cannot open the database `/socket`, because it is a device, a pipe or a socket, not a regular file; name the file itself"
        ],
    );
}

#[test]
fn a_directory_may_be_reached_through_a_link() {
    let place = Place::new();
    symlink(place.file(""), place.file("here")).unwrap();
    assert!(open(&place.file("here/haft.db")).is_ok());
}

#[test]
fn a_log_that_is_a_link_is_not_followed() {
    let place = Place::new();
    drop(place.store());
    symlink(place.file("elsewhere"), place.file("haft.db-wal")).unwrap();
    assert!(open(&place.path()).is_err());
    assert!(!place.file("elsewhere").exists());
}

#[test]
fn a_file_that_is_not_ours_is_refused_and_left_alone() {
    let place = Place::new();
    let check = |name: &str, expect| check(&place, name, expect);
    let change = |name: &str, sql: &str| {
        Connection::open(place.file(name)).unwrap().execute_batch(sql).unwrap();
    };
    fs::write(place.file("text"), "not a database, but long enough to be one".repeat(100)).unwrap();
    check(
        "text",
        expect![[r#"
            cannot open the database `/text`
            the file is damaged, or no database; move it away, and restore it or begin anew
            file is not a database
            Error code 26: file is not a database"#]],
    );
    change("other", "CREATE TABLE t (a)");
    check(
        "other",
        expect![
            "cannot open the database `/other`, because it belongs to another application; name another file"
        ],
    );
    change("named", "PRAGMA application_id = 7");
    check(
        "named",
        expect![
            "cannot open the database `/named`, because it belongs to another application; name another file"
        ],
    );
    drop(open(&place.file("newer")).unwrap());
    change("newer", "PRAGMA user_version = 6");
    check(
        "newer",
        expect![
            "cannot open the database `/newer`, because it has version 6 of its form, and this program knows versions up to 5; use the newer program, or name another file"
        ],
    );
    change("newer", "PRAGMA user_version = -1");
    check(
        "newer",
        expect![
            "cannot open the database `/newer`, because it has version 4294967295 of its form, and this program knows versions up to 5; use the newer program, or name another file"
        ],
    );
}

#[tokio::test]
async fn a_file_of_an_older_version_is_brought_up_to_date() {
    let place = Place::new();
    place.store().add(&grant()).await.unwrap();
    let mut kept = StoredRun::new("run-0".parse().unwrap());
    kept.state = json!({ "messages": ["all in one"] });
    place.store().save(&mut kept).await.unwrap();
    let change = |sql: &str| Connection::open(place.path()).unwrap().execute_batch(sql).unwrap();
    change(
        "DROP TABLE child_log; DROP TABLE children; DROP TABLE run_log; ALTER TABLE runs DROP COLUMN entries; DROP TABLE upkeep; DROP INDEX pending_of_run; \
         DROP INDEX pending_by_digest; PRAGMA user_version = 1",
    );
    let store = place.store();
    assert_eq!(store.load(&kept.run).await.unwrap(), Some(kept.clone()));
    store.append(&mut kept, vec![json!("one more")]).await.unwrap();
    assert_eq!(store.log(&kept.run).await.unwrap(), [json!("one more")]);
    assert_eq!(do_all(&store).await.len(), 0);
    assert_eq!(store.list_grants().await.unwrap().len(), 2);
}

/// Does everything that a store does once; gives what failed.
async fn do_all(store: &SqliteStore) -> Vec<StoreError> {
    let call = pending("1", &json!({ "text": "x".repeat(5000) }));
    let journal = Journal::new(Arc::new(store.clone()));
    let scope = CallScope::new("run-1".parse().unwrap());
    let recorded = journal.call(&scope, &call.call).begun();
    let saved = match store.save(&mut StoredRun::new("run-1".parse().unwrap())).await {
        Err(SaveError::Store(error)) => Err(error),
        _ => Ok(()),
    };
    let done = [
        store.add(&grant()).await,
        store.list_grants().await.map(drop),
        store.holding(None, &[GrantPlace::Always]).await.map(drop),
        store.revoke("1").await.map(drop),
        store.put(&call).await,
        store.waiting().await.map(drop),
        store.answer(&call.id, &Approval::Approve).await.map(drop),
        store.answer_to(&call.id).await.map(drop),
        store.claim(&call).await.map(drop),
        saved,
        store.load(&"run-1".parse().unwrap()).await.map(drop),
        store.log(&"run-1".parse().unwrap()).await.map(drop),
        store.list_runs().await.map(drop),
        store.delete(&"run-1".parse().unwrap()).await.map(drop),
        store.records(&RecordFilter::new()).await.map(drop),
        store.put_child(&"child".parse().unwrap(), &"run-1".parse().unwrap(), &json!(1)).await,
        store.keep_child(&"child".parse().unwrap(), json!(1), 0, vec![json!(2)]).await,
        store.child(&"child".parse().unwrap()).await.map(drop),
        store.child_state(&"child".parse().unwrap()).await.map(drop),
        store.children(&"run-1".parse().unwrap()).await.map(drop),
        store.forget_children(&"run-1".parse().unwrap()).await,
        store.prune(Duration::from_hours(1)).await.map(drop),
        store.prune_if_due(Duration::from_hours(1), Duration::ZERO).await.map(drop),
        recorded.map_err(|error| StoreError::new("record", error)),
    ];
    done.into_iter().filter_map(Result::err).collect()
}

fn fault(error: &StoreError) -> &DatabaseError {
    error.source().unwrap().downcast_ref().unwrap()
}

#[tokio::test]
async fn a_damaged_file_gives_errors_and_nothing_worse() {
    let place = Place::new();
    assert_eq!(do_all(&place.store()).await.len(), 0);
    let whole = fs::read(place.path()).unwrap();
    let mut damaged_somewhere = false;
    let mut attempt = async |bytes: &[u8], what: &str| {
        let path = place.file("damaged");
        for beside in ["damaged", "damaged-wal", "damaged-shm"] {
            let _ = fs::remove_file(place.file(beside));
        }
        fs::write(&path, bytes).unwrap();
        match open(&path) {
            Err(
                OpenError::Database { source: DatabaseError::Damaged { .. }, .. } | OpenError::Foreign { .. },
            ) => {
                damaged_somewhere = true;
            }
            Err(error) => panic!("{what}: {}", printed(&error, &place)),
            Ok(store) => {
                for error in do_all(&store).await {
                    damaged_somewhere = true;
                    let text = printed(&error, &place);
                    assert!(
                        text.contains("the file is damaged") || text.contains("the database failed"),
                        "{what}: {text}"
                    );
                }
            }
        }
    };
    for page in 0..whole.len() / 4096 {
        for fill in [0x00, 0xa5, 0xff] {
            let mut bytes = whole.clone();
            bytes[page * 4096 + 8..][..4000].fill(fill);
            attempt(&bytes, &format!("the page {page} is full of {fill:x}")).await;
        }
    }
    for kept in [1, 99, 100, 4095, 4096, 8192, whole.len() - 1] {
        attempt(&whole[..kept], &format!("{kept} bytes are left")).await;
    }
    assert!(damaged_somewhere);
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_is_named() {
    let place = Place::new();
    let store = place.store();
    let mut granted = grant();
    granted.id = "bad".to_owned();
    store.add(&granted).await.unwrap();
    store.put(&pending("1", &json!({}))).await.unwrap();
    let change = |sql: &str| Connection::open(place.path()).unwrap().execute_batch(sql).unwrap();
    change("UPDATE grants SET body = '{'; UPDATE pending SET body = json_set(body, '$.version', 2)");
    let mut errors = vec![
        store.list_grants().await.unwrap_err(),
        store.holding(None, &[GrantPlace::Always]).await.unwrap_err(),
        store.waiting().await.unwrap_err(),
    ];
    change("UPDATE pending SET body = CAST(x'ff' AS TEXT)");
    errors.push(store.waiting().await.unwrap_err());
    let printed: Vec<String> = errors.iter().map(|error| printed(error, &place)).collect();
    expect![[r#"
        cannot read the grants
        the grant `bad` in the database cannot be read; remove it, or use the program that wrote it
        EOF while parsing an object at line 1 column 1

        cannot read the grants
        the grant `bad` in the database cannot be read; remove it, or use the program that wrote it
        EOF while parsing an object at line 1 column 1

        cannot read the pending calls
        the pending call `1` in the database cannot be read; remove it, or use the program that wrote it
        this pending call was stored in version 2 of its form; this program reads version 1 at line 1 column 12

        cannot read the pending calls
        the file is damaged, or no database; move it away, and restore it or begin anew
        invalid utf-8 sequence of 1 bytes from index 0 at index 1
        invalid utf-8 sequence of 1 bytes from index 0"#]].assert_eq(&printed.join("\n\n"));
    // The way out that is named.
    assert!(store.revoke("bad").await.unwrap());
    assert_eq!(store.list_grants().await.unwrap(), []);
}

pub(crate) fn lock(path: PathBuf) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    say("locked");
    stay()
}

#[tokio::test]
async fn a_database_that_stays_locked_can_be_read_and_says_so() {
    let place = Place::new();
    place.store().add(&grant()).await.unwrap();
    let store = open(&place.path()).unwrap();
    let mut child = Child::start(&Part::Lock { path: place.path() });
    child.expect("locked");
    assert_eq!(store.list_grants().await.unwrap().len(), 1);
    let errors = do_all(&store).await;
    assert_eq!(errors.len(), 13, "{errors:?}");
    expect![[r#"
        cannot keep the grant
        the database was locked for longer than 50 ms; try again, and end the process that has it open if that does not help
        database is locked
        Error code 5: database is locked"#]].assert_eq(&printed(&errors[0], &place));
    expect![[r#"
        cannot record
        cannot keep the record
        the database was locked for longer than 50 ms; try again, and end the process that has it open if that does not help
        database is locked
        Error code 5: database is locked"#]].assert_eq(&printed(errors.last().unwrap(), &place));
    // Nothing has to be brought up to date, so it can be opened.
    assert!(open(&place.path()).is_ok());
    child.kill();
    assert_eq!(do_all(&store).await.len(), 0);
}

#[tokio::test]
async fn a_full_disk_leaves_nothing_half_written() {
    let place = Place::new();
    drop(place.store());
    let full = fs::metadata(place.path()).unwrap().len();
    let store = SqliteStore::options().most_bytes(full).open(place.path()).unwrap();
    let large = pending("large", &json!({ "text": "x".repeat(100_000) }));
    let error = store.put(&large).await.unwrap_err();
    assert!(matches!(fault(&error), DatabaseError::Full { .. }));
    expect![[r#"
        cannot keep the pending call
        there is no room left for the database; make room, or remove old entries
        database or disk is full
        Error code 13: database or disk is full"#]]
    .assert_eq(&printed(&error, &place));
    let mut run = StoredRun::new("run-1".parse().unwrap());
    run.state = json!("x".repeat(100_000));
    assert!(store.save(&mut run).await.is_err());
    assert_eq!(run.revision, 0);
    assert_eq!(store.waiting().await.unwrap(), []);
    assert_eq!(store.list_runs().await.unwrap(), []);
    // What there is room for is still kept.
    assert_eq!(store.claim(&large).await.unwrap(), Claim::Taken);
    assert_eq!(store.claim(&large).await.unwrap(), Claim::TakenBefore);
    let said: String = Connection::open(place.path())
        .unwrap()
        .query_row("PRAGMA integrity_check", (), |row| row.get(0))
        .unwrap();
    assert_eq!(said, "ok");
}

pub(crate) fn open_read_only(path: &Path) {
    let error = open(path).unwrap_err();
    assert!(matches!(error, OpenError::Database { source: DatabaseError::ReadOnly { .. }, .. }), "{error:?}");
    say(&error.source().unwrap().to_string());
}

#[test]
fn a_file_that_may_only_be_read_is_refused() {
    let place = Place::new();
    drop(place.store());
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(place.file(""), fs::Permissions::from_mode(0o755)).unwrap();
    let is_root = fs::metadata(place.path()).unwrap().uid() == 0;
    let program = std::env::current_exe().unwrap();
    let is_open = |path: &Path| fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o001 != 0);
    if is_root && !program.ancestors().all(is_open) {
        eprintln!("skipped, because only root reaches the directory of the tests");
        return;
    }
    let child = Child::start_with(&Part::OpenReadOnly { path: place.path() }, |command| {
        if is_root {
            // Who may write whatever is there has to become somebody else.
            command.uid(65534).gid(65534);
        }
    });
    expect!["the database can only be read; give yourself the right to write its file and its directory"]
        .assert_eq(&child.end().join("\n"));
}

#[test]
fn a_path_need_not_be_text() {
    let place = Place::new();
    let path = place.file("").join(OsStr::from_bytes(b"\xff.db"));
    assert!(open(&path).is_ok());
    assert!(path.exists());
}

#[test]
fn what_is_not_driven_by_a_runtime_works_all_the_same() {
    let store = SqliteStore::in_memory().unwrap();
    futures_util::FutureExt::now_or_never(store.add(&grant())).unwrap().unwrap();
}
