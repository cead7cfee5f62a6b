//! Swagger 2.0, as far as it says things in another way than OpenAPI 3.

use super::body::{MOST_MEDIA_TYPES, definite, fields, flatten, rank};
use super::place::Pointed;
use super::{Described, Notes, Source};
use crate::OpenApiProblem;
use crate::document::Inner;
use crate::plan::{Body, Media, Place, Shape, Style};
use crate::store::At;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::HashSet;

/// What a parameter says of its value by itself.
const OF_SCHEMAS: [&str; 19] = [
    "type",
    "format",
    "items",
    "default",
    "enum",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "x-nullable",
    "x-example",
    "example",
];

/// Reads how a parameter is written.
pub(super) fn style(parameter: &Pointed<'_>, place: Place) -> (Style, bool) {
    let usual = Style::usual(place);
    match (parameter.text("collectionFormat"), place) {
        (Some("multi"), Place::Query) => (Style::Form, true),
        (Some("ssv"), _) => (Style::SpaceDelimited, false),
        (Some("tsv"), _) => (Style::TabDelimited, false),
        (Some("pipes"), _) => (Style::PipeDelimited, false),
        _ => (usual, false),
    }
}

/// Makes a schema of what a parameter says of its value.
pub(super) fn inline_schema<'d>(parameter: &Pointed<'d>) -> Source<'d> {
    // Some say it as OpenAPI 3 does.
    if let Some(schema) = parameter.member("schema") {
        return Source::at(schema.at);
    }
    let members = parameter.value().as_object().into_iter().flatten();
    let said = members.filter(|(name, _)| OF_SCHEMAS.contains(&name.as_str()));
    let schema: Map<String, Value> = said.map(|(name, value)| (name.clone(), value.clone())).collect();
    Source::owned(Value::Object(schema), parameter.at.file)
}

/// Reads the body, which is a parameter, or several that are fields of a form.
pub(super) fn body<'d>(
    document: &'d Inner,
    item: &Pointed<'d>,
    operation: &Pointed<'d>,
    notes: &mut Notes,
) -> Result<Option<(Body, Described<'d>)>, OpenApiProblem> {
    let mut whole: Option<Pointed<'d>> = None;
    let mut form: Vec<(&'d str, Pointed<'d>)> = Vec::new();
    let mut known: HashSet<&'d str> = HashSet::new();
    // Those of the operation come first, and the first one counts.
    for owner in [operation, item] {
        for stated in owner.member("parameters").iter().flat_map(Pointed::items) {
            notes.step();
            let parameter = stated.followed()?;
            match (parameter.text("in"), parameter.text("name")) {
                (Some("body"), _) if whole.is_none() => whole = Some(parameter),
                (Some("formData"), Some(name)) if known.insert(name) => {
                    form.push((name, parameter));
                }
                _ => {}
            }
        }
    }
    match whole {
        Some(parameter) => {
            if !form.is_empty() {
                notes.push(|| {
                    parameter.note("there is a body besides fields of a form; the fields are left out")
                });
            }
            Ok(Some(of_parameter(document, operation, &parameter)))
        }
        None if form.is_empty() => Ok(None),
        None => Ok(Some(of_form(document, operation, &form))),
    }
}

fn of_parameter<'d>(
    document: &'d Inner,
    operation: &Pointed<'d>,
    parameter: &Pointed<'d>,
) -> (Body, Described<'d>) {
    let mut best = (Media::Json, "application/json");
    let mut is_first = true;
    for content_type in consumed(document, operation) {
        let media = Media::of(content_type).unwrap_or(Media::Json);
        if is_first || rank(media) < rank(best.0) {
            best = (media, content_type);
            is_first = false;
        }
    }
    let schema = parameter.member("schema");
    // An object is no form here: fields of forms are parameters of their own.
    let media = match best.0 {
        Media::Form | Media::Multipart => Media::Json,
        media => media,
    };
    let content_type = if media == best.0 { best.1 } else { "" };
    let required = parameter.is("required");
    let stated = schema.as_ref().filter(|_| media == Media::Json);
    let flat = stated.and_then(|schema| flatten(document, schema.at, required));
    let body = Body {
        media,
        content_type: definite(content_type, media),
        required,
        shape: flat.map_or_else(|| Shape::Whole(String::new()), Shape::Flat),
        fields: Vec::new(),
    };
    let described = Described {
        schema: schema.map(|schema| Source::at(schema.at)),
        description: parameter.text("description").map(Cow::Borrowed),
        deprecated: false,
    };
    (body, described)
}

fn of_form<'d>(
    document: &'d Inner,
    operation: &Pointed<'d>,
    form: &[(&'d str, Pointed<'d>)],
) -> (Body, Described<'d>) {
    let mut properties = Map::new();
    let mut encoding = Map::new();
    let mut required = Vec::new();
    let mut file = 0;
    for (name, parameter) in form {
        let source = inline_schema(parameter);
        file = source.file;
        let mut schema = source.value.into_owned();
        if let (Some(members), Some(description)) = (schema.as_object_mut(), parameter.text("description")) {
            members.insert("description".to_owned(), description.into());
        }
        properties.insert((*name).to_owned(), schema);
        if parameter.is("required") {
            required.push(Value::from(*name));
        }
        let said = match parameter.text("collectionFormat") {
            Some("multi") => json!({ "style": "form", "explode": true }),
            Some("ssv") => json!({ "style": "spaceDelimited", "explode": false }),
            Some("pipes") => json!({ "style": "pipeDelimited", "explode": false }),
            _ => json!({ "style": "form", "explode": false }),
        };
        encoding.insert((*name).to_owned(), said);
    }
    let has_file = form.iter().any(|(_, parameter)| parameter.text("type") == Some("file"));
    let is_multipart = has_file || {
        let mut kinds = consumed(document, operation).filter_map(Media::of);
        let mut all = kinds.clone();
        kinds.any(|media| media == Media::Multipart) && !all.any(|media| media == Media::Form)
    };
    let media = if is_multipart { Media::Multipart } else { Media::Form };
    let is_required = !required.is_empty();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let at = At { file, value: &schema };
    let fields = fields(document, at, Some(&Value::Object(encoding)));
    let flat = flatten(document, at, is_required);
    let body = Body {
        media,
        content_type: definite("", media),
        required: is_required,
        shape: flat.map_or_else(|| Shape::Whole(String::new()), Shape::Flat),
        fields,
    };
    (body, Described { schema: Some(Source::owned(schema, file)), ..Described::default() })
}

/// Lists the media types that an operation takes.
fn consumed<'d>(document: &'d Inner, operation: &Pointed<'d>) -> impl Iterator<Item = &'d str> + Clone {
    let own = operation.get("consumes").and_then(Value::as_array);
    let list = own.or_else(|| Pointed::root(document).get("consumes").and_then(Value::as_array));
    let texts = list.into_iter().flatten().take(MOST_MEDIA_TYPES).filter_map(Value::as_str);
    texts.filter(|text| http::HeaderValue::from_str(text).is_ok())
}

/// Lists the media types that an operation answers with.
pub(super) fn produced<'d>(document: &'d Inner, operation: &Pointed<'d>) -> impl Iterator<Item = &'d str> {
    let own = operation.get("produces").and_then(Value::as_array);
    let list = own.or_else(|| Pointed::root(document).get("produces").and_then(Value::as_array));
    list.into_iter().flatten().take(MOST_MEDIA_TYPES).filter_map(Value::as_str)
}
