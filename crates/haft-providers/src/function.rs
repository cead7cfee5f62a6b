//! The offered tools, as functions with parameters.

use crate::names::NameRule;
use haft_core::ToolSpec;
use haft_model::Dialect;
use serde_json::{Map, Value, json};

/// Writes a tool's name, description, parameters and whether they are strict.
///
/// A tool whose schema cannot be strict is offered without that promise. `strict` is left out for dialects that do not
/// know it.
pub(crate) fn function(dialect: Dialect, rule: NameRule, tool: &ToolSpec) -> Map<String, Value> {
    let mut written = dialect.tool(tool);
    let function = written.get_mut("function").map(Value::take).unwrap_or(written);
    let Value::Object(mut function) = function else { return Map::new() };
    function.insert("name".into(), json!(rule.written(tool.name().as_str())));
    // Anthropic's name for the same.
    if let Some(schema) = function.remove("parameters").or_else(|| function.remove("input_schema")) {
        let schema = if dialect == Dialect::Gemini { lower(schema) } else { schema };
        function.insert("parameters".into(), schema);
    }
    function
}

/// Writes the names of types as JSON Schema has them, which Gemini takes here as well as its own.
fn lower(mut schema: Value) -> Value {
    if let Value::Object(members) = &mut schema {
        for (name, member) in members.iter_mut() {
            match (name.as_str(), &mut *member) {
                ("type", Value::String(kind)) => *kind = kind.to_ascii_lowercase(),
                ("properties", Value::Object(properties)) => {
                    for property in properties.values_mut() {
                        *property = lower(property.take());
                    }
                }
                ("items", _) => *member = lower(member.take()),
                ("anyOf", Value::Array(branches)) => {
                    for branch in branches {
                        *branch = lower(branch.take());
                    }
                }
                _ => {}
            }
        }
    }
    schema
}
