//! Arguments that make no sense, or mean harm.

use crate::call;
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use serde_json::{Value, json};

/// Compares how calls of a tool end, and the first lines of what the model gets.
fn check(tool: &str, inputs: impl IntoIterator<Item = Value>, expected: &Expect) {
    let tree = Tree::new().file("a.txt", "x\n").file("src/b.txt", "x\n");
    let told = inputs.into_iter().map(|input| {
        let reply = call(&tree, tool, input.clone());
        assert!(!reply.status.is_ok(), "{tool} takes {input}");
        let text = reply.output.to_text();
        assert!(text.len() < 1_000, "{} bytes about {tool}", text.len());
        format!("{}: {text}\n", reply.status)
    });
    expected.assert_eq(&told.collect::<String>());
}

#[test]
fn grep_refuses_what_it_cannot_search_for() {
    check(
        "grep",
        [
            json!({}),
            json!({ "pattern": ["x"] }),
            json!({ "pattern": "" }),
            json!({ "pattern": "(" }),
            json!({ "pattern": "(?=x)" }),
            json!({ "pattern": "x".repeat(2_001) }),
            json!({ "pattern": "((((a{200}){200}){200}){200})" }),
            json!({ "pattern": "\\p{Nothing}" }),
            json!({ "pattern": "x", "glob": "[" }),
            json!({ "pattern": "x", "glob": "*".repeat(1_001) }),
            json!({ "pattern": "x", "type": "nothing" }),
            json!({ "pattern": "x", "limit": 0 }),
            json!({ "pattern": "x", "limit": 1_001 }),
            json!({ "pattern": "x", "limit": -1 }),
            json!({ "pattern": "x", "offset": 1_000_000_000_000_000_000_u64 }),
            json!({ "pattern": "x", "context": 21 }),
            json!({ "pattern": "x", "mode": "all" }),
            json!({ "pattern": "x", "sort": "size" }),
            json!({ "pattern": "x", "paths": vec!["."; 17] }),
        ],
        &expect![[r#"
            error: invalid input: the arguments do not fit `grep`:
            - at the top: the property `pattern` is missing
            correct them and call the tool again
            error: invalid input: the arguments do not fit `grep`:
            - at `/pattern`: ["x"] is not a string
            correct them and call the tool again
            error: invalid input: the pattern is empty and would match every line; write what to look for, or use `glob` to list files
            error: invalid input: the pattern is not a regular expression, at character 1, `(`: unclosed group; escape it, as in `\(`, or set `literal` to true to look for this very text
            error: invalid input: the pattern is not a regular expression, at character 1, `(?=x)`: look-around, including look-ahead and look-behind, is not supported; match what is around as well, or search for the core of the pattern and look at the lines around it with `context`
            error: invalid input: the arguments do not fit `grep`:
            - at `/pattern`: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" is longer than 2000 characters
            correct them and call the tool again
            error: invalid input: the pattern `((((a{200}){200}){200}){200})` is too large when compiled; make the counts of its repetitions smaller, or use ASCII classes such as `[0-9A-Za-z_]` in place of `\w`
            error: invalid input: the pattern is not a regular expression, at character 1, `\p{Nothing}`: Unicode property not found; correct it, or set `literal` to true to look for this very text
            error: invalid input: `glob` `[` is not a pattern: `[` without a `]` at character 1; close it, or write `\[` for the character itself
            error: invalid input: the arguments do not fit `grep`:
            - at `/glob`: "********************************************************************************…" is longer than 1000 characters
            correct them and call the tool again
            error: invalid input: `type` `nothing` is not known; leave it out and set `glob`, such as `*.rs`
            error: invalid input: the arguments do not fit `grep`:
            - at `/limit`: 0 is less than the minimum of 1
            correct them and call the tool again
            error: invalid input: the arguments do not fit `grep`:
            - at `/limit`: 1001 is greater than the maximum of 1000
            correct them and call the tool again
            error: invalid input: the arguments do not fit `grep`:
            - at `/limit`: -1 is less than the minimum of 1
            correct them and call the tool again
            error: invalid input: the arguments do not fit `grep`:
            - at `/offset`: 1000000000000000000 is greater than the maximum of 100000
            correct them and call the tool again
            error: invalid input: the arguments do not fit `grep`:
            - at `/context`: 21 is greater than the maximum of 20
            correct them and call the tool again
            error: invalid input: the arguments do not fit `grep`:
            - at `/mode`: "all" is not "content", "files" or "count"
            correct them and call the tool again
            error: invalid input: the arguments do not fit `grep`:
            - at `/sort`: "size" is not "path" or "modified"
            correct them and call the tool again
            error: invalid input: the arguments do not fit `grep`:
            - at `/paths`: [".",".",".",".",".",".",".",".",".",".",".",".",".",".",".",".","."] has more than 16 items
            correct them and call the tool again
        "#]],
    );
}

#[test]
fn glob_and_find_files_refuse_what_they_cannot_find() {
    check(
        "glob",
        [
            json!({}),
            json!({ "pattern": 1.5 }),
            json!({ "pattern": "" }),
            json!({ "pattern": "[" }),
            json!({ "pattern": "{a,b" }),
            json!({ "pattern": "a\\" }),
            json!({ "pattern": "../*" }),
            json!({ "pattern": "*".repeat(1_001) }),
            json!({ "pattern": "*", "limit": 0 }),
        ],
        &expect![[r#"
            error: invalid input: the arguments do not fit `glob`:
            - at the top: the property `pattern` is missing
            correct them and call the tool again
            error: invalid input: the arguments do not fit `glob`:
            - at `/pattern`: 1.5 is not a string
            correct them and call the tool again
            error: invalid input: `pattern` is empty; write a pattern such as `*.rs` or `src/**/*.rs`
            error: invalid input: `pattern` `[` is not a pattern: `[` without a `]` at character 1; close it, or write `\[` for the character itself
            error: invalid input: `pattern` `{a,b` is not a pattern: `{` without a `}` at character 1; close it, or write `\{` for the character itself
            error: invalid input: `pattern` `a\` is not a pattern: `\` with nothing behind it at character 2; leave it out, or write `\\` for the character itself
            error: invalid input: `pattern` `../*` has a `..`; leave it out and set `path` to the directory to start in
            error: invalid input: the arguments do not fit `glob`:
            - at `/pattern`: "********************************************************************************…" is longer than 1000 characters
            correct them and call the tool again
            error: invalid input: the arguments do not fit `glob`:
            - at `/limit`: 0 is less than the minimum of 1
            correct them and call the tool again
        "#]],
    );
    check(
        "find_files",
        [
            json!({}),
            json!({ "query": "" }),
            json!({ "query": { "a": 1 } }),
            json!({ "query": "x".repeat(201) }),
            json!({ "query": "x", "limit": 0 }),
        ],
        &expect![[r#"
            error: invalid input: the arguments do not fit `find_files`:
            - at the top: the property `query` is missing
            correct them and call the tool again
            error: invalid input: `query` is empty; write a part of a name, or use `glob` with `*` to list all files
            error: invalid input: the arguments do not fit `find_files`:
            - at `/query`: {"a":1} is not a string
            correct them and call the tool again
            error: invalid input: the arguments do not fit `find_files`:
            - at `/query`: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" is longer than 200 characters
            correct them and call the tool again
            error: invalid input: the arguments do not fit `find_files`:
            - at `/limit`: 0 is less than the minimum of 1
            correct them and call the tool again
        "#]],
    );
}

#[test]
fn no_tool_searches_what_is_no_place_inside() {
    for (tool, wanted) in [("grep", "pattern"), ("glob", "pattern"), ("find_files", "query")] {
        let at = |path: &str| json!({ wanted: "x", "path": path });
        let paths = ["..", "/etc", "src/../../x", "a\0b", "absent", "a.txt/b", "~root"];
        let tree = Tree::new().file("a.txt", "x\n");
        for path in paths {
            let reply = call(&tree, tool, at(path));
            let text = reply.output.to_text();
            assert!(
                !reply.status.is_ok() && text.len() < 300 && !text.contains("root:"),
                "{tool} {path:?}: {text}"
            );
        }
        let long = "x/".repeat(100_000);
        let reply = call(&tree, tool, at(&long));
        assert!(!reply.status.is_ok() && reply.output.to_text().len() < 10_000, "{tool}: {}", reply.status);
    }
}

#[test]
fn many_alternatives_and_stars_are_matched_in_little_time() {
    let tree = Tree::new().file(&"ab".repeat(100), "x\n").file("c.txt", "x\n");
    for pattern in
        ["{a,b}".repeat(150), "*a".repeat(300), "**/".repeat(300) + "c", "[a-z]".repeat(180), "?".repeat(900)]
    {
        let text = call(&tree, "glob", json!({ "pattern": pattern })).output.to_text();
        assert!(text.starts_with("no file for"), "{}", &text[..text.len().min(200)]);
    }
}
