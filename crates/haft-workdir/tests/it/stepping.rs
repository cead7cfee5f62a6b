//! Walking a tree step by step.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;

use expect_test::{Expect, expect};
use haft_workdir::{EntryKind, WalkListing, WalkOptions, Workdir};

use crate::fixture::{Fixture, SECRET, on_both, path};

fn list(workdir: &Workdir, start: &str) -> WalkListing {
    workdir.walk_directory(&path(workdir, start), WalkOptions::default()).list().unwrap()
}

/// Reads a file of a directory after something has happened since it was listed.
fn check(meanwhile: impl Fn(&Fixture), expected: &Expect) {
    let answer = on_both("a/secret = text\na/other = x", |fixture, workdir| {
        let listing = list(workdir, "a");
        meanwhile(fixture);
        let entry = listing.entries().iter().find(|entry| entry.name() == "secret").unwrap();
        match listing.open_file(entry) {
            Ok((mut file, metadata)) => {
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                format!("{text}, {} bytes", metadata.size())
            }
            Err(error) => error.to_string(),
        }
    });
    assert!(!answer.starts_with(SECRET), "{answer}");
    expected.assert_eq(&answer);
}

#[test]
fn opens_a_file_of_a_listed_directory() {
    check(|_| {}, &expect!["text, 4 bytes"]);
}

#[test]
fn follows_no_link_that_took_the_place_of_a_file() {
    let swap = |fixture: &Fixture| {
        fs::remove_file(fixture.root().join("a/secret")).unwrap();
        symlink(fixture.outside().join("secret"), fixture.root().join("a/secret")).unwrap();
    };
    check(swap, &expect!["`a/secret` changed since it was resolved: a part of it is a symbolic link"]);
}

#[test]
fn does_not_wait_for_a_pipe_that_took_the_place_of_a_file() {
    let swap = |fixture: &Fixture| {
        fs::remove_file(fixture.root().join("a/secret")).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let path = fixture.root().join("a/secret");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    };
    check(swap, &expect!["`a/secret` is a named pipe, not a regular file"]);
}

#[test]
fn stays_in_the_directory_that_was_listed() {
    let swap = |fixture: &Fixture| {
        fs::rename(fixture.root().join("a"), fixture.root().join("moved")).unwrap();
        symlink(fixture.outside(), fixture.root().join("a")).unwrap();
    };
    check(swap, &expect!["text, 4 bytes"]);
}

#[test]
fn says_what_is_gone() {
    check(
        |fixture| fs::remove_dir_all(fixture.root().join("a")).unwrap(),
        &expect!["`a/secret` does not exist"],
    );
}

#[test]
fn refuses_to_open_what_is_no_file() {
    on_both("dir/\nlink -> dir\npipe |", |_, workdir| {
        let listing = list(workdir, ".");
        assert_eq!(listing.entries().len(), 3);
        for entry in listing.entries() {
            let error = listing.open_file(entry).unwrap_err().to_string();
            assert!(
                error.contains("not a regular file")
                    || error.contains("is a directory")
                    || error.contains("link"),
                "{error}"
            );
        }
    });
}

#[test]
fn takes_the_same_steps_as_a_walk() {
    let tree = "
        .git/config = x
        .gitignore = target/\\n*.log\\n!keep.log
        .hidden/file = x
        a/.ignore = *.tmp
        a/b/one.tmp = x
        a/b/c/two = x
        a/keep.log = x
        a/three.log = x
        link -> a
        repository/.git/info/exclude = four
        repository/four = x
        repository/five.log = x
        target/out = x
    ";
    on_both(tree, |_, workdir| {
        for options in [
            WalkOptions::default(),
            WalkOptions::default().hidden(true),
            WalkOptions::default().ignored(true),
            WalkOptions::default().hidden(true).ignored(true),
        ] {
            let mut walk = workdir.walk(&path(workdir, "."), options).unwrap();
            let expected: Vec<_> = walk.by_ref().map(|entry| entry.unwrap().into_path()).collect();
            let (mut found, mut hidden, mut ignored) = (Vec::new(), 0, 0);
            let mut next = vec![workdir.walk_directory(&path(workdir, "."), options)];
            while let Some(directory) = next.pop() {
                let listing = directory.list().unwrap();
                hidden += listing.skipped().hidden;
                ignored += listing.skipped().ignored;
                for entry in listing.included() {
                    found.push(listing.path_of(entry));
                    next.extend(listing.enter(entry));
                    assert_eq!(listing.enter(entry).is_some(), entry.kind() == EntryKind::Directory);
                }
            }
            found.sort();
            assert_eq!(found, expected);
            assert_eq!((hidden, ignored), (walk.skipped().hidden, walk.skipped().ignored));
        }
    });
}

#[test]
fn rules_of_a_very_deep_tree_need_no_stack() {
    let fixture = Fixture::new("");
    let mut at = fixture.root();
    for _ in 0..600 {
        fs::write(at.join(".ignore"), "x\n").unwrap();
        at = at.join("d");
        fs::create_dir(&at).unwrap();
    }
    let workdir = Workdir::open(fixture.root()).unwrap();
    let small = std::thread::Builder::new().stack_size(128 << 10);
    let walk = move || {
        let mut directory = workdir.walk_directory(&path(&workdir, "."), WalkOptions::default());
        let mut depth = 0;
        loop {
            let listing = directory.list().unwrap();
            let Some(next) = listing.included().find_map(|entry| listing.enter(entry)) else { break depth };
            directory = next;
            depth += 1;
        }
    };
    assert_eq!(small.spawn(walk).unwrap().join().unwrap(), 600);
}
