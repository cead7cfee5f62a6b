use crate::{call, text};
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use serde_json::{Value, json};

/// The most that a reply may have, in bytes.
const MOST: usize = 28 << 10;

/// Compares what is said after the results, and their number.
fn check_end(tree: &Tree, tool: &str, input: Value, expected: &Expect) {
    let reply = call(tree, tool, input);
    let text = reply.output.to_text();
    assert!(text.len() <= MOST, "{} bytes", text.len());
    assert_eq!(reply.truncation, None, "the executor has nothing to cut");
    let (results, end) = text.rsplit_once("\n\n").unwrap();
    expected.assert_eq(&format!("{} lines\n{end}\n", results.lines().count()));
}

fn many_files(number: usize, line: &str) -> Tree {
    (0..number).fold(Tree::new(), |tree, index| tree.file(&format!("{index:04}.txt"), line))
}

#[test]
fn matches_stop_before_the_output_is_too_long() {
    let tree = Tree::new().file("a.txt", &format!("{}\n", "x".repeat(250)).repeat(500));
    check_end(
        &tree,
        "grep",
        json!({ "pattern": "x", "limit": 1000 }),
        &expect![[r#"
            102 lines
            102 of 500 matches, in 1 file; stopped because the output is full: for the next set `offset` to 102, narrow `pattern`, `path` or `glob`, or set `mode` to `files` or `count`
        "#]],
    );
    check_end(
        &tree,
        "grep",
        json!({ "pattern": "x", "limit": 1000, "context": 20 }),
        &expect![[r#"
            102 lines
            102 of 500 matches, in 1 file; stopped because the output is full: for the next set `offset` to 102, narrow `pattern`, `path` or `glob`, ask for less context, or set `mode` to `files`
        "#]],
    );
    check_end(
        &tree,
        "grep",
        json!({ "pattern": "x+\nx", "multiline": true }),
        &expect![[r#"
        41 lines
        1 match in 1 file
        long lines and matches are cut, shown by `…`
    "#]],
    );
}

#[test]
fn many_matches_with_breaks_between_them_stop_before_the_output_is_too_long() {
    let tree = Tree::new().file("a", &"x\n\n\n".repeat(5000));
    check_end(
        &tree,
        "grep",
        json!({ "pattern": "x", "limit": 1000, "after": 1 }),
        &expect![[r#"
            1901 lines
            634 of at least 2000 matches, in 1 file; stopped because the output is full: for the next set `offset` to 634, narrow `pattern`, `path` or `glob`, ask for less context, or set `mode` to `files`
        "#]],
    );
}

#[test]
fn context_gives_way_to_matches() {
    let long = "y".repeat(300);
    let text = format!("{}x\n", format!("{long}\n").repeat(20)).repeat(6);
    let tree = Tree::new().file("a.txt", &text);
    check_end(
        &tree,
        "grep",
        json!({ "pattern": "x", "before": 20 }),
        &expect![[r#"
            86 lines
            5 of 6 matches, in 1 file; stopped because the output is full: for the next set `offset` to 5, narrow `pattern`, `path` or `glob`, ask for less context, or set `mode` to `files`
        "#]],
    );
    check_end(
        &tree,
        "grep",
        json!({ "pattern": "x", "after": 20 }),
        &expect![[r#"
            90 lines
            5 of 6 matches, in 1 file; stopped because the output is full: for the next set `offset` to 5, narrow `pattern`, `path` or `glob`, ask for less context, or set `mode` to `files`
        "#]],
    );
}

#[test]
fn paths_stop_before_the_output_is_too_long() {
    let directory = "d".repeat(200);
    let tree = (0..300).fold(Tree::new(), |tree, index| tree.file(&format!("{directory}/{index}"), "x\n"));
    check_end(
        &tree,
        "grep",
        json!({ "pattern": "x", "mode": "files", "limit": 1000 }),
        &expect![[r#"
            129 lines
            129 of 300 files with matches; stopped because the output is full: for the next set `offset` to 129, narrow `pattern`, `path` or `glob`
        "#]],
    );
    check_end(
        &tree,
        "grep",
        json!({ "pattern": "x", "mode": "count", "limit": 1000 }),
        &expect![[r#"
            128 lines
            128 of 300 files with matches; stopped because the output is full: for the next set `offset` to 128, narrow `pattern`, `path` or `glob`
        "#]],
    );
    check_end(
        &tree,
        "glob",
        json!({ "pattern": "*", "limit": 1000 }),
        &expect![[r#"
        129 lines
        the first 129 of 300 files: to see the others, narrow `pattern` or `path`
    "#]],
    );
}

#[test]
fn the_highest_limit_is_not_to_be_raised() {
    let tree = many_files(1001, "x\n");
    check_end(
        &tree,
        "grep",
        json!({ "pattern": "x", "limit": 1000 }),
        &expect![[r#"
            1000 lines
            1000 of 1001 matches, in 1000 files; stopped at `limit`: for the next set `offset` to 1000, or narrow `pattern`, `path` or `glob`
        "#]],
    );
    check_end(
        &tree,
        "glob",
        json!({ "pattern": "*", "limit": 1000 }),
        &expect![[r#"
        1000 lines
        the first 1000 of 1001 files: to see the others, narrow `pattern` or `path`
    "#]],
    );
}

#[test]
fn a_long_line_is_searched_and_cut() {
    let line = format!("{}needle{}", "a".repeat(500_000), "b".repeat(500_000));
    let tree = Tree::new().file("min.js", &line);
    let text = text(&tree, "grep", json!({ "pattern": "needle" }));
    let shown = format!("min.js:1: …{}needle{}…\n", "a".repeat(147), "b".repeat(147));
    assert_eq!(text, format!("{shown}\n1 match in 1 file\nlong lines and matches are cut, shown by `…`"));
}

#[test]
fn a_line_that_is_too_long_ends_the_search_of_its_file() {
    let tree = Tree::new().file("a", &format!("x\n{}\nx\n", "y".repeat(5 << 20))).file("b", "x\n");
    check_end(
        &tree,
        "grep",
        json!({ "pattern": "x" }),
        &expect![[r#"
            2 lines
            2 matches in 2 files
            not searched: 1 file from a line over 4 MiB on
        "#]],
    );
    check_end(
        &tree,
        "grep",
        json!({ "pattern": "x\n", "multiline": true }),
        &expect![[r#"
            1 lines
            1 match in 1 file
            not searched: 1 file over 4 MiB, too large for `multiline`
        "#]],
    );
}

#[test]
fn a_match_of_many_lines_is_cut() {
    let tree = Tree::new().file("a", &format!("start\n{}end\n", "line\n".repeat(100)));
    check_end(
        &tree,
        "grep",
        json!({ "pattern": "start.*end", "multiline": true }),
        &expect![[r#"
        41 lines
        1 match in 1 file
        long lines and matches are cut, shown by `…`
    "#]],
    );
}

#[test]
fn a_pattern_that_is_large_when_compiled_gets_smaller_pieces() {
    let tree = Tree::new().file("a", &"x".repeat(300 << 10)).file("b", "0123456789\n");
    check_end(
        &tree,
        "grep",
        json!({ "pattern": "\\w{10}" }),
        &expect![[r#"
        1 lines
        1 match in 1 file
        not searched: 1 file from a line over 256 KiB on
    "#]],
    );
}

#[test]
fn a_match_behind_bytes_that_are_not_text_is_shown() {
    let tree = Tree::new().bytes("a", &[&[0xff; 200][..], b"needle"].concat());
    let text = text(&tree, "grep", json!({ "pattern": "needle" }));
    assert!(text.lines().next().unwrap().ends_with("needle"), "{text}");
}
