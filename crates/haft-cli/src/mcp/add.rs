use super::arguments::AddOptions;
use super::files::{user_file, write_user_file};
use super::way::{Lack, Way};
use crate::exit::{Exit, UsageError};
use crate::paint::{GOOD, NAME};
use crate::small_file::text_of;
use crate::timeline::visible;
use anyhow::{Result, bail};
use haft::mcp::{ServerName, ServersFile};
use std::fmt::Write as _;

/// Adds a server to the user's file, behind what is there.
pub(super) fn add(options: &AddOptions) -> Result<Exit> {
    let name: ServerName =
        options.name.parse().map_err(|error: haft::mcp::ServerNameError| UsageError(error.to_string()))?;
    let path = user_file()?;
    let before = text_of(&path)?.unwrap_or_default();
    let shown = path.display().to_string();
    // Variables need not be set yet.
    let variable = |_: &str| Some("x".to_owned());
    let read = |text: &str| {
        ServersFile::from_toml(text, &shown, &variable).map_err(|error| UsageError(error.to_string()))
    };
    let there = read(&before)?;
    let taken =
        there.servers.iter().map(|server| &server.name).chain(&there.disabled).any(|taken| *taken == name);
    if taken || there.refused.iter().any(|refused| refused.name == name.as_str()) {
        bail!(UsageError(format!(
            "there is a server `{name}` in `{shown}` already; choose another name, or change it there"
        )));
    }
    let gap = if before.is_empty() || before.ends_with("\n\n") { "" } else { "\n" };
    let text = format!("{before}{gap}{}", entry(&name, options)?);
    let after = read(&text)?;
    if let Some(problem) = after
        .refused
        .iter()
        .find(|refused| refused.name == name.as_str())
        .and_then(|refused| refused.problems.first())
    {
        let field = problem.field.as_deref().map(|field| format!("`{field}`: ")).unwrap_or_default();
        bail!(UsageError(format!("the server cannot be added: {field}{}", problem.message)));
    }
    if !options.force
        && let Some(lack) = lack(&name, options)?
    {
        let Lack { text, next } = lack;
        bail!(UsageError(format!(
            "the server cannot be started: {text}; {next}; or add it all the same with `--force`"
        )));
    }
    write_user_file(&path, &text)?;
    outln!("{GOOD}added{GOOD:#} {NAME}{name}{NAME:#} to {}", visible(&shown));
    outln!("Try it with `haft mcp status {name}`; `haft mcp tools {name}` lists its tools.");
    Ok(Exit::Done)
}

/// Says what the server needs that is not there. That is not known where it depends on a variable that is not set.
fn lack(name: &ServerName, options: &AddOptions) -> Result<Option<Lack>> {
    let variable = |name: &str| std::env::var(name).ok();
    let read = ServersFile::from_toml(&entry(name, options)?, "", &variable);
    let read = read.map_err(|error| UsageError(error.to_string()))?;
    Ok(read.servers.first().and_then(|server| Way::of(server).lack()))
}

/// Writes the table of the server.
fn entry(name: &ServerName, options: &AddOptions) -> Result<String> {
    let mut text = format!("[mcp.servers.{name}]\n");
    // Writing to a string cannot fail.
    if let Some(url) = &options.url {
        let _ = writeln!(text, "url = {}", quoted(url));
        pairs(&mut text, "headers", &options.header, ':')?;
    }
    if let Some((command, arguments)) = options.command.split_first() {
        let _ = writeln!(text, "command = {}", quoted(command));
        if !arguments.is_empty() {
            let arguments: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
            let _ = writeln!(text, "args = [{}]", arguments.join(", "));
        }
        if let Some(directory) = &options.cwd {
            let _ = writeln!(text, "cwd = {}", quoted(directory));
        }
        pairs(&mut text, "env", &options.env, '=')?;
    }
    Ok(text)
}

fn pairs(text: &mut String, table: &str, pairs: &[String], between: char) -> Result<()> {
    let mut written = Vec::new();
    for pair in pairs {
        let Some((name, value)) = pair.split_once(between) else {
            // The text may be a secret, and is not repeated.
            bail!(UsageError(format!("each of `{table}` is a name, `{between}` and a value")));
        };
        written.push(format!("{} = {}", quoted(name.trim()), quoted(value.trim_start())));
    }
    if !written.is_empty() {
        let _ = writeln!(text, "{table} = {{ {} }}", written.join(", "));
    }
    Ok(())
}

/// Writes a text as TOML does: as JSON, but for one character.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
