use super::arguments::ListOptions;
use super::files::{FileKind, Known, McpFiles, Place};
use crate::exit::Exit;
use crate::paint::{ASKS, NAME, QUIET};
use crate::setup;
use crate::timeline::visible;
use anyhow::Result;
use haft::mcp::Transport;
use serde_json::{Value, json};

/// Lists the servers that are configured.
pub(super) fn list(options: &ListOptions) -> Result<Exit> {
    let workdir = setup::workdir(options.workdir.as_deref())?;
    let files = McpFiles::read(&workdir)?;
    if options.json {
        let servers: Vec<Value> = files.servers.iter().map(told).collect();
        let notes: Vec<&String> = files.notes.iter().chain(&files.replaced).collect();
        let untrusted: Vec<&str> = files.untrusted.iter().map(|server| server.name.as_str()).collect();
        let list = json!({
            "servers": servers, "disabled": files.disabled, "refused": files.refused,
            "untrusted": untrusted, "notes": notes,
        });
        anstream::println!("{list:#}");
        return Ok(Exit::Done);
    }
    files.print_notes();
    let width = files.servers.iter().map(|known| known.config.name.as_str().len()).max().unwrap_or_default();
    for known in &files.servers {
        let (name, reached) = (known.config.name.as_str(), visible(&reached(known)));
        let place = place(known.place, known.file);
        anstream::println!("{NAME}{name:width$}{NAME:#}  {reached}  {place}");
    }
    for name in &files.disabled {
        anstream::println!("{name:width$}  {QUIET}disabled{QUIET:#}");
    }
    for server in files.untrusted.iter().filter(|server| !is_listed(&files, &server.name)) {
        anstream::println!("{:width$}  {}", visible(&server.name), place(Place::Untrusted, server.file));
    }
    if files.servers.is_empty() && files.disabled.is_empty() && files.untrusted.is_empty() {
        anstream::println!(
            "There are no servers; add one, as in `haft mcp add time -- uvx mcp-server-time`."
        );
    }
    Ok(Exit::Done)
}

/// Says which file a server is written in, and whose that is.
fn place(place: Place, file: FileKind) -> String {
    let name = file.name();
    match place {
        Place::User => format!("{QUIET}your {name}{QUIET:#}"),
        Place::Workspace => format!("{QUIET}{name}{QUIET:#}"),
        Place::Untrusted => format!("{QUIET}{name}{QUIET:#} {ASKS}not trusted{ASKS:#}"),
    }
}

fn is_listed(files: &McpFiles, name: &str) -> bool {
    files.servers.iter().any(|known| known.config.name.as_str() == name)
}

/// Says how a server is reached, as it is written: arguments and addresses may hold secrets, which variables were replaced by.
fn reached(known: &Known) -> String {
    match known.config.written.as_ref().unwrap_or(&known.config.transport) {
        Transport::Stdio(program) => {
            let arguments = match program.arguments.len() {
                0 => String::new(),
                1 => " with 1 argument".to_owned(),
                count => format!(" with {count} arguments"),
            };
            format!("{}{arguments}", program.command.to_string_lossy())
        }
        Transport::Http(service) => service.url.split(['?', '#']).next().unwrap_or_default().to_owned(),
        Transport::Unix(path) => path.display().to_string(),
        _ => String::new(),
    }
}

fn told(known: &Known) -> Value {
    let transport = match &known.config.transport {
        Transport::Stdio(_) => "stdio",
        Transport::Http(_) => "http",
        Transport::Unix(_) => "unix",
        _ => "other",
    };
    json!({
        "name": known.config.name.as_str(),
        "transport": transport,
        "reached": reached(known),
        "from": if known.place == Place::User { "user" } else { "workspace" },
        "file": known.file.name(),
        "trusted": known.place != Place::Untrusted,
    })
}
