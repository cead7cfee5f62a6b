//! A process that may do less than the owner of the files.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::child::{self, NOBODY, Other};
use crate::fixture::Fixture;

/// Lets a process of another user write to a file of the superuser; gives what it says of it.
fn check(task: &str, directory: u32, file: u32) -> Option<(String, Fixture)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let fixture = Fixture::new("dir/file = old");
    let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    set(fixture.scratch(), 0o755);
    set(&fixture.root(), 0o755);
    set(&fixture.root().join("dir"), directory);
    set(&fixture.root().join("dir/file"), file);
    let mut other = Other::start(child::command(task, &fixture.root()));
    other.line("thread:");
    other.begin();
    let said = other.line("said:");
    assert!(other.process.wait().unwrap().success());
    assert_eq!(fixture.files().len(), 1, "a file is left behind");
    Some((said, fixture))
}

fn content(fixture: &Fixture) -> String {
    fs::read_to_string(fixture.root().join("dir/file")).unwrap()
}

#[test]
fn writes_nothing_in_a_directory_that_may_not_be_written() {
    let Some((said, fixture)) = check("write as nobody", 0o755, 0o666) else { return };
    assert_eq!(
        said,
        "cannot write `dir/file`: permission denied; use another path, or ask the user to change its permissions"
    );
    assert_eq!(content(&fixture), "old");
}

#[test]
fn writes_no_file_that_may_not_be_written_though_its_directory_may() {
    let Some((said, fixture)) = check("write as nobody", 0o777, 0o644) else { return };
    assert!(said.contains("permission denied"), "{said}");
    assert_eq!(content(&fixture), "old");
}

#[test]
fn takes_nothing_of_what_a_group_may_do_to_another() {
    let Some((said, fixture)) = check("write as nobody", 0o777, 0o676) else { return };
    assert_eq!(said, "Replaced");
    assert_eq!(content(&fixture), "new");
    let stat = fs::metadata(fixture.root().join("dir/file")).unwrap();
    assert_eq!((stat.uid(), stat.gid(), stat.mode() & 0o777), (NOBODY, NOBODY, 0o666));
}
