use super::document::{Key, Node, NodeValue};
use super::expansion::expand;
use super::problem::ConfigProblem;
use super::quantity;
use super::servers_file::{Source, not_known};
use super::{Era, HttpServer, Program, ServerConfig, ServerLimits, ServerName, Start, Transport};
use crate::client::address::{Refusal, checked_address};
use haft_tools_core::{listed, nearest};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

/// The most arguments, variables or headers of a server.
const MOST_ITEMS: usize = 256;

/// The fields of a server, each with how others write it.
const FIELDS: [(&str, &[&str]); 16] = [
    ("command", &[]),
    ("args", &["arguments"]),
    ("env", &[]),
    ("cwd", &["directory"]),
    ("url", &["serverUrl", "server_url", "httpUrl"]),
    ("headers", &["http_headers"]),
    ("unix", &["socket"]),
    ("type", &["transport"]),
    ("disabled", &[]),
    ("enabled", &[]),
    ("start", &[]),
    ("era", &[]),
    ("resource_tools", &["resourceTools"]),
    ("limits", &[]),
    ("orders_itself", &["ordersItself"]),
    ("repeatable", &[]),
];

/// Fields of other clients that have no effect here, with what has.
const OF_OTHERS: [(&[&str], &str); 4] = [
    (
        &["autoApprove", "alwaysAllow", "trust", "autoApproveTools"],
        "what may be called is said by the rules of a policy",
    ),
    (
        &["timeout", "startupTimeout", "tool_timeout_sec", "startup_timeout_sec"],
        "write `limits = { start, idle, call }`",
    ),
    (&["envFile"], "write the variables in `env`"),
    (&["disabledTools", "enabledTools", "tools"], "which tools there are is said by the rules of a policy"),
];

/// Fields that only describe.
const DESCRIBING: [&str; 6] = ["description", "name", "version", "gallery", "icon", "$schema"];

const TYPES: [&str; 6] = ["stdio", "http", "streamable-http", "streamableHttp", "streamable_http", "unix"];

const LIMITS: [&str; 7] = ["start", "probe", "idle", "call", "message", "restarts", "restart_window"];

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
    let reader = EntryReader { source, variable, written, problems: Vec::new(), warnings: Vec::new() };
    reader.read(name, value)
}

struct EntryReader<'a> {
    source: Source<'a>,
    variable: &'a dyn Fn(&str) -> Option<String>,
    written: &'a str,
    problems: Vec<ConfigProblem>,
    warnings: Vec<ConfigProblem>,
}

/// Holds the fields of a server by their first names.
type Fields<'n> = BTreeMap<&'static str, (&'n Key, &'n Node)>;

impl EntryReader<'_> {
    fn read(mut self, name: &ServerName, value: &Node) -> Entry {
        let NodeValue::Table(members) = &value.value else {
            self.refuse(&value.span, None, format!("a server is a table, and this is {}", value.kind()));
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
        let start = self.word(&fields, "start", &[("lazy", Start::Lazy), ("eager", Start::Eager)]);
        let era = self.word(&fields, "era", &[("legacy", Era::Legacy), ("modern", Era::Modern)]);
        let resource_tools = self.switch(&fields, "resource_tools").unwrap_or(false);
        let limits = self.limits(&fields);
        let orders_itself = self.switch(&fields, "orders_itself").unwrap_or(false);
        let repeatable = self.names(&fields, "repeatable");
        let server = transport.map(|transport| {
            let start = start.unwrap_or_default();
            let server = ServerConfig::new(name.clone(), transport);
            ServerConfig { start, era, limits, resource_tools, orders_itself, repeatable, ..server }
        });
        self.ended(server, false)
    }

    fn ended(mut self, server: Option<ServerConfig>, disabled: bool) -> Entry {
        let server = server.filter(|_| self.problems.is_empty());
        self.problems.sort_by_key(|problem| (problem.line, problem.column));
        self.warnings.sort_by_key(|problem| (problem.line, problem.column));
        Entry { server, disabled, problems: self.problems, warnings: self.warnings }
    }

    /// Sorts the fields by their names; tells of those that have no effect.
    fn fields<'n>(&mut self, members: &'n [(Key, Node)]) -> Fields<'n> {
        let mut fields = Fields::new();
        for (key, value) in members {
            let word = key.text.as_str();
            let known = FIELDS.iter().find(|(name, others)| *name == word || others.contains(&word));
            if let Some((name, _)) = known {
                if fields.insert(*name, (key, value)).is_some() {
                    self.refuse(&key.span, Some(word), "it is written twice; remove one of them");
                }
            } else if let Some((_, instead)) = OF_OTHERS.iter().find(|(words, _)| words.contains(&word)) {
                self.warn(&key.span, word, format!("it has no effect here; {instead}"));
            } else if !DESCRIBING.contains(&word) {
                let words = FIELDS.iter().flat_map(|(name, others)| others.iter().chain([name]));
                let meant = nearest(word, words.copied()).first().copied();
                self.warn(&key.span, word, not_known(meant));
            }
        }
        fields
    }

    fn transport(&mut self, fields: &Fields<'_>, whole: &Range<usize>) -> Option<Transport> {
        let ways = ["command", "url", "unix"];
        let written: Vec<&str> = ways.into_iter().filter(|way| fields.contains_key(way)).collect();
        let way = match (self.way(fields), written.as_slice()) {
            (Err(()), _) => return None,
            (Ok(Some(way)), written) if written.contains(&way) => way,
            (Ok(Some(way)), _) => {
                self.refuse(whole, None, format!("a server of its type needs `{way}`; write it"));
                return None;
            }
            (Ok(None), [way]) => way,
            (Ok(None), []) => {
                let message = "nothing says how it is reached; write `command`, `url` or `unix`";
                self.refuse(whole, None, message);
                return None;
            }
            (Ok(None), several) => {
                let several = listed(several.iter().copied(), "and");
                self.refuse(whole, None, format!("it has {several}; write `type`, or remove all but one"));
                return None;
            }
        };
        self.warn_of_others(fields, way);
        match way {
            "command" => self.program(fields),
            "url" => self.service(fields),
            _ => self.path(fields, "unix").map(Transport::Unix),
        }
    }

    /// Gives the field that the type calls for, if the type is written.
    fn way(&mut self, fields: &Fields<'_>) -> Result<Option<&'static str>, ()> {
        let Some((key, value)) = fields.get("type") else { return Ok(None) };
        let NodeValue::Text(word) = &value.value else {
            self.unfit(key, value, "a text");
            return Err(());
        };
        match word.as_str() {
            "stdio" => Ok(Some("command")),
            "unix" => Ok(Some("unix")),
            word if TYPES.contains(&word) => Ok(Some("url")),
            "sse" => {
                let message = "the transport of 2024 is not spoken; if the server has streamable HTTP, too, write `http`";
                self.refuse(&value.span, Some(&key.text), message);
                Err(())
            }
            word => {
                let near = nearest(word, TYPES);
                let meant = listed(if near.is_empty() { TYPES[..2].to_vec() } else { near }, "or");
                self.refuse(
                    &value.span,
                    Some(&key.text),
                    format!("`{word}` is not a transport; write {meant}"),
                );
                Err(())
            }
        }
    }

    fn warn_of_others(&mut self, fields: &Fields<'_>, way: &str) {
        let others: &[&str] = match way {
            "command" => &["url", "headers", "unix"],
            "url" => &["command", "args", "env", "cwd", "unix"],
            _ => &["command", "args", "env", "cwd", "url", "headers"],
        };
        for (key, value) in others.iter().filter_map(|name| fields.get(name)) {
            let is_empty = match &value.value {
                NodeValue::List(items) => items.is_empty(),
                NodeValue::Table(members) => members.is_empty(),
                _ => false,
            };
            if !is_empty {
                self.warn(
                    &key.span,
                    &key.text,
                    format!("it has no effect on a server that is reached by `{way}`"),
                );
            }
        }
    }

    fn program(&mut self, fields: &Fields<'_>) -> Option<Transport> {
        let (key, value) = fields.get("command")?;
        let (command, mut arguments) = match &value.value {
            // Some write the program and its arguments as one list.
            NodeValue::List(items) if !items.is_empty() => {
                let mut texts = self.texts(key, items)?.into_iter();
                (texts.next()?, texts.collect())
            }
            _ => (self.text(&key.text, value)?, Vec::new()),
        };
        if command.trim().is_empty() {
            self.refuse(&value.span, Some(&key.text), "it is empty; write the program to start");
        }
        if let Some((key, value)) = fields.get("args") {
            match &value.value {
                NodeValue::List(items) => arguments.extend(self.texts(key, items)?),
                _ => self.unfit(key, value, "a list of texts"),
            }
        }
        let variables = self.pairs(fields, "env", |name, value| {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err("it cannot name a variable");
            }
            if value.contains('\0') { Err("its value holds a NUL") } else { Ok(()) }
        });
        let mut program = Program::new(command, arguments);
        program.variables = variables.into_iter().map(|(name, value)| (name, value.into())).collect();
        program.directory = self.path(fields, "cwd");
        Some(Transport::Stdio(program))
    }

    fn service(&mut self, fields: &Fields<'_>) -> Option<Transport> {
        let (key, value) = fields.get("url")?;
        let address = self.text(&key.text, value);
        let headers = self.pairs(fields, "headers", |name, value| {
            let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if name.is_empty() || !name.chars().all(is_token) {
                return Err("it cannot name a header");
            }
            let is_fit = value.chars().all(|character| !character.is_control() || character == '\t');
            if is_fit {
                Ok(())
            } else {
                Err("its value holds a control character, such as the end of a line")
            }
        });
        let address = address?;
        if let Err(refusal) = checked_address(&address) {
            self.refuse(
                &value.span,
                Some(&key.text),
                match refusal {
                    Refusal::NoAddress => {
                        "it is not an address; write one such as `https://mcp.example.com/mcp`"
                    }
                    Refusal::Insecure => "it is neither `https` nor on this machine; write `https`",
                    Refusal::Login => "it holds a user; write who you are in `headers`",
                },
            );
        }
        let mut service = HttpServer::new(address);
        service.headers = headers;
        Some(Transport::Http(service))
    }

    fn limits(&mut self, fields: &Fields<'_>) -> ServerLimits {
        let mut limits = ServerLimits::default();
        let Some((key, value)) = fields.get("limits") else { return limits };
        let NodeValue::Table(members) = &value.value else {
            self.unfit(key, value, "a table");
            return limits;
        };
        for (key, value) in members {
            let field = format!("limits.{}", key.text);
            let text = match &value.value {
                NodeValue::Text(text) | NodeValue::Number(text) => text.as_str(),
                _ => {
                    self.refuse(
                        &value.span,
                        Some(&field),
                        format!("it is {}; write a text or a number", value.kind()),
                    );
                    continue;
                }
            };
            let time = match key.text.as_str() {
                "start" => Some(&mut limits.start),
                "probe" => Some(&mut limits.probe),
                "idle" => Some(&mut limits.idle),
                "call" => Some(&mut limits.call),
                "restart_window" => Some(&mut limits.restart_window),
                _ => None,
            };
            let read = match (time, key.text.as_str()) {
                (Some(place), _) => quantity::time(text).map(|time| *place = time),
                (None, "message") => quantity::size(text).map(|bytes| limits.message_bytes = bytes.max(1024)),
                (None, "restarts") => text
                    .parse()
                    .map(|count| limits.restarts = count)
                    .map_err(|_| "it is not a number of times; write one such as `5`".to_owned()),
                (None, word) => {
                    self.warn(&key.span, &field, not_known(nearest(word, LIMITS).first().copied()));
                    Ok(())
                }
            };
            if let Err(message) = read {
                self.refuse(&value.span, Some(&field), message);
            }
        }
        limits
    }

    fn word<T: Copy>(&mut self, fields: &Fields<'_>, name: &str, words: &[(&str, T)]) -> Option<T> {
        let (key, value) = fields.get(name)?;
        let NodeValue::Text(text) = &value.value else {
            self.unfit(key, value, "a text");
            return None;
        };
        let found = words.iter().find(|(word, _)| word == text).map(|(_, meant)| *meant);
        if found.is_none() {
            let words = listed(words.iter().map(|(word, _)| *word), "or");
            self.refuse(&value.span, Some(&key.text), format!("`{text}` is not known; write {words}"));
        }
        found
    }

    fn switch(&mut self, fields: &Fields<'_>, name: &str) -> Option<bool> {
        let (key, value) = fields.get(name)?;
        if let NodeValue::Switch(switch) = value.value {
            return Some(switch);
        }
        self.unfit(key, value, "`true` or `false`");
        None
    }

    fn names(&mut self, fields: &Fields<'_>, name: &str) -> BTreeSet<String> {
        let Some((key, value)) = fields.get(name) else { return BTreeSet::new() };
        let NodeValue::List(items) = &value.value else {
            self.unfit(key, value, "a list of names");
            return BTreeSet::new();
        };
        let name = |item: &Node| {
            if let NodeValue::Text(text) = &item.value {
                return Some(text.clone());
            }
            self.unfit(key, item, "a text");
            None
        };
        items.iter().filter_map(name).collect()
    }

    fn path(&mut self, fields: &Fields<'_>, name: &str) -> Option<PathBuf> {
        let (key, value) = fields.get(name)?;
        let path = self.text(&key.text, value)?;
        if path.is_empty() || path.contains('\0') {
            self.refuse(&value.span, Some(&key.text), "it is not a path; write one, or remove it");
        }
        Some(path.into())
    }

    fn texts(&mut self, key: &Key, items: &[Node]) -> Option<Vec<String>> {
        if items.len() > MOST_ITEMS {
            self.refuse(&key.span, Some(&key.text), format!("it has more than {MOST_ITEMS} texts"));
            return None;
        }
        let text = |(place, item)| {
            let field = format!("{}[{place}]", key.text);
            let text = self.text(&field, item)?;
            if text.contains('\0') {
                self.refuse(&item.span, Some(&field), "it holds a NUL");
            }
            Some(text)
        };
        items.iter().enumerate().map(text).collect()
    }

    /// Reads texts with names; a name that stands there twice is refused.
    fn pairs(
        &mut self,
        fields: &Fields<'_>,
        name: &str,
        check: impl Fn(&str, &str) -> Result<(), &'static str>,
    ) -> BTreeMap<String, String> {
        let mut pairs = BTreeMap::new();
        let Some((key, value)) = fields.get(name) else { return pairs };
        let NodeValue::Table(members) = &value.value else {
            self.unfit(key, value, "a table of texts");
            return pairs;
        };
        if members.len() > MOST_ITEMS {
            self.refuse(&key.span, Some(&key.text), format!("it has more than {MOST_ITEMS} texts"));
            return pairs;
        }
        let mut seen = BTreeSet::new();
        for (member, value) in members {
            let field = format!("{}.{}", key.text, member.text);
            if !seen.insert(&member.text) {
                self.refuse(&member.span, Some(&field), "it is written twice; remove one of them");
            }
            let Some(text) = self.text(&field, value) else { continue };
            match check(&member.text, &text) {
                Ok(()) => drop(pairs.insert(member.text.clone(), text)),
                Err(message) => self.refuse(&value.span, Some(&field), message),
            }
        }
        pairs
    }

    /// Reads a text and replaces its variables; numbers and switches are taken as they are written.
    fn text(&mut self, field: &str, value: &Node) -> Option<String> {
        match &value.value {
            NodeValue::Text(text) => match expand(text, self.variable) {
                Ok(text) => Some(text),
                Err(error) => {
                    self.refuse(&value.span, Some(field), error.to_string());
                    None
                }
            },
            NodeValue::Number(number) => Some(number.clone()),
            NodeValue::Switch(switch) => Some(switch.to_string()),
            _ => {
                self.refuse(&value.span, Some(field), format!("it is {}; write a text", value.kind()));
                None
            }
        }
    }

    fn unfit(&mut self, key: &Key, value: &Node, due: &str) {
        self.refuse(&value.span, Some(&key.text), format!("it is {}; write {due}", value.kind()));
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
