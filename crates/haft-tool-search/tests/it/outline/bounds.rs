//! Limits, pages, and what is said of them.

use super::{call, registry_with, text};
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use haft_tool_search::SearchOptions;
use serde_json::{Value, json};
use std::time::Duration;

/// The most that a reply may have, in bytes.
const MOST: usize = 28 << 10;

fn check(tree: &Tree, input: Value, expected: &Expect) {
    expected.assert_eq(&text(tree, input));
}

/// Compares what is said after the results, and their number.
fn check_end(tree: &Tree, input: Value, expected: &Expect) {
    let reply = call(tree, input);
    let text = reply.output.to_text();
    assert!(text.len() <= MOST, "{} bytes", text.len());
    assert_eq!(reply.truncation, None, "the executor has nothing to cut");
    let (results, end) = text.rsplit_once("\n\n").unwrap();
    expected.assert_eq(&format!("{} lines\n{end}\n", results.lines().count()));
}

fn functions(from: usize, to: usize) -> String {
    (from..to)
        .map(|index| format!("pub fn f{index}() {{\n    f{}();\n}}\n", index + 1))
        .collect::<Vec<_>>()
        .concat()
}

#[test]
fn pages_of_a_file_follow_each_other() {
    let tree = Tree::new().file("a.rs", &format!("impl A {{\n{}}}\n{}", functions(0, 3), functions(3, 5)));
    check(
        &tree,
        json!({ "path": "a.rs", "limit": 2 }),
        &expect![[r#"
        1-11 impl: impl A
          2-4 method: pub fn f0()

        1 to 2 of 6 symbols, in 17 lines of Rust; stopped at `limit`: for the next set `offset` to 2, raise `limit`, or set `depth` to 1"#]],
    );
    check(
        &tree,
        json!({ "path": "a.rs", "limit": 2, "offset": 2 }),
        &expect![[r#"
          5-7 method: pub fn f1()
          8-10 method: pub fn f2()

        3 to 4 of 6 symbols, in 17 lines of Rust; stopped at `limit`: for the next set `offset` to 4, raise `limit`, or set `depth` to 1"#]],
    );
    check(
        &tree,
        json!({ "path": "a.rs", "limit": 2, "offset": 4 }),
        &expect![[r#"
        12-14 function: pub fn f3()
        15-17 function: pub fn f4()

        5 to 6 of 6 symbols, in 17 lines of Rust"#]],
    );
    check(
        &tree,
        json!({ "path": "a.rs", "offset": 5 }),
        &expect![[r#"
        15-17 function: pub fn f4()

        number 6 of 6 symbols, in 17 lines of Rust"#]],
    );
    check(
        &tree,
        json!({ "path": "a.rs", "offset": 6 }),
        &expect!["nothing behind the first 6: there are 6 symbols in all"],
    );
    check(
        &tree,
        json!({ "path": "a.rs", "depth": 1 }),
        &expect![[r#"
        1-11 impl: impl A (3 members)
        12-14 function: pub fn f3()
        15-17 function: pub fn f4()

        3 symbols in 17 lines of Rust"#]],
    );
}

#[test]
fn pages_of_a_directory_follow_each_other() {
    let tree = Tree::new()
        .file("a.rs", &functions(0, 3))
        .file("b/c.rs", &functions(3, 6))
        .file("b/d.rs", "// nothing\n")
        .file("e.rs", &functions(6, 8));
    check(
        &tree,
        json!({}),
        &expect![[r#"
        a.rs: 9 lines
          1-3 function: pub fn f0()
          4-6 function: pub fn f1()
          7-9 function: pub fn f2()
        b/c.rs: 9 lines
          1-3 function: pub fn f3()
          4-6 function: pub fn f4()
          7-9 function: pub fn f5()
        e.rs: 6 lines
          1-3 function: pub fn f6()
          4-6 function: pub fn f7()

        8 symbols in 3 files; 1 file without symbols"#]],
    );
    check(
        &tree,
        json!({ "limit": 4 }),
        &expect![[r#"
        a.rs: 9 lines
          1-3 function: pub fn f0()
          4-6 function: pub fn f1()
          7-9 function: pub fn f2()
        b/c.rs: 9 lines
          1-3 function: pub fn f3()

        1 to 4 of 8 symbols, in 2 files; 1 file without symbols; stopped at `limit`: for the next set `offset` to 4, raise `limit`, or narrow `path`, `type` or `glob`"#]],
    );
    check(
        &tree,
        json!({ "limit": 4, "offset": 4 }),
        &expect![[r#"
        b/c.rs: 9 lines
          4-6 function: pub fn f4()
          7-9 function: pub fn f5()
        e.rs: 6 lines
          1-3 function: pub fn f6()
          4-6 function: pub fn f7()

        5 to 8 of 8 symbols, in 2 files; 1 file without symbols"#]],
    );
    check(
        &tree,
        json!({ "offset": 8 }),
        &expect!["nothing behind the first 8: there are 8 symbols in all; 1 file without symbols"],
    );
    check(
        &tree,
        json!({ "offset": 9 }),
        &expect!["nothing behind the first 9: there are 8 symbols in all; 1 file without symbols"],
    );
}

#[test]
fn pages_of_places_follow_each_other_with_the_definitions_first() {
    let tree = Tree::new().file("a.rs", &functions(0, 4)).file("b.rs", &functions(0, 2));
    check(
        &tree,
        json!({ "name": "f1", "role": "both" }),
        &expect![[r#"
        a.rs:4-6 function: pub fn f1()
        b.rs:4-6 function: pub fn f1()
        a.rs:2 call: f1();
        b.rs:2 call: f1();

        2 definitions and 2 uses in 2 files"#]],
    );
    check(
        &tree,
        json!({ "name": "f1", "role": "both", "limit": 1 }),
        &expect![[r#"
        a.rs:4-6 function: pub fn f1()

        number 1 of 2 definitions and 2 uses, in 1 file; stopped at `limit`: for the next set `offset` to 1, raise `limit`, or narrow `path`, `type` or `glob`"#]],
    );
    check(
        &tree,
        json!({ "name": "f1", "role": "both", "limit": 2, "offset": 1 }),
        &expect![[r#"
        b.rs:4-6 function: pub fn f1()
        a.rs:2 call: f1();

        2 to 3 of 2 definitions and 2 uses, in 2 files; stopped at `limit`: for the next set `offset` to 3, raise `limit`, or narrow `path`, `type` or `glob`"#]],
    );
    check(
        &tree,
        json!({ "name": "f*", "role": "references", "limit": 1, "offset": 5 }),
        &expect![[r#"
        b.rs:5 call: f2();

        number 6 of 6 uses, in 1 file"#]],
    );
    check(
        &tree,
        json!({ "name": "f1", "offset": 2 }),
        &expect!["nothing behind the first 2: there are 2 places in all"],
    );
}

#[test]
fn a_file_of_many_shows_its_first_symbols() {
    let tree = Tree::new().file("a.rs", &functions(0, 100)).file("b.rs", &functions(0, 1));
    check_end(
        &tree,
        json!({}),
        &expect![[r#"
        44 lines
        41 symbols in 2 files
    "#]],
    );
    let found = text(&tree, json!({}));
    assert!(found.contains("  … 60 more: outline this file\nb.rs: 3 lines\n"), "{found}");
}

#[test]
fn results_stop_before_the_output_is_too_long() {
    let source: String = (0..1500)
        .map(|index| format!("pub fn function_{index}({}) {{}}\n", "a: u8, ".repeat(20)))
        .collect::<Vec<_>>()
        .concat();
    let tree = Tree::new().file("a/a.rs", &source).file("a/b.rs", &functions(0, 2));
    check_end(
        &tree,
        json!({ "path": "a/a.rs", "limit": 1000 }),
        &expect![[r#"
        152 lines
        1 to 152 of 1500 symbols, in 1500 lines of Rust; stopped because the output is full: for the next set `offset` to 152, or set `depth` to 1
    "#]],
    );
    check_end(
        &tree,
        json!({ "name": "function_*", "limit": 1000 }),
        &expect![[r#"
        146 lines
        1 to 146 of 1500 definitions, in 1 file; stopped because the output is full: for the next set `offset` to 146, or narrow `path`, `type` or `glob`
    "#]],
    );
    let tree = (0..5).fold(Tree::new(), |tree, index| tree.file(&format!("{index:03}.rs"), &source));
    check_end(
        &tree,
        json!({ "limit": 1000 }),
        &expect![[r#"
        157 lines
        1 to 150 of 200 symbols, in 4 files; stopped because the output is full: for the next set `offset` to 150, or narrow `path`, `type` or `glob`
    "#]],
    );
}

#[test]
fn without_time_nothing_is_outlined_and_that_is_said() {
    let tree = Tree::new().file("a.rs", "fn a() {}\n").file("b/c.rs", "fn a() {}\n");
    let registry = registry_with(&tree, SearchOptions::default().timeout(Duration::ZERO));
    let check = |input: Value, expected: &Expect| {
        let reply = crate::call_of(&registry, "outline", input);
        assert!(reply.status.is_ok());
        expected.assert_eq(&reply.output.to_text());
    };
    check(
        json!({}),
        &expect![
            "stopped because time was over, before 1 file and 1 directory with all that is in them; narrow `path`, `type` or `glob`"
        ],
    );
    check(
        json!({ "path": "a.rs" }),
        &expect!["stopped because time was over, before 1 file; search its text with `grep`"],
    );
    check(
        json!({ "name": "a" }),
        &expect![[r#"
        no definition of `a` in 0 files
        stopped because time was over, before 1 file and 1 directory with all that is in them; narrow `path`, `type` or `glob`"#]],
    );
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let tree = (0..60).fold(Tree::new(), |tree, index| {
        tree.file(&format!("{}/{index:02}.rs", index % 7), &functions(index, index + index % 5))
    });
    for input in [
        json!({}),
        json!({ "limit": 17, "offset": 20 }),
        json!({ "name": "f1*", "role": "both", "limit": 9, "offset": 3 }),
        json!({ "name": "f*", "role": "references" }),
    ] {
        let with = |threads| {
            let registry = registry_with(&tree, SearchOptions::default().threads(threads));
            let output = crate::call_of(&registry, "outline", input.clone()).output;
            (output.to_text(), output.details)
        };
        let one = with(1);
        assert_eq!(with(3), one, "{input}");
        assert_eq!(with(8), one, "{input}");
    }
}

#[test]
fn more_symbols_than_anybody_reads_are_counted_to_a_bound() {
    let source: String =
        (0..60_000).map(|index| format!("const C{index}: u8 = 0;\n")).collect::<Vec<_>>().concat();
    let tree = Tree::new().file("a.rs", &source);
    check(
        &tree,
        json!({ "path": "a.rs", "limit": 1 }),
        &expect![[r#"
        1 constant: const C0: u8 = 0

        number 1 of at least 50000 symbols, in 60000 lines of Rust; stopped at `limit`: for the next set `offset` to 1, raise `limit`, or set `depth` to 1"#]],
    );
}
