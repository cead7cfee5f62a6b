#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use super::{Reached, check_name, reached, snippet};
use crate::arguments::{Arguments, Command};
use crate::serve::arguments::Client;
use clap::{Parser as _, ValueEnum as _};
use expect_test::{Expect, expect};
use haft::mcp::{ServersFile, Transport};
use haft_testkit::laid_out;
use std::fmt::Write as _;
use std::path::Path;

/// What a command line comes to for a client; it has to be read back as what it was.
fn written(client: Client, line: &[&str]) -> anyhow::Result<(Reached, String)> {
    let line =
        ["haft", "serve", "--print-config"].into_iter().chain([name_of(client)]).chain(line.iter().copied());
    let Command::Serve(options) = Arguments::try_parse_from(line)?.command else { unreachable!() };
    let reached = reached(client, &options, Path::new("/opt/haft \"x\"/bin/haft"))?;
    let snippet = snippet(client, &options.name, &reached)?;
    Ok((reached, snippet))
}

fn name_of(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => "claude-code",
        Client::Codex => "codex",
        Client::Vscode => "vscode",
        Client::Cursor => "cursor",
        Client::Gemini => "gemini",
    }
}

/// Reads a snippet as the client does, as far as it says how the server is reached.
fn read_back(client: Client, text: &str, name: &str) -> Reached {
    let strings = |value: &serde_json::Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let entry: serde_json::Value = if client == Client::Codex {
        let file: serde_json::Value = toml::from_str(text).unwrap();
        file["mcp_servers"][name].clone()
    } else {
        let file: serde_json::Value = serde_json::from_str(text).unwrap();
        let section = if client == Client::Vscode { "servers" } else { "mcpServers" };
        file[section][name].clone()
    };
    match entry["command"].as_str() {
        Some(command) => Reached::Program { command: command.to_owned(), arguments: strings(&entry["args"]) },
        None => Reached::Address {
            url: entry["url"].as_str().or(entry["httpUrl"].as_str()).unwrap().to_owned(),
            needs_token: entry["headers"].is_object() || entry["bearer_token_env_var"].is_string(),
        },
    }
}

/// Checks what is printed for each client, letter by letter.
fn check(line: &[&str], expected: Expect) {
    check_as(line, str::to_owned, expected);
}

/// Checks what is printed for each client as the JSON it is.
fn check_json(line: &[&str], expected: Expect) {
    let laid_out = |text: &str| match serde_json::from_str::<serde_json::Value>(text) {
        Ok(json) => laid_out(&json) + "\n",
        Err(_) => text.to_owned(),
    };
    check_as(line, laid_out, expected);
}

#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check_as(line: &[&str], shown: fn(&str) -> String, expected: Expect) {
    let mut told = String::new();
    for client in Client::value_variants() {
        let (reached, text) = written(*client, line).unwrap();
        let name = line.iter().skip_while(|word| **word != "--name").nth(1).unwrap_or(&"haft");
        assert_eq!(read_back(*client, &text, name), reached, "{text}");
        let _ = writeln!(told, "# {}\n{}", name_of(*client), shown(&text));
    }
    expected.assert_eq(&told);
}

#[test]
fn a_server_that_the_client_starts() {
    check(
        &[],
        expect![[r##"
        # claude-code
        {
          "mcpServers": {
            "haft": {
              "args": [
                "serve"
              ],
              "command": "/opt/haft \"x\"/bin/haft",
              "env": {},
              "type": "stdio"
            }
          }
        }

        # codex
        [mcp_servers.haft]
        command = '/opt/haft "x"/bin/haft'
        args = ["serve"]
        startup_timeout_sec = 20
        tool_timeout_sec = 600

        # vscode
        {
          "servers": {
            "haft": {
              "args": [
                "serve",
                "--workdir",
                "${workspaceFolder}"
              ],
              "command": "/opt/haft \"x\"/bin/haft",
              "type": "stdio"
            }
          }
        }

        # cursor
        {
          "mcpServers": {
            "haft": {
              "args": [
                "serve",
                "--workdir",
                "${workspaceFolder}"
              ],
              "command": "/opt/haft \"x\"/bin/haft"
            }
          }
        }

        # gemini
        {
          "mcpServers": {
            "haft": {
              "args": [
                "serve"
              ],
              "command": "/opt/haft \"x\"/bin/haft",
              "timeout": 600000,
              "trust": false
            }
          }
        }

    "##]],
    );
}

#[test]
fn a_server_with_options() {
    let line = [
        "--workdir",
        "/home/me/my \"project\"\\",
        "--tools",
        "@builtin, !bash",
        "--no-mcp",
        "--profile",
        "workspace_write",
        "--policy",
        "/etc/team.toml",
        "--mode",
        "accept_edits",
        "--no-roots",
        "--name",
        "tools-2",
    ];
    let arguments = [
        "serve",
        "--workdir",
        "/home/me/my \"project\"\\",
        "--tools",
        "@builtin, !bash",
        "--profile",
        "workspace_write",
        "--policy",
        "/etc/team.toml",
        "--mode",
        "accept_edits",
        "--no-roots",
        "--no-mcp",
    ];
    let arguments = arguments.map(str::to_owned).to_vec();
    let expected = Reached::Program { command: "/opt/haft \"x\"/bin/haft".to_owned(), arguments };
    for client in Client::value_variants() {
        let (reached, text) = written(*client, &line).unwrap();
        assert_eq!(reached, expected, "{text}");
        assert_eq!(read_back(*client, &text, "tools-2"), expected, "{text}");
    }
}

#[test]
fn a_server_that_runs() {
    check_json(
        &["--http", "0.0.0.0:8765", "--token-file", "tokens"],
        expect![[r##"
            # claude-code
            {
              "mcpServers": {
                "haft": {"headers": {"Authorization": "Bearer ${HAFT_TOKEN}"}, "type": "http", "url": "http://127.0.0.1:8765/mcp"}
              }
            }

            # codex
            [mcp_servers.haft]
            url = "http://127.0.0.1:8765/mcp"
            bearer_token_env_var = "HAFT_TOKEN"
            startup_timeout_sec = 20
            tool_timeout_sec = 600

            # vscode
            {
              "inputs": [{"description": "Token for haft", "id": "haft-token", "password": true, "type": "promptString"}],
              "servers": {
                "haft": {
                  "headers": {"Authorization": "Bearer ${input:haft-token}"},
                  "type": "http",
                  "url": "http://127.0.0.1:8765/mcp"
                }
              }
            }

            # cursor
            {"mcpServers": {"haft": {"headers": {"Authorization": "Bearer ${env:HAFT_TOKEN}"}, "url": "http://127.0.0.1:8765/mcp"}}}

            # gemini
            {
              "mcpServers": {
                "haft": {
                  "headers": {"Authorization": "Bearer ${HAFT_TOKEN}"},
                  "httpUrl": "http://127.0.0.1:8765/mcp",
                  "timeout": 600000,
                  "trust": false
                }
              }
            }

        "##]],
    );
}

#[test]
fn what_was_written_is_what_haft_reads() {
    for client in [Client::ClaudeCode, Client::Cursor] {
        let (reached, text) = written(client, &["--workdir", "/home/me/pro ject"]).unwrap();
        let file = ServersFile::from_json(&text, "it", &|_| None).unwrap();
        assert_eq!(
            (file.refused.len(), file.warnings.len()),
            (0, 0),
            "{:?} {:?}",
            file.refused,
            file.warnings
        );
        let Transport::Stdio(program) = &file.servers[0].transport else { panic!("{text}") };
        let arguments =
            program.arguments.iter().map(|argument| argument.to_str().unwrap().to_owned()).collect();
        let command = program.command.to_str().unwrap().to_owned();
        assert_eq!(Reached::Program { command, arguments }, reached);
    }
}

#[test]
fn a_relative_path_is_written_whole() {
    let (reached, _) = written(Client::Codex, &["--policy", "team.toml"]).unwrap();
    let Reached::Program { arguments, .. } = reached else { unreachable!() };
    assert!(Path::new(&arguments[2]).is_absolute() && arguments[2].ends_with("/team.toml"), "{arguments:?}");
}

#[test]
fn what_no_client_can_use_is_refused() {
    let refused = |line: &[&str]| written(Client::Cursor, line).unwrap_err().to_string();
    expect!["no client can be told of a socket; leave `--unix` out, or use `--http`"]
        .assert_eq(&refused(&["--unix", "/tmp/haft.sock"]));
    expect!["clients have to know the port; give `--http` one that is not 0"]
        .assert_eq(&refused(&["--http", "127.0.0.1:0"]));
    for name in ["", "a b", "\"", "x".repeat(21).as_str(), "é"] {
        assert!(check_name(name).is_err(), "{name}");
    }
}
