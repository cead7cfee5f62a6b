//! Values as texts.

use super::percent::{Kept, encoded};
use crate::plan::Media;
use serde_json::{Map, Number, Value};
use std::borrow::Cow;

/// Writes a value as one text: a text as it is, what has parts as JSON.
pub(super) fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::Bool(true) => Cow::Borrowed("true"),
        Value::Bool(false) => Cow::Borrowed("false"),
        Value::Number(number) => Cow::Owned(digits(number)),
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(_) | Value::Object(_) => Cow::Owned(value.to_string()),
    }
}

/// Writes a whole number without a fraction, as most servers insist on.
fn digits(number: &Number) -> String {
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0);
    match float.filter(|float| float.abs() < 9_007_199_254_740_992.0) {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
        Some(float) => (float as i64).to_string(),
        None => number.to_string(),
    }
}

/// Writes a value as its media type says.
pub(super) fn written(media: Media, value: &Value) -> Cow<'_, str> {
    match media {
        Media::Json | Media::Form | Media::Multipart => Cow::Owned(value.to_string()),
        Media::Text | Media::Bytes => text(value),
    }
}

/// Writes a value in the style `simple`, each part of it encoded.
pub(super) fn simple(value: &Value, explode: bool, kept: Kept) -> Cow<'_, str> {
    match value {
        Value::Array(items) => Cow::Owned(list(items, ",", kept)),
        Value::Object(members) => {
            let equals = if explode { "=" } else { "," };
            Cow::Owned(pairs(members, equals, ",", kept))
        }
        value => match text(value) {
            Cow::Borrowed(text) => encoded(text, kept),
            Cow::Owned(text) => Cow::Owned(encoded(&text, kept).into_owned()),
        },
    }
}

/// Joins the items that there are.
pub(super) fn list(items: &[Value], between: &str, kept: Kept) -> String {
    let mut joined = String::new();
    for item in items.iter().filter(|item| !item.is_null()) {
        if !joined.is_empty() {
            joined.push_str(between);
        }
        joined.push_str(&encoded(&text(item), kept.in_item()));
    }
    joined
}

/// Joins the members that there are.
pub(super) fn pairs(members: &Map<String, Value>, equals: &str, between: &str, kept: Kept) -> String {
    let mut joined = String::new();
    for (name, member) in members.iter().filter(|(_, member)| !member.is_null()) {
        if !joined.is_empty() {
            joined.push_str(between);
        }
        joined.push_str(&encoded(name, kept.in_item()));
        joined.push_str(equals);
        joined.push_str(&encoded(&text(member), kept.in_item()));
    }
    joined
}
