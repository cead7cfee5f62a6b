use super::resolved::{Resolved, answer, refuse};
use super::served_tool::{Annotations, ServedTool, source};
use super::served_tools::ServedTools;
use haft_core::{CallId, ErrorKind, Exposure, Schema, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{one_line, origins, outline};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

/// How many tools are found where the client does not say, and at most.
const LIMIT: usize = 5;
const MOST: usize = 20;

/// The most bytes of a query and of a name that are looked at.
const MOST_QUERY_BYTES: usize = 1_000;
const MOST_NAME_BYTES: usize = 256;

/// The tools that clients are served in the place of all others, where those are too many to be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetaTool {
    Call,
    Describe,
    Search,
}

impl MetaTool {
    pub(super) const ALL: [Self; 3] = [Self::Call, Self::Describe, Self::Search];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Call => "call_tool",
            Self::Describe => "describe_tool",
            Self::Search => "search_tools",
        }
    }

    /// Describes the tool, as clients are told of it.
    pub(super) fn served(self) -> ServedTool {
        let (title, description, properties, required) = match self {
            Self::Call => (
                "Call a tool",
                "Calls a tool by its name, as it was found with `search_tools`. The call is permitted and recorded as a \
                 call of that tool.",
                json!({
                    "name": { "type": "string", "description": "The tool's name." },
                    "arguments": { "type": "object", "description": "The tool's arguments, as `describe_tool` gives their schema." },
                }),
                json!(["name"]),
            ),
            Self::Describe => (
                "Describe a tool",
                "Describes a tool in full: what it does, and the JSON Schema of its arguments. Look at it before the first \
                 call of a tool with arguments that `search_tools` does not tell of.",
                json!({ "name": { "type": "string", "description": "The tool's name." } }),
                json!(["name"]),
            ),
            Self::Search => (
                "Search tools",
                "Finds tools; call them with `call_tool`. Use it before you say that something cannot be done. Describe what \
                 you want to do in a few words, such as `create github issue`; words are matched against the names, \
                 descriptions and parameters of the tools.",
                json!({
                    "query": { "type": "string", "minLength": 1, "description": "A few words on what the tool should do." },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MOST,
                        "default": LIMIT,
                        "description": "How many tools to find at most.",
                    },
                }),
                json!(["query"]),
            ),
        };
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        let annotations = match self {
            // What it does is what the called tool does.
            Self::Call => Annotations::default(),
            Self::Describe | Self::Search => Annotations {
                read_only_hint: Some(true),
                destructive_hint: Some(false),
                idempotent_hint: Some(true),
                open_world_hint: Some(false),
            },
        };
        ServedTool {
            name: ToolName::project(self.name()),
            title: Some(title.to_owned()),
            description: description.to_owned(),
            input_schema: Schema::new(schema).unwrap_or_else(|_| Schema::empty()),
            output_schema: None,
            annotations,
        }
    }

    /// Answers a call of the tool, or says which call it stands for.
    pub(super) async fn resolve(self, tools: &Arc<ServedTools>, id: &CallId, input: Value) -> Resolved {
        let resolved = match self {
            Self::Call => self.call(tools, id, input),
            Self::Describe => {
                self.name_in(&input, "name", MOST_NAME_BYTES).map(|name| match tools.describe(name) {
                    Some(tool) => answer(id, self.name(), described(&tool)),
                    None => refuse(id, self.name(), ErrorKind::NotFound, tools.missing(name)),
                })
            }
            Self::Search => match self.query(&input) {
                Ok((query, limit)) => Ok(search(tools, id, query.to_owned(), limit).await),
                Err(wrong) => Err(wrong),
            },
        };
        resolved.unwrap_or_else(|wrong| refuse(id, self.name(), ErrorKind::InvalidInput, wrong))
    }

    fn call(self, tools: &ServedTools, id: &CallId, mut input: Value) -> Result<Resolved, String> {
        let name = self.name_in(&input, "name", MOST_NAME_BYTES)?;
        let Some(own) = tools.own_name(name) else { return Ok(tools.unknown(id, name)) };
        let name = own.to_string();
        // What it may be is for the tool's own schema to say.
        let input = input.get_mut("arguments").map(Value::take).filter(|arguments| !arguments.is_null());
        Ok(Resolved::Call { name, input: input.unwrap_or_else(|| Value::Object(Map::new())) })
    }

    fn query(self, input: &Value) -> Result<(&str, usize), String> {
        let query = self.name_in(input, "query", MOST_QUERY_BYTES)?;
        let limit = match input.get("limit") {
            None | Some(Value::Null) => LIMIT,
            Some(limit) => limit.as_u64().and_then(|limit| usize::try_from(limit).ok()).ok_or_else(|| {
                format!(
                    "`limit` of `{}` is a number from 1 to {MOST}; write it so, or leave it out",
                    self.name()
                )
            })?,
        };
        Ok((query, limit.clamp(1, MOST)))
    }

    /// Takes a text out of the arguments.
    fn name_in<'a>(self, input: &'a Value, member: &str, most_bytes: usize) -> Result<&'a str, String> {
        match input.get(member).and_then(Value::as_str).map(str::trim) {
            Some(text) if !text.is_empty() => Ok(&text[..text.floor_char_boundary(most_bytes)]),
            _ => Err(format!(
                "`{}` needs `{member}`, a text that is not empty; repeat the call with it",
                self.name()
            )),
        }
    }
}

/// Finds the tools that fit a query best.
async fn search(tools: &Arc<ServedTools>, id: &CallId, query: String, limit: usize) -> Resolved {
    let tools = Arc::clone(tools);
    // The first search of many tools reads all of them.
    let searching = tokio::task::spawn_blocking(move || found(&tools, &query, limit));
    if let Ok(found) = searching.await {
        return answer(id, MetaTool::Search.name(), found);
    }
    let text = "the search failed; this is a fault of the host, so go on without it";
    refuse(id, MetaTool::Search.name(), ErrorKind::Failed, text.to_owned())
}

fn found(tools: &ServedTools, query: &str, limit: usize) -> ToolOutput {
    // What is not served may fit better than what is.
    let registry = tools.registry();
    let fitting = registry.search(query, registry.len()).into_iter();
    let named = fitting.filter_map(|spec| Some((tools.served_name(spec.name().as_str())?, spec)));
    let found: Vec<(&ToolName, &ToolSpec)> = named.take(limit).collect();
    let mut text = match found.len() {
        0 => {
            let served = registry.iter().filter(|spec| {
                spec.exposure() != Exposure::Hidden && tools.served_name(spec.name().as_str()).is_some()
            });
            format!(
                "No tool fits `{}`. Search again with other words for what the tool should do or what it works on, or go on \
                 without it. There are tools of: {}.",
                one_line(query, 80),
                origins(served)
            )
        }
        1 => "Found 1 tool; call it with `call_tool`.\n".to_owned(),
        count => format!("Found {count} tools; call them with `call_tool`.\n"),
    };
    for (name, spec) in &found {
        let _ = writeln!(text, "\n{name}");
        text.push_str(&outline(spec, source(spec.origin())));
    }
    ToolOutput::text(text.trim_end())
}

/// Describes a tool in full.
fn described(tool: &ServedTool) -> ToolOutput {
    let mut text = format!(
        "{}\n\n{}\n\nArguments, as JSON Schema:\n{}",
        tool.name,
        tool.description,
        tool.input_schema.as_value()
    );
    if let Some(schema) = &tool.output_schema {
        let _ = write!(text, "\n\nWhat it gives, as JSON Schema:\n{}", schema.as_value());
    }
    ToolOutput::text(text)
}
