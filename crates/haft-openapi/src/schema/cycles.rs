//! Schemas that hand one value on to each other without end.

use serde_json::{Map, Value};
use std::collections::HashMap;

/// The keywords that hand the same value on.
const SEVERAL: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const ONE: [&str; 4] = ["not", "if", "then", "else"];

/// Takes away the references that lead a value in a circle, such as from a base to its variants and back to the base.
///
/// What such a reference says is checked already when it is met. A choice one of whose variants is such a reference is taken
/// away as a whole, since it could not be told from the others any more.
pub(super) fn break_up(root: &mut Map<String, Value>) {
    let Some(Value::Object(mut definitions)) = root.remove("$defs") else { return };
    let names: Vec<String> = definitions.keys().cloned().collect();
    let mut states: HashMap<String, bool> = HashMap::new();
    for name in names {
        visit(&name, &mut definitions, &mut states);
    }
    root.insert("$defs".to_owned(), definitions.into());
}

/// Looks at one definition; says in `states` that it is being looked at (`true`), or that it is done (`false`).
fn visit(name: &str, definitions: &mut Map<String, Value>, states: &mut HashMap<String, bool>) {
    if states.contains_key(name) {
        return;
    }
    states.insert(name.to_owned(), true);
    // It is taken out while it is looked at, so that others can be looked at meanwhile.
    if let Some(mut definition) = definitions.get_mut(name).map(Value::take) {
        walk(&mut definition, definitions, states);
        if let Some(place) = definitions.get_mut(name) {
            *place = definition;
        }
    }
    states.insert(name.to_owned(), false);
}

/// Walks everything that a schema hands its value on to; tells whether the schema itself is such a reference.
fn walk(
    schema: &mut Value,
    definitions: &mut Map<String, Value>,
    states: &mut HashMap<String, bool>,
) -> bool {
    let Value::Object(members) = schema else { return false };
    let mut is_circle = false;
    if let Some(target) =
        members.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix("#/$defs/"))
    {
        let target = target.to_owned();
        visit(&target, definitions, states);
        if states.get(&target) == Some(&true) {
            members.remove("$ref");
            is_circle = true;
        }
    }
    for keyword in SEVERAL {
        let Some(Value::Array(schemas)) = members.get_mut(keyword) else { continue };
        let mut has_circle = false;
        for schema in schemas.iter_mut() {
            has_circle |= walk(schema, definitions, states);
        }
        if has_circle && keyword != "allOf" {
            members.remove(keyword);
        }
    }
    for keyword in ONE {
        let Some(schema) = members.get_mut(keyword) else { continue };
        if walk(schema, definitions, states) {
            members.remove(keyword);
        }
    }
    is_circle
}
