//! Makes requests of arguments. Nothing here reads the document, a clock or anything else.

mod body;
mod file;
mod form;
mod multipart;
mod path;
mod percent;
mod query;
mod scalar;

use crate::plan::{Body, Media, Parameter, Place, Plan, Shape, Style};
use crate::{EncodeError, RequestParts, names};
use http::header::{ACCEPT, CONTENT_TYPE, COOKIE, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use query::Query;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Makes the request of an operation for arguments.
pub(crate) fn encode(plan: &Plan, arguments: &Map<String, Value>) -> Result<RequestParts, EncodeError> {
    refuse_unknown(plan, arguments)?;
    let server = plan.server.as_ref().map_err(|why| EncodeError::Server(why.clone()))?;
    let path = path::path(plan, arguments)?;
    let mut query = Query::new(path::query(plan, arguments)?);
    let mut headers = HeaderMap::new();
    let mut cookies = Query::new(String::new());
    for parameter in &plan.parameters {
        if parameter.place == Place::Path {
            continue;
        }
        let Some(value) = given(parameter, arguments)? else { continue };
        match parameter.place {
            Place::Path => {}
            Place::Query => query.add(parameter, value, plan)?,
            Place::QueryString => query.add_whole(parameter, value, plan)?,
            Place::Cookie => cookies.add(parameter, value, plan)?,
            Place::Header => {
                if let Some((name, value)) = header(parameter, value)? {
                    headers.insert(name, value);
                }
            }
        }
    }
    if let Some(cookies) = cookies.joined("; ") {
        headers.insert(COOKIE, header_value(&cookies, "")?);
    }
    if let Ok(accept) = HeaderValue::from_str(&plan.accept) {
        headers.insert(ACCEPT, accept);
    }
    let sent = match &plan.body {
        Some(body) => body::body(body, content(body, arguments)?, plan)?,
        None => None,
    };
    let (content_type, body) = sent.unzip();
    if let Some(content_type) = content_type {
        headers.insert(CONTENT_TYPE, content_type);
    }
    let mut url = format!("{server}{path}");
    if let Some(query) = query.joined("&") {
        url.push('?');
        url.push_str(&query);
    }
    Ok(RequestParts { method: Method::clone(&plan.method), url, headers, body: body.unwrap_or_default() })
}

/// Finds the value of a parameter. A `null` says that there is none.
fn given<'a>(
    parameter: &Parameter,
    arguments: &'a Map<String, Value>,
) -> Result<Option<&'a Value>, EncodeError> {
    match arguments.get(&parameter.key) {
        None | Some(Value::Null) if parameter.required => {
            Err(EncodeError::argument(pointer(&parameter.key), "it is required"))
        }
        None | Some(Value::Null) => Ok(None),
        Some(value) => Ok(Some(value)),
    }
}

/// Collects what the body is made of, if there is to be one.
fn content<'a>(
    body: &Body,
    arguments: &'a Map<String, Value>,
) -> Result<Option<Cow<'a, Value>>, EncodeError> {
    match &body.shape {
        Shape::Whole(key) => match arguments.get(key) {
            // Only JSON has a word for nothing, and only where there must be a body does it say anything.
            Some(Value::Null) if !body.required || body.media != Media::Json => Ok(None),
            Some(value) => Ok(Some(Cow::Borrowed(value))),
            None if body.required => Err(EncodeError::argument(pointer(key), "it is required")),
            None => Ok(None),
        },
        Shape::Flat(properties) => {
            let mut content = Map::new();
            for property in properties {
                match arguments.get(&property.key) {
                    Some(value) => {
                        content.insert(property.name.clone(), value.clone());
                    }
                    None if property.required => {
                        return Err(EncodeError::argument(pointer(&property.key), "it is required"));
                    }
                    None => {}
                }
            }
            let is_wanted = body.required || !content.is_empty();
            Ok(is_wanted.then_some(Cow::Owned(Value::Object(content))))
        }
    }
}

/// Writes a header; `None` where its value is empty.
fn header(parameter: &Parameter, value: &Value) -> Result<Option<(HeaderName, HeaderValue)>, EncodeError> {
    let text = match parameter.media {
        Some(media) => scalar::written(media, value),
        None => match (value, parameter.style) {
            (Value::Array(items), Style::SpaceDelimited) => {
                scalar::list(items, " ", percent::Kept::Everything).into()
            }
            (Value::Array(items), Style::PipeDelimited) => {
                scalar::list(items, "|", percent::Kept::Everything).into()
            }
            (Value::Array(items), Style::TabDelimited) => {
                scalar::list(items, "\t", percent::Kept::Everything).into()
            }
            _ => scalar::simple(value, parameter.explode, percent::Kept::Everything),
        },
    };
    let name = HeaderName::from_bytes(parameter.name.as_bytes())
        .map_err(|_| EncodeError::argument(pointer(&parameter.key), "no header can be called so"))?;
    if text.is_empty() && !parameter.required {
        return Ok(None);
    }
    Ok(Some((name, header_value(&text, &parameter.key)?)))
}

fn header_value(text: &str, key: &str) -> Result<HeaderValue, EncodeError> {
    HeaderValue::from_bytes(text.as_bytes()).map_err(|_| {
        EncodeError::argument(pointer(key), "it has a control character, such as a line end; leave it out")
    })
}

fn refuse_unknown(plan: &Plan, arguments: &Map<String, Value>) -> Result<(), EncodeError> {
    let is_known = |key: &str| {
        plan.parameters.iter().any(|parameter| parameter.key == key)
            || plan.body.as_ref().is_some_and(|body| match &body.shape {
                Shape::Whole(known) => known == key,
                Shape::Flat(properties) => properties.iter().any(|property| property.key == key),
            })
    };
    match arguments.keys().find(|key| !is_known(key)) {
        None => Ok(()),
        Some(key) => Err(EncodeError::argument(pointer(key), "there is no such argument")),
    }
}

/// Points at the argument that has a field of a body.
fn field_pointer(body: &Body, name: &str) -> String {
    match &body.shape {
        Shape::Whole(key) => format!("{}{}", pointer(key), pointer(name)),
        Shape::Flat(properties) => {
            let property = properties.iter().find(|property| property.name == name);
            pointer(property.map_or(name, |property| property.key.as_str()))
        }
    }
}

/// Points at an argument.
fn pointer(key: &str) -> String {
    let key = if key.len() > 100 && !names::is_key(key) { &key[..key.floor_char_boundary(100)] } else { key };
    if key.is_empty() { String::new() } else { format!("/{}", crate::store::step(key)) }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
