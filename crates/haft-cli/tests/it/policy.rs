//! `haft policy`: what it says about files and calls.

use crate::{check, haft, shown};
use expect_test::expect;
use haft_testkit::Tree;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

fn tree() -> Tree {
    Tree::new().file("notes.md", "one\n").file("src/lib.rs", "")
}

#[test]
fn explains_each_command_of_a_script() {
    check(
        tree().path(),
        &["policy", "explain", "git status && rm notes.md"],
        expect![[r#"
            ask  git status && rm notes.md

              allow  exec exec:git status
                     by the rule exec(@reads) (profile read_only:11)

              ask    exec exec:rm notes.md
                     no rule speaks of it
                     to change it: a rule that allows it, such as `exec(rm *)`

              allow  read file:.git
                     by the rule read(**) (profile read_only:9)

              allow  read file:.
                     by the rule read(**) (profile read_only:9)

              ask    write file:notes.md
                     no rule speaks of it
                     to change it: a rule that allows it, such as `write(./notes.md)`

            decided by profile read_only, in the mode default
            exit 0
        "#]],
    );
}

#[test]
fn explains_a_call_and_an_access() {
    let tree = tree();
    let call = r#"{"tool": "write_file", "input": {"path": ".git/hooks/pre-commit", "content": ""}}"#;
    check(
        tree.path(),
        &["policy", "explain", "--profile", "workspace_write", call],
        expect![[r#"
        ask  write_file {"content":"","path":".git/hooks/pre-commit"}

          ask    write file:.git/hooks/pre-commit
                 no rule speaks of it; `.git/hooks` is protected, because git runs what is in it: only a pattern that writes out its name allows it
                 to change it: a rule that allows it, or a person's word each time

          ask    write file:.git/hooks
                 no rule speaks of it; `.git/hooks` is protected, because git runs what is in it: only a pattern that writes out its name allows it
                 to change it: a rule that allows it, or a person's word each time

          ask    write file:.git
                 no rule speaks of it; `.git` is protected, because it says where git finds its hooks and settings: only a pattern that writes out its name allows it
                 to change it: a rule that allows it, or a person's word each time

        decided by profile workspace_write, in the mode default
        exit 0
    "#]],
    );
    check(
        tree.path(),
        &["policy", "explain", "--mode", "plan", "write(src/lib.rs)"],
        expect![[r#"
        deny  write(src/lib.rs)

          deny   write file:src/lib.rs
                 the mode plan lets nothing write, execute, connect or call
                 to change it: a person can change the mode, which is `plan`

        decided by profile read_only, in the mode plan
        exit 0
    "#]],
    );
}

#[test]
fn explains_by_one_file_alone() {
    let tree = tree()
        .file("haft.toml", "[permissions]\ndeny = [\"read(**)\"]\n")
        .file("team.toml", "[permissions]\nallow = [\"read(src/**)\"]\n");
    let arguments = ["policy", "explain", "--policy", "team.toml"];
    check(
        tree.path(),
        &[&arguments[..], &["read(src/lib.rs)"]].concat(),
        expect![[r#"
        allow  read(src/lib.rs)

          allow  read file:src/lib.rs
                 by the rule read(src/**) (team.toml:2)

        decided by team.toml, in the mode default
        exit 0
    "#]],
    );
    check(
        tree.path(),
        &[&arguments[..], &["read(notes.md)"]].concat(),
        expect![[r#"
        ask  read(notes.md)

          ask    read file:notes.md
                 no rule speaks of it
                 to change it: a rule that allows it, such as `read(./notes.md)`

        decided by team.toml, in the mode default
        exit 0
    "#]],
    );
    check(
        tree.path(),
        &["policy", "explain", "read(src/lib.rs)"],
        expect![[r#"
        deny  read(src/lib.rs)

          deny   read file:src/lib.rs
                 by the rule read(**) (haft.toml:2)
                 to change it: change or remove the rule `read(**)` at haft.toml:2

        decided by profile read_only, haft.toml, in the mode default
        stderr: note: haft.toml is not trusted, so it only takes away; look at it, then run `haft policy trust`
        exit 0
    "#]],
    );
}

#[test]
fn explains_for_agents() {
    let policy = "profile = \"workspace_write\"\n[agents.lead.ceiling]\nallow = [\"read(**)\"]\n";
    let tree = tree().file("team.toml", policy);
    let arguments = ["policy", "explain", "--policy", "team.toml", "write(a)", "--agent", "lead"];
    check(
        tree.path(),
        &[&arguments[..], &["--agent", "explorer"]].concat(),
        expect![[r#"
        ask  write(a)

          ask    write file:a
                 no rule speaks of it in the ceiling of the agent lead
                 to change it: a rule that allows it in the ceiling of the agent `lead`, such as `write(./a)`

        decided by profile workspace_write, team.toml, in the mode default
        exit 0
    "#]],
    );
}

#[test]
fn says_what_is_no_access_and_what_cannot_be_prepared() {
    let tree = tree();
    check(
        tree.path(),
        &["policy", "explain", "write(src/**"],
        expect![[r#"
            stderr: error: `write(src/**` is not an access; write one such as `write(src/lib.rs)`
            exit 2
        "#]],
    );
    check(
        tree.path(),
        &["policy", "explain", r#"{"tool": "read_fil", "input": {"path": "a"}}"#],
        expect![[r#"
            deny  read_fil {"path":"a"}

              it cannot be prepared, so it would not run:
              there is no tool `read_fil`; did you mean `read_file`?

            decided by profile read_only, in the mode default
            exit 1
        "#]],
    );
    check(
        tree.path(),
        &["policy", "explain"],
        expect![[r#"
            stderr: error: there is nothing to explain; name a shell command, a call as JSON or an access, or give `--stdin`
            exit 2
        "#]],
    );
}

#[test]
fn an_object_that_is_no_call_is_no_command_either() {
    let tree = tree();
    check(
        tree.path(),
        &["policy", "explain", r#"{"name":"write_file","input":{"path":"a"}}"#],
        expect![[r#"
            stderr: error: this JSON object is not a call: it has no `tool`, and `name` is not a key of a call; write one such as '{"tool": "read_file", "input": {"path": "README.md"}}'
            exit 2
        "#]],
    );
    check(
        tree.path(),
        &["policy", "explain", r#"{"tool":"list_files"}"#],
        expect![[r#"
            stderr: error: this JSON object is not a call: it has no `input`; write one such as '{"tool": "read_file", "input": {"path": "README.md"}}'
            exit 2
        "#]],
    );
    check(
        tree.path(),
        &["policy", "explain", r#"{"name":"write_file","arguments":{}}"#],
        expect![[r#"
            stderr: error: this JSON object is not a call: it has no `tool` and no `input`, and `arguments` and `name` are not keys of a call; write one such as '{"tool": "read_file", "input": {"path": "README.md"}}'
            exit 2
        "#]],
    );
    let lines = decided(&tree, &[], b"{\"name\":\"ls\",\"input\":{}}\n{ ls; }\n");
    assert_eq!(lines[0]["decision"], "deny");
    let error = lines[0]["error"].as_str().unwrap();
    assert!(error.contains("it has no `tool`, and `name` is not a key of a call"), "{error}");
    assert_eq!(lines[1]["error"], Value::Null);
}

#[test]
fn explains_as_one_object() {
    check(
        tree().path(),
        &["policy", "explain", "--json", "cat notes.md > copy.md"],
        expect![[r#"
        {"decision":"ask","input":"cat notes.md > copy.md","accesses":[{"access":"exec exec:cat notes.md","decision":"allow","rule":"exec(@reads)","source":"profile read_only:11","reason":"by the rule exec(@reads) (profile read_only:11)"},{"access":"write file:copy.md","decision":"ask","reason":"no rule speaks of it","change":"a rule that allows it, such as `write(./copy.md)`"},{"access":"read file:notes.md","decision":"allow","rule":"read(**)","source":"profile read_only:9","reason":"by the rule read(**) (profile read_only:9)"}]}
        exit 0
    "#]],
    );
}

/// Gives lines to standard input, and takes the decisions.
fn decided(tree: &Tree, arguments: &[&str], input: &[u8]) -> Vec<Value> {
    let arguments = [&["policy", "explain", "--stdin", "--json"], arguments].concat();
    let mut child = haft(tree.path(), &arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|threads| {
        threads.spawn(move || stdin.write_all(input).unwrap());
        child.wait_with_output().unwrap()
    });
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn answers_every_line_with_one_decision_in_order() {
    let tree = tree();
    let mut input = b"git status\n\n{\"tool\": \"read_file\", \"input\": {\"path\": \"notes.md\"}}\n\
        {\"tool\": \"nope\", \"input\": {}}\n{\"tool\": 1, \"input\": {}}\n{\"tool\": \"bash\"}\n{\"tool\": \"bash\", \
        \nls \xff\xfe\n[1]\nnull\n{\"tool\": \"read_file\", \"input\": 3}\n   \nrm\0x\n\"\n$(\n"
        .to_vec();
    input.extend(std::iter::repeat_n(b'x', 1 << 20));
    input.push(b'\n');
    input.extend(std::iter::repeat_n(b'y', 5 << 20));
    input.extend(b"\ncat notes.md");
    let decided = decided(&tree, &["--profile", "read_only"], &input);
    let lines: Vec<String> = decided
        .iter()
        .map(|one| {
            let mut input = one["input"].to_string();
            input.truncate(60);
            let mut error = one["error"].as_str().unwrap_or("").lines().next().unwrap_or("").to_owned();
            error.truncate(100);
            format!(
                "{:5} {:2} {input} {error}",
                one["decision"].as_str().unwrap(),
                one["accesses"].as_array().unwrap().len()
            )
        })
        .collect();
    expect![[r#"
        allow  3 "git status" 
        deny   0 "" `bash` cannot prepare the call: `command` is empty; give the script to run
        allow  1 {"input":{"path":"notes.md"},"tool":"read_file"} 
        deny   0 {"input":{},"tool":"nope"} there is no tool `nope`
        deny   0 {"input":{},"tool":1} `tool` is not a text; name a tool
        deny   0 "{\"tool\": \"bash\"}" this JSON object is not a call: it has no `input`; write one such as '{"tool": "read_file", "input":
        ask    1 "{\"tool\": \"bash\", " 
        deny   0 "ls ��" the line is not UTF-8; write it so
        ask    2 "[1]" 
        ask    1 "null" 
        deny   0 {"input":3,"tool":"read_file"} the arguments do not fit `read_file`:
        deny   0 "   " `bash` cannot prepare the call: `command` is empty; give the script to run
        deny   0 "rm\u0000x" `bash` cannot prepare the call: `command` has a NUL byte after 2 bytes, which no script can have; wr
        ask    2 "\"" 
        ask    2 "$(" 
        deny   0 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx `bash` cannot prepare the call: `command` has 1048576 bytes, and 131071 is the most there can be; pu
        deny   0 "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy the line has more than 4194304 bytes; put the script into a file
        allow  2 "cat notes.md" "#]].assert_eq(&lines.join("\n"));
}

#[test]
fn answers_a_line_before_the_next_one_is_written() {
    let tree = tree();
    let mut child = haft(tree.path(), &["policy", "explain", "--stdin", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    // The second line is begun together with the first, so that something is there that is not yet a line.
    for (input, decision) in [("ls\nrm", "allow"), (" notes.md\n", "ask"), ("git status\n", "allow")] {
        stdin.write_all(input.as_bytes()).unwrap();
        stdin.flush().unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["decision"], decision);
    }
    drop(stdin);
    assert!(answers.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn stops_when_nobody_reads_on() {
    let tree = tree();
    let mut child = haft(tree.path(), &["policy", "explain", "--stdin", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let _ = child.stdin.take().unwrap().write_all(&b"ls\n".repeat(100_000));
    let output = child.wait_with_output().unwrap();
    assert_eq!(shown(&output), "exit 0\n");
}

#[test]
fn checks_a_file_and_says_all_that_is_wrong() {
    let tree = tree()
        .file("good.toml", "include = [\"more.toml\"]\nprofile = \"read_only\"\n[[test]]\ncommand = \"ls\"\nexpect = \"allow\"\n")
        .file("more.toml", "[permissions]\nask = [\"exec(git push *)\"]\n")
        .file(
            "bad.toml",
            "profile = \"readonly\"\n[permissions]\nallow = [\"raed(src/**)\", \"exec(git diff | sh)\", \"write(src/[a)\"]\n\
             alow = []\n",
        )
        .file("failing.toml", "[permissions]\nallow = [\"exec(ls *)\"]\n[[test]]\ncommand = \"ls\"\nexpect = \"deny\"\n");
    check(
        tree.path(),
        &["policy", "check", "good.toml"],
        expect![[r#"
        ok  good.toml: 1 test passed
            includes more.toml
            builds on the profile read_only
            mode default, sandbox off
        exit 0
    "#]],
    );
    check(
        tree.path(),
        &["policy", "check", "bad.toml"],
        expect![[r#"
        stderr: error: `readonly` is not a profile; write `read_only`
        stderr:  --> bad.toml:1:12
        stderr:   |
        stderr: 1 | profile = "readonly"
        stderr:   |            ^^^^^^^^
        stderr: 
        stderr: error: `raed` is not a mode; write `read`
        stderr:  --> bad.toml:3:11
        stderr:   |
        stderr: 3 | allow = ["raed(src/**)", "exec(git diff | sh)", "write(src/[a)"]
        stderr:   |           ^^^^
        stderr: 
        stderr: error: `|` joins commands or redirects them, and a rule is about one; write a rule for each
        stderr:  --> bad.toml:3:41
        stderr:   |
        stderr: 3 | allow = ["raed(src/**)", "exec(git diff | sh)", "write(src/[a)"]
        stderr:   |                                         ^
        stderr: 
        stderr: error: `[` without a `]`; close it, or write `\[` for the character itself
        stderr:  --> bad.toml:3:60
        stderr:   |
        stderr: 3 | allow = ["raed(src/**)", "exec(git diff | sh)", "write(src/[a)"]
        stderr:   |                                                            ^
        stderr: 
        stderr: error: `alow` is not a key of `[permissions]`; write `allow`
        stderr:  --> bad.toml:4:1
        stderr:   |
        stderr: 4 | alow = []
        stderr:   | ^^^^
        stderr: 
        stderr: bad.toml: 5 problems
        exit 1
    "#]],
    );
    check(
        tree.path(),
        &["policy", "check", "failing.toml"],
        expect![[r#"
            stderr: error: the test expects deny and gets ask
            stderr:  --> failing.toml:4:11
            stderr:   |
            stderr: 4 | command = "ls"
            stderr:   |           ^^^^
            stderr:   |
            stderr:   = note: exec exec:ls: allow, by the rule exec(ls *) (failing.toml:2)
            stderr:   = note: read file:.: ask, no rule speaks of it; what would change it: a rule that allows it, or a person's word each time
            stderr: 
            stderr: failing.toml: 1 problem
            exit 1
        "#]],
    );
    check(
        tree.path(),
        &["policy", "check", "missing.toml"],
        expect![[r#"
        stderr: error: missing.toml: cannot be read: there is no such file
        stderr: 
        stderr: missing.toml: 1 problem
        exit 1
    "#]],
    );
}

#[test]
fn runs_tests_like_a_test_runner() {
    let tree = tree().file(
        "team.toml",
        r#"profile = "read_only"

[permissions]
deny = ["exec(git push *)"]

[[test]]
command = "git push -f"
expect = "deny"

[[test]]
name = "nobody writes"
access = "write(src/lib.rs)"
expect = "deny"

[[test]]
access = "write(src/lib.rs)"
agent = ["lead", "explorer"]
mode = "plan"
expect = "deny"

[[test]]
tool = "unknown_tool"
expect = "ask"
"#,
    );
    check(
        tree.path(),
        &["policy", "test", "team.toml"],
        expect![[r#"
        team.toml
          ok       7  deny   git push -f
          FAIL    12  deny   nobody writes
          ok      16  deny   write(src/lib.rs) by lead, explorer in the mode plan
          skip    22  ask    unknown_tool: there is no tool `unknown_tool`

        2 passed, 1 failed, 1 not run
        stderr: 
        stderr: error: the test `nobody writes` expects deny and gets ask
        stderr:   --> team.toml:12:10
        stderr:    |
        stderr: 12 | access = "write(src/lib.rs)"
        stderr:    |          ^^^^^^^^^^^^^^^^^^^
        stderr:    |
        stderr:    = note: write file:src/lib.rs: ask, no rule speaks of it; what would change it: a rule that allows it, such as `write(src/lib.rs)`
        exit 1
    "#]],
    );
    check(
        tree.path(),
        &["policy", "test", "--profile", "full_access"],
        expect![[r#"
            profile full_access
              ok      23  allow  write(src/lib.rs)
              ok      27  allow  write(.git/hooks/pre-commit)
              ok      31  allow  read(outside:/etc/hosts)
              ok      35  allow  exec(rm -r src)
              ok      39  allow  connect(example.org:443)
              ok      43  allow  call(mcp:github/create_issue)
              ok      48  allow  what cannot be told is allowed, too
              ok      52  deny   write(src/lib.rs) in the mode plan

            8 passed, 0 failed
            exit 0
        "#]],
    );
    let none = tree.file("none.toml", "");
    check(
        none.path(),
        &["policy", "test", "none.toml"],
        expect![[r#"
        There are no tests; write one as a `[[test]]` with an `access` or a `command` and what to `expect`.
        exit 0
    "#]],
    );
}

#[test]
fn shows_profiles_as_files() {
    let tree = tree();
    check(
        tree.path(),
        &["policy", "show"],
        expect![[r#"
        read_only        Looks, and changes nothing.
        workspace_write  Works on the files of the working directory.
        full_access      Does everything without asking.

        Print one with `haft policy show NAME`, and choose one with `--profile NAME` or in a policy file.
        exit 0
    "#]],
    );
    check(
        tree.path(),
        &["policy", "show", "readonly"],
        expect![[r#"
        stderr: error: invalid value 'readonly' for '[PROFILE]': `readonly` is not a profile; write `read_only`
        stderr: 
        stderr: For more information, try '--help'.
        exit 2
    "#]],
    );
    for profile in ["read_only", "workspace_write", "full_access"] {
        let output = haft(tree.path(), &["policy", "show", profile]).output().unwrap();
        std::fs::write(tree.path().join("shown.toml"), output.stdout).unwrap();
        let output = haft(tree.path(), &["policy", "check", "shown.toml"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    }
}

#[test]
fn it_is_said_that_what_was_remembered_is_not_explained() {
    let help = shown(&haft(tree().path(), &["policy", "explain", "--help"]).output().unwrap());
    assert!(help.contains("What was remembered") && help.contains("`haft grants list`"), "{help}");
}
