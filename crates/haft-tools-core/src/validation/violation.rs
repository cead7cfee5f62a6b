use crate::nearest::{listed, nearest};
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError, Validator};
use serde_json::Value;

/// The most bytes of a value that a violation quotes.
const MOST_QUOTED: usize = 80;

/// The most names that are listed where none is near.
const MOST_LISTED: usize = 12;

/// Lists everything that is wrong with the arguments, each with its place as a JSON pointer, in words for a model.
pub(super) fn violations(validator: &Validator, schema: &Value, input: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for error in validator.iter_errors(input) {
        describe(&error, schema, input, &mut lines);
    }
    lines
}

fn describe(error: &ValidationError<'_>, schema: &Value, input: &Value, lines: &mut Vec<String>) {
    let place = place(error.instance_path().as_str());
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let known = known_properties(schema, error.schema_path().as_str());
            let given = input.pointer(error.instance_path().as_str());
            for property in unexpected {
                lines.push(format!(
                    "{place}: unknown property `{}`{}",
                    cut(property),
                    hint(property, &known, given)
                ));
            }
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            lines.push(format!("{place}: the property `{name}` is missing"));
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            describe_alternatives(error, context, schema, input, lines);
        }
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(wanted) => type_name(*wanted).to_owned(),
                TypeKind::Multiple(wanted) => wanted.iter().map(type_name).collect::<Vec<_>>().join(" or "),
            };
            lines.push(format!("{place}: {} is not {wanted}", quoted(error.instance())));
        }
        _ => lines.push(format!("{place}: {}", error.masked_with(quoted(error.instance())))),
    }
}

/// Describes why no alternative fits: by the one whose type was right, if there is one, else by what was expected.
fn describe_alternatives(
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
    schema: &Value,
    input: &Value,
    lines: &mut Vec<String>,
) {
    let here = error.instance_path().as_str();
    let is_of_another_kind = |errors: &Vec<ValidationError<'_>>| {
        errors.iter().any(|error| {
            error.instance_path().as_str() == here
                && matches!(
                    error.kind(),
                    ValidationErrorKind::Type { .. } | ValidationErrorKind::Constant { .. }
                )
        })
    };
    let closest = context
        .iter()
        .filter(|errors| !errors.is_empty() && !is_of_another_kind(errors))
        .min_by_key(|errors| errors.len());
    if let Some(closest) = closest {
        for error in closest {
            describe(error, schema, input, lines);
        }
        return;
    }
    let mut expected: Vec<String> = Vec::new();
    for error in context.iter().flatten() {
        let one = match error.kind() {
            ValidationErrorKind::Type { kind: TypeKind::Single(wanted) } => type_name(*wanted).to_owned(),
            ValidationErrorKind::Constant { expected_value } => quoted(expected_value),
            _ => continue,
        };
        if error.instance_path().as_str() == here && !expected.contains(&one) {
            expected.push(one);
        }
    }
    let expected =
        if expected.is_empty() { "any of the allowed forms".to_owned() } else { expected.join(" or ") };
    lines.push(format!("{}: {} is not {expected}", place(here), quoted(error.instance())));
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() { "at the top".to_owned() } else { format!("at `{}`", cut(pointer)) }
}

fn type_name(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

fn quoted(value: &Value) -> String {
    match value {
        // Writing out a huge value only to cut it would cost as much as the value is large.
        Value::Array(items) if items.len() > MOST_QUOTED => format!("an array of {} items", items.len()),
        Value::Object(members) if members.len() > MOST_QUOTED => {
            format!("an object of {} members", members.len())
        }
        Value::String(text) => format!("{:?}", cut(text)),
        _ => cut(&value.to_string()),
    }
}

fn cut(text: &str) -> String {
    if text.len() <= MOST_QUOTED {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MOST_QUOTED)])
}

/// Finds the property names that the schema has beside the keyword which refused one.
fn known_properties<'a>(schema: &'a Value, keyword_path: &str) -> Vec<&'a str> {
    let parent = keyword_path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let properties =
        schema.pointer(parent).and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    properties.map(|properties| properties.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// Proposes the names that could have been meant, those that were not given themselves.
fn hint(property: &str, known: &[&str], given: Option<&Value>) -> String {
    let is_free = |name: &&str| given.is_none_or(|given| given.get(*name).is_none());
    let free: Vec<&str> = known.iter().copied().filter(is_free).collect();
    let near = nearest(property, free.iter().copied());
    if !near.is_empty() {
        return format!("; did you mean {}?", listed(near, "or"));
    }
    match known {
        [] => "; it takes none".to_owned(),
        known if known.len() <= MOST_LISTED => format!("; it takes {}", listed(known.iter().copied(), "and")),
        known => {
            let start = listed(known.iter().copied().take(MOST_LISTED), "and");
            format!("; it takes {start} and {} more", known.len() - MOST_LISTED)
        }
    }
}
