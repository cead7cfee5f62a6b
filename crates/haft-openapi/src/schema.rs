//! Schemas of arguments and replies, in JSON Schema 2020-12.

mod convert;
mod cycles;
mod detail;
mod file;
mod keyword;
mod values;

use crate::Problem;
use crate::document::Inner;
use crate::lower::{Described, Lowered};
use crate::plan::{Body, Media, Shape};
use crate::store::At;
use crate::text::cleaned;
use convert::Converter;
use detail::Detail;
use haft_core::Schema;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Which way the values go that a schema is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Input,
    Output,
}

/// Holds a schema that was made for an operation, and what was lost on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationSchema {
    schema: Schema,
    shortened: bool,
    notes: Vec<Problem>,
    /// What properties are really called whose names not every provider takes.
    pub(crate) renamed: HashMap<String, String>,
}

impl OperationSchema {
    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Takes the schema out.
    pub fn into_schema(self) -> Schema {
        self.schema
    }

    /// Takes away every `pattern`, for a document whose patterns cannot be compiled.
    ///
    /// Documents have patterns of many dialects. Whether one can be used is known once the schema is compiled, which costs far
    /// more than making it, so it is left to who compiles it.
    #[must_use]
    pub fn without_patterns(self) -> Self {
        let mut value = self.schema.as_value().clone();
        remove_patterns(&mut value);
        let schema = Schema::new(value).unwrap_or(self.schema);
        Self { schema, ..self }
    }

    /// Tells whether descriptions were cut or parts left open because the whole would have been too large.
    pub fn is_shortened(&self) -> bool {
        self.shortened
    }

    /// What could not be taken as it is written; where a schema says nothing usable, everything fits.
    pub fn notes(&self) -> &[Problem] {
        &self.notes
    }
}

/// Takes away what only a regular expression can say, wherever a schema stands.
fn remove_patterns(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.remove("pattern");
            members.remove("patternProperties");
            for (name, member) in members {
                match (name.as_str(), member) {
                    ("properties" | "$defs" | "dependentSchemas", Value::Object(named)) => {
                        named.values_mut().for_each(remove_patterns);
                    }
                    ("default" | "enum" | "const" | "examples", _) => {}
                    (_, member) => remove_patterns(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(remove_patterns),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Makes the schema of the arguments of an operation.
pub(crate) fn input(document: &Inner, lowered: &Lowered<'_>) -> OperationSchema {
    shortest(document, Direction::Input, |converter| {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (parameter, described) in lowered.plan.parameters.iter().zip(&lowered.parameters) {
            let mut schema = converter.described(described);
            if schema.as_object().is_some_and(Map::is_empty) {
                schema = json!({ "type": "string" });
            }
            describe(&mut schema, described, converter.detail);
            if parameter.required && parameter.media.is_none() {
                require_something(document, described, &mut schema);
            }
            properties.insert(parameter.key.clone(), schema);
            if parameter.required {
                required.push(Value::from(parameter.key.as_str()));
            }
        }
        if let (Some(body), Some(described)) = (&lowered.plan.body, &lowered.body) {
            add_body(converter, body, described, &mut properties, &mut required);
        }
        let mut root = Map::new();
        root.insert("type".to_owned(), "object".into());
        root.insert("properties".to_owned(), properties.into());
        if !required.is_empty() {
            root.insert("required".to_owned(), required.into());
        }
        root.insert("additionalProperties".to_owned(), false.into());
        root
    })
}

/// Makes the schema of an operation without arguments.
pub(crate) fn input_of_nothing() -> OperationSchema {
    OperationSchema { schema: Schema::empty(), shortened: false, notes: Vec::new(), renamed: HashMap::new() }
}

/// Makes the schema of a good reply, if it is an object.
pub(crate) fn output(document: &Inner, lowered: &Lowered<'_>) -> Option<OperationSchema> {
    let source = lowered.reply.as_ref()?;
    let at = document.store.follow(At { file: source.file, value: &source.value }).ok()?;
    let kind = at.value.get("type");
    let is_object = kind.is_some_and(|kind| kind == "object")
        || kind.is_none() && at.value.get("properties").is_some_and(Value::is_object);
    if !is_object {
        return None;
    }
    Some(shortest(document, Direction::Output, |converter| {
        let schema = converter.convert(at.file, at.value, converter.detail.depth);
        let Value::Object(mut members) = schema else { return Map::new() };
        members.insert("type".to_owned(), "object".into());
        members
    }))
}

/// Makes a schema with as much detail as there is room for.
fn shortest(
    document: &Inner,
    direction: Direction,
    mut make: impl FnMut(&mut Converter<'_>) -> Map<String, Value>,
) -> OperationSchema {
    let mut levels = detail::LEVELS.iter().peekable();
    loop {
        let detail = *levels.next().unwrap_or(&detail::LEAST);
        let mut converter = Converter::new(document, direction, detail);
        let mut root = make(&mut converter);
        converter.add_definitions(&mut root);
        if converter.is_over() && levels.peek().is_some() {
            continue;
        }
        cycles::break_up(&mut root);
        let shortened = converter.has_cut || detail != detail::LEVELS[0];
        let (notes, renamed) = converter.done();
        let schema = Schema::new(Value::Object(root)).unwrap_or_else(|_| Schema::empty());
        return OperationSchema { schema, shortened, notes, renamed };
    }
}

fn add_body(
    converter: &mut Converter<'_>,
    body: &Body,
    described: &Described<'_>,
    properties: &mut Map<String, Value>,
    required: &mut Vec<Value>,
) {
    converter.has_files = matches!(body.media, Media::Multipart | Media::Bytes);
    match &body.shape {
        Shape::Whole(key) => {
            let mut schema = match body.media {
                Media::Json | Media::Form | Media::Multipart => converter.described(described),
                Media::Text => {
                    json!({ "type": "string", "description": format!("A text of {}.", body.content_type) })
                }
                Media::Bytes => file::schema(),
            };
            describe(&mut schema, described, converter.detail);
            properties.insert(key.clone(), schema);
            if body.required {
                required.push(Value::from(key.as_str()));
            }
        }
        Shape::Flat(flat) => {
            let Some(source) = &described.schema else { return };
            let followed = converter.document.store.follow(At { file: source.file, value: &source.value });
            let Ok(at) = followed else { return };
            for property in flat {
                let schema = at.value.get("properties").and_then(|properties| properties.get(&property.name));
                let schema = match schema {
                    Some(schema) => converter.convert(at.file, schema, converter.detail.depth),
                    None => json!({}),
                };
                properties.insert(property.key.clone(), schema);
                if property.required {
                    required.push(Value::from(property.key.as_str()));
                }
            }
        }
    }
}

/// Requires an item of a list and a member of an object that must be sent: of an empty one, nothing would be.
fn require_something(document: &Inner, described: &Described<'_>, schema: &mut Value) {
    let (Some(source), Value::Object(members)) = (&described.schema, schema) else { return };
    let Ok(at) = document.store.follow(At { file: source.file, value: &source.value }) else { return };
    for (kind, keyword) in [("array", "minItems"), ("object", "minProperties")] {
        let is_of_kind = match at.value.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(|one| one == kind),
            one => one.is_some_and(|one| one == kind),
        };
        if is_of_kind && at.value.get(keyword).and_then(Value::as_u64).is_none_or(|least| least == 0) {
            members.insert(keyword.to_owned(), 1.into());
        }
    }
}

/// Adds what a document says of an argument to the schema of its values.
fn describe(schema: &mut Value, described: &Described<'_>, detail: Detail) {
    let Value::Object(members) = schema else { return };
    if let Some(description) = &described.description
        && detail.description > 0
        && !description.trim().is_empty()
    {
        members.insert("description".to_owned(), cleaned(description, detail.description).into());
    }
    if described.deprecated {
        members.insert("deprecated".to_owned(), true.into());
    }
}

#[cfg(test)]
mod tests;
