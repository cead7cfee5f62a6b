//! Changes of files that outlive the process, and what a killed one leaves of them.

use crate::child::{Child, Part};
use haft_store::SqliteChanges;
use haft_workdir::{
    ChangeJournal, ChangeJournalError, ChangeLimits, ChangeOrigin, ChangeSet, ChangeSetId, ChangeStep,
    ChangedRun, ContentDigest, Expected, NewFile, PathState, RecoveryLock, RootAccess, SetEnd, SetStart,
    UndoPlan, Workdir,
};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Kills its process right before or after it has been asked so often to write something.
#[derive(Debug)]
struct Killing {
    journal: SqliteChanges,
    left: AtomicUsize,
}

impl Killing {
    fn step<T>(&self, write: impl FnOnce() -> T) -> T {
        self.count();
        let written = write();
        self.count();
        written
    }

    fn count(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    }
}

impl ChangeJournal for Killing {
    fn limits(&self) -> ChangeLimits {
        self.journal.limits()
    }
    fn begin(&self, start: &SetStart<'_>) -> Result<ChangeSetId, ChangeJournalError> {
        self.step(|| self.journal.begin(start))
    }
    fn record(
        &self,
        set: ChangeSetId,
        step: &ChangeStep,
        contents: &[(ContentDigest, &[&[u8]])],
    ) -> Result<(), ChangeJournalError> {
        self.step(|| self.journal.record(set, step, contents))
    }
    fn retract(&self, set: ChangeSetId) -> Result<(), ChangeJournalError> {
        self.journal.retract(set)
    }
    fn end(&self, set: ChangeSetId, end: SetEnd) -> Result<Vec<String>, ChangeJournalError> {
        self.step(|| self.journal.end(set, end))
    }
    fn unfinished(&self, root: &Path) -> Result<Vec<ChangeSet>, ChangeJournalError> {
        self.journal.unfinished(root)
    }
    fn lock_recovery(&self) -> Result<RecoveryLock, ChangeJournalError> {
        self.journal.lock_recovery()
    }
    fn sets(&self, run: &haft_core::RunId) -> Result<Vec<ChangeSet>, ChangeJournalError> {
        self.journal.sets(run)
    }
    fn runs(&self, most: usize) -> Result<Vec<ChangedRun>, ChangeJournalError> {
        self.journal.runs(most)
    }
    fn keeps(&self, digest: ContentDigest) -> Result<bool, ChangeJournalError> {
        self.journal.keeps(digest)
    }
    fn content(&self, digest: ContentDigest) -> Result<Option<Vec<u8>>, ChangeJournalError> {
        self.journal.content(digest)
    }
}

fn origin() -> ChangeOrigin {
    ChangeOrigin::new("run".parse().unwrap(), "call".parse().unwrap()).tool("test").turn(1)
}

/// Opens a directory together with the one beside it, as whoever makes the change has it.
fn open_both(root: &Path, journal: impl ChangeJournal) -> Workdir {
    let workdir = Workdir::open(root).unwrap().with_root(other(root), RootAccess::ReadWrite).unwrap();
    workdir.journalled(Arc::new(journal))
}

/// The directory beside the root.
fn other(root: &Path) -> PathBuf {
    root.canonicalize().unwrap().with_file_name("other")
}

/// Makes a change of several files, with each kind of step in it, in both directories.
fn change(workdir: &Workdir) {
    let path = |path: &str| workdir.resolve(path).unwrap();
    let other = other(workdir.root_path());
    let mut set = workdir.change(origin());
    set.write(&path("a"), &NewFile::new(&[b"new a"]).executable(true), Expected::Holds(b"old a")).unwrap();
    set.write(&path("new/dir/c"), &NewFile::new(&[b"c"]), Expected::Absent).unwrap();
    set.remove_file(&path("b"), Expected::Holds(b"old b")).unwrap();
    set.rename(&path("dir"), &path("moved/dir")).unwrap();
    set.remove_dir(&path("empty")).unwrap();
    let beside = path(other.join("e").to_str().unwrap());
    set.write(&beside, &NewFile::new(&[b"new e"]), Expected::Holds(b"old e")).unwrap();
    set.finish().unwrap();
}

/// Is what a child does: the change, until it is killed.
pub(crate) fn change_until_killed(root: &Path, journal: &Path, steps: usize) {
    let journal = Killing { journal: SqliteChanges::open(journal).unwrap(), left: AtomicUsize::new(steps) };
    change(&open_both(root, journal));
    crate::child::say("done");
}

type Found = BTreeMap<String, (u32, Option<Vec<u8>>)>;

fn found(root: &Path, below: &str, found: &mut Found) {
    for entry in fs::read_dir(root).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        let metadata = entry.metadata().unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        if metadata.is_dir() {
            found.insert(name.clone(), (mode, None));
            self::found(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name, (mode, Some(fs::read(entry.path()).unwrap())));
        }
    }
}

fn all(root: &Path) -> Found {
    let mut all = Found::new();
    found(root, "", &mut all);
    found(&other(root), "../other/", &mut all);
    all
}

struct Place {
    _scratch: tempfile::TempDir,
    root: PathBuf,
    journal: PathBuf,
}

fn place() -> Place {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().join("root");
    fs::create_dir_all(root.join("dir")).unwrap();
    fs::create_dir_all(root.join("empty")).unwrap();
    fs::write(root.join("a"), "old a").unwrap();
    fs::write(root.join("b"), "old b").unwrap();
    fs::set_permissions(root.join("b"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::write(root.join("dir/d"), "d").unwrap();
    fs::create_dir(scratch.path().join("other")).unwrap();
    fs::write(scratch.path().join("other/e"), "old e").unwrap();
    Place { root, journal: scratch.path().join("changes.db"), _scratch: scratch }
}

#[test]
fn a_killed_process_leaves_all_or_nothing_wherever_it_is_killed() {
    for steps in 0.. {
        let Place { root, journal, _scratch } = place();
        let before = all(&root);
        let part = Part::Change { root: root.clone(), journal: journal.clone(), steps };
        let is_done = Child::start(&part).hear().is_some();
        // Whoever takes it back need not know of the other directory.
        let kept = SqliteChanges::open(&journal).unwrap();
        let workdir = Workdir::open(&root).unwrap().journalled(Arc::new(kept));
        let recovered = workdir.recover().unwrap();
        assert!(recovered.iter().all(|set| set.left.is_empty()), "killed at {steps}: {recovered:?}");
        assert_eq!(workdir.recover().unwrap(), []);
        let sets = workdir.journal().unwrap().sets(&"run".parse().unwrap()).unwrap();
        if sets.is_empty() {
            assert_eq!(all(&root), before, "killed at {steps}");
            change(&open_both(&root, SqliteChanges::open(&journal).unwrap()));
        }
        let sets = workdir.journal().unwrap().sets(&"run".parse().unwrap()).unwrap();
        UndoPlan::new(&workdir, &sets).unwrap().apply(&workdir, origin()).unwrap();
        assert_eq!(all(&root), before, "undone after {steps}");
        if is_done {
            assert!(steps > 10);
            return;
        }
    }
}

#[test]
fn what_a_living_process_is_at_is_left_to_it() {
    let Place { root, journal, _scratch } = place();
    let open = |path: &Path| {
        Workdir::open(&root).unwrap().journalled(Arc::new(SqliteChanges::open(path).unwrap()) as _)
    };
    let (one, other) = (open(&journal), open(&journal));
    let mut set = one.change(origin());
    let path = one.resolve("a").unwrap();
    set.write(&path, &NewFile::new(&[b"new a"]), Expected::Holds(b"old a")).unwrap();
    assert_eq!(other.recover().unwrap(), []);
    set.finish().unwrap();
    assert_eq!(fs::read(root.join("a")).unwrap(), b"new a");
}

#[test]
fn the_oldest_runs_make_room_and_what_is_too_large_is_not_kept() {
    let Place { root, journal, _scratch } = place();
    let limits = ChangeLimits { total_bytes: 250, file_bytes: 150, ..ChangeLimits::default() };
    let journal = Arc::new(SqliteChanges::options().limits(limits).open(&journal).unwrap());
    let workdir = Workdir::open(&root).unwrap().journalled(Arc::clone(&journal) as _);
    let remove = |run: &str, bytes: usize| {
        fs::write(root.join(run), vec![run.as_bytes()[1]; bytes]).unwrap();
        let mut set = workdir.change(ChangeOrigin::new(run.parse().unwrap(), "call".parse().unwrap()));
        set.remove_file(&workdir.resolve(run).unwrap(), Expected::Whatever).unwrap();
        set.finish().unwrap().not_undoable
    };
    assert_eq!(remove("large", 151), ["large"]);
    for run in ["one", "two", "three"] {
        assert_eq!(remove(run, 100), Vec::<String>::new());
    }
    let sets = ["one", "two", "three"].map(|run| journal.sets(&run.parse().unwrap()).unwrap().len());
    assert_eq!(sets, [0, 1, 1]);
    assert_eq!(journal.runs(10).unwrap().len(), 2);
}

/// Sizes around those of the pieces that a content is kept in, and parts that end anywhere in them.
#[test]
fn contents_of_any_size_are_read_as_they_were_kept() {
    let directory = tempfile::tempdir().unwrap();
    let journal = SqliteChanges::open(directory.path().join("changes.db")).unwrap();
    let origin = origin();
    let start = SetStart { origin: &origin, root: Path::new("/"), other_roots: &[], undoes: &[] };
    let piece: usize = 256 * 1024;
    let whole: Vec<u8> = (0..3 * piece).map(|at| u8::try_from(at * 7 % 251).unwrap()).collect();
    for size in [0, 1, piece - 1, piece, piece + 1, 2 * piece, 3 * piece - 5] {
        for cuts in
            [[0, 0], [0, size], [size / 3, size / 2], [size.min(1), size.saturating_sub(1).max(size.min(1))]]
        {
            let content = &whole[..size];
            let parts = [&content[..cuts[0]], &content[cuts[0]..cuts[1]], &content[cuts[1]..]];
            let digest = ContentDigest::of_parts(&parts);
            let before =
                PathState::File { digest: Some(digest), bytes: size as u64, mode: None, attributes: None };
            let step = ChangeStep::Set { path: "a".to_owned(), before, after: PathState::Absent };
            let set = journal.begin(&start).unwrap();
            journal.record(set, &step, &[(digest, &parts)]).unwrap();
            let read = journal.content(digest).unwrap();
            assert!(read.as_deref() == Some(content), "{size} {cuts:?}");
            journal.end(set, SetEnd::RolledBack).unwrap();
            assert_eq!(journal.content(digest).unwrap(), None, "{size}: it is still there");
        }
    }
    let left: i64 = rusqlite::Connection::open(directory.path().join("changes.db"))
        .unwrap()
        .query_row("SELECT count(*) FROM content_piece", (), |row| row.get(0))
        .unwrap();
    assert_eq!(left, 0, "pieces are left of what was forgotten");
}

/// Is a journal as it was written before contents were kept in pieces.
#[test]
fn what_an_older_version_kept_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("changes.db");
    let content = vec![b'x'; 600 * 1024];
    let digest = ContentDigest::of_parts(&[&content]);
    let older = rusqlite::Connection::open(&path).unwrap();
    for step in ["1", "2"] {
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/sqlite/schema/changes/{step}.sql"));
        older.execute_batch(&fs::read_to_string(source).unwrap()).unwrap();
    }
    older.execute_batch("PRAGMA application_id = 0x68616663; PRAGMA user_version = 2").unwrap();
    older
        .execute(
            "INSERT INTO content (digest, size, bytes) VALUES (?1, ?2, ?3)",
            rusqlite::params![digest.to_string(), 600 * 1024, content],
        )
        .unwrap();
    drop(older);
    let journal = SqliteChanges::open(&path).unwrap();
    assert!(journal.content(digest).unwrap() == Some(content), "another content is read");
}
