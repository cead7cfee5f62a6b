//! Reads a text as JSON or YAML into a value, within limits, and without what no request needs.

mod builder;
mod place;

use crate::LoadError;
use builder::{Builder, Limits, Syntax};
use place::Place;
use serde::de::DeserializeSeed as _;
use serde_json::Value;
use std::collections::HashSet;

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
    /// How many values it has.
    pub(crate) nodes: usize,
    /// How many bytes its texts and keys have, aliases written out.
    pub(crate) bytes: usize,
}

/// The most references to other files that are kept of one text.
const MOST_OUTWARD: usize = 10_000;

/// Reads a text that is JSON if it begins like an object and YAML otherwise.
pub(crate) fn read(text: &str, most_bytes: usize, most_nodes: usize) -> Result<Read, LoadError> {
    read_as(Place::Root, text, most_bytes, most_nodes)
}

/// Reads a file that a document refers to in the same way.
pub(crate) fn read_file(text: &str, most_bytes: usize, most_nodes: usize) -> Result<Read, LoadError> {
    read_as(Place::File, text, most_bytes, most_nodes)
}

fn read_as(place: Place, text: &str, most_bytes: usize, most_nodes: usize) -> Result<Read, LoadError> {
    if text.len() > most_bytes {
        return Err(LoadError::TooLarge { bytes: text.len(), most: most_bytes });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !text.trim_start().starts_with(['{', '[']) {
        return yaml(place, text, most_bytes, most_nodes)
            .map_err(|error| LoadError::Syntax(error.to_string()));
    }
    json(place, text, most_bytes, most_nodes).or_else(|error| {
        // YAML may begin with a brace, too; of what is neither, more people want to know why it is not JSON.
        let other = if error.is_syntax() { yaml(place, text, most_bytes, most_nodes).ok() } else { None };
        other.ok_or_else(|| LoadError::Syntax(error.to_string()))
    })
}

/// The most brackets of a YAML text that may be open at once, some of those in its texts included.
///
/// The time that the parser takes for each bracket grows with how many are open, and it reads to the end before it says
/// that the nesting is too deep.
const MOST_OPEN: usize = 500;

/// Counts the brackets where a value can begin: not those behind a word, unless that has the mark of a tag or an anchor.
fn has_many_open(text: &str) -> bool {
    let mut open = 0_usize;
    // What stands before, apart from space.
    let mut before = '\n';
    let (mut is_within_word, mut is_marked) = (false, false);
    text.chars().any(|character| {
        match character {
            '[' | '{' if is_marked || is_begin(before) => open += 1,
            ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        if !matches!(character, ' ' | '\t' | '\u{feff}') {
            before = character;
        }
        if !character.is_whitespace() {
            is_marked = is_within_word && is_marked || matches!(character, '!' | '&');
        }
        is_within_word = !character.is_whitespace();
        open > MOST_OPEN
    })
}

/// Tells whether a value can begin behind a character.
fn is_begin(before: char) -> bool {
    let is_line_end = matches!(before, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    is_line_end || matches!(before, '[' | '{' | ',' | ':' | '-' | '?')
}

/// Looks through a value that somebody else has read.
pub(crate) fn adopt(value: Value, most_nodes: usize) -> Result<Read, LoadError> {
    let mut left = most_nodes;
    let mut outward = Outward::default();
    weigh(&value, MOST_LEVELS, &mut left, &mut outward)?;
    Ok(Read { value, outward: outward.files, repeated: Vec::new(), nodes: most_nodes - left, bytes: 0 })
}

fn json(place: Place, text: &str, most_bytes: usize, most_nodes: usize) -> Result<Read, serde_json::Error> {
    let limits = Limits::new(Syntax::Json, most_bytes, most_nodes);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Builder::new(&limits, place).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(limits.done(value))
}

fn yaml(place: Place, text: &str, most_bytes: usize, most_nodes: usize) -> Result<Read, yaml_serde::Error> {
    if has_many_open(text) {
        return Err(serde::de::Error::custom(format_args!(
            "it has more than {MOST_OPEN} brackets open at once"
        )));
    }
    let limits = Limits::new(Syntax::Yaml, most_bytes, most_nodes);
    let value = Builder::new(&limits, place).deserialize(yaml_serde::Deserializer::from_str(text))?;
    Ok(limits.done(value))
}

fn weigh(value: &Value, levels: usize, left: &mut usize, outward: &mut Outward) -> Result<(), LoadError> {
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
                    outward.note(target);
                }
                weigh(member, levels, left, outward)?;
            }
            Ok(())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// Collects the files of references that lead out of the document, each once, in its order.
#[derive(Debug, Default)]
struct Outward {
    files: Vec<String>,
    known: HashSet<String>,
}

impl Outward {
    fn note(&mut self, target: &str) {
        let file = target.split('#').next().unwrap_or_default();
        if !file.is_empty() && self.files.len() < MOST_OUTWARD && !self.known.contains(file) {
            self.known.insert(file.to_owned());
            self.files.push(file.to_owned());
        }
    }
}

#[cfg(test)]
mod tests;
