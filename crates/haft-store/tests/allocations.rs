//! What keeping a large content takes of memory, which has to be next to nothing beside what the caller holds.

#![cfg(all(unix, feature = "changes"))]

use haft_store::SqliteChanges;
use haft_testkit::counting::{Counting, most_live};
use haft_workdir::{
    ChangeJournal as _, ChangeOrigin, ChangeStep, ContentDigest, PathState, SetEnd, SetStart,
};
use rusqlite::Connection;
use std::path::Path;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const BYTES: usize = 50 << 20;

/// How much SQLite itself may hold, in bytes: what it asks for beyond that, it does not get.
const SQLITE_BYTES: i64 = 8 << 20;

/// How much the program may hold beside the content.
const BESIDE: i64 = 1 << 20;

#[test]
fn a_large_content_is_kept_and_read_in_pieces() {
    let limiting = Connection::open_in_memory().unwrap();
    limiting
        .pragma_update_and_check(None, "hard_heap_limit", SQLITE_BYTES, |row| row.get::<_, i64>(0))
        .unwrap();
    let directory = tempfile::tempdir().unwrap();
    let journal = SqliteChanges::open(directory.path().join("changes.db")).unwrap();
    let content: Vec<u8> = (0..BYTES).map(|at| u8::try_from(at * 7 % 251).unwrap()).collect();
    let (begin, rest) = content.split_at(1234);
    let (middle, end) = rest.split_at(BYTES / 2);
    let parts = [begin, b"", middle, end];
    let digest = ContentDigest::of_parts(&parts);
    let before =
        PathState::File { digest: Some(digest), bytes: BYTES as u64, mode: Some(0o644), attributes: None };
    let step = ChangeStep::Set { path: "a".to_owned(), before, after: PathState::Absent };
    let origin = ChangeOrigin::new("run".parse().unwrap(), "c".parse().unwrap());
    let start = SetStart { origin: &origin, root: Path::new("/"), other_roots: &[], undoes: &[] };
    let set = journal.begin(&start).unwrap();

    let ((), most) = most_live(|| journal.record(set, &step, &[(digest, &parts)]).unwrap());
    assert!(most < BESIDE, "{most} bytes to keep it");
    let (ended, most) = most_live(|| journal.end(set, SetEnd::Done).unwrap());
    assert!(ended.is_empty() && most < BESIDE, "{most} bytes to end the set");
    let (read, most) = most_live(|| journal.content(digest).unwrap().unwrap());
    assert!(read == content, "another content is read");
    assert!(most < i64::try_from(BYTES).unwrap() + BESIDE, "{most} bytes to read it");

    let (forgotten, most) = most_live(|| journal.prune(std::time::Duration::ZERO).unwrap());
    assert!(forgotten <= 1 && most < BESIDE, "{most} bytes to forget it");
}
