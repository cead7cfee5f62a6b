//! Change sets: all of them or none, and undone as if they had never been.

use std::collections::BTreeMap;
use std::fs;
#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use crate::fixture::Fixture;
use haft_workdir::{
    ChangeJournal, ChangeLimits, ChangeOrigin, ConflictKind, Expected, MemoryChanges, NewFile, OpenChangeSet,
    RootAccess, UndoError, UndoPlan, Workdir, WorkdirPath,
};
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;

/// A tree with a journal of what is changed in it.
struct Journalled {
    directory: TempDir,
    journal: Arc<MemoryChanges>,
    workdir: Workdir,
}

/// What is at a path: the mode, and the content of a file.
type Found = (u32, Option<Vec<u8>>);

impl Journalled {
    fn new(limits: ChangeLimits) -> Self {
        let directory = TempDir::new().unwrap();
        let journal = Arc::new(MemoryChanges::new(limits));
        let workdir = Workdir::open(directory.path()).unwrap().journalled(Arc::clone(&journal) as _);
        Self { directory, journal, workdir }
    }

    fn path(&self, path: &str) -> WorkdirPath {
        self.workdir.resolve(path).unwrap()
    }

    fn file(&self, path: &str, content: &[u8], mode: u32) {
        let place = self.directory.path().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, content).unwrap();
        fs::set_permissions(place, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Changes something as one call of the run `run`.
    fn change(&self, make: impl FnOnce(&mut OpenChangeSet<'_>)) -> Vec<String> {
        let mut set = self.workdir.change(origin("run"));
        make(&mut set);
        set.finish().unwrap().not_undoable
    }

    fn undo(&self, run: &str, as_run: &str) -> Result<Vec<WorkdirPath>, UndoError> {
        let sets = self.journal.sets(&run.parse().unwrap()).unwrap();
        Ok(UndoPlan::new(&self.workdir, &sets)?.apply(&self.workdir, origin(as_run))?.left)
    }

    fn found(&self) -> BTreeMap<String, Found> {
        let mut found = BTreeMap::new();
        collect(self.directory.path(), "", &mut found);
        found
    }
}

fn origin(run: &str) -> ChangeOrigin {
    ChangeOrigin::new(run.parse().unwrap(), "call".parse().unwrap())
}

fn collect(directory: &Path, below: &str, found: &mut BTreeMap<String, Found>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        let metadata = entry.metadata().unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        if metadata.is_dir() {
            found.insert(name.clone(), (mode, None));
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name, (mode, Some(fs::read(entry.path()).unwrap())));
        }
    }
}

#[test]
fn a_set_that_is_dropped_leaves_nothing() {
    for is_journalled in [false, true] {
        let tree = Journalled::new(ChangeLimits::default());
        tree.file("a", b"one", 0o640);
        tree.file("b", b"two", 0o755);
        let workdir =
            if is_journalled { tree.workdir.clone() } else { Workdir::open(tree.directory.path()).unwrap() };
        let before = tree.found();
        let mut set = workdir.change(origin("run"));
        set.write(&tree.path("a"), &NewFile::new(&[b"1", b"11"]).executable(true), Expected::Holds(b"one"))
            .unwrap();
        set.remove_file(&tree.path("b"), Expected::Holds(b"two")).unwrap();
        set.write(&tree.path("x/y/z"), &NewFile::new(&[b"new"]), Expected::Absent).unwrap();
        set.rename(&tree.path("x/y"), &tree.path("moved/here")).unwrap();
        assert_eq!(tree.found().len(), 5);
        drop(set);
        assert_eq!(tree.found(), before, "journalled: {is_journalled}");
    }
}

#[test]
fn what_somebody_else_changed_meanwhile_is_left_and_named() {
    let tree = Journalled::new(ChangeLimits::default());
    tree.file("a", b"one", 0o644);
    let mut set = tree.workdir.change(origin("run"));
    set.write(&tree.path("a"), &NewFile::new(&[b"two"]), Expected::Holds(b"one")).unwrap();
    tree.file("a", b"theirs", 0o644);
    assert_eq!(set.roll_back(), ["a"]);
    assert_eq!(tree.found()["a"].1.as_deref(), Some(&b"theirs"[..]));
}

#[test]
fn undoing_can_be_undone() {
    let tree = Journalled::new(ChangeLimits::default());
    tree.file("a", b"one", 0o600);
    let before = tree.found();
    tree.change(|set| {
        set.write(&tree.path("a"), &NewFile::new(&[b"two"]), Expected::Whatever).unwrap();
        set.rename(&tree.path("a"), &tree.path("deep/b")).unwrap();
    });
    let after = tree.found();
    for _ in 0..2 {
        tree.undo("run", "undo").unwrap();
        assert_eq!(tree.found(), before);
        tree.undo("undo", "redo").unwrap();
        assert_eq!(tree.found(), after);
    }
}

#[test]
fn a_changed_file_keeps_everything_from_being_undone() {
    let tree = Journalled::new(ChangeLimits::default());
    tree.file("a", b"one", 0o644);
    tree.file("b", b"one", 0o644);
    tree.change(|set| {
        set.write(&tree.path("a"), &NewFile::new(&[b"two"]), Expected::Whatever).unwrap();
        set.write(&tree.path("b"), &NewFile::new(&[b"two"]), Expected::Whatever).unwrap();
        set.write(&tree.path("c"), &NewFile::new(&[b"new"]), Expected::Absent).unwrap();
    });
    tree.file("b", b"theirs", 0o644);
    tree.file("c", b"theirs", 0o644);
    let before = tree.found();
    let error = tree.undo("run", "undo").unwrap_err();
    assert_eq!(error.to_string(), "nothing was undone: `c` has changed since; `b` has changed since");
    assert_eq!(tree.found(), before);
    // What is as it was before already stands in nobody's way.
    tree.file("b", b"one", 0o644);
    fs::remove_file(tree.directory.path().join("c")).unwrap();
    tree.undo("run", "undo").unwrap();
    assert_eq!(tree.found()["a"].1.as_deref(), Some(&b"one"[..]));
}

#[test]
fn a_directory_that_somebody_put_something_into_stays() {
    let tree = Journalled::new(ChangeLimits::default());
    tree.change(|set| {
        set.write(&tree.path("x/y/z"), &NewFile::new(&[b"new"]), Expected::Absent).unwrap();
    });
    tree.file("x/theirs", b"1", 0o644);
    assert_eq!(tree.undo("run", "undo").unwrap(), [tree.path("x")]);
    assert_eq!(tree.found().into_keys().collect::<Vec<_>>(), ["x", "x/theirs"]);
}

#[test]
fn what_is_too_large_is_named_and_not_undone() {
    let tree = Journalled::new(ChangeLimits { file_bytes: 3, ..ChangeLimits::default() });
    tree.file("large", b"1234", 0o644);
    tree.file("small", b"123", 0o644);
    let lost = tree.change(|set| {
        set.write(&tree.path("large"), &NewFile::new(&[b"a"]), Expected::Holds(b"1234")).unwrap();
        set.write(&tree.path("small"), &NewFile::new(&[b"b"]), Expected::Whatever).unwrap();
    });
    assert_eq!(lost, ["large"]);
    match tree.undo("run", "undo") {
        Err(UndoError::Conflicts(conflicts)) => {
            let conflicts: Vec<_> =
                conflicts.into_iter().map(|conflict| (conflict.path, conflict.kind)).collect();
            assert_eq!(conflicts, [("large".to_owned(), ConflictKind::NotKept)]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_oldest_runs_make_room() {
    let tree = Journalled::new(ChangeLimits { total_bytes: 250, ..ChangeLimits::default() });
    for (run, file) in [("one", "a"), ("two", "b"), ("three", "c")] {
        tree.file(file, &[run.as_bytes()[1]; 100], 0o644);
        let mut set = tree.workdir.change(origin(run));
        set.remove_file(&tree.path(file), Expected::Whatever).unwrap();
        assert_eq!(set.finish().unwrap().not_undoable, Vec::<String>::new());
    }
    let sets = ["one", "two", "three"].map(|run| tree.journal.sets(&run.parse().unwrap()).unwrap().len());
    assert_eq!(sets, [0, 1, 1]);
    tree.undo("two", "undo").unwrap();
}

/// Makes changes in the working directory and in another root, as the run `run`.
fn change_in_another_root(tree: &Journalled, other: &Path) {
    let workdir = tree.workdir.clone().with_root(other, RootAccess::ReadWrite).unwrap();
    let outside = |path: &str| workdir.resolve(other.join(path).to_str().unwrap()).unwrap();
    let mut set = workdir.change(origin("run"));
    set.write(&workdir.resolve("mine").unwrap(), &NewFile::new(&[b"new"]), Expected::Absent).unwrap();
    set.write(&outside("a"), &NewFile::new(&[b"two"]), Expected::Holds(b"one")).unwrap();
    set.write(&outside("new/b"), &NewFile::new(&[b"new"]), Expected::Absent).unwrap();
    set.rename(&outside("c"), &workdir.resolve("moved").unwrap()).unwrap();
    set.finish().unwrap();
}

#[test]
fn what_was_changed_in_another_root_is_undone_there() {
    let tree = Journalled::new(ChangeLimits::default());
    let other = Fixture::new("a = one\nc = three");
    let root = other.root().canonicalize().unwrap();
    let before = (tree.found(), other.files());
    change_in_another_root(&tree, &root);
    let after = (tree.found(), other.files());
    // Whoever undoes it need not have the root, or may have it for reading only.
    tree.undo("run", "undo").unwrap();
    assert_eq!((tree.found(), other.files()), before);
    let reading = tree.workdir.clone().with_root(&root, RootAccess::ReadOnly).unwrap();
    let sets = tree.journal.sets(&"undo".parse().unwrap()).unwrap();
    assert_eq!(sets[0].other_roots, [root]);
    UndoPlan::new(&reading, &sets).unwrap().apply(&reading, origin("redo")).unwrap();
    assert_eq!((tree.found(), other.files()), after);
}

#[test]
fn nothing_is_undone_if_another_root_is_gone_or_another_directory() {
    let tree = Journalled::new(ChangeLimits::default());
    let other = Fixture::new("a = one\nc = three");
    let root = other.root().canonicalize().unwrap();
    change_in_another_root(&tree, &root);
    let after = tree.found();
    let refused =
        || tree.undo("run", "undo").unwrap_err().to_string().replace(root.to_str().unwrap(), "{root}");
    let expected = "nothing was undone: \
        `{root}/c` is in a directory that is gone, or that another has taken the place of; \
        `{root}/new/b` is in a directory that is gone, or that another has taken the place of; \
        `{root}/new` is in a directory that is gone, or that another has taken the place of; \
        `{root}/a` is in a directory that is gone, or that another has taken the place of";
    let elsewhere = other.scratch().join("elsewhere");
    fs::rename(&root, &elsewhere).unwrap();
    assert_eq!(refused(), expected);
    // A link in its place leads to another directory.
    std::os::unix::fs::symlink(&elsewhere, &root).unwrap();
    assert_eq!(refused(), expected);
    assert_eq!(tree.found(), after);
    assert_eq!(fs::read(elsewhere.join("a")).unwrap(), b"two");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_comes_back_has_its_owner_and_extended_attributes() {
    let tree = Journalled::new(ChangeLimits::default());
    tree.file("a", b"one", 0o640);
    let host = tree.directory.path().join("a");
    let has_attributes = {
        let file = fs::File::open(&host).unwrap();
        rustix::fs::fsetxattr(&file, "user.note", b"kept", rustix::fs::XattrFlags::empty()).is_ok()
    };
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        std::os::unix::fs::chown(&host, Some(1234), Some(2345)).unwrap();
    }
    let all = || {
        let file = fs::File::open(&host).unwrap();
        let mut value = [0; 16];
        let size = rustix::fs::fgetxattr(&file, "user.note", &mut value[..]).unwrap_or(0);
        let stat = file.metadata().unwrap();
        (stat.uid(), stat.gid(), stat.mode() & 0o7777, value[..size].to_vec())
    };
    let before = all();
    assert_eq!(before.3, if has_attributes { b"kept".to_vec() } else { Vec::new() });
    let remove = || {
        tree.change(|set| set.remove_file(&tree.path("a"), Expected::Whatever).unwrap());
    };
    remove();
    tree.undo("run", "undo").unwrap();
    assert_eq!(all(), before);
    // Doing it again and undoing that brings them back once more.
    tree.undo("undo", "redo").unwrap();
    tree.undo("redo", "again").unwrap();
    assert_eq!(all(), before);
    // So does taking back a set that is not finished.
    let mut set = tree.workdir.change(origin("dropped"));
    set.remove_file(&tree.path("a"), Expected::Whatever).unwrap();
    drop(set);
    assert_eq!(all(), before);
    // And where something else was put in its place meanwhile by the same run.
    tree.change(|set| {
        set.remove_file(&tree.path("a"), Expected::Whatever).unwrap();
        set.write(&tree.path("a"), &NewFile::new(&[b"one"]), Expected::Absent).unwrap();
    });
    tree.undo("run", "last").unwrap();
    assert_eq!(all(), before);
}

#[derive(Debug, Clone)]
enum Op {
    Write(usize, Vec<u8>, bool),
    Remove(usize),
    MakeDirectory(usize),
    RemoveDirectory(usize),
    Move(usize, usize),
}

const PLACES: [&str; 8] = ["a", "b", "d", "d/a", "d/e", "d/e/a", "f", "f/a"];

fn op() -> impl Strategy<Value = Op> {
    let place = || 0..PLACES.len();
    let content = || vec(any::<u8>(), 0..4);
    prop_oneof![
        4 => (place(), content(), any::<bool>()).prop_map(|(place, content, bit)| Op::Write(place, content, bit)),
        2 => place().prop_map(Op::Remove),
        1 => place().prop_map(Op::MakeDirectory),
        1 => place().prop_map(Op::RemoveDirectory),
        3 => (place(), place()).prop_map(|(from, to)| Op::Move(from, to)),
    ]
}

/// Does as much of it as the tree allows.
fn perform(tree: &Journalled, ops: &[Op]) {
    let mut set = tree.workdir.change(origin("run"));
    for op in ops {
        let path = |place: &usize| tree.workdir.resolve(PLACES[*place]);
        let _ = match op {
            Op::Write(place, content, executable) => {
                let Ok(path) = path(place) else { continue };
                let expected =
                    if tree.workdir.kind(&path).is_ok() { Expected::Whatever } else { Expected::Absent };
                set.write(&path, &NewFile::new(&[content]).executable(*executable), expected)
            }
            Op::Remove(place) => path(place).map_or(Ok(()), |path| {
                if tree.workdir.kind(&path).is_ok() {
                    set.remove_file(&path, Expected::Whatever)
                } else {
                    Ok(())
                }
            }),
            Op::MakeDirectory(place) => {
                path(place).map_or(Ok(()), |path| set.create_dir_all(&path).map(|_| ()))
            }
            Op::RemoveDirectory(place) => path(place).map_or(Ok(()), |path| set.remove_dir(&path)),
            Op::Move(from, to) => match (path(from), path(to)) {
                (Ok(from), Ok(to)) if !to.starts_with(&from) => set.rename(&from, &to),
                _ => Ok(()),
            },
        };
    }
    set.finish().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn undoing_a_run_restores_every_byte_and_mode(
        files in vec((0..PLACES.len(), vec(any::<u8>(), 0..4), prop::sample::select(vec![0o600, 0o644, 0o755, 0o440])), 0..6),
        calls in vec(vec(op(), 1..5), 1..6),
    ) {
        let tree = Journalled::new(ChangeLimits::default());
        for (place, content, mode) in files {
            let place = tree.directory.path().join(PLACES[place]);
            if fs::create_dir_all(place.parent().unwrap()).is_ok() && fs::symlink_metadata(&place).is_err() {
                fs::write(&place, content).unwrap();
                fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
        let before = tree.found();
        for ops in &calls {
            perform(&tree, ops);
        }
        let after = tree.found();
        let undone = tree.undo("run", "undo");
        prop_assert!(undone.is_ok(), "{undone:?}");
        prop_assert_eq!(tree.found(), before);
        tree.undo("undo", "redo").unwrap();
        prop_assert_eq!(tree.found(), after);
    }

    #[test]
    fn undoing_refuses_if_and_only_if_a_file_of_the_run_has_changed(
        calls in vec(vec(op(), 1..5), 1..4),
        which in any::<prop::sample::Index>(),
        is_tampered: bool,
    ) {
        let tree = Journalled::new(ChangeLimits::default());
        for ops in &calls {
            perform(&tree, ops);
        }
        let files: Vec<String> =
            tree.found().into_iter().filter(|(_, (_, content))| content.is_some()).map(|(path, _)| path).collect();
        let is_tampered = is_tampered && !files.is_empty();
        if is_tampered {
            let path = tree.directory.path().join(&files[which.index(files.len())]);
            fs::write(path, b"by somebody else").unwrap();
        }
        let left = tree.found();
        let undone = tree.undo("run", "undo");
        prop_assert_eq!(undone.is_err(), is_tampered, "{:?}", undone);
        if is_tampered {
            prop_assert_eq!(tree.found(), left);
        }
    }
}
