use super::hint::{known_properties, unknown_property};
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError, Validator};
use serde_json::{Map, Value};
use std::fmt::Display;

/// The most bytes of a value that a violation quotes.
const MOST_QUOTED: usize = 80;

/// The most bytes of what a schema brings along, such as a pattern.
const MOST_SAID: usize = 400;

/// The most values that are listed.
const MOST_LISTED: usize = 12;

/// Lists what is wrong with arguments, in words for a model.
pub(super) struct Violations<'a> {
    schema: &'a Value,
    input: &'a Value,
    most: usize,
    pub(super) lines: Vec<String>,
    /// How many more there are than are listed.
    pub(super) more: usize,
}

/// Lists everything that is wrong with the arguments, each with its place as a JSON pointer, up to a number of lines.
pub(super) fn violations<'a>(
    validator: &Validator,
    schema: &'a Value,
    input: &'a Value,
    most: usize,
) -> Violations<'a> {
    let mut violations = Violations { schema, input, most, lines: Vec::new(), more: 0 };
    for error in validator.iter_errors(input) {
        violations.describe(&error);
    }
    violations
}

impl Violations<'_> {
    fn add(&mut self, pointer: &str, what: impl Display) {
        let line = if pointer.is_empty() {
            format!("at the top: {what}")
        } else {
            format!("at `{}`: {what}", cut(pointer))
        };
        // A schema can say the same more than once.
        if self.lines.contains(&line) {
            return;
        }
        if self.lines.len() < self.most {
            self.lines.push(line);
        } else {
            self.more += 1;
        }
    }

    fn describe(&mut self, error: &ValidationError<'_>) {
        let pointer = error.instance_path().as_str();
        let found = || quoted(error.instance());
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                self.describe_unknown(error, unexpected.iter().map(String::as_str));
            }
            // What the validator says of an object that takes no properties at all.
            ValidationErrorKind::FalseSchema
                if error.schema_path().as_str().ends_with("/additionalProperties") =>
            {
                let given = self.input.pointer(pointer).and_then(Value::as_object);
                self.describe_unknown(error, given.into_iter().flat_map(Map::keys).map(String::as_str));
            }
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                self.add(pointer, format_args!("the property `{name}` is missing"));
            }
            ValidationErrorKind::PropertyNames { error: inner } => {
                let name = quoted(inner.instance());
                let why = said(&inner.masked_with("it"));
                self.add(pointer, format_args!("the property name {name} is not allowed: {why}"));
            }
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
                self.describe_alternatives(error, context);
            }
            ValidationErrorKind::OneOfMultipleValid { .. } => {
                self.add(
                    pointer,
                    format_args!("{} can be read in more than one of the allowed ways", found()),
                );
            }
            ValidationErrorKind::Type { kind } => {
                let wanted = match kind {
                    TypeKind::Single(wanted) => type_name(*wanted).to_owned(),
                    TypeKind::Multiple(wanted) => {
                        // "not null or a string" could be read as "neither".
                        let mut names: Vec<_> = wanted.iter().map(type_name).collect();
                        names.sort_by_key(|name| *name == "null");
                        either(names.into_iter().map(str::to_owned))
                    }
                };
                self.add(pointer, format_args!("{} is not {wanted}", found()));
            }
            ValidationErrorKind::Enum { options } => {
                let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
                self.add(pointer, format_args!("{} is not {}", found(), either(options.iter().map(quoted))));
            }
            ValidationErrorKind::Constant { expected_value } => {
                self.add(pointer, format_args!("{} is not {}", found(), quoted(expected_value)));
            }
            ValidationErrorKind::FalseSchema => self.add(pointer, "no value is allowed here"),
            ValidationErrorKind::Not { .. } => {
                self.add(pointer, format_args!("{} is of a form that is ruled out", found()));
            }
            ValidationErrorKind::Contains => {
                self.add(pointer, format_args!("{} lacks an item of the form it must have", found()));
            }
            ValidationErrorKind::BacktrackLimitExceeded { .. } => {
                self.add(pointer, format_args!("{} takes too long to compare with its pattern", found()));
            }
            _ => self.add(pointer, said(&error.masked_with(found()))),
        }
    }

    fn describe_unknown<'b>(&mut self, error: &ValidationError<'_>, unknown: impl Iterator<Item = &'b str>) {
        let pointer = error.instance_path().as_str();
        let known = known_properties(self.schema, error.schema_path().as_str());
        let given = self.input.pointer(pointer);
        for property in unknown {
            let hint = unknown_property(property, known.as_deref(), given);
            self.add(pointer, format_args!("unknown property `{}`{hint}", cut(property)));
        }
    }

    /// Describes why no alternative fits: by the one that was meant, if that can be told, else by what was expected.
    fn describe_alternatives(
        &mut self,
        error: &ValidationError<'_>,
        context: &[Vec<ValidationError<'static>>],
    ) {
        let here = error.instance_path().as_str();
        let is_at_home = |errors: &&Vec<ValidationError<'_>>| {
            !errors.is_empty()
                && !errors.iter().any(|error| {
                    error.instance_path().as_str() == here
                        && matches!(
                            error.kind(),
                            ValidationErrorKind::Type { .. } | ValidationErrorKind::Constant { .. }
                        )
                })
        };
        let of_this_kind: Vec<_> = context.iter().filter(is_at_home).collect();
        if let Some((pointer, tag, expected)) = wrong_tag(&of_this_kind) {
            self.add(pointer, format_args!("{} is not {}", quoted(tag), either(expected.into_iter())));
            return;
        }
        let closest = of_this_kind.iter().min_by_key(|errors| {
            (errors.iter().filter(|error| constant(error).is_some()).count(), errors.len())
        });
        if let Some(closest) = closest {
            for error in *closest {
                self.describe(error);
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
        let expected = if expected.is_empty() {
            "any of the allowed forms".to_owned()
        } else {
            either(expected.into_iter())
        };
        self.add(here, format_args!("{} is not {expected}", quoted(error.instance())));
    }
}

/// Finds the one place at which every alternative wants a value of its own, and none the one that is there.
fn wrong_tag<'a>(
    alternatives: &[&'a Vec<ValidationError<'static>>],
) -> Option<(&'a str, &'a Value, Vec<String>)> {
    let tags: Vec<&'a ValidationError<'static>> = alternatives
        .iter()
        .map(|errors| errors.iter().find(|error| constant(error).is_some()))
        .collect::<Option<_>>()?;
    let first = tags.first()?;
    let pointer = first.instance_path().as_str();
    if tags.len() < 2 || tags.iter().any(|tag| tag.instance_path().as_str() != pointer) {
        return None;
    }
    Some((pointer, first.instance(), tags.iter().filter_map(|tag| constant(tag).map(quoted)).collect()))
}

fn constant<'a>(error: &'a ValidationError<'_>) -> Option<&'a Value> {
    match error.kind() {
        ValidationErrorKind::Constant { expected_value } => Some(expected_value),
        _ => None,
    }
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

/// Writes what is allowed as `a, b or c`, and how much more there is where that is much.
fn either(options: impl ExactSizeIterator<Item = String>) -> String {
    let more = options.len().saturating_sub(MOST_LISTED);
    let listed: Vec<String> = options.take(MOST_LISTED).collect();
    match listed.as_slice() {
        [] => "any value".to_owned(),
        [one] => one.clone(),
        all if more > 0 => format!("{} or one of {more} others", all.join(", ")),
        [start @ .., last] => format!("{} or {last}", start.join(", ")),
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

/// Writes what the validator says, without any closing full stop.
fn said(error: &dyn Display) -> String {
    cut_to(&error.to_string(), MOST_SAID)
}

/// Bounds what is quoted of arguments.
pub(crate) fn cut(text: &str) -> String {
    cut_to(text, MOST_QUOTED)
}

fn cut_to(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most)])
}
