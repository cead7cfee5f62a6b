use std::collections::BTreeMap;
use std::path::PathBuf;

/// Says how a document is read, and how far that may go.
///
/// ```
/// use haft_openapi::{LoadOptions, References};
///
/// let options = LoadOptions::default()
///     .base_url("https://api.example/openapi.json")
///     .server_variable("region", "eu")
///     .references(References::Directory("api".into()));
/// # let _ = options;
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct LoadOptions {
    pub(crate) most_bytes: usize,
    pub(crate) most_nodes: usize,
    pub(crate) most_schema_bytes: usize,
    pub(crate) base_url: Option<String>,
    pub(crate) server: Option<String>,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) references: References,
    pub(crate) forms: FormStyle,
}

/// Says which other files the references of a document may lead to.
///
/// ```
/// use haft_openapi::{Document, LoadOptions, References};
/// use serde_json::json;
///
/// # let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("pet.yaml"), "type: object\nproperties: { name: { type: string } }\n")?;
/// let value = json!({ "openapi": "3.1.0", "paths": { "/pets": { "post": {
///     "operationId": "addPet",
///     "requestBody": { "content": { "application/json": { "schema": { "$ref": "pet.yaml" } } } },
/// } } } });
/// let properties = |references| -> Result<_, Box<dyn std::error::Error>> {
///     let document = Document::from_value(value.clone(), &LoadOptions::default().references(references))?;
///     let schema = document.operation("addPet").ok_or("no such operation")?.input_schema();
///     Ok(schema.schema().as_value().to_string().contains("\"name\""))
/// };
/// assert!(properties(References::Directory(folder.path().to_owned()))?);
/// assert!(!properties(References::None)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum References {
    /// None: a reference out of the document leads nowhere.
    #[default]
    None,
    /// Those below a directory, symbolic links followed to where they really lead; read while the document is loaded.
    Directory(PathBuf),
    /// Those on the document's own scheme, host and port, of a document that is read from there
    /// ([`Document::from_url`](crate::Document::from_url)); at most 200.
    SameOrigin,
}

/// Says how objects and lists within a form are written where the document does not say so.
///
/// ```
/// use haft_openapi::{Document, FormStyle, LoadOptions};
/// use serde_json::json;
///
/// # let value = json!({
/// #     "openapi": "3.1.0", "servers": [{ "url": "https://pets.example" }],
/// #     "paths": { "/pets": { "post": { "operationId": "addPet", "requestBody": { "content": {
/// #         "application/x-www-form-urlencoded": { "schema": {
/// #             "properties": { "tags": { "items": { "type": "string" } } },
/// #         } },
/// #     } } } } },
/// # });
/// let sent = |style| -> Result<_, Box<dyn std::error::Error>> {
///     let document = Document::from_value(value.clone(), &LoadOptions::default().forms(style))?;
///     let operation = document.operation("addPet").ok_or("no such operation")?;
///     Ok(operation.encode(&json!({ "tags": ["a", "b"] }))?.body().clone())
/// };
/// assert_eq!(sent(FormStyle::Spec)?, "tags=a&tags=b");
/// assert_eq!(sent(FormStyle::Brackets)?, "tags%5B%5D=a&tags%5B%5D=b");
/// assert_eq!(sent(FormStyle::Indexed)?, "tags%5B0%5D=a&tags%5B1%5D=b");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FormStyle {
    /// As OpenAPI says: a list as `a=1&a=2`, an object as JSON.
    #[default]
    Spec,
    /// `a[]=1&a[]=2` and `a[b]=3`, as Rails, PHP and Rack read it.
    Brackets,
    /// `a[0]=1&a[1]=2` and `a[b]=3`, as qs and Stripe read it.
    Indexed,
}

/// Says why a document cannot be read at all.
///
/// ```
/// use haft_openapi::{Document, LoadError, LoadOptions};
///
/// let error = Document::from_text("<html></html>", &LoadOptions::default()).unwrap_err();
/// assert_eq!(error.to_string(), "this is not an OpenAPI document: it is not an object");
///
/// let error = Document::from_text("openapi: 3.1.0", &LoadOptions::default().most_bytes(8)).unwrap_err();
/// assert!(matches!(error, LoadError::TooLarge { bytes: 14, most: 8 }));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file cannot be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
    /// The address of a document cannot be asked.
    #[error("cannot use the address of the document: {why}")]
    Address {
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no answer, or not the whole of it.
    #[error("cannot read `{url}`")]
    Fetch {
        /// The address, without its query.
        url: String,
        /// What went wrong.
        source: haft_http::Error,
    },
    /// The answer is none that has the document.
    #[error("cannot read `{url}`: it was answered with the status {status}")]
    Status {
        /// The address, without its query.
        url: String,
        /// The status of HTTP.
        status: u16,
    },
    /// The answer was not complete in time.
    #[error("cannot read `{url}`: it was not answered in whole within {} s", within.as_secs())]
    Late {
        /// The address, without its query.
        url: String,
        /// How long it was waited for.
        within: std::time::Duration,
    },
    /// The text has more bytes than are read.
    #[error("the document has {bytes} bytes; at most {most} are read")]
    TooLarge {
        /// How many it has.
        bytes: usize,
        /// How many are read.
        most: usize,
    },
    /// The text is neither JSON nor YAML, or goes over a limit while it is read.
    #[error("cannot read the document: {0}")]
    Syntax(String),
    /// What was read is no OpenAPI document.
    #[error("this is not an OpenAPI document: {0}")]
    NotOpenApi(&'static str),
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            most_bytes: 64 << 20,
            most_nodes: 8 << 20,
            most_schema_bytes: 24 << 10,
            base_url: None,
            server: None,
            variables: BTreeMap::new(),
            references: References::None,
            forms: FormStyle::Spec,
        }
    }
}

impl LoadOptions {
    /// The most bytes that the text of a document may have, its aliases written out, and all files together that it refers to
    /// again; 64 MiB by default.
    pub fn most_bytes(mut self, bytes: usize) -> Self {
        self.most_bytes = bytes;
        self
    }

    /// The most values that a document may have once its aliases are written out, and all files together that it refers to
    /// again; 8,388,608 by default.
    ///
    /// A text of a few lines can stand for billions of values in YAML. The nesting has a limit of its own, which is 128.
    pub fn most_nodes(mut self, nodes: usize) -> Self {
        self.most_nodes = nodes;
        self
    }

    /// The bytes of JSON above which the schema of an operation is shortened; 24 KiB by default.
    ///
    /// What is shortened first are descriptions, then parts are left open, and properties are left out last. A schema has no
    /// more than about twice as many bytes, apart from its arguments themselves, of which there is always a word.
    pub fn most_schema_bytes(mut self, bytes: usize) -> Self {
        self.most_schema_bytes = bytes;
        self
    }

    /// Where the document was found: servers that are written without a host are on that one's.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// The server that every operation is on, whatever the document says.
    pub fn server(mut self, url: impl Into<String>) -> Self {
        self.server = Some(url.into());
        self
    }

    /// The value of a variable in the addresses of servers; its default in the document otherwise.
    pub fn server_variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Which other files may be read; none by default.
    pub fn references(mut self, references: References) -> Self {
        self.references = references;
        self
    }

    /// How objects and lists within forms are written; as OpenAPI says by default.
    pub fn forms(mut self, style: FormStyle) -> Self {
        self.forms = style;
        self
    }
}
