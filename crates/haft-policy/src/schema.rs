//! The JSON Schema of what policy files say, made of the words and keys that they are read by.

use crate::file_limits::{FIELDS, Field, RETRY_FIELDS, TOOL_FIELDS, Unit, WIDTH_FIELDS};
use crate::policy_file::KEYS;
use crate::rule_lists::LISTS;
use crate::test_case;
use crate::{PolicyFile, Profile, SandboxMode};
use haft_tools_core::Mode;
use serde_json::{Map, Value, json};

impl PolicyFile {
    /// Gives the JSON Schemas of the keys that a policy file can have at its top, for editors.
    ///
    /// All that is read fits them, and a key that is not known does not. What rules and selectors mean is not told by a
    /// schema: they are texts in it.
    ///
    /// ```
    /// use haft_policy::PolicyFile;
    ///
    /// let schema = PolicyFile::schema();
    /// assert_eq!(schema["profile"]["enum"][0], "read_only");
    /// assert!(schema["limits"]["properties"]["timeout"]["description"].is_string());
    /// ```
    pub fn schema() -> Map<String, Value> {
        KEYS.into_iter().map(|key| (key.to_owned(), of(key))).collect()
    }
}

fn of(key: &str) -> Value {
    match key {
        "include" => {
            said(texts(), "Other policy files whose rules belong to this one, by paths relative to it.")
        }
        "profile" => {
            word(Profile::ALL.map(Profile::as_str), "What the rules build on; `read_only` if nobody says.")
        }
        "permissions" => {
            let mode = word(Mode::ALL.iter().map(|mode| mode.as_str()), "The mode that runs start in.");
            let lists = lists().chain([("mode".to_owned(), mode)]);
            table(
                lists,
                "What may be done: a denial goes before all, and what is asked about before what is allowed.",
            )
        }
        "agents" => {
            let rules = |what: &str| table(lists(), what);
            let agent = table(
                [
                    ("permissions".to_owned(), rules("Takes away from what holds for all, for this agent.")),
                    ("ceiling".to_owned(), rules("Bounds what the agents may do that this one starts.")),
                ],
                "Rules of one agent.",
            );
            said(
                json!({ "type": "object", "additionalProperties": agent }),
                "Rules of agents, by their names.",
            )
        }
        "limits" => limits(),
        "sandbox" => {
            let modes = SandboxMode::ALL.map(SandboxMode::as_str);
            let mode = word(modes, "Whether commands are held to what was allowed by the kernel.");
            table([("mode".to_owned(), mode)], "How far commands of `bash` are confined.")
        }
        _ => tests(),
    }
}

/// The lists of rules.
fn lists() -> impl Iterator<Item = (String, Value)> {
    LISTS.into_iter().map(|list| {
        let what = match list {
            "allow" => {
                "Rules of what may be done without asking, such as `read(src/**)` or `exec(cargo test *)`."
            }
            "ask" => "Rules of what is asked about.",
            _ => "Rules of what is never done, whatever else is said.",
        };
        (list.to_owned(), said(texts(), what))
    })
}

fn limits() -> Value {
    fn fields<T>(fields: &'static [Field<T>]) -> impl Iterator<Item = (String, Value)> {
        fields.iter().map(|field| (field.key.to_owned(), said(amount(field.unit, field.least), field.says)))
    }
    let tools =
        TOOL_FIELDS.iter().map(|field| (field.key.to_owned(), said(amount(field.unit, 1), field.says)));
    let tool = table(tools, "Limits of the tools that a selector chooses.");
    let more = [
        (
            "retries".to_owned(),
            table(fields(&RETRY_FIELDS), "How calls are tried again that failed and may be repeated."),
        ),
        ("widths".to_owned(), table(fields(&WIDTH_FIELDS), "How many calls of each class run at once.")),
        (
            "tools".to_owned(),
            said(
                json!({ "type": "object", "additionalProperties": tool }),
                "Limits of some tools, by selectors; the first that concerns a tool counts.",
            ),
        ),
    ];
    table(fields(&FIELDS).chain(more), "How long calls take, and how much they say.")
}

fn tests() -> Value {
    let fields = test_case::KEYS.into_iter().map(|key| {
        let schema = match key {
            "access" => said(text(), "What is decided: an access, such as `write(config/.env)`."),
            "command" => said(text(), "What is decided: a command of `bash`."),
            "tool" => said(text(), "What is decided: a call of this tool, with `input`."),
            "input" => said(json!({ "type": "object" }), "The arguments of the tool."),
            "expect" => word(test_case::DECISIONS.map(|(word, _)| word), "What has to be decided."),
            "agent" => {
                let names = json!({ "anyOf": [text(), { "type": "array", "items": text(), "minItems": 1 }] });
                said(names, "The agent that asks, or the agents from the first to the one that asks.")
            }
            "mode" => word(Mode::ALL.iter().map(|mode| mode.as_str()), "The mode in which it is decided."),
            _ => said(text(), "What the test is called where it is told of."),
        };
        (key.to_owned(), schema)
    });
    let mut test = table(fields, "A decision that has to be as it is written, or the file is refused.");
    test["required"] = json!(["expect"]);
    test["oneOf"] =
        json!([{ "required": ["access"] }, { "required": ["command"] }, { "required": ["tool"] }]);
    said(json!({ "type": "array", "items": test }), "Tests of the rules, each under its own `[[test]]`.")
}

fn amount(unit: Unit, least: u64) -> Value {
    match unit {
        Unit::Time => json!({
            "anyOf": [{ "type": "number", "minimum": 0 }, { "type": "string", "pattern": r"^\s*[0-9.]+\s*(ms|s|min|m|h)\s*$" }],
            "examples": ["30s", "5min"]
        }),
        Unit::Bytes => json!({
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "string", "pattern": r"^\s*[0-9]+\s*(B|KiB|K|MiB|M|GiB)\s*$" }
            ],
            "examples": ["64 KiB"]
        }),
        Unit::Number => json!({ "type": "integer", "minimum": least }),
    }
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn texts() -> Value {
    json!({ "type": "array", "items": text() })
}

fn word<'w>(words: impl IntoIterator<Item = &'w str>, what: &str) -> Value {
    said(json!({ "enum": words.into_iter().collect::<Vec<_>>() }), what)
}

fn table(fields: impl IntoIterator<Item = (String, Value)>, what: &str) -> Value {
    let fields: Map<String, Value> = fields.into_iter().collect();
    said(json!({ "type": "object", "properties": fields, "additionalProperties": false }), what)
}

fn said(mut schema: Value, what: &str) -> Value {
    schema["description"] = what.into();
    schema
}
