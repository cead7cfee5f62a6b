//! What `haft init` writes for projects of several kinds.

use crate::{haft, shown};
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use std::process::Command;

fn command(tree: &Tree, from: &str, arguments: &[&str]) -> Command {
    let at = |folder: &str| tree.path().join(folder);
    let mut command = haft(&at(from), arguments);
    command.env("XDG_CONFIG_HOME", at("config")).env("XDG_STATE_HOME", at("state"));
    command
}

fn told(tree: &Tree, command: &mut Command) -> String {
    shown(&command.output().unwrap()).replace(&*tree.path().to_string_lossy(), "TREE")
}

fn as_user(tree: &Tree, arguments: &[&str]) -> String {
    told(tree, &mut command(tree, "work", arguments))
}

#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(tree: &Tree, arguments: &[&str], expected: Expect) {
    expected.assert_eq(&as_user(tree, arguments));
}

fn tree() -> Tree {
    Tree::new().directory("work").directory("state").directory("config")
}

/// The commands that are allowed in what is written.
fn allowed(tree: &Tree) -> Vec<String> {
    let text = as_user(tree, &["init", "--print"]);
    let commands = text.lines().filter_map(|line| line.strip_prefix("    \"exec(")?.strip_suffix(")\","));
    commands.map(str::to_owned).collect()
}

#[test]
fn the_home_directory_is_no_project_unless_it_is_named() {
    let tree = tree();
    let home = |from: &str, arguments: &[&str]| {
        told(&tree, command(&tree, from, arguments).env("HOME", tree.path().join("work")))
    };
    expect![[r#"
        stderr: error: this directory is your home directory, and tools could change all of it; go to a project, or give `--workdir .` if this one is meant; `haft init --user` writes rules that hold everywhere
        exit 2
    "#]].assert_eq(&home("work", &["init"]));
    expect![[r#"
        stderr: error: this directory holds your home directory, and tools could change all of it; go to a project, or give `--workdir .` if this one is meant; `haft init --user` writes rules that hold everywhere
        exit 2
    "#]].assert_eq(&home("", &["init"]));
    expect![[r#"
        wrote ./haft.toml for a directory in which no language was recognised
        It is trusted as it is now; after a change, run `haft policy trust`.

        Look at it, then try:
          haft config show
          haft policy explain 'git status'
          haft serve --print-config claude-code
        exit 0
    "#]]
    .assert_eq(&home("work", &["init", "--workdir", "."]));
}

#[test]
fn a_project_gets_a_file_that_is_trusted_and_holds() {
    let tree =
        tree().file("work/Cargo.toml", "[package]\n").directory("work/.git").file("work/.env", "KEY=1\n");
    check(
        &tree,
        &["init"],
        expect![[r#"
        wrote haft.toml for a project in Rust (`Cargo.toml`)
        It is trusted as it is now; after a change, run `haft policy trust`.

        Look at it, then try:
          haft config show
          haft policy explain 'cargo build'
          haft serve --print-config claude-code
        exit 0
    "#]],
    );
    check(
        &tree,
        &["config", "check"],
        expect![[r#"
        ok  haft.toml
        exit 0
    "#]],
    );
    check(
        &tree,
        &["policy", "test"],
        expect![[r#"
        profile workspace_write
          ok      30  allow  read(src/lib.rs)
          ok      34  allow  write(src/lib.rs)
          ok      38  ask    write(.git/hooks/pre-commit)
          ok      42  allow  exec(git status)
          ok      46  ask    exec(unheard-of --now)
          ok      50  ask    connect(example.org:443)
          ok      54  ask    call(mcp:github/create_issue)
          ok      59  ask    what cannot be told is asked about
          ok      63  deny   write(src/lib.rs) in the mode plan
        haft.toml
          ok      51  deny   read(config/.env)
          ok      55  allow  exec(cargo build)

        11 passed, 0 failed
        exit 0
    "#]],
    );
    check(
        &tree,
        &["call", "read_file", r#"{"path":".env"}"#, "--yes"],
        expect![[r#"
        stderr: denied: `read_file` is not permitted to do this (read file:.env: deny by the rule read(**/.env) (haft.toml:18)); do not try it again, find another way or say what you would need
        exit 1
    "#]],
    );
    check(
        &tree,
        &["call", "write_file", r#"{"path":"a.txt","content":"x\n"}"#],
        expect![[r#"
        created `a.txt`: 1 line, 2 bytes
        exit 0
    "#]],
    );
    check(
        &tree,
        &["init"],
        expect![[r#"
        stderr: error: there is a `haft.toml` already, which is kept; look at it with `haft config show`, or compare it with `haft init --print`
        exit 2
    "#]],
    );
}

#[test]
fn the_file_is_printed_as_it_would_be_written() {
    let tree = tree().file("work/go.mod", "module m\n");
    let printed = as_user(&tree, &["init", "--print"]);
    assert!(!tree.path().join("work/haft.toml").exists());
    as_user(&tree, &["init"]);
    let written = std::fs::read_to_string(tree.path().join("work/haft.toml")).unwrap();
    assert_eq!(printed, format!("{written}exit 0\n"));
    let is_set = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let set: Vec<&str> = written.lines().filter(is_set).collect();
    expect![[r#"
        profile = "workspace_write"
        [permissions]
        allow = [
            "exec(go build *)",
            "exec(go test *)",
            "exec(go vet *)",
            "exec(gofmt *)",
        ]
        deny = [
            "read(**/.env)",
            "read(**/.env.local)",
            "read(**/*.pem)",
        ]
        [[test]]
        access = "read(config/.env)"
        expect = "deny"
        [[test]]
        access = "exec(go build)"
        expect = "allow""#]]
    .assert_eq(&set.join("\n"));
}

#[test]
fn what_is_commented_out_holds_once_it_is_not() {
    let document = "openapi: 3.1.0\ninfo: { title: Pets, version: '1' }\npaths: {}\n";
    let tree = tree().file("work/go.mod", "module m\n").file("work/openapi.yaml", document).directory("docs");
    as_user(&tree, &["init"]);
    let path = tree.path().join("work/haft.toml");
    let written = std::fs::read_to_string(&path).unwrap();
    let is_set = |line: &str| {
        let starts = line.split([' ', '=']).next().unwrap_or_default();
        line.starts_with('[')
            || (line.contains(" = ") && starts.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
    };
    let lines =
        written.lines().map(|line| line.strip_prefix("# ").filter(|rest| is_set(rest)).unwrap_or(line));
    let lines: Vec<&str> = lines.collect();
    let tables: Vec<&str> = lines.iter().filter(|line| line.starts_with('[')).copied().collect();
    expect!["[permissions] [sandbox] [limits] [tools] [workdir] [mcp.servers.time] [openapi.petstore] [[test]] [[test]]"].assert_eq(&tables.join(" "));
    std::fs::write(path, lines.join("\n")).unwrap();
    check(
        &tree,
        &["config", "check"],
        expect![[r#"
        ok  haft.toml
        stderr: note: haft.toml is not trusted, so it only takes away; look at it, then run `haft policy trust`
        stderr: note: haft.toml:5: the profile `workspace_write` is ignored, because the file is not trusted and what holds without it is `read_only`
        exit 0
    "#]],
    );
}

#[test]
fn commands_are_those_that_the_project_has() {
    let javascript = tree()
        .file("work/package.json", r#"{"scripts":{"test":"vitest","deploy":"rm -rf /","lint":"eslint"}}"#)
        .file("work/pnpm-lock.yaml", "");
    assert_eq!(allowed(&javascript), ["pnpm run lint *", "pnpm run test *"]);
    let both =
        tree().file("work/requirements.txt", "mypy\n").file("work/Makefile", "all: x\n\ntest : x\n\ttrue\n");
    assert_eq!(
        allowed(&both),
        ["pytest *", "python -m pytest *", "ruff check *", "ruff format *", "mypy *", "make test"]
    );
    assert_eq!(allowed(&tree()), [""; 0]);
    let broken = tree().file("work/package.json", "{").file("work/Makefile", "\u{0}");
    assert_eq!(allowed(&broken), [""; 0]);
}

#[test]
fn each_kind_of_project_gets_a_file_that_can_be_read() {
    for file in ["Cargo.toml", "package.json", "pyproject.toml", "go.mod", "Makefile", "README.md"] {
        let tree = tree().file(&format!("work/{file}"), "{\"scripts\":{\"test\":\"x\"}}\ntest: x\n");
        let written = as_user(&tree, &["init"]);
        assert!(written.ends_with("exit 0\n") && written.contains("It is trusted"), "{file}: {written}");
        let checked = as_user(&tree, &["config", "check"]);
        assert_eq!(checked, "ok  haft.toml\nexit 0\n", "{file}");
    }
}

#[test]
fn a_person_gets_a_file_of_their_own() {
    let tree = tree();
    check(
        &tree,
        &["init", "--user"],
        expect![[r#"
        wrote $XDG_CONFIG_HOME/haft/haft.toml
        It holds in all directories. `haft config show` shows what is set, and where.
        exit 0
    "#]],
    );
    check(
        &tree,
        &["config", "check"],
        expect![[r#"
        ok  $XDG_CONFIG_HOME/haft/haft.toml
        exit 0
    "#]],
    );
    check(
        &tree,
        &["init", "--user"],
        expect![[r#"
        stderr: error: there is a `$XDG_CONFIG_HOME/haft/haft.toml` already, which is kept; look at it with `haft config show`, or compare it with `haft init --print`
        exit 2
    "#]],
    );
}
