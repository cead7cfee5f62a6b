//! What a call gives to the standard input of what it runs.

use expect_test::{Expect, expect};
use haft_testkit::{Tree, call};
use haft_tool_shell::{Bash, Environment};
use haft_tools_core::{Prepared, Tool as _, ToolRegistry};
use serde_json::{Value, json};

use crate::deciding::{Decision, Rules};
use crate::harness::{Shell, check_call, scope, shown};

fn prepared(tool: &str, input: &Value) -> Prepared {
    let tree = Tree::new().directory("src");
    let bash = Bash::new(tree.workdir(), Environment::minimal());
    let prepared = match tool {
        "bash" => bash.prepare(input, &scope()),
        _ => bash.program().prepare(input, &scope()),
    };
    prepared.expect("it can be prepared")
}

/// Shows what a call declares and what a person is shown.
async fn check_declared(tool: &str, input: Value, expected: Expect) {
    let prepared = prepared(tool, &input);
    let mut lines: Vec<String> = prepared.accesses().iter().map(ToString::to_string).collect();
    lines.push(prepared.preview().await.as_text().to_owned());
    expected.assert_eq(&lines.join("\n"));
}

/// What rules say to a script that is given something to read.
#[track_caller]
fn check_decided(script: &str, given: &str, allow: &[&str], deny: &[&str], expected: Decision) {
    let tree = Tree::new();
    let rules = Rules::new(&tree, Environment::minimal(), allow, deny);
    let prepared = prepared("bash", &json!({ "command": script, "input": given }));
    let decided = prepared.accesses().iter().map(|access| rules.decide_access(access)).max();
    assert_eq!(decided, Some(expected), "{script}");
}

#[tokio::test]
async fn a_script_and_a_program_read_what_the_call_gives() {
    check_call(
        json!({ "command": "read first; sort -r; echo $first", "input": "x\na\nb\n" }),
        expect![[r#"
            ok
            b
            a
            x
            [exit code 0]
        "#]],
    )
    .await;
    let tree = Tree::new();
    let program = Bash::new(tree.workdir(), Environment::minimal()).program();
    let shell = Shell::of(tree, ToolRegistry::new().with(program).expect("it is the only tool"));
    let input = json!({ "program": "tr", "args": ["a-z", "A-Z"], "input": "no end" });
    expect![[r#"
        ok
        NO END
        [exit code 0]
    "#]]
    .assert_eq(&shown(&call(shell.registry(), "run_program", input).await));
}

#[tokio::test]
async fn nobody_waits_for_what_is_not_read() {
    let long = "0123456789\n".repeat(90_000);
    check_call(
        json!({ "command": "true", "input": long }),
        expect![[r#"
        ok
        (no output)
        [exit code 0]
    "#]],
    )
    .await;
    check_call(
        json!({ "command": "wc -c; wc -c < /dev/stdin", "input": long }),
        expect![[r#"
        ok
        990000
        990000
        [exit code 0]
    "#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_given_is_shown_and_decided_with_the_command() {
    check_declared(
        "bash",
        json!({ "command": "sort", "input": "b\na\n" }),
        expect![[r#"
        exec exec:sort
        sort
        # reads
        < b
        < a"#]],
    )
    .await;
    check_declared(
        "bash",
        json!({ "command": "sort" }),
        expect![[r#"
        exec exec:sort
        sort"#]],
    )
    .await;
    let script = json!({ "command": "python3", "input": "import os\nos.remove('x')", "directory": "src" });
    check_declared(
        "bash",
        script,
        expect![[r#"
        exec exec:python3
        opaque (what `python3` reads and runs)
        opaque (what is made of the input: import os\u{a}os.remove('x'))
        # in src
        python3
        # reads
        < import os
        < os.remove('x')"#]],
    )
    .await;
    check_declared(
        "bash",
        json!({ "command": "bash", "input": "git push" }),
        expect![[r#"
        exec exec:bash
        exec exec:git push
        opaque (what `bash` reads and runs)
        opaque (what is made of the input: git push)
        bash
        # reads
        < git push"#]],
    )
    .await;
    let long = "x".repeat(1000);
    check_declared("run_program", json!({ "program": "psql", "input": &long[..201] }), expect![[r#"
        exec exec:psql
        opaque (what is made of the input: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…)
        psql
        # reads
        < xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"#]])
        .await;
    check_declared(
        "run_program",
        json!({ "program": "bash", "args": ["-s"], "input": "rm x" }),
        expect![[r#"
            exec exec:bash -s
            exec exec:rm x
            write file:x/**
            opaque (what `bash -s` reads and runs)
            opaque (what is made of the input: rm x)
            bash -s
            # reads
            < rm x"#]],
    )
    .await;
}

#[test]
fn an_interpreter_that_may_run_may_not_run_whatever_it_is_given() {
    for script in
        ["bash", "python3", "env bash -s", "cd src; sh", "{ node; }", "while python3; do :; done", "psql"]
    {
        let allow = ["bash *", "python3 *", "env *", "cd *", "sh *", "node *", "psql *"];
        check_decided(script, "rm x", &allow, &[], Decision::Ask);
    }
    for script in ["sort", "cat | grep x", "wc -l && wc -c"] {
        check_decided(script, "rm x", &["@understood"], &[], Decision::Allow);
    }
}

#[test]
fn an_interpreter_does_not_run_unasked_what_comes_to_it_otherwise() {
    let tree = Tree::new().file("a", "");
    let rules = Rules::new(
        &tree,
        Environment::minimal(),
        &["bash *", "sh *", "zsh *", "python3 *", "echo *", "ls"],
        &[],
    );
    for script in [
        "echo rm x | bash",
        "echo rm x | python3",
        "bash < a",
        "python3 <<E\nimport os\nE",
        "{ bash; } <<E\nrm x\nE",
        "bash -s",
        "zsh <<E\nls\nE",
        "sh <<E\nls &> x\nE",
        "bash <<E\n$x\nE",
        // Another descriptor, or another input after it.
        "echo rm x | bash 3<<< ls",
        "bash <<< ls < a",
        "bash <<E < a\nls\nE",
        "bash <<< ls <&3",
        "bash <<< ls < <(echo rm x)",
        "bash <<< ls 0> a",
        // Commands of the script can read the rest of it.
        "bash <<'E'\nread -N5 x\necho rm -rf src\nE",
        "bash <<'E'\nls\nls\nE",
    ] {
        assert_eq!(rules.decide(script), Decision::Ask, "{script}");
    }
    for script in ["bash <<E\nls\nE", "sh <<< ls"] {
        assert_eq!(rules.decide(script), Decision::Allow, "{script}");
    }
}

#[test]
fn a_command_that_is_denied_is_found_in_what_a_shell_is_given() {
    for script in ["bash", "env sh", "true; bash -s", "(bash)"] {
        check_decided(script, "cd d && git push", &["*"], &["git push *"], Decision::Deny);
    }
}

#[test]
fn refuses_what_is_too_long_and_what_is_read_twice() {
    let tree = Tree::new();
    let bash = Bash::new(tree.workdir(), Environment::minimal());
    let refused = |input: Value| match bash.prepare(&input, &scope()) {
        Ok(_) => "prepared".to_owned(),
        Err(error) => error.to_string(),
    };
    let long = "x".repeat(1024 * 1024 + 1);
    expect!["`input` has 1048577 bytes, and 1048576 is the most there can be; put it into a file"]
        .assert_eq(&refused(json!({ "command": "cat", "input": long })));
    expect!["`input` is given once, and `stdin` stays open for `job_write`; give one of them"]
        .assert_eq(&refused(json!({ "command": "cat", "input": "x", "stdin": true, "background": true })));
}
