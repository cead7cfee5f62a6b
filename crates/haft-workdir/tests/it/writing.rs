//! Writing files and creating directories.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use expect_test::{Expect, expect};
use haft_workdir::Existing::{self, Refuse, Replace};

use crate::fixture::{Fixture, on_both, path};

const TREE: &str = "
    file = old
    dir/file = old
    pipe |
";

/// Resolves `given`, lets `meanwhile` change the tree, writes, and compares the outcome and the files there are then.
fn check(given: &str, existing: Existing, meanwhile: impl Fn(&Fixture), expected: &Expect) {
    let answer = on_both(TREE, |fixture, workdir| {
        let path = path(workdir, given);
        meanwhile(fixture);
        let outcome = match workdir.write_atomic(&path, b"new", existing) {
            Ok(written) => format!("{written:?}"),
            Err(error) => format!("{error}\n{}", error.model_text()),
        };
        let files = fixture.files().into_iter().map(|(name, text)| format!("\n{name} = {text}"));
        outcome + &files.collect::<String>()
    });
    expected.assert_eq(&answer);
}

fn nothing(_: &Fixture) {}

#[test]
fn creates_a_file() {
    check(
        "dir/new",
        Refuse,
        nothing,
        &expect![[r#"
        Created
        dir/file = old
        dir/new = new
        file = old"#]],
    );
    check(
        "dir/new",
        Replace,
        nothing,
        &expect![[r#"
        Created
        dir/file = old
        dir/new = new
        file = old"#]],
    );
}

#[test]
fn replaces_a_file_when_told() {
    check(
        "dir/file",
        Replace,
        nothing,
        &expect![[r#"
        Replaced
        dir/file = new
        file = old"#]],
    );
}

#[test]
fn refuses_to_replace_a_file_when_told() {
    check(
        "dir/file",
        Refuse,
        nothing,
        &expect![[r#"
        `dir/file` already exists
        `dir/file` already exists; use another path, or replace it on purpose
        dir/file = old
        file = old"#]],
    );
}

#[test]
fn refuses_to_replace_a_file_that_appeared_meanwhile() {
    check(
        "new",
        Refuse,
        |fixture| fs::write(fixture.root().join("new"), "theirs").unwrap(),
        &expect![[r#"
        `new` already exists
        `new` already exists; use another path, or replace it on purpose
        dir/file = old
        file = old
        new = theirs"#]],
    );
}

#[test]
fn refuses_a_missing_directory() {
    check(
        "missing/deep/file",
        Replace,
        nothing,
        &expect![[r#"
        cannot create `missing/deep/file`: its directory does not exist
        `missing/deep/file` cannot be created because its directory does not exist; create the directory first or use an existing one
        dir/file = old
        file = old"#]],
    );
}

#[test]
fn refuses_what_is_no_file() {
    check(
        "dir",
        Replace,
        nothing,
        &expect![[r#"
        `dir` is a directory, not a file
        `dir` is a directory, not a file; list it, or use the path of a file
        dir/file = old
        file = old"#]],
    );
    check(
        ".",
        Replace,
        nothing,
        &expect![[r#"
        `.` is a directory, not a file
        `.` is a directory, not a file; list it, or use the path of a file
        dir/file = old
        file = old"#]],
    );
    check(
        "pipe",
        Replace,
        nothing,
        &expect![[r#"
        `pipe` is a named pipe, not a regular file
        `pipe` is a named pipe, not a regular file; use the path of a regular file
        dir/file = old
        file = old"#]],
    );
}

#[test]
fn refuses_a_file_that_became_a_link() {
    let swap = |fixture: &Fixture| {
        fs::remove_file(fixture.root().join("file")).unwrap();
        symlink(fixture.outside().join("secret"), fixture.root().join("file")).unwrap();
    };
    check(
        "file",
        Replace,
        swap,
        &expect![[r#"
        `file` changed since it was resolved: a part of it is a symbolic link
        `file` changed while it was being used: a part of it is now a symbolic link; repeat the call to use what is there now
        dir/file = old"#]],
    );
    check(
        "file",
        Refuse,
        swap,
        &expect![[r#"
        `file` changed since it was resolved: a part of it is a symbolic link
        `file` changed while it was being used: a part of it is now a symbolic link; repeat the call to use what is there now
        dir/file = old"#]],
    );
}

#[test]
fn refuses_a_directory_that_became_a_link() {
    let swap = |fixture: &Fixture| {
        fs::rename(fixture.root().join("dir"), fixture.root().join("moved")).unwrap();
        symlink(fixture.outside(), fixture.root().join("dir")).unwrap();
    };
    check(
        "dir/file",
        Replace,
        swap,
        &expect![[r#"
        `dir/file` changed since it was resolved: a part of it is a symbolic link
        `dir/file` changed while it was being used: a part of it is now a symbolic link; repeat the call to use what is there now
        file = old
        moved/file = old"#]],
    );
}

#[test]
fn keeps_the_permissions_of_a_file() {
    for (before, after) in [(0o755, 0o755), (0o600, 0o600), (0o666, 0o666), (0o4755, 0o755)] {
        on_both(TREE, |fixture, workdir| {
            let host = fixture.root().join("file");
            fs::set_permissions(&host, Permissions::from_mode(before)).unwrap();
            workdir.write_atomic(&path(workdir, "file"), b"new", Replace).unwrap();
            assert_eq!(fs::metadata(&host).unwrap().mode() & 0o7777, after);
        });
    }
}

#[test]
fn gives_a_new_file_the_permissions_of_any_new_file() {
    let fixture = Fixture::new("");
    let workdir = fixture.workdir();
    fs::write(fixture.root().join("theirs"), "").unwrap();
    workdir.write_atomic(&path(&workdir, "ours"), b"", Refuse).unwrap();
    let mode = |name| fs::metadata(fixture.root().join(name)).unwrap().mode();
    assert_eq!(mode("ours"), mode("theirs"));
}

#[test]
fn writes_a_file_with_other_names_in_place() {
    for content in ["new", "a much longer content", ""] {
        on_both(TREE, |fixture, workdir| {
            let other = fixture.root().join("dir/other");
            fs::hard_link(fixture.root().join("file"), &other).unwrap();
            let inode = fs::metadata(&other).unwrap().ino();
            workdir.write_atomic(&path(workdir, "file"), content.as_bytes(), Replace).unwrap();
            assert_eq!(fs::read_to_string(&other).unwrap(), content);
            assert_eq!(fs::metadata(fixture.root().join("file")).unwrap().ino(), inode);
            assert_eq!(fixture.files().len(), 3, "a temporary file was left behind");
        });
    }
}

#[test]
fn creates_directories_and_tells_which() {
    let answer = on_both(TREE, |_, workdir| {
        let create = |given| match workdir.create_dir_all(&path(workdir, given)) {
            Ok(created) => format!("{given}: {created:?}\n"),
            Err(error) => format!("{given}: {error}\n"),
        };
        [".", "dir", "dir/a/b", "dir/a/b/c", "new", "file"].map(create).concat()
    });
    expect![[r#"
        .: []
        dir: []
        dir/a/b: [WorkdirPath("dir/a"), WorkdirPath("dir/a/b")]
        dir/a/b/c: [WorkdirPath("dir/a/b/c")]
        new: [WorkdirPath("new")]
        file: `file` is not a directory
    "#]]
    .assert_eq(&answer);
}

#[test]
fn creates_no_directory_through_a_link() {
    let answer = on_both(TREE, |fixture, workdir| {
        let deep = path(workdir, "dir/new/deep");
        fs::rename(fixture.root().join("dir"), fixture.root().join("moved")).unwrap();
        symlink(fixture.outside(), fixture.root().join("dir")).unwrap();
        workdir.create_dir_all(&deep).unwrap_err().to_string()
    });
    expect!["`dir/new/deep` changed since it was resolved: a part of it is a symbolic link"]
        .assert_eq(&answer);
}

#[test]
fn creates_no_directory_below_a_file() {
    let answer = on_both(TREE, |fixture, workdir| {
        let deep = path(workdir, "new/deep");
        fs::write(fixture.root().join("new"), "").unwrap();
        workdir.create_dir_all(&deep).unwrap_err().to_string()
    });
    expect!["`new/deep` is not a directory"].assert_eq(&answer);
}
