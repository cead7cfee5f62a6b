//! Renaming within the tree.

use std::fs;
use std::os::unix::fs::symlink;

use expect_test::{Expect, expect};
use haft_workdir::Existing::{self, Refuse, Replace};

use crate::fixture::{Fixture, on_both, path};

const TREE: &str = "
    a = A
    b = B
    dir/c = C
    full/d = D
    empty/
";

/// Renames and compares the outcome and the files there are then.
fn check(from: &str, to: &str, existing: Existing, meanwhile: impl Fn(&Fixture), expected: &Expect) {
    let answer = on_both(TREE, |fixture, workdir| {
        let (from, to) = (path(workdir, from), path(workdir, to));
        meanwhile(fixture);
        let outcome = match workdir.rename(&from, &to, existing) {
            Ok(()) => "renamed".to_owned(),
            Err(error) => error.to_string(),
        };
        let files = fixture.files().into_iter().map(|(name, text)| format!(" {name}={text}"));
        outcome + &files.collect::<String>()
    });
    expected.assert_eq(&answer);
}

fn nothing(_: &Fixture) {}

#[test]
fn renames_files_and_directories() {
    check("a", "new", Refuse, nothing, &expect!["renamed b=B dir/c=C full/d=D new=A"]);
    check("a", "dir/new", Replace, nothing, &expect!["renamed b=B dir/c=C dir/new=A full/d=D"]);
    check("dir", "moved", Refuse, nothing, &expect!["renamed a=A b=B full/d=D moved/c=C"]);
    check("dir", "empty", Replace, nothing, &expect!["renamed a=A b=B empty/c=C full/d=D"]);
}

#[test]
fn replaces_only_when_told() {
    check("a", "b", Replace, nothing, &expect!["renamed b=A dir/c=C full/d=D"]);
    check("a", "b", Refuse, nothing, &expect!["`b` already exists a=A b=B dir/c=C full/d=D"]);
    check("dir", "empty", Refuse, nothing, &expect!["`empty` already exists a=A b=B dir/c=C full/d=D"]);
}

#[test]
fn refuses_what_does_not_fit() {
    check("missing", "b", Replace, nothing, &expect!["`missing` does not exist a=A b=B dir/c=C full/d=D"]);
    check(
        "a",
        "missing/new",
        Replace,
        nothing,
        &expect!["cannot create `missing/new`: its directory does not exist a=A b=B dir/c=C full/d=D"],
    );
    check(
        "a",
        "empty",
        Replace,
        nothing,
        &expect!["`empty` is a directory, not a file a=A b=B dir/c=C full/d=D"],
    );
    check("dir", "a", Replace, nothing, &expect!["`a` is not a directory a=A b=B dir/c=C full/d=D"]);
    check("dir", "full", Replace, nothing, &expect!["`full` already exists a=A b=B dir/c=C full/d=D"]);
    check(
        "dir",
        "dir/below",
        Replace,
        nothing,
        &expect!["cannot replace `dir/below` a=A b=B dir/c=C full/d=D"],
    );
    check(
        "dir",
        "dir/below",
        Refuse,
        nothing,
        &expect!["cannot replace `dir/below` a=A b=B dir/c=C full/d=D"],
    );
}

#[test]
fn refuses_the_root() {
    check(
        ".",
        "new",
        Replace,
        nothing,
        &expect!["cannot rename the working directory itself a=A b=B dir/c=C full/d=D"],
    );
    check(
        "dir",
        ".",
        Replace,
        nothing,
        &expect!["cannot replace the working directory itself a=A b=B dir/c=C full/d=D"],
    );
}

#[test]
fn moves_nothing_through_a_link() {
    let swap = |fixture: &Fixture| {
        fs::rename(fixture.root().join("dir"), fixture.root().join("moved")).unwrap();
        symlink(fixture.outside(), fixture.root().join("dir")).unwrap();
    };
    check(
        "a",
        "dir/new",
        Replace,
        swap,
        &expect![
            "`dir/new` changed since it was resolved: a part of it is a symbolic link a=A b=B full/d=D moved/c=C"
        ],
    );
    check(
        "dir/c",
        "new",
        Replace,
        swap,
        &expect![
            "`dir/c` changed since it was resolved: a part of it is a symbolic link a=A b=B full/d=D moved/c=C"
        ],
    );
}
