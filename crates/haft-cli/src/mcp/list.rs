use super::arguments::ListOptions;
use super::files::{FileKind, Known, McpFiles, Place};
use crate::config::Configuration;
use crate::exit::Exit;
use crate::opened_workdir;
use crate::paint::{ASKS, NAME, QUIET};
use crate::printed::print_json;
use crate::timeline::visible;
use anyhow::Result;
use haft::mcp::Transport;
use schemars::JsonSchema;
use serde::Serialize;

/// Lists the servers that are configured.
pub(super) fn list(options: &ListOptions) -> Result<Exit> {
    let workdir = opened_workdir::workdir(options.workdir.as_deref())?;
    let files = Configuration::read(&workdir)?.servers?;
    if options.json {
        print_json(&ListedServers {
            servers: files.servers.iter().map(ListedServer::of).collect(),
            disabled: files.disabled,
            refused: files.refused,
            untrusted: files.untrusted.into_iter().map(|server| server.name).collect(),
            notes: files.notes.into_iter().chain(files.replaced).collect(),
        })?;
        return Ok(Exit::Done);
    }
    files.print_notes();
    let width = files.servers.iter().map(|known| known.config.name.as_str().len()).max().unwrap_or_default();
    for known in &files.servers {
        let (name, reached) = (known.config.name.as_str(), visible(&reached(known)));
        let place = place(known.place, known.file);
        outln!("{NAME}{name:width$}{NAME:#}  {reached}  {place}");
    }
    for name in &files.disabled {
        outln!("{name:width$}  {QUIET}disabled{QUIET:#}");
    }
    for server in files.untrusted.iter().filter(|server| !is_listed(&files, &server.name)) {
        outln!("{:width$}  {}", visible(&server.name), place(Place::Untrusted, server.file));
    }
    if files.servers.is_empty() && files.disabled.is_empty() && files.untrusted.is_empty() {
        outln!("There are no servers; add one, as in `haft mcp add time -- uvx mcp-server-time`.");
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

/// The MCP servers that are configured here.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ListedServers {
    /// Each server, also those of files that are not trusted, which are not started.
    servers: Vec<ListedServer>,
    /// The names of those that are disabled.
    disabled: Vec<String>,
    /// The names of those whose configuration is wrong.
    refused: Vec<String>,
    /// The names of those of files that are not trusted.
    untrusted: Vec<String>,
    /// What is wrong or odd in the files, for people.
    notes: Vec<String>,
}

/// An MCP server, as it is configured.
#[derive(Serialize, JsonSchema)]
struct ListedServer {
    /// Its name.
    name: String,
    /// How it is reached: `stdio`, `http` or `unix`.
    transport: &'static str,
    /// By which program or at which address, as it is written and without what may be a secret.
    reached: String,
    /// Whose word it is that there is one: `user` or `workspace`.
    from: &'static str,
    /// The file that it stands in.
    file: &'static str,
    /// Whether it may be started.
    trusted: bool,
}

impl ListedServer {
    fn of(known: &Known) -> Self {
        Self {
            name: known.config.name.as_str().to_owned(),
            transport: match &known.config.transport {
                Transport::Stdio(_) => "stdio",
                Transport::Http(_) => "http",
                Transport::Unix(_) => "unix",
                _ => "other",
            },
            reached: reached(known),
            from: if known.place == Place::User { "user" } else { "workspace" },
            file: known.file.name(),
            trusted: known.place != Place::Untrusted,
        }
    }
}
