//! Operations of OpenAPI documents: names, schemas and requests that cannot leave their place.
//!
//! A [`Document`] is read from JSON or YAML in Swagger 2.0, OpenAPI 3.0, 3.1 or 3.2. It is kept as JSON and shared, and an
//! [`Operation`] is little more than a place in it: its schemas are made when they are asked for. What is wrong with an
//! operation costs the others nothing: it is left out and said as a [`Problem`] with its place in the document.
//!
//! [`Operation::encode`] is a pure function from arguments to [`RequestParts`]. No argument can change the host, the number
//! of segments of the path, or another parameter: what would is encoded, or refused with words for a model.
//!
//! ```
//! use haft_openapi::{Document, LoadOptions};
//! use serde_json::json;
//!
//! let text = r#"
//! openapi: 3.1.0
//! info: { title: Pets, version: "1" }
//! servers: [ { url: "https://pets.example/v1" } ]
//! paths:
//!   /pets/{id}:
//!     get:
//!       operationId: showPet
//!       summary: Shows a pet.
//!       parameters:
//!         - { name: id, in: path, required: true, schema: { type: string } }
//!         - { name: fields, in: query, schema: { type: array, items: { type: string } } }
//! "#;
//! let document = Document::from_text(text, &LoadOptions::default())?;
//! let operation = document.operation("showPet").ok_or("no such operation")?;
//! assert_eq!(operation.input_schema().schema().as_value()["required"], json!(["id"]));
//!
//! let request = operation.encode(&json!({ "id": "../admin", "fields": ["a&b", "c"] }))?;
//! assert_eq!(request.url(), "https://pets.example/v1/pets/..%2Fadmin?fields=a%26b&fields=c");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it does not do
//!
//! - It makes no request and knows no credentials: `Authorization` is never a parameter.
//! - Callbacks, webhooks and links are passed over.
//! - References to other files are followed only below a directory that the host names, or on the document's own origin.

mod auth;
mod document;
mod encode;
mod fetch;
#[cfg(test)]
mod hostile;
mod list;
mod load_options;
mod lower;
mod names;
mod operation;
mod plan;
mod problem;
mod read;
mod reply;
mod request_parts;
mod schema;
mod selection;
mod store;
mod text;
mod tools;

pub use auth::{
    ClientCredentials, Credential, Credentials, Secret, ServerOrigin, ServerOriginError, TokenError,
    TokenSource,
};
pub use document::Document;
pub use load_options::{FormStyle, LoadError, LoadOptions, References};
pub use operation::Operation;
pub use problem::{Problem, Severity};
pub use reply::StatusError;
pub use request_parts::{EncodeError, RequestParts};
pub use schema::OperationSchema;
pub use selection::{PatternError, Selection};
pub use tools::{CallLimits, OpenApiTools, OpenApiToolsBuilder};
