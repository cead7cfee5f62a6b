//! What models and hosts see of the tool.

use super::{call, registry};
use expect_test::{Expect, expect};
use haft_testkit::{Tree, laid_out};
use haft_tool_search::Outline;
use haft_tools_core::{CallScope, Tool as _};
use serde_json::{Value, json};

#[test]
fn the_specification_of_outline() {
    let registry = registry(&Tree::new());
    expect![[r#"
        {
          "description": "Outlines code: what a file defines, so that a large file is read by its shape and then only where it matters. Each symbol is a line `lines kind: signature`, indented below what it belongs to. For a directory it gives what each file defines, and with `name` where something of that name is defined or used. Fields and variants are only counted. Files that .gitignore leaves out and hidden files are passed over. Local variables are not given. It reads C, C++, Go, Java, JavaScript, Python, Rust and TypeScript.",
          "explicit": false,
          "exposure": "direct",
          "hints": {"destructive": false, "idempotent": true, "open_world": false, "read_only": true, "streaming": false},
          "input_schema": {
            "additionalProperties": false,
            "properties": {
              "depth": {
                "description": "How many levels of symbols in symbols to outline. By default 10 of a file and 1 of the files of a directory.",
                "format": "uint8",
                "maximum": 10,
                "minimum": 1,
                "type": "integer"
              },
              "glob": {
                "description": "Which files of a directory to take: `*.rs`, `src/**/*.py`, or `!*_test.go` for all others.",
                "maxLength": 1000,
                "type": "string"
              },
              "hidden": {
                "description": "Whether to take hidden files too. By default only if `glob` names one.",
                "type": "boolean"
              },
              "limit": {
                "default": 200,
                "description": "The most symbols to give, or places of `name`.",
                "format": "uint16",
                "maximum": 1000,
                "minimum": 1,
                "type": "integer"
              },
              "name": {
                "description": "A name to look for in place of an outline, such as `parse`, or `parse*` where `*` stands for any characters. Letter case counts.",
                "maxLength": 200,
                "type": "string"
              },
              "no_ignore": {
                "default": false,
                "description": "Whether to take files too that .gitignore leaves out.",
                "type": "boolean"
              },
              "offset": {
                "default": 0,
                "description": "How many of the first to pass over: to see what comes after those that were given.",
                "format": "uint16",
                "maximum": 10000,
                "minimum": 0,
                "type": "integer"
              },
              "path": {
                "default": ".",
                "description": "The file or directory to outline, or to look for `name` in.",
                "type": "string"
              },
              "role": {
                "default": "definitions",
                "description": "What to give of `name`: where it is defined, where it is used, or both.",
                "enum": ["definitions", "references", "both"],
                "type": "string"
              },
              "type": {
                "description": "Which type of files of a directory to take, by its name: `rust`, `py`, `ts`, `js`, `go`, `java`, `c`, `cpp`.",
                "maxLength": 100,
                "type": "string"
              }
            },
            "type": "object"
          },
          "name": "outline",
          "origin": {"kind": "builtin"},
          "title": "Outline code"
        }"#]].assert_eq(&laid_out(registry.get("outline").unwrap()));
}

#[test]
fn declares_to_read_what_it_outlines() {
    let tree = Tree::new().file("src/lib.rs", "").link("lib", "src");
    let check = |input: Value, expected: &[&str]| {
        let tool = Outline::new(tree.workdir());
        let prepared = tool.prepare(&input, &CallScope::new("run-1".parse().unwrap())).unwrap();
        let declared: Vec<String> = prepared.accesses().iter().map(ToString::to_string).collect();
        assert_eq!(declared, expected, "{input}");
    };
    check(json!({}), &["read file:**"]);
    check(json!({ "path": "lib/lib.rs" }), &["read file:src/lib.rs"]);
    check(json!({ "path": "lib", "name": "x", "no_ignore": true }), &["read file:src/**"]);
    check(
        json!({ "path": "src" }),
        &["read file:src/**", "read file:.gitignore", "read file:.ignore", "read file:.git/info/exclude"],
    );
}

#[test]
fn tells_the_host_what_was_found_and_what_was_not_searched() {
    let check = |input: Value, expected: &Expect| {
        let tree = Tree::new()
            .file("a.rs", "/// One.\npub fn one() {\n    two();\n}\n")
            .file("b/c.py", "class Two:\n    def two(self):\n        pass\n")
            .file("notes.md", "")
            .file(".hidden.rs", "");
        let mut details = call(&tree, input).output.details;
        let skipped = details.as_object_mut().unwrap().remove("skipped").unwrap();
        expect![[r#"
            {
              "binary": 0,
              "denied": 0,
              "hidden": 1,
              "ignored": 0,
              "not_unicode": 0,
              "other_languages": {"md": 1},
              "too_large": 0,
              "unreadable_directories": 0,
              "unreadable_files": 0
            }"#]]
        .assert_eq(&laid_out(&skipped));
        expected.assert_eq(&laid_out(&details));
    };
    check(
        json!({ "depth": 2 }),
        &expect![[r#"
            {
              "cut": false,
              "files": [
                {
                  "error_line": null,
                  "language": "Rust",
                  "lines": 4,
                  "path": "a.rs",
                  "symbols": [{"depth": 0, "first": 2, "kind": "function", "last": 4, "name": "one", "text": "pub fn one()"}],
                  "total": 1
                },
                {
                  "error_line": null,
                  "language": "Python",
                  "lines": 3,
                  "path": "b/c.py",
                  "symbols": [
                    {"depth": 0, "first": 1, "kind": "class", "last": 3, "name": "Two", "text": "class Two"},
                    {"depth": 1, "first": 2, "kind": "method", "last": 3, "name": "two", "text": "def two(self)"}
                  ],
                  "total": 2
                }
              ],
              "has_more": false,
              "out_of_time": null,
              "searched": 2,
              "stopped": null,
              "symbols": 3,
              "total": 3,
              "without_symbols": 0
            }"#]],
    );
    check(
        json!({ "name": "two", "role": "both" }),
        &expect![[r#"
            {
              "cut": false,
              "definitions": 1,
              "has_more": false,
              "out_of_time": null,
              "places": [
                {"depth": 1, "first": 2, "kind": "method", "last": 3, "name": "two", "path": "b/c.py", "text": "def two(self)"},
                {"depth": 0, "first": 3, "kind": "call", "last": 3, "name": "two", "path": "a.rs", "text": "two();"}
              ],
              "references": 1,
              "searched": 2,
              "stopped": null,
              "with_errors": 0
            }"#]],
    );
}
