use super::builder::OpenApiToolsBuilder;
use super::operation_tool::OperationTool;
use crate::auth::{FetchedTokens, Keyring, Secret};
use crate::{Document, Operation, OperationLimits};
use async_trait::async_trait;
use haft_core::Exposure;
use haft_http::HttpClient;
use haft_tools_core::{OfferedTools, Redactor, SourceError, Tool, ToolSource};
use http::HeaderName;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Turns operations of a document into tools that make requests.
///
/// It is a [`ToolSource`] for a [`Catalog`](haft_tools_core::Catalog), which must not be
/// [`prefixed`](haft_tools_core::CatalogBuilder::prefixed): the tools are named `document__operation` already. It is cheap to
/// clone; what a model is told of a tool is made when it is first asked for.
///
/// A call declares that it connects to the server of its operation (`connect net:api.example.com:443`), and to where a token
/// is fetched if one has to be, and that it calls the operation (`call openapi:document/operation`, by the operation's
/// [name](crate::Operation::name)).
///
/// ```
/// use haft_http::{AddressPolicy, HttpClient};
/// use haft_openapi::{Document, LoadOptions, OpenApiTools};
/// use haft_tools_core::{CallScope, Tool as _};
/// use serde_json::json;
///
/// let text = r#"{
///     "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "servers": [{ "url": "https://pets.example/v1" }],
///     "paths": { "/pets/{id}": { "get": { "operationId": "showPet", "summary": "Shows a pet." } } }
/// }"#;
/// let document = Document::from_text(text, &LoadOptions::default())?;
/// let tools = OpenApiTools::builder("pets", document, HttpClient::new(AddressPolicy::public())?).build();
///
/// let tool = &tools.tools()[0];
/// assert_eq!(tool.spec().name().as_str(), "pets__showPet");
/// assert_eq!(tools.operations()[0].path(), "/pets/{id}");
/// let prepared = tool.prepare(&json!({ "id": "a/b" }), &CallScope::new("run-1".parse()?))?;
/// let accesses: Vec<String> = prepared.accesses().iter().map(ToString::to_string).collect();
/// assert_eq!(accesses, ["connect net:pets.example:443", "call openapi:pets/showPet"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct OpenApiTools {
    shared: Arc<Shared>,
    tools: Arc<[Arc<dyn Tool>]>,
    /// In the order of the tools.
    operations: Arc<[Operation]>,
}

/// Is what all tools of a document share.
pub(crate) struct Shared {
    /// What the document is called here.
    pub(crate) name: String,
    pub(crate) client: HttpClient,
    pub(crate) keyring: Keyring,
    pub(crate) tokens: FetchedTokens,
    pub(crate) headers: Vec<(HeaderName, Secret)>,
    pub(crate) redactor: Redactor,
    /// Nobody else replaces secrets in what is given back.
    pub(crate) redacts_itself: bool,
    pub(crate) limits: OperationLimits,
    pub(crate) output_schemas: bool,
    pub(crate) exposure: Exposure,
    pub(crate) orders_itself: bool,
    /// Which patterns of the document's schemas can be used.
    pub(crate) patterns: Mutex<HashMap<Box<str>, bool>>,
}

impl OpenApiTools {
    /// Names a document and the client that its operations are called with.
    ///
    /// The name stands in the names of the tools and in rules such as `call(@petstore/*)`. It has at most 32 letters, digits,
    /// `-` and single `_` inside; whatever else is in it becomes `_`.
    pub fn builder(name: impl Into<String>, document: Document, client: HttpClient) -> OpenApiToolsBuilder {
        OpenApiToolsBuilder::new(name.into(), document, client)
    }

    pub(super) fn new(shared: Shared, operations: Vec<Operation>) -> Self {
        let shared = Arc::new(shared);
        let tools = operations
            .iter()
            .cloned()
            .map(|operation| Arc::new(OperationTool::new(Arc::clone(&shared), operation)) as Arc<dyn Tool>);
        Self { tools: tools.collect(), operations: operations.into(), shared }
    }

    /// What the document is called here.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Gives a tool for each operation that was chosen, by the names of the operations.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.to_vec()
    }

    /// The operations that the tools call, in the order of [`Self::tools`].
    ///
    /// The name of a tool does not tell which one it calls: one that is too long is shortened.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }
}

#[async_trait]
impl ToolSource for OpenApiTools {
    fn name(&self) -> &str {
        &self.shared.name
    }

    async fn tools(&self) -> Result<OfferedTools, SourceError> {
        Ok(self.tools().into())
    }
}

impl fmt::Debug for OpenApiTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenApiTools")
            .field("name", &self.shared.name)
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("name", &self.name).finish_non_exhaustive()
    }
}
