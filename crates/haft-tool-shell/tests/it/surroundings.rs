use std::fs;
use std::process::Command;

use expect_test::{Expect, expect};
use haft_testkit::Tree;
use haft_tool_shell::Environment;
use serde_json::json;

use crate::harness::{Shell, shown};

async fn check_in(tree: Tree, environment: Environment, command: &str, expected: Expect) {
    let shell = Shell::with(tree, &environment);
    expected.assert_eq(&shown(&shell.run(command).await));
}

#[tokio::test]
async fn gives_no_variable_but_those_of_the_environment() {
    let vars =
        [("HOME", "/home/ann"), ("PATH", "/usr/bin:/bin"), ("LC_TIME", "C"), ("GITHUB_TOKEN", "hunter2")];
    let environment = Environment::from_vars(vars).with("ON_PURPOSE", "given").unwrap();
    let command = "env | sed 's/^HAFT_CALL=.*/HAFT_CALL=…/; s/^PWD=.*/PWD=…/' | sort";
    check_in(
        Tree::new(),
        environment,
        command,
        expect![[r#"
            ok
            DEBIAN_FRONTEND=noninteractive
            EDITOR=true
            GIT_CONFIG_COUNT=1
            GIT_CONFIG_KEY_0=safe.bareRepository
            GIT_CONFIG_VALUE_0=explicit
            GIT_EDITOR=true
            GIT_PAGER=cat
            GIT_TERMINAL_PROMPT=0
            HAFT_CALL=…
            HOME=/home/ann
            LANG=C.UTF-8
            LC_TIME=C
            MANPAGER=cat
            NO_COLOR=1
            ON_PURPOSE=given
            PAGER=cat
            PATH=/usr/bin:/bin
            PWD=…
            SHLVL=1
            SSH_ASKPASS_REQUIRE=never
            TERM=dumb
            VISUAL=true
            _=/usr/bin/env
            [exit code 0]
        "#]],
    )
    .await;
}

#[tokio::test]
async fn gives_no_descriptor_of_its_own() {
    let reply = Shell::new().run("ls /proc/self/fd").await.output.to_text();
    let given = reply.lines().filter_map(|line| line.parse().ok()).filter(|descriptor: &u32| *descriptor > 2);
    // What the test itself was started with, such as cargo's job server, is passed on; `ls` has opened its directory.
    let own: Vec<u32> = given.filter(|descriptor| !is_passed_on(*descriptor)).collect();
    assert!(own.len() <= 1, "{own:?} of\n{reply}");
}

/// Tells whether a descriptor of this process goes to the programs it runs: it has no `O_CLOEXEC`.
fn is_passed_on(descriptor: u32) -> bool {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    flags
        .and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok())
        .is_some_and(|flags| flags & 0o2_000_000 == 0)
}

#[tokio::test]
async fn forgets_everything_but_files_between_calls() {
    let shell = Shell::new();
    shell.run("x=1; mkdir d; cd d; export x").await;
    expect![[r#"
        ok
        []
        d
        [exit code 0]
    "#]]
    .assert_eq(&shown(&shell.run("echo \"[$x]\"; ls").await));
}

#[tokio::test]
async fn answers_where_there_is_no_bash() {
    let tree = Tree::new().file("bin/bash", "not executable").directory("more/bash");
    let path = format!("{0}/bin:{0}/more:relative", tree.path().display());
    let environment = Environment::minimal().with("PATH", path).unwrap();
    check_in(
        tree,
        environment,
        "true",
        expect![[r#"
        error: unavailable
        there is no `bash` where commands are looked for; do without it, or ask the user to install it
    "#]],
    )
    .await;
}

#[tokio::test]
async fn uses_the_bash_of_its_own_path() {
    let tree = Tree::new().executable("bin/bash", "#!/bin/sh\necho \"not bash: $*\"\n");
    let path = format!("{}/bin:/bin", tree.path().display());
    let environment = Environment::minimal().with("PATH", path).unwrap();
    check_in(
        tree,
        environment,
        "true",
        expect![[r#"
        ok
        not bash: --noprofile --norc -c -- true
        [exit code 0]
    "#]],
    )
    .await;
}

#[tokio::test]
async fn answers_when_the_directory_is_gone_from_the_host() {
    let outer = Tree::new().directory("project/src");
    let workdir = haft_workdir::Workdir::open(outer.path().join("project")).unwrap();
    let registry = haft_tools_core::ToolRegistry::new()
        .with(haft_tool_shell::Bash::new(workdir, Environment::minimal()))
        .unwrap();
    fs::rename(outer.path().join("project"), outer.path().join("moved")).unwrap();
    let reply = haft_testkit::call(&registry, "bash", json!({ "command": "ls", "directory": "src" })).await;
    expect![[r#"
        error: unavailable
        the working directory is not available; ask the user to check that it is still there
    "#]]
    .assert_eq(&shown(&reply));
}

#[tokio::test]
async fn answers_when_the_environment_is_too_large() {
    let environment = Environment::minimal().with("LARGE", "x".repeat(200_000)).unwrap();
    check_in(
        Tree::new(),
        environment,
        "true",
        expect![[r#"
        error: failed
        the command cannot be started (argument list too long); ask the user to look at it
    "#]],
    )
    .await;
}

/// Makes a repository that git finds without `.git`, and that has git run a program.
fn bare(tree: &Tree, path: &str) {
    let place = tree.path().join(path);
    let made = Command::new("git").args(["init", "--quiet", "--bare"]).arg(&place).status();
    assert!(made.is_ok_and(|made| made.success()), "git makes a repository");
    let (root, work) = (tree.path().display(), tree.path().join("work"));
    fs::create_dir_all(&work).expect("the work tree is made");
    let settings = format!(
        "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = {}\nfsmonitor = touch {root}/attacked; false\n",
        work.display(),
    );
    fs::write(place.join("config"), settings).expect("the settings are written");
}

#[tokio::test]
async fn git_takes_no_directory_for_a_repository_by_its_look() {
    let tree = Tree::new();
    bare(&tree, "sub");
    let plain = Command::new("git").args(["-C", "sub", "status"]).current_dir(tree.path()).output().unwrap();
    assert!(plain.status.success(), "git would have worked on it: {plain:?}");
    fs::remove_file(tree.path().join("attacked")).expect("git would have run the program");

    let own = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "safe.bareRepository"),
        ("GIT_CONFIG_VALUE_0", "all"),
    ];
    let with_own =
        own.iter().try_fold(Environment::minimal(), |all, (name, value)| all.with(name, value)).unwrap();
    let shells = [Shell::with(tree, &Environment::minimal()), {
        let tree = Tree::new();
        bare(&tree, "sub");
        Shell::with(tree, &with_own)
    }];
    for shell in shells {
        for script in [
            "git -C sub status",
            "cd sub && git status",
            "cd sub/refs && git log",
            "cd sub; bash -c 'git status'",
        ] {
            let reply = shell.call(json!({ "command": script, "directory": "." })).await.output.to_text();
            assert!(reply.contains("safe.bareRepository is 'explicit'"), "{script}: {reply}");
        }
        assert!(!shell.tree.path().join("attacked").exists());
    }
}
