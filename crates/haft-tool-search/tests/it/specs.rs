use crate::{call, registry};
use expect_test::{Expect, expect};
use haft_testkit::{Tree, laid_out};
use haft_tools_core::{CallScope, Tool as _};
use serde_json::{Value, json};

fn check_spec(tool: &str, expected: &Expect) {
    let registry = registry(&Tree::new());
    expected.assert_eq(&laid_out(registry.get(tool).unwrap()));
}

fn check_accesses(input: &Value, expected: &[&str]) {
    let tree = Tree::new().file("src/lib.rs", "").directory("src/net").link("lib", "src");
    let scope = CallScope::new("run-1".parse().unwrap());
    let tools = haft_tool_search::tools(&tree.workdir());
    let name = if input["pattern"] == "grep" {
        "grep"
    } else if input.get("query").is_some() {
        "find_files"
    } else {
        "glob"
    };
    let tool = tools.iter().find(|tool| tool.spec().name().as_str() == name).unwrap();
    let prepared = tool.prepare(input, &scope).unwrap();
    let declared: Vec<String> = prepared.accesses().iter().map(ToString::to_string).collect();
    assert_eq!(declared, expected, "{input}");
}

fn check_details(tool: &str, input: Value, expected: &Expect) {
    let tree = Tree::new()
        .file("a.txt", "one\ntwo one\n")
        .file("b/c.txt", "one\n")
        .file(".hidden", "")
        .bytes("binary", b"one\0");
    expected.assert_eq(&laid_out(&call(&tree, tool, input).output.details));
}

#[test]
fn declares_to_read_what_it_searches() {
    check_accesses(&json!({ "pattern": "grep" }), &["read file:**"]);
    check_accesses(&json!({ "pattern": "grep", "path": "src", "no_ignore": true }), &["read file:src/**"]);
    check_accesses(&json!({ "pattern": "grep", "path": "lib/lib.rs" }), &["read file:src/lib.rs"]);
    check_accesses(
        &json!({ "pattern": "grep", "paths": ["lib/lib.rs", "src/net"], "no_ignore": true }),
        &["read file:src/lib.rs", "read file:src/net/**"],
    );
    check_accesses(&json!({ "query": "x" }), &["read file:**"]);
    check_accesses(&json!({ "pattern": "*" }), &["read file:**"]);
    check_accesses(&json!({ "pattern": "*", "path": "./lib/", "no_ignore": true }), &["read file:src/**"]);
}

#[test]
fn declares_to_read_the_ignore_files_above_a_directory() {
    let root = ["read file:.gitignore", "read file:.ignore", "read file:.git/info/exclude"];
    let src = ["read file:src/.gitignore", "read file:src/.ignore", "read file:src/.git/info/exclude"];
    for pattern in ["grep", "*"] {
        let expected = [&["read file:src/**"][..], &root].concat();
        check_accesses(&json!({ "pattern": pattern, "path": "lib" }), &expected);
        let expected = [&["read file:src/net/**"][..], &src, &root].concat();
        check_accesses(&json!({ "pattern": pattern, "path": "src/net" }), &expected);
    }
}

#[test]
fn a_deep_start_declares_few_accesses() {
    let deep = ["d"; 40].join("/");
    let tree = Tree::new().directory(&deep);
    let scope = CallScope::new("run-1".parse().unwrap());
    for tool in haft_tool_search::tools(&tree.workdir()) {
        let name = if tool.spec().name().as_str() == "find_files" { "query" } else { "pattern" };
        let prepared = tool.prepare(&json!({ name: "x", "path": deep }), &scope).unwrap();
        let declared: Vec<String> = prepared.accesses().iter().map(ToString::to_string).collect();
        assert_eq!(declared, [format!("read file:{deep}/**"), "read file:**".to_owned()]);
    }
}

#[test]
fn tells_the_host_what_was_found_and_what_was_not_searched() {
    check_details(
        "grep",
        json!({ "pattern": "one", "limit": 2 }),
        &expect![[r#"
            {
              "cut": false,
              "files": [{"matches": 2, "path": "a.txt"}],
              "has_more": false,
              "matches": 2,
              "out_of_time": null,
              "searched": 2,
              "skipped": {
                "binary": 1,
                "denied": 0,
                "hidden": 1,
                "ignored": 0,
                "not_unicode": 0,
                "too_large": 0,
                "unreadable_directories": 0,
                "unreadable_files": 0
              },
              "stopped": "limit",
              "total": 3
            }"#]],
    );
    check_details(
        "grep",
        json!({ "pattern": "one", "mode": "count" }),
        &expect![[r#"
            {
              "cut": false,
              "files": [{"matches": 2, "path": "a.txt"}, {"matches": 1, "path": "b/c.txt"}],
              "has_more": false,
              "matches": 3,
              "out_of_time": null,
              "searched": 2,
              "skipped": {
                "binary": 1,
                "denied": 0,
                "hidden": 1,
                "ignored": 0,
                "not_unicode": 0,
                "too_large": 0,
                "unreadable_directories": 0,
                "unreadable_files": 0
              },
              "stopped": null,
              "total": 2
            }"#]],
    );
    check_details(
        "glob",
        json!({ "pattern": "*.txt", "limit": 1 }),
        &expect![[r#"
            {
              "looked_at": 4,
              "out_of_time": null,
              "shown": 1,
              "skipped": {"denied": 0, "hidden": 1, "ignored": 0, "not_unicode": 0, "unreadable_directories": 0},
              "total": 2
            }"#]],
    );
}

#[test]
fn grep_is_described_to_the_model() {
    check_spec(
        "grep",
        &expect![[r#"
            {
              "description": "Searches the text of files with a regular expression, in the whole working directory unless `path` or `paths` says otherwise. Files that .gitignore leaves out, hidden files and binary files are passed over. A match is a line that matches. Matches are given as `path:line: text`, lines of context as `path-line- text`, sorted by path and line; `limit` is for all files together. The syntax is that of ripgrep: no look-around, no backreferences, and `(`, `[`, `{`, `.`, `*`, `+`, `?`, `|`, `^`, `$` and `\\` are escaped with `\\` to stand for themselves.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": false, "idempotent": true, "open_world": false, "read_only": true, "streaming": false},
              "input_schema": {
                "additionalProperties": false,
                "properties": {
                  "after": {
                    "description": "How many lines to give after each match, in place of `context`.",
                    "format": "uint8",
                    "maximum": 20,
                    "minimum": 0,
                    "type": "integer"
                  },
                  "before": {
                    "description": "How many lines to give before each match, in place of `context`.",
                    "format": "uint8",
                    "maximum": 20,
                    "minimum": 0,
                    "type": "integer"
                  },
                  "case": {
                    "default": "smart",
                    "description": "Whether letter case counts: with `smart` it does if the pattern has an upper-case letter.",
                    "enum": ["smart", "sensitive", "insensitive"],
                    "type": "string"
                  },
                  "context": {
                    "description": "How many lines to give before and after each match.",
                    "format": "uint8",
                    "maximum": 20,
                    "minimum": 0,
                    "type": "integer"
                  },
                  "glob": {
                    "description": "Which files of a directory to search: `*.rs`, `*.{ts,tsx}`, `src/**/*.py`, or `!*.lock` for all others.",
                    "maxLength": 1000,
                    "type": "string"
                  },
                  "hidden": {
                    "description": "Whether to search hidden files too. By default only if `glob` names one, as `.github/**` does.",
                    "type": "boolean"
                  },
                  "limit": {
                    "default": 100,
                    "description": "The most matches to give, or files if `mode` is `files` or `count`.",
                    "format": "uint16",
                    "maximum": 1000,
                    "minimum": 1,
                    "type": "integer"
                  },
                  "literal": {
                    "default": false,
                    "description": "Whether to look for the pattern as it is written, not as a regular expression.",
                    "type": "boolean"
                  },
                  "mode": {
                    "default": "content",
                    "description": "What to give: `content` gives the matches, `files` only the paths of files that have any, `count` how many each file has.",
                    "enum": ["content", "files", "count"],
                    "type": "string"
                  },
                  "multiline": {
                    "default": false,
                    "description": "Whether a match may span lines; `.` then matches line breaks too.",
                    "type": "boolean"
                  },
                  "no_ignore": {
                    "default": false,
                    "description": "Whether to search files too that .gitignore leaves out.",
                    "type": "boolean"
                  },
                  "offset": {
                    "default": 0,
                    "description": "How many of the first matches to pass over, or files if `mode` is `files` or `count`: to see what comes after those that were given.",
                    "format": "uint32",
                    "maximum": 100000,
                    "minimum": 0,
                    "type": "integer"
                  },
                  "path": {"default": ".", "description": "The directory or file to search.", "type": "string"},
                  "paths": {
                    "default": [],
                    "description": "Several directories or files to search, in place of `path`.",
                    "items": {"type": "string"},
                    "maxItems": 16,
                    "type": "array"
                  },
                  "pattern": {"description": "The regular expression to look for.", "maxLength": 2000, "type": "string"},
                  "sort": {
                    "default": "path",
                    "description": "How to order the files: `path`, or `modified` with the one changed last first.",
                    "enum": ["path", "modified"],
                    "type": "string"
                  },
                  "type": {
                    "description": "Which type of files of a directory to search, by its name: `rust`, `py`, `ts`, `js`, `go`, `java`, `cpp`, `md` and many more.",
                    "maxLength": 100,
                    "type": "string"
                  }
                },
                "required": ["pattern"],
                "type": "object"
              },
              "name": "grep",
              "origin": {"kind": "builtin"},
              "title": "Search in files"
            }"#]],
    );
}

#[test]
fn glob_is_described_to_the_model() {
    check_spec(
        "glob",
        &expect![[r#"
            {
              "description": "Finds files by their names, in the whole working directory unless `path` says otherwise. Files that .gitignore leaves out and hidden files are passed over. In `pattern`, `*` and `?` match within one name, `**` matches directories to any depth, `[a-z]` and `{a,b}` choose. A pattern without `/` matches at any depth, as `*.rs` does; one with `/` matches from `path` on. A pattern that ends in `/` finds directories. Paths are given relative to the working directory, one on each line.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": false, "idempotent": true, "open_world": false, "read_only": true, "streaming": false},
              "input_schema": {
                "additionalProperties": false,
                "properties": {
                  "hidden": {
                    "description": "Whether to find hidden files too. By default only if `pattern` names one, as `.github/**` does.",
                    "type": "boolean"
                  },
                  "limit": {
                    "default": 200,
                    "description": "The most paths to give.",
                    "format": "uint16",
                    "maximum": 1000,
                    "minimum": 1,
                    "type": "integer"
                  },
                  "no_ignore": {
                    "default": false,
                    "description": "Whether to find files too that .gitignore leaves out.",
                    "type": "boolean"
                  },
                  "path": {"default": ".", "description": "The directory to search.", "type": "string"},
                  "pattern": {
                    "description": "The pattern, such as `*.rs`, `src/**/*.{ts,tsx}`, `**/test_*.py` or `docs/`.",
                    "maxLength": 1000,
                    "type": "string"
                  },
                  "sort": {
                    "default": "path",
                    "description": "How to order the paths: `path`, or `modified` with the file changed last first.",
                    "enum": ["path", "modified"],
                    "type": "string"
                  }
                },
                "required": ["pattern"],
                "type": "object"
              },
              "name": "glob",
              "origin": {"kind": "builtin"},
              "title": "Find files"
            }"#]],
    );
}

#[test]
fn find_files_is_described_to_the_model() {
    check_spec(
        "find_files",
        &expect![[r#"
            {
              "description": "Finds files whose names are like a text, the best first: for when a name is only known in part. All characters of `query` must be in the name in their order, as `cfgprs` finds `config_parser.rs`. With `/` or a space in it, it is looked for in the whole path, and each part divided by spaces must be there. Files that .gitignore leaves out and hidden files are passed over. Paths are given relative to the working directory, one on each line.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": false, "idempotent": true, "open_world": false, "read_only": true, "streaming": false},
              "input_schema": {
                "additionalProperties": false,
                "properties": {
                  "hidden": {
                    "description": "Whether to find hidden files too. By default only if a name in `query` starts with a dot.",
                    "type": "boolean"
                  },
                  "limit": {
                    "default": 20,
                    "description": "The most paths to give.",
                    "format": "uint16",
                    "maximum": 1000,
                    "minimum": 1,
                    "type": "integer"
                  },
                  "no_ignore": {
                    "default": false,
                    "description": "Whether to find files too that .gitignore leaves out.",
                    "type": "boolean"
                  },
                  "path": {"default": ".", "description": "The directory to search.", "type": "string"},
                  "query": {
                    "description": "A part of the name, or its characters in their order, such as `readme`, `cfgprs` or `net/sock`.",
                    "maxLength": 200,
                    "type": "string"
                  }
                },
                "required": ["query"],
                "type": "object"
              },
              "name": "find_files",
              "origin": {"kind": "builtin"},
              "title": "Find files by a part of their name"
            }"#]],
    );
}
