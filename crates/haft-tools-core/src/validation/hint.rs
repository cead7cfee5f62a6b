use super::bounds::{REFERENCE, neighbours};
use crate::nearest::{listed, nearest};
use serde_json::{Map, Value};

/// The most names that are listed where none is near.
const MOST_LISTED: usize = 12;

/// How many schemas deep the properties of a combined schema are looked for.
const MOST_HOPS: usize = 8;

/// Finds the names of the properties that a schema has beside the keyword which refused one; `None` where they cannot
/// be listed, because they follow a pattern or stand where this does not look.
pub(super) fn known_properties<'a>(schema: &'a Value, keyword_path: &str) -> Option<Vec<&'a str>> {
    let (parent, keyword) = keyword_path.rsplit_once('/')?;
    let object = schema.pointer(parent)?.as_object()?;
    let mut names = Vec::new();
    // What is combined with the schema counts for `unevaluatedProperties` alone.
    let hops = if keyword == "unevaluatedProperties" { MOST_HOPS } else { 0 };
    collect(schema, object, hops, &mut names).then_some(names)
}

/// Adds the properties of a schema and of what is combined with it; tells whether these are all.
fn collect<'a>(
    root: &'a Value,
    members: &'a Map<String, Value>,
    hops: usize,
    names: &mut Vec<&'a str>,
) -> bool {
    if let Some(properties) = members.get("properties").and_then(Value::as_object) {
        for name in properties.keys() {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    let mut all = !members.contains_key("patternProperties");
    if let Some(hops) = hops.checked_sub(1) {
        let referred = REFERENCE.iter().filter_map(|keyword| members.get(*keyword)).map(|reference| {
            reference.as_str().and_then(|reference| root.pointer(reference.strip_prefix('#')?))
        });
        for combined in neighbours(members).map(Some).chain(referred) {
            all &= match combined {
                Some(Value::Object(combined)) => collect(root, combined, hops, names),
                Some(_) => true,
                None => false,
            };
        }
    }
    all
}

/// Says what could have been meant by an unknown property: names that are near and not given themselves, or else all.
pub(super) fn unknown_property(property: &str, known: Option<&[&str]>, given: Option<&Value>) -> String {
    let Some(known) = known else { return String::new() };
    let is_free = |name: &&str| given.is_none_or(|given| given.get(*name).is_none());
    let near = nearest(property, known.iter().copied().filter(is_free));
    if !near.is_empty() {
        return format!("; did you mean {}?", listed(near, "or"));
    }
    match known {
        [] => "; it takes none".to_owned(),
        known if known.len() <= MOST_LISTED => format!("; it takes {}", listed(known.iter().copied(), "and")),
        known => {
            let start: Vec<String> = known.iter().take(MOST_LISTED).map(|name| format!("`{name}`")).collect();
            format!("; it takes {} and {} more", start.join(", "), known.len() - MOST_LISTED)
        }
    }
}
