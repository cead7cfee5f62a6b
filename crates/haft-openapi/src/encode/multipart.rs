use super::file::file;
use super::{field_pointer, scalar};
use crate::EncodeError;
use crate::plan::{Body, Field, Media};
use bytes::Bytes;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::fmt::Write as _;

/// The most bytes of the name of a field.
const MOST_NAME_BYTES: usize = 2_000;

/// The most items of a list, each of which is a part of its own.
const MOST_ITEMS: usize = 10_000;

/// Is a part of a form.
struct Part {
    head: String,
    content: Bytes,
}

/// Writes a form as `multipart/form-data`; gives its boundary, too.
pub(super) fn multipart(body: &Body, members: &Map<String, Value>) -> Result<(String, Bytes), EncodeError> {
    let mut parts = Vec::new();
    for (name, value) in members {
        let field = body.fields.iter().find(|field| field.name == *name);
        let at = field_pointer(body, name);
        if name.len() > MOST_NAME_BYTES {
            return Err(EncodeError::argument(at, "its name is too long"));
        }
        match value {
            Value::Null => {}
            Value::Array(items) if !is_json(field) => {
                if items.len() > MOST_ITEMS {
                    return Err(EncodeError::argument(at, format!("it has more than {MOST_ITEMS} items")));
                }
                for (index, item) in items.iter().enumerate().filter(|(_, item)| !item.is_null()) {
                    parts.push(part(name, item, field, &format!("{at}/{index}"))?);
                }
            }
            value => parts.push(part(name, value, field, &at)?),
        }
    }
    let boundary = boundary(&parts);
    let size: usize =
        parts.iter().map(|part| part.head.len() + part.content.len() + boundary.len() + 8).sum();
    let mut written = Vec::with_capacity(size + boundary.len() + 8);
    for part in &parts {
        written.extend_from_slice(format!("--{boundary}\r\n{}\r\n", part.head).as_bytes());
        written.extend_from_slice(&part.content);
        written.extend_from_slice(b"\r\n");
    }
    written.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((boundary, written.into()))
}

fn is_json(field: Option<&Field>) -> bool {
    let content_type = field.and_then(|field| field.content_type.as_deref());
    content_type.is_some_and(|content_type| Media::of(content_type) == Some(Media::Json))
}

fn part(name: &str, value: &Value, field: Option<&Field>, at: &str) -> Result<Part, EncodeError> {
    let declared = field.and_then(|field| field.content_type.as_deref()).filter(|said| !said.contains('*'));
    let mut head = format!("Content-Disposition: form-data; name=\"{}\"", quoted(name));
    let is_file =
        field.is_some_and(|field| field.is_file) && (value.is_string() || value.get("base64").is_some());
    // Writing to a string cannot fail.
    if is_file {
        let file = file(value, at)?;
        let content_type = file.content_type.or(declared).unwrap_or("application/octet-stream");
        let _ = write!(
            head,
            "; filename=\"{}\"\r\nContent-Type: {content_type}\r\n",
            quoted(file.name.unwrap_or(name))
        );
        return Ok(Part { head, content: file.bytes });
    }
    let (content_type, content) = match value {
        Value::Array(_) | Value::Object(_) => (declared.or(Some("application/json")), value.to_string()),
        value if is_json(field) => (declared, value.to_string()),
        value => (declared, scalar::text(value).into_owned()),
    };
    head.push_str("\r\n");
    if let Some(content_type) = content_type {
        let _ = write!(head, "Content-Type: {content_type}\r\n");
    }
    Ok(Part { head, content: content.into() })
}

/// Writes a name as browsers do: what would end it is encoded.
fn quoted(name: &str) -> Cow<'_, str> {
    if !name.contains(['"', '\r', '\n', '\0']) {
        return Cow::Borrowed(name);
    }
    let written = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A").replace('\0', "%00");
    Cow::Owned(written)
}

/// Makes a line of a hash of the parts; who writes a part cannot know the hash of what it is a part of.
fn boundary(parts: &[Part]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.head.as_bytes());
        hash.update(&part.content);
    }
    let mut boundary = "haft-".to_owned();
    for byte in hash.finalize().iter().take(16) {
        // Writing to a string cannot fail.
        let _ = write!(boundary, "{byte:02x}");
    }
    boundary
}
