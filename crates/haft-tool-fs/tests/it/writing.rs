use crate::fixture::{run, shown};
use haft_testkit::Tree;
use proptest::prelude::*;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn the_host_gets_the_diff() {
    let tree = Tree::new().file("a", "one\ntwo\n");
    let reply = run(&tree, "write_file", json!({ "path": "a", "content": "one\n2\n" }));
    assert_eq!(
        reply.output.details,
        json!({
            "path": "a",
            "diff": "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
            "digest": "sha256:b8c083898d90",
        })
    );
}

#[test]
fn a_file_that_is_not_text_has_no_diff() {
    let tree = Tree::new().bytes("a", &[0xff, 0]);
    let reply = run(&tree, "write_file", json!({ "path": "a", "content": "text\n" }));
    assert_eq!(reply.output.details, json!({ "path": "a", "diff": null, "digest": "sha256:b9e68e1bea3e" }));
}

#[test]
fn a_large_file_is_replaced_without_a_diff() {
    let tree = Tree::new().file("a", &"x".repeat(5 << 20));
    let same = json!({ "path": "a", "content": "x".repeat(5 << 20) });
    assert_eq!(
        shown(&run(&tree, "write_file", same)),
        "ok\n`a` holds exactly this content already; nothing was written\n"
    );
    let reply = run(&tree, "write_file", json!({ "path": "a", "content": "small\n" }));
    assert_eq!(shown(&reply), "ok\nreplaced `a`: 1 line, 6 bytes (before: 1 line, 5.0 MiB)\n");
    assert_eq!(reply.output.details, json!({ "path": "a", "diff": null, "digest": "sha256:4c47b3e816fb" }));
}

#[test]
fn a_large_file_stays_what_it_is_like() {
    let old = "a line of some length\r\n".repeat(250_000);
    let tree = Tree::new().file("a", &format!("\u{feff}{old}"));
    let elided = json!({ "path": "a", "content": "first\n// ... rest unchanged\n" });
    assert!(shown(&run(&tree, "write_file", elided)).contains("stands for something left out"));
    let reply = run(&tree, "write_file", json!({ "path": "a", "content": "one\ntwo\n" }));
    assert!(shown(&reply).contains("; kept the byte order mark and CRLF line endings"), "{}", shown(&reply));
    assert_eq!(tree.read("a"), "\u{feff}one\r\ntwo\r\n");
}

#[test]
fn writing_the_same_again_leaves_the_file_itself_alone() {
    let tree = Tree::new().file("a", "one\n");
    let modified = || fs::metadata(tree.path().join("a")).unwrap().modified().unwrap();
    let before = modified();
    run(&tree, "write_file", json!({ "path": "a", "content": "one\n" }));
    assert_eq!(modified(), before);
}

#[test]
fn a_refused_write_leaves_nothing_behind() {
    let tree = Tree::new().file("a", "one\n").directory("dir/inner");
    let before = tree.list();
    for input in [
        json!({ "path": "a", "content": "two\n", "create_only": true }),
        json!({ "path": "dir", "content": "two\n" }),
        json!({ "path": "dir", "content": "two\n", "create_only": true }),
        json!({ "path": "a/b/c", "content": "two\n" }),
    ] {
        assert!(!run(&tree, "write_file", input).status.is_ok());
    }
    assert_eq!((tree.list(), tree.read("a").as_str()), (before, "one\n"));
}

#[test]
fn a_file_that_may_not_be_written_is_refused() {
    let tree = Tree::new().file("a", "one\n");
    let path = tree.path().join("a");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().append(true).open(&path).is_ok() {
        // Whoever runs this may write everything.
        return;
    }
    let reply = run(&tree, "write_file", json!({ "path": "a", "content": "two\n" }));
    assert_eq!(
        shown(&reply),
        "error: failed\ncannot write `a`: permission denied; use another path, or ask the user to change its permissions\n"
    );
    assert_eq!(tree.read("a"), "one\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_holds_exactly_what_was_written(old in proptest::option::of("[a-zé\n]{0,30}"), new in any::<String>()) {
        let mut tree = Tree::new();
        if let Some(old) = &old {
            tree = tree.file("deep/a", old);
        }
        let reply = run(&tree, "write_file", json!({ "path": "deep/a", "content": new }));
        prop_assert!(reply.status.is_ok(), "{}", shown(&reply));
        prop_assert_eq!(tree.read_bytes("deep/a"), new.into_bytes());
        prop_assert_eq!(tree.list(), ["deep/", "deep/a"]);
    }

    #[test]
    fn a_write_that_is_refused_changes_nothing(old in any::<Vec<u8>>(), new in any::<String>()) {
        let tree = Tree::new().bytes("a", &old);
        let reply = run(&tree, "write_file", json!({ "path": "a", "content": new }));
        if !reply.status.is_ok() {
            prop_assert_eq!(tree.read_bytes("a"), old);
        }
    }
}
