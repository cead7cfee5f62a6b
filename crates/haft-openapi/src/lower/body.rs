use super::place::Pointed;
use super::{Described, Notes, Source};
use crate::OpenApiProblem;
use crate::document::{Inner, Version};
use crate::plan::{Body, Field, FlatProperty, Media, Shape, Style};
use crate::schema::{Direction, Keyword, is_hidden};
use crate::store::{At, reference};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The most media types that are looked at in one place.
pub(super) const MOST_MEDIA_TYPES: usize = 100;

/// Reads the body of an operation of OpenAPI 3.
pub(super) fn body<'d>(
    document: &'d Inner,
    operation: &Pointed<'d>,
    notes: &mut Notes,
) -> Result<Option<(Body, Described<'d>)>, OpenApiProblem> {
    let Some(stated) = operation.member("requestBody") else { return Ok(None) };
    let request = stated.followed()?;
    let Some(content) = request.member("content") else {
        notes.push(|| request.note("the body has no content; none is sent"));
        return Ok(None);
    };
    let mut best: Option<(Media, &'d str, Pointed<'d>)> = None;
    for (content_type, stated) in content.members().take(MOST_MEDIA_TYPES) {
        notes.step();
        let Ok(media_type) = stated.followed() else {
            notes.push(|| stated.note("the reference leads nowhere; this form of the body is passed over"));
            continue;
        };
        if http::HeaderValue::from_str(content_type).is_err() {
            notes.push(|| stated.note("this is not a media type; this form of the body is passed over"));
            continue;
        }
        let media = Media::of(content_type).unwrap_or_else(|| guess(document, &media_type));
        let is_better = best
            .as_ref()
            .is_none_or(|(known, name, _)| (rank(media), content_type.len()) < (rank(*known), name.len()));
        if is_better {
            best = Some((media, content_type, media_type));
        }
    }
    let Some((media, content_type, media_type)) = best else {
        notes.push(|| content.note("the body has no form that can be sent; none is sent"));
        return Ok(None);
    };
    let schema = media_type.member("schema").or_else(|| media_type.member("itemSchema"));
    let required = request.is("required");
    let resolved = schema.as_ref().and_then(|schema| document.store.follow(schema.at).ok());
    let fields = match media {
        Media::Form | Media::Multipart => {
            resolved.map(|at| fields(document, at, media_type.get("encoding"))).unwrap_or_default()
        }
        Media::Json | Media::Text | Media::Bytes => Vec::new(),
    };
    let flat = match media {
        Media::Json | Media::Form | Media::Multipart => {
            schema.as_ref().and_then(|schema| flatten(document, schema.at, required))
        }
        Media::Text | Media::Bytes => None,
    };
    let body = Body {
        media,
        content_type: definite(content_type, media),
        required,
        shape: flat.map_or_else(|| Shape::Whole(String::new()), Shape::Flat),
        fields,
    };
    let described = Described {
        schema: schema.map(|schema| Source::at(schema.at)),
        description: request.text("description").map(Cow::Borrowed),
        deprecated: false,
    };
    Ok(Some((body, described)))
}

/// Says which of several forms of a body is taken: the lowest.
pub(super) fn rank(media: Media) -> u8 {
    match media {
        Media::Json => 0,
        Media::Form => 1,
        Media::Multipart => 2,
        Media::Text => 3,
        Media::Bytes => 4,
    }
}

/// Gives a media type that can be sent for a range of them.
pub(super) fn definite(content_type: &str, media: Media) -> String {
    if !content_type.contains('*') && !content_type.is_empty() {
        return content_type.to_owned();
    }
    match media {
        Media::Json => "application/json",
        Media::Form => "application/x-www-form-urlencoded",
        Media::Multipart => "multipart/form-data",
        Media::Text => "text/plain",
        Media::Bytes => "application/octet-stream",
    }
    .to_owned()
}

/// Takes an unknown media type for JSON if its schema speaks of objects or lists, and for bytes otherwise.
fn guess(document: &Inner, media_type: &Pointed<'_>) -> Media {
    let schema = media_type.member("schema").and_then(|schema| document.store.follow(schema.at).ok());
    let kind = schema.and_then(|at| at.value.get("type")).and_then(Value::as_str);
    if matches!(kind, Some("object" | "array")) { Media::Json } else { Media::Bytes }
}

/// Lists the properties of a body that is nothing but an object with properties, so that each can be an argument.
///
/// Where the body may be left out although an object of it must have properties, nothing could say so; then it stays one
/// argument.
pub(super) fn flatten(document: &Inner, stated: At<'_>, required: bool) -> Option<Vec<FlatProperty>> {
    /// What makes more of a schema than an object with properties.
    const MORE: [&str; 15] = [
        "oneOf",
        "anyOf",
        "allOf",
        "not",
        "if",
        "enum",
        "const",
        "patternProperties",
        "propertyNames",
        "unevaluatedProperties",
        "dependentSchemas",
        "dependentRequired",
        "dependencies",
        "minProperties",
        "maxProperties",
    ];
    /// The most arguments that a body is spread over.
    const MOST: usize = 200;
    // Since 3.1 what stands beside a reference counts, too.
    let is_more =
        |name: &str| Keyword::of(name) != Keyword::Other && name != "description" || name == "required";
    let at = document.store.follow(stated).ok()?;
    let mut hop = stated;
    while document.version == Version::V31
        && let Some(target) = reference(hop.value)
    {
        if hop.value.as_object().is_some_and(|members| members.keys().any(|name| is_more(name))) {
            return None;
        }
        hop = document.store.resolve(hop.file, target).ok()?.at;
    }
    let schema = at.value.as_object()?;
    if schema.keys().any(|keyword| MORE.contains(&keyword.as_str())) {
        return None;
    }
    if schema.get("type").is_some_and(|kind| kind != "object") {
        return None;
    }
    if schema.get("nullable") == Some(&Value::Bool(true)) {
        return None;
    }
    if !matches!(schema.get("additionalProperties"), None | Some(Value::Bool(false))) {
        return None;
    }
    let properties = schema.get("properties")?.as_object()?;
    let required_names = schema.get("required").and_then(Value::as_array).map_or(0, Vec::len);
    if properties.len() > 2 * MOST || required_names > 2 * MOST {
        return None;
    }
    let must = |name: &str| is_listed(schema, name);
    let is_hidden = |value| is_hidden(&document.store, Direction::Input, At { file: at.file, value });
    let properties: Vec<_> = properties
        .iter()
        .filter(|(_, property)| !is_hidden(property))
        .map(|(name, _)| FlatProperty {
            key: String::new(),
            name: name.clone(),
            required: required && must(name),
        })
        .collect();
    let could_be_said = required || !properties.iter().any(|property| must(&property.name));
    ((1..=MOST).contains(&properties.len()) && could_be_said).then_some(properties)
}

fn is_listed(schema: &Map<String, Value>, name: &str) -> bool {
    schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|listed| listed == name))
}

/// The most fields of a form that are looked at.
const MOST_FIELDS: usize = 1_000;

/// Reads what is said of the fields of a form.
pub(super) fn fields(document: &Inner, at: At<'_>, encoding: Option<&Value>) -> Vec<Field> {
    let properties = at.value.get("properties").and_then(Value::as_object);
    let mut fields = Vec::new();
    for (name, property) in properties.into_iter().flatten().take(MOST_FIELDS) {
        let said = encoding.and_then(|encoding| encoding.get(name));
        let text = |member: &str| said.and_then(|said| said.get(member)).and_then(Value::as_str);
        let content_type = text("contentType").and_then(|listed| listed.split(',').next()).map(str::trim);
        let field = Field {
            name: name.clone(),
            is_file: is_file(document, At { file: at.file, value: property }, content_type),
            content_type: content_type
                .filter(|content_type| http::HeaderValue::from_str(content_type).is_ok())
                .map(str::to_owned),
            style: text("style").and_then(Style::parse),
            explode: said.and_then(|said| said.get("explode")).and_then(Value::as_bool),
            allow_reserved: said.and_then(|said| said.get("allowReserved")) == Some(&Value::Bool(true)),
        };
        let is_usual = !field.is_file
            && field.content_type.is_none()
            && field.style.is_none()
            && field.explode.is_none()
            && !field.allow_reserved;
        if !is_usual {
            fields.push(field);
        }
    }
    fields
}

/// Tells whether a property of a form is a file, or a list of files.
fn is_file(document: &Inner, property: At<'_>, content_type: Option<&str>) -> bool {
    let Ok(at) = document.store.follow(property) else { return false };
    match at.value.get("items") {
        Some(items) => {
            let item = document.store.follow(At { file: at.file, value: items });
            item.is_ok_and(|item| says_file(item.value, content_type))
        }
        None => says_file(at.value, content_type),
    }
}

/// Tells whether a schema, or the media type of the part that it describes, is that of a file.
fn says_file(schema: &Value, content_type: Option<&str>) -> bool {
    let text = |name: &str| schema.get(name).and_then(Value::as_str);
    let is_bytes = |kind: &str| Media::of(kind) == Some(Media::Bytes);
    match (text("type"), text("format")) {
        (Some("file"), _) | (_, Some("binary")) => true,
        // What is written as text already stays as it is.
        (_, Some("byte" | "base64" | "base64url")) => false,
        (None | Some("string"), _) if text("contentEncoding").is_none() => {
            text("contentMediaType").or(content_type).is_some_and(is_bytes)
        }
        _ => false,
    }
}
