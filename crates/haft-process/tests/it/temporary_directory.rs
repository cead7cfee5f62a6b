//! What is left of directories when processes end.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use haft_process::TemporaryDirectory;
use tempfile::TempDir;

use crate::lifeline::until;

/// Has this very program hold a directory until it is killed.
const HOLDS: &str = "HAFT_TEST_HOLDS";

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).expect("it is there");
    entries.map(|entry| entry.expect("it is read").file_name().into_string().expect("it is text")).collect()
}

/// Starts a process that holds a directory, and gives the directory's name.
fn holder(place: &Path) -> (Child, String) {
    let before = names(place);
    let child = Command::new(std::env::current_exe().expect("this program is a file"))
        .args(["--exact", "temporary_directory::holds_one_until_it_is_killed", "--ignored"])
        .env(HOLDS, place)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the holder starts");
    let new = || names(place).difference(&before).next().cloned();
    until(Duration::from_secs(30), || new().is_some_and(|name| place.join(name).join("text").exists()));
    (child, new().expect("it was there a moment ago"))
}

#[test]
#[ignore = "the process that other tests kill"]
fn holds_one_until_it_is_killed() {
    let Some(place) = std::env::var_os(HOLDS) else { return };
    let held = TemporaryDirectory::new_in(Path::new(&place), "outputs").unwrap();
    fs::write(held.path().join("text"), "left").unwrap();
    // Comes back only where the test ends without killing it.
    let _ = io::stdin().read(&mut [0]);
}

#[test]
fn what_a_killed_process_left_goes_with_the_next_and_what_a_living_one_has_stays() {
    let place = TempDir::new().unwrap();
    let (mut killed, left) = holder(place.path());
    let (mut lives, kept) = holder(place.path());
    assert!(names(place.path()).contains(&left));
    killed.kill().unwrap();
    killed.wait().unwrap();
    // As a cache of modules does, which its owner cannot remove as it is.
    let closed = place.path().join(&left).join("cache/module");
    fs::create_dir_all(&closed).unwrap();
    fs::write(closed.join("text"), "").unwrap();
    for directory in [&closed, closed.parent().unwrap()] {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o555)).unwrap();
    }

    let own = TemporaryDirectory::new_in(place.path(), "outputs").unwrap();
    let name = own.path().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(names(place.path()), BTreeSet::from([kept, name]));
    assert_eq!(own.path().metadata().unwrap().mode() & 0o777, 0o700);
    lives.kill().unwrap();
    lives.wait().unwrap();
}

/// The name of a directory that this process made and removed again.
fn name_here(place: &Path) -> String {
    let made = TemporaryDirectory::new_in(place, "outputs").expect("it can be made");
    made.path().file_name().and_then(OsStr::to_str).expect("it has a name of letters").to_owned()
}

#[test]
fn nothing_else_is_removed() {
    let (place, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let name = name_here(elsewhere.path());
    let (start, number) = name.rsplit_once('-').unwrap();
    fs::write(elsewhere.path().join("kept"), "").unwrap();
    symlink(elsewhere.path(), place.path().join(format!("{start}-0000000000000001"))).unwrap();
    fs::write(place.path().join(format!("{start}-0000000000000002")), "").unwrap();
    let others = [
        start.to_owned(),
        format!("{start}-"),
        format!("{start}-1"),
        format!("{name}-1"),
        format!("{start}-{}", number.replace(|_: char| true, "g")),
        format!("my-{name}"),
        name.replace("outputs", "scratch"),
        name.replace("outputs", "outputsofmine"),
        // Of another machine, which this one knows no locks of.
        format!("haft-outputs-00000000-{number}"),
    ];
    for name in &others {
        fs::create_dir(place.path().join(name)).unwrap();
    }
    let before = names(place.path());
    assert_eq!(before.len(), others.len() + 2);
    name_here(place.path());
    assert_eq!(names(place.path()), before);
    assert!(elsewhere.path().join("kept").exists());
}

#[test]
fn many_at_once_neither_take_nor_remove_what_another_has() {
    let place = TempDir::new().unwrap();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let held = TemporaryDirectory::new_in(place.path(), "outputs").unwrap();
                    fs::write(held.path().join("text"), "own").unwrap();
                    thread::yield_now();
                    assert_eq!(fs::read_to_string(held.path().join("text")).unwrap(), "own");
                }
            });
        }
    });
    assert_eq!(names(place.path()), BTreeSet::new());
}

#[test]
fn where_none_can_be_made_the_error_names_the_place() {
    let place = TempDir::new().unwrap();
    let refused = TemporaryDirectory::new_in(&place.path().join("none"), "outputs").unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::NotFound);
    assert!(refused.to_string().starts_with(&format!("cannot make `{}/none`: ", place.path().display())));
}

#[test]
fn a_purpose_that_would_match_other_names_is_refused() {
    let place = TempDir::new().unwrap();
    for purpose in ["", "../x", "a-b", "Outputs", "a/b", "ä"] {
        let refused = TemporaryDirectory::new_in(place.path(), purpose).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{purpose}");
    }
    let refused = TemporaryDirectory::new_in(place.path(), "my outputs").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`my outputs` is not the purpose of a directory; write it in `a` to `z` alone, such as `outputs`"
    );
    assert_eq!(names(place.path()), BTreeSet::new());
}
