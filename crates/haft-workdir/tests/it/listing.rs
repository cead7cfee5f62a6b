//! Listing a directory.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use expect_test::{Expect, expect};

use crate::fixture::{Fixture, on_both, path};

const TREE: &str = "
    dir/b = text
    dir/B = text
    dir/a/inner =
    dir/a-b =
    dir/.hidden =
    dir/link -> {outside}
    dir/pipe |
    file = text
";

/// Resolves `given`, lets `meanwhile` change the tree, lists, and compares one line for each entry.
fn check(given: &str, meanwhile: impl Fn(&Fixture), expected: &Expect) {
    let answer = on_both(TREE, |fixture, workdir| {
        let path = path(workdir, given);
        meanwhile(fixture);
        match workdir.read_dir(&path) {
            Ok(entries) => entries
                .iter()
                .map(|entry| format!("{} ({}) at {:?}\n", entry.name(), entry.kind(), entry.path()))
                .collect::<Vec<_>>()
                .concat(),
            Err(error) => error.to_string(),
        }
    });
    expected.assert_eq(&answer);
}

fn nothing(_: &Fixture) {}

#[test]
fn lists_entries_sorted_by_name() {
    check(
        "dir",
        nothing,
        &expect![[r#"
        .hidden (file) at Some(WorkdirPath("dir/.hidden"))
        B (file) at Some(WorkdirPath("dir/B"))
        a (directory) at Some(WorkdirPath("dir/a"))
        a-b (file) at Some(WorkdirPath("dir/a-b"))
        b (file) at Some(WorkdirPath("dir/b"))
        link (symbolic link) at Some(WorkdirPath("dir/link"))
        pipe (named pipe) at Some(WorkdirPath("dir/pipe"))
    "#]],
    );
    check(
        ".",
        nothing,
        &expect![[r#"
        dir (directory) at Some(WorkdirPath("dir"))
        file (file) at Some(WorkdirPath("file"))
    "#]],
    );
    check(
        "dir/a",
        nothing,
        &expect![[r#"
        inner (file) at Some(WorkdirPath("dir/a/inner"))
    "#]],
    );
}

#[test]
fn shows_names_that_are_not_unicode_without_a_path() {
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    check(
        "dir/a",
        |fixture| fs::write(fixture.root().join("dir/a").join(name), "").unwrap(),
        &expect![[r#"
        caf�.txt (file) at None
        inner (file) at Some(WorkdirPath("dir/a/inner"))
    "#]],
    );
}

#[test]
fn refuses_what_cannot_be_listed() {
    check("file", nothing, &expect!["`file` is not a directory"]);
    check("missing", nothing, &expect!["`missing` does not exist"]);
    let swap = |fixture: &Fixture| {
        fs::rename(fixture.root().join("dir"), fixture.root().join("moved")).unwrap();
        symlink(fixture.outside(), fixture.root().join("dir")).unwrap();
    };
    check("dir", swap, &expect!["`dir` changed since it was resolved: a part of it is a symbolic link"]);
    check("dir/a", swap, &expect!["`dir/a` changed since it was resolved: a part of it is a symbolic link"]);
}

#[test]
fn refuses_a_link_to_a_name_that_is_not_unicode() {
    let fixture = Fixture::new("");
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    fs::write(fixture.root().join(name), "").unwrap();
    symlink(name, fixture.root().join("link")).unwrap();
    for workdir in fixture.workdirs() {
        expect!["the path `link` goes through the symbolic link `link` to a name that is not UTF-8; use another path"]
            .assert_eq(&workdir.resolve("link").unwrap_err().model_text());
    }
}
