use bytes::Bytes;
use http::{HeaderMap, Method};

/// Holds a request that was made of an operation and arguments, without credentials.
///
/// A program that has an HTTP client of its own sends it there:
///
/// ```
/// use haft_openapi::{Document, LoadOptions};
/// use serde_json::json;
///
/// # let value = json!({
/// #     "openapi": "3.1.0", "servers": [{ "url": "https://pets.example" }],
/// #     "paths": { "/pets": { "post": {
/// #         "operationId": "addPet",
/// #         "requestBody": { "content": { "application/json": { "schema": {
/// #             "type": "object", "properties": { "name": { "type": "string" } },
/// #         } } } },
/// #     } } },
/// # });
/// # let document = Document::from_value(value, &LoadOptions::default())?;
/// # let operation = document.operation("addPet").ok_or("no such operation")?;
/// let request = operation.encode(&json!({ "name": "Rex" }))?.into_request()?;
/// assert_eq!((request.method().as_str(), request.uri().path()), ("POST", "/pets"));
/// assert_eq!(request.headers()["content-type"], "application/json");
/// assert_eq!(request.body(), r#"{"name":"Rex"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RequestParts {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Says why arguments do not make a request.
///
/// ```
/// use haft_openapi::{Document, EncodeError, LoadOptions};
/// use serde_json::json;
///
/// let value = json!({ "openapi": "3.1.0", "paths": { "/pets": { "get": { "operationId": "listPets" } } } });
/// let encode = |arguments, options: &LoadOptions| {
///     let document = Document::from_value(value.clone(), options).expect("a document");
///     document.operation("listPets").expect("an operation").encode(&arguments).unwrap_err()
/// };
/// let error = encode(json!({ "colour": "red" }), &LoadOptions::default().server("https://pets.example"));
/// assert_eq!(error.to_string(), "at `/colour`: there is no such argument");
/// assert!(matches!(encode(json!({}), &LoadOptions::default()), EncodeError::Server(_)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// An argument is missing, of the wrong kind, or cannot be sent without changing something else.
    #[error("at `{pointer}`: {message}")]
    Argument {
        /// The place in the arguments, as a JSON pointer.
        pointer: String,
        /// What is wrong, for a model.
        message: String,
    },
    /// Neither the document nor the host says which server the operation is on.
    #[error("it is not said which server the operation is on: {0}")]
    Server(String),
}

impl RequestParts {
    /// The method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The absolute address, with its query and without a fragment.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The headers, `Content-Type`, `Accept` and `Cookie` among them where they are needed.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The body; empty where there is none.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Makes a request of it.
    ///
    /// # Errors
    ///
    /// If `http` does not take the address, which is possible only for one that the document itself spoils.
    pub fn into_request(self) -> Result<http::Request<Bytes>, http::Error> {
        let mut request = http::Request::builder().method(self.method).uri(self.url).body(self.body)?;
        *request.headers_mut() = self.headers;
        Ok(request)
    }
}

impl EncodeError {
    pub(crate) fn argument(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Argument { pointer: pointer.into(), message: message.into() }
    }
}
