use crate::fixture::{FILE, exactly, registry, run, run_without, shown};
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use haft_tools_core::{Limits, Resource};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

fn check(tree: &Tree, input: Value, reply: &Expect) {
    reply.assert_eq(&shown(&run(tree, "list_files", input)));
}

fn files(count: usize, name: impl Fn(usize) -> String) -> Tree {
    (0..count).fold(Tree::new(), |tree, index| tree.file(&name(index), ""))
}

#[test]
fn a_wide_directory_is_shown_up_to_the_limit() {
    let tree = files(30, |index| format!("src/file_{index:02}.rs"));
    check(
        &tree,
        json!({ "limit": 3 }),
        &expect![[r"
        ok
        ./
          src/  (30 entries, 2 shown)
            file_00.rs  0 bytes
            file_01.rs  0 bytes
        [3 of 31 entries shown; list a directory by itself to see more]
    "]],
    );
    check(
        &tree,
        json!({ "path": "src", "limit": 2 }),
        &expect![[r"
        ok
        src/
          file_00.rs  0 bytes
          file_01.rs  0 bytes
        [2 of 30 entries shown; list a directory by itself to see more]
    "]],
    );
}

#[test]
fn one_crowded_directory_does_not_hide_the_others() {
    let tree = files(600, |index| format!("a/{index:03}")).file("b/one", "").file("z", "");
    let text = run(&tree, "list_files", json!({})).output.to_text();
    assert!(text.starts_with("./\n  a/  (600 entries, 497 shown)\n    000  0 bytes\n"), "{text}");
    assert!(text.ends_with("\n  b/  (1 entry)\n  z  0 bytes\n[500 of 604 entries shown; list a directory by itself to see more]"), "{text}");
}

#[test]
fn a_listing_of_short_names_stays_below_the_bound_on_lines() {
    let tree = files(2_500, |index| format!("{index}"));
    let reply = run(&tree, "list_files", json!({ "limit": 5000 }));
    assert_eq!(reply.truncation, None);
    let text = reply.output.to_text();
    assert!((1_000..2_000).contains(&text.lines().count()), "{}", text.lines().count());
    assert!(text.ends_with("of 2,500 entries shown; list a directory by itself to see more]"), "{text}");
}

#[test]
fn a_listing_stays_below_the_bound_of_the_executor() {
    let tree = files(400, |index| format!("{}{index:03}", "long".repeat(50)));
    let reply = run(&tree, "list_files", json!({ "limit": 5000 }));
    assert_eq!(reply.truncation, None);
    let text = reply.output.to_text();
    assert!(text.len() > 20 * 1024 && text.len() < Limits::default().output_bytes, "{}", text.len());
    let shown = text.matches("0 bytes").count();
    assert!(
        text.ends_with(&format!("\n[{shown} of 400 entries shown; list a directory by itself to see more]")),
        "{text}"
    );
}

#[test]
fn a_directory_with_very_many_entries_is_counted_so_far() {
    let tree = files(1001, |index| format!("many/{index}"));
    check(
        &tree,
        json!({ "depth": 1 }),
        &expect![[r"
        ok
        ./
          many/  (1,000+ entries)
    "]],
    );
}

#[test]
fn a_name_that_is_not_utf8_is_counted() {
    let tree = Tree::new().file("a", "");
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    if fs::write(tree.path().join(name), "").is_err() {
        // Not every file system takes such a name.
        return;
    }
    check(
        &tree,
        json!({}),
        &expect![[r"
        ok
        ./
          a  0 bytes
        [left out: 1 name that is not UTF-8]
    "]],
    );
}

#[test]
fn a_directory_that_cannot_be_listed_says_so() {
    let tree = Tree::new().file("private/a", "").file("z", "");
    let private = tree.path().join("private");
    fs::set_permissions(&private, fs::Permissions::from_mode(0o000)).unwrap();
    let is_barred = fs::read_dir(&private).is_err();
    let replies = [json!({}), json!({ "depth": 1 })].map(|input| shown(&run(&tree, "list_files", input)));
    fs::set_permissions(&private, fs::Permissions::from_mode(0o755)).unwrap();
    // Whoever runs this may be allowed to read everything.
    if is_barred {
        let expected = "ok\n./\n  private/  (cannot be listed)\n  z  0 bytes\n";
        assert_eq!(replies, [expected, expected]);
    }
}

#[test]
fn other_kinds_of_entries_are_named() {
    check(
        &Tree::new().pipe("pipe"),
        json!({}),
        &expect![[r"
        ok
        ./
          pipe  (named pipe)
    "]],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_shown_and_what_is_not_add_up(
        paths in prop::collection::btree_set("[a-c]{1,2}(/[a-c]{1,2}){0,3}", 1..25),
        depth in 1_u64..6,
        limit in 1_u64..30,
    ) {
        // A path that another lies below is a directory.
        let is_above = |path: &String| paths.iter().any(|other| other.starts_with(&format!("{path}/")));
        let tree = paths.iter().filter(|path| !is_above(path)).fold(Tree::new(), |tree, path| tree.file(path, ""));
        let all: Vec<String> = tree.list();
        let level = |path: &str| path.trim_end_matches('/').matches('/').count() as u64 + 1;
        let within: Vec<&String> = all.iter().filter(|path| level(path) <= depth).collect();

        let reply = run(&tree, "list_files", json!({ "depth": depth, "limit": limit }));
        let text = reply.output.to_text();
        let lines: Vec<&str> = text.lines().skip(1).filter(|line| !line.starts_with('[')).collect();
        let expected = within.len().min(usize::try_from(limit).unwrap());
        prop_assert_eq!(lines.len(), expected, "{}", text);
        prop_assert_eq!(&reply.output.details["shown"], expected);
        let note = format!("[{expected} of {} entries shown;", within.len());
        prop_assert_eq!(text.contains(&note), expected < within.len(), "{}", text);

        // Putting the lines back together gives paths that exist, in order.
        let mut stack: Vec<&str> = Vec::new();
        let mut found = Vec::new();
        for line in lines {
            let name = line.trim_start();
            stack.truncate((line.len() - name.len()) / 2 - 1);
            stack.push(name.split("  ").next().unwrap_or_default());
            found.push(stack.concat());
        }
        let known: Vec<String> = all.iter().filter(|path| found.contains(path)).cloned().collect();
        prop_assert_eq!(found, known, "{}", text);
    }
}

#[test]
fn what_is_denied_is_not_named() {
    let tree = Tree::new()
        .file("keys/old/token.pem", "")
        .file("src/a.rs", "")
        .file("src/b.rs", "")
        .link("src/link", "../keys/old/token.pem")
        .link("src/other", "a.rs");
    let keys = Resource::subtree(FILE, "keys");
    let list = |input: Value, denied: [Resource; 2]| {
        shown(&run_without(&registry(&tree), denied, "list_files", input))
    };
    expect![[r"
        ok
        ./
          src/
            a.rs  0 bytes
            other -> src/a.rs
        [left out: 3 entries that the policy denies]
    "]]
    .assert_eq(&list(json!({ "depth": 5 }), [keys.clone(), exactly("src/b.rs")]));
    expect![[r"
        ok
        ./  (no entries to show)
        [left out: 2 entries that the policy denies]
    "]]
    .assert_eq(&list(json!({ "depth": 5 }), [exactly("keys"), exactly("src")]));
    expect![[r"
        denied
        `list_files` is not permitted to do this (read file:keys/old/**: deny by the rule read(file:keys/**)); do not try it again, find another way or say what you would need
    "]].assert_eq(&list(json!({ "path": "keys/old" }), [keys, exactly("src/b.rs")]));
}

#[test]
fn an_ignore_file_that_is_denied_is_passed_by_and_does_not_count() {
    let tree = Tree::new()
        .file(".git/info/exclude", "*.exclude\n")
        .file(".gitignore", "*.git\n")
        .file("src/.ignore", "*.inner\n")
        .file("src/deep/a.git", "")
        .file("src/deep/b.exclude", "")
        .file("src/deep/c.inner", "")
        .file("src/deep/d.txt", "");
    let listed = |denied: Resource, path: &str| {
        let reply =
            run_without(&registry(&tree), [denied], "list_files", json!({ "path": path, "depth": 4 }));
        assert!(reply.status.is_ok(), "{}", shown(&reply));
        let text = reply.output.to_text();
        let shown: Vec<_> = text.lines().filter_map(|line| line.trim().strip_suffix("  0 bytes")).collect();
        shown.join(" ")
    };
    for path in ["src/deep", "src", "."] {
        assert_eq!(listed(exactly("src/.gitignore"), path), "d.txt", "{path}");
        assert_eq!(listed(exactly(".gitignore"), path), "a.git d.txt", "{path}");
        for git in [Resource::subtree(FILE, ".git"), exactly(".git"), exactly(".git/info/exclude")] {
            assert_eq!(listed(git.clone(), path), "b.exclude d.txt", "{git} {path}");
        }
        assert_eq!(listed(exactly("src/.ignore"), path), "c.inner d.txt", "{path}");
    }
    // What is only counted is counted by the same rules.
    let counted = |denied: Resource| {
        let reply =
            run_without(&registry(&tree), [denied], "list_files", json!({ "path": "src", "depth": 1 }));
        reply.output.to_text().lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(counted(exactly("absent")), "  deep/  (1 entry)");
    assert_eq!(counted(exactly(".gitignore")), "  deep/  (2 entries)");
}
