//! Which policy files hold for calls and runs, and which of them are believed.

use crate::{check, haft, shown};
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

const WRITE: &str = r#"{"path":"a.txt","content":"x\n"}"#;

/// Runs the command in `work` for a user whose configuration is in `config` and whose state is in `state`.
fn as_user(tree: &Tree, arguments: &[&str]) -> String {
    let at = |folder: &str| tree.path().join(folder);
    let mut command = haft(&at("work"), arguments);
    command.env("XDG_CONFIG_HOME", at("config")).env("XDG_STATE_HOME", at("state"));
    shown(&command.output().unwrap()).replace(&*tree.path().to_string_lossy(), "TREE")
}

#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check_as_user(tree: &Tree, arguments: &[&str], expected: Expect) {
    expected.assert_eq(&as_user(tree, arguments));
}

fn tree() -> Tree {
    Tree::new().file("work/notes.md", "one\n").directory("state")
}

#[test]
fn the_file_of_the_user_counts() {
    let tree = tree().file(
        "config/haft/haft.toml",
        "[permissions]\nallow = [\"write(*.txt)\"]\ndeny = [\"read(notes.md)\"]\n",
    );
    check_as_user(
        &tree,
        &["call", "write_file", WRITE],
        expect![[r#"
        created `a.txt`: 1 line, 2 bytes
        exit 0
    "#]],
    );
    check_as_user(
        &tree,
        &["call", "read_file", r#"{"path":"notes.md"}"#, "--yes"],
        expect![[r#"
            stderr: denied: `read_file` is not permitted to do this (read file:notes.md: deny by the rule read(notes.md) ($XDG_CONFIG_HOME/haft/haft.toml:3)); do not try it again, find another way or say what you would need
            exit 1
        "#]],
    );
}

#[test]
fn a_file_that_cannot_be_read_is_not_passed_over() {
    let tree = tree().link("config/haft/haft.toml", "gone.toml");
    check_as_user(
        &tree,
        &["call", "read_file", r#"{"path":"notes.md"}"#],
        expect![[r#"
        stderr: error: $XDG_CONFIG_HOME/haft/haft.toml: cannot be read: it is a link that leads nowhere; remove it, or have it lead to a file
        stderr: 
        stderr: Correct the policy, then try it with `haft policy check FILE`.
        exit 2
    "#]],
    );
}

#[test]
fn the_file_of_a_workspace_only_takes_away_until_it_is_trusted() {
    let tree = tree()
        .file("work/haft.toml", "[permissions]\nallow = [\"write(*.txt)\"]\ndeny = [\"read(notes.md)\"]\n");
    let write = ["call", "write_file", WRITE];
    check_as_user(
        &tree,
        &["call", "read_file", r#"{"path":"notes.md"}"#, "--yes"],
        expect![[r#"
        stderr: note: haft.toml is not trusted, so it only takes away; look at it, then run `haft policy trust`
        stderr: denied: `read_file` is not permitted to do this (read file:notes.md: deny by the rule read(notes.md) (haft.toml:3)); do not try it again, find another way or say what you would need
        exit 1
    "#]],
    );
    check_as_user(
        &tree,
        &write,
        expect![[r#"
        stderr: note: haft.toml is not trusted, so it only takes away; look at it, then run `haft policy trust`
        stderr: waiting for an approval: `write_file` wants to
        stderr:   write file:a.txt
        stderr:   haft approvals show ID
        stderr:   haft approvals approve ID
        stderr: Answer it, then go on with `haft resume RUN`.
        exit 3
    "#]],
    );
    check_as_user(
        &tree,
        &["policy", "explain", "write(a.txt)"],
        expect![[r#"
        ask  write(a.txt)

          ask    write file:a.txt
                 no trusted rule speaks of it (a rule of the workspace layer, which is not trusted, allows it)
                 to change it: trust the workspace rules, of which `write(*.txt)` allows it, or allow it in your own

        decided by profile read_only, haft.toml, in the mode default
        stderr: note: haft.toml is not trusted, so it only takes away; look at it, then run `haft policy trust`
        exit 0
    "#]],
    );

    let trusted = as_user(&tree, &["policy", "trust"]);
    assert!(trusted.starts_with("trusted haft.toml as it is now"), "{trusted}");
    check_as_user(
        &tree,
        &write,
        expect![[r#"
        created `a.txt`: 1 line, 2 bytes
        exit 0
    "#]],
    );
    check_as_user(
        &tree,
        &["policy", "trust"],
        expect![[r#"
        haft.toml is trusted already
        exit 0
    "#]],
    );

    // A changed file is another file.
    let tree = tree.file("work/haft.toml", "[permissions]\nallow = [\"write(**)\"]\n");
    assert!(as_user(&tree, &write).contains("haft.toml is not trusted"));
    assert!(as_user(&tree, &["policy", "trust"]).starts_with("trusted"));
    check_as_user(
        &tree,
        &["policy", "untrust"],
        expect![[r#"
        TREE/work/haft.toml is trusted no more; it only takes away now
        exit 0
    "#]],
    );
    check_as_user(
        &tree,
        &["policy", "untrust"],
        expect![[r#"
        TREE/work/haft.toml was not trusted
        exit 0
    "#]],
    );
    assert!(as_user(&tree, &write).contains("haft.toml is not trusted"));
}

/// What a model is told of rules in files, wherever those and the working directory are.
#[test]
fn a_model_is_not_told_where_files_are() {
    let rules = |path: &str| format!("[permissions]\ndeny = [\"read({path})\"]\n");
    let tree = tree()
        .file("project/notes.md", "one\n")
        .file("project/haft.toml", &format!("include = [\"rules/more.toml\"]\n{}", rules("notes.md")))
        .file("project/rules/more.toml", &rules("more.md"))
        .file("policies/haft.toml", &format!("include = [\"../base.toml\"]\n{}", rules("team.md")))
        .file("base.toml", &rules("base.md"))
        .file("work/haft.toml", &rules("here.md"));
    let root = tree.path().to_string_lossy().into_owned();
    let project = format!("{root}/project");
    let policy = format!("{root}/policies/haft.toml");
    let source = |path: &str, arguments: &[&str]| {
        let input = serde_json::json!({ "path": path }).to_string();
        let said = as_user(&tree, &[&["call", "read_file", &input], arguments].concat());
        let told = said.lines().find(|line| line.starts_with("stderr: denied")).unwrap_or(&said).to_owned();
        assert!(!told.contains("TREE"), "{told}");
        told.split_once(") (").and_then(|(_, rest)| rest.split_once("))")).unwrap_or((&told, "")).0.to_owned()
    };
    for workdir in [&*project, "../project"] {
        assert_eq!(source("notes.md", &["--workdir", workdir]), "haft.toml:3");
        assert_eq!(source("more.md", &["--workdir", workdir]), "rules/more.toml:2");
        // Each is itself, though they have one name.
        let both = ["--workdir", workdir, "--policy", "haft.toml"];
        assert_eq!(source("notes.md", &both), "haft.toml:3");
        assert_eq!(source("here.md", &both), "…/haft.toml:2");
        let both = ["--workdir", workdir, "--policy", &policy];
        assert_eq!(source("notes.md", &both), "haft.toml:3");
        assert_eq!(source("team.md", &both), "…/haft.toml:3");
        assert_eq!(source("base.md", &both), "…/../base.toml:2");
    }
    assert_eq!(source("here.md", &[]), "haft.toml:2");
    // People are told what they typed.
    let note = as_user(&tree, &["call", "list_files", "{}", "--workdir", "../project"]);
    assert!(note.contains("note: ../project/haft.toml is not trusted"), "{note}");
    let explained = as_user(&tree, &["policy", "explain", "read(notes.md)", "--workdir", "../project"]);
    assert!(explained.contains("(../project/haft.toml:3)"), "{explained}");
    let tree = tree.file("project/haft.toml", "[permissions]\nallow = [\"wriet(a.txt)\"]\n");
    let wrong = as_user(&tree, &["call", "list_files", "{}", "--workdir", "../project"]);
    assert!(wrong.contains("--> ../project/haft.toml:2:11"), "{wrong}");
}

#[test]
fn trust_is_for_what_is_included_too() {
    let tree = tree()
        .file("work/haft.toml", "include = [\"more.toml\"]\n")
        .file("work/more.toml", "[permissions]\nallow = [\"write(a.txt)\"]\n");
    assert!(as_user(&tree, &["policy", "trust"]).contains("TREE/work/more.toml"));
    assert!(as_user(&tree, &["policy", "explain", "write(a.txt)"]).starts_with("allow"));
    let tree = tree.file("work/more.toml", "[permissions]\nallow = [\"write(a.txt)\", \"opaque\"]\n");
    assert!(as_user(&tree, &["policy", "explain", "write(a.txt)"]).starts_with("ask"));
}

#[test]
fn trust_is_kept_where_only_the_user_writes() {
    let tree = tree().file("work/haft.toml", "[permissions]\nallow = [\"write(a.txt)\"]\n");
    let trusts = || as_user(&tree, &["policy", "explain", "write(a.txt)"]).starts_with("allow");
    assert!(!trusts());
    as_user(&tree, &["policy", "trust"]);
    assert!(trusts());
    let folder = tree.path().join("state/haft/trust");
    let entries: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.len(), 1);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&entries[0])), (0o700, 0o600));

    std::fs::set_permissions(&entries[0], std::fs::Permissions::from_mode(0o666)).unwrap();
    assert!(!trusts());
    std::fs::set_permissions(&entries[0], std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(trusts());
    std::fs::write(&entries[0], "{").unwrap();
    assert!(!trusts());
}

#[test]
fn trust_that_cannot_be_kept_says_what_to_do() {
    let tree = tree().file("work/haft.toml", "[permissions]\nallow = [\"write(a.txt)\"]\n");
    std::fs::create_dir_all(tree.path().join("state/haft")).unwrap();
    std::os::unix::fs::symlink("nowhere", tree.path().join("state/haft/trust")).unwrap();
    let told = as_user(&tree, &["policy", "trust"]);
    let (first, rest) = told.split_once('\n').unwrap();
    expect!["stderr: error: cannot remember it in `TREE/state/haft/trust`; make the directory writable, or set XDG_STATE_HOME"]
        .assert_eq(first);
    assert!(rest.ends_with("exit 2\n"), "{told}");
}

#[test]
fn there_has_to_be_something_right_to_trust() {
    let tree = tree();
    check_as_user(
        &tree,
        &["policy", "trust"],
        expect![[r#"
        stderr: error: there is no `haft.toml` in `TREE/work` to trust; name its workspace with `--workdir`
        exit 2
    "#]],
    );
    let tree = tree.file("work/haft.toml", "[permissions]\nallow = [\"wriet(a.txt)\"]\n");
    check_as_user(
        &tree,
        &["policy", "trust"],
        expect![[r#"
        stderr: error: `wriet` is not a mode; write `write`
        stderr:  --> haft.toml:2:11
        stderr:   |
        stderr: 2 | allow = ["wriet(a.txt)"]
        stderr:   |           ^^^^^
        stderr: 
        stderr: Correct the policy, then try it with `haft policy check FILE`.
        exit 2
    "#]],
    );
    check_as_user(
        &tree,
        &["call", "read_file", r#"{"path":"notes.md"}"#],
        expect![[r#"
        stderr: error: `wriet` is not a mode; write `write`
        stderr:  --> haft.toml:2:11
        stderr:   |
        stderr: 2 | allow = ["wriet(a.txt)"]
        stderr:   |           ^^^^^
        stderr: 
        stderr: Correct the policy, then try it with `haft policy check FILE`.
        exit 2
    "#]],
    );
}

#[test]
fn haft_protects_its_own_files_from_wildcards() {
    let tree = tree()
        .file(
            "config/haft/haft.toml",
            "include = [\"shared.toml\"]\n[permissions]\nallow = [\"write(/**)\"]\n",
        )
        .file("config/haft/shared.toml", "")
        .file("work/team.toml", "[permissions]\nallow = [\"write(**)\"]\n");
    let decision = |access: &str| {
        let root = tree.path().canonicalize().unwrap();
        let access = access.replace("TREE", &root.to_string_lossy());
        let explained = as_user(&tree, &["policy", "explain", &access]);
        explained.split(' ').next().unwrap_or_default().to_owned()
    };
    assert_eq!(decision("write(TREE/other/a)"), "allow");
    assert_eq!(decision("write(TREE/config/haft/shared.toml)"), "ask");
    assert_eq!(decision("write(TREE/state/haft/trust/a.json)"), "ask");
    let explain = |access: &str| as_user(&tree, &["policy", "explain", "--policy", "team.toml", access]);
    assert!(explain("write(a)").starts_with("allow"));
    assert!(explain("write(team.toml)").starts_with("ask"));
}

#[test]
fn the_command_line_weighs_more_than_files_and_loosens_no_deny() {
    let tree = tree()
        .file(
            "config/haft/haft.toml",
            "profile = \"full_access\"\n[permissions]\nmode = \"plan\"\ndeny = [\"write(secret)\"]\n",
        )
        .file("work/team.toml", "[permissions]\nallow = [\"write(**)\"]\n");
    let decision = |arguments: &[&str]| {
        let explained = as_user(&tree, &[&["call", "write_file"], arguments].concat());
        explained.lines().next().unwrap_or_default().to_owned()
    };
    expect!["stderr: denied: `write_file` is not permitted to do this (write file:a.txt: deny, the mode plan lets nothing write, execute, connect or call); do not try it again, find another way or say what you would need"].assert_eq(&decision(&[WRITE]));
    expect!["created `a.txt`: 1 line, 2 bytes"].assert_eq(&decision(&[
        WRITE,
        "--mode",
        "default",
        "--policy",
        "team.toml",
    ]));
    let secret = r#"{"path":"secret","content":"x\n"}"#;
    expect!["stderr: denied: `write_file` is not permitted to do this (write file:secret: deny by the rule write(secret) ($XDG_CONFIG_HOME/haft/haft.toml:4)); do not try it again, find another way or say what you would need"].assert_eq(&decision(&[secret, "--mode", "default", "--policy", "team.toml"]));
    expect!["stderr: waiting for an approval: `write_file` wants to"].assert_eq(&decision(&[
        WRITE,
        "--mode",
        "default",
        "--profile",
        "read_only",
    ]));
}

/// Calls `bash` with a command that is allowed whatever it does, and gives what is told; nothing where there is no sandbox.
fn confined(tree: &Tree, command: &str, more: &[&str]) -> Option<String> {
    let input = format!("{{\"command\": {}}}", serde_json::to_string(command).unwrap());
    let told = as_user(tree, &[&["call", "bash", &input, "--profile", "full_access"], more].concat());
    let is_missing = told.contains("the sandbox that is required cannot be had here");
    assert!(!(is_missing && std::env::var_os("CI").is_some() && has_landlock()), "{told}");
    (!is_missing).then_some(told)
}

/// Tells whether the kernel has Landlock, of which each process of this user can then have its own rules.
fn has_landlock() -> bool {
    haft::shell::ShellSandbox::prefer().lacks().iter().all(|lack| *lack != haft::shell::SandboxLack::Files)
}

/// A script of which nobody can tell what it does, and what it does here.
const OUTSIDE: &str = "perl -e 'open(F, \">\", \"../outside\") or die \"no: $!\\n\"'";

#[test]
fn a_policy_that_needs_a_sandbox_is_run_in_one() {
    let tree = tree().file("work/team.toml", "[sandbox]\nmode = \"require\"\n");
    let Some(told) = confined(&tree, OUTSIDE, &["--policy", "team.toml"]) else { return };
    expect![[r#"
        no: Permission denied
        [exit code 13]
        exit 0
    "#]]
    .assert_eq(&told);
    assert!(!tree.path().join("outside").exists());
}

#[test]
fn the_mode_auto_confines_what_nobody_looks_at() {
    let tree = tree();
    if confined(&tree, "true", &["--sandbox", "require"]).is_none() {
        return;
    }
    for (more, is_made) in [
        (["--mode", "auto"].as_slice(), false),
        (&["--sandbox", "prefer"], false),
        (&["--mode", "auto", "--sandbox", "off"], true),
    ] {
        let told = confined(&tree, OUTSIDE, more);
        assert_eq!(tree.path().join("outside").exists(), is_made, "{more:?}: {told:?}");
    }
}

#[test]
fn what_haft_keeps_is_not_written_by_commands() {
    let tree = tree().file("work/.envrc", "old\n");
    let command = "perl -e 'open(F, \">\", \".envrc\") or die \"no: $!: .envrc\\n\"'";
    let Some(told) = confined(&tree, command, &["--sandbox", "require"]) else { return };
    assert!(told.contains("write .envrc"), "{told}");
    assert_eq!(tree.read("work/.envrc"), "old\n");
}

#[test]
fn a_mode_of_the_sandbox_that_there_is_not_is_refused() {
    let told = as_user(&tree(), &["call", "bash", "{}", "--sandbox", "on"]);
    assert!(told.contains("`on` is not a mode of the sandbox; write `off`, `prefer` or `require`"), "{told}");
}

#[test]
fn tools_that_are_denied_altogether_are_marked() {
    let tree = tree().file("work/team.toml", "[permissions]\ndeny = [\"bash\"]\n");
    let listed = as_user(&tree, &["tools", "--policy", "team.toml"]);
    let denied: Vec<&str> = listed.lines().filter(|line| line.contains("denied")).map(str::trim).collect();
    assert_eq!(denied, ["denied by the rule bash (team.toml:2)"]);
}

#[test]
fn a_run_on_a_scratch_copy_asks_where_a_profile_is_named() {
    let writes = r#"{"calls":[{"id":"c1","name":"write_file","input":{"path":"notes.md","content":"gone"}}]}
{"text":"Done.","after":{"c1":"ok"}}
"#;
    let tree = tree().file("work/look/session.jsonl", writes).file("work/look/project/notes.md", "one\n");
    let last = |arguments: &[&str]| {
        let output = as_user(&tree, &[&["run", "look"], arguments].concat());
        output.lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(last(&[]), "exit 0");
    assert_eq!(last(&["--profile", "read_only"]), "exit 3");
    assert_eq!(last(&["--profile", "workspace_write"]), "exit 0");
    assert_eq!(last(&["--mode", "plan", "--yes"]), "exit 1");

    // The one that waits has its copy until it is dropped.
    let work = tree.path().join("work");
    let listed = haft(&work, &["resume", "--json"]).output().unwrap();
    let runs: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let scratch = runs[0]["task"]["workdir"].as_str().unwrap();
    assert!(Path::new(scratch).exists());
    assert!(haft(&work, &["resume", runs[0]["run"].as_str().unwrap(), "--drop"]).status().unwrap().success());
    assert!(!Path::new(scratch).exists());
}

#[test]
fn an_unknown_profile_or_mode_names_those_there_are() {
    let tree = tree();
    check(
        tree.path(),
        &["call", "read_file", "{}", "--profile", "readonly"],
        expect![[r#"
        stderr: error: invalid value 'readonly' for '--profile <NAME>': `readonly` is not a profile; write `read_only`
        stderr: 
        stderr: For more information, try '--help'.
        exit 2
    "#]],
    );
    check(
        tree.path(),
        &["call", "read_file", "{}", "--mode", "yolo"],
        expect![[r#"
        stderr: error: invalid value 'yolo' for '--mode <MODE>': `yolo` is not a mode; write `plan`, `deny_unknown`, `default`, `accept_edits` or `auto`
        stderr: 
        stderr: For more information, try '--help'.
        exit 2
    "#]],
    );
}
