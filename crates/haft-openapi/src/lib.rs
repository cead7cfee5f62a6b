//! Operations of OpenAPI documents as tools: names, schemas, and requests that cannot leave their place.
//!
//! A [`Document`] is read from JSON or YAML in Swagger 2.0, OpenAPI 3.0, 3.1 or 3.2. It is kept as JSON and shared, and an
//! [`Operation`] is little more than a place in it: its schemas are made when they are asked for. What is wrong with an
//! operation costs the others nothing: it is left out and said as an [`OpenApiProblem`] with its place in the document.
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
//! # Calls
//!
//! [`OpenApiTools`] makes a tool of each operation that a [`Selection`] chooses. Preparing a call makes its request and declares
//! what it touches; running it sends the request with an [`HttpClient`](haft_http::HttpClient), within
//! [`OperationLimits`]. A reply becomes what it is: JSON is data, an image an image, events are updates while they come. An
//! error of the API becomes one of the tool, with the status as a [`StatusError`] for the host and the next step for the
//! model. Where a reply is one page of several, the model is told with which arguments to go on.
//!
//! ```
//! use haft_http::{AddressPolicy, HttpClient};
//! use haft_openapi::{Credential, Document, LoadOptions, OpenApiTools, Selection};
//! use std::collections::BTreeMap;
//!
//! # let text = r#"{ "openapi": "3.1.0", "paths": { "/pets": { "get": { "operationId": "listPets" } } } }"#;
//! let options = LoadOptions::default().server("https://pets.example/v1");
//! let document = Document::from_text(text, &options)?;
//! let tools = OpenApiTools::builder("pets", document, HttpClient::new(AddressPolicy::public())?)
//!     .selection(Selection::default().without_deprecated())
//!     .credentials(BTreeMap::from([("api_key".to_owned(), Credential::secret("k-123"))]))
//!     .build();
//! assert_eq!(tools.tools()[0].spec().name().as_str(), "pets__listPets");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Credentials
//!
//! A document says which security schemes an operation wants, and the host has [`Credentials`] by their names. Of several ways
//! that are enough, the first is taken for which the host has everything. Keys in headers, queries and cookies, users with
//! passwords and bearer tokens are sent as they are; [`ClientCredentials`] fetch their tokens and keep them; a [`TokenSource`]
//! gives those of a person, and has the call wait where that person has to log in first. Where an API takes requests without
//! a credential, too, one is sent without if no token can be had.
//!
//! What a document says is not trusted with a secret. One is sent only to [origins](ServerOrigin) that the host has named, no
//! redirect takes it elsewhere, and it is replaced in whatever comes back. No model is told of it and no argument can take its
//! place.
//!
//! # What it does not do
//!
//! - It does not log anybody in: the authorization code flow of OAuth 2 and `OpenID` Connect are a host's [`TokenSource`].
//! - Certificates of clients and digest authentication are not known; neither is anything else that signs requests.
//! - A request that is not known to be repeatable by its method is never sent twice, unless the API refused it with 401:
//!   one that was refused with 429 or 503 is not, although it has done nothing; the model is told when to call again.
//! - Redirects are followed within one origin, and of requests that only read.
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
mod secrets;
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
pub use problem::{OpenApiProblem, Severity};
pub use reply::StatusError;
pub use request_parts::{EncodeError, RequestParts};
pub use schema::OperationSchema;
pub use selection::{PathFilterError, Selection};
pub use tools::{OpenApiTools, OpenApiToolsBuilder, OperationLimits};
