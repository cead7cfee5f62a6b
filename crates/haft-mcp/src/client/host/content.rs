use haft_core::{Blob, Content};
use serde_json::Value;

/// Reads a part of what a server says; says what is wrong with it otherwise.
pub(crate) fn read_content(told: &Value) -> Result<Content, String> {
    let text = |name: &str| text_of(told, name);
    let mime_type = || text("mimeType").ok_or_else(|| "a part has no `mimeType`".to_owned());
    match told.get("type").and_then(Value::as_str) {
        Some("text") => Ok(Content::text(text("text").ok_or("a part of the type `text` has no `text`")?)),
        Some("image") => Ok(Content::image(blob(told, "data")?, mime_type()?)),
        Some("audio") => Ok(Content::audio(blob(told, "data")?, mime_type()?)),
        Some("resource") => read_resource(told.get("resource").unwrap_or(&Value::Null)),
        Some("resource_link") => {
            let uri = text("uri").ok_or("a link has no `uri`")?;
            let name = text("name").unwrap_or_else(|| uri.clone());
            let size = told.get("size").and_then(Value::as_u64);
            Ok(Content::ResourceLink { uri, name, mime_type: text("mimeType"), size })
        }
        _ => Err("a part is of no type that is known".to_owned()),
    }
}

/// Reads the content of a resource; says what is wrong with it otherwise.
pub(super) fn read_resource(told: &Value) -> Result<Content, String> {
    let uri = text_of(told, "uri").ok_or("the content of a resource has no `uri`")?;
    let (text, mime_type) = (text_of(told, "text"), text_of(told, "mimeType"));
    let data = if told.get("blob").is_some() { Some(blob(told, "blob")?) } else { None };
    if text.is_none() && data.is_none() {
        return Err("the content of a resource has neither `text` nor `blob`".to_owned());
    }
    Ok(Content::Resource { uri, mime_type, text, data })
}

pub(super) fn text_of(told: &Value, name: &str) -> Option<String> {
    told.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn blob(told: &Value, name: &str) -> Result<Blob, String> {
    let data = told.get(name).cloned().unwrap_or_default();
    serde_json::from_value(data).map_err(|_| format!("the `{name}` of a part is no base64"))
}
