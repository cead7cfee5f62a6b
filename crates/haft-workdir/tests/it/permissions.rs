//! What the process may not do. Nothing is forbidden to the superuser, for whom there is nothing to check here.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use expect_test::{Expect, expect};
use haft_workdir::{Existing, WalkOptions, Workdir};

use crate::fixture::{on_both, path};

const TREE: &str = "
    closed/file = x
    read-only = old
    unreadable = x
    unwritable/file = old
";

/// Takes permissions away, tries, and compares what is said.
fn check(attempt: impl Fn(&Workdir) -> String, expected: &Expect) {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let answer = on_both(TREE, |fixture, workdir| {
        let set = |name, mode| {
            fs::set_permissions(fixture.root().join(name), Permissions::from_mode(mode)).unwrap();
        };
        set("closed", 0o000);
        set("read-only", 0o444);
        set("unreadable", 0o000);
        set("unwritable", 0o555);
        let answer = attempt(workdir);
        // The tree has to be open again to be removed.
        set("closed", 0o700);
        set("unwritable", 0o700);
        answer
    });
    expected.assert_eq(&answer);
}

#[test]
fn says_what_may_not_be_read() {
    check(
        |workdir| workdir.read(&path(workdir, "unreadable"), 10).unwrap_err().model_text(),
        &expect![
            "cannot open `unreadable`: permission denied; use another path, or ask the user to change its permissions"
        ],
    );
    check(
        |workdir| workdir.resolve("closed/file").unwrap_err().model_text(),
        &expect!["the path `closed/file` cannot be looked up: permission denied; use another path"],
    );
}

#[test]
fn says_what_may_not_be_written() {
    let write = |name: &'static str| {
        move |workdir: &Workdir| {
            let file = path(workdir, name);
            workdir.write_atomic(&file, b"new", Existing::Replace).unwrap_err().model_text()
        }
    };
    check(
        write("read-only"),
        &expect![
            "cannot write `read-only`: permission denied; use another path, or ask the user to change its permissions"
        ],
    );
    check(
        write("unwritable/file"),
        &expect![
            "cannot write `unwritable/file`: permission denied; use another path, or ask the user to change its permissions"
        ],
    );
}

#[test]
fn walks_on_after_a_directory_that_may_not_be_listed() {
    check(
        |workdir| {
            let mut walk = workdir.walk(&path(workdir, "."), WalkOptions::default()).unwrap();
            let met: Vec<_> =
                walk.by_ref().map(|entry| entry.map(|entry| entry.path().to_string())).collect();
            let met: Vec<_> =
                met.into_iter().map(|entry| entry.unwrap_or_else(|error| error.to_string())).collect();
            format!("{met:?}, {} unreadable", walk.skipped().unreadable)
        },
        &expect![[
            r#"["closed", "cannot walk into `closed`", "read-only", "unreadable", "unwritable", "unwritable/file"], 1 unreadable"#
        ]],
    );
}
