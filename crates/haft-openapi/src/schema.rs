//! Schemas of arguments and replies, in JSON Schema 2020-12.

mod convert;
mod cycles;
mod detail;
mod file;
mod hidden;
mod keyword;
mod loosen;
mod values;

use crate::OpenApiProblem;
use crate::document::Inner;
use crate::lower::{Described, Lowered};
use crate::names::nested_key;
use crate::plan::{Body, Media, Place, Shape};
use crate::store::At;
use crate::text::cleaned;
use convert::Converter;
use detail::Detail;
use haft_core::Schema;
pub(crate) use hidden::is_hidden;
pub(crate) use keyword::Keyword;
use loosen::{each_inner, loosen};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Which way the values go that a schema is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Input,
    Output,
}

/// Holds a schema that was made for an operation, and what was lost on the way.
///
/// ```
/// use haft_openapi::{Document, LoadOptions};
/// use serde_json::json;
///
/// # let about = "Which colour the pet has, as its keeper would say it. ".repeat(30);
/// let value = json!({ "openapi": "3.1.0", "paths": { "/pets": { "get": {
///     "operationId": "listPets",
///     "parameters": [{ "name": "colour", "in": "query", "schema": { "type": "string", "description": about } }],
/// } } } });
/// let document = Document::from_value(value, &LoadOptions::default().most_schema_bytes(300))?;
/// let schema = document.operation("listPets").ok_or("no such operation")?.input_schema();
/// assert!(schema.is_shortened());
/// assert_eq!(schema.schema().as_value()["properties"]["colour"]["type"], "string");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OperationSchema {
    schema: Schema,
    shortened: bool,
    notes: Vec<OpenApiProblem>,
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
        let Value::Object(mut value) = self.schema.as_value().clone() else { return self };
        if remove_patterns(&mut value) {
            loosen(&mut value);
        }
        let schema = Schema::new(value.into()).unwrap_or(self.schema);
        Self { schema, ..self }
    }

    /// Tells whether descriptions were cut or parts left open because the whole would have been too large.
    pub fn is_shortened(&self) -> bool {
        self.shortened
    }

    /// What could not be taken as it is written; where a schema says nothing usable, everything fits.
    pub fn notes(&self) -> &[OpenApiProblem] {
        &self.notes
    }
}

/// Takes away what only a regular expression can say, wherever a schema stands; tells whether there was any.
fn remove_patterns(schema: &mut Map<String, Value>) -> bool {
    let of_texts = schema.remove("pattern").is_some();
    let of_names = schema.remove("patternProperties").is_some();
    if of_names {
        // What a pattern allowed would be unknown otherwise.
        schema.remove("additionalProperties");
    }
    let mut found = of_texts || of_names;
    each_inner(schema, &mut |inner| found |= remove_patterns(inner));
    found
}

/// Makes the schema of the arguments of an operation.
pub(crate) fn input(document: &Inner, lowered: &Lowered<'_>) -> OperationSchema {
    shortest(document, Direction::Input, |converter| {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (parameter, described) in lowered.plan.parameters.iter().zip(&lowered.parameters) {
            let mut schema = converter.described(described);
            if schema.as_object().is_some_and(Map::is_empty) {
                // What is said of no value is a text where it is written as one.
                match parameter.media {
                    None if parameter.place == Place::QueryString => schema = json!({ "type": "object" }),
                    None | Some(Media::Text | Media::Bytes) => schema = json!({ "type": "string" }),
                    Some(Media::Form | Media::Multipart) => schema = json!({ "type": "object" }),
                    Some(Media::Json) => {}
                }
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
        if converter.has_left_open {
            loosen(&mut root);
        }
        let is_broken_up = cycles::break_up(&mut root);
        let shortened = converter.has_cut || is_broken_up || detail != detail::LEVELS[0];
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
    let source = described.schema.as_ref();
    let followed = source.and_then(|source| {
        converter.document.store.follow(At { file: source.file, value: &source.value }).ok()
    });
    let property = |name: &str| {
        let at = followed?;
        Some(At { file: at.file, value: at.value.get("properties")?.get(name)? })
    };
    let is_file = |name: &str| {
        body.media == Media::Multipart && body.fields.iter().any(|field| field.is_file && field.name == name)
    };
    match &body.shape {
        Shape::Whole(key) => {
            let mut schema = match (body.media, followed) {
                (Media::Multipart, Some(at)) if body.fields.iter().any(|field| field.is_file) => {
                    converter.convert(at.file, at.value, converter.detail.depth)
                }
                (Media::Json | Media::Form | Media::Multipart, _) => converter.described(described),
                (Media::Text, _) => {
                    json!({ "type": "string", "description": format!("A text of {}.", body.content_type) })
                }
                (Media::Bytes, _) => file::schema(),
            };
            if let Some(Value::Object(inner)) = schema.get_mut("properties") {
                for field in body.fields.iter().filter(|field| is_file(&field.name)) {
                    if let (Some(place), Some(at)) =
                        (inner.get_mut(&*nested_key(&field.name)), property(&field.name))
                    {
                        *place = converter.file(at);
                    }
                }
            }
            describe(&mut schema, described, converter.detail);
            properties.insert(key.clone(), schema);
            if body.required {
                required.push(Value::from(key.as_str()));
            }
        }
        Shape::Flat(flat) => {
            for one in flat {
                let schema = match property(&one.name) {
                    Some(at) if is_file(&one.name) => converter.file(at),
                    Some(at) => converter.convert(at.file, at.value, converter.detail.depth),
                    None => json!({}),
                };
                properties.insert(one.key.clone(), schema);
                if one.required {
                    required.push(Value::from(one.key.as_str()));
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
