use crate::{check, haft, shown};
use expect_test::expect;
use haft_testkit::Tree;
use std::io::Write as _;
use std::process::Stdio;

fn tree() -> Tree {
    Tree::new().file("notes.md", "one\ntwo\nthree\n").directory("src")
}

#[test]
fn repairs_arguments_and_says_so() {
    let tree = tree();
    check(
        tree.path(),
        &["call", "read_file", r#"{"path":"notes.md","limit":"2"}"#],
        expect![[r#"
        notes.md: 3 lines, 14 bytes
        1	one
        2	two
        [lines 1–2 of 3; continue with offset 3]
        [the arguments were changed: /limit: took a string as the value it spells ("2" → 2)]
        exit 0
    "#]],
    );
}

#[test]
fn names_the_nearest_tool() {
    check(
        tree().path(),
        &["call", "read_fil", "{}"],
        expect![[r#"
        stderr: error: unknown tool: there is no tool `read_fil`; did you mean `read_file`?
        exit 1
    "#]],
    );
}

#[test]
fn refuses_a_path_outside_the_directory() {
    check(
        tree().path(),
        &["call", "read_file", r#"{"path":"../../etc/passwd"}"#],
        expect![[r#"
        stderr: denied: the path `../../etc/passwd` is outside the working directory; use a path inside it, such as `src/main.rs`
        exit 1
    "#]],
    );
}

#[test]
fn lists_everything_that_is_wrong_with_the_arguments() {
    check(
        tree().path(),
        &["call", "read_file", r#"{"pth":"notes.md","limit":"many"}"#],
        expect![[r#"
            stderr: error: invalid input: the arguments do not fit `read_file`:
            stderr:   - at `/limit`: "many" is not an integer
            stderr:   - at the top: unknown property `pth`; did you mean `path`?
            stderr:   - at the top: the property `path` is missing
            stderr:   correct them and call the tool again
            exit 1
        "#]],
    );
}

#[test]
fn lists_a_directory_that_is_read() {
    check(
        tree().path(),
        &["call", "read_file", r#"{"path":"src"}"#],
        expect![[r#"
            `src` is a directory:
            src/  (no entries to show)
            exit 0
        "#]],
    );
}

#[test]
fn waits_for_an_approval_where_nobody_can_be_asked() {
    check(
        tree().path(),
        &["call", "bash", r#"{"command":"echo hello > a.txt"}"#],
        expect![[r#"
            stderr: waiting for an approval: `bash` wants to
            stderr:   write file:a.txt
            stderr:   haft approvals show ID
            stderr:   haft approvals approve ID
            stderr: Answer it, then go on with `haft resume RUN`.
            exit 3
        "#]],
    );
}

#[test]
fn runs_a_command_that_only_looks() {
    check(
        tree().path(),
        &["call", "bash", r#"{"command":"cat notes.md | head -1"}"#],
        expect![[r#"
            one
            [exit code 0]
            exit 0
        "#]],
    );
}

#[test]
fn runs_what_the_flag_approves() {
    let tree = tree();
    check(
        tree.path(),
        &["call", "bash", r#"{"command":"echo hello"}"#, "--yes"],
        expect![[r#"
        hello
        [exit code 0]
        exit 0
    "#]],
    );
    check(
        tree.path(),
        &["call", "write_file", r#"{"path":"a.txt","content":"x\n"}"#, "--yes"],
        expect![[r#"
            created `a.txt`: 1 line, 2 bytes
            exit 0
        "#]],
    );
    assert_eq!(tree.read("a.txt"), "x\n");
}

#[test]
fn says_where_the_arguments_are_not_json() {
    let tree = tree().file("arguments.json", "{\"path\": notes.md}");
    check(
        tree.path(),
        &["call", "read_file", "{\"path\":"],
        expect![[r#"
        stderr: error: the arguments on the command line are not JSON; write one object, as in '{"path": "README.md"}'
        stderr:   because: EOF while parsing a value at line 1 column 8
        exit 2
    "#]],
    );
    check(
        tree.path(),
        &["call", "read_file", "{path: \"notes.md\"}"],
        expect![[r#"
        stderr: error: the arguments on the command line are not JSON; write keys in double quotes, as in '{"path": "README.md"}'
        stderr:   because: key must be a string at line 1 column 2
        exit 2
    "#]],
    );
    check(
        tree.path(),
        &["call", "read_file", "@arguments.json"],
        expect![[r#"
        stderr: error: the arguments in `arguments.json` are not JSON; write one object, as in '{"path": "README.md"}'
        stderr:   because: expected ident at line 1 column 11
        exit 2
    "#]],
    );
    check(
        tree.path(),
        &["call", "read_file", "@missing.json"],
        expect![[r#"
            stderr: error: cannot read the arguments from `missing.json`; name a text file after the `@`
            stderr:   because: No such file or directory (os error 2)
            exit 2
        "#]],
    );
}

#[test]
fn says_what_the_arguments_are_instead_of_an_object() {
    let tree = tree().file("list.json", "[\"notes.md\"]\n");
    for (input, said) in [
        (r#""notes.md""#, "on the command line are a JSON string"),
        ("@list.json", "in `list.json` are a JSON list"),
        ("3", "on the command line are a JSON number"),
        ("true", "on the command line are `true`"),
        ("null", "on the command line are `null`"),
    ] {
        let output = haft(tree.path(), &["call", "read_file", input]).output().unwrap();
        let expected = format!(
            "stderr: error: the arguments {said} and not an object; \
             write one object, as in '{{\"path\": \"README.md\"}}'\nexit 2\n"
        );
        assert_eq!(shown(&output), expected);
    }
}

#[test]
fn reads_the_arguments_from_standard_input() {
    let tree = tree();
    let mut child = haft(tree.path(), &["call", "read_file", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(br#"{"path":"notes.md","offset":3}"#).unwrap();
    expect![[r#"
        notes.md: 3 lines, 14 bytes
        3	three
        [line 3 of 3, the end of the file]
        exit 0
    "#]]
    .assert_eq(&shown(&child.wait_with_output().unwrap()));
}

#[test]
fn names_a_directory_that_is_missing() {
    let tree = tree();
    check(
        tree.path(),
        &["call", "glob", r#"{"pattern":"*"}"#, "--workdir", "missing"],
        expect![[r#"
        stderr: error: cannot work in `missing`; name an existing directory with `--workdir`
        stderr:   because: working directory `missing` does not exist; create it or name another
        exit 2
    "#]],
    );
    check(
        tree.path(),
        &["call", "glob", r#"{"pattern":"*"}"#, "--workdir", "notes.md"],
        expect![[r#"
        stderr: error: cannot work in `notes.md`; name an existing directory with `--workdir`
        stderr:   because: `notes.md` is not a directory; name the directory to work in
        exit 2
    "#]],
    );
}

#[test]
fn prints_json_for_programs() {
    let tree = tree();
    let arguments = ["call", "read_file", r#"{"path":"notes.md"}"#, "--json"];
    let output = haft(tree.path(), &arguments).output().unwrap();
    let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&outcome["outcome"], &outcome["status"]), (&"replied".into(), &"ok".into()));

    let arguments = ["call", "bash", r#"{"command":"touch a"}"#, "--json"];
    let output = haft(tree.path(), &arguments).output().unwrap();
    let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(outcome["outcome"], "pending");
    assert_eq!(outcome["preview"]["kind"], "command");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn wrong_usage_exits_with_two() {
    let output = haft(tree().path(), &["cal"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("call"), "{output:?}");
}
