//! Where scripts go on that say nothing else.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::{Expect, expect};
use haft_testkit::Tree;
use haft_tool_shell::{Bash, Environment};
use haft_tools_core::{
    AllowAll, Batch, CallScope, LocalExecutor, Tool as _, ToolExecutor as _, ToolRegistry,
};
use serde_json::{Value, json};

use crate::harness::{Shell, scope, shown};

/// Runs scripts one after the other; each prints where it is.
async fn check(scripts: &[&str], expected: Expect) {
    let tree = Tree::new().directory("src/net").directory("docs").link("out", "/").link("way", "src/net");
    let shell = Shell::with(tree, &Environment::minimal());
    let root = shell.tree.path().canonicalize().expect("it is there");
    let mut told = String::new();
    for script in scripts {
        let reply = match script.strip_prefix("# ") {
            Some(directory) => shell.call(json!({ "command": "pwd", "directory": directory })).await,
            None => shell.run(script).await,
        };
        let text = reply.output.to_text().replace(root.to_str().expect("it is text"), "…");
        writeln!(told, "$ {script}\n{text}").expect("a text takes it");
    }
    expected.assert_eq(&told);
}

#[tokio::test]
async fn the_next_script_starts_where_the_last_one_ended() {
    check(
        &["cd src", "pwd", "cd net && pwd && false", "pwd", "cd ../..", "pwd"],
        expect![[r#"
        $ cd src
        (no output)
        [exit code 0; the next script starts in `src`]
        $ pwd
        …/src
        [exit code 0; the next script starts in `src`]
        $ cd net && pwd && false
        …/src/net
        [exit code 1; the next script starts in `src/net`]
        $ pwd
        …/src/net
        [exit code 0; the next script starts in `src/net`]
        $ cd ../..
        (no output)
        [exit code 0]
        $ pwd
        …
        [exit code 0]
    "#]],
    )
    .await;
    check(
        &["cd src; exit 3", "cd docs; true", "cd ..; set -e; cd src; false", "pwd"],
        expect![[r#"
        $ cd src; exit 3
        (no output)
        [exit code 3; `cd` could not be followed here, so the next script starts in the working directory]
        $ cd docs; true
        (no output)
        [exit code 0; the next script starts in `docs`]
        $ cd ..; set -e; cd src; false
        (no output)
        [exit code 1; `cd` could not be followed here, so the next script starts in `docs`]
        $ pwd
        …/docs
        [exit code 0; the next script starts in `docs`]
    "#]],
    )
    .await;
}

/// Where bash is when it ends, as it is known before its last command: from the root, without a slash at the end.
fn where_bash_ends(root: &Path, script: &str) -> String {
    let place = root.join(".place");
    // Whatever else a script does, this is what it does last.
    let trap = format!("trap 'pwd -P > {}' EXIT\n{script}", place.display());
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-c", "--", &trap]).current_dir(root).env_clear();
    bash.env("PATH", std::env::var_os("PATH").expect("there is one")).output().expect("there is a bash");
    let ended = fs::read_to_string(&place).expect("it has said where it is");
    fs::remove_file(place).expect("it is there");
    let below = Path::new(ended.trim_end()).strip_prefix(root).expect("it does not leave the root");
    below.to_str().expect("it is text").to_owned()
}

/// What can end a script, or what stands behind it on its line, before it comes to its end, and what moves it by the way.
const MAY_END: [&str; 47] = [
    "echo ${X:?}",
    "echo ${X?is not set}",
    "echo \"${X:-${Y:?}}\"",
    "x=${Y?}",
    "x=(${Y?})",
    "x=1 y=${Y:?} true",
    "[[ ${X?} ]]",
    "for i in ${X?}; do :; done",
    "case ${X?} in *) ;; esac",
    "echo ${X[0]?}",
    "(echo ${X?})",
    "echo $(echo ${X?})",
    "echo ${X?} | cat",
    "cat <<< ${X?}",
    "set -u; echo $X",
    "set -o nounset; echo $X",
    "set -eu; false",
    "set -e; (exit 3)",
    "set -euo pipefail; false | true",
    "command set -e; false",
    "eval 'echo ${X?}'",
    "{ echo ${X?}; }",
    "if : ${X?}; then :; fi",
    "! : ${X?}",
    "echo $((1/0))",
    "echo \"$((08))\"",
    "x=$((1 +))",
    "if : $((1%0)); then :; fi",
    "x=ab; echo ${x:1:-9}",
    "x=ab; echo ${x:08}",
    "UID=5",
    "PPID=1",
    "BASH_VERSINFO=1",
    "readonly x=1; x=2",
    "declare -r x=1; x=(2)",
    "readonly -a x=(1); x[2]=3",
    "y=1; readonly x y; z=1 y=2",
    "for i in 1 2; do x=$i; readonly x; done",
    "jobs -x cd ../b",
    "command cd ../b",
    "builtin cd ../b",
    "eval 'cd ../b'",
    "x[08]=1",
    "echo ${x[09]}",
    ": <<< ${X?}",
    ": > $((1/0))",
    "x=(2 $((1/0)))",
];

#[tokio::test]
async fn where_a_script_ends_is_told_as_bash_does_it_or_not_at_all() {
    for end in MAY_END {
        for script in [
            format!("cd a; {end}; cd .."),
            format!("cd a; {end}; cd ..\ntrue"),
            format!("cd a\n{end}\ncd ../b"),
            format!("{end}; cd a\ntrue"),
        ] {
            let shell = Shell::with(Tree::new().directory("a").directory("b"), &Environment::minimal());
            let ended = where_bash_ends(&shell.tree.path().canonicalize().unwrap(), &script);
            let reply = shell.run(&script).await;
            if !reply.output.to_text().contains("could not be followed") {
                let told = reply.output.details["next_directory"].as_str().unwrap_or_default();
                assert_eq!(told, ended, "{script}: {}", shown(&reply));
            }
        }
    }
}

#[tokio::test]
async fn behind_commands_that_are_read_and_not_run_no_directory_is_told() {
    check(
        &[
            "cd src",
            "cd ../docs; set -n; cd ../src",
            "cd ../docs; set -en\ncd ../src",
            "cd ../docs; set +n; true",
        ],
        expect![[r#"
            $ cd src
            (no output)
            [exit code 0; the next script starts in `src`]
            $ cd ../docs; set -n; cd ../src
            (no output)
            [exit code 0; `cd` could not be followed here, so the next script starts in `src`]
            $ cd ../docs; set -en
            cd ../src
            (no output)
            [exit code 0; `cd` could not be followed here, so the next script starts in `src`]
            $ cd ../docs; set +n; true
            (no output)
            [exit code 0; the next script starts in `docs`]
        "#]],
    )
    .await;
}

#[tokio::test]
async fn what_expands_without_a_failure_is_followed() {
    for script in [
        "cd a; echo ${X:-y} ${X-y} ${X:+y} ${X#y} ${X/y/z} ${#X} ${X:0:1} ${X:2} $# $?",
        "cd a; X=${X:-y}; echo \"$X\"",
        "cd a; X=1; X=2",
        "cd a; echo ${X:?} | true",
        "set -euo pipefail; cd a; true",
        "cd a; X=x; echo ${X:?}",
    ] {
        let reply = Shell::with(Tree::new().directory("a"), &Environment::minimal()).run(script).await;
        assert_eq!(reply.output.details["next_directory"], json!("a"), "{script}: {}", shown(&reply));
    }
}

#[tokio::test]
async fn what_changes_in_a_process_of_its_own_is_not_remembered() {
    check(
        &["(cd src; pwd)", "cd src | cat", "cd src & wait", "echo $(cd src; pwd)", "pwd"],
        expect![[r#"
            $ (cd src; pwd)
            …/src
            [exit code 0]
            $ cd src | cat
            (no output)
            [exit code 0]
            $ cd src & wait
            (no output)
            [exit code 0]
            $ echo $(cd src; pwd)
            …/src
            [exit code 0]
            $ pwd
            …
            [exit code 0]
        "#]],
    )
    .await;
}

#[tokio::test]
async fn nobody_gets_out_and_what_cannot_be_followed_is_said() {
    check(
        &[
            "cd src",
            "cd /",
            "pwd",
            "cd ../../..",
            "cd $HOME",
            "cd ../out",
            "pushd net",
            "cd nowhere; pwd",
            "pwd",
        ],
        expect![[r#"
            $ cd src
            (no output)
            [exit code 0; the next script starts in `src`]
            $ cd /
            (no output)
            [exit code 0; `cd` could not be followed here, so the next script starts in `src`]
            $ pwd
            …/src
            [exit code 0; the next script starts in `src`]
            $ cd ../../..
            (no output)
            [exit code 0; `cd` could not be followed here, so the next script starts in `src`]
            $ cd $HOME
            bash: line 1: cd: HOME not set
            [exit code 1; `cd` could not be followed here, so the next script starts in `src`]
            $ cd ../out
            (no output)
            [exit code 0; `cd` could not be followed here, so the next script starts in `src`]
            $ pushd net
            …/src/net …/src
            [exit code 0; `cd` could not be followed here, so the next script starts in `src`]
            $ cd nowhere; pwd
            bash: line 1: cd: nowhere: No such file or directory
            …/src
            [exit code 0; `cd` could not be followed here, so the next script starts in `src`]
            $ pwd
            …/src
            [exit code 0; the next script starts in `src`]
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_directory_that_is_said_counts_for_one_script() {
    check(
        &["cd src", "# docs", "pwd", "# .", "pwd"],
        expect![[r#"
        $ cd src
        (no output)
        [exit code 0; the next script starts in `src`]
        $ # docs
        …/docs
        [exit code 0; the next script starts in `src`]
        $ pwd
        …/src
        [exit code 0; the next script starts in `src`]
        $ # .
        …
        [exit code 0; the next script starts in `src`]
        $ pwd
        …/src
        [exit code 0; the next script starts in `src`]
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_directory_that_is_gone_is_told_and_not_replaced_silently() {
    check(
        &["cd src/net", "rm -r ../net", "pwd"],
        expect![[r#"
        $ cd src/net
        (no output)
        [exit code 0; the next script starts in `src/net`]
        $ rm -r ../net
        (no output)
        [exit code 0; `src/net` is gone, so the next script starts in the working directory]
        $ pwd
        …
        [exit code 0]
    "#]],
    )
    .await;
    let shell = Shell::with(Tree::new().directory("a/b"), &Environment::minimal());
    shell.run("cd a/b").await;
    fs::remove_dir_all(shell.tree.path().join("a")).unwrap();
    let refused = shown(&shell.run("rm -rf *").await);
    let goes_on = shown(&shell.call(json!({ "command": "echo here", "directory": "." })).await);
    let later = shown(&shell.run("echo later").await);
    expect![[r#"
        error: not found
        `a/b`, in which the last script ended, is not there any more; give with `directory` where to go on, such as `.` for the working directory
        ok
        here
        [exit code 0; `a/b` is gone, so the next script starts in the working directory]
        ok
        later
        [exit code 0]
    "#]].assert_eq(&[refused, goes_on, later].concat());
}

#[tokio::test]
async fn a_directory_that_became_a_way_out_is_not_gone_to() {
    let shell = Shell::with(Tree::new().directory("a"), &Environment::minimal());
    shell.run("cd a").await;
    fs::remove_dir(shell.tree.path().join("a")).unwrap();
    std::os::unix::fs::symlink("/", shell.tree.path().join("a")).unwrap();
    expect![[r#"
        error: not found
        `a`, in which the last script ended, is not there any more; give with `directory` where to go on, such as `.` for the working directory
    "#]].assert_eq(&shown(&shell.run("ls").await));
}

#[tokio::test]
async fn each_run_has_its_own() {
    let tree = Tree::new().directory("src");
    let bash = Bash::new(tree.workdir(), Environment::minimal());
    let registry = ToolRegistry::new().with(bash).unwrap();
    let executor = LocalExecutor::builder(registry).approver(AllowAll).build();
    let run = async |run: &str, command: &str| {
        let call = haft_core::ToolCall::new("c1".parse().unwrap(), "bash", json!({ "command": command }));
        let batch = Batch::new(CallScope::new(run.parse().unwrap()), vec![call]);
        let replies = executor.execute_batch(batch).await.into_replies().unwrap();
        replies[0].output.details["directory"].clone()
    };
    run("run-1", "cd src").await;
    assert_eq!([run("run-2", "true").await, run("run-1", "true").await], [json!("."), json!("src")]);
}

#[tokio::test]
async fn calls_of_a_batch_run_where_they_would_one_after_the_other() {
    let tree = Tree::new().directory("a").directory("b");
    let registry = ToolRegistry::new().with(Bash::new(tree.workdir(), Environment::minimal())).unwrap();
    let executor = LocalExecutor::builder(registry).approver(AllowAll).build();
    let scripts = ["cd a; sleep 0.2", "cd ../b", "pwd > /dev/null", "true"];
    let calls = scripts.iter().enumerate().map(|(index, script)| {
        haft_core::ToolCall::new(format!("c{index}").parse().unwrap(), "bash", json!({ "command": script }))
    });
    let replies = executor.execute_batch(Batch::new(scope(), calls.collect())).await.into_replies().unwrap();
    let ran: Vec<&Value> = replies.iter().map(|reply| &reply.output.details["directory"]).collect();
    let last = haft_core::ToolCall::new("c9".parse().unwrap(), "bash", json!({ "command": "true" }));
    let after = executor.execute_batch(Batch::new(scope(), vec![last])).await.into_replies().unwrap();
    assert_eq!(ran, [&json!("."), &json!("a"), &json!("b"), &json!("b")]);
    assert_eq!(after[0].output.details["directory"], json!("b"));
}

#[tokio::test]
async fn a_decision_about_a_script_without_commands_is_about_its_directory_too() {
    let tree = Tree::new().directory("src");
    let bash = std::sync::Arc::new(Bash::new(tree.workdir(), Environment::minimal()));
    let registry = ToolRegistry::new().with(std::sync::Arc::clone(&bash)).unwrap();
    let executor = LocalExecutor::builder(registry).approver(AllowAll).build();
    let prepared = || bash.prepare(&json!({ "command": "[[ $x -eq 1 ]]" }), &scope()).unwrap();
    let in_root = prepared().accesses().clone();
    let call = haft_core::ToolCall::new("c1".parse().unwrap(), "bash", json!({ "command": "cd src" }));
    executor.execute_batch(Batch::new(scope(), vec![call])).await.into_replies().unwrap();
    assert_ne!(*prepared().accesses(), in_root);
}

#[tokio::test]
async fn what_is_declared_starts_from_there_and_a_decision_is_about_it() {
    let tree = Tree::new().directory("src").directory("docs").file("src/a", "");
    let registry = ToolRegistry::new();
    let bash = std::sync::Arc::new(Bash::new(tree.workdir(), Environment::minimal()));
    let registry = registry.with(std::sync::Arc::clone(&bash)).unwrap();
    let executor = LocalExecutor::builder(registry).approver(AllowAll).build();
    let mut told = String::new();
    for move_to in ["cd .", "cd src", "cd ../docs"] {
        let call = haft_core::ToolCall::new("c1".parse().unwrap(), "bash", json!({ "command": move_to }));
        executor.execute_batch(Batch::new(scope(), vec![call])).await.into_replies().unwrap();
        let prepared = bash.prepare(&json!({ "command": "cat a > b; ./x.sh" }), &scope()).unwrap();
        for access in prepared.accesses() {
            let detail = access.detail().map_or(String::new(), |detail| format!(" [{detail}]"));
            writeln!(told, "{access}{detail}").expect("a text takes it");
        }
        writeln!(told, "{}\n", prepared.preview().await.as_text()).expect("a text takes it");
    }
    expect![[r#"
        exec exec:cat a
        exec exec:./x.sh
        write file:b
        read file:a
        cat a > b; ./x.sh

        exec exec:cat a [(in src)]
        exec exec:./src/x.sh
        write file:src/b
        read file:src/a
        # in src
        cat a > b; ./x.sh

        exec exec:cat a [(in docs)]
        exec exec:./docs/x.sh
        write file:docs/b
        read file:docs/a
        # in docs
        cat a > b; ./x.sh

    "#]]
    .assert_eq(&told);
}
