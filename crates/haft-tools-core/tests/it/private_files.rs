//! Files that only their owner can read.

use haft_tools_core::{PrivateFileError, PrivateFiles};
use std::error::Error as _;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Says what came of it, without the directory.
fn told<T: std::fmt::Debug>(directory: &Path, result: Result<T, PrivateFileError>) -> String {
    match result {
        Ok(given) => format!("{given:?}"),
        Err(error) => {
            let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
            format!("{error}{cause}").replace(&directory.display().to_string(), "DIR")
        }
    }
}

#[test]
fn what_is_written_is_read_again_and_takes_the_place_of_what_was_there() {
    let scratch = tempfile::tempdir().unwrap();
    let files = PrivateFiles::new(scratch.path().join("a/b"));
    assert_eq!((files.read("x").unwrap(), files.names().unwrap()), (None, Vec::new()));
    for text in ["one", "two"] {
        files.write("x", text).unwrap();
        assert_eq!(files.read("x").unwrap().as_deref(), Some(text));
    }
    assert_eq!(files.names().unwrap(), ["x"]);
    assert_eq!((files.remove("x").unwrap(), files.remove("x").unwrap()), (true, false));
}

#[test]
fn what_cannot_be_written_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let files = PrivateFiles::new(scratch.path());
    fs::create_dir(files.path("x")).unwrap();
    assert!(matches!(files.write("x", "text"), Err(PrivateFileError::Io { action: "write", .. })));
    assert_eq!(files.names().unwrap(), ["x"]);
}

#[test]
fn those_who_write_at_once_write_each_a_whole_file() {
    let scratch = tempfile::tempdir().unwrap();
    let texts: Vec<String> = (0..8).map(|digit| digit.to_string().repeat(10_000)).collect();
    let files = PrivateFiles::new(scratch.path());
    std::thread::scope(|scope| {
        for text in &texts {
            scope.spawn(|| files.write("x", text).unwrap());
        }
    });
    assert!(texts.contains(&files.read("x").unwrap().unwrap()));
    assert_eq!(files.names().unwrap(), ["x"]);
}

#[cfg(unix)]
#[test]
fn nobody_but_the_owner_can_read_them() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = tempfile::tempdir().unwrap();
    let files = PrivateFiles::new(scratch.path().join("a"));
    files.write("x", "text").unwrap();
    let _lock = files.lock("x.lock", Duration::ZERO).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let modes = [mode(files.directory()), mode(&files.path("x")), mode(&files.path("x.lock"))];
    assert_eq!(modes, [0o700, 0o600, 0o600]);
}

#[cfg(unix)]
#[test]
fn what_others_could_have_read_or_written_is_not_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = tempfile::tempdir().unwrap();
    let files = PrivateFiles::new(scratch.path());
    files.write("x", "text").unwrap();
    for mode in [0o640, 0o604, 0o620, 0o602, 0o610] {
        fs::set_permissions(files.path("x"), fs::Permissions::from_mode(mode)).unwrap();
        let expected = format!(
            "others than its owner may read or write `DIR/x` (mode {mode:04o}); look at what it says, then make it private \
             with `chmod 600`"
        );
        assert_eq!(told(scratch.path(), files.read("x")), expected);
    }
    fs::set_permissions(files.path("x"), fs::Permissions::from_mode(0o400)).unwrap();
    assert_eq!(files.read("x").unwrap().as_deref(), Some("text"));
    std::os::unix::fs::symlink(files.path("x"), files.path("link")).unwrap();
    assert_eq!(
        told(scratch.path(), files.read("link")),
        "`DIR/link` is not a regular file; look at it, and move it away"
    );
}

#[test]
fn they_are_bounded() {
    let scratch = tempfile::tempdir().unwrap();
    let (files, small) = (PrivateFiles::new(scratch.path()), PrivateFiles::new(scratch.path()).most_bytes(3));
    files.write("x", "four").unwrap();
    let too_large = "`DIR/x` has 4 bytes, more than the 3 that are kept; look at it, and move it away";
    assert_eq!(told(scratch.path(), small.read("x")), too_large);
    assert_eq!(told(scratch.path(), small.write("x", "five")), too_large);
    small.write("x", "six").unwrap();
    assert_eq!(small.read("x").unwrap().as_deref(), Some("six"));
}

#[test]
fn one_has_the_lock_at_a_time_and_nobody_waits_for_ever() {
    let scratch = tempfile::tempdir().unwrap();
    let files = PrivateFiles::new(scratch.path());
    let held = files.lock("x.lock", Duration::ZERO).unwrap();
    let busy = files.lock("x.lock", Duration::from_millis(20)).unwrap_err();
    assert_eq!(io::Error::from(busy).kind(), io::ErrorKind::TimedOut);
    assert_eq!(
        told(scratch.path(), files.lock("x.lock", Duration::ZERO)),
        "another process has held the lock `DIR/x.lock` for 0 s; try again when it is done, or end it"
    );
    let _of_another = files.lock("y.lock", Duration::ZERO).unwrap();
    drop(held);
    let _held = files.lock("x.lock", Duration::ZERO).unwrap();
}
