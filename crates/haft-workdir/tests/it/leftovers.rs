//! What is found beside a file that is written.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;

use haft_workdir::Existing::Replace;
use rustix::fs::{FlockOperation, flock};

use crate::fixture::{Fixture, path};

#[test]
fn removes_what_killed_processes_left_and_nothing_else() {
    let fixture = Fixture::new(
        "
        file = old
        .haft-0123456789abcdef.tmp = left behind
        .haft-00000000000000aa.tmp = of a living process
        .haft-00000000000000bb.tmp/file = a directory
        .haft-00000000000000cc.tmp -> file
        .haft-0123456789abcdef.redo = of a file that is gone
        .haft-notes.tmp = mine
        ",
    );
    let living = File::open(fixture.root().join(".haft-00000000000000aa.tmp")).unwrap();
    flock(&living, FlockOperation::NonBlockingLockExclusive).unwrap();
    let workdir = fixture.workdir();
    workdir.write_atomic(&path(&workdir, "file"), b"new", Replace).unwrap();
    let names: Vec<_> = fixture.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [".haft-00000000000000aa.tmp", ".haft-00000000000000bb.tmp/file", ".haft-notes.tmp", "file"]
    );
    assert!(fs::symlink_metadata(fixture.root().join(".haft-00000000000000cc.tmp")).is_ok());
}

/// Writes a plan as a killed process leaves it, and gives what the file holds when the next writer has looked.
fn recovered(fixture: &Fixture, old: &str, new: &str, now: &str, is_of_this_file: bool) -> String {
    let file = fixture.root().join("dir/file");
    fs::hard_link(&file, fixture.root().join("other")).unwrap();
    fs::write(&file, now).unwrap();
    let stat = fs::metadata(&file).unwrap();
    let numbers = [i128::from(stat.dev()), i128::from(stat.ino()) + i128::from(!is_of_this_file)];
    let plan = [
        b"haft redo 1\n".as_slice(),
        &numbers.map(i128::to_le_bytes).concat(),
        &(old.len() as u64).to_le_bytes(),
        &(new.len() as u64).to_le_bytes(),
        old.as_bytes(),
        new.as_bytes(),
    ];
    fs::write(fixture.root().join(format!("dir/.haft-{:016x}.redo", stat.ino())), plan.concat()).unwrap();
    let workdir = fixture.workdir();
    drop(workdir.lock([&path(&workdir, "dir/file")]).unwrap());
    assert_eq!(fixture.files().len(), 2, "the plan is left behind");
    fs::read_to_string(file).unwrap()
}

#[test]
fn ends_only_what_was_begun() {
    let cases = [
        // Where the writer was killed.
        ("old content", "new", "old content", "new"),
        ("old content", "new", "new content", "new"),
        ("old content", "new", "new", "new"),
        ("old", "new content", "nld", "new content"),
        ("old", "new content", "new con", "new content"),
        // Somebody has written to it since.
        ("old content", "new", "other text!", "other text!"),
        ("old content", "new", "old content and more", "old content and more"),
        ("old", "new content", "", ""),
    ];
    // They all stay until the end, so that no two directories are taken for one.
    let fixtures = [(); 16].map(|()| Fixture::new("dir/file ="));
    let mut fixtures = fixtures.iter();
    for (old, new, now, then) in cases {
        for (is_of_this_file, then) in [(true, then), (false, now)] {
            let fixture = fixtures.next().unwrap();
            assert_eq!(recovered(fixture, old, new, now, is_of_this_file), then, "{old} {new} {now}");
        }
    }
}
