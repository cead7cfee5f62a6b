use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;

/// Is a resource as a server lists it; every text in it was written by the server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedResource {
    /// Its address, by which it is read.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// The type of its content.
    pub mime_type: Option<String>,
    /// Its size in bytes.
    pub size: Option<u64>,
}

/// Is a pattern of the addresses of resources, as a server lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedTemplate {
    /// The pattern, as of RFC 6570.
    pub uri_template: String,
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What resources of it are.
    pub description: Option<String>,
    /// The type of their content.
    pub mime_type: Option<String>,
}

/// Has a server tell of changes of a resource for as long as it lives.
///
/// A server of the legacy era goes on telling until the connection ends or
/// [`unwatch_resource`](crate::ServerContent::unwatch_resource) is called.
#[derive(Debug)]
#[must_use = "what is not kept is not told any more"]
pub struct ResourceWatch {
    pub(super) uri: String,
    /// The request by which a server of the modern era tells; none of the legacy era.
    pub(super) listening: Option<AbortOnDropHandle<()>>,
}

impl ResourceWatch {
    /// The address of the resource.
    pub fn uri(&self) -> &str {
        &self.uri
    }
}

impl ListedResource {
    pub(super) fn read(told: &Value) -> Result<Self, String> {
        let uri = text_of(told, "uri").ok_or("a resource has no `uri`")?;
        Ok(Self {
            name: text_of(told, "name").unwrap_or_else(|| uri.clone()),
            title: text_of(told, "title"),
            description: text_of(told, "description"),
            mime_type: text_of(told, "mimeType"),
            size: told.get("size").and_then(Value::as_u64),
            uri,
        })
    }
}

impl ListedTemplate {
    pub(super) fn read(told: &Value) -> Result<Self, String> {
        let uri_template = text_of(told, "uriTemplate").ok_or("a template has no `uriTemplate`")?;
        Ok(Self {
            name: text_of(told, "name").unwrap_or_else(|| uri_template.clone()),
            title: text_of(told, "title"),
            description: text_of(told, "description"),
            mime_type: text_of(told, "mimeType"),
            uri_template,
        })
    }
}

/// Copies a text of what a server says.
pub(super) fn text_of(told: &Value, name: &str) -> Option<String> {
    told.get(name).and_then(Value::as_str).map(str::to_owned)
}
