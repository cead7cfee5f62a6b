//! Reads a text as JSON or YAML into a value, within limits, and without what no request needs.

mod builder;
mod place;

use crate::LoadError;
use builder::{Builder, Limits, Syntax};
use serde::de::DeserializeSeed as _;
use serde_json::Value;

/// The most levels of lists and objects: as many as `serde_json` reads of a text.
pub(crate) const MOST_LEVELS: usize = 128;

/// Holds what was read.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) value: Value,
    /// What references to other files were met, each once.
    pub(crate) outward: Vec<String>,
    /// The keys that stood twice in one object of a JSON text; the last one counts.
    pub(crate) repeated: Vec<String>,
}

/// Reads a text that is JSON if it begins like an object and YAML otherwise.
pub(crate) fn read(text: &str, most_bytes: usize, most_nodes: usize) -> Result<Read, LoadError> {
    if text.len() > most_bytes {
        return Err(LoadError::TooLarge { bytes: text.len(), most: most_bytes });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !text.trim_start().starts_with(['{', '[']) {
        return yaml(text, most_nodes).map_err(|error| LoadError::Syntax(error.to_string()));
    }
    json(text, most_nodes).or_else(|error| {
        // YAML may begin with a brace, too; of what is neither, more people want to know why it is not JSON.
        let other = if error.is_syntax() { yaml(text, most_nodes).ok() } else { None };
        other.ok_or_else(|| LoadError::Syntax(error.to_string()))
    })
}

/// The most brackets of a YAML text that may be open at once, those in its texts included.
///
/// The time that the parser takes for each bracket grows with how many are open, and it reads to the end before it says
/// that the nesting is too deep.
const MOST_OPEN: usize = 500;

fn has_many_open(text: &str) -> bool {
    let mut open = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open > MOST_OPEN
    })
}

/// Looks through a value that somebody else has read.
pub(crate) fn adopt(value: Value, most_nodes: usize) -> Result<Read, LoadError> {
    let mut left = most_nodes;
    let mut outward = Vec::new();
    weigh(&value, MOST_LEVELS, &mut left, &mut outward)?;
    Ok(Read { value, outward, repeated: Vec::new() })
}

fn json(text: &str, most_nodes: usize) -> Result<Read, serde_json::Error> {
    let limits = Limits::new(Syntax::Json, most_nodes);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Builder::new(&limits).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(limits.done(value))
}

fn yaml(text: &str, most_nodes: usize) -> Result<Read, yaml_serde::Error> {
    if has_many_open(text) {
        return Err(serde::de::Error::custom(format_args!(
            "it has more than {MOST_OPEN} brackets open at once"
        )));
    }
    let limits = Limits::new(Syntax::Yaml, most_nodes);
    let value = Builder::new(&limits).deserialize(yaml_serde::Deserializer::from_str(text))?;
    Ok(limits.done(value))
}

fn weigh(value: &Value, levels: usize, left: &mut usize, outward: &mut Vec<String>) -> Result<(), LoadError> {
    *left = left
        .checked_sub(1)
        .ok_or_else(|| LoadError::Syntax("it has more values than are read".to_owned()))?;
    let below = || {
        levels
            .checked_sub(1)
            .ok_or_else(|| LoadError::Syntax(format!("it is nested more than {MOST_LEVELS} levels deep")))
    };
    match value {
        Value::Array(items) => {
            let levels = below()?;
            items.iter().try_for_each(|item| weigh(item, levels, left, outward))
        }
        Value::Object(members) => {
            let levels = below()?;
            for (name, member) in members {
                if let ("$ref", Value::String(target)) = (name.as_str(), member) {
                    note_outward(target, outward);
                }
                weigh(member, levels, left, outward)?;
            }
            Ok(())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// Keeps the file of a reference that leads out of the document.
fn note_outward(target: &str, outward: &mut Vec<String>) {
    let file = target.split('#').next().unwrap_or_default();
    if !file.is_empty() && outward.iter().all(|known| known != file) {
        outward.push(file.to_owned());
    }
}

#[cfg(test)]
mod tests;
