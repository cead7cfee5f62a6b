use serde_json::Value;
use std::collections::BTreeSet;

/// Keywords beside which a property that a schema does not name may be named by another schema, or be allowed.
const OPENING: [&str; 6] =
    ["additionalProperties", "unevaluatedProperties", "anyOf", "oneOf", "allOf", "$ref"];

/// Keywords that may stand beside a reference without changing what it refers to.
const ANNOTATIONS: [&str; 6] = ["title", "description", "default", "examples", "deprecated", "$defs"];

/// Closes a derived schema and those within it against unknown properties, where nothing says otherwise.
///
/// A schema that another one is combined with stays open, since it does not know the other's properties: that is how a
/// flattened field and a tagged variant are described.
pub(super) fn close(schema: &mut Value) {
    let mut combined = BTreeSet::new();
    loop {
        // A definition that is combined with something is so with all that it is made of.
        let before = combined.len();
        find_combined(schema, true, &mut combined);
        if combined.len() == before {
            break;
        }
    }
    close_alone(schema, true, &combined);
    // Without properties it is closed at the top alone: the input of a tool without arguments, and not any object.
    if is_closable(schema) {
        schema["additionalProperties"] = Value::Bool(false);
    }
}

fn is_closable(schema: &Value) -> bool {
    schema.is_object() && OPENING.iter().all(|keyword| schema.get(*keyword).is_none())
}

/// Collects the names of the definitions that are combined with other schemas.
fn find_combined(schema: &mut Value, alone: bool, combined: &mut BTreeSet<String>) {
    let Value::Object(members) = schema else { return };
    let reference = members.get("$ref").and_then(Value::as_str);
    if let Some(name) = reference.and_then(|reference| reference.strip_prefix("#/$defs/")) {
        let is_plain = |keyword: &String| keyword == "$ref" || ANNOTATIONS.contains(&keyword.as_str());
        if !alone || !members.keys().all(is_plain) {
            combined.insert(name.to_owned());
        }
    }
    for (inner, alone) in schemas_within(schema, alone, &combined.clone()) {
        find_combined(inner, alone, combined);
    }
}

/// Closes a schema that has properties and stands alone, and those within it.
fn close_alone(schema: &mut Value, alone: bool, combined: &BTreeSet<String>) {
    if alone && is_closable(schema) && schema.get("properties").is_some() {
        schema["additionalProperties"] = Value::Bool(false);
    }
    for (inner, alone) in schemas_within(schema, alone, combined) {
        close_alone(inner, alone, combined);
    }
}

/// Lists the schemas within another, each with whether it is all that speaks of the properties of its values.
fn schemas_within<'a>(
    schema: &'a mut Value,
    alone: bool,
    combined: &BTreeSet<String>,
) -> Vec<(&'a mut Value, bool)> {
    let Value::Object(members) = schema else { return Vec::new() };
    let has_properties = members.contains_key("properties");
    let mut within = Vec::new();
    for (keyword, member) in members {
        match (keyword.as_str(), member) {
            ("properties" | "patternProperties", Value::Object(schemas)) => {
                within.extend(schemas.values_mut().map(|schema| (schema, true)));
            }
            ("$defs", Value::Object(schemas)) => {
                within.extend(schemas.iter_mut().map(|(name, schema)| (schema, !combined.contains(name))));
            }
            ("prefixItems", Value::Array(schemas)) => {
                within.extend(schemas.iter_mut().map(|schema| (schema, true)));
            }
            ("anyOf" | "oneOf", Value::Array(schemas)) => {
                within.extend(schemas.iter_mut().map(|schema| (schema, alone && !has_properties)));
            }
            ("allOf", Value::Array(schemas)) => {
                within.extend(schemas.iter_mut().map(|schema| (schema, false)));
            }
            ("items" | "contains" | "additionalProperties" | "unevaluatedProperties", schema) => {
                within.push((schema, true));
            }
            ("not" | "if" | "then" | "else", schema) => within.push((schema, false)),
            _ => {}
        }
    }
    within
}
