//! Schemas that hand one value on to each other without end, or too often.

use super::loosen::{each_inner, loosen};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The keywords that hand the same value on.
const SEVERAL: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const ONE: [&str; 4] = ["not", "if", "then", "else"];
const NAMED: &str = "dependentSchemas";

/// The most schemas that may be met, on all ways together, by one value from a schema on.
///
/// Who checks values against schemas refuses those with more (`haft-tools-core` takes 10,000), since it walks every way.
const MOST_MET: u64 = 5_000;

/// The most schemas that may hand one value on to each other, one after the other; `haft-tools-core` takes 100.
const MOST_CHAINED: usize = 90;

/// Takes away the references that lead a value in a circle, such as from a base to its variants and back to the base, and what
/// hands one value on more often than can be checked.
///
/// What a reference in a circle says is checked already when it is met. A choice one of whose variants is such a reference is
/// taken away as a whole, since it could not be told from the others any more.
///
/// Tells whether the schema says less than before.
pub(super) fn break_up(root: &mut Map<String, Value>) -> bool {
    let definitions = match root.remove("$defs") {
        Some(Value::Object(definitions)) => definitions,
        _ => Map::new(),
    };
    let names: Vec<String> = definitions.keys().cloned().collect();
    let mut walk = Walk { definitions, states: HashMap::new(), has_cut: false };
    for name in &names {
        walk.visit(name, 0);
    }
    for name in &names {
        if let Some(mut definition) = walk.definitions.get_mut(name).map(Value::take) {
            walk.everywhere(&mut definition);
            walk.definitions.insert(name.clone(), definition);
        }
    }
    let mut whole = Value::Object(std::mem::take(root));
    walk.everywhere(&mut whole);
    if let Value::Object(members) = whole {
        *root = members;
    }
    if !walk.definitions.is_empty() {
        root.insert("$defs".to_owned(), walk.definitions.into());
    }
    if walk.has_cut {
        loosen(root);
    }
    walk.has_cut
}

/// Is what a value is handed on to from a schema.
#[derive(Debug, Clone, Copy)]
struct Reach {
    longest: usize,
    met: u64,
}

/// Says what is known of a definition.
#[derive(Debug, Clone, Copy)]
enum State {
    /// It is being looked at.
    Open,
    Done(Reach),
}

struct Walk {
    definitions: Map<String, Value>,
    states: HashMap<String, State>,
    has_cut: bool,
}

impl Walk {
    /// Looks at one definition, to which so many lead.
    fn visit(&mut self, name: &str, before: usize) {
        if self.states.contains_key(name) {
            return;
        }
        self.states.insert(name.to_owned(), State::Open);
        let mut reach = Reach { longest: 0, met: 1 };
        // It is taken out while it is looked at, so that others can be looked at meanwhile.
        if let Some(mut definition) = self.definitions.get_mut(name).map(Value::take) {
            reach = self.walk(&mut definition, before).unwrap_or(reach);
            if let Some(place) = self.definitions.get_mut(name) {
                *place = definition;
            }
        }
        self.states.insert(name.to_owned(), State::Done(reach));
    }

    /// Walks everything that a schema hands its value on to; gives nothing where the schema itself leads back.
    fn walk(&mut self, schema: &mut Value, before: usize) -> Option<Reach> {
        let mut reach = Reach { longest: 0, met: 1 };
        let Value::Object(members) = schema else { return Some(reach) };
        let mut leads_back = false;
        let target = members.get("$ref").and_then(Value::as_str);
        if let Some(target) = target.and_then(|target| target.strip_prefix("#/$defs/")).map(str::to_owned) {
            if before < MOST_CHAINED {
                self.visit(&target, before + 1);
            }
            match self.states.get(&target) {
                Some(State::Done(next)) => reach.take(*next),
                Some(State::Open) => {
                    members.remove("$ref");
                    leads_back = true;
                }
                None => {
                    members.remove("$ref");
                    self.has_cut = true;
                }
            }
        }
        for keyword in SEVERAL {
            let Some(Value::Array(schemas)) = members.get_mut(keyword) else { continue };
            let mut has_circle = false;
            for schema in schemas.iter_mut() {
                match self.walk(schema, before + 1) {
                    Some(next) => reach.take(next),
                    None => has_circle = true,
                }
            }
            if has_circle && keyword != "allOf" {
                members.remove(keyword);
            }
        }
        for keyword in ONE {
            let Some(schema) = members.get_mut(keyword) else { continue };
            match self.walk(schema, before + 1) {
                Some(next) => reach.take(next),
                None => drop(members.remove(keyword)),
            }
        }
        if let Some(Value::Object(named)) = members.get_mut(NAMED) {
            for schema in named.values_mut() {
                if let Some(next) = self.walk(schema, before + 1) {
                    reach.take(next);
                }
            }
        }
        if reach.met > MOST_MET || reach.longest > MOST_CHAINED {
            for keyword in SEVERAL.into_iter().chain(ONE).chain([NAMED, "$ref"]) {
                members.remove(keyword);
            }
            self.has_cut = true;
            reach = Reach { longest: 0, met: 1 };
        }
        (!leads_back).then_some(reach)
    }

    /// Walks a schema and all that stand within it, once it is known of every definition what it leads to.
    fn everywhere(&mut self, schema: &mut Value) {
        self.walk(schema, 0);
        if let Value::Object(members) = schema {
            self.inner(members);
        }
    }

    fn inner(&mut self, members: &mut Map<String, Value>) {
        each_inner(members, &mut |inner| {
            let mut schema = Value::Object(std::mem::take(inner));
            self.walk(&mut schema, 0);
            if let Value::Object(members) = schema {
                *inner = members;
            }
            self.inner(inner);
        });
    }
}

impl Reach {
    fn take(&mut self, next: Self) {
        self.longest = self.longest.max(1 + next.longest);
        self.met = self.met.saturating_add(next.met);
    }
}

#[cfg(test)]
mod tests {
    use super::break_up;
    use haft_tools_core::CompiledSchema;
    use serde_json::{Map, Value, json};

    /// Makes definitions each of which hands its value on to the next one several times.
    fn fanned(levels: usize, times: usize) -> Map<String, Value> {
        let next = |level: usize| json!({ "$ref": format!("#/$defs/L{}", level + 1) });
        (0..levels).map(|level| (format!("L{level}"), json!({ "allOf": vec![next(level); times] }))).collect()
    }

    #[test]
    fn what_multiplies_is_left_open_so_that_it_can_be_checked() {
        for (levels, times) in [(40, 2), (7, 30), (200, 1), (3_000, 1)] {
            let mut definitions = fanned(levels, times);
            definitions.insert(format!("L{levels}"), json!({ "type": "object" }));
            let all = json!({ "$ref": "#/$defs/L1" });
            let mut root = json!({ "$defs": definitions, "properties": { "a": { "$ref": "#/$defs/L0" },
                "b": { "items": { "oneOf": [all, all, { "not": all }] } } } });
            let members = root.as_object_mut().unwrap();
            assert!(break_up(members), "{levels} {times}");
            let compiled = CompiledSchema::compile(root).unwrap();
            assert!(compiled.check(&json!({ "a": {}, "b": [{}] })).is_ok());
        }
        let mut few = fanned(5, 2);
        few.insert("L5".to_owned(), json!({ "type": "object" }));
        let mut root = Map::from_iter([("$defs".to_owned(), Value::from(few))]);
        let before = root.clone();
        assert!(!break_up(&mut root));
        assert_eq!(root, before);
    }
}
