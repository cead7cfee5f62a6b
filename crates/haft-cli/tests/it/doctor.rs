//! What `haft doctor` finds, how it says so, and that it changes nothing.

use crate::{haft, shown};
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

/// Runs the command, and leaves out what depends on the machine: its sandbox, programs and disk.
fn as_user(tree: &Tree, arguments: &[&str]) -> String {
    let at = |folder: &str| tree.path().join(folder);
    let mut command = haft(&at("work"), &[&["doctor"], arguments].concat());
    command.env("XDG_CONFIG_HOME", at("config")).env("XDG_STATE_HOME", at("state")).env_remove("HAFT_STATE");
    command.env_remove("ANTHROPIC_API_KEY").env("OPENAI_API_KEY", "sk-hunter2").env_remove("LOCAL_KEY");
    let told = shown(&command.output().unwrap()).replace(&*tree.path().to_string_lossy(), "TREE");
    assert!(!told.contains("hunter2"), "{told}");
    let mut is_of_machine = false;
    let mut lines = String::new();
    for line in told.lines() {
        if !line.starts_with(' ') {
            let about = line.split_whitespace().nth(1).unwrap_or_default();
            is_of_machine = ["bash", "disk", "git", "processes", "sandbox"].contains(&about);
        }
        if !is_of_machine {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    lines
}

#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(tree: &Tree, arguments: &[&str], expected: Expect) {
    expected.assert_eq(&as_user(tree, arguments));
}

fn tree() -> Tree {
    let tree = Tree::new().directory("work").directory("state").directory("config");
    for folder in ["state", "config", "work"] {
        fs::set_permissions(tree.path().join(folder), fs::Permissions::from_mode(0o700)).unwrap();
    }
    tree
}

/// All that there is: paths with contents and modes.
fn everything(directory: &Path, found: &mut BTreeMap<String, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let mode = entry.metadata().unwrap().permissions().mode();
        let bytes = if path.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        found.insert(path.to_string_lossy().into_owned(), (mode, bytes));
        if path.is_dir() {
            everything(&path, found);
        }
    }
}

#[test]
fn where_nothing_is_set_all_is_well() {
    check(
        &tree(),
        &[],
        expect![[r#"
        ok       configuration  there is no `haft.toml`, neither yours nor one here: looking is allowed, all else is asked about
                                next: `haft init` writes one for the project that is here
        ok       workdir        TREE/work
        ok       model          no model is named, and only `haft agent` needs one; `OPENAI_API_KEY` is set
        ok       state          nothing is remembered yet; it will be in `TREE/state/haft/haft.db`
        ok       files          nobody else can write what is configured or remembered

        All is well.
        exit 0
    "#]],
    );
}

#[test]
fn where_nothing_can_be_remembered_is_an_error() {
    let in_the_way = tree().file("state/haft", "in the way\n");
    check(
        &in_the_way,
        &[],
        expect![[r#"
        ok       configuration  there is no `haft.toml`, neither yours nor one here: looking is allowed, all else is asked about
                                next: `haft init` writes one for the project that is here
        ok       workdir        TREE/work
        ok       model          no model is named, and only `haft agent` needs one; `OPENAI_API_KEY` is set
        error    state          cannot open the database `TREE/state/haft/haft.db`
                                because: Not a directory (os error 20)
                                next: put right what the cause says, or set HAFT_STATE to the absolute path of another file
        error    changes        cannot open the database `TREE/state/haft/haft.db-changes`
                                because: Not a directory (os error 20)
                                next: put right what the cause says, or set HAFT_STATE to the absolute path of another file
        warning  files          `TREE/state/haft` can be looked into by others
                                next: run `chmod go-rwx TREE/state/haft`

        2 errors, 1 warning.
        exit 1
    "#]],
    );
    let leads_nowhere = tree();
    symlink("nowhere", leads_nowhere.path().join("state/haft")).unwrap();
    check(
        &leads_nowhere,
        &[],
        expect![[r#"
        ok       configuration  there is no `haft.toml`, neither yours nor one here: looking is allowed, all else is asked about
                                next: `haft init` writes one for the project that is here
        ok       workdir        TREE/work
        ok       model          no model is named, and only `haft agent` needs one; `OPENAI_API_KEY` is set
        error    state          nothing can be remembered: `TREE/state/haft/haft.db` cannot be made
                                because: nothing can be put into `TREE/state/haft`: it is no directory, or a link that leads to none
                                next: put right what the cause says, or set HAFT_STATE to the absolute path of another file
        ok       files          nobody else can write what is configured or remembered

        1 error, 0 warnings.
        exit 1
    "#]],
    );
}

#[test]
fn all_that_is_wrong_is_told_with_what_to_do_and_nothing_is_changed() {
    let user = r#"
[agent]
model = "local/m"

[providers.local]
like = "openai"
base_url = "http://127.0.0.1:9/v1"
key = "LOCAL_KEY"

[providers.open]
like = "openai"
base_url = "http://elsewhere.example/v1"

[mcp.servers.gone]
command = "no-such-program-anywhere"

[mcp.servers.node]
command = "/nowhere/npx"

[mcp.servers.quiet]
command = "sh"
disabled = true

[mcp.servers.socket]
unix = "/nowhere/index.sock"

[mcp.servers.docs]
url = "https://mcp.example.com/mcp"
headers = { "Authorization" = "Bearer ${OPENAI_API_KEY}" }

[openapi.gone]
document = "gone.yaml"

[openapi.far]
document = "https://api.example.com/openapi.yaml"
"#;
    let workspace =
        "[permissions]\ndeny = [\"read(**/.env)\"]\n\n[mcp.servers.theirs]\ncommand = \"theirs\"\n";
    let tree = tree()
        .file("config/haft/haft.toml", user)
        .file("work/haft.toml", workspace)
        .file("state/haft/haft.db", "no database, whatever it is called, since there is only a text in it")
        .file("state/haft/mcp-logins/one.json", "{}");
    let chmod = |path: &str, mode: u32| {
        fs::set_permissions(tree.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    for (path, mode) in [
        ("config/haft", 0o700),
        ("config/haft/haft.toml", 0o666),
        ("state/haft", 0o755),
        ("state/haft/haft.db", 0o600),
        ("state/haft/mcp-logins", 0o700),
        ("state/haft/mcp-logins/one.json", 0o644),
    ] {
        chmod(path, mode);
    }
    let mut before = BTreeMap::new();
    everything(tree.path(), &mut before);
    check(
        &tree,
        &[],
        expect![[r#"
            ok       configuration   `$XDG_CONFIG_HOME/haft/haft.toml` and `haft.toml`
            note     configuration   haft.toml is not trusted, so it only takes away; look at it, then run `haft policy trust`
            ok       workdir         TREE/work
            error    model           `local/m` cannot be asked: `LOCAL_KEY` is not set
                                     next: set LOCAL_KEY to its key where haft is started
            warning  provider local  there is no key for it: `LOCAL_KEY` is not set
                                     next: set LOCAL_KEY where haft is started, if its models are to be asked
            error    provider open   cannot use the base URL: what is said to the model, and the key, would go over `http` for all to read; write `https`, or ask a service on this machine
                                     next: correct `base_url` in `[providers.open]`
            note     mcp theirs      it is of `haft.toml` of the workspace, which is not trusted, and is not started
                                     next: look at the file, then run `haft policy trust`
            note     mcp quiet       it is disabled
            ok       mcp docs        a service, not asked
                                     next: `haft doctor --connect` asks it
            error    mcp gone        there is no program `no-such-program-anywhere` in PATH
                                     next: install it, or write its path; PATH must name its directory by an absolute path
            error    mcp node        there is no program `/nowhere/npx`
                                     next: correct `command`, or put the program there
            error    mcp socket      there is no socket `/nowhere/index.sock`
                                     next: start the program that listens there
            note     openapi far     it is in the network, and was not asked for
                                     next: `haft doctor --connect` asks for it
            error    openapi gone    cannot read `TREE/config/haft/gone.yaml`
                                     because: No such file or directory (os error 2)
                                     next: correct `[openapi.gone]` of `haft.toml`, or the document
            error    state           cannot open the database `TREE/state/haft/haft.db`
                                     because: the file is damaged, or no database; move it away, and restore it or begin anew
                                     because: file is not a database
                                     because: Error code 26: file is not a database
                                     next: put right what the cause says, or set HAFT_STATE to the absolute path of another file
            error    files           `$XDG_CONFIG_HOME/haft/haft.toml` can be written by others, who can decide by it
                                     next: run `chmod go-w $XDG_CONFIG_HOME/haft/haft.toml`
            warning  files           `TREE/state/haft` can be looked into by others
                                     next: run `chmod go-rwx TREE/state/haft`
            error    files           `TREE/state/haft/mcp-logins/one.json` can be read by others, so it is not used
                                     next: run `chmod go-rwx TREE/state/haft/mcp-logins/one.json`

            9 errors, 2 warnings.
            exit 1
        "#]],
    );
    let mut after = BTreeMap::new();
    everything(tree.path(), &mut after);
    assert_eq!(after, before);
}

#[test]
fn what_is_wrong_in_a_file_and_its_tests_is_told_with_its_place() {
    check(
        &tree().file("work/haft.toml", "[permisions]\n\n[limits]\ntimeout = \"soon\"\n"),
        &[],
        expect![[r#"
            error    configuration  haft.toml:1:2: `permisions` is not a key of this file; write `permissions`
                                    next: correct it; `haft config check` shows the line
            error    configuration  haft.toml:4:11: `soon` is not a time; write one such as `500ms`, `30s`, `2min` or `1h`
                                    next: correct it; `haft config check` shows the line
            ok       workdir        TREE/work
            ok       model          no model is named, and only `haft agent` needs one; `OPENAI_API_KEY` is set
            ok       state          nothing is remembered yet; it will be in `TREE/state/haft/haft.db`
            ok       files          nobody else can write what is configured or remembered

            2 errors, 0 warnings.
            exit 1
        "#]],
    );
    let failing =
        "[permissions]\nallow = [\"read(**)\"]\n\n[[test]]\naccess = \"read(a)\"\nexpect = \"deny\"\n";
    check(
        &tree().file("work/haft.toml", failing),
        &[],
        expect![[r#"
        error    configuration  haft.toml:5:10: the test expects deny and gets allow
                                because: read file:a: allow, by the rule read(**) (haft.toml:2)
                                next: correct it; `haft config check` shows the line
        ok       workdir        TREE/work
        ok       model          no model is named, and only `haft agent` needs one; `OPENAI_API_KEY` is set
        ok       state          nothing is remembered yet; it will be in `TREE/state/haft/haft.db`
        ok       files          nobody else can write what is configured or remembered

        1 error, 0 warnings.
        exit 1
    "#]],
    );
}

#[test]
fn calls_that_wait_and_runs_that_were_interrupted_are_told() {
    let tree = tree();
    let at = |folder: &str| tree.path().join(folder);
    let mut command = haft(&at("work"), &["call", "bash", r#"{"command":"touch a"}"#]);
    command.env("XDG_CONFIG_HOME", at("config")).env("XDG_STATE_HOME", at("state")).env_remove("HAFT_STATE");
    assert_eq!(command.output().unwrap().status.code(), Some(3));
    let told = as_user(&tree, &[]);
    let told: Vec<&str> =
        told.lines().filter(|line| line.contains("wait") || line.contains("approvals")).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("note     approvals      1 call waits for an answer, asked "), "{told:?}");
    assert_eq!(told[1].trim(), "next: `haft approvals list` shows what is asked");
}

#[test]
fn a_place_that_is_none_is_told_beside_the_rest() {
    check(
        &tree(),
        &["--workdir", "nowhere"],
        expect![[r#"
        error    workdir  cannot work in `nowhere`; name an existing directory with `--workdir`
                          because: working directory `nowhere` does not exist; create it or name another
                          next: name an existing directory with `--workdir`
        ok       state    nothing is remembered yet; it will be in `TREE/state/haft/haft.db`
        ok       files    nobody else can write what is configured or remembered

        1 error, 0 warnings.
        exit 1
    "#]],
    );
}

#[test]
fn findings_are_data_that_scripts_read() {
    let tree = tree().file("work/haft.toml", "[mcp.servers.a]\ncomand = \"x\"\n");
    let at = |folder: &str| tree.path().join(folder);
    let mut command = haft(&at("work"), &["doctor", "--json"]);
    command.env("XDG_CONFIG_HOME", at("config")).env("XDG_STATE_HOME", at("state")).env_remove("HAFT_STATE");
    let output = command.output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["version"], &report["workdir"]),
        (&1.into(), &at("work").canonicalize().unwrap().to_str().unwrap().into())
    );
    let findings = report["findings"].as_array().unwrap();
    for finding in findings {
        let severity = finding["severity"].as_str().unwrap();
        assert!(["ok", "note", "warning", "error"].contains(&severity), "{finding}");
        assert!(finding["about"].is_string() && finding["text"].is_string(), "{finding}");
        // What is to be mended says how.
        assert!(severity == "ok" || severity == "note" || finding["next"].is_string(), "{finding}");
    }
    let errors = findings.iter().filter(|finding| finding["severity"] == "error").count();
    assert_eq!(report["errors"], errors);
    assert_eq!(output.status.code(), Some(i32::from(errors > 0)));
}

#[test]
fn servers_are_started_only_when_that_is_asked_for_all_at_once_and_within_their_time() {
    let servers = r#"
[mcp.servers.ends]
command = "sh"
args = ["-c", "echo out of order >&2; exit 3"]

[mcp.servers.hangs]
command = "sh"
args = ["-c", "touch started; exec sleep 600"]
"#;
    let tree = tree().file("config/haft/haft.toml", servers);
    check(
        &tree,
        &[],
        expect![[r#"
        ok       configuration  `$XDG_CONFIG_HOME/haft/haft.toml`
        ok       workdir        TREE/work
        ok       model          no model is named, and only `haft agent` needs one; `OPENAI_API_KEY` is set
        ok       mcp ends       `/usr/bin/sh`, not started
                                next: `haft doctor --connect` starts it
        ok       mcp hangs      `/usr/bin/sh`, not started
                                next: `haft doctor --connect` starts it
        ok       state          nothing is remembered yet; it will be in `TREE/state/haft/haft.db`
        ok       files          nobody else can write what is configured or remembered

        All is well.
        exit 0
    "#]],
    );
    assert!(!tree.path().join("work/started").exists());
    let start = std::time::Instant::now();
    check(
        &tree,
        &["--connect", "--connect-time", "5"],
        expect![[r#"
            ok       configuration  `$XDG_CONFIG_HOME/haft/haft.toml`
            ok       workdir        TREE/work
            ok       model          no model is named, and only `haft agent` needs one; `OPENAI_API_KEY` is set
            error    mcp ends       it cannot be started
                                    because: the server ended before it had answered: it exited with code 3; it last wrote: out of order
                                    because: it said: out of order
                                    next: put right what the cause says; `haft mcp status ends` tries again
            error    mcp hangs      it did not answer within 5 s
                                    next: give more time with `--connect-time`, and see `haft mcp logs hangs`
            ok       state          nothing is remembered yet; it will be in `TREE/state/haft/haft.db`
            ok       files          nobody else can write what is configured or remembered

            2 errors, 0 warnings.
            exit 1
        "#]],
    );
    assert!(start.elapsed().as_secs() < 60, "it took {:?}", start.elapsed());
    assert!(tree.path().join("work/started").exists());
}
