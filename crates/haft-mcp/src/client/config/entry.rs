mod bounds;
mod fields;
mod login;
mod reach;
mod values;

pub(super) use bounds::LIMITS;
pub(super) use fields::{DESCRIBING, FIELDS};
pub(super) use login::FIELDS as LOGIN_FIELDS;

use super::document::{Node, NodeValue};
use super::expansion::{ExpansionError, expand_variables};
use super::problem::ConfigProblem;
use super::servers_file::Source;
use super::{Era, ServerConfig, ServerName, Start};
use crate::LogLevel;
use std::ops::Range;

/// Is what came of reading one server.
pub(super) struct Entry {
    pub(super) server: Option<ServerConfig>,
    pub(super) disabled: bool,
    pub(super) problems: Vec<ConfigProblem>,
    pub(super) warnings: Vec<ConfigProblem>,
}

/// Reads one server.
pub(super) fn read_entry(
    source: Source<'_>,
    variable: &dyn Fn(&str) -> Option<String>,
    written: &str,
    name: &ServerName,
    value: &Node,
) -> Entry {
    let replaced = |text: &str| expand_variables(text, variable);
    let reader =
        EntryReader { source, expand: &replaced, written, problems: Vec::new(), warnings: Vec::new() };
    reader.read(name, value)
}

struct EntryReader<'a> {
    source: Source<'a>,
    /// What stands for a text of the file.
    expand: &'a dyn Fn(&str) -> Result<String, ExpansionError>,
    written: &'a str,
    problems: Vec<ConfigProblem>,
    warnings: Vec<ConfigProblem>,
}

impl EntryReader<'_> {
    fn read(mut self, name: &ServerName, value: &Node) -> Entry {
        let NodeValue::Table(members) = &value.value else {
            self.refuse(
                &value.span,
                None,
                format!("a server is a table, and this is {}; write one", value.kind()),
            );
            return self.ended(None, false);
        };
        let fields = self.fields(members);
        let disabled = self.switch(&fields, "disabled").unwrap_or(false)
            || !self.switch(&fields, "enabled").unwrap_or(true);
        if disabled {
            // Its variables need not be set.
            self.problems.clear();
            return self.ended(None, true);
        }
        let transport = self.transport(&fields, &value.span);
        let written = self.as_written().transport(&fields, &value.span);
        let start = self.word(&fields, "start", &[("lazy", Start::Lazy), ("eager", Start::Eager)]);
        let era = self.word(&fields, "era", &[("legacy", Era::Legacy), ("modern", Era::Modern)]);
        let mut levels = vec![("none", None)];
        levels.extend(LogLevel::ALL.map(|level| (level.as_str(), Some(level))));
        let log_level = self.word(&fields, "log_level", &levels);
        let resource_tools = self.switch(&fields, "resource_tools").unwrap_or(false);
        let limits = self.limits(&fields);
        let orders_itself = self.switch(&fields, "orders_itself").unwrap_or(false);
        let repeatable = self.names(&fields, "repeatable");
        let server = transport.map(|transport| {
            let start = start.unwrap_or_default();
            let server = ServerConfig::new(name.clone(), transport);
            let log_level = log_level.unwrap_or(server.log_level);
            ServerConfig {
                written,
                start,
                era,
                limits,
                resource_tools,
                orders_itself,
                repeatable,
                log_level,
                ..server
            }
        });
        self.ended(server, false)
    }

    /// Reads texts as they are written; what is wrong is told where their variables are replaced.
    fn as_written(&self) -> Self {
        let (problems, warnings) = (Vec::new(), Vec::new());
        Self {
            source: self.source,
            expand: &|text| Ok(text.to_owned()),
            written: self.written,
            problems,
            warnings,
        }
    }

    fn ended(mut self, server: Option<ServerConfig>, disabled: bool) -> Entry {
        let server = server.filter(|_| self.problems.is_empty());
        self.problems.sort_by_key(|problem| (problem.line, problem.column));
        self.warnings.sort_by_key(|problem| (problem.line, problem.column));
        Entry { server, disabled, problems: self.problems, warnings: self.warnings }
    }

    fn refuse(&mut self, span: &Range<usize>, field: Option<&str>, message: impl Into<String>) {
        let problem = self.problem(span, field, message);
        self.problems.push(problem);
    }

    fn warn(&mut self, span: &Range<usize>, field: &str, message: impl Into<String>) {
        let problem = self.problem(span, Some(field), message);
        self.warnings.push(problem);
    }

    fn problem(&self, span: &Range<usize>, field: Option<&str>, message: impl Into<String>) -> ConfigProblem {
        let (server, field) = (Some(self.written.to_owned()), field.map(str::to_owned));
        ConfigProblem { server, field, ..self.source.problem(span, message) }
    }
}
