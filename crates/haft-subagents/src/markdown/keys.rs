use super::error::{reason, shown};
use super::front_matter::{Parts, line_of};
use super::named_tools::NamedTool;
use super::tool_terms::{Remark, Terms};
use super::yaml::Front;
use super::{AgentFileError, FileNote, NoteKind};
use crate::{AgentSpec, Isolation, Share};
use haft_agent::Budget;
use haft_core::{Schema, ToolName, Visible};
use haft_tools_core::{CompiledSchema, Mode, listed, nearest};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// The longest description, in bytes: it is read by each model that could delegate.
const MOST_DESCRIPTION: usize = 8 * 1024;

/// The longest name of a model, in bytes.
const MOST_MODEL: usize = 200;

/// The keys that are read.
pub(super) const KEYS: [&str; 12] = [
    "context",
    "description",
    "disallowedTools",
    "isolation",
    "limits",
    "maxTurns",
    "mode",
    "model",
    "name",
    "output",
    "permissionMode",
    "tools",
];

/// Keys of the known format that mean nothing here and restrict nothing, and why they do not.
pub(super) const IGNORED: [(&str, &str); 13] = [
    ("author", "it is for people"),
    ("background", "whoever delegates says whether to wait"),
    ("category", "it is for people"),
    ("color", "it is for people"),
    ("effort", "the host says how hard a model thinks"),
    ("initialPrompt", "an agent is told its task"),
    ("license", "it is for people"),
    ("mcpServers", "the servers are those of the host"),
    ("memory", "an agent keeps nothing from one run to the next"),
    ("metadata", "it is for people"),
    ("skills", "write what it is to know below the front matter"),
    ("tags", "it is for people"),
    ("version", "it is for people"),
];

/// The events of hooks that come too late to hold anything back.
const LATE_HOOKS: [&str; 5] = ["PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop", "Notification"];

/// Makes an agent of what was read.
pub(super) fn spec(
    front: Front,
    parts: &Parts<'_>,
    file: &str,
) -> Result<(AgentSpec, Vec<FileNote>, Vec<NamedTool>), AgentFileError> {
    let mut keys = Keys { members: front.members, parts, file, notes: Vec::new(), named: Vec::new() };
    for (key, line) in front.quoted {
        let text = format!("`{key}` is read as if it were in quotes; put it into quotes");
        keys.note_at(line + 1, key, NoteKind::Quoted, text);
    }
    keys.check_names()?;

    let name = keys.name()?;
    let description = keys.description()?;
    if parts.body.is_empty() {
        let reason = "is all there is; write what the agent is told below the second line `---`";
        return Err(keys.wrong("description", reason));
    }
    let mut spec = AgentSpec::new(name, description).instructions(Visible::new(parts.body).to_string());
    spec.tools = keys.tools()?;
    spec.model = keys.model()?;
    spec.mode = keys.mode()?;
    spec.budget = keys.budget()?;
    spec.context = keys.context()?;
    spec.output = keys.output()?;
    spec.isolation = keys.isolation()?;
    let mut notes = keys.notes;
    notes.sort_by_key(|note| note.line);
    Ok((spec, notes, keys.named))
}

/// Takes one key after the other.
struct Keys<'a> {
    members: Map<String, Value>,
    parts: &'a Parts<'a>,
    file: &'a str,
    notes: Vec<FileNote>,
    named: Vec<NamedTool>,
}

impl Keys<'_> {
    fn wrong(&self, key: &str, reason: impl Into<String>) -> AgentFileError {
        AgentFileError::Key {
            file: self.file.to_owned(),
            line: line_of(self.parts.front, key),
            key: shown(key),
            reason: reason.into(),
        }
    }

    fn note(&mut self, key: &str, kind: NoteKind, text: String) {
        self.note_at(line_of(self.parts.front, key), key, kind, text);
    }

    fn note_at(&mut self, line: usize, key: &str, kind: NoteKind, text: String) {
        self.notes.push(FileNote { file: Arc::from(self.file), line, key: key.to_owned(), kind, text });
    }

    /// Takes note of what means nothing here, and refuses what is not known: it could be there to restrict something.
    fn check_names(&mut self) -> Result<(), AgentFileError> {
        let names: Vec<String> = self.members.keys().cloned().collect();
        for name in names {
            if KEYS.contains(&name.as_str()) {
                continue;
            }
            if let Some((_, why)) = IGNORED.iter().find(|(known, _)| *known == name) {
                self.note(&name, NoteKind::Ignored, format!("`{name}` means nothing here: {why}"));
                continue;
            }
            if name == "hooks" {
                self.check_hooks()?;
                continue;
            }
            let like = nearest(&name, KEYS);
            let like = if like.is_empty() { KEYS.to_vec() } else { like };
            let reason =
                format!("is not a key of an agent; write {} instead, or remove it", listed(like, "or"));
            return Err(self.wrong(&name, reason));
        }
        Ok(())
    }

    /// Hooks that are run before a call may forbid it, so an agent without them could do more than its file says.
    fn check_hooks(&mut self) -> Result<(), AgentFileError> {
        let are_late = match self.members.get("hooks") {
            Some(Value::Object(events)) => events.keys().all(|event| LATE_HOOKS.contains(&event.as_str())),
            hooks => hooks.is_none_or(Value::is_null),
        };
        if !are_late {
            let reason = "may hold back calls, and are not read here; remove them from the file, and configure them as hooks of \
                          the host or as rules of the policy";
            return Err(self.wrong("hooks", reason));
        }
        let text = "`hooks` means nothing here: hooks are configured by the host".to_owned();
        self.note("hooks", NoteKind::Ignored, text);
        Ok(())
    }

    /// Takes a text; a key without a value is not there.
    fn text(&self, key: &str) -> Result<Option<&str>, AgentFileError> {
        match self.members.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim())),
            Some(other) => {
                Err(self.wrong(key, format!("is a text, and {} stands there; {QUOTE}", kind(other))))
            }
        }
    }

    fn name(&self) -> Result<ToolName, AgentFileError> {
        let Some(text) = self.text("name")?.filter(|text| !text.is_empty()) else {
            return Err(self.wrong("name", "is missing; write one such as `name: code-reviewer`"));
        };
        text.parse().map_err(|_| {
            let reason = format!(
                "is `{}`; a name has 1 to 64 letters without accents, digits, `-` and `_`",
                shown(text)
            );
            self.wrong("name", reason)
        })
    }

    fn description(&self) -> Result<String, AgentFileError> {
        let Some(text) = self.text("description")?.filter(|text| !text.is_empty()) else {
            return Err(self.wrong("description", "is missing; write when this agent is to be asked"));
        };
        if text.len() > MOST_DESCRIPTION {
            let reason = format!(
                "has more than {MOST_DESCRIPTION} bytes; write it shorter, and the rest to the agent itself"
            );
            return Err(self.wrong("description", reason));
        }
        Ok(Visible::new(text).to_string())
    }

    fn tools(&mut self) -> Result<haft_tools_core::Selector, AgentFileError> {
        let mut terms = Terms::default();
        let mut told = 0;
        for key in ["tools", "disallowedTools"] {
            let Some(items) = self.items(key)? else { continue };
            let items = items.iter().map(String::as_str);
            let taken = if key == "tools" { terms.choose(items) } else { terms.leave_out(items) };
            taken.map_err(|reason| self.wrong(key, reason))?;
            for remark in &terms.remarks[told..] {
                let (kind, text) = remark_text(key, remark);
                self.note(key, kind, text);
            }
            told = terms.remarks.len();
            let line = line_of(self.parts.front, key);
            let named = terms.named.drain(..);
            self.named.extend(named.map(|(name, is_left_out)| NamedTool { key, line, name, is_left_out }));
        }
        terms.selector().map_err(|reason| self.wrong("tools", reason))
    }

    /// Takes a text or a list of texts.
    fn items(&self, key: &str) -> Result<Option<Vec<String>>, AgentFileError> {
        let items = match self.members.get(key) {
            None => return Ok(None),
            Some(Value::Array(items)) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
            Some(Value::String(text)) => Some(vec![text.clone()]),
            Some(_) => None,
        };
        let is_list = matches!(self.members.get(key), Some(Value::Array(items)) if items.is_empty());
        let says_something = |items: &Vec<String>| {
            items.iter().any(|item| item.contains(|one: char| one != ',' && !one.is_whitespace()))
        };
        match items {
            Some(items) if is_list || says_something(&items) => Ok(Some(items)),
            _ => {
                let all = if key == "tools" { ", `[]` for none, or leave it out for all" } else { "" };
                let reason = format!("names no tool; write names such as `read_file, grep`{all}; {QUOTE}");
                Err(self.wrong(key, reason))
            }
        }
    }

    fn model(&self) -> Result<Option<Arc<str>>, AgentFileError> {
        match self.text("model")? {
            None | Some("" | "inherit") => Ok(None),
            Some(text) if text.len() > MOST_MODEL || text.chars().any(haft_core::is_hidden) => {
                let reason =
                    format!("is `{}`; write the name of a model on one line, or `inherit`", shown(text));
                Err(self.wrong("model", reason))
            }
            Some(text) => Ok(Some(text.into())),
        }
    }

    fn mode(&mut self) -> Result<Option<Mode>, AgentFileError> {
        let foreign = self.text("permissionMode")?.map(str::to_owned);
        let own = self.text("mode")?.map(str::to_owned);
        if own.is_some() && foreign.is_some() {
            return Err(self.wrong("permissionMode", "and `mode` say the same; remove one of them"));
        }
        if let Some(own) = own {
            let mode = own.parse::<Mode>();
            let refuse = |_| {
                format!(
                    "is `{}`; write {}",
                    shown(&own),
                    listed(Mode::ALL.iter().map(|mode| mode.as_str()), "or")
                )
            };
            return mode.map(Some).map_err(|error| self.wrong("mode", refuse(error)));
        }
        let Some(foreign) = foreign else { return Ok(None) };
        let mode = match foreign.as_str() {
            "default" | "manual" => Mode::Default,
            "acceptEdits" => Mode::AcceptEdits,
            "auto" => Mode::Auto,
            "dontAsk" => Mode::DenyUnknown,
            "plan" => Mode::Plan,
            "bypassPermissions" => {
                let text = "`bypassPermissions` means nothing here: no file opens what the policy does not"
                    .to_owned();
                self.note("permissionMode", NoteKind::Ignored, text);
                return Ok(None);
            }
            _ => {
                let reason = format!(
                    "is `{}`; write `default`, `acceptEdits`, `auto`, `dontAsk` or `plan`, or a `mode` of haft",
                    shown(&foreign)
                );
                return Err(self.wrong("permissionMode", reason));
            }
        };
        if mode.as_str() != foreign {
            self.note("permissionMode", NoteKind::Mapped, format!("`{foreign}` is the mode `{mode}` here"));
        }
        Ok(Some(mode))
    }

    fn budget(&self) -> Result<Budget, AgentFileError> {
        let mut budget = Budget::default();
        if let Some(value) = self.members.get("maxTurns").filter(|value| !value.is_null()) {
            budget.turns = Some(self.count("maxTurns", "maxTurns", value)?);
        }
        let limits = match self.members.get("limits") {
            None | Some(Value::Null) => return Ok(budget),
            Some(Value::Object(limits)) => limits,
            Some(other) => {
                let reason =
                    format!("has keys such as `turns: 20` below it, and {} stands there", kind(other));
                return Err(self.wrong("limits", reason));
            }
        };
        for (key, value) in limits {
            let whole = format!("limits.{key}");
            match key.as_str() {
                "turns" if budget.turns.is_some() => {
                    return Err(
                        self.wrong("limits", "and `maxTurns` both limit the turns; remove one of them")
                    );
                }
                "turns" => budget.turns = Some(self.count("limits", &whole, value)?),
                "calls" => budget.calls = Some(self.count("limits", &whole, value)?),
                "tokens" => budget.tokens = Some(self.count("limits", &whole, value)?),
                "time" => {
                    let time = value.as_str().and_then(time);
                    let reason =
                        "has a `time` that is not one; write it with its unit, such as `90s`, `10m` or `2h`";
                    budget = budget.wall_time(time.ok_or_else(|| self.wrong("limits", reason))?);
                }
                "cost" => {
                    let cost = value.as_f64().filter(|cost| cost.is_finite() && *cost > 0.0);
                    let reason = "has a `cost` that is not a number above 0; write one in what the host's prices are in";
                    budget = budget.cost(cost.ok_or_else(|| self.wrong("limits", reason))?);
                }
                other => {
                    let reason = format!(
                        "has the key `{}`, which is not a limit; write `turns`, `calls`, `tokens`, `time` or `cost`",
                        shown(other)
                    );
                    return Err(self.wrong("limits", reason));
                }
            }
        }
        Ok(budget)
    }

    fn count(&self, key: &str, whole: &str, value: &Value) -> Result<u64, AgentFileError> {
        value.as_u64().filter(|count| *count > 0).ok_or_else(|| {
            let what = if whole == key { String::new() } else { format!("has `{}`, which ", shown(whole)) };
            self.wrong(key, format!("{what}is a whole number from 1 on; write one such as `20`"))
        })
    }

    fn context(&self) -> Result<Share, AgentFileError> {
        let share = match self.text("context")? {
            None | Some("fresh") => return Ok(Share::Fresh),
            Some("all") => Some(Share::All),
            Some(text) => text.strip_prefix("last ").and_then(|count| {
                let count = count.trim().parse::<usize>().ok().filter(|count| *count > 0);
                count.map(Share::Last)
            }),
        };
        share.ok_or_else(|| self.wrong("context", "is not known; write `fresh`, `last 5` or `all`"))
    }

    fn output(&self) -> Result<Option<Schema>, AgentFileError> {
        let schema = match self.members.get("output") {
            None | Some(Value::Null) => return Ok(None),
            Some(schema) => schema,
        };
        let refuse = |why: &dyn std::error::Error| {
            let why = reason(&why.to_string());
            self.wrong(
                "output",
                format!("is not a JSON Schema of an object: {why}; correct it, or leave it out for text"),
            )
        };
        let schema = Schema::new(schema.clone()).map_err(|error| refuse(&error))?;
        CompiledSchema::compile(schema.as_value().clone()).map_err(|error| refuse(&error))?;
        Ok(Some(schema))
    }

    fn isolation(&self) -> Result<Isolation, AgentFileError> {
        match self.text("isolation")? {
            None | Some("shared") => Ok(Isolation::Shared),
            Some("worktree") => Ok(Isolation::Worktree),
            Some("copy") => Ok(Isolation::Copy),
            Some(other) => {
                let reason = format!("is `{}`; write `shared`, `worktree` or `copy`", shown(other));
                Err(self.wrong("isolation", reason))
            }
        }
    }
}

const QUOTE: &str = "put it into quotes if it is meant as a text";

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a list of keys",
    }
}

/// Reads `500ms`, `90s`, `10m` or `2h`.
fn time(text: &str) -> Option<Duration> {
    let text = text.trim();
    let end = text.find(|character: char| !character.is_ascii_digit())?;
    let (count, unit) = text.split_at(end);
    let each_ms: u64 = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let total = count.parse::<u64>().ok()?.checked_mul(each_ms)?;
    (total > 0).then(|| Duration::from_millis(total))
}

fn remark_text(key: &str, remark: &Remark) -> (NoteKind, String) {
    match remark {
        Remark::Mapped { term, to } => {
            let to = listed(to.iter().map(String::as_str), "and");
            (NoteKind::Mapped, format!("`{term}` in `{key}` is {to} here"))
        }
        Remark::Nothing { term } => (
            NoteKind::Ignored,
            format!("`{term}` in `{key}` means nothing here: no tool of haft does the same"),
        ),
        Remark::Unknown { term, like } => {
            let meant = match listed(like.iter().copied(), "or") {
                like if like.is_empty() => String::new(),
                like => format!(" (did you mean {like}?)"),
            };
            let text = format!(
                "`{term}` in `{key}` is not known{meant}, and chooses a tool of the host of exactly that name"
            );
            (NoteKind::Unknown, text)
        }
    }
}
