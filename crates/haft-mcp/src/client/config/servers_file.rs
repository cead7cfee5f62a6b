use super::document::{Key, Node, NodeValue, SyntaxError, read_json, read_toml};
use super::entry::read_entry;
use super::problem::{ConfigError, ConfigProblem};
use super::{ServerConfig, ServerName};
use haft_tools_core::{listed, nearest};
use std::collections::BTreeSet;
use std::ops::Range;

/// The most bytes of a file of servers.
const MOST_BYTES: usize = 1 << 20;

/// The most servers of a file.
const MOST_SERVERS: usize = 128;

/// The keys under which servers stand at the top of a JSON file.
const TOP: [&str; 3] = ["mcpServers", "servers", "mcp"];

/// Holds what a file says of servers: those that can be used, and what is wrong or odd with the others.
///
/// A server with an error is refused and takes no other down, so look at [`refused`](Self::refused) and
/// [`warnings`](Self::warnings), too, and show them.
///
/// ```
/// use haft_mcp::{ServersFile, Transport};
///
/// let text = r#"{ "mcpServers": {
///     "github": { "url": "https://mcp.example.com", "headers": { "Authorization": "Bearer ${TOKEN}" } },
///     "files": { "command": "mcp-files", "args": ["${DIRECTORY:-.}"], "environment": {} }
/// } }"#;
/// let file = ServersFile::from_json(text, ".mcp.json", &|_| None)?;
/// assert_eq!(file.servers.len(), 1);
/// assert!(matches!(file.servers[0].transport, Transport::Stdio(_)));
/// assert_eq!(
///     file.refused[0].problems[0].to_string(),
///     ".mcp.json:2:81: server `github`: `headers.Authorization`: the variable `TOKEN` is not set; set it, or write a \
///      default as in `${TOKEN:-…}`"
/// );
/// assert_eq!(
///     file.warnings[0].to_string(),
///     ".mcp.json:3:69: server `files`: `environment`: it is not known, and has no effect; did you mean `env`?"
/// );
/// # Ok::<(), haft_mcp::ConfigError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ServersFile {
    /// The servers that can be started, in the order of the file.
    pub servers: Vec<ServerConfig>,
    /// The servers that the file says are not to be started.
    pub disabled: Vec<ServerName>,
    /// The servers that something is wrong with, in the order of the file.
    pub refused: Vec<RefusedServer>,
    /// What is odd and has no effect, such as unknown fields.
    pub warnings: Vec<ConfigProblem>,
}

/// Says what is wrong with one server of a file.
///
/// ```
/// use haft_mcp::ServersFile;
///
/// let text = r#"{ "mcpServers": { "both": { "command": "mcp-x", "url": "https://mcp.example.org" } } }"#;
/// let file = ServersFile::from_json(text, ".mcp.json", &|_| None)?;
/// let refused = &file.refused[0];
/// assert_eq!(refused.name, "both");
/// for problem in &refused.problems {
///     eprintln!("{problem}");
/// }
/// # assert!(!refused.problems.is_empty());
/// # Ok::<(), haft_mcp::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedServer {
    /// Its name, as it is written.
    pub name: String,
    /// What is wrong; never empty.
    pub problems: Vec<ConfigProblem>,
}

impl ServersFile {
    /// Reads the JSON that desktop clients and editors have: `mcpServers` as in `.mcp.json`, or `servers`.
    ///
    /// Comments, and commas before a closing bracket, are allowed. `variable` gives what `${VAR}` stands for.
    ///
    /// # Errors
    ///
    /// When nothing of it can be used: it is larger than 1 MiB, is not JSON, has no servers or more than 128.
    pub fn from_json(
        text: &str,
        file: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let (reading, document) = Reading::of(text, file, variable, read_json)?;
        reading.json(&document)
    }

    /// Reads the tables `[mcp.servers.NAME]` of a TOML file; other tables are left alone.
    ///
    /// ```
    /// use haft_mcp::{ServersFile, Start};
    ///
    /// let text = r#"
    /// [mcp.servers.time]
    /// command = "mcp-server-time"
    /// args = ["--local-timezone", "${TZ:-UTC}"]
    /// start = "eager"
    /// limits = { start_timeout = "5s", message = "1 MiB" }
    /// "#;
    /// let file = ServersFile::from_toml(text, "mcp.toml", &|_| None)?;
    /// assert_eq!((file.servers[0].start, file.servers[0].limits.message_bytes), (Start::Eager, 1 << 20));
    /// # Ok::<(), haft_mcp::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When nothing of it can be used: it is larger than 1 MiB, is not TOML, or has more than 128 servers.
    pub fn from_toml(
        text: &str,
        file: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let (reading, document) = Reading::of(text, file, variable, read_toml)?;
        reading.toml(&document)
    }
}

/// Is a file with its text, in which places are found.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    file: &'a str,
    text: &'a str,
}

impl Source<'_> {
    pub(super) fn problem(&self, span: &Range<usize>, message: impl Into<String>) -> ConfigProblem {
        let mut at = span.start.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let number = |count: usize| u32::try_from(count + 1).ok();
        ConfigProblem {
            line: number(before.matches('\n').count()),
            column: number(before[line_start..].chars().count()),
            ..self.of_file(message)
        }
    }

    fn of_file(&self, message: impl Into<String>) -> ConfigProblem {
        let file = self.file.to_owned();
        ConfigProblem { file, line: None, column: None, server: None, field: None, message: message.into() }
    }

    fn check_size(&self) -> Result<(), ConfigError> {
        if self.text.len() <= MOST_BYTES {
            return Ok(());
        }
        let message = "a file of servers has at most 1 MiB; see whether this is one";
        Err(ConfigError::new(vec![self.of_file(message)]))
    }

    fn syntax(&self, errors: Vec<SyntaxError>) -> ConfigError {
        let problem = |error: SyntaxError| self.problem(&(error.at..error.at), error.message);
        ConfigError::new(errors.into_iter().map(problem).collect())
    }
}

struct Reading<'a> {
    source: Source<'a>,
    variable: &'a dyn Fn(&str) -> Option<String>,
    read: ServersFile,
}

impl<'a> Reading<'a> {
    /// Begins to read a text in the language that `parse` reads.
    fn of(
        text: &'a str,
        file: &'a str,
        variable: &'a dyn Fn(&str) -> Option<String>,
        parse: impl FnOnce(&str) -> Result<Node, Vec<SyntaxError>>,
    ) -> Result<(Self, Node), ConfigError> {
        let source = Source { file, text };
        source.check_size()?;
        let document = parse(text).map_err(|errors| source.syntax(errors))?;
        Ok((Self { source, variable, read: ServersFile::default() }, document))
    }
}

impl Reading<'_> {
    fn json(mut self, document: &Node) -> Result<ServersFile, ConfigError> {
        let top = self.table(document, "the file")?;
        let mut found = Vec::new();
        for (key, value) in top {
            match key.text.as_str() {
                "mcpServers" | "servers" => found.push(value),
                "mcp" => {
                    let inner = self.table(value, "`mcp`")?;
                    found.extend(
                        inner.iter().filter(|(key, _)| key.text == "servers").map(|(_, value)| value),
                    );
                }
                // Clients keep other settings beside their servers; only what looks like a slip is told.
                word => self.warn_of_slip(key, nearest(word, TOP).first().copied()),
            }
        }
        if found.is_empty() {
            let message = "there are no servers in it; write them under `mcpServers`";
            return Err(ConfigError::new(vec![self.source.problem(&document.span, message)]));
        }
        for value in found {
            self.servers(value)?;
        }
        Ok(self.read)
    }

    fn toml(mut self, document: &Node) -> Result<ServersFile, ConfigError> {
        for (key, value) in self.table(document, "the file")? {
            if key.text != "mcp" {
                // A file of servers alone would lose all of them to this slip.
                let slip = matches!(key.text.as_str(), "servers" | "mcpServers" | "mcp_servers");
                self.warn_of_slip(key, slip.then_some("mcp.servers"));
                continue;
            }
            for (key, value) in self.table(value, "`mcp`")? {
                if key.text == "servers" {
                    self.servers(value)?;
                } else {
                    self.warn_of_slip(key, Some("servers"));
                }
            }
        }
        Ok(self.read)
    }

    fn servers(&mut self, value: &Node) -> Result<(), ConfigError> {
        let members = self.table(value, "the servers")?;
        if members.len() > MOST_SERVERS {
            let message = format!("it has {} servers; {MOST_SERVERS} are the most", members.len());
            return Err(ConfigError::new(vec![self.source.problem(&value.span, message)]));
        }
        let mut names: BTreeSet<ServerName> =
            self.read.servers.iter().map(|server| server.name.clone()).collect();
        for (key, value) in members {
            let name = ServerName::nearest_to(&key.text);
            if !names.insert(name.clone()) {
                let message =
                    format!("another server of the file is called `{name}`, too; rename one of them");
                let problem = ConfigProblem {
                    server: Some(key.text.clone()),
                    ..self.source.problem(&key.span, message)
                };
                self.read.refused.push(RefusedServer { name: key.text.clone(), problems: vec![problem] });
                continue;
            }
            if name.as_str() != key.text {
                let message =
                    format!("it is called `{name}` here, so that it can be a part of the names of tools");
                let problem = self.source.problem(&key.span, message);
                self.read.warnings.push(ConfigProblem { server: Some(key.text.clone()), ..problem });
            }
            let entry = read_entry(self.source, self.variable, &key.text, &name, value);
            self.read.warnings.extend(entry.warnings);
            if entry.disabled {
                // What is not started need not be right.
                self.read.disabled.push(name);
            } else if let Some(server) = entry.server {
                self.read.servers.push(server);
            } else {
                let refused = RefusedServer { name: key.text.clone(), problems: entry.problems };
                self.read.refused.push(refused);
            }
        }
        Ok(())
    }

    fn table<'n>(&self, node: &'n Node, what: &str) -> Result<&'n [(Key, Node)], ConfigError> {
        if let NodeValue::Table(members) = &node.value {
            return Ok(members);
        }
        let message = format!("{what} must be a table of names, and is {}", node.kind());
        Err(ConfigError::new(vec![self.source.problem(&node.span, message)]))
    }

    fn warn_of_slip(&mut self, key: &Key, meant: Option<&str>) {
        if let Some(meant) = meant {
            let message = not_known(Some(meant));
            let problem = self.source.problem(&key.span, message);
            self.read.warnings.push(ConfigProblem { field: Some(key.text.clone()), ..problem });
        }
    }
}

/// Says that a key has no effect, with the one that may be meant.
pub(super) fn not_known(meant: Option<&str>) -> String {
    match meant {
        Some(meant) => format!("it is not known, and has no effect; did you mean {}?", listed([meant], "or")),
        None => "it is not known, and has no effect".to_owned(),
    }
}

#[cfg(test)]
mod tests;
