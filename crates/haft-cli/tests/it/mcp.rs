//! `haft mcp`, and the tools of servers in other commands.

mod accepting;
mod faults;

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
fn a_server_is_removed_and_the_rest_of_the_file_stays() {
    let user = User::new();
    let text = "# mine\n[permissions]\ndeny = [\"exec(rm)\"]\n\n[mcp.servers.time]\ncommand = \"a\" # always\n\n\
                [mcp.servers.time.env]\nKEY = \"${TOKEN}\"\n\n# and another\n[mcp.servers.docs]\ncommand = 'b'\n";
    user.write_config("haft.toml", text);
    user.check(
        &["mcp", "remove", "time"],
        &expect![[r#"
        removed time from HOME/config/haft/haft.toml
        exit 0
    "#]],
    );
    let file = std::fs::read_to_string(user.home.path().join("config/haft/haft.toml")).unwrap();
    expect![[r##"
        # mine
        [permissions]
        deny = ["exec(rm)"]

        # and another
        [mcp.servers.docs]
        command = 'b'
    "##]]
    .assert_eq(&file);
    user.check(&["mcp", "remove", "time"], &expect![[r#"
        stderr: error: there is no server `time` in `HOME/config/haft/haft.toml`; `haft mcp list` says which file each is of
        exit 2
    "#]]);
    user.check(&["mcp", "remove", "a__b"], &expect![[r#"
        stderr: error: there is no server `a__b` in `HOME/config/haft/haft.toml`; `haft mcp list` says which file each is of
        exit 2
    "#]]);
    user.write_config("haft.toml", "[mcp.servers.time\n");
    user.check(
        &["mcp", "remove", "time"],
        &expect![[r#"
        stderr: error: `HOME/config/haft/haft.toml` is no TOML; `haft config check` says where
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
fn a_login_is_for_a_service_that_takes_one() {
    let user = User::new();
    user.write("{ \"mcpServers\": { \"gone\": { \"command\": \"/nonexistent/server\" }, \"docs\": { \"url\": \"http://127.0.0.1:1/\" } } }");
    assert!(user.command(&["mcp", "trust"]).output().unwrap().status.success());
    user.check(&["mcp", "logout", "gone"], &expect![[r#"
        stderr: error: the MCP server `gone` needs no login: it is a program, or its `Authorization` is configured; take that out to log in
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
        [the arguments were changed: the whole: edited by the user, who then approved the call ({"text":"hello"} → {"text":"bye"})]
        exit 0
    "#]].assert_eq(&command(&["resume", run]));
}
