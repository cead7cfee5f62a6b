//! How what a run says last becomes its result.

mod json_in_text;

use crate::AgentSpec;
use haft_core::Message;
use haft_tools_core::CompiledSchema;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The longest text that is looked through for a result, in bytes.
const MOST_BYTES: usize = 1024 * 1024;

/// The most characters of what is wrong that are told.
const MOST_WRONG: usize = 4_000;

/// How the one request begins to say a result again: by it such a request is known in a transcript.
const REPAIR: &str = "Your result does not fit the schema that is asked for:";

/// Says what the result of an agent has to look like, and reads it.
///
/// An agent answers in text, or with JSON that fits the [schema](AgentSpec::output) of its specification. JSON is taken from
/// what the run said last: the text as a whole, the last fenced block in it that fits, or what stands between its first brace
/// and its last. What does not fit is asked for once more by [`InvalidResultError::repair`], and is an error the second time.
///
/// ```
/// use haft_core::Schema;
/// use haft_subagents::{AgentSpec, ExpectedResult};
/// use serde_json::json;
///
/// let schema = Schema::new(json!({ "required": ["count"], "properties": { "count": { "type": "integer" } } }))?;
/// let spec = AgentSpec::new("counter".parse()?, "Counts things.").output(schema);
/// let expected = ExpectedResult::of(&spec)?;
/// assert_eq!(expected.read("There are five:\n```json\n{ \"count\": 5 }\n```")?, Some(json!({ "count": 5 })));
///
/// let error = expected.read(r#"{ "count": "five" }"#).unwrap_err();
/// assert_eq!(error.to_string(), "at `/count`: \"five\" is not an integer");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ExpectedResult(Option<Arc<CompiledSchema>>);

/// Says why a text is not the result that is asked for: every violation, with a JSON pointer to where it is.
///
/// ```
/// use haft_core::Schema;
/// use haft_subagents::{AgentSpec, ExpectedResult};
/// use serde_json::json;
///
/// let schema = Schema::new(json!({ "type": "object", "required": ["count"] }))?;
/// let spec = AgentSpec::new("counter".parse()?, "Counts things.").output(schema);
/// let error = ExpectedResult::of(&spec)?.read("There are five.").unwrap_err();
/// assert_eq!(error.to_string(), "there is no JSON object in it");
/// assert!(error.repair().ends_with("by calling `report`, or as one JSON object alone."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidResultError(String);

impl ExpectedResult {
    /// Compiles what an agent's specification asks for; costs time that grows with the schema.
    ///
    /// # Errors
    ///
    /// When the schema is none, for people.
    pub fn of(spec: &AgentSpec) -> Result<Self, OutputSchemaError> {
        let compiled = spec.output.as_ref().map(|schema| CompiledSchema::compile(schema.as_value().clone()));
        match compiled.transpose() {
            Ok(schema) => Ok(Self(schema.map(Arc::new))),
            Err(error) => Err(OutputSchemaError { agent: spec.name.to_string(), reason: error.to_string() }),
        }
    }

    /// Whether the result is JSON, and not text.
    pub fn is_json(&self) -> bool {
        self.0.is_some()
    }

    /// Reads what a run said last; `None` where any text is a result.
    ///
    /// # Errors
    ///
    /// When there is no JSON in it that fits; of several that do not, the last one is told of.
    pub fn read(&self, text: &str) -> Result<Option<Value>, InvalidResultError> {
        let Some(schema) = &self.0 else { return Ok(None) };
        if text.len() > MOST_BYTES {
            return Err(InvalidResultError(format!("it is larger than {MOST_BYTES} bytes; say less")));
        }
        let mut wrong = None;
        for value in json_in_text::candidates(text) {
            match schema.check(&value) {
                Ok(()) => return Ok(Some(value)),
                Err(found) => wrong = wrong.or(Some(found.to_string())),
            }
        }
        let wrong = wrong.unwrap_or_else(|| match json_in_text::fault(text) {
            Some(fault) => format!("it is not valid JSON: {fault}"),
            None => "there is no JSON object in it".to_owned(),
        });
        Err(InvalidResultError(cut(&wrong)))
    }

    /// What an agent is told of its result beside its instructions; `None` where any text is one.
    pub fn instructions(&self) -> Option<String> {
        let schema = self.0.as_ref()?.as_value();
        Some(format!(
            "When you are done, call `report` with your result, or say it as your last message: one JSON object that fits this \
             schema, and nothing else.\n{schema}"
        ))
    }

    /// Tells whether a run was asked to say its result again, and has said nothing but that since.
    ///
    /// A run that is asked for something else afterwards can be asked once more.
    pub fn was_asked_again(messages: &[Arc<Message>]) -> bool {
        let is_repair = |message: &Message| match message {
            Message::User { content } => {
                content.first().and_then(|part| part.as_text()).is_some_and(|text| text.starts_with(REPAIR))
            }
            _ => false,
        };
        let asked = messages.iter().rev().find(|message| matches!(***message, Message::User { .. }));
        asked.is_some_and(|message| is_repair(message))
    }
}

impl InvalidResultError {
    /// What the run is asked so that it says its result again.
    pub fn repair(&self) -> String {
        format!(
            "{REPAIR} {self}\nSay the whole result once more, corrected: by calling `report`, or as one JSON object alone."
        )
    }

    /// What the model of the run above is told when the result did not fit the second time either.
    pub fn reason(&self) -> String {
        format!(
            "its result does not fit the schema that it has, though it was asked twice: {self}; use what it said last, or \
                 delegate the task anew"
        )
    }
}

/// Lists what is wrong.
impl fmt::Display for InvalidResultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidResultError {}

/// Says that the schema of an agent's result is none.
///
/// ```
/// use haft_core::Schema;
/// use haft_subagents::{AgentSpec, ExpectedResult};
/// use serde_json::json;
///
/// let schema = Schema::new(json!({ "properties": { "count": { "type": "numbre" } } }))?;
/// let spec = AgentSpec::new("counter".parse()?, "Counts things.").output(schema);
/// let error = ExpectedResult::of(&spec).unwrap_err();
/// assert!(error.to_string().starts_with("the output schema of the agent `counter` cannot be used: "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the output schema of the agent `{agent}` cannot be used: {reason}")]
pub struct OutputSchemaError {
    agent: String,
    reason: String,
}

fn cut(text: &str) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(MOST_WRONG).collect();
    if characters.next().is_some() { format!("{start}…") } else { start }
}

#[cfg(test)]
mod tests;
