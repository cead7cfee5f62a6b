use super::percent::{Kept, encoded};
use super::query::Query;
use super::{field_pointer, scalar};
use crate::plan::{Body, Field, Media, Shape, Style};
use crate::secrets::same_name;
use crate::{EncodeError, FormStyle};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Writes a form as `application/x-www-form-urlencoded`.
pub(super) fn form(
    body: &Body,
    members: &Map<String, Value>,
    forms: FormStyle,
) -> Result<String, EncodeError> {
    let mut query = Query::new(String::new());
    for (name, value) in members {
        let field = body.fields.iter().find(|field| field.name == *name);
        query.blame(field_pointer(body, name));
        match (value, field.filter(|field| field.is_spread())) {
            (Value::Object(inner), Some(field)) => {
                let flat = match &body.shape {
                    Shape::Whole(_) => &[][..],
                    Shape::Flat(properties) => properties.as_slice(),
                };
                let names = members.keys().chain(flat.iter().map(|property| &property.name));
                let others = names.filter(|other| *other != name).map(|other| same_name(other));
                let others: HashSet<String> = others.collect();
                query.add_members(inner, kept(field), |key| others.contains(&same_name(key)))?;
            }
            _ => add(&mut query, name, value, field, forms)?,
        }
    }
    Ok(query.joined("&").unwrap_or_default())
}

fn add(
    query: &mut Query,
    name: &str,
    value: &Value,
    field: Option<&Field>,
    forms: FormStyle,
) -> Result<(), EncodeError> {
    let kept = field.map_or(Kept::Nothing, kept);
    let encoded_name = encoded(name, Kept::Nothing);
    let is_json = field
        .and_then(|field| field.content_type.as_deref())
        .is_some_and(|content_type| Media::of(content_type) == Some(Media::Json));
    if value.is_null() {
        return Ok(());
    }
    // Where anything is said of how the field is written, its media type says nothing.
    let said = field.filter(|field| field.is_styled());
    if is_json && said.is_none() {
        return query.push(&encoded_name, &encoded(&value.to_string(), kept));
    }
    let Some(said) = said else { return query.add_nested(&encoded_name, value, forms, kept) };
    let style = said.style.unwrap_or(Style::Form);
    let explode = said.explode.unwrap_or(style == Style::Form);
    let between = style.between();
    match value {
        Value::Array(_) | Value::Object(_) if style == Style::DeepObject => {
            query.add_nested(&encoded_name, value, FormStyle::Indexed, kept)
        }
        Value::Array(items) if !explode => query.push(&encoded_name, &scalar::list(items, between, kept)),
        Value::Object(members) if !explode => {
            query.push(&encoded_name, &scalar::pairs(members, between, between, kept))
        }
        value => query.add_nested(&encoded_name, value, FormStyle::Spec, kept),
    }
}

fn kept(field: &Field) -> Kept {
    if field.allow_reserved { Kept::Reserved } else { Kept::Nothing }
}
