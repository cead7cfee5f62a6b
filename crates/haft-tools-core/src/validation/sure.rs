use serde_json::{Map, Value};

/// The only dialect that is known here (JSON Schema 2020-12), which is also the one that schemas without a word have.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The names that a type can have (JSON Schema 2020-12 Validation, section 6.1.1).
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Where definitions are that are referred to.
const DEFINITIONS: &str = "#/$defs/";

/// Tells whether a schema is made only of keywords that are known here, each with a value that it may have, so that there is
/// no way in which compiling it could fail.
///
/// It may say no to a schema that can be compiled, and never yes to one that cannot: then a bad schema would be found when
/// its tool is called, and not when it is registered. Its depth has to be bounded already.
pub(super) fn is_surely_valid(schema: &Value) -> bool {
    let definitions = schema.get("$defs").and_then(Value::as_object);
    Known { definitions }.is_schema(schema, true)
}

/// Knows what can be referred to.
struct Known<'a> {
    definitions: Option<&'a Map<String, Value>>,
}

impl Known<'_> {
    fn is_schema(&self, schema: &Value, is_root: bool) -> bool {
        match schema {
            Value::Bool(_) => true,
            Value::Object(keywords) => {
                keywords.iter().all(|(keyword, value)| self.is_keyword(keyword, value, is_root))
            }
            _ => false,
        }
    }

    fn is_keyword(&self, keyword: &str, value: &Value, is_root: bool) -> bool {
        match keyword {
            "title" | "description" | "format" | "$comment" => value.is_string(),
            "default" | "const" => true,
            "examples" | "enum" => value.is_array(),
            "deprecated" | "readOnly" | "writeOnly" | "uniqueItems" => value.is_boolean(),
            "$schema" => is_root && value == DIALECT,
            "type" => is_type(value),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                value.is_u64()
            }
            "required" => is_list_of_names(value),
            "properties" => self.are_schemas_by_name(value),
            "$defs" => is_root && self.are_schemas_by_name(value),
            "items" | "additionalProperties" | "not" => self.is_schema(value, false),
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => value.as_array().is_some_and(|schemas| {
                !schemas.is_empty() && schemas.iter().all(|schema| self.is_schema(schema, false))
            }),
            "$ref" => value.as_str().is_some_and(|reference| self.is_definition(reference)),
            _ => false,
        }
    }

    fn are_schemas_by_name(&self, value: &Value) -> bool {
        value.as_object().is_some_and(|schemas| schemas.values().all(|schema| self.is_schema(schema, false)))
    }

    /// Tells whether there is what is referred to, by a name in which nothing is written in another way.
    fn is_definition(&self, reference: &str) -> bool {
        let name = reference.strip_prefix(DEFINITIONS).filter(|name| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        name.zip(self.definitions).is_some_and(|(name, definitions)| definitions.contains_key(name))
    }
}

fn is_type(value: &Value) -> bool {
    match value {
        Value::String(name) => TYPES.contains(&name.as_str()),
        Value::Array(names) => {
            !names.is_empty()
                && is_list_of_names(value)
                && names.iter().all(|name| name.is_string() && is_type(name))
        }
        _ => false,
    }
}

/// Tells whether a value is a list of texts, each of them once.
fn is_list_of_names(value: &Value) -> bool {
    let Some(names) = value.as_array() else { return false };
    let is_new = |(place, name): (usize, &Value)| name.is_string() && !names[..place].contains(name);
    // Comparing each with all before it would take long for thousands.
    names.len() <= 256 && names.iter().enumerate().all(is_new)
}

#[cfg(test)]
mod tests;
