use crate::fixture::registry;
use expect_test::{Expect, expect};
use haft_testkit::{Tree, laid_out};

/// Checks everything a model is told of a tool, and what the host knows of it besides.
fn check(tool: &str, spec: &Expect) {
    let registry = registry(&Tree::new());
    spec.assert_eq(&laid_out(registry.get(tool).unwrap()));
}

#[test]
fn there_are_five() {
    assert_eq!(
        registry(&Tree::new()).names().collect::<Vec<_>>(),
        ["apply_patch", "edit_file", "list_files", "read_file", "write_file"]
    );
}

#[test]
fn describes_read_file() {
    check(
        "read_file",
        &expect![[r##"
            {
              "description": "Reads a text file of the working directory, or several with `more`. Each line is given with its number and a tab in front; neither is part of the file. Without `offset` and `limit` the first 2,000 lines are given; a long file is given up to about 64 KiB at a time, and the reply says how to go on. Lines over 2,000 bytes are cut and marked. A file is UTF-8 with LF line endings unless its head says otherwise. Of a directory the entries are listed, of a file that is no text the kind, the size and the first bytes are given.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": false, "idempotent": true, "open_world": false, "read_only": true, "streaming": false},
              "input_schema": {
                "$defs": {
                  "ByteRange": {
                    "additionalProperties": false,
                    "description": "Some bytes of a file.",
                    "properties": {
                      "end": {"description": "The place behind the last byte.", "format": "uint64", "minimum": 0, "type": "integer"},
                      "start": {
                        "description": "The place of the first byte, counted from 0.",
                        "format": "uint64",
                        "minimum": 0,
                        "type": "integer"
                      }
                    },
                    "required": ["start", "end"],
                    "type": "object"
                  },
                  "Further": {
                    "additionalProperties": false,
                    "description": "A further file to read.",
                    "properties": {
                      "limit": {
                        "default": 2000,
                        "description": "The most lines to give, up to 2,000.",
                        "format": "uint64",
                        "minimum": 1,
                        "type": "integer"
                      },
                      "offset": {
                        "default": 1,
                        "description": "The line to start at, as for the first file.",
                        "format": "int64",
                        "type": "integer"
                      },
                      "path": {"description": "The file to read, relative to the working directory.", "type": "string"}
                    },
                    "required": ["path"],
                    "type": "object"
                  }
                },
                "additionalProperties": false,
                "properties": {
                  "byte_range": {
                    "anyOf": [{"$ref": "#/$defs/ByteRange"}, {"type": "null"}],
                    "description": "Give these bytes of the file instead of lines: those from `start`, counted from 0, up to `end`."
                  },
                  "limit": {
                    "default": 2000,
                    "description": "The most lines to give, up to 2,000.",
                    "format": "uint64",
                    "minimum": 1,
                    "type": "integer"
                  },
                  "more": {
                    "description": "Further files to read in the same call.",
                    "items": {"$ref": "#/$defs/Further"},
                    "maxItems": 20,
                    "type": "array"
                  },
                  "offset": {
                    "default": 1,
                    "description": "The line to start at, counted from 1. A negative number counts from the end: -20 starts 20 lines before it.",
                    "format": "int64",
                    "type": "integer"
                  },
                  "path": {"description": "The file to read, relative to the working directory.", "type": "string"}
                },
                "required": ["path"],
                "type": "object"
              },
              "name": "read_file",
              "origin": {"kind": "builtin"},
              "title": "Read file"
            }"##]],
    );
}

#[test]
fn describes_write_file() {
    check(
        "write_file",
        &expect![[r#"
            {
              "description": "Writes a whole file: creates it, with the directories above it, or replaces all of its content. To change a part of an existing file use edit_file. The file holds either its old content or the new, never a part. An existing file keeps its encoding, byte order mark, line endings and mode; a text that stands for something left out is refused.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": true, "idempotent": true, "open_world": false, "read_only": false, "streaming": false},
              "input_schema": {
                "additionalProperties": false,
                "properties": {
                  "content": {"description": "All of the file's new content; end it with a line break.", "type": "string"},
                  "create_only": {
                    "default": false,
                    "description": "Refuse if the file exists, instead of replacing its content.",
                    "type": "boolean"
                  },
                  "path": {"description": "The file to write, relative to the working directory.", "type": "string"}
                },
                "required": ["path", "content"],
                "type": "object"
              },
              "name": "write_file",
              "origin": {"kind": "builtin"},
              "title": "Write file"
            }"#]],
    );
}

#[test]
fn describes_edit_file() {
    check(
        "edit_file",
        &expect![[r##"
            {
              "description": "Changes parts of a text file by replacing exact texts. Each `old` must be copied from the file as it is, blanks and indentation included and without the line numbers of read_file, and be unique in it: add lines around it if it is not. All edits are looked up in the file as it is before the call; either all of them are made or none. The file keeps its encoding and line endings. The reply shows what has changed, and says so where `old` was found only without regard to line endings, blanks at the ends of lines, indentation or kinds of punctuation.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": true, "idempotent": false, "open_world": false, "read_only": false, "streaming": false},
              "input_schema": {
                "$defs": {
                  "Edit": {
                    "additionalProperties": false,
                    "description": "One replacement.",
                    "properties": {
                      "all": {
                        "default": false,
                        "description": "Replace `old` wherever it occurs, however often.",
                        "type": "boolean"
                      },
                      "expected": {
                        "default": 1,
                        "description": "How many times `old` must occur; all of them are replaced.",
                        "format": "uint64",
                        "minimum": 1,
                        "type": "integer"
                      },
                      "near_line": {
                        "default": null,
                        "description": "Where `old` occurs more than once: the number of the line at which the one meant starts.",
                        "format": "uint64",
                        "minimum": 1,
                        "type": ["integer", "null"]
                      },
                      "new": {"description": "The text to put in its place; empty to remove it.", "type": "string"},
                      "old": {"description": "The text to replace, exactly as it is in the file.", "type": "string"}
                    },
                    "required": ["old", "new"],
                    "type": "object"
                  }
                },
                "additionalProperties": false,
                "properties": {
                  "edits": {
                    "description": "The replacements to make, all of them or none; they must not overlap.",
                    "items": {"$ref": "#/$defs/Edit"},
                    "maxItems": 100,
                    "minItems": 1,
                    "type": "array"
                  },
                  "path": {"description": "The file to edit, relative to the working directory.", "type": "string"}
                },
                "required": ["path", "edits"],
                "type": "object"
              },
              "name": "edit_file",
              "origin": {"kind": "builtin"},
              "title": "Edit file"
            }"##]],
    );
}

#[test]
fn describes_apply_patch() {
    check(
        "apply_patch",
        &expect![[r#"
            {
              "description": "Changes, creates, removes and renames files by a patch: either the form that starts with `*** Begin Patch` and ends with `*** End Patch`, or a unified diff as git or diff write it. Everything is looked up before anything is changed: either all files are changed or none. Each hunk has to fit in one place only, exactly but for blanks at the ends of lines; give it lines of context. For a few replacements in one file edit_file is simpler.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": true, "idempotent": false, "open_world": false, "read_only": false, "streaming": false},
              "input_schema": {
                "additionalProperties": false,
                "properties": {"patch": {"description": "The patch, whole.", "type": "string"}},
                "required": ["patch"],
                "type": "object"
              },
              "name": "apply_patch",
              "origin": {"kind": "builtin"},
              "title": "Apply patch"
            }"#]],
    );
}

#[test]
fn describes_list_files() {
    check(
        "list_files",
        &expect![[r#"
            {
              "description": "Lists a directory of the working directory as a tree with file sizes. Hidden entries and those that ignore files (.gitignore) leave out are counted but not shown, unless asked for; .git never is. A directory whose content is not shown says how many entries it has. To find files by name or content use glob or grep.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": false, "idempotent": true, "open_world": false, "read_only": true, "streaming": false},
              "input_schema": {
                "additionalProperties": false,
                "properties": {
                  "depth": {
                    "default": 2,
                    "description": "How many levels to show: 1 is the entries of the directory itself.",
                    "format": "uint64",
                    "maximum": 10,
                    "minimum": 1,
                    "type": "integer"
                  },
                  "hidden": {"default": false, "description": "Show entries whose name starts with a dot too.", "type": "boolean"},
                  "ignored": {"default": false, "description": "Show entries that ignore files leave out too.", "type": "boolean"},
                  "limit": {
                    "default": 500,
                    "description": "The most entries to show.",
                    "format": "uint64",
                    "maximum": 5000,
                    "minimum": 1,
                    "type": "integer"
                  },
                  "path": {
                    "default": ".",
                    "description": "The directory to list, relative to the working directory.",
                    "type": "string"
                  }
                },
                "type": "object"
              },
              "name": "list_files",
              "origin": {"kind": "builtin"},
              "title": "List files"
            }"#]],
    );
}
