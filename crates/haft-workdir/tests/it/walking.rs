//! Walking a tree.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use expect_test::{Expect, expect};
use haft_workdir::{EntryKind, UnreadRules, Walk, WalkOptions};

use crate::fixture::{Fixture, on_both, path};

const TREE: &str = "
    .git/config = x
    .gitignore = target/\\n*.log\\n/only-root\\n!.keep
    .hidden/file = x
    .keep = x
    a/file = x
    a-b = x
    a/only-root = x
    a/.gitignore = !kept.log
    a/kept.log = x
    a/dropped.tmp = x
    a/.ignore = *.tmp
    b.log = x
    link -> a
    only-root = x
    pipe |
    target/out/file = x
";

/// Writes down a walk, one line for each entry, and what was passed over.
fn write_down(walk: &mut Walk) -> String {
    let lines = walk.by_ref().map(|entry| match entry {
        Ok(entry) if entry.kind() == EntryKind::File => format!("{}\n", entry.path()),
        Ok(entry) => format!("{} ({})\n", entry.path(), entry.kind()),
        Err(error) => format!("{error}: {}\n", error.model_text()),
    });
    let lines = lines.collect::<String>();
    let skipped = walk.skipped();
    format!(
        "{lines}hidden {}, ignored {}, unreadable {}, not unicode {}\n",
        skipped.hidden, skipped.ignored, skipped.unreadable, skipped.not_unicode
    )
}

fn check(tree: &str, start: &str, options: WalkOptions, expected: &Expect) {
    let answer = on_both(tree, |_, workdir| match workdir.walk(&path(workdir, start), options) {
        Ok(mut walk) => write_down(&mut walk),
        Err(error) => error.to_string(),
    });
    expected.assert_eq(&answer);
}

fn options() -> WalkOptions {
    WalkOptions::default()
}

#[test]
fn leaves_out_hidden_and_ignored_entries() {
    check(
        TREE,
        ".",
        options(),
        &expect![[r#"
        .keep
        a (directory)
        a/file
        a/kept.log
        a/only-root
        a-b
        link (symbolic link)
        pipe (named pipe)
        hidden 4, ignored 4, unreadable 0, not unicode 0
    "#]],
    );
}

#[test]
fn includes_hidden_entries_but_never_git() {
    check(
        TREE,
        ".",
        options().hidden(true),
        &expect![[r#"
        .gitignore
        .hidden (directory)
        .hidden/file
        .keep
        a (directory)
        a/.gitignore
        a/.ignore
        a/file
        a/kept.log
        a/only-root
        a-b
        link (symbolic link)
        pipe (named pipe)
        hidden 0, ignored 4, unreadable 0, not unicode 0
    "#]],
    );
}

#[test]
fn includes_ignored_entries() {
    check(
        TREE,
        ".",
        options().ignored(true),
        &expect![[r#"
        a (directory)
        a/dropped.tmp
        a/file
        a/kept.log
        a/only-root
        a-b
        b.log
        link (symbolic link)
        only-root
        pipe (named pipe)
        target (directory)
        target/out (directory)
        target/out/file
        hidden 5, ignored 0, unreadable 0, not unicode 0
    "#]],
    );
}

#[test]
fn goes_as_deep_as_told() {
    check(
        TREE,
        ".",
        options().most_depth(Some(1)),
        &expect![[r#"
        .keep
        a (directory)
        a-b
        link (symbolic link)
        pipe (named pipe)
        hidden 2, ignored 3, unreadable 0, not unicode 0
    "#]],
    );
    check(
        TREE,
        ".",
        options().most_depth(Some(0)),
        &expect![[r#"
        hidden 0, ignored 0, unreadable 0, not unicode 0
    "#]],
    );
}

#[test]
fn starts_below_the_root_with_the_rules_above() {
    check(
        TREE,
        "a",
        options(),
        &expect![[r#"
        a/file
        a/kept.log
        a/only-root
        hidden 2, ignored 1, unreadable 0, not unicode 0
    "#]],
    );
}

#[test]
fn walks_a_start_that_is_itself_ignored_or_hidden() {
    check(
        TREE,
        "target",
        options(),
        &expect![[r#"
        target/out (directory)
        target/out/file
        hidden 0, ignored 0, unreadable 0, not unicode 0
    "#]],
    );
    check(
        TREE,
        ".hidden",
        options(),
        &expect![[r#"
        .hidden/file
        hidden 0, ignored 0, unreadable 0, not unicode 0
    "#]],
    );
    check(
        TREE,
        ".git",
        options(),
        &expect![[r#"
        .git/config
        hidden 0, ignored 0, unreadable 0, not unicode 0
    "#]],
    );
}

#[test]
fn walks_a_file_as_its_only_entry() {
    check(
        TREE,
        "b.log",
        options(),
        &expect![[r#"
        b.log
        hidden 0, ignored 0, unreadable 0, not unicode 0
    "#]],
    );
}

#[test]
fn refuses_a_start_that_cannot_be_walked() {
    check(TREE, "missing", options(), &expect!["`missing` does not exist"]);
    check(TREE, "pipe", options(), &expect!["`pipe` is a named pipe, not a regular file"]);
}

#[test]
fn honours_the_rules_of_repositories() {
    let tree = "
        .git/info/exclude = excluded
        .gitignore = *.log
        .ignore = *.tmp
        excluded =
        nested/.git/config =
        nested/excluded =
        nested/x.log =
        nested/x.tmp =
        x.log =
        x.tmp =
    ";
    check(
        tree,
        ".",
        options(),
        &expect![[r#"
        nested (directory)
        nested/excluded
        nested/x.log
        hidden 2, ignored 4, unreadable 0, not unicode 0
    "#]],
    );
}

#[test]
fn ignore_files_that_may_not_be_read_do_not_count() {
    let tree = "
        .git/info/exclude = *.exclude
        .gitignore = *.git
        .ignore = *.ignore
        a/.gitignore = *.inner
        a/b/kept.txt = x
        a/b/one.git = x
        a/b/three.exclude = x
        a/b/two.ignore = x
        a/four.inner = x
    ";
    let check = |start: &str, unread: &'static [&'static str], expected: &[&str]| {
        let found = on_both(tree, |_, workdir| {
            let rules = || UnreadRules::new(|file| unread.contains(&file.as_str()));
            let walk = workdir.walk_without(&path(workdir, start), options(), rules()).unwrap();
            let found: Vec<_> = walk.map(|entry| entry.unwrap()).collect();
            let files = found.into_iter().filter(|entry| entry.kind() == EntryKind::File);
            files.map(|entry| entry.path().to_string()).collect::<Vec<_>>()
        });
        assert_eq!(found, expected, "{start} without {unread:?}");
    };
    // Above the start, and in it.
    check("a/b", &[], &["a/b/kept.txt"]);
    check("a/b", &[".gitignore"], &["a/b/kept.txt", "a/b/one.git"]);
    check("a/b", &[".ignore"], &["a/b/kept.txt", "a/b/two.ignore"]);
    check("a/b", &[".git/info/exclude"], &["a/b/kept.txt", "a/b/three.exclude"]);
    check(".", &[], &["a/b/kept.txt"]);
    check(".", &["a/.gitignore"], &["a/b/kept.txt", "a/four.inner"]);
    check(".", &[".git/info/exclude"], &["a/b/kept.txt", "a/b/three.exclude"]);
    let every = ["a/b/kept.txt", "a/b/one.git", "a/b/three.exclude", "a/b/two.ignore", "a/four.inner"];
    check(".", &[".gitignore", ".ignore", ".git/info/exclude", "a/.gitignore"], &every);
}

#[test]
fn survives_broken_rules() {
    let tree = "
        .gitignore = [\\n{a,b\\n**\\\\\\n*.log
        .ignore -> {outside}/secret
        secret =
        x.log =
    ";
    check(
        tree,
        ".",
        options(),
        &expect![[r#"
        secret
        hidden 2, ignored 1, unreadable 0, not unicode 0
    "#]],
    );
}

#[test]
fn counts_names_that_are_not_unicode() {
    let answer = on_both("a =", |fixture, workdir| {
        fs::write(fixture.root().join(OsStr::from_bytes(b"\xff")), "").unwrap();
        write_down(&mut workdir.walk(&path(workdir, "."), options()).unwrap())
    });
    expect![[r#"
        a
        hidden 0, ignored 0, unreadable 0, not unicode 1
    "#]]
    .assert_eq(&answer);
}

/// Walks up to the entry `a`, lets `meanwhile` change the tree, and compares the rest of the walk.
fn check_rest(meanwhile: impl Fn(&Fixture), expected: &Expect) {
    let answer = on_both("a/sub/file =\nb =", |fixture, workdir| {
        let mut walk = workdir.walk(&path(workdir, "."), options()).unwrap();
        assert_eq!(walk.next().unwrap().unwrap().path().as_str(), "a");
        meanwhile(fixture);
        write_down(&mut walk)
    });
    expected.assert_eq(&answer);
}

#[test]
fn goes_on_after_a_directory_that_became_a_link() {
    let swap = |fixture: &Fixture| {
        fs::rename(fixture.root().join("a"), fixture.root().join("moved")).unwrap();
        symlink(fixture.outside(), fixture.root().join("a")).unwrap();
    };
    check_rest(
        swap,
        &expect![[r#"
        cannot walk into `a`: `a` changed while it was being used: a part of it is now a symbolic link; repeat the call to use what is there now
        b
        hidden 0, ignored 0, unreadable 1, not unicode 0
    "#]],
    );
}

#[test]
fn goes_on_after_a_directory_that_is_gone() {
    check_rest(
        |fixture| fs::remove_dir_all(fixture.root().join("a")).unwrap(),
        &expect![[r#"
        b
        hidden 0, ignored 0, unreadable 0, not unicode 0
    "#]],
    );
}

#[test]
fn goes_on_in_the_opened_root_when_it_is_renamed() {
    let rename = |fixture: &Fixture| {
        fs::rename(fixture.root(), fixture.scratch().join("moved")).unwrap();
        symlink(fixture.outside(), fixture.root()).unwrap();
    };
    check_rest(
        rename,
        &expect![[r#"
        a/sub (directory)
        a/sub/file
        b
        hidden 0, ignored 0, unreadable 0, not unicode 0
    "#]],
    );
}

#[test]
fn yields_entries_in_the_order_of_their_paths() {
    on_both(TREE, |_, workdir| {
        let walk = workdir.walk(&path(workdir, "."), options().hidden(true).ignored(true)).unwrap();
        let paths: Vec<_> = walk.map(|entry| entry.unwrap().into_path()).collect();
        assert!(paths.is_sorted(), "{paths:?}");
    });
}

#[test]
fn looks_up_sizes_on_demand() {
    on_both("file = four", |fixture, workdir| {
        let entry = workdir.walk(&path(workdir, "."), options()).unwrap().next().unwrap().unwrap();
        assert_eq!(entry.size().unwrap(), 4);
        fs::remove_file(fixture.root().join("file")).unwrap();
        assert_eq!(entry.size().unwrap_err().to_string(), "`file` does not exist");
    });
}

#[test]
fn walks_deeper_than_a_path_may_be_long() {
    let fixture = Fixture::new("");
    let name = "d".repeat(250);
    for workdir in fixture.workdirs() {
        let deepest = (0..20).fold(path(&workdir, "."), |path, _| path.join_file_name(&name).unwrap());
        workdir.create_dir_all(&deepest).unwrap();
        let file = deepest.join_file_name("file").unwrap();
        workdir.write_atomic(&file, b"deep", haft_workdir::Existing::Replace).unwrap();
        let walk = workdir.walk(&path(&workdir, "."), options()).unwrap();
        assert_eq!(walk.map(|entry| entry.unwrap().into_path()).last(), Some(file.clone()));
        assert_eq!(workdir.read(&file, 10).unwrap(), b"deep");
    }
}
