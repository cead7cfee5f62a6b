//! Files whose lines end in carriage returns alone, as those of old Macs do.

use crate::fixture::{run, shown};
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use proptest::prelude::*;
use serde_json::{Value, json};

const TEXT: &[u8] = b"one\rtwo\rthree\rfour\r";

fn check(content: &[u8], tool: &str, input: Value, reply: &Expect, after: &[u8]) {
    let tree = Tree::new().bytes("a", content);
    reply.assert_eq(&shown(&run(&tree, tool, input)));
    assert_eq!(tree.read_bytes("a").escape_ascii().to_string(), after.escape_ascii().to_string());
}

fn read(content: &[u8], input: Value, reply: &Expect) {
    check(content, "read_file", input, reply, content);
}

#[test]
fn they_are_read_as_lines() {
    read(
        TEXT,
        json!({ "path": "a", "offset": 2, "limit": 2 }),
        &expect![[r"
        ok
        a: 4 lines, 19 bytes, CR line endings
        2	two
        3	three
        [lines 2–3 of 4; continue with offset 4]
    "]],
    );
    read(
        b"one\rtwo",
        json!({ "path": "a" }),
        &expect![[r"
        ok
        a: 2 lines, 7 bytes, CR line endings, no final newline
        1	one
        2	two
    "]],
    );
    read(
        TEXT,
        json!({ "path": "a", "offset": -1 }),
        &expect![[r"
        ok
        a: 4 lines, 19 bytes, CR line endings
        4	four
        [line 4 of 4, the end of the file]
    "]],
    );
    read(
        b"\xff\xfeo\0\r\0t\0\r\0",
        json!({ "path": "a" }),
        &expect![[r"
        ok
        a: 2 lines, 10 bytes, UTF-16LE, byte order mark, CR line endings
        1	o
        2	t
    "]],
    );
}

#[test]
fn a_return_beside_line_feeds_ends_no_line() {
    let reply = run(&Tree::new().bytes("a", b"one\rtwo\nthree\n"), "read_file", json!({ "path": "a" }));
    assert_eq!(reply.output.to_text(), "a: 2 lines, 14 bytes\n1\tone\rtwo\n2\tthree");
}

#[test]
fn any_part_of_a_large_file_is_read() {
    let lines = (1..=400_000).fold(String::new(), |text, line| text + &format!("line {line}\r"));
    let tree = Tree::new().file("a", &lines);
    let settled = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    std::fs::File::options().write(true).open(tree.path().join("a")).unwrap().set_modified(settled).unwrap();
    // What is known of it by the second call is used there.
    for offset in [1_i64, 250_000, 250_000, 400_000, -1, -150_001] {
        let tools = crate::fixture::registry(&tree);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        for _ in 0..2 {
            let input = json!({ "path": "a", "offset": offset, "limit": 1 });
            let reply = runtime.block_on(haft_testkit::call(&tools, "read_file", input)).output.to_text();
            let line = if offset < 0 { 400_001 + offset } else { offset };
            assert!(reply.contains("400,000 lines, 4.4 MiB, CR line endings"), "{reply}");
            assert!(reply.contains(&format!("\n{line}\tline {line}\n")), "{offset}: {reply}");
        }
    }
}

#[test]
fn where_they_are_mixed_a_line_that_stays_ends_as_before() {
    check(
        b"fn a() {\n    // b\n    let c = \"\r\n    d\r\n",
        "edit_file",
        json!({ "path": "a", "edits": [
            { "old": "fn a() { \n    // b  \n    let c = \"\n", "new": "fn a() {\n    // b\n" }
        ] }),
        &expect![[r#"
            ok
            edited `a`: 1 replacement, sha256:0d1f6b5b6d7c; found without regard to blanks at the ends of lines
            @@ -1,4 +1,3 @@
             fn a() {
                 // b
            -    let c = "␍
                 d␍
        "#]],
        b"fn a() {\n    // b\n    d\r\n",
    );
}

#[test]
fn they_are_edited_as_lines() {
    let edit = |old: &str, new: &str| json!({ "path": "a", "edits": [{ "old": old, "new": new }] });
    check(
        TEXT,
        "edit_file",
        edit("two", "2\n2b"),
        &expect![[r"
        ok
        edited `a`: 1 replacement, sha256:0417ca47fe2e
        @@ -1,4 +1,5 @@
         one
        -two
        +2
        +2b
         three
         four
    "]],
        b"one\r2\r2b\rthree\rfour\r",
    );
    check(
        TEXT,
        "edit_file",
        edit("two\nthree\n", "2\n"),
        &expect![[r"
        ok
        edited `a`: 1 replacement, sha256:7eb7b75f7f7d; found without regard to line endings
        @@ -1,4 +1,3 @@
         one
        -two
        -three
        +2
         four
    "]],
        b"one\r2\rfour\r",
    );
    check(
        TEXT,
        "edit_file",
        edit("two\rthree", "2\r3"),
        &expect![[r"
        ok
        edited `a`: 1 replacement, sha256:3306b849c3aa; found without regard to line endings
        @@ -1,4 +1,4 @@
         one
        -two
        -three
        +2
        +3
         four
    "]],
        b"one\r2\r3\rfour\r",
    );
    check(
        TEXT,
        "edit_file",
        edit("two", "2\r\n2b"),
        &expect![[r"
        ok
        edited `a`: 1 replacement, sha256:0417ca47fe2e
        @@ -1,4 +1,5 @@
         one
        -two
        +2␍
        +2b
         three
         four
    "]],
        b"one\r2\r2b\rthree\rfour\r",
    );
    check(
        b"a\ra\r",
        "edit_file",
        edit("a", "b"),
        &expect![[r"
        error: invalid input
        `a` was not changed: `old` occurs 2 times, in lines 1 and 2; add lines around it so that it is unique, name one of these lines as `near_line`, or set `all` to replace every one
    "]],
        b"a\ra\r",
    );
    check(
        b"caf\xe9\rdeux\r",
        "edit_file",
        edit("deux\n", "d\u{e9}\ntrois\n"),
        &expect![[r"
            ok
            edited `a`: 1 replacement, sha256:fa51f6461d32, written as windows-1252; found without regard to line endings
            @@ -1,2 +1,3 @@
             café
            -deux
            +dé
            +trois
        "]],
        b"caf\xe9\rd\xe9\rtrois\r",
    );
}

#[test]
fn they_are_patched_as_lines() {
    let patch = "--- a/a\n+++ b/a\n@@ -2,2 +2,3 @@\n two\n-three\n+3\n+3b\n";
    check(
        TEXT,
        "apply_patch",
        json!({ "patch": patch }),
        &expect![[r"
        ok
        applied to 1 file:
        changed `a`, 1 hunk, sha256:322909e5fdf6
    "]],
        b"one\rtwo\r3\r3b\rfour\r",
    );
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-four\n+4\n*** End Patch\n";
    check(
        TEXT,
        "apply_patch",
        json!({ "patch": patch }),
        &expect![[r"
        ok
        applied to 1 file:
        changed `a`, 1 hunk, sha256:1826613d8dc9
    "]],
        b"one\rtwo\rthree\r4\r",
    );
}

#[test]
fn they_are_kept_when_the_file_is_written_anew() {
    let write = |content: &str| json!({ "path": "a", "content": content });
    check(
        TEXT,
        "write_file",
        write("one\n2\nthree\n"),
        &expect![[r"
        ok
        replaced `a`: 3 lines, 12 bytes (before: 4 lines, 19 bytes); kept CR line endings
        @@ -1,4 +1,3 @@
         one
        -two
        +2
         three
        -four
    "]],
        b"one\r2\rthree\r",
    );
    check(
        TEXT,
        "write_file",
        write("one\r\n2\r\n"),
        &expect![[r"
        ok
        replaced `a`: 2 lines, 8 bytes (before: 4 lines, 19 bytes)
        @@ -1,4 +1,2 @@
        -one
        -two
        -three
        -four
        +one␍
        +2␍
    "]],
        b"one\r\n2\r\n",
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// What a call does to a file of carriage returns is what it does to one of line feeds.
    #[test]
    fn they_are_like_line_feeds(
        lines in prop::collection::vec("[a-c ]{0,3}", 1..12), ends in any::<bool>(), old in "[a-c\n ]{1,5}", new in "[a-c\n]{0,5}"
    ) {
        let mut text = lines.join("\n");
        if ends {
            text.push('\n');
        }
        prop_assume!(text.contains('\n'));
        let trees = [Tree::new().file("a", &text), Tree::new().file("a", &text.replace('\n', "\r"))];
        let input = json!({ "path": "a", "edits": [{ "old": old, "new": new }] });
        let replies = trees.each_ref().map(|tree| run(tree, "edit_file", input.clone()));
        prop_assert_eq!(&replies[0].status, &replies[1].status);
        prop_assert_eq!(trees[0].read("a").replace('\n', "\r"), trees[1].read("a"));
        let reads = trees.each_ref().map(|tree| run(tree, "read_file", json!({ "path": "a" })).output.to_text());
        if trees[1].read("a").contains('\r') {
            prop_assert_eq!(&reads[0], &reads[1].replace(", CR line endings", ""));
        }
    }
}
