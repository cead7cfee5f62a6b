//! Describes tools in a few lines, for those who look for one.

use super::served_tool::source;
use haft_core::{Exposure, Origin, ToolSpec, is_hidden};
use haft_tools_core::ToolRegistry;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The most characters that are told of a tool's description and of a parameter's.
const MOST_CHARACTERS: usize = 200;
const MOST_PARAMETER_CHARACTERS: usize = 100;

/// The most parameters that are told of a tool, and the most origins of tools where none was found.
const MOST_PARAMETERS: usize = 12;
const MOST_ORIGINS: usize = 20;

/// Writes what a tool does and what it takes below its name.
pub(super) fn describe(spec: &ToolSpec, text: &mut String) {
    let paragraph = spec.description().trim_start().split("\n\n").next().unwrap_or_default();
    let description = one_line(paragraph, MOST_CHARACTERS);
    let source =
        source(spec.origin()).map(|source| format!("[{}] ", one_line(source, 40))).unwrap_or_default();
    if !description.is_empty() {
        let _ = writeln!(text, "  {source}{description}");
    }
    let schema = spec.input_schema().as_value();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)));
    let mut parameters: Vec<_> = properties.iter().collect();
    parameters.sort_by_key(|(name, _)| !is_required(name));
    for (name, parameter) in parameters.iter().take(MOST_PARAMETERS) {
        let _ = write!(text, "  - {}", one_line(name, 64));
        let kind = parameter.get("type").and_then(Value::as_str).map(|kind| one_line(kind, 16));
        let notes: Vec<&str> =
            kind.as_deref().into_iter().chain(is_required(name).then_some("required")).collect();
        if !notes.is_empty() {
            let _ = write!(text, " ({})", notes.join(", "));
        }
        let description = parameter.get("description").and_then(Value::as_str).unwrap_or_default();
        match one_line(description, MOST_PARAMETER_CHARACTERS).as_str() {
            "" => text.push('\n'),
            description => drop(writeln!(text, ": {description}")),
        }
    }
    if parameters.len() > MOST_PARAMETERS {
        let _ = writeln!(text, "  - and {} more", parameters.len() - MOST_PARAMETERS);
    }
}

/// Says where tools are from, so that the next search can be a better one.
pub(super) fn origins(registry: &ToolRegistry, is_served: impl Fn(&ToolSpec) -> bool) -> String {
    let mut origins: BTreeMap<String, usize> = BTreeMap::new();
    for spec in registry.iter().filter(|spec| spec.exposure() != Exposure::Hidden && is_served(spec)) {
        let origin = match spec.origin() {
            Origin::Mcp { server: name, .. } | Origin::OpenApi { document: name, .. } => one_line(name, 40),
            Origin::Agent { .. } => "agents".to_owned(),
            Origin::Builtin => "builtin".to_owned(),
            _ => "host".to_owned(),
        };
        *origins.entry(origin).or_default() += 1;
    }
    let more = origins.len().saturating_sub(MOST_ORIGINS);
    let mut shown: Vec<String> =
        origins.iter().take(MOST_ORIGINS).map(|(origin, count)| format!("{origin} ({count})")).collect();
    if more > 0 {
        shown.push(format!("{more} others"));
    }
    shown.join(", ")
}

/// Puts a foreign text on one line, cut to so many characters, without what cannot be seen.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    let words = text.split(|character: char| character.is_whitespace() || character.is_control());
    let mut count = 0;
    for word in words.filter(|word| !word.is_empty()) {
        if count > 0 {
            line.push(' ');
            count += 1;
        }
        for character in word.chars().filter(|character| !is_hidden(*character)) {
            if count >= most {
                line.push('…');
                return line;
            }
            line.push(character);
            count += 1;
        }
    }
    line
}
