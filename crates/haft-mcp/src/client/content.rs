//! What servers say, part by part, as content.

use crate::shown::line;
use haft_core::{Blob, Content};
use serde::Deserialize as _;
use serde_json::{Map, Value};

/// The most bytes of a word of a server's that is quoted.
const MOST_WORD_BYTES: usize = 60;

/// Says why a part of what a server sent cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{part} cannot be used: {why}")]
pub(crate) struct UnusablePart {
    /// What it is: `a part`, or what it says it is.
    part: String,
    why: &'static str,
}

/// Makes content of a block that a server sent; one that cannot be used becomes a text that says so, so that nobody takes
/// the rest for the whole.
pub(crate) fn block(block: Value) -> Content {
    read_block(block).unwrap_or_else(|UnusablePart { part, why }| left_out(&part, why))
}

/// Makes content of a block that a server sent.
pub(crate) fn read_block(block: Value) -> Result<Content, UnusablePart> {
    let unusable = |why| UnusablePart { part: "a part".to_owned(), why };
    let Value::Object(mut members) = block else { return Err(unusable("it is not a block")) };
    let kind = take_text(&mut members, "type").ok_or_else(|| unusable("it does not say what it is"))?;
    let read = match &*kind {
        "text" => take_text(&mut members, "text").map(Content::text).ok_or("it has no text"),
        "image" => media(&mut members).map(|(data, mime_type)| Content::Image { data, mime_type }),
        "audio" => media(&mut members).map(|(data, mime_type)| Content::Audio { data, mime_type }),
        "resource" => read_document(members.remove("resource")),
        "resource_link" => link(&mut members),
        _ => Err("its kind is not known here"),
    };
    read.map_err(|why| UnusablePart { part: format!("a part `{}`", line(&kind, MOST_WORD_BYTES)), why })
}

/// Says that something was left out.
pub(crate) fn left_out(what: &str, why: &str) -> Content {
    Content::text(format!("[{what} was left out: {why}]"))
}

/// Makes content of a document that a server sent, with its text or its bytes.
pub(crate) fn read_document(resource: Option<Value>) -> Result<Content, &'static str> {
    let Some(Value::Object(mut members)) = resource else { return Err("it has no document") };
    let uri = take_text(&mut members, "uri").ok_or("its document has no address")?;
    let mime_type = take_text(&mut members, "mimeType");
    let text = take_text(&mut members, "text");
    let data = match (&text, members.remove("blob")) {
        (None, Some(blob)) => Some(bytes(blob)?),
        _ => None,
    };
    if text.is_none() && data.is_none() {
        return Err("its document has neither text nor data");
    }
    Ok(Content::Resource { uri, mime_type, text, data })
}

fn link(members: &mut Map<String, Value>) -> Result<Content, &'static str> {
    let uri = take_text(members, "uri").ok_or("it has no address")?;
    let name =
        take_text(members, "title").or_else(|| take_text(members, "name")).unwrap_or_else(|| uri.clone());
    let mime_type = take_text(members, "mimeType");
    let size = members.get("size").and_then(Value::as_u64);
    Ok(Content::ResourceLink { uri, name, mime_type, size })
}

fn media(members: &mut Map<String, Value>) -> Result<(Blob, String), &'static str> {
    let data = bytes(members.remove("data").ok_or("it has no data")?)?;
    let mime_type = take_text(members, "mimeType").ok_or("it has no media type")?;
    Ok((data, mime_type))
}

fn bytes(base64: Value) -> Result<Blob, &'static str> {
    Blob::deserialize(base64).map_err(|_| "its data is not written as base64")
}

fn take_text(members: &mut Map<String, Value>, name: &str) -> Option<String> {
    match members.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}
