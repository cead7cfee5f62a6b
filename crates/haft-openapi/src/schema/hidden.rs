//! Properties that go one way only.

use super::Direction;
use crate::store::{At, Store};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The most schemas that one is made of, as far as it is looked at what they say of each other.
const MOST_PARTS: usize = 200;

/// The most properties of all these together; of more, no schema has room.
const MOST_PROPERTIES: usize = 10_000;

/// Collects the properties of a schema, and of those that it is made of, that do not go this way.
pub(super) fn hidden(
    store: &Store,
    direction: Direction,
    file: usize,
    members: &Map<String, Value>,
) -> HashSet<String> {
    let mut hidden = HashSet::new();
    let mut seen = HashSet::new();
    let mut open = vec![(file, members)];
    let mut properties_left = MOST_PROPERTIES;
    while let Some((file, members)) = open.pop() {
        if !seen.insert(std::ptr::from_ref(members)) {
            continue;
        }
        let properties = members.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, property) in properties.take(properties_left) {
            properties_left -= 1;
            if is_hidden(store, direction, At { file, value: property }) {
                hidden.insert(name.clone());
            }
        }
        let room = MOST_PARTS.saturating_sub(seen.len() + open.len());
        for part in members.get("allOf").and_then(Value::as_array).into_iter().flatten().take(room) {
            let followed = store.follow(At { file, value: part });
            if let Ok(At { file, value: Value::Object(members) }) = followed {
                open.push((file, members));
            }
        }
    }
    hidden
}

/// Tells whether a property does not go this way.
pub(crate) fn is_hidden(store: &Store, direction: Direction, property: At<'_>) -> bool {
    let keyword = match direction {
        Direction::Input => "readOnly",
        Direction::Output => "writeOnly",
    };
    let says = |value: &Value| value.get(keyword) == Some(&Value::Bool(true));
    says(property.value) || store.follow(property).is_ok_and(|at| says(at.value))
}
