//! `haft mcp`, and the tools of servers in other commands.

use crate::{haft, shown};
use expect_test::{Expect, expect};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Is a user with a configuration and a workspace of their own.
pub(crate) struct User {
    home: TempDir,
    workspace: TempDir,
}

impl User {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), workspace: tempfile::tempdir().unwrap() }
    }

    /// Where the user's own files are.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Writes a file that only the user can read.
    pub(crate) fn private(&self, name: &str, text: &str) {
        let path = self.home.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = haft(self.workspace.path(), arguments);
        command.env("XDG_CONFIG_HOME", self.home.path().join("config"));
        command.env("XDG_STATE_HOME", self.home.path().join("state")).env("TOKEN", "s3cret");
        command
    }

    pub(crate) fn check(&self, arguments: &[&str], expected: &Expect) {
        expected.assert_eq(&self.shown(arguments));
    }

    /// Writes what came of a command, with its paths in words.
    pub(crate) fn shown(&self, arguments: &[&str]) -> String {
        let shown = shown(&self.command(arguments).output().unwrap());
        let path = |path: &Path| path.canonicalize().unwrap().display().to_string();
        let shown =
            shown.replace(&path(self.home.path()), "HOME").replace(&path(self.workspace.path()), "WORKSPACE");
        assert!(!shown.contains("s3cret"), "{shown}");
        shown
    }

    /// Adds the server `echo`, which notes each of its starts.
    pub(crate) fn add_echo(&self) {
        let program = Path::new(env!("CARGO_BIN_EXE_haft")).with_file_name("examples").join("mcp-echo");
        assert!(program.exists(), "build the examples of this crate: cargo test does");
        let [description, starts] = ["description", "starts"].map(|name| self.home.path().join(name));
        self.describe("Says it again.");
        let mut command = self.command(&["mcp", "add", "echo", "--"]);
        assert!(command.arg(program).args([description, starts]).output().unwrap().status.success());
    }

    /// Has the server `echo` say so of its tool from now on.
    pub(crate) fn describe(&self, text: &str) {
        std::fs::write(self.home.path().join("description"), text).unwrap();
    }

    /// The digest by which the tool that waits is accepted.
    fn shown_digest(&self) -> String {
        let told = self.command(&["mcp", "accept", "echo", "--json"]).output().unwrap();
        let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
        told[0]["digest"].as_str().unwrap().to_owned()
    }

    pub(crate) fn starts(&self) -> usize {
        std::fs::read_to_string(self.home.path().join("starts")).unwrap_or_default().lines().count()
    }

    /// Where a file of the workspace is.
    pub(crate) fn path(&self, name: &str) -> String {
        self.workspace.path().join(name).display().to_string()
    }

    /// Writes a file of the workspace.
    pub(crate) fn write_file(&self, name: &str, text: &str) {
        let path = self.workspace.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes a file of the user's configuration.
    pub(crate) fn write_config(&self, name: &str, text: &str) {
        let folder = self.home.path().join("config/haft");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), text).unwrap();
    }

    pub(crate) fn write(&self, text: &str) {
        std::fs::write(self.workspace.path().join(".mcp.json"), text).unwrap();
    }
}

#[test]
fn servers_are_added_and_listed() {
    let user = User::new();
    user.check(
        &["mcp", "list"],
        &expect![[r#"
        There are no servers; add one, as in `haft mcp add time -- uvx mcp-server-time`.
        exit 0
    "#]],
    );
    user.check(
        &[
            "mcp",
            "add",
            "time",
            "--force",
            "--env",
            "KEY=${TOKEN}",
            "--",
            "mcp-server-time",
            "--zone",
            "U\"TC",
        ],
        &expect![[r#"
            added time to HOME/config/haft/haft.toml
            Try it with `haft mcp status time`; `haft mcp tools time` lists its tools.
            exit 0
        "#]],
    );
    let header = "Authorization: Bearer ${TOKEN}";
    user.check(
        &["mcp", "add", "docs", "--url", "https://mcp.example.com/mcp?key=${TOKEN}", "--header", header],
        &expect![[r#"
            added docs to HOME/config/haft/haft.toml
            Try it with `haft mcp status docs`; `haft mcp tools docs` lists its tools.
            exit 0
        "#]],
    );
    let file = std::fs::read_to_string(user.home.path().join("config/haft/haft.toml")).unwrap();
    expect![[r#"
        [mcp.servers.time]
        command = "mcp-server-time"
        args = ["--zone", "U\"TC"]
        env = { "KEY" = "${TOKEN}" }

        [mcp.servers.docs]
        url = "https://mcp.example.com/mcp?key=${TOKEN}"
        headers = { "Authorization" = "Bearer ${TOKEN}" }
    "#]]
    .assert_eq(&file);
    user.check(
        &["mcp", "list"],
        &expect![[r#"
            time  mcp-server-time with 2 arguments  your haft.toml
            docs  https://mcp.example.com/mcp  your haft.toml
            exit 0
        "#]],
    );
    user.check(&["mcp", "add", "time", "--", "other"], &expect![[r#"
        stderr: error: there is a server `time` in `HOME/config/haft/haft.toml` already; choose another name, or change it there
        exit 2
    "#]]);
    user.check(&["mcp", "add", "a__b", "--", "other"], &expect![[r#"
        stderr: error: a server cannot be called `a__b`: a name has 1 to 32 letters, digits, `-` and single `_` inside; rename it, for example to `a_b`
        exit 2
    "#]]);
    user.check(&["mcp", "add", "plain", "--url", "http://mcp.example.com"], &expect![[r#"
        stderr: error: the server cannot be added: `url`: it is neither `https` nor on this machine; write `https`
        exit 2
    "#]]);
    user.check(
        &["mcp", "tools", "tim"],
        &expect![[r#"
        stderr: error: there is no server `tim`; did you mean `time`?
        exit 2
    "#]],
    );
}

#[test]
fn the_servers_of_a_workspace_are_not_started_before_the_person_says_so() {
    let user = User::new();
    let marker = user.home.path().join("started");
    let start = format!("touch {}; exit 3", marker.display());
    let text = serde_json::json!({ "mcpServers": { "evil": { "command": "sh", "args": ["-c", start] } } });
    user.write(&text.to_string());
    user.check(&["mcp", "list"], &expect![[r#"
        evil  sh with 2 arguments  .mcp.json not trusted
        stderr: note: the servers of `.mcp.json` are not started before you trust it; look at it, then run `haft mcp trust`
        exit 0
    "#]]);
    user.check(&["mcp", "status"], &expect![[r#"
        There are no servers to start; `haft mcp list` has those that are configured.
        stderr: note: the servers of `.mcp.json` are not started before you trust it; look at it, then run `haft mcp trust`
        exit 0
    "#]]);
    user.check(&["mcp", "status", "evil"], &expect![[r#"
        stderr: note: the servers of `.mcp.json` are not started before you trust it; look at it, then run `haft mcp trust`
        stderr: error: `evil` is of `.mcp.json`, which is not trusted; look at it, then run `haft mcp trust`
        exit 2
    "#]]);
    assert!(!marker.exists());
    user.check(
        &["mcp", "trust"],
        &expect![[r#"
        trusted WORKSPACE/.mcp.json as it is now; after a change it is not trusted again
          evil
        exit 0
    "#]],
    );
    user.check(
        &["mcp", "trust"],
        &expect![[r#"
        WORKSPACE/.mcp.json is trusted already
        exit 0
    "#]],
    );
    user.check(
        &["mcp", "status", "evil"],
        &expect![[r#"
        evil backoff, 0 tools
          the server ended before it had answered: it exited with code 3
        exit 1
    "#]],
    );
    assert!(marker.exists());
    // Another version of the file is another one.
    std::fs::remove_file(&marker).unwrap();
    user.write(&format!("{text} "));
    user.check(&["mcp", "status"], &expect![[r#"
        There are no servers to start; `haft mcp list` has those that are configured.
        stderr: note: the servers of `.mcp.json` are not started before you trust it; look at it, then run `haft mcp trust`
        exit 0
    "#]]);
    assert!(!marker.exists());
    user.check(
        &["mcp", "untrust"],
        &expect![[r#"
        .mcp.json is trusted no more; its servers are not started
        exit 0
    "#]],
    );
    user.check(
        &["mcp", "untrust"],
        &expect![[r#"
        .mcp.json was not trusted
        exit 0
    "#]],
    );
}

#[test]
fn a_program_that_is_not_there_is_added_only_by_force() {
    let user = User::new();
    user.write_file("text", "no program");
    user.check(&["mcp", "add", "gone", "--", "no-such-program"], &expect![[r#"
        stderr: error: the server cannot be started: there is no program `no-such-program` in PATH; install it, or write its path; PATH must name its directory by an absolute path; or add it all the same with `--force`
        exit 2
    "#]]);
    user.check(&["mcp", "add", "gone", "--", "/nonexistent/uvx", "time"], &expect![[r#"
        stderr: error: the server cannot be started: there is no program `/nonexistent/uvx`; correct `command`, or put the program there; or add it all the same with `--force`
        exit 2
    "#]]);
    user.check(&["mcp", "add", "gone", "--", "./text"], &expect![[r#"
        stderr: error: the server cannot be started: there is no program `./text`; correct `command`, or put the program there; or add it all the same with `--force`
        exit 2
    "#]]);
    user.check(&["mcp", "add", "gone", "--cwd", "/nonexistent", "--", "sh"], &expect![[r#"
        stderr: error: the server cannot be started: it starts in `/nonexistent`, which is not a directory; correct `cwd`, or make the directory; or add it all the same with `--force`
        exit 2
    "#]]);
    user.check(&["mcp", "add", "gone", "--env", "PATH=/nonexistent", "--", "sh"], &expect![[r#"
        stderr: error: the server cannot be started: there is no program `sh` in PATH; install it, or write its path; PATH must name its directory by an absolute path; or add it all the same with `--force`
        exit 2
    "#]]);
    assert!(!user.home().join("config/haft/haft.toml").exists());
    // Where it is depends on what is not known yet.
    user.check(
        &["mcp", "add", "later", "--", "${HAFT_TESTS_SET_IT_NOT}/server"],
        &expect![[r#"
        added later to HOME/config/haft/haft.toml
        Try it with `haft mcp status later`; `haft mcp tools later` lists its tools.
        exit 0
    "#]],
    );
    user.check(
        &["mcp", "add", "gone", "--force", "--", "no-such-program"],
        &expect![[r#"
        added gone to HOME/config/haft/haft.toml
        Try it with `haft mcp status gone`; `haft mcp tools gone` lists its tools.
        exit 0
    "#]],
    );
    user.check(
        &["mcp", "add", "there", "--", "sh", "-c", "true"],
        &expect![[r#"
        added there to HOME/config/haft/haft.toml
        Try it with `haft mcp status there`; `haft mcp tools there` lists its tools.
        exit 0
    "#]],
    );
    user.check(
        &["mcp", "add", "web", "--force", "--url", "https://mcp.example.com/mcp"],
        &expect![[r#"
        added web to HOME/config/haft/haft.toml
        Try it with `haft mcp status web`; `haft mcp tools web` lists its tools.
        exit 0
    "#]],
    );
}

#[test]
fn what_cannot_be_written_says_what_to_do() {
    let user = User::new();
    // Nothing is there to be read, and nothing can be made there.
    for place in ["config", "state"] {
        let place = user.home.path().join(place);
        std::fs::create_dir(&place).unwrap();
        std::os::unix::fs::symlink("nowhere", place.join("haft")).unwrap();
    }
    user.check(
        &["mcp", "add", "time", "--force", "--", "mcp-server-time"],
        &expect![[r#"
        stderr: error: cannot write `HOME/config/haft/haft.toml`; make its directory writable
        stderr:   because: File exists (os error 17)
        exit 2
    "#]],
    );
    user.write("{ \"mcpServers\": { \"time\": { \"command\": \"mcp-server-time\" } } }");
    let trusted = shown(&user.command(&["mcp", "trust"]).output().unwrap());
    assert!(trusted.starts_with("stderr: error: cannot write `"), "{trusted}");
    assert!(trusted.contains("`; make its directory writable\n"), "{trusted}");
    assert!(trusted.ends_with("exit 2\n"), "{trusted}");
}

#[test]
fn the_tools_of_a_server_are_listed_and_called() {
    let user = User::new();
    user.add_echo();
    user.check(
        &["mcp", "status"],
        &expect![[r#"
        echo ready, 1 tool echo 1 2025-11-25
        exit 0
    "#]],
    );
    user.check(
        &["mcp", "tools"],
        &expect![[r#"
        echo__say  Says it again.
        exit 0
    "#]],
    );
    user.check(
        &["mcp", "call", "echo", "say", "{\"text\": \"hello\"}", "--yes"],
        &expect![[r#"
        hello
        exit 0
    "#]],
    );
    user.check(
        &["call", "echo__say", "{\"text\": \"hello\"}", "--yes"],
        &expect![[r#"
        hello
        exit 0
    "#]],
    );
    let listed = |arguments: &[&str]| shown(&user.command(arguments).output().unwrap());
    assert!(listed(&["tools"]).contains("echo__say    Says it again."), "{}", listed(&["tools"]));

    let starts = user.starts();
    assert!(!listed(&["tools", "--no-mcp"]).contains("echo__say"));
    std::fs::write(user.workspace.path().join("a.txt"), "text\n").unwrap();
    user.check(
        &["call", "read_file", "{\"path\": \"a.txt\"}"],
        &expect![[r#"
        a.txt: 1 line, 5 bytes
        1	text
        exit 0
    "#]],
    );
    user.check(&["call", "other__say", "{}", "--yes"], &expect![[r#"
        stderr: error: unknown tool: there is no tool `other__say`; the tools are `apply_patch`, `bash`, `edit_file`, `find_files`, `glob`, `grep`, `list_files`, `outline`, `read_file`, `run_program`, `web_fetch` and `write_file`
        exit 1
    "#]]);
    user.check(&["call", "echo__say", "{\"text\": \"hello\"}", "--yes", "--no-mcp"], &expect![[r#"
        stderr: error: unknown tool: there is no tool `echo__say`; the tools are `apply_patch`, `bash`, `edit_file`, `find_files`, `glob`, `grep`, `list_files`, `outline`, `read_file`, `run_program`, `web_fetch` and `write_file`
        exit 1
    "#]]);
    assert_eq!(user.starts(), starts, "no server is started that is not needed");
}

#[test]
fn tools_are_listed_without_starting_servers_that_have_listed_theirs() {
    let user = User::new();
    user.add_echo();
    let listed =
        |arguments: &[&str]| shown(&user.command(&[&["tools"], arguments].concat()).output().unwrap());
    let first = listed(&[]);
    assert!(
        first.contains("echo__say    Says it again.") && !first.contains("as they were listed"),
        "{first}"
    );
    let starts = user.starts();
    let again = listed(&[]);
    let without_note =
        |text: &str| text.lines().filter(|line| !line.contains("as they were listed")).collect::<String>();
    assert!(again.contains("Tools of MCP servers are as they were listed "), "{again}");
    assert_eq!((without_note(&again), user.starts()), (without_note(&first), starts));
    assert!(listed(&["--json"]).contains("echo__say"));
    assert_eq!(user.starts(), starts, "nothing was started");
    listed(&["--refresh"]);
    assert_ne!(user.starts(), starts, "it was asked again");

    // What was accepted has changed since, so it is asked again, too.
    assert!(user.command(&["mcp", "reject", "echo", "say"]).output().unwrap().status.success());
    let rejected = user.starts();
    listed(&[]);
    assert_ne!(user.starts(), rejected, "what is kept of before counts no more");

    // What is kept and cannot be read, or was written by others, counts for nothing.
    let kept = user.home().join("state/haft/mcp-listed");
    for file in std::fs::read_dir(kept).unwrap() {
        std::fs::write(file.unwrap().path(), "{").unwrap();
    }
    let starts = user.starts();
    listed(&[]);
    assert_ne!(user.starts(), starts);
}

#[test]
fn a_server_that_fails_is_left_out() {
    let user = User::new();
    user.add_echo();
    let add = ["mcp", "add", "gone", "--force", "--", "/nonexistent/server"];
    assert!(user.command(&add).output().unwrap().status.success());
    let output = user.command(&["tools"]).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("echo__say"));
    expect![[r#"
        note: the MCP server `gone` is left out: cannot start `/nonexistent/server`: No such file or directory (os error 2)
    "#]].assert_eq(&String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_tool_that_is_not_what_it_was_waits_to_be_accepted() {
    let user = User::new();
    user.add_echo();
    let call = ["call", "echo__say", "{\"text\": \"hello\"}", "--yes"];
    assert!(user.command(&call).output().unwrap().status.success());
    user.describe("Says it again, and reads your keys.");
    user.check(
        &call,
        &expect![[r#"
            stderr: denied: `echo__say` cannot be called: its description changed since it was accepted; go on without it until a person has looked at it and accepted it with `haft mcp accept echo`
            exit 1
        "#]],
    );
    // Nobody can be asked here, so that without a digest nothing is accepted.
    user.check(
        &["mcp", "accept", "echo"],
        &expect![[r#"
        waits say@ace12d4ec62b3d64c8408e6b1add551d: its description changed since it was accepted
          description - Says it again.
          description + Says it again, and reads your keys.

        Accept what you have looked at by its digest, as in:
          haft mcp accept echo say@ace12d4ec62b3d64c8408e6b1add551d
        exit 0
    "#]],
    );
    user.check(
        &["mcp", "accept", "echo", "--all"],
        &expect![[r#"
        waits say@ace12d4ec62b3d64c8408e6b1add551d: its description changed since it was accepted
          description - Says it again.
          description + Says it again, and reads your keys.

        Accept what you have looked at by its digest, as in:
          haft mcp accept echo say@ace12d4ec62b3d64c8408e6b1add551d
        exit 3
    "#]],
    );
    user.check(
        &["mcp", "accept", "echo", "say"],
        &expect![[r#"
        waits say@ace12d4ec62b3d64c8408e6b1add551d: its description changed since it was accepted
          description - Says it again.
          description + Says it again, and reads your keys.

        Accept what you have looked at by its digest, as in:
          haft mcp accept echo say@ace12d4ec62b3d64c8408e6b1add551d
        exit 3
    "#]],
    );
    let shown = user.shown_digest();
    user.describe("Says it again, and reads all your keys.");
    user.check(&["mcp", "accept", "echo", &format!("say@{shown}")], &expect![[r#"
        stderr: error: `say` is not what was shown; it is `say@24d9d41f8519e103f28b6641b0aea8b8` now: look at it before you accept it
        exit 1
    "#]]);
    user.check(&["mcp", "accept", "echo", "say@0a1b2c3d"], &expect![[r#"
        stderr: error: a digest has at least 32 digits; write it as it was shown, as in `say@24d9d41f8519e103f28b6641b0aea8b8`
        exit 2
    "#]]);
    user.check(
        &["mcp", "accept", "echo", "sy@0a1b2c3d"],
        &expect![[r#"
        stderr: error: no tool `sy` waits to be accepted; did you mean `say`?
        exit 2
    "#]],
    );
    let shown = user.shown_digest();
    user.check(
        &["mcp", "accept", "echo", &format!("say@{}", &shown[..32])],
        &expect![[r#"
        accepted say@24d9d41f8519e103f28b6641b0aea8b8
        exit 0
    "#]],
    );
    user.check(
        &call,
        &expect![[r#"
        hello
        exit 0
    "#]],
    );
    user.check(
        &["mcp", "accept", "echo"],
        &expect![[r#"
        Nothing waits: 1 tool is accepted as it is.
        exit 0
    "#]],
    );
}

#[test]
fn what_cannot_be_shown_is_accepted_by_its_digest_alone() {
    let user = User::new();
    user.add_echo();
    assert!(user.command(&["mcp", "tools"]).output().unwrap().status.success());
    user.describe(&"Says it again. ".repeat(3000));
    user.check(&["mcp", "accept", "echo", "--all"], &expect![[r#"
        waits say@7b0378167d8c71f894bb81779e5576d7: its description changed since it was accepted
          its definition has 45122 bytes, too many to be shown here: see it with `haft mcp accept echo say --json`, then accept it by its digest

        Accept what you have looked at by its digest, as in:
          haft mcp accept echo say@7b0378167d8c71f894bb81779e5576d7
        exit 3
    "#]]);
    let told = user.command(&["mcp", "accept", "echo", "say", "--json"]).output().unwrap();
    assert_eq!(told.status.code(), Some(3));
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    let description = told[0]["definition"]["description"].as_str().unwrap();
    assert_eq!((description.len(), &told[0]["accepted"]), (44_999, &false.into()));
    let handle = format!("say@{}", told[0]["digest"].as_str().unwrap());
    user.check(
        &["mcp", "accept", "echo", &handle],
        &expect![[r#"
        accepted say@7b0378167d8c71f894bb81779e5576d7
        exit 0
    "#]],
    );
}

#[test]
fn a_tool_that_was_accepted_is_rejected() {
    let user = User::new();
    user.add_echo();
    let call = ["call", "echo__say", "{\"text\": \"hello\"}", "--yes"];
    assert!(user.command(&call).output().unwrap().status.success());
    let starts = user.starts();
    user.check(
        &["mcp", "reject", "echo", "sy"],
        &expect![[r#"
        stderr: error: no tool `sy` is accepted; did you mean `say`?
        exit 2
    "#]],
    );
    user.check(
        &["mcp", "reject", "echo", "say"],
        &expect![[r#"
        rejected say
        exit 0
    "#]],
    );
    assert_eq!(user.starts(), starts);
    user.check(&call, &expect![[r#"
        stderr: denied: `echo__say` cannot be called: none of its server's tools is accepted; go on without it until a person has looked at it and accepted it with `haft mcp accept echo`
        exit 1
    "#]]);
    user.check(
        &["mcp", "accept", "echo"],
        &expect![[r#"
        waits say@f4e18a7e515e95e1f777a9b0e64cb639: none of its server's tools is accepted
          description + Says it again.
          inputSchema + {"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}

        Accept what you have looked at by its digest, as in:
          haft mcp accept echo say@f4e18a7e515e95e1f777a9b0e64cb639
        exit 0
    "#]],
    );

    let digest = user.shown_digest();
    assert!(
        user.command(&["mcp", "accept", "echo", &format!("say@{digest}")]).output().unwrap().status.success()
    );
    user.check(
        &["mcp", "reject", "echo", "--all", "--json"],
        &expect![[r#"
        [
          {
            "rejected": true,
            "tool": "say"
          }
        ]
        exit 0
    "#]],
    );
    user.check(&call, &expect![[r#"
        stderr: denied: `echo__say` cannot be called: none of its server's tools is accepted; go on without it until a person has looked at it and accepted it with `haft mcp accept echo`
        exit 1
    "#]]);
}

#[test]
fn what_was_accepted_is_not_granted_again_where_it_is_lost() {
    let user = User::new();
    user.add_echo();
    let call = ["call", "echo__say", "{\"text\": \"hello\"}", "--yes"];
    assert!(user.command(&call).output().unwrap().status.success());
    let pins = user.home.path().join("state/haft/mcp-pins");
    let files = std::fs::read_dir(&pins).unwrap().map(|entry| entry.unwrap().path());
    let file = files.filter(|path| path.extension().is_some_and(|end| end == "json")).last().unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    let check = |arguments: &[&str], expected: &Expect| {
        let shown = shown(&user.command(arguments).output().unwrap());
        let home = user.home.path().display().to_string();
        expected.assert_eq(&shown.replace(&home, "HOME").replace(name, "SERVER.json"));
    };
    check(
        &call,
        &expect![[r#"
        stderr: denied: `echo__say` cannot be called: what was accepted of its server cannot be read or kept; go on without it until a person has looked at it and accepted it with `haft mcp accept echo`
        exit 1
    "#]],
    );
    check(
        &["mcp", "accept", "echo"],
        &expect![[r#"
        stderr: error: cannot read what was accepted of the server, so nothing of it is accepted; correct the file, or have `haft mcp reject SERVER --all` put one in its place that accepts nothing
        stderr:   because: others than its owner may read or write `HOME/state/haft/mcp-pins/SERVER.json` (mode 0644); look at what it says, then make it private with `chmod 600`
        exit 1
    "#]],
    );
    std::fs::remove_file(&file).unwrap();
    check(
        &call,
        &expect![[r#"
        stderr: denied: `echo__say` cannot be called: none of its server's tools is accepted; go on without it until a person has looked at it and accepted it with `haft mcp accept echo`
        exit 1
    "#]],
    );
}

#[test]
fn a_login_is_for_a_service_that_takes_one() {
    let user = User::new();
    user.write("{ \"mcpServers\": { \"gone\": { \"command\": \"/nonexistent/server\" }, \"docs\": { \"url\": \"http://127.0.0.1:1/\" } } }");
    assert!(user.command(&["mcp", "trust"]).output().unwrap().status.success());
    user.check(&["mcp", "logout", "gone"], &expect![[r#"
        stderr: error: the MCP server `gone` takes no login: only a service without a configured `Authorization` does
        exit 1
    "#]]);
    user.check(
        &["mcp", "logout", "docs"],
        &expect![[r#"
        logged out of docs
        exit 0
    "#]],
    );
    user.check(&["mcp", "login", "docs"], &expect![[r#"
        docs backoff, 0 tools
          cannot connect to `127.0.0.1`: error sending request: client error (Connect): tcp connect error: Connection refused (os error 111)
        exit 1
    "#]]);
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_place() {
    let user = User::new();
    user.write(
        "{ \"mcpServers\": { \"a\": { \"command\": \"a\", \"env\": { \"A\": \"${UNSET_IN_TESTS}\" } } } }",
    );
    user.check(
        &["mcp", "trust"],
        &expect![[r#"
        trusted WORKSPACE/.mcp.json as it is now; after a change it is not trusted again
          a
        exit 0
    "#]],
    );
    user.check(&["mcp", "list", "--json"], &expect![[r#"
        {
          "disabled": [],
          "notes": [
            ".mcp.json:1:56: server `a`: `env.A`: the variable `UNSET_IN_TESTS` is not set; set it, or write a default as in `${UNSET_IN_TESTS:-…}`"
          ],
          "refused": [
            "a"
          ],
          "servers": [],
          "untrusted": []
        }
        exit 0
    "#]]);
    user.check(&["mcp", "status", "a"], &expect![[r#"
        stderr: note: .mcp.json:1:56: server `a`: `env.A`: the variable `UNSET_IN_TESTS` is not set; set it, or write a default as in `${UNSET_IN_TESTS:-…}`
        stderr: error: something is wrong with the configuration of `a`; correct it as the note says
        exit 2
    "#]]);
    user.write("{ \"mcpServers\": ");
    user.check(
        &["mcp", "list"],
        &expect![[r#"
        There are no servers; add one, as in `haft mcp add time -- uvx mcp-server-time`.
        stderr: note: .mcp.json:1:16: it is not JSON: EOF while parsing a value
        exit 0
    "#]],
    );
    user.check(
        &["mcp", "trust"],
        &expect![[r#"
        stderr: error: .mcp.json:1:16: it is not JSON: EOF while parsing a value
        exit 2
    "#]],
    );
}

#[test]
fn what_is_wrong_with_a_file_is_not_told_before_it_is_trusted() {
    let user = User::new();
    user.write(
        "{ \"mcpServers\": { \"a\": { \"url\": \"${UNSET_IN_TESTS}\" }, \"b\": { \"command\": \"${TOKEN}\", \"args\": [\"x\"] } } }",
    );
    user.check(&["mcp", "list"], &expect![[r#"
        a  .mcp.json not trusted
        b  .mcp.json not trusted
        stderr: note: the servers of `.mcp.json` are not started before you trust it; look at it, then run `haft mcp trust`
        exit 0
    "#]]);
    user.check(&["mcp", "status", "a"], &expect![[r#"
        stderr: note: the servers of `.mcp.json` are not started before you trust it; look at it, then run `haft mcp trust`
        stderr: error: `a` is of `.mcp.json`, which is not trusted; look at it, then run `haft mcp trust`
        exit 2
    "#]]);
    user.check(
        &["mcp", "list", "--json"],
        &expect![[r#"
        {
          "disabled": [],
          "notes": [],
          "refused": [],
          "servers": [],
          "untrusted": [
            "a",
            "b"
          ]
        }
        exit 0
    "#]],
    );
}

#[test]
fn policies_speak_of_tools_without_starting_their_servers() {
    let user = User::new();
    user.add_echo();
    let policy = r#"[permissions]
allow = ["call(mcp:echo/say)"]

[[test]]
tool = "echo__say"
input = { text = "a" }
expect = "allow"

[[test]]
tool = "echo__other"
input = {}
expect = "ask"

[[test]]
tool = "unknown__say"
input = {}
expect = "ask"
"#;
    std::fs::write(user.workspace.path().join("team.toml"), policy).unwrap();
    let call = |tool: &str| serde_json::json!({ "tool": tool, "input": { "text": "a" } }).to_string();
    user.check(
        &["policy", "explain", "--policy", "team.toml", &call("echo__say")],
        &expect![[r#"
        allow  echo__say {"text":"a"}

          allow  call mcp:echo/say
                 by the rule call(mcp:echo/say) (team.toml:2)

        decided by team.toml, in the mode default
        stderr: note: team.toml:15: the test is not run: there is no tool `unknown__say`
        exit 0
    "#]],
    );
    user.check(
        &["policy", "explain", "--policy", "team.toml", &call("echo__other")],
        &expect![[r#"
        ask  echo__other {"text":"a"}

          ask    call mcp:echo/other
                 no rule speaks of it
                 to change it: a rule that allows it, such as `call(mcp:echo/other)`

        decided by team.toml, in the mode default
        stderr: note: team.toml:15: the test is not run: there is no tool `unknown__say`
        exit 0
    "#]],
    );
    user.check(
        &["policy", "explain", "--policy", "team.toml", &call("other__say")],
        &expect![[r#"
        deny  other__say {"text":"a"}

          it cannot be prepared, so it would not run:
          there is no tool `other__say`

        decided by team.toml, in the mode default
        stderr: note: team.toml:15: the test is not run: there is no tool `unknown__say`
        exit 1
    "#]],
    );
    user.check(
        &["policy", "test", "team.toml"],
        &expect![[r#"
        team.toml
          ok       5  allow  echo__say
          ok      10  ask    echo__other
          skip    15  ask    unknown__say: there is no tool `unknown__say`

        2 passed, 0 failed, 1 not run
        exit 0
    "#]],
    );
    user.check(
        &["policy", "check", "team.toml"],
        &expect![[r#"
        ok  team.toml: 2 tests passed
            builds on no profile of its own; `read_only` holds unless another is named
            mode default, sandbox off
            note: team.toml:15: the test is not run: there is no tool `unknown__say`
        exit 0
    "#]],
    );
    assert_eq!(user.starts(), 0);
}

#[test]
fn a_call_of_a_server_that_waits_is_edited_by_what_its_tool_takes() {
    let user = User::new();
    user.add_echo();
    let command = |arguments: &[&str]| {
        let mut command = user.command(arguments);
        command.env("HAFT_STATE", user.home.path().join("haft.db"));
        shown(&command.output().unwrap())
    };
    let waits = command(&["call", "echo__say", "{\"text\": \"hello\"}"]);
    assert!(waits.contains("exit 3"), "{waits}");
    let listed: serde_json::Value = {
        let listed = command(&["approvals", "list", "--json"]);
        serde_json::from_str(listed.rsplit_once("exit").unwrap().0).unwrap()
    };
    let id = listed[0]["call"]["id"].as_str().unwrap();
    let run = listed[0]["call"]["run"].as_str().unwrap();
    let edit = |input: &str| command(&["approvals", "edit", id, "--input", input]);
    expect![[r#"
        stderr:   the arguments do not fit `echo__say`:
        stderr:   - at `/text`: 7.5 is not a string
        stderr:   correct them and call the tool again
        stderr: error: the call `ID` cannot be made with these arguments, and waits as it was
        exit 2
    "#]]
    .assert_eq(&edit("{\"text\": 7.5}").replace(id, "ID"));
    expect![[r#"
        approved with other arguments `echo__say`; go on with `haft resume RUN`.
        exit 0
    "#]]
    .assert_eq(&edit("{\"text\": \"bye\"}").replace(run, "RUN"));
    expect![[r#"
        bye
        [the arguments were changed: the whole: edited by the person who approved the call ({"text":"hello"} → {"text":"bye"})]
        exit 0
    "#]].assert_eq(&command(&["resume", run]));
}
