//! Programs that are run without a shell.

use expect_test::{Expect, expect};
use haft_testkit::{Tree, call};
use haft_tool_shell::{Bash, Environment};
use haft_tools_core::{Tool as _, ToolRegistry};
use serde_json::{Value, json};

use crate::harness::{Shell, scope, shown};

fn shell(tree: Tree) -> Shell {
    let program = Bash::new(tree.workdir(), Environment::minimal()).program();
    let registry = ToolRegistry::new().with(program).expect("it is well formed");
    Shell::of(tree, registry)
}

async fn check(input: Value, expected: Expect) {
    let tree = Tree::new().file("a b.txt", "text\n").file("tool.sh", "#!/bin/sh\necho \"tool: $1\"\n");
    let shell = shell(tree.directory("src"));
    let path = shell.tree.path().join("tool.sh");
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("it is well formed");
    let reply = call(shell.registry(), "run_program", input).await;
    expected.assert_eq(&shown(&reply));
    shell.is_deserted().await;
}

/// Shows what a call declares and what a person is shown.
async fn check_declared(input: Value, expected: Expect) {
    let tree = Tree::new().file("a.txt", "text\n").directory("src");
    let program = Bash::new(tree.workdir(), Environment::minimal()).program();
    let prepared = program.prepare(&input, &scope()).expect("it can be prepared");
    let mut lines: Vec<String> = prepared.accesses().iter().map(ToString::to_string).collect();
    lines.push(format!("{:?}", prepared.preview().await));
    expected.assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn runs_a_program_with_its_arguments_as_they_are() {
    check(
        json!({ "program": "cat", "args": ["a b.txt"] }),
        expect![[r#"
        ok
        text
        [exit code 0]
    "#]],
    )
    .await;
    check(
        json!({ "program": "printf", "args": ["<%s>", "$HOME", "*", "a'b", "; rm x", ""] }),
        expect![[r#"
        ok
        <$HOME><*><a'b><; rm x><>
        [exit code 0]
    "#]],
    )
    .await;
    check(
        json!({ "program": "./tool.sh", "args": ["x"] }),
        expect![[r#"
        ok
        tool: x
        [exit code 0]
    "#]],
    )
    .await;
    check(
        json!({ "program": "../tool.sh", "args": ["x"], "directory": "src" }),
        expect![[r#"
        ok
        tool: x
        [exit code 0]
    "#]],
    )
    .await;
    check(
        json!({ "program": "false" }),
        expect![[r#"
        ok
        (no output)
        [exit code 1]
    "#]],
    )
    .await;
    check(
        json!({ "program": "cat" }),
        expect![[r#"
        ok
        (no output)
        [exit code 0]
    "#]],
    )
    .await;
}

#[tokio::test]
async fn says_what_cannot_be_run() {
    check(
        json!({ "program": "no-such-program" }),
        expect![[r#"
        error: not found
        there is no program `no-such-program` where programs are looked for; give its path, or use another
    "#]],
    )
    .await;
    check(
        json!({ "program": "./no-such-program" }),
        expect![[r#"
        error: not found
        there is no program at `./no-such-program`; look where it is, then use that path
    "#]],
    )
    .await;
    check(
        json!({ "program": "./a b.txt" }),
        expect![[r#"
        error: invalid input
        `./a b.txt` cannot be executed; use `bash` to run a script of that name
    "#]],
    )
    .await;
    check(
        json!({ "program": "" }),
        expect![[r#"
        error: invalid input
        `program` is empty; give the program to run
    "#]],
    )
    .await;
    check(
        json!({ "program": "echo", "args": ["a\u{0}b"] }),
        expect![[r#"
        error: invalid input
        there is a NUL byte in `program` or `args`, which no program can be given; leave it out
    "#]],
    )
    .await;
    check(
        json!({ "program": "echo | cat" }),
        expect![[r#"
        error: not found
        there is no program `echo | cat` where programs are looked for; give its path, or use another
    "#]],
    )
    .await;
}

#[tokio::test]
async fn is_stopped_when_its_time_is_over() {
    check(json!({ "program": "sleep", "args": ["60"], "timeout": 1 }), expect![[r#"
        timed out
        (no output)
        [stopped after 1 s, with everything it had started; give it a longer `timeout` (600 at most), or do less in one command]
    "#]]).await;
}

#[tokio::test]
async fn is_declared_as_what_it_is() {
    check_declared(
        json!({ "program": "git", "args": ["diff", "--stat"] }),
        expect![[r#"
        exec exec:git diff --stat
        read file:**
        Command("git diff --stat")"#]],
    )
    .await;
    check_declared(
        json!({ "program": "cat", "args": ["a.txt"] }),
        expect![[r#"
        exec exec:cat a.txt
        read file:a.txt
        Command("cat a.txt")"#]],
    )
    .await;
    check_declared(
        json!({ "program": "rm", "args": ["*"] }),
        expect![[r#"
        exec exec:rm '\*'
        write file:\*/**
        Command("rm '*'")"#]],
    )
    .await;
    check_declared(
        json!({ "program": "sudo", "args": ["git", "push"] }),
        expect![[r#"
        exec exec:sudo git push
        exec exec:git push
        Command("sudo git push")"#]],
    )
    .await;
    check_declared(
        json!({ "program": "bash", "args": ["-c", "git push; ls"] }),
        expect![[r#"
            exec exec:bash -c 'git push; ls'
            exec exec:git push
            exec exec:ls
            read file:.
            Command("bash -c 'git push; ls'")"#]],
    )
    .await;
    check_declared(
        json!({ "program": "eval", "args": ["git push"] }),
        expect![[r#"
        exec exec:eval 'git push'
        exec exec:git push
        opaque (what a program does that is named like a command of the shell)
        Command("eval 'git push'")"#]],
    )
    .await;
    check_declared(
        json!({ "program": "../run.sh", "directory": "src" }),
        expect![[r##"
        exec exec:./src/../run.sh
        Command("# in src\n../run.sh")"##]],
    )
    .await;
    check_declared(
        json!({ "program": "cat", "args": ["~/x", "$HOME", "a b"] }),
        expect![[r#"
        exec exec:cat '~/x' '$HOME' 'a b'
        read file:~/x
        read file:$HOME
        read file:a b
        Command("cat '~/x' '$HOME' 'a b'")"#]],
    )
    .await;
}
