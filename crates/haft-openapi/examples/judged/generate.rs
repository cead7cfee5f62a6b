//! Arguments that fit a schema: always the same ones, with characters in them that an address has other uses for.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

/// How deep schemas are looked into before only what must be there is made.
const MOST_LEVELS: usize = 4;

/// The most steps from a schema to what it refers to, or is put together of.
const MOST_STEPS: usize = 20;

/// Says how much is made of what may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    All,
    Required,
}

/// Makes arguments for the schema of a tool.
pub(crate) fn arguments(schema: &Value, extent: Extent) -> Value {
    Generator { root: schema, extent }.value(schema, 0, 0)
}

struct Generator<'s> {
    root: &'s Value,
    extent: Extent,
}

impl Generator<'_> {
    /// Makes a value; of several for one list, each index has another one.
    fn value(&self, schema: &Value, level: usize, index: usize) -> Value {
        let schema = self.whole(schema);
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
            let choices: Vec<&Value> = choices.iter().filter(|choice| !choice.is_null()).collect();
            return choices.get(index % choices.len().max(1)).map_or(Value::Null, |choice| (*choice).clone());
        }
        match kind(&schema) {
            "object" => self.object(&schema, level),
            "array" => self.array(&schema, level),
            "integer" | "number" => number(&schema, index),
            "boolean" => Value::Bool(index == 0),
            "null" => Value::Null,
            _ => text(&schema, index).into(),
        }
    }

    fn object(&self, schema: &Map<String, Value>, level: usize) -> Value {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let takes_all = self.extent == Extent::All && level < MOST_LEVELS;
        let mut members = Map::new();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if takes_all || required.contains(&name.as_str()) {
                members.insert(name.clone(), self.value(property, level + 1, 0));
            }
        }
        let others = schema.get("additionalProperties").cloned().unwrap_or_else(|| json!({}));
        for name in required {
            if !members.contains_key(name) {
                members.insert(name.to_owned(), self.value(&others, level + 1, 0));
            }
        }
        let at_least = usize::from(takes_all).max(count(schema, "minProperties"));
        let mut number = 0;
        while members.len() < at_least && others != Value::Bool(false) {
            number += 1;
            members.insert(format!("na me&{number}"), self.value(&others, level + 1, number));
        }
        Value::Object(members)
    }

    fn array(&self, schema: &Map<String, Value>, level: usize) -> Value {
        let wanted = if self.extent == Extent::All && level < MOST_LEVELS { 2 } else { 0 };
        let most = schema.get("maxItems").map_or(usize::MAX, |_| count(schema, "maxItems"));
        let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let others = schema.get("items").cloned().unwrap_or_else(|| json!({}));
        let choices = self.whole(&others).get("enum").and_then(Value::as_array).map_or(usize::MAX, Vec::len);
        let number = wanted.min(most).min(choices).max(count(schema, "minItems")).max(first.len());
        (0..number).map(|index| self.value(first.get(index).unwrap_or(&others), level + 1, index)).collect()
    }

    /// Puts a schema together of what it refers to, its parts, and the first of its variants.
    fn whole(&self, schema: &Value) -> Map<String, Value> {
        let mut whole = Map::new();
        self.add(schema, &mut whole, MOST_STEPS);
        whole
    }

    fn add(&self, schema: &Value, whole: &mut Map<String, Value>, steps: usize) {
        let (Some(members), Some(steps)) = (schema.as_object(), steps.checked_sub(1)) else { return };
        for (keyword, value) in members {
            match (keyword.as_str(), value, whole.get_mut(keyword)) {
                ("properties", Value::Object(more), Some(Value::Object(known))) => {
                    known.extend(more.iter().map(|(name, property)| (name.clone(), property.clone())));
                }
                ("required", Value::Array(more), Some(Value::Array(known))) => {
                    known.extend(more.iter().cloned());
                }
                ("$ref" | "allOf" | "oneOf" | "anyOf", _, _) | (_, _, Some(_)) => {}
                (_, _, None) => {
                    whole.insert(keyword.clone(), value.clone());
                }
            }
        }
        if let Some(target) = members.get("$ref").and_then(Value::as_str)
            && let Some(target) = self.root.pointer(target.trim_start_matches('#'))
        {
            self.add(target, whole, steps);
        }
        for part in members.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.add(part, whole, steps);
        }
        for variants in ["oneOf", "anyOf"] {
            let mut variants = members.get(variants).and_then(Value::as_array).into_iter().flatten();
            if let Some(first) = variants.find(|variant| variant["type"] != "null") {
                self.add(first, whole, steps);
            }
        }
    }
}

fn kind(schema: &Map<String, Value>) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if schema.contains_key("properties") || schema.contains_key("additionalProperties") => "object",
        _ if schema.contains_key("items") => "array",
        _ => "string",
    }
}

fn count(schema: &Map<String, Value>, keyword: &str) -> usize {
    schema.get(keyword).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "the numbers are small")]
fn number(schema: &Map<String, Value>, index: usize) -> Value {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let is_whole = kind(schema) == "integer";
    let step = bound("multipleOf").unwrap_or(if is_whole { 1.0 } else { 0.5 });
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|bound| bound + step));
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|bound| bound - step));
    let wished = (index + 1) as f64 * step;
    let number = least.map_or(wished, |least| wished.max((least / step).ceil() * step));
    let number = most.map_or(number, |most| number.min((most / step).floor() * step));
    if is_whole || number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

fn text(schema: &Map<String, Value>, index: usize) -> String {
    let number = index + 1;
    if let Some(text) =
        schema.get("pattern").and_then(Value::as_str).and_then(|pattern| of_pattern(pattern, schema))
    {
        return text;
    }
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let mut text = match format {
        "date-time" => format!("2026-01-0{number}T12:34:56Z"),
        "date" => format!("2026-01-0{number}"),
        "time" => format!("12:34:0{number}Z"),
        "duration" => format!("P{number}D"),
        "uuid" => format!("123e4567-e89b-12d3-a456-42661417400{number}"),
        "uri" | "url" | "iri" | "uri-reference" | "uri-template" => {
            format!("https://example.com/a%20b?c=d&e={number}")
        }
        "email" | "idn-email" => format!("a+b{number}@example.com"),
        "hostname" | "idn-hostname" => format!("host{number}.example.com"),
        "ipv4" | "ip" => format!("192.0.2.{number}"),
        "ipv6" => format!("2001:db8::{number}"),
        "byte" | "base64" => "dmFsdWU/Pj4=".to_owned(),
        "json-pointer" => format!("/a/{number}"),
        "regex" => "^a+$".to_owned(),
        _ => format!("v al/ue&{number}"),
    };
    while text.chars().count() < count(schema, "minLength") {
        text.push_str(" +%");
    }
    match schema.get("maxLength") {
        Some(_) => text.chars().take(count(schema, "maxLength")).collect(),
        None => text,
    }
}

/// Makes a text that fits a pattern, if that is one which texts can be made of.
fn of_pattern(pattern: &str, schema: &Map<String, Value>) -> Option<String> {
    let inner = pattern.strip_prefix('^').unwrap_or(pattern);
    let inner = inner.strip_suffix('$').unwrap_or(inner);
    let strategy = proptest::string::string_regex(inner).ok()?;
    let mut runner = TestRunner::deterministic();
    let (least, most) =
        (count(schema, "minLength"), schema.get("maxLength").map(|_| count(schema, "maxLength")));
    (0..50).find_map(|_| {
        let text = strategy.new_tree(&mut runner).ok()?.current();
        let length = text.chars().count();
        (length >= least && most.is_none_or(|most| length <= most)).then_some(text)
    })
}
