use haft_core::Visible;
use std::fmt;

/// The most characters of a message, which may quote what is written in the file.
const LONGEST_MESSAGE: usize = 400;

/// Says one thing that is wrong, or odd, in a configuration of servers: where, what, and what to write instead.
///
/// It names fields and variables, and never holds a value that a variable was replaced by.
///
/// ```
/// use haft_mcp::ServersFile;
///
/// let text = "[mcp.servers.time]\ncommand = 'mcp-time'\nargs = ['${ZONE}']";
/// let file = ServersFile::from_toml(text, "mcp.toml", &|_| None)?;
/// let problem = &file.refused[0].problems[0];
/// assert_eq!((problem.line, problem.server.as_deref()), (Some(3), Some("time")));
/// assert!(problem.message.starts_with("the variable `ZONE` is not set"));
/// # Ok::<(), haft_mcp::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigProblem {
    /// The file, as people know it.
    pub file: String,
    /// The line, 1-based; `None` for what is about the file as a whole.
    pub line: Option<u32>,
    /// The column in characters, 1-based; `None` for what is about the file as a whole.
    pub column: Option<u32>,
    /// The server's name as it is written, if it is about one.
    pub server: Option<String>,
    /// The field, such as `env.TOKEN`, if it is about one.
    pub field: Option<String>,
    /// What is wrong, with the next step.
    pub message: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Visible::line(&self.file))?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        if let Some(server) = &self.server {
            write!(f, ": server `{}`", Cut(server))?;
        }
        if let Some(field) = &self.field {
            write!(f, ": `{}`", Cut(field))?;
        }
        write!(f, ": {}", Cut(&self.message))
    }
}

/// Shows the beginning of a text on one line.
struct Cut<'a>(&'a str);

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(LONGEST_MESSAGE) {
            Some((end, _)) => write!(f, "{}…", Visible::line(&self.0[..end])),
            None => Visible::line(self.0).fmt(f),
        }
    }
}

/// Lists why a file of servers cannot be used at all.
///
/// ```
/// use haft_mcp::ServersFile;
///
/// let error = ServersFile::from_json("{ \"mcpServers\": ", ".mcp.json", &|_| None).map(drop);
/// let problems = error.as_ref().err().map(|error| error.problems()).unwrap_or_default();
/// assert_eq!(problems.len(), 1);
/// assert_eq!((problems[0].file.as_str(), problems[0].line), (".mcp.json", Some(1)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    problems: Vec<ConfigProblem>,
}

impl ConfigError {
    pub(super) fn new(problems: Vec<ConfigProblem>) -> Self {
        Self { problems }
    }

    /// What is wrong, in the order of the file; never empty.
    pub fn problems(&self) -> &[ConfigProblem] {
        &self.problems
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, problem) in self.problems.iter().enumerate() {
            if place > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}
