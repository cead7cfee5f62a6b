//! Schemas of which a part was left open.

use serde_json::{Map, Value};

/// Takes away, or makes weaker, what would refuse good values now that parts of a schema say less than they did.
///
/// Of several variants that are left open more than one fits, what must not fit does, and properties that are known no more are
/// taken for unknown ones.
pub(super) fn loosen(schema: &mut Map<String, Value>) {
    for keyword in ["not", "if", "then", "else", "unevaluatedProperties", "unevaluatedItems", "maxContains"] {
        schema.remove(keyword);
    }
    if let Some(variants) = schema.remove("oneOf") {
        if schema.contains_key("anyOf") {
            // What fits one of these and one of those fits both parts.
            let mut part = Map::new();
            part.insert("anyOf".to_owned(), variants);
            let parts = schema.entry("allOf").or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(parts) = parts {
                parts.push(part.into());
            }
        } else {
            schema.insert("anyOf".to_owned(), variants);
        }
    }
    each_inner(schema, &mut loosen);
}

/// Does something with every schema that stands in another one.
pub(super) fn each_inner(schema: &mut Map<String, Value>, act: &mut dyn FnMut(&mut Map<String, Value>)) {
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("default" | "enum" | "const" | "examples" | "required" | "dependentRequired", _) => {}
            ("properties" | "patternProperties" | "dependentSchemas" | "$defs", Value::Object(named)) => {
                named.values_mut().filter_map(Value::as_object_mut).for_each(&mut *act);
            }
            (_, Value::Object(inner)) => act(inner),
            (_, Value::Array(several)) => {
                several.iter_mut().filter_map(Value::as_object_mut).for_each(&mut *act);
            }
            _ => {}
        }
    }
}
