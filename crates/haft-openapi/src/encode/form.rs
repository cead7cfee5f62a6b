use super::percent::{Kept, encoded};
use super::query::Query;
use super::scalar;
use crate::FormStyle;
use crate::plan::{Body, Field, Media, Style};
use serde_json::{Map, Value};

/// Writes a form as `application/x-www-form-urlencoded`.
pub(super) fn form(body: &Body, members: &Map<String, Value>, forms: FormStyle) -> String {
    let mut query = Query::new(String::new());
    for (name, value) in members {
        let field = body.fields.iter().find(|field| field.name == *name);
        add(&mut query, name, value, field, forms);
    }
    query.joined("&").unwrap_or_default()
}

fn add(query: &mut Query, name: &str, value: &Value, field: Option<&Field>, forms: FormStyle) {
    let kept = if field.is_some_and(|field| field.allow_reserved) { Kept::Reserved } else { Kept::Nothing };
    let encoded_name = encoded(name, Kept::Nothing);
    let is_json = field
        .and_then(|field| field.content_type.as_deref())
        .is_some_and(|content_type| Media::of(content_type) == Some(Media::Json));
    if value.is_null() {
        return;
    }
    if is_json {
        return query.push(format!("{encoded_name}={}", encoded(&value.to_string(), kept)));
    }
    let style = field.and_then(|field| field.style);
    let explode = field.and_then(|field| field.explode);
    let between = match style {
        Some(Style::SpaceDelimited) => "%20",
        Some(Style::PipeDelimited) => "%7C",
        _ => ",",
    };
    match (value, style) {
        (Value::Array(_) | Value::Object(_), Some(Style::DeepObject)) => {
            query.add_nested(&encoded_name, value, FormStyle::Indexed, kept);
        }
        (Value::Array(items), Some(_)) if explode == Some(false) => {
            query.push(format!("{encoded_name}={}", scalar::list(items, between, kept)));
        }
        (Value::Object(members), Some(_)) if explode == Some(false) => {
            query.push(format!("{encoded_name}={}", scalar::pairs(members, between, between, kept)));
        }
        (value, _) => query.add_nested(&encoded_name, value, forms, kept),
    }
}
