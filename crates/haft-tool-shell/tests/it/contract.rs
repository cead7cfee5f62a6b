use expect_test::{Expect, expect};
use haft_testkit::{Tree, laid_out};
use haft_tool_shell::{Bash, Environment};
use haft_tools_core::Tool as _;
use serde_json::{Value, json};

use crate::harness::{check_call, scope};

fn bash(tree: &Tree) -> Bash {
    Bash::new(tree.workdir(), Environment::minimal())
}

/// Shows what a call declares, and what the person who is asked sees.
async fn check_prepared(input: Value, expected: Expect) {
    let tree = Tree::new().directory("src/net");
    let prepared = bash(&tree).prepare(&input, &scope()).expect("it can be prepared");
    let accesses = prepared.accesses().iter().map(|access| (access.to_string(), access.detail()));
    let accesses: Vec<_> = accesses.collect();
    let shown = format!(
        "{accesses:#?}
{:?}
{:?}
",
        prepared.preview().await,
        prepared.timeout()
    );
    expected.assert_eq(&shown);
}

/// Shows why a call that the executor would not even pass on is refused.
fn check_refused(input: &Value, expected: &Expect) {
    let tree = Tree::new();
    let error = bash(&tree).prepare(input, &scope()).expect_err("it is refused");
    expected.assert_eq(&format!("{:?}: {error}", error.kind()));
}

#[test]
fn describes_itself() {
    let tree = Tree::new();
    let spec = serde_json::to_value(bash(&tree).spec()).unwrap();
    expect![[r#"
        {
          "description": "Runs a bash script and returns what it prints, stdout and stderr together, followed by its exit code.\n\nEach call is a new shell: variables and functions are forgotten afterwards, files stay. Nothing can be typed in: stdin is empty or what `input` says, there is no terminal, and prompts, pagers and editors are switched off, so pass options such as `-y` or `-m`. Long output is cut to its beginning and its end; send it to a file and look at parts of it where the middle matters. What is still running in the background when the script ends is ended too, so start a server and use it in one script.",
          "explicit": false,
          "exposure": "direct",
          "hints": {"destructive": true, "idempotent": false, "open_world": true, "read_only": false, "streaming": true},
          "input_schema": {
            "additionalProperties": false,
            "properties": {
              "command": {"description": "The script. It may have several lines.", "type": "string"},
              "description": {
                "default": "",
                "description": "What the script is for, in a few words; shown to the person who is asked whether it may run.",
                "type": "string"
              },
              "directory": {
                "description": "The directory to run the script in, relative to the working directory; if it is left out, the one in which your\nlast script ended by `cd`.",
                "type": "string"
              },
              "input": {
                "default": "",
                "description": "What the script reads from its standard input, which is empty otherwise.",
                "type": "string"
              },
              "timeout": {
                "default": 120,
                "description": "After how many seconds the script is stopped; what it printed until then is returned.",
                "format": "uint32",
                "maximum": 600,
                "minimum": 1,
                "type": "integer"
              }
            },
            "required": ["command"],
            "type": "object"
          },
          "name": "bash",
          "origin": {"kind": "builtin"},
          "title": "Run a shell script"
        }"#]].assert_eq(&laid_out(&spec));
}

#[tokio::test]
async fn declares_the_script_and_that_it_is_not_understood() {
    check_prepared(
        json!({ "command": "cargo test\n", "description": "see whether the fix works" }),
        expect![[r#"
            [
                (
                    "exec exec:cargo test",
                    Some(
                        "see whether the fix works",
                    ),
                ),
            ]
            Command("cargo test\n")
            Some(130s)
        "#]],
    )
    .await;
}

#[tokio::test]
async fn shows_where_a_script_runs_when_that_is_not_the_root() {
    check_prepared(
        json!({ "command": "ls", "directory": "./src//net", "timeout": 5 }),
        expect![[r##"
            [
                (
                    "exec exec:ls",
                    None,
                ),
                (
                    "read file:src/net",
                    None,
                ),
            ]
            Command("# in src/net\nls")
            Some(15s)
        "##]],
    )
    .await;
}

#[test]
fn refuses_what_cannot_be_run() {
    check_refused(
        &json!({ "command": " \n\t" }),
        &expect!["InvalidInput: `command` is empty; give the script to run"],
    );
    check_refused(
        &json!({ "command": "echo\0" }),
        &expect![[
            r#"InvalidInput: `command` has a NUL byte after 4 bytes, which no script can have; write it as `\0`"#
        ]],
    );
    check_refused(
        &json!({ "command": "x".repeat(131_072) }),
        &expect![
            "InvalidInput: `command` has 131072 bytes, and 131071 is the most there can be; put the script into a file and run that"
        ],
    );
    check_refused(
        &json!({ "command": "ls", "timeout": 0 }),
        &expect!["InvalidInput: `timeout` is 0 seconds; give 1 to 600"],
    );
    check_refused(
        &json!({ "command": "ls", "timeout": 601 }),
        &expect!["InvalidInput: `timeout` is 601 seconds; give 1 to 600"],
    );
    check_refused(
        &json!({ "command": "ls", "directory": "a\0" }),
        &expect![[r#"InvalidInput: the path `a\u{0}` contains a NUL byte; write the path without it"#]],
    );
}

#[tokio::test]
async fn runs_the_longest_script_there_can_be() {
    let comment = "#".repeat(131_071 - "echo done\n".len());
    check_call(
        json!({ "command": format!("echo done\n{comment}") }),
        expect![[r#"
        ok
        done
        [exit code 0]
    "#]],
    )
    .await;
}
