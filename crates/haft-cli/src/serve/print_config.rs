use super::arguments::{Client, ServeOptions};
use crate::changes::ChangeQuota;
use crate::exit::{Exit, UsageError};
use crate::other_root::OtherRoot;
use crate::paint::QUIET;
use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, absolute};

/// The variable that clients take a token from.
const TOKEN: &str = "HAFT_TOKEN";

/// How long a client may wait for the server to start, and for a call, which a person may have to approve, in seconds.
const START_SECONDS: u32 = 20;
const CALL_SECONDS: u32 = 600;

/// Says how a client reaches the server.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reached {
    /// By starting it.
    Program { command: String, arguments: Vec<String> },
    /// Where it runs.
    Address { url: String, needs_token: bool },
}

/// Prints what to write into a client's configuration; where that is, is said on standard error.
pub(super) fn print(client: Client, options: &ServeOptions) -> Result<Exit> {
    let program = std::env::current_exe()
        .context("cannot tell where this program is; write its path into the configuration yourself")?;
    let reached = reached(client, options, &program)?;
    check_name(&options.name)?;
    errln!("{QUIET}{}{QUIET:#}", place(client));
    out!("{}", snippet(client, &options.name, &reached)?);
    Ok(Exit::Done)
}

/// Says where a client has its configuration.
fn place(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => "Put this into `.mcp.json` of the project:",
        Client::Codex => "Add this to `~/.codex/config.toml`:",
        Client::Vscode => "Put this into `.vscode/mcp.json` of the project:",
        Client::Cursor => "Put this into `.cursor/mcp.json` of the project, or `~/.cursor/mcp.json` for all:",
        Client::Gemini => {
            "Add this to `.gemini/settings.json` of the project, or `~/.gemini/settings.json` for all:"
        }
    }
}

/// Checks that a name can be written everywhere: tools are called by it, too.
fn check_name(name: &str) -> Result<()> {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    if name.is_empty() || name.len() > 20 || !name.chars().all(is_allowed) {
        bail!(UsageError(format!(
            "`{name}` is not a name for a server; use up to 20 letters, digits, `_` and `-`"
        )));
    }
    Ok(())
}

/// Says how a client reaches a server that is started with these options.
fn reached(client: Client, options: &ServeOptions, program: &Path) -> Result<Reached> {
    if options.unix.is_some() {
        bail!(UsageError(
            "no client can be told of a socket; leave `--unix` out, or use `--http`".to_owned()
        ));
    }
    if let Some(address) = options.http {
        if address.port() == 0 {
            bail!(UsageError("clients have to know the port; give `--http` one that is not 0".to_owned()));
        }
        let url = match &options.oauth_audience {
            Some(audience) => audience.clone(),
            None => format!("http://{}/mcp", reachable(address)),
        };
        return Ok(Reached::Address { url, needs_token: options.token_file.is_some() });
    }
    let command = text(program.as_os_str().to_owned())?;
    Ok(Reached::Program { command, arguments: arguments(client, options)? })
}

/// The address by which one that stands for all is reached from here.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Writes the options again, in the order of the help, with paths that hold wherever the client starts the server.
fn arguments(client: Client, options: &ServeOptions) -> Result<Vec<String>> {
    let mut arguments = vec!["serve".to_owned()];
    let mut add = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    let path = |path: &Path| {
        let shown = path.display();
        let whole = absolute(path)
            .with_context(|| UsageError(format!("cannot tell where `{shown}` is; write the whole path")))?;
        text(whole.into_os_string())
    };
    match (&options.workdir, client) {
        (Some(workdir), _) => add("--workdir", path(workdir)?),
        // These start servers elsewhere, and write the directory in its place.
        (None, Client::Vscode | Client::Cursor) => add("--workdir", "${workspaceFolder}".to_owned()),
        (None, _) => {}
    }
    for root in OtherRoot::absolute(options.roots.clone())? {
        add("--root", root.written()?);
    }
    if options.tools != haft::mcp::ServeMode::Full {
        add("--tools", options.tools.to_string());
    }
    if let Some(key) = &options.state_key {
        add("--state-key", path(key)?);
    }
    if let Some(console) = options.console {
        add("--console", console.to_string());
    }
    if let Some(clients) = &options.clients {
        add("--clients", path(clients)?);
    }
    let (quota, usual) = (options.quota, ChangeQuota::default());
    if quota.undo_space != usual.undo_space {
        add("--undo-space", quota.undo_space.to_string());
    }
    if quota.undo_file != usual.undo_file {
        add("--undo-file", quota.undo_file.to_string());
    }
    if let Some(profile) = options.policy.profile {
        add("--profile", profile.to_string());
    }
    if let Some(policy) = &options.policy.policy {
        add("--policy", path(policy)?);
    }
    if let Some(mode) = options.policy.mode {
        add("--mode", mode.to_string());
    }
    if let Some(sandbox) = options.policy.sandbox {
        add("--sandbox", sandbox.to_string());
    }
    let flags = [
        ("--no-roots", options.no_roots),
        ("--no-mcp", options.no_mcp),
        ("--no-openapi", options.no_openapi),
    ];
    arguments.extend(flags.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| (*name).to_owned()));
    Ok(arguments)
}

fn text(path: OsString) -> Result<String> {
    path.into_string().map_err(|path| {
        let shown = path.display();
        UsageError(format!("the path `{shown}` is not UTF-8, so it cannot be written down; rename it")).into()
    })
}

/// Writes the snippet, as the client reads it.
fn snippet(client: Client, name: &str, reached: &Reached) -> Result<String> {
    if client == Client::Codex {
        return codex(name, reached);
    }
    let mut snippet = json!({});
    let section = if client == Client::Vscode { "servers" } else { "mcpServers" };
    snippet[section][name] = entry(client, reached);
    if let (Client::Vscode, Reached::Address { needs_token: true, .. }) = (client, reached) {
        snippet["inputs"] = json!([{ "type": "promptString", "id": "haft-token", "description": "Token for haft", "password": true }]);
    }
    Ok(format!("{}\n", serde_json::to_string_pretty(&snippet)?))
}

fn entry(client: Client, reached: &Reached) -> Value {
    match reached {
        Reached::Program { command, arguments } => {
            let mut entry = json!({ "command": command, "args": arguments });
            match client {
                Client::ClaudeCode => (entry["type"], entry["env"]) = (json!("stdio"), json!({})),
                Client::Vscode => entry["type"] = json!("stdio"),
                // Of the client, who asks about each call of a server that is not trusted.
                Client::Gemini => {
                    (entry["timeout"], entry["trust"]) = (json!(CALL_SECONDS * 1000), json!(false));
                }
                Client::Cursor | Client::Codex => {}
            }
            entry
        }
        Reached::Address { url, needs_token } => {
            let mut entry = match client {
                Client::ClaudeCode | Client::Vscode => json!({ "type": "http", "url": url }),
                Client::Gemini => json!({ "httpUrl": url, "timeout": CALL_SECONDS * 1000, "trust": false }),
                Client::Cursor | Client::Codex => json!({ "url": url }),
            };
            if *needs_token {
                let token = match client {
                    Client::Vscode => "${input:haft-token}".to_owned(),
                    Client::Cursor => format!("${{env:{TOKEN}}}"),
                    Client::ClaudeCode | Client::Gemini | Client::Codex => format!("${{{TOKEN}}}"),
                };
                entry["headers"] = json!({ "Authorization": format!("Bearer {token}") });
            }
            entry
        }
    }
}

fn codex(name: &str, reached: &Reached) -> Result<String> {
    #[derive(Serialize)]
    struct File<'a> {
        mcp_servers: BTreeMap<&'a str, Server<'a>>,
    }
    #[derive(Serialize)]
    struct Server<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        command: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        args: Option<&'a [String]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        bearer_token_env_var: Option<&'a str>,
        startup_timeout_sec: u32,
        tool_timeout_sec: u32,
    }
    let (startup_timeout_sec, tool_timeout_sec) = (START_SECONDS, CALL_SECONDS);
    let server = match reached {
        Reached::Program { command, arguments } => Server {
            command: Some(command),
            args: Some(arguments),
            url: None,
            bearer_token_env_var: None,
            startup_timeout_sec,
            tool_timeout_sec,
        },
        Reached::Address { url, needs_token } => Server {
            command: None,
            args: None,
            url: Some(url),
            bearer_token_env_var: needs_token.then_some(TOKEN),
            startup_timeout_sec,
            tool_timeout_sec,
        },
    };
    Ok(toml::to_string(&File { mcp_servers: BTreeMap::from([(name, server)]) })?)
}

#[cfg(test)]
mod tests;
