use super::*;
use crate::grep::input::GrepInput;
use crate::options::SearchOptions;
use crate::watch::Hook;
use expect_test::{Expect, expect};
use haft_core::ToolErrorKind;
use haft_testkit::Tree;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

fn request(tree: &Tree, input: Value) -> Request {
    let input: GrepInput = serde_json::from_value(input).unwrap();
    // One thread, so that what happens meanwhile happens at a known place.
    Request::resolve(&tree.workdir(), SearchOptions::default().threads(1), input).unwrap()
}

/// Runs a search during which something happens, and compares what the model gets.
fn check(tree: &Tree, input: Value, act: impl Fn(u64) -> bool + Sync, expected: &Expect) {
    let request = request(tree, input);
    let text = match search(&request, &Hook::new(act)) {
        Ok(findings) => super::super::report::output(&request, &findings).to_text(),
        Err(error) => format!("{:?}: {error}", error.kind()),
    };
    expected.assert_eq(&text);
}

/// Checks what the model gets where `b/two` becomes something else once the directory has been listed, so that the walk
/// takes it for a file.
fn check_no_longer_a_file(tree: &Tree, swap: impl Fn(&Path) + Sync) {
    let path = tree.path().join("b/two");
    check(
        tree,
        json!({ "pattern": "x" }),
        |files| {
            if files == 2 {
                fs::remove_file(&path).unwrap();
                swap(&path);
            }
            false
        },
        &expect![[r#"
        a:1: x
        b/one:1: x
        c:1: x

        3 matches in 3 files
        not searched: 1 file that cannot be read"#]],
    );
}

fn letters() -> Tree {
    Tree::new().file("a", "x\n").file("b/one", "x\n").file("b/two", "x\n").file("c", "x\n")
}

#[test]
fn stops_before_the_next_file_once_it_is_cancelled() {
    let tree = letters();
    let looked_at = AtomicU64::new(0);
    let hook = Hook::new(|files| {
        looked_at.store(files, Ordering::Relaxed);
        files == 2
    });
    let error = search(&request(&tree, json!({ "pattern": "x" })), &hook).unwrap_err();
    assert_eq!((error.kind(), looked_at.into_inner()), (ToolErrorKind::Cancelled, 2));
}

#[test]
fn stops_within_a_file_once_it_is_cancelled() {
    struct AfterReads(AtomicU32);
    impl Watch for AfterReads {
        fn is_cancelled(&self) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed) >= 8
        }
        fn is_out_of_time(&self) -> bool {
            false
        }
        fn looked_at(&self, _: u64) {
            panic!("the file is too long to be searched before the search is cancelled");
        }
    }
    let tree = Tree::new().file("long", &"line\n".repeat(1 << 20));
    let watch = AfterReads(AtomicU32::new(0));
    let error = search(&request(&tree, json!({ "pattern": "x" })), &watch).unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::Cancelled);
    assert!(watch.0.into_inner() < 16, "it is asked for each piece");
}

#[test]
fn a_directory_that_vanishes_is_passed_over() {
    let tree = letters();
    let path = tree.path().join("b");
    check(
        &tree,
        json!({ "pattern": "x" }),
        |files| {
            if files == 1 {
                fs::remove_dir_all(&path).unwrap();
            }
            false
        },
        &expect![[r#"
            a:1: x
            c:1: x

            2 matches in 2 files"#]],
    );
}

#[test]
fn a_start_that_vanishes_is_an_error() {
    let tree = letters();
    let directory = request(&tree, json!({ "pattern": "x", "path": "b" }));
    let file = request(&tree, json!({ "pattern": "x", "path": "b/one" }));
    fs::rename(tree.path().join("b"), tree.path().join("b2")).unwrap();
    let error = |request| search(request, &Hook::new(|_| false)).unwrap_err().to_string();
    expect!["`b` does not exist; list its directory or search for the name, then use the path you find"]
        .assert_eq(&error(&directory));
    expect!["`b/one` does not exist; list its directory or search for the name, then use the path you find"]
        .assert_eq(&error(&file));
}

#[test]
fn a_file_that_becomes_a_link_out_is_not_read() {
    let outside = Tree::new().file("secret", "x secret\n");
    check_no_longer_a_file(&letters(), |path| symlink(outside.path().join("secret"), path).unwrap());
}

#[test]
fn a_directory_that_becomes_a_link_out_is_not_entered() {
    let outside = Tree::new().file("one", "x secret\n");
    let tree = letters();
    let swap = || {
        fs::rename(tree.path().join("b"), tree.path().join("was-b")).unwrap();
        symlink(outside.path(), tree.path().join("b")).unwrap();
        false
    };
    check(
        &tree,
        json!({ "pattern": "x" }),
        |files| files == 1 && swap(),
        &expect![[r#"
        a:1: x
        c:1: x

        2 matches in 2 files
        not searched: 1 directory that cannot be listed"#]],
    );
}

#[test]
fn a_file_that_becomes_a_pipe_does_not_block() {
    check_no_longer_a_file(&letters(), |path| {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    });
}

#[test]
fn a_file_that_becomes_a_directory_is_not_searched_where_only_the_file_was_permitted() {
    let tree = letters();
    let request = request(&tree, json!({ "pattern": "x", "path": "a" }));
    fs::remove_file(tree.path().join("a")).unwrap();
    fs::create_dir(tree.path().join("a")).unwrap();
    fs::write(tree.path().join("a/inner"), "x\n").unwrap();
    let error = search(&request, &Hook::new(|_| false)).unwrap_err();
    expect!["InvalidInput: `a` is a directory, not a file; list it, or use the path of a file"]
        .assert_eq(&format!("{:?}: {error}", error.kind()));
}

/// Is out of time once so many files were looked at.
struct OutAfter {
    files: u64,
    is_out: AtomicBool,
}

impl Watch for OutAfter {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn is_out_of_time(&self) -> bool {
        self.is_out.load(Ordering::Relaxed)
    }

    fn looked_at(&self, files: u64) {
        self.is_out.store(files >= self.files, Ordering::Relaxed);
    }
}

fn check_out_of_time(files: u64, input: Value, expected: &Expect) {
    let tree = letters();
    let request = request(&tree, input);
    let findings = search(&request, &OutAfter { files, is_out: AtomicBool::new(files == 0) }).unwrap();
    expected.assert_eq(&super::super::report::output(&request, &findings).to_text());
}

#[test]
fn what_was_found_is_given_when_time_is_over() {
    check_out_of_time(
        0,
        json!({ "pattern": "x" }),
        &expect![[r#"
        no match for `x` in 0 files
        stopped because time was over, before 2 files and 1 directory with all that is in them; narrow `path`, `type` or `glob`"#]],
    );
    check_out_of_time(
        1,
        json!({ "pattern": "x" }),
        &expect![[r#"
        a:1: x

        1 match in 1 file
        stopped because time was over, before 1 file and 1 directory with all that is in them; narrow `path`, `type` or `glob`"#]],
    );
    check_out_of_time(
        2,
        json!({ "pattern": "x" }),
        &expect![[r#"
        a:1: x
        b/one:1: x

        2 matches in 2 files
        stopped because time was over, before 2 files; narrow `path`, `type` or `glob`"#]],
    );
    check_out_of_time(
        2,
        json!({ "pattern": "x", "sort": "modified" }),
        &expect![[r#"
        a:1: x
        b/one:1: x

        2 matches in 2 files
        stopped because time was over, before 2 files; narrow `path`, `type` or `glob`"#]],
    );
    check_out_of_time(
        2,
        json!({ "pattern": "x", "limit": 1 }),
        &expect![[r#"
        a:1: x

        1 of at least 2 matches, in 1 file; stopped at `limit`: for the next set `offset` to 1, raise `limit`, or narrow `pattern`, `path` or `glob`
        stopped because time was over, before 2 files; narrow `path`, `type` or `glob`"#]],
    );
    check_out_of_time(
        3,
        json!({ "pattern": "y" }),
        &expect![[r#"
        no match for `y` in 3 files
        stopped because time was over, before 1 file; narrow `path`, `type` or `glob`"#]],
    );
}

#[test]
fn what_was_found_in_a_file_is_given_when_time_is_over_within_it() {
    struct AfterReads(AtomicU32);
    impl Watch for AfterReads {
        fn is_cancelled(&self) -> bool {
            false
        }
        fn is_out_of_time(&self) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed) >= 8
        }
        fn looked_at(&self, _: u64) {}
    }
    let tree = Tree::new().file("long", &format!("x\n{}", "line\n".repeat(1 << 20)));
    let request = request(&tree, json!({ "pattern": "x" }));
    let findings = search(&request, &AfterReads(AtomicU32::new(0))).unwrap();
    expect![[r#"
        long:1: x

        1 match in 1 file
        stopped because time was over, before 1 file; narrow `path`, `type` or `glob`"#]]
    .assert_eq(&super::super::report::output(&request, &findings).to_text());
}

#[test]
fn the_latest_files_come_first() {
    let tree = letters();
    for (path, seconds) in [("a", 10), ("b/one", 30), ("b/two", 20), ("c", 20)] {
        let file = fs::File::options().write(true).open(tree.path().join(path)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
    }
    let check = |input, expected: Expect| check(&tree, input, |_| false, &expected);
    check(
        json!({ "pattern": "x", "sort": "modified" }),
        expect![[r#"
        b/one:1: x
        b/two:1: x
        c:1: x
        a:1: x

        4 matches in 4 files"#]],
    );
    check(
        json!({ "pattern": "x", "sort": "modified", "limit": 2 }),
        expect![[r#"
        b/one:1: x
        b/two:1: x

        2 of at least 3 matches, in 2 files; stopped at `limit`: for the next set `offset` to 2, raise `limit`, or narrow `pattern`, `path` or `glob`"#]],
    );
    check(
        json!({ "pattern": "x", "sort": "modified", "limit": 1, "offset": 2 }),
        expect![[r#"
        c:1: x

        number 3 of at least 4 matches, in 1 file; stopped at `limit`: for the next set `offset` to 3, raise `limit`, or narrow `pattern`, `path` or `glob`"#]],
    );
    check(
        json!({ "pattern": "x", "sort": "modified", "limit": 2, "mode": "files" }),
        expect![[r#"
        b/one
        b/two

        2 of at least 3 files with matches; stopped at `limit`: for the next set `offset` to 2, raise `limit`, or narrow `pattern`, `path` or `glob`"#]],
    );
}
