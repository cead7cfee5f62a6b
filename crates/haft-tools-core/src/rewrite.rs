//! How every text within a value is rewritten, in place and without a copy of what stays as it is.

use haft_core::{Content, ToolOutput};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::fmt::Write as _;

/// Says how texts are rewritten.
pub(crate) trait Rewrite {
    /// Gives a text as it should be; borrowed where it stays as it is.
    fn rewrite<'a>(&self, text: &'a str) -> Cow<'a, str>;

    /// Gives the text that is to stand in place of a number; none where the number stays.
    fn number(&self, _number: &Number) -> Option<String> {
        None
    }
}

pub(crate) fn text(text: &mut String, rewrite: &impl Rewrite) {
    if let Cow::Owned(rewritten) = rewrite.rewrite(text) {
        *text = rewritten;
    }
}

/// Rewrites the strings, the numbers and the names of a JSON value; names that become the same are told apart by a number.
pub(crate) fn value(value: &mut Value, rewrite: &impl Rewrite) {
    match value {
        Value::Number(number) => {
            if let Some(text) = rewrite.number(number) {
                *value = Value::String(text);
            }
        }
        Value::String(string) => text(string, rewrite),
        Value::Array(items) => items.iter_mut().for_each(|item| self::value(item, rewrite)),
        Value::Object(members) => {
            members.values_mut().for_each(|member| self::value(member, rewrite));
            if members.keys().any(|name| matches!(rewrite.rewrite(name), Cow::Owned(_))) {
                *members = renamed(std::mem::take(members), rewrite);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn renamed(members: Map<String, Value>, rewrite: &impl Rewrite) -> Map<String, Value> {
    let (mut renamed, mut moved) = (Map::new(), Vec::new());
    for (name, member) in members {
        match rewrite.rewrite(&name) {
            Cow::Borrowed(_) => {
                renamed.insert(name, member);
            }
            Cow::Owned(rewritten) => moved.push((rewritten, member)),
        }
    }
    let mut number = 1;
    for (mut name, member) in moved {
        if renamed.contains_key(&name) {
            let length = name.len();
            while renamed.contains_key(&name) {
                number += 1;
                name.truncate(length);
                // Writing to a string cannot fail.
                let _ = write!(name, " ({number})");
            }
        }
        renamed.insert(name, member);
    }
    renamed
}

/// The words of a part that is for reading as it is: a text, or that of a document.
pub(crate) fn words(part: &Content) -> Option<&str> {
    match part {
        Content::Text { text } | Content::Resource { text: Some(text), .. } => Some(text),
        _ => None,
    }
}

pub(crate) fn words_mut(part: &mut Content) -> Option<&mut String> {
    match part {
        Content::Text { text } | Content::Resource { text: Some(text), .. } => Some(text),
        _ => None,
    }
}

/// Rewrites what a part says: its text or JSON, its address, its name and its media type.
pub(crate) fn part(part: &mut Content, rewrite: &impl Rewrite) {
    match part {
        Content::Text { text: words } => text(words, rewrite),
        Content::Json { value: json } => value(json, rewrite),
        Content::Resource { uri, mime_type, text: words, .. } => {
            text(uri, rewrite);
            mime_type.iter_mut().chain(words).for_each(|words| text(words, rewrite));
        }
        Content::ResourceLink { uri, name, mime_type, .. } => {
            for words in [uri, name].into_iter().chain(mime_type) {
                text(words, rewrite);
            }
        }
        Content::Image { mime_type, .. } | Content::Audio { mime_type, .. } => text(mime_type, rewrite),
        // A kind of part that is not known here has to be added.
        _ => {}
    }
}

/// Rewrites what a model can be shown of an output: all parts, and the result as data.
pub(crate) fn shown(output: &mut ToolOutput, rewrite: &impl Rewrite) {
    output.content.iter_mut().for_each(|content| part(content, rewrite));
    if let Some(structured) = &mut output.structured {
        value(structured, rewrite);
    }
}
