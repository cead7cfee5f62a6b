//! Reading files and asking about them.

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use expect_test::{Expect, expect};
use haft_workdir::{EntryKind, Error, SpecialKind};

use crate::fixture::{Fixture, on_both, path};

const TREE: &str = "
    file = text
    dir/file = text
    pipe |
";

/// Resolves `given`, lets `meanwhile` change the tree, reads, and compares the content or what the model is told.
fn check(given: &str, meanwhile: impl Fn(&Fixture), expected: &Expect) {
    let answer = on_both(TREE, |fixture, workdir| {
        let path = path(workdir, given);
        meanwhile(fixture);
        match workdir.read(&path, 4) {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(error) => format!("{error}\n{}", error.model_text()),
        }
    });
    expected.assert_eq(&answer);
}

fn nothing(_: &Fixture) {}

#[test]
fn reads_up_to_the_limit() {
    check("dir/file", nothing, &expect!["text"]);
    check(
        "dir/file",
        |fixture| fs::write(fixture.root().join("dir/file"), "texts").unwrap(),
        &expect![[r#"
        `dir/file` is larger than 4 bytes
        `dir/file` is larger than 4 bytes; use only a part of it"#]],
    );
}

#[test]
fn refuses_what_does_not_exist() {
    check(
        "dir/missing",
        nothing,
        &expect![[r#"
        `dir/missing` does not exist
        `dir/missing` does not exist; list its directory or search for the name, then use the path you find"#]],
    );
    check(
        "missing/file",
        nothing,
        &expect![[r#"
        `missing/file` does not exist
        `missing/file` does not exist; list its directory or search for the name, then use the path you find"#]],
    );
}

#[test]
fn refuses_a_directory() {
    check(
        "dir",
        nothing,
        &expect![[r#"
        `dir` is a directory, not a file
        `dir` is a directory, not a file; list it, or use the path of a file"#]],
    );
    check(
        ".",
        nothing,
        &expect![[r#"
        `.` is a directory, not a file
        `.` is a directory, not a file; list it, or use the path of a file"#]],
    );
}

#[test]
fn refuses_a_named_pipe_without_waiting() {
    check(
        "pipe",
        nothing,
        &expect![[r#"
        `pipe` is a named pipe, not a regular file
        `pipe` is a named pipe, not a regular file; use the path of a regular file"#]],
    );
}

#[test]
fn refuses_a_socket() {
    let bind = |fixture: &Fixture| drop(UnixListener::bind(fixture.root().join("socket")).unwrap());
    check(
        "socket",
        bind,
        &expect![[r#"
        `socket` is a socket, not a regular file
        `socket` is a socket, not a regular file; use the path of a regular file"#]],
    );
}

#[test]
fn refuses_a_file_that_became_a_link() {
    let outwards = |fixture: &Fixture| {
        fs::remove_file(fixture.root().join("file")).unwrap();
        symlink(fixture.outside().join("secret"), fixture.root().join("file")).unwrap();
    };
    check(
        "file",
        outwards,
        &expect![[r#"
        `file` changed since it was resolved: a part of it is a symbolic link
        `file` changed while it was being used: a part of it is now a symbolic link; repeat the call to use what is there now"#]],
    );
    let inwards = |fixture: &Fixture| {
        fs::remove_file(fixture.root().join("file")).unwrap();
        symlink("dir/file", fixture.root().join("file")).unwrap();
    };
    check(
        "file",
        inwards,
        &expect![[r#"
        `file` changed since it was resolved: a part of it is a symbolic link
        `file` changed while it was being used: a part of it is now a symbolic link; repeat the call to use what is there now"#]],
    );
}

#[test]
fn refuses_a_file_whose_directory_became_a_link() {
    let outwards = |fixture: &Fixture| {
        fs::rename(fixture.root().join("dir"), fixture.root().join("moved")).unwrap();
        symlink(fixture.outside(), fixture.root().join("dir")).unwrap();
    };
    check(
        "dir/file",
        outwards,
        &expect![[r#"
        `dir/file` changed since it was resolved: a part of it is a symbolic link
        `dir/file` changed while it was being used: a part of it is now a symbolic link; repeat the call to use what is there now"#]],
    );
    let inwards = |fixture: &Fixture| {
        fs::rename(fixture.root().join("dir"), fixture.root().join("moved")).unwrap();
        symlink("moved", fixture.root().join("dir")).unwrap();
    };
    check(
        "dir/file",
        inwards,
        &expect![[r#"
        `dir/file` changed since it was resolved: a part of it is a symbolic link
        `dir/file` changed while it was being used: a part of it is now a symbolic link; repeat the call to use what is there now"#]],
    );
}

#[test]
fn refuses_a_file_whose_directory_became_a_file() {
    let replace = |fixture: &Fixture| {
        fs::rename(fixture.root().join("dir"), fixture.root().join("moved")).unwrap();
        fs::write(fixture.root().join("dir"), "").unwrap();
    };
    check(
        "dir/file",
        replace,
        &expect![[r#"
            `dir` is not a directory
            `dir` is not a directory; list the directory above it to see what is there"#]],
    );
}

#[test]
fn opens_a_file_to_read_in_parts() {
    let answer = on_both(TREE, |_, workdir| {
        let mut start = [0; 2];
        workdir.open_file(&path(workdir, "file")).unwrap().read_exact(&mut start).unwrap();
        start
    });
    assert_eq!(&answer, b"te");
}

#[test]
fn tells_what_is_there() {
    let answer = on_both(TREE, |_, workdir| {
        [".", "dir", "dir/file", "pipe"].map(|given| workdir.kind(&path(workdir, given)).unwrap())
    });
    let pipe = EntryKind::Other(SpecialKind::Fifo);
    assert_eq!(answer, [EntryKind::Directory, EntryKind::Directory, EntryKind::File, pipe]);
}

#[test]
fn tells_size_time_and_executability() {
    let fixture = Fixture::new(TREE);
    let workdir = fixture.workdir();
    let metadata = workdir.metadata(&path(&workdir, "file")).unwrap();
    let host = fs::metadata(fixture.root().join("file")).unwrap();
    assert_eq!((metadata.size(), metadata.modified()), (4, Some(host.modified().unwrap())));
    assert!(!metadata.is_executable());
    assert!(workdir.metadata(&path(&workdir, "dir")).unwrap().is_executable());
}

#[test]
fn removes_a_file_and_nothing_else() {
    let answer = on_both(TREE, |fixture, workdir| {
        let remove = |given| match workdir.remove_file(&path(workdir, given)) {
            Ok(()) => format!("{given}: removed\n"),
            Err(error) => format!("{given}: {error}\n"),
        };
        let said = ["dir/file", "dir", ".", "missing", "pipe"].map(remove).concat();
        (said, fixture.files())
    });
    expect![[r#"
        dir/file: removed
        dir: `dir` is a directory, not a file
        .: `.` is a directory, not a file
        missing: `missing` does not exist
        pipe: removed
    "#]]
    .assert_eq(&answer.0);
    assert_eq!(answer.1, [("file".to_owned(), "text".to_owned())]);
}

#[test]
fn removes_a_link_and_not_what_it_leads_to() {
    on_both("link -> {outside}/secret", |_, workdir| {
        let entries = workdir.read_dir(&path(workdir, ".")).unwrap();
        workdir.remove_file(entries[0].path().unwrap()).unwrap();
        assert_eq!(workdir.read_dir(&path(workdir, ".")).unwrap(), []);
    });
}

#[test]
fn keeps_the_cause_of_an_error() {
    let fixture = Fixture::new("");
    let workdir = fixture.workdir();
    let mut deep = path(&workdir, ".");
    for _ in 0..3 {
        deep = deep.join_file_name(&"n".repeat(255)).unwrap();
    }
    assert!(matches!(workdir.read(&deep, 10), Err(Error::NotFound { .. })));
}
