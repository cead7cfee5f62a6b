//! Files and programs that are not as they should be.

use super::User;
use crate::shown;
use expect_test::expect;

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
